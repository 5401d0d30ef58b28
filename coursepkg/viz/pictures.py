"""The pictures of ideas that chapters open with, each a `Drawing`.

A function draws one idea. A chapter shows it by `pictures.heads().show()`.
"""

from coursepkg.viz.drawing import CELL, Area, Drawing

T, D = 4, 3
"""Tokens and features of the small matrices in most pictures."""


def query_key_value() -> Drawing:
    """From the tokens to Q, K and V, to the weights, to the output."""
    drawing = Drawing(
        700,
        300,
        "Data flow of self-attention. A matrix X of four tokens gives three matrices:"
        " Q, K and V. Q times K transposed, scaled and passed through softmax, gives a"
        " square matrix of weights, four by four. The weights times V give the output,"
        " four tokens again.",
    )
    x = drawing.matrix((30, 118), T, D, "input", name="X", shape="T × E")
    places = {"Q": ("query", 25), "K": ("key", 122), "V": ("value", 219)}
    made: dict[str, Area] = {}
    for name, (kind, y) in places.items():
        made[name] = drawing.matrix(
            (170, y), T, D, kind, name=name, shape="T × D", cell=13
        )
        drawing.arrow(x.right, made[name].left, f"W_{name}")
    scores = drawing.box((275, 60), (130, 44), "Q K^T / √D|softmax")
    drawing.arrow(made["Q"].right, scores.left)
    drawing.arrow(made["K"].right, scores.left)
    weights = drawing.matrix((455, 50), T, T, "weight", name="weights", shape="T × T")
    drawing.arrow(scores.right, weights.left)
    product = drawing.box((450, 228), (74, 34), "× V")
    drawing.arrow((weights.bottom[0], weights.bottom[1] + 20), product.top)
    drawing.arrow(made["V"].right, product.left)
    output = drawing.matrix((600, 213), T, D, "output", name="output", shape="T × D")
    drawing.arrow(product.right, output.left)
    return drawing


def heads() -> Drawing:
    """Which query head reads which keys and values: MHA, GQA, MQA."""
    drawing = Drawing(
        700,
        190,
        "Three panels with eight query heads each. Multi-head attention: each query"
        " head has a key-value head of its own, eight in all. Grouped-query attention:"
        " four query heads share one key-value head, two in all. Multi-query attention:"
        " all eight share a single one.",
    )
    panels = (
        ("multi-head: H = G = 8", 8),
        ("grouped: G = 2", 2),
        ("multi-query: G = 1", 1),
    )
    for panel, (title, groups) in enumerate(panels):
        left = 20 + 232 * panel
        drawing.text((left + 98, 18), title, bold=True)
        size = 8 // groups
        below = []
        for group in range(groups):
            middle = left + 24.5 * (group * size + size / 2)
            for offset, kind in ((-11, "key"), (0, "value")):
                area = drawing.matrix((middle + offset, 130), 1, 1, kind, cell=11)
            below.append((area.x, 130.0))
        for head in range(8):
            query = drawing.matrix((left + 24.5 * head + 6, 50), 1, 1, "query", cell=13)
            drawing.arrow(query.bottom, below[head // size])
    drawing.text(
        (350, 172), "blue: a query head; orange and green: keys and values of one head"
    )
    return drawing


def memory_tiles() -> Drawing:
    """FlashAttention: tiles pass through the fast memory, the T × T matrix never is."""
    drawing = Drawing(
        700,
        270,
        "Two memories. In the large, slow HBM lie Q, K, V and the output, each eight"
        " tokens long, cut into tiles of two tokens. In the small, fast SRAM lie one"
        " tile of Q, one tile of K and of V, the scores of these two tiles alone, and"
        " three running results: the largest score, the sum, and the output of the"
        " tile.",
    )
    drawing.memory((15, 15), (310, 240), "HBM: large, slow")
    drawing.memory((395, 15), (290, 240), "SRAM: small, fast")
    tiles = {}
    for column, (name, kind) in enumerate(
        (("Q", "query"), ("K", "key"), ("V", "value"), ("O", "output"))
    ):
        x = 45 + 68 * column
        tiles[name] = drawing.matrix(
            (x, 70), 8, D, kind, name=name, shape="T × D", cell=14
        )
        for row in (2, 4, 6):
            drawing.line((x - 4, 70 + 14 * row), (x + 46, 70 + 14 * row), width=2.4)
    query = drawing.matrix((420, 75), 2, D, "query", cell=14)
    key = drawing.matrix((480, 75), 2, D, "key", cell=14)
    value = drawing.matrix((540, 75), 2, D, "value", cell=14)
    for area, name in ((query, "a tile of Q"), (key, "of K"), (value, "of V")):
        drawing.text((area.top[0], 62), name, size=10)
    scores = drawing.matrix((455, 140), 2, 2, "weight", cell=14)
    drawing.text((scores.left[0] - 8, scores.left[1]), "scores", size=11, anchor="end")
    drawing.arrow(query.bottom, (scores.x + 8, scores.y))
    drawing.arrow(key.bottom, (scores.x + 24, scores.y))
    running = drawing.box((520, 140), (140, 62), "running maximum,|sum and output")
    drawing.arrow(scores.right, running.left)
    drawing.arrow(value.bottom, (value.bottom[0] + 6, 140))
    drawing.arrow((325, 90), (416, 90))
    drawing.text((360, 78), "next tile", size=11)
    drawing.arrow((running.bottom[0] - 40, running.bottom[1]), (310, 225), bend=-12)
    drawing.text((520, 236), "at the end, once", size=11)
    return drawing


def brackets() -> Drawing:
    """Linear attention: the same product, with the brackets moved."""
    drawing = Drawing(
        700,
        250,
        "The same product in two orders. Above: the features of Q times those of K,"
        " transposed, are a square matrix of eight by eight, which then multiplies V."
        " Below: the features of K, transposed, times V are a small matrix of three by"
        " three, which then is multiplied by the features of Q. Both give eight rows.",
    )
    long = 8
    for y, order in ((22, "first"), (142, "last")):
        drawing.text(
            (72, y + 40),
            "(φ(Q) φ(K)^T) V" if order == "first" else "φ(Q) (φ(K)^T V)",
            size=13,
        )
        drawing.text(
            (72, y + 64),
            "T × T in between" if order == "first" else "D × D in between",
            size=11,
        )
        if order == "first":
            drawing.matrix((140, y), long, D, "query", cell=11)
            drawing.matrix((190, y + 27), D, long, "key", cell=11)
            drawing.text((298, y + 44), "=")
            drawing.matrix((318, y), long, long, "weight", cell=11)
            drawing.text((424, y + 44), "×")
            drawing.matrix((444, y), long, D, "value", cell=11)
            drawing.text((496, y + 44), "=")
            drawing.matrix((520, y), long, D, "output", cell=11)
        else:
            drawing.matrix((140, y), long, D, "query", cell=11)
            drawing.text((192, y + 44), "×")
            drawing.matrix((212, y + 27), D, D, "weight", cell=11)
            drawing.text((264, y + 44), "=")
            drawing.matrix((288, y), long, D, "output", cell=11)
            drawing.text((360, y + 30), "where", size=11)
            drawing.matrix((400, y + 27), D, D, "weight", cell=11)
            drawing.text((452, y + 44), "=")
            drawing.matrix((472, y + 27), D, long, "key", cell=11)
            drawing.matrix((568, y), long, D, "value", cell=11)
    return drawing


def gru_gates() -> Drawing:
    """A GRU cell: two gates decide what of the old state stays."""
    drawing = Drawing(
        700,
        250,
        "A GRU cell. The old state h and the input x go into a reset gate r, an update"
        " gate z and a candidate. The reset gate multiplies the old state before the"
        " candidate is computed. The new state is z times the old state plus one minus"
        " z times the candidate.",
    )
    state = drawing.matrix((25, 60), 1, 4, "value", name="h_{t−1}")
    given = drawing.matrix((25, 180), 1, 4, "input", name="x_t")
    reset = drawing.box((170, 40), (120, 40), "reset gate|r = σ(…)")
    update = drawing.box((170, 165), (120, 40), "update gate|z = σ(…)")
    candidate = drawing.box((355, 40), (130, 40), "candidate|n = tanh(…)")
    mixed = drawing.box((355, 165), (170, 40), "z × old state|+ (1 − z) × candidate")
    new = drawing.matrix((600, 177), 1, 4, "value", name="h_t")
    for gate in (reset, update):
        drawing.arrow(state.right, gate.left)
        drawing.arrow(given.right, gate.left)
    drawing.arrow(reset.right, candidate.left, "r × U h")
    drawing.arrow(update.right, mixed.left, "z")
    drawing.arrow(candidate.bottom, (candidate.bottom[0], 165), "n")
    drawing.arrow(mixed.right, new.left)
    drawing.text((232, 232), "σ(…) lies between 0 and 1, for each component", size=11)
    return drawing


def additive_and_dot() -> Drawing:
    """Two scores of a state and an annotation: Bahdanau's and Luong's."""
    drawing = Drawing(
        700,
        215,
        "Two ways to score how well a decoder state s fits an encoder state h. Left,"
        " Bahdanau's additive score: the decoder state before the step and the encoder"
        " state pass through a layer with tanh, then a vector v gives one number."
        " Right, Luong's score: the decoder state after the step and the encoder state"
        " are multiplied, with a matrix W or without.",
    )
    for left, title, before in (
        (15, "additive (Bahdanau)", True),
        (370, "dot product (Luong)", False),
    ):
        drawing.text((left + 150, 18), title, bold=True)
        name = "s_{t−1}" if before else "s_t"
        state = drawing.matrix((left + 15, 75), 1, 4, "query", name=name)
        other = drawing.matrix((left + 15, 140), 1, 4, "key", name="h_i")
        text = "v · tanh(W s + U h)" if before else "s · W h"
        layer = drawing.box((left + 112, 90), (150, 40), text)
        drawing.arrow(state.right, layer.left)
        drawing.arrow(other.right, layer.left)
        score = drawing.matrix((left + 296, 102), 1, 1, "weight", name="score")
        drawing.arrow(layer.right, score.left)
        told = "state before the step" if before else "state after the step"
        drawing.text((left + 150, 190), told, size=11)
    return drawing


def rotary_pairs() -> Drawing:
    """The two layouts of RoPE: which components form a pair."""
    drawing = Drawing(
        700,
        170,
        "A vector of eight components twice. Left, neighbours form pairs: 0 and 1, 2"
        " and 3, 4 and 5, 6 and 7. Right, the halves form pairs: 0 and 4, 1 and 5, 2"
        " and 6, 3 and 7. Each pair is rotated by an angle of its own.",
    )
    for left, title, pairs in (
        (40, "neighbours", ((0, 1), (2, 3), (4, 5), (6, 7))),
        (400, "halves", ((0, 4), (1, 5), (2, 6), (3, 7))),
    ):
        drawing.text((left + 128, 20), title, bold=True)
        drawing.matrix((left, 92), 1, 8, "query", cell=32)
        for place in range(8):
            drawing.text((left + 32 * place + 16, 108), f"x_{place}", italic=True)
        for number, (one, other) in enumerate(pairs):
            start, end = (left + 32 * i + 16 for i in (one, other))
            height = 14 if other - one == 1 else 34
            drawing.arrow((start, 90), (end, 90), bend=height)
            middle = left + 16 * (one + other) + 16
            drawing.text((middle if other - one == 1 else end, 148), f"θ_{number}")
    return drawing


def line_recogniser() -> Drawing:
    """From the picture of a line to text: features, columns, CTC."""
    drawing = Drawing(
        700,
        190,
        "A recogniser of text lines. The picture of a line, 32 pixels high, passes"
        " through a convolutional network. It becomes a sequence of columns, one for"
        " every four pixels of width. A Transformer encoder lets the columns see one"
        " another. For each column CTC gives a character or a blank; repeated"
        " characters are merged and blanks removed.",
    )
    strip = drawing.box((15, 70), (130, 40), "Tổng cộng", kind="memory")
    network = drawing.box((180, 65), (110, 50), "convolutions")
    columns = drawing.matrix((325, 58), 4, 8, "key", shape="one column for 4 px")
    encoder = drawing.box((490, 65), (100, 50), "Transformer|encoder")
    drawing.arrow(strip.right, network.left)
    drawing.arrow(network.right, columns.left)
    drawing.arrow(columns.right, encoder.left)
    drawing.arrow(encoder.right, (630, encoder.right[1]))
    drawing.text((662, 90), "CTC", bold=True)
    drawing.text((350, 160), "T T – ổ n n – g   →   Tổng", size=15)
    return drawing


def clip_classifier() -> Drawing:
    """From a clip to a word: a network for frames, one for time, pooling."""
    drawing = Drawing(
        700,
        200,
        "A classifier of clips. Frames of a film stand side by side, time runs from"
        " left to right. Each frame passes through the same ConvNeXt and becomes a"
        " vector. A Transformer lets the frames see one another. Attention pooling"
        " weighs them and gives one vector, from which the word is named.",
    )
    frames = []
    for number in range(6):
        area = drawing.box((20 + 48 * number, 30), (40, 40), kind="memory")
        vector = drawing.matrix((32 + 48 * number, 106), 4, 1, "key")
        drawing.arrow(area.bottom, vector.top)
        frames.append(vector)
    drawing.text((164, 15), "frames, time from left to right", size=11)
    drawing.text((322, 88), "ConvNeXt", size=11, anchor="start")
    encoder = drawing.box((355, 116), (105, 44), "Transformer|over time")
    drawing.arrow((frames[-1].right[0] + 6, 138), encoder.left)
    pooled = drawing.box((490, 116), (90, 44), "attention|pooling")
    drawing.arrow(encoder.right, pooled.left)
    one = drawing.matrix((612, 106), 4, 1, "output")
    drawing.arrow(pooled.right, one.left)
    drawing.text((640, 138), "word", anchor="start", bold=True)
    return drawing


def key_value_cache() -> Drawing:
    """Generation: one new query reads all cached keys and values."""
    drawing = Drawing(
        700,
        190,
        "Three steps of generation. In each step one new query row reads all cached"
        " keys and values. The cache grows by one row a step: it has four, five and"
        " six rows.",
    )
    for step in range(3):
        left = 25 + 230 * step
        drawing.text((left + 92, 18), f"step {step + 1}", bold=True)
        rows = 4 + step
        query = drawing.matrix((left, 80), 1, D, "query", name="q")
        keys = drawing.matrix((left + 85, 50), rows, D, "key", name="K")
        drawing.matrix((left + 145, 50), rows, D, "value", name="V")
        drawing.arrow(query.right, (keys.x, query.right[1]))
        drawing.text((left + 140, 66 + CELL * rows), f"{rows} rows read", size=11)
    return drawing


def labelled_lines() -> Drawing:
    """A page as tokens: each line is its text plus its place, attention labels it."""
    drawing = Drawing(
        700,
        230,
        "A page with four lines. Each line becomes one vector: a vector of its text"
        " plus a vector of its place on the page. A Transformer encoder lets the four"
        " lines see one another, and gives each a label: seller, address, no field,"
        " total.",
    )
    drawing.box((20, 30), (150, 175), kind="memory")
    lines = ("Quán Lá", "12 Lê Lợi", "Trà đá  15.000", "Tổng  15.000")
    encoder = drawing.box((455, 30), (95, 175), "Transformer|encoder")
    labels = ("seller", "address", "no field", "total")
    for number, (text, label) in enumerate(zip(lines, labels, strict=True)):
        y = 53 + 43 * number
        line = drawing.box((32, y - 13), (126, 26), text)
        said = drawing.matrix((235, y - 8), 1, 4, "value")
        place = drawing.matrix((345, y - 8), 1, 4, "query")
        drawing.text((322, y), "+")
        drawing.arrow(line.right, said.left)
        drawing.arrow(place.right, (encoder.x, y))
        drawing.arrow((encoder.right[0], y), (592, y))
        drawing.text((600, y), label, anchor="start")
    drawing.text((267, 20), "text", size=11)
    drawing.text((377, 20), "place", size=11)
    return drawing


def padded_batch() -> Drawing:
    """Sentences of different lengths as one tensor with padding."""
    drawing = Drawing(
        700,
        200,
        "Three sentences of five, three and four tokens become one tensor. The batch"
        " has three rows and five columns; the places behind a short sentence are"
        " padding, drawn as crossed squares. Each token is a vector of four features,"
        " so the tensor has the shape three by five by four.",
    )
    words = (
        ("tôi", "đi", "học", "bằng", "xe"),
        ("xin", "chào", "bạn"),
        ("cô", "ấy", "rất", "vui"),
    )
    for row, sentence in enumerate(words):
        for column, word in enumerate(sentence):
            drawing.text((35 + 48 * column, 66 + 32 * row), word)
    drawing.arrow((275, 98), (330, 98))
    hidden = {(1, 3), (1, 4), (2, 4)}
    drawing.matrix(
        (350, 50), 3, 5, "input", cell=32, name="batch", shape="B × T", hidden=hidden
    )
    drawing.arrow((520, 98), (565, 98))
    for token in range(5):
        drawing.matrix((580 + 20 * token, 66), 4, 1, "value")
    drawing.text((628, 52), "row 1: T × E", size=11)
    return drawing


def sparse_patterns() -> Drawing:
    """Which keys a query may see: all before it, a window, strides, blocks."""
    n = 8
    drawing = Drawing(
        700,
        200,
        "Four masks of eight queries by eight keys; hidden pairs are crossed. Causal:"
        " each query sees itself and all earlier keys. Window of three: itself and two"
        " before. Strided: every second key before it. Global: the first key is seen by"
        " all, and a window of two besides.",
    )
    seen = {
        "causal": lambda q, k: True,
        "window": lambda q, k: q - k < 3,
        "strided": lambda q, k: (q - k) % 2 == 0,
        "global + window": lambda q, k: k == 0 or q - k < 2,
    }
    for panel, (title, may_see) in enumerate(seen.items()):
        places = [(q, k) for q in range(n) for k in range(n)]
        hidden = [(q, k) for q, k in places if k > q or not may_see(q, k)]
        left = 22 + 172 * panel
        drawing.text((left + 68, 18), title, bold=True)
        drawing.matrix((left, 36), n, n, "weight", cell=17, hidden=hidden)
        drawing.text((left + 68, 186), f"{64 - len(hidden)} of 64 pairs", size=11)
    return drawing


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
        190,
        "Two orders of a residual sublayer. Post-norm: the input goes through the"
        " sublayer, is added to the input, and the sum is normalised, so the norm"
        " stands in the way of the residual. Pre-norm: the norm stands in front of the"
        " sublayer, and the residual passes unchanged from layer to layer.",
    )
    for y, title, parts in (
        (55, "post-norm", ("sublayer", "+", "norm")),
        (140, "pre-norm", ("norm", "sublayer", "+")),
    ):
        drawing.text((15, y), title, anchor="start", bold=True)
        x = 175.0
        drawing.arrow((115, y), (x, y), "x")
        places = {}
        for part in parts:
            width = 34 if part == "+" else 100
            places[part] = drawing.box((x, y - 17), (width, 34), part)
            drawing.arrow((x + width, y), (x + width + 45, y))
            x += width + 45
        plus = places["+"]
        drawing.arrow((140, y), (plus.top[0], plus.y), bend=40)
    return drawing


def page_pipeline() -> Drawing:
    """From a photograph to data: detect, place, crop, recognise, extract."""
    drawing = Drawing(
        700,
        150,
        "Steps from a photograph to data. A detector finds boxes of text. Geometry puts"
        " them into lines and rows. Each line is cropped to a strip and read by the"
        " recogniser. Fields are found in the lines: seller, address, time, total.",
    )
    names = (
        "photograph",
        "detector:|boxes",
        "geometry:|lines, rows",
        "recogniser:|texts",
        "rules:|fields",
    )
    before = None
    for number, name in enumerate(names):
        kind = "memory" if number == 0 else "plain"
        box = drawing.box((15 + 138 * number, 45), (110, 56), name, kind=kind)
        if before is not None:
            drawing.arrow(before.right, box.left)
        before = box
    return drawing
