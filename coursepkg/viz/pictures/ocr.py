"""Reading receipts: pictures of the chapters on OCR."""

from coursepkg.viz.drawing import Drawing


def line_recogniser() -> Drawing:
    """From the picture of a line to text: features, columns, encoder, two heads."""
    drawing = Drawing(
        700,
        240,
        "A recogniser of text lines. The picture of a line, 40 pixels high, 480 wide,"
        " passes through a CNN, which leaves a feature map of 3 rows and 120 columns."
        " Folded, it is a sequence of S = 120 columns, one for every four pixels of"
        " width. A Transformer encoder lets the columns see one another. Two heads read"
        " its output. CTC gives each column a character or a blank; repeated characters"
        " are merged and blanks removed. A decoder with cross-attention writes one"
        " character after another.",
    )
    strip = drawing.box((15, 62), (115, 40), "Tổng cộng", kind="memory")
    drawing.text((72, 116), "40 × 480 px", size=11)
    network = drawing.box((160, 62), (64, 40), "CNN")
    features = drawing.matrix((258, 58), 3, 8, "input", shape="C × 3 × 120")
    columns = drawing.matrix((425, 50), 4, 8, "key", shape="S = 120 columns")
    encoder = drawing.box((590, 57), (95, 50), "Transformer|encoder")
    drawing.arrow(strip.right, network.left)
    drawing.arrow(network.right, features.left)
    drawing.arrow(features.right, columns.left, "fold")
    drawing.arrow(columns.right, encoder.left)
    head = drawing.box((425, 165), (110, 40), "CTC head")
    decoder = drawing.box((590, 165), (95, 40), "decoder")
    drawing.arrow((612, 107), (520, 163))
    drawing.arrow(encoder.bottom, decoder.top)
    drawing.arrow(head.left, (372, 185))
    drawing.text((255, 185), "T T – ổ n n – g → Tổng", size=15)
    drawing.text((620, 220), "T, ổ, n, g: one by one", size=11)
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


def labelled_lines() -> Drawing:
    """A page as tokens: text plus place plus dictionary; attention labels each line."""
    drawing = Drawing(
        700,
        230,
        "A page with four lines. Each line becomes one vector: a vector of its text,"
        " plus one of its place on the page, plus one of what a dictionary says of it."
        " A Transformer encoder lets the four lines see one another, and gives each a"
        " label: seller, address, no field, total.",
    )
    drawing.box((20, 30), (150, 175), kind="memory")
    lines = ("Quán Lá", "12 Lê Lợi", "Trà đá  15.000", "Tổng  15.000")
    encoder = drawing.box((455, 30), (95, 175), "Transformer|encoder")
    labels = ("seller", "address", "no field", "total")
    for number, (text, label) in enumerate(zip(lines, labels, strict=True)):
        y = 53 + 43 * number
        line = drawing.box((32, y - 13), (126, 26), text)
        said = drawing.matrix((195, y - 8), 1, 4, "value")
        drawing.matrix((280, y - 8), 1, 4, "query")
        known = drawing.matrix((365, y - 8), 1, 4, "key")
        drawing.text((269, y), "+")
        drawing.text((354, y), "+")
        drawing.arrow(line.right, said.left)
        drawing.arrow(known.right, (encoder.x, y))
        drawing.arrow((encoder.right[0], y), (592, y))
        drawing.text((600, y), label, anchor="start")
    drawing.text((227, 20), "text", size=11)
    drawing.text((312, 20), "place", size=11)
    drawing.text((397, 20), "dictionary", size=11)
    return drawing


def line_from_photograph() -> Drawing:
    """A slanted line of a receipt: four corners, a homography, an upright strip."""
    drawing = Drawing(
        700,
        220,
        "From a photograph to a training line. On a tilted receipt the annotation"
        " outlines one line by four corners, 0 to 3 in the order of reading. A"
        " homography maps the corners of an upright crop to these four. The crop is a"
        " strip that shows Tổng cộng: 2.509.000đ, and the table holds the same text and"
        " the label of the total.",
    )
    drawing.box((15, 25), (230, 180), kind="memory")
    paper = ((60, 40), (225, 62), (200, 190), (40, 170))
    for one, other in zip(paper, (*paper[1:], paper[0]), strict=True):
        drawing.line(one, other)
    corners = ((72, 104), (192, 120), (186, 150), (68, 132))
    for number, (one, other) in enumerate(
        zip(corners, (*corners[1:], corners[0]), strict=True)
    ):
        drawing.line(one, other, width=2.6)
        shift = ((-8, -9), (9, -9), (9, 9), (-8, 11))[number]
        drawing.text((one[0] + shift[0], one[1] + shift[1]), str(number), size=12)
    for y in (70, 80, 90):
        drawing.line((76, y), (180, y + 14), width=0.8)
    solved = drawing.box((300, 102), (125, 46), "homography|from 4 corners")
    drawing.arrow((200, 125), solved.left)
    strip = drawing.box((480, 107), (205, 36), "Tổng cộng: 2.509.000đ", kind="memory")
    drawing.arrow(solved.right, strip.left)
    drawing.text((130, 14), "photograph", size=12)
    drawing.text((582, 92), "crop", size=12)
    drawing.text((582, 168), "text: Tổng cộng: 2.509.000đ", size=12)
    drawing.text((582, 188), "label: the total", size=12)
    return drawing


def same_error_rate() -> Drawing:
    """Three readers with one CER: what else differs between them."""
    drawing = Drawing(
        700,
        170,
        "Three readers with the same character error rate, 2.46%. Bars of the lines"
        " without an error: tones 50.0%, digits 50.0%, lost lines 96.8%. Bars of the"
        " lines with four digits or more that have a wrong number: tones 0.0%, digits"
        " 91.0%, lost lines 3.8%.",
    )
    for left, title, values in (
        (170, "lines right", (50.0, 50.0, 96.8)),
        (460, "wrong numbers", (0.0, 91.0, 3.8)),
    ):
        drawing.text((left + 85, 24), title, bold=True)
        names = ("tones", "digits", "lost lines") if left == 170 else ("", "", "")
        rows = [
            (name, value / 100, f"{value:.1f}%")
            for name, value in zip(names, values, strict=True)
        ]
        kind = "value" if title == "lines right" else "key"
        drawing.bars((left, 48), rows, width=170, kind=kind, step=34)
    drawing.text((90, 24), "CER 2.46% each", size=12)
    return drawing
