"""Forms of attention: pictures and the frames of sliders."""

from dataclasses import replace

from coursepkg.attention.costs import AttentionShape, kv_cache_bytes
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
        "The same product in two orders, for n = 8 tokens, F = 4 features and D = 3."
        " Above: the features of the queries times those of the keys, transposed, are a"
        " square matrix of eight by eight, which then multiplies the values. Below: the"
        " features of the keys, transposed, times the values are a small matrix S of"
        " four by three, which is then multiplied by the features of the queries. Both"
        " give eight rows of three.",
    )
    long, features = 8, 4
    for y, order in ((22, "first"), (142, "last")):
        drawing.text(
            (72, y + 40),
            "(φ(q) φ(k)^T) v" if order == "first" else "φ(q) (φ(k)^T v)",
            size=13,
        )
        drawing.text(
            (72, y + 64),
            "n × n in between" if order == "first" else "F × D in between",
            size=11,
        )
        if order == "first":
            drawing.matrix((140, y), long, features, "query", cell=11)
            drawing.matrix((196, y + 22), features, long, "key", cell=11)
            drawing.text((298, y + 44), "=")
            drawing.matrix((318, y), long, long, "weight", cell=11)
            drawing.text((424, y + 44), "×")
            drawing.matrix((444, y), long, D, "value", cell=11)
            drawing.text((496, y + 44), "=")
            drawing.matrix((520, y), long, D, "output", cell=11)
        else:
            drawing.matrix((140, y), long, features, "query", cell=11)
            drawing.text((200, y + 44), "×")
            drawing.matrix((216, y + 22), features, D, "weight", cell=11)
            drawing.text((232, y + 78), "S", italic=True)
            drawing.text((268, y + 44), "=")
            drawing.matrix((288, y), long, D, "output", cell=11)
            drawing.text((360, y + 30), "where", size=11)
            drawing.matrix((400, y + 22), features, D, "weight", cell=11)
            drawing.text((416, y + 78), "S", italic=True)
            drawing.text((452, y + 44), "=")
            drawing.matrix((472, y + 22), features, long, "key", cell=11)
            drawing.matrix((568, y), long, D, "value", cell=11)
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


def cache_sizes(
    model: str,
    *,
    n_layers: int,
    n_heads: int,
    n_kv_heads: int,
    head_dim: int,
    n_tokens: int,
) -> Drawing:
    """The KV cache of one sequence in half precision, for each possible G.

    Args:
        model: its name.
        n_layers: L.
        n_heads: H.
        n_kv_heads: the published G.
        head_dim: D.
        n_tokens: S, tokens in the cache.
    """
    memory = 80 * 2**30
    shape = AttentionShape(
        1, 1, n_tokens, n_heads, n_heads, head_dim, n_layers=n_layers
    )
    shape = replace(shape, bytes_per_element=2)
    sizes = {
        groups: kv_cache_bytes(replace(shape, n_kv_heads=groups))
        for groups in range(n_heads, 0, -1)
        if n_heads % groups == 0
    }
    told = "; ".join(f"G = {g}: {size / 2**30:.3g} GiB" for g, size in sizes.items())
    drawing = Drawing(
        700,
        76 + 26 * len(sizes),
        f"KV cache of {model} with {n_tokens:,} tokens in half precision, by the number"
        f" of key-value heads: {told}. The model was published with G = {n_kv_heads}.",
    )
    drawing.text(
        (20, 18),
        f"{model}: L = {n_layers}, H = {n_heads}, D = {head_dim}; S = {n_tokens:,}",
        anchor="start",
        bold=True,
    )
    drawing.text((680, 40), "sequences in 80 GiB", anchor="end", size=12)
    y = 56
    for groups, size in sizes.items():
        is_published = groups == n_kv_heads
        row = (
            f"G = {groups}",
            size / sizes[n_heads],
            f"{size / 2**30:.3g} GiB" + ", as published" * is_published,
        )
        kind = "key" if is_published else "input"
        drawing.bars((90, y), [row], width=300, kind=kind, step=26)
        drawing.text((680, y + 9), f"{memory // size:,}", anchor="end", size=12)
        y += 26
    return drawing
