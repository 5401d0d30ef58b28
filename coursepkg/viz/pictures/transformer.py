"""The Transformer and what surrounds it: pictures and the frames of sliders."""

from collections.abc import Sequence
from itertools import pairwise

from coursepkg.viz.drawing import Area, Drawing, Number

D = 3
"""Features of the small matrices."""


def encoder_decoder() -> Drawing:
    """The Transformer: an encoder reads all at once, a decoder writes word by word."""
    drawing = Drawing(
        700,
        235,
        "An encoder-decoder Transformer. The encoder reads the three Chinese tokens of"
        " the source at once; every token sees every other. The decoder has written two"
        " Vietnamese tokens; each sees itself and those before it, and through"
        " cross-attention all encoder outputs. It predicts the next token.",
    )
    drawing.box((60, 90), (230, 60), "encoder|self-attention, all to all")
    drawing.box((410, 90), (230, 60), "decoder|self-attention, to the left")
    for number, word in enumerate(("我", "喝", "茶")):
        x = 105 + 70 * number
        drawing.text((x, 205), word, size=16)
        drawing.arrow((x, 190), (x, 152))
        drawing.matrix((x - 8, 50), 1, 1, "key")
        drawing.arrow((x, 90), (x, 68))
    drawing.arrow((263, 58), (408, 108), bend=-12)
    drawing.text((345, 52), "cross-attention", size=11)
    for number, (word, next_word) in enumerate(
        (("<bos>", "tôi"), ("tôi", "uống"), ("uống", "trà"))
    ):
        x = 455 + 70 * number
        drawing.text((x, 205), word)
        drawing.arrow((x, 190), (x, 152))
        drawing.arrow((x, 90), (x, 60))
        drawing.text((x, 46), next_word, bold=number == 2)
    return drawing


def norm_order() -> Drawing:
    """Post-norm and pre-norm: where the norm stands, and what the residual carries."""
    drawing = Drawing(
        700,
        205,
        "Two orders of a residual sublayer. Post-norm: the input goes through the"
        " sublayer, is added to the input, and the sum is normalised, so the norm"
        " stands in the way of the residual. Pre-norm: the norm stands in front of the"
        " sublayer, and the residual passes unchanged from layer to layer.",
    )
    for y, title, parts in (
        (55, "post-norm", ("sublayer", "+", "norm")),
        (155, "pre-norm", ("norm", "sublayer", "+")),
    ):
        drawing.text((15, y), title, anchor="start", bold=True)
        x = 175.0
        drawing.arrow((110, y), (x, y))
        drawing.text((120, y - 12), "x", italic=True)
        places = {}
        for part in parts:
            width = 34 if part == "+" else 100
            places[part] = drawing.box((x, y - 17), (width, 34), part)
            drawing.arrow((x + width, y), (x + width + 45, y))
            x += width + 45
        plus = places["+"]
        drawing.arrow((145, y), (plus.top[0], plus.y), bend=40 if y == 55 else 62)
    return drawing


def position_vectors() -> Drawing:
    """The same words in two orders: only the vectors of the places differ."""
    drawing = Drawing(
        700,
        230,
        "Two sentences of the same four words: ba phòng sáu đêm, three rooms six"
        " nights, and sáu phòng ba đêm, six rooms three nights. As a set of word"
        " vectors they are equal. To each word the vector of its place is added, p0 to"
        " p3. Then ba is ba plus p0 in the first sentence, ba plus p2 in the second.",
    )
    for y, words, told in (
        (56, ("ba", "phòng", "sáu", "đêm"), "ba + p_0"),
        (160, ("sáu", "phòng", "ba", "đêm"), "ba + p_2"),
    ):
        for place, word in enumerate(words):
            x = 40 + 125 * place
            drawing.text((x + 30, y - 34), word, bold=word == "ba")
            drawing.matrix((x, y - 16), 3, 1, "value")
            drawing.text((x + 30, y + 8), "+")
            drawing.matrix((x + 44, y - 16), 3, 1, "query")
            drawing.text((x + 52, y + 43), f"p_{place}", italic=True, size=12)
        drawing.arrow((510, y + 8), (560, y + 8))
        drawing.text((620, y + 8), told, size=15)
    return drawing


def embedding_lookup() -> Drawing:
    """A word as a row of a table, and near words as a small angle."""
    drawing = Drawing(
        700,
        225,
        "Left: a one-hot row of eight numbers, the third of them 1, times a table W of"
        " eight rows and three columns, gives the third row of W. Right: three arrows"
        " from one point: tea (3, 4), coffee (4, 3) and Tuesday (-4, 3). Tea and coffee"
        " have the cosine 0.96, tea and Tuesday 0.",
    )
    others = [(0, place) for place in range(8) if place != 2]
    drawing.matrix(
        (20, 90), 1, 8, "weight", name="onehot(2)", shape="1 × V", faded=others
    )
    drawing.text((166, 98), "×")
    drawing.matrix((184, 38), 8, D, "input", name="W", shape="V × E")
    drawing.matrix((184, 70), 1, D, "value")
    drawing.text((250, 98), "=")
    drawing.matrix((270, 90), 1, D, "value", name="W_2", shape="1 × E")
    start = (500, 170)
    for word, (x, y), shift in (
        ("tea (3, 4)", (3, 4), (0, -12)),
        ("coffee (4, 3)", (4, 3), (46, -12)),
        ("Tuesday (−4, 3)", (-4, 3), (-6, -12)),
    ):
        end = (start[0] + 26 * x, start[1] - 26 * y)
        drawing.arrow(start, end)
        drawing.text((end[0] + shift[0], end[1] + shift[1]), word, size=12)
    drawing.text((500, 195), "cos(tea, coffee) = 0.96", size=12)
    drawing.text((500, 212), "cos(tea, Tuesday) = 0", size=12)
    return drawing


def pair_merges() -> Drawing:
    """Byte-pair encoding of `lowest`: merge after merge in the order of learning."""
    steps = (
        ("spelled", "l o w e s t ▁"),
        ("e + s", "l o w es t ▁"),
        ("t + ▁", "l o w es t▁"),
        ("es + t▁", "l o w est▁"),
        ("l + o", "lo w est▁"),
        ("lo + w", "low est▁"),
    )
    drawing = Drawing(
        700,
        235,
        "Byte-pair encoding of the word lowest in six rows. It is spelled l o w e s t"
        " and a mark of the end. Then five merges are applied in the order in which"
        " they were learned: e and s, t and the mark, es and t with the mark, l and o,"
        " lo and w. Two tokens are left: low, and est with the mark.",
    )
    before: set[str] = set()
    for row, (merge, tokens) in enumerate(steps):
        y, x = 15 + 36 * row, 200
        drawing.text((170, y + 14), merge, anchor="end")
        for token in tokens.split():
            width = 50 * len(token)
            is_new = row > 0 and token not in before
            drawing.box(
                (x, y), (width - 6, 28), token, kind="weight" if is_new else "plain"
            )
            x += width
        before = set(tokens.split())
    drawing.text((575, 209), "low   est▁", anchor="start", bold=True)
    return drawing


def training_step() -> Drawing:
    """One step of training: forward, loss, gradient, clip, update."""
    drawing = Drawing(
        700,
        215,
        "One step of training as a loop. A batch of sources and targets goes into the"
        " model; the decoder reads the right target up to each word. The model gives"
        " logits, the loss compares them with the next words. The gradient flows back,"
        " its norm is clipped, the optimiser takes a step whose size is the learning"
        " rate of the schedule, and the model has new weights.",
    )
    batch = drawing.box((15, 40), (130, 56), "batch: source,|target", kind="memory")
    model = drawing.box((275, 40), (120, 56), "model")
    loss = drawing.box((555, 40), (120, 56), "loss")
    drawing.arrow(batch.right, model.left)
    drawing.arrow(model.right, loss.left, "logits")
    drawing.arrow((80, 40), (615, 40), bend=30)
    drawing.text((450, 24), "the next words", size=11)
    clip = drawing.box((555, 145), (120, 46), "clip the norm")
    update = drawing.box((275, 145), (120, 46), "optimiser")
    drawing.arrow(loss.bottom, clip.top, "gradient")
    drawing.arrow(clip.left, update.right)
    drawing.arrow(update.top, model.bottom, "new weights")
    schedule = drawing.box((15, 145), (130, 46), "schedule of the|learning rate")
    drawing.arrow(schedule.right, update.left)
    return drawing


def beam_of_two() -> Drawing:
    """Beam search with a beam of 2 on the chapter's table, for three steps."""
    drawing = Drawing(
        700,
        240,
        "Beam search with two beams, three steps from left to right. Step 1: Tôi 0.5"
        " and Hôm 0.4 are kept, Nay 0.1 is dropped. Step 2: Hôm nay 0.36 and Tôi đi"
        " 0.30 are kept, Tôi đến 0.20 and Hôm qua 0.04 are dropped. Step 3: Hôm nay"
        " tôi 0.324 and Tôi đi học 0.165 are kept.",
    )
    start = drawing.box((15, 105), (60, 30), "<bos>")
    places: dict[str, Area] = {"": start}
    nodes = (
        ("Tôi", "", "Tôi 0.5", 125, 60, True),
        ("Hôm", "", "Hôm 0.4", 125, 150, True),
        ("Nay", "", "Nay 0.1", 125, 200, False),
        ("Tôi đến", "Tôi", "Tôi đến 0.20", 270, 20, False),
        ("Tôi đi", "Tôi", "Tôi đi 0.30", 270, 64, True),
        ("Hôm nay", "Hôm", "Hôm nay 0.36", 270, 146, True),
        ("Hôm qua", "Hôm", "Hôm qua 0.04", 270, 196, False),
        ("Tôi đi học", "Tôi đi", "Tôi đi học 0.165", 450, 64, True),
        ("Hôm nay tôi", "Hôm nay", "Hôm nay tôi 0.324", 450, 146, True),
    )
    widths = {125: 90, 270: 125, 450: 160}
    for name, parent, text, x, y, is_kept in nodes:
        kind = "weight" if is_kept else "plain"
        places[name] = drawing.box((x, y), (widths[x], 30), text, kind=kind)
        drawing.arrow(places[parent].right, places[name].left)
    drawing.text((650, 121), "…", size=18)
    drawing.text((530, 228), "pink: kept; white: dropped", size=11)
    return drawing


def next_token(tokens: Sequence[str], probabilities: Sequence[Number]) -> Drawing:
    """The probabilities of the next token as bars.

    Args:
        tokens: their names.
        probabilities: of each token, 0 to 1.
    """
    rows = [
        (token, share, f"{share:.3f}")
        for token, share in zip(tokens, probabilities, strict=True)
    ]
    told = ", ".join(f"{token} {number}" for token, _, number in rows)
    drawing = Drawing(
        370,
        30 + 28 * len(rows),
        f"Probabilities of the next token as one bar for each of them: {told}. They sum"
        " to 1, and the order of the tokens never changes.",
    )
    drawing.bars((80, 18), rows, width=220, step=28)
    return drawing


def matching_pairs() -> Drawing:
    """Precision of 2-grams: which pairs of neighbours the reference has too."""
    hypothesis = "The guard arrived late because of the rain ."
    reference = "The guard arrived late because it was raining ."
    drawing = Drawing(
        700,
        170,
        "A hypothesis of nine tokens above a reference of nine tokens. The guard"
        " arrived late because of the rain, full stop; and: The guard arrived late"
        " because it was raining, full stop. Between neighbours of the hypothesis"
        " stands a square, eight in all. The first four pairs are in the reference"
        " too; the other four are crossed. The precision is four eighths.",
    )
    middle = [72 + 76 * place for place in range(9)]
    for y, title, sentence in (
        (50, "hypothesis", hypothesis),
        (140, "reference", reference),
    ):
        drawing.text((15, y - 32), title, anchor="start", bold=True)
        for x, token in zip(middle, sentence.split(), strict=True):
            drawing.text((x - 20, y), token)
    pairs = []
    for pair in pairwise(hypothesis.split()):
        pairs.append(pair in set(pairwise(reference.split())))
    for place, is_found in enumerate(pairs):
        hidden = () if is_found else ((0, 0),)
        drawing.matrix((middle[place] + 10, 66), 1, 1, "output", hidden=hidden)
    drawing.text((650, 108), f"p_2 = {sum(pairs)}/{len(pairs)}", size=15)
    return drawing
