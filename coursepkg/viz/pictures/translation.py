"""Translation: pictures of the chapters on the translator."""

from coursepkg.viz.drawing import Drawing


def three_ways() -> Drawing:
    """Rules, statistics and a network between the same two sentences."""
    drawing = Drawing(
        700,
        245,
        "Three ways from the Chinese sentence 我喝茶 to the Vietnamese tôi uống trà."
        " Rule-based: people write a dictionary and rules, which replace words and"
        " reorder them. Statistical: counts over sentence pairs give a word model and"
        " a language model, and a search weighs both. Neural: a network trained on"
        " sentence pairs reads the source and writes the target.",
    )
    source = drawing.box((15, 114), (85, 36), "我 喝 茶", kind="memory")
    target = drawing.box((575, 114), (110, 36), "tôi uống trà", kind="memory")
    for y, title, parts in (
        (54, "rule-based", ("dictionary", "reordering rules")),
        (132, "statistical", ("word model +|language model", "search")),
        (210, "neural", ("encoder", "decoder")),
    ):
        boxes = []
        for number, part in enumerate(parts):
            boxes.append(drawing.box((185 + 180 * number, y - 20), (140, 40), part))
        drawing.text((185, y - 31), title, anchor="start", bold=True)
        drawing.arrow(source.right, boxes[0].left)
        drawing.arrow(boxes[0].right, boxes[1].left)
        drawing.arrow(boxes[1].right, target.left)
    return drawing


def spacing_and_score() -> Drawing:
    """One output in two spellings, scored by the same program with two scores."""
    drawing = Drawing(
        700,
        170,
        "One output in two forms, tokenised with a space before each full stop, and"
        " plain without it. Scored against the same tokenised reference with the"
        " tokens called none, the tokenised form gets 83.07 BLEU and the plain form"
        " 57.15. With the tokens called 13a both get 83.07.",
    )
    output = drawing.box((15, 67), (120, 40), "one output", kind="memory")
    drawing.text((440, 16), "tok:none", bold=True)
    drawing.text((600, 16), "tok:13a", bold=True)
    for y, name, none in ((55, "tokenised", "83.07"), (130, "plain", "57.15")):
        text = "… quyển sách ." if name == "tokenised" else "… quyển sách."
        form = drawing.box((205, y - 20), (150, 40), f"{name}:|{text}")
        drawing.arrow(output.right, form.left)
        drawing.arrow(form.right, (405, y))
        drawing.text((440, y), none, bold=True, size=17)
        drawing.text((600, y), "83.07", size=17)
    return drawing


def grouped_split() -> Drawing:
    """Pairs that share a sentence stay on one side of the split."""
    drawing = Drawing(
        700,
        235,
        "Six sentence pairs, numbered 0 to 5, with lines between pairs that share a"
        " sentence: 0 and 2 share a, 2 and 5 share C, 4 and 5 share c, 1 and 4 share B;"
        " 3 shares nothing. Left, a random split cuts three of the four lines, so test"
        " sentences are known from training. Right, a grouped split keeps the five"
        " linked pairs in training, puts 3 into test, and cuts no line.",
    )
    at = {0: (30, 52), 2: (30, 128), 5: (120, 128), 4: (210, 128), 1: (210, 52)}
    at[3] = (120, 52)
    links = ((0, 2, "a"), (2, 5, "C"), (5, 4, "c"), (4, 1, "B"))
    for left, title, test in (
        (20, "random split", {0, 4}),
        (380, "grouped split", {3}),
    ):
        drawing.text((left + 140, 18), title, bold=True)
        middle = {n: (left + x + 20, y + 17) for n, (x, y) in at.items()}
        for one, other, key in links:
            drawing.line(middle[one], middle[other], width=2)
            (x, y), (u, v) = middle[one], middle[other]
            shift = (14, 0) if x == u else (0, -10)
            place = ((x + u) / 2 + shift[0], (y + v) / 2 + shift[1])
            drawing.text(place, key, italic=True)
        for number, (x, y) in at.items():
            kind = "key" if number in test else "query"
            drawing.box((left + x, y), (40, 34), str(number), kind=kind)
        cut = sum((one in test) != (other in test) for one, other, _ in links)
        drawing.text((left + 140, 190), f"{cut} of 4 links between train and test")
    drawing.text((350, 222), "blue: train; orange: test", size=11)
    return drawing


def report_translator() -> Drawing:
    """The model `report`: eight layers on each side, and where its parameters are."""
    drawing = Drawing(
        700,
        310,
        "The translation model of the preset report. Source tokens pass an embedding of"
        " 8,000 by 768 and eight encoder layers of self-attention and SwiGLU. Target"
        " tokens pass the same embedding and eight decoder layers of masked"
        " self-attention, cross-attention to the encoder's output, and SwiGLU. Before"
        " each part stands an RMSNorm. Each attention has 12 query heads and 4"
        " key-value heads and 1,572,864 parameters, each SwiGLU 7,077,888. The output"
        " layer is the table of the embedding once more. Together 157,179,200"
        " parameters.",
    )
    sizes = {"attention": "H = 12, G = 4", "SwiGLU": "F = 3072"}
    tops = {}
    for x, title, parts in (
        (20, "encoder, 8 layers", ("self-attention", "SwiGLU")),
        (
            260,
            "decoder, 8 layers",
            ("masked self-attention", "cross-attention", "SwiGLU"),
        ),
    ):
        height = 30 + 58 * len(parts)
        frame = drawing.memory((x, 246 - height), (200, height), title)
        y = 246 - 52
        for part in parts:
            size = sizes["SwiGLU" if part == "SwiGLU" else "attention"]
            box = drawing.box((x + 20, y), (160, 42), f"{part}|{size}")
            tops[part] = box
            y -= 58
        drawing.arrow((frame.bottom[0], 276), frame.bottom)
        drawing.text((frame.bottom[0], 290), "embedding 8000 × 768", size=12)
    drawing.arrow((220, 124), tops["cross-attention"].left)
    output = drawing.box((515, 24), (165, 34), "output, same table")
    drawing.arrow((460, 60), output.left)
    for number, line in enumerate(
        (
            "attention: 1,572,864",
            "SwiGLU: 7,077,888",
            "24 attentions, 16 SwiGLU,",
            "one table, norms, bias:",
        )
    ):
        drawing.text((490, 110 + 24 * number), line, anchor="start", size=12)
    drawing.text((490, 212), "157,179,200 parameters", anchor="start", bold=True)
    drawing.text((490, 250), "An RMSNorm stands", anchor="start", size=11)
    drawing.text((490, 266), "before each part.", anchor="start", size=11)
    return drawing


def similarity_matrix() -> Drawing:
    """InfoNCE: each sentence must recognise its translation in the batch."""
    drawing = Drawing(
        700,
        235,
        "A batch of three sentences gives the vectors a1 to a3, their translations b1"
        " to b3. A three by three matrix holds the cosines: 0.8, 0.6, 0; 0, 0.6, 0.8;"
        " 0, 0, 1. The diagonal, drawn green, holds the pairs that belong together:"
        " training pulls them together and pushes all others apart. In the second row"
        " a wrong translation is nearer than the right one.",
    )
    cosines = ((0.8, 0.6, 0.0), (0.0, 0.6, 0.8), (0.0, 0.0, 1.0))
    source = drawing.box((15, 78), (110, 40), "3 sentences", kind="memory")
    target = drawing.box((15, 165), (110, 40), "3 translations", kind="memory")
    encoder = drawing.box((175, 100), (105, 84), "encoder,|mean over|tokens")
    drawing.arrow(source.right, (175, 120))
    drawing.arrow(target.right, (175, 164))
    drawing.arrow(encoder.right, (335, 142), "a, b")
    for row, values in enumerate(cosines):
        drawing.text((360, 71 + 54 * row), f"a_{row + 1}", italic=True, size=15)
        drawing.text((407 + 54 * row, 26), f"b_{row + 1}", italic=True, size=15)
        for column, value in enumerate(values):
            kind = "value" if row == column else "input"
            at = (380 + 54 * column, 44 + 54 * row)
            drawing.matrix(at, 1, 1, kind, cell=54)
            drawing.text((at[0] + 27, at[1] + 27), f"{value:g}", size=15)
    for y, text in ((60, "green: a pair,"), (78, "pulled together")):
        drawing.text((565, y), text, anchor="start", size=12)
    for y, text in ((125, "grey: negatives,"), (143, "pushed apart")):
        drawing.text((565, y), text, anchor="start", size=12)
    return drawing


def ladder_rows() -> Drawing:
    """An ablation ladder: one change a row, and what an interval decides."""
    drawing = Drawing(
        700,
        215,
        "An ablation ladder. From one model three rows branch off, each with one"
        " change, trained for an equal time on the same split. To the right each row"
        " has a difference with its 95% interval against a line at 0. Change A lies"
        " right of 0: decided, it helps. Change B contains 0: undecided. Change C lies"
        " left of 0: decided, it harms. The intervals are invented.",
    )
    base = drawing.box((15, 80), (90, 44), "model", kind="memory")
    zero = 450
    drawing.line((zero, 22), (zero, 182), width=1.0)
    drawing.text((zero, 196), "0: as good as the model", size=11)
    drawing.text((630, 20), "invented intervals", size=11)
    for y, name, middle, verdict in (
        (45, "A", 58, "decided: helps"),
        (102, "B", 12, "undecided: 0 within"),
        (159, "C", -62, "decided: harms"),
    ):
        row = drawing.box((165, y - 20), (130, 40), f"model +|change {name}")
        drawing.arrow(base.right, row.left)
        drawing.line((zero + middle - 36, y), (zero + middle + 36, y), width=2.5)
        for end in (-36, 36):
            place = zero + middle + end
            drawing.line((place, y - 6), (place, y + 6), width=2.5)
        drawing.matrix((zero + middle - 6, y - 6), 1, 1, "weight", cell=12)
        drawing.text((558, y), verdict, anchor="start", size=12)
    return drawing


def text_to_text() -> Drawing:
    """T5: the task is part of the text, the answer is text."""
    drawing = Drawing(
        700,
        190,
        "Three texts go into one and the same model, and three texts come out."
        " translate Chinese to Vietnamese: 你好。 gives Xin chào. sst2 sentence: a"
        " charming film gives positive. stsb sentence1: A man sings. sentence2: A man"
        " is singing. gives 4.8.",
    )
    model = drawing.box((430, 30), (95, 140), "one T5")
    for y, prefix, text, answer in (
        (45, "translate Chinese to Vietnamese:", "你好。", "Xin chào."),
        (100, "sst2 sentence:", "a charming film", "positive"),
        (155, "stsb sentence1:", "A man sings. sentence2: …", "4.8"),
    ):
        drawing.text((15, y - 9), prefix, anchor="start", bold=True)
        drawing.text((15, y + 9), text, anchor="start")
        drawing.arrow((320, y), (430, y))
        drawing.arrow((model.right[0], y), (580, y))
        drawing.text((590, y), answer, anchor="start")
    return drawing
