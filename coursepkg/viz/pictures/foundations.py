"""Tensors, recurrent cells and the first attention: pictures and frames of sliders."""

from collections.abc import Sequence
from math import exp, tanh

from coursepkg.viz.drawing import Drawing, Number


def padded_batch() -> Drawing:
    """Sentences of different lengths as one tensor with padding."""
    drawing = Drawing(
        700,
        200,
        "Three sentences of five, three and four tokens become one tensor. The batch"
        " has three rows and five columns; the places after a short sentence are"
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


def gru_gates() -> Drawing:
    """A GRU cell: two gates decide what of the old state stays."""
    drawing = Drawing(
        700,
        250,
        "A GRU cell. The old state h and the input x go into a reset gate r and an"
        " update gate z. A candidate takes the input, and of the old state what the"
        " reset gate leaves. The new state is z times the old state plus one minus z"
        " times the candidate.",
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
    corner = (given.right[0], given.top[1])
    drawing.arrow(corner, (candidate.left[0], candidate.bottom[1] - 5))
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
        "Two ways to score how well a query q, a state of the decoder, fits a key k, an"
        " output of the encoder. Left, Bahdanau's additive score: the state before the"
        " step and the key pass through a layer with tanh, then a vector v gives one"
        " number. Right, Luong's general score: the dot product of the state after the"
        " step and the key times a matrix W.",
    )
    for left, title, before in (
        (15, "additive (Bahdanau)", True),
        (370, "general (Luong)", False),
    ):
        drawing.text((left + 150, 18), title, bold=True)
        name = "q_t = s_{t−1}" if before else "q_t = s_t"
        state = drawing.matrix((left + 15, 75), 1, 4, "query", name=name)
        other = drawing.matrix((left + 15, 140), 1, 4, "key", name="k_s")
        text = "v · tanh(W q + U k)" if before else "q · W k"
        layer = drawing.box((left + 112, 90), (150, 40), text)
        drawing.arrow(state.right, layer.left)
        drawing.arrow(other.right, layer.left)
        score = drawing.matrix((left + 296, 102), 1, 1, "weight", name="score")
        drawing.arrow(layer.right, score.left)
        told = "the state before the step" if before else "the state after the step"
        drawing.text((left + 150, 190), told, size=11)
    return drawing


def neighbours_of_a_number(number: int) -> Drawing:
    """A whole number, the number after it, and what three formats can store of both.

    Args:
        number: a power of two from 16 to 32,768.

    Raises:
        ValueError: it is another number.
    """
    if number not in {2**power for power in range(4, 16)}:
        raise ValueError(f"number: {number}; need a power of two from 16 to 32768")
    bits = {"float32": 23, "float16": 10, "bfloat16": 7}
    spacing = {name: number / 2**n for name, n in bits.items()}
    stored = {name: round((number + 1) / gap) * gap for name, gap in spacing.items()}
    told = "; ".join(
        f"{name} one in every {gap:g}, and stores {number:,} + 1 as {stored[name]:,g}"
        if gap >= 1
        else f"{name} {1 / gap:,.0f} in every 1"
        for name, gap in spacing.items()
    )
    drawing = Drawing(
        700,
        215,
        f"Lines from {number:,} to {number + 8:,} with a mark for each number that a"
        f" format can store: {told}.",
    )
    left, unit = 110, 60

    def x(value: Number) -> Number:
        return left + unit * (value - number)

    for whole in range(9):
        drawing.text((x(number + whole), 18), f"{number + whole:,}", size=11)
    for row, (name, gap) in enumerate(spacing.items()):
        y = 66 + 52 * row
        drawing.text((left - 14, y), name, anchor="end")
        drawing.line((left, y), (x(number + 8), y), width=0.8)
        # Marks closer than two pixels would be one band: it is drawn as one.
        if unit * gap < 2:
            drawing.bars((left, y - 8), [("", 1, "")], width=8 * unit, step=24)
        else:
            for step in range(int(8 / gap) + 1):
                at = x(number + step * gap)
                drawing.line((at, y - 9), (at, y + 9), width=1.4)
        goal = x(stored[name])
        if goal != x(number + 1):
            drawing.arrow((x(number + 1), y - 20), (goal, y - 11))
        drawing.text((x(number + 8) + 12, y), f"+1: {stored[name]:,g}", anchor="start")
    return drawing


def gru_step(reset: Number, update: Number) -> Drawing:
    """One step of a GRU with one component, for given gates.

    The numbers are those of the chapter: input 1, old state 0.5, W_n = 1, U_n = -2, no
    bias.

    Args:
        reset: the reset gate r, 0 to 1.
        update: the update gate z, 0 to 1.
    """
    old = 0.5
    candidate = tanh(1.0 + reset * (-2.0 * old))
    new = (1 - update) * candidate + update * old
    drawing = Drawing(
        700,
        130,
        f"Reset gate r = {reset:.2f}, update gate z = {update:.2f}. Old state h ="
        f" {old:.2f}, candidate n = {candidate:.2f}, new state h' = {new:.2f}. The new"
        " state lies between the other two.",
    )
    for y, name, kind, value, rule in (
        (16, "old state h", "value", old, "as it is"),
        (54, "candidate n", "input", candidate, f"tanh(1 − {reset:.2f})"),
        (
            92,
            "new state h′",
            "value",
            new,
            f"{1 - update:.2f} · {candidate:.4f} + {update:.2f} · {old:.1f}",
        ),
    ):
        drawing.bars(
            (130, y), [(name, value, f"{value:.4f}")], width=300, kind=kind, step=30
        )
        drawing.text((500, y + 11), rule, size=12, anchor="start")
    return drawing


def three_scores(factor: Number) -> Drawing:
    """Weights of three keys by three scores, when the query is made longer.

    The query is `factor` times (1, 2); keys and matrices are those of the chapter.

    Args:
        factor: 0 or larger.
    """
    query = (factor, 2 * factor)
    keys = ((1, 0), (0, 1), (1, 1))
    scores = {
        "dot": [query[0] * a + query[1] * b for a, b in keys],
        "general": [query[0] * b + query[1] * a for a, b in keys],
        "additive": [
            tanh((query[0] - a) / 2) + 2 * tanh((query[1] - b) / 2) for a, b in keys
        ],
    }
    weights = {name: softmax(row) for name, row in scores.items()}
    told = "; ".join(
        f"{name} {', '.join(f'{one:.2f}' for one in row)}"
        for name, row in weights.items()
    )
    drawing = Drawing(
        700,
        140,
        f"Weights of the keys k1, k2 and k3 for the query {factor:g} times (1, 2):"
        f" {told}.",
    )
    for panel, (name, row) in enumerate(weights.items()):
        left = 45 + 232 * panel
        drawing.text((left + 70, 18), name, bold=True)
        named = [(f"k_{i}", one, f"{one:.4f}") for i, one in enumerate(row, start=1)]
        drawing.bars((left, 44), named, width=110, step=30)
    return drawing


def softmax(scores: Sequence[Number]) -> list[float]:
    """Weights with the sum 1."""
    exponentials = [exp(score - max(scores)) for score in scores]
    return [one / sum(exponentials) for one in exponentials]
