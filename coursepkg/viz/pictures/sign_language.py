"""Recognising signs: pictures of the chapters on sign language."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from coursepkg.viz.drawing import Drawing


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


def clip_tensor() -> Drawing:
    """A film of 30 frames, 16 of them evenly chosen, one tensor."""
    chosen = [place * 29 // 15 for place in range(16)]
    drawing = Drawing(
        700,
        215,
        "A row of 30 frames, time from left to right. Sixteen of them, evenly chosen"
        " from the first to the last, are drawn orange. Each chosen frame is a picture"
        " of 3 colours, H by W. They make a clip of shape T × 3 × H × W with T = 16,"
        " and clips together a batch of shape B × T × 3 × H × W.",
    )
    drawing.text((15, 18), "film: 30 frames", anchor="start", bold=True)
    others = {(0, place) for place in range(30)} - {(0, place) for place in chosen}
    film = drawing.matrix((20, 36), 1, 30, "key", cell=22, faded=others)
    drawing.arrow((190, film.y + 26), (190, 112), "16 frames")
    for layer in range(3):
        offset = 8 * layer
        drawing.matrix((120 + offset, 118 + offset), 4, 4, "key", cell=15)
    drawing.text((95, 158), "3", size=12)
    drawing.text((150, 206), "H × W", size=12)
    drawing.arrow((215, 158), (265, 158))
    clip = drawing.box((275, 135), (150, 46), "clip|T × 3 × H × W")
    drawing.arrow(clip.right, (475, 158), "B clips")
    drawing.box((475, 135), (205, 46), "batch|B × T × 3 × H × W", kind="memory")
    return drawing


def time_warp() -> Drawing:
    """Which frames 16 samples show: plain, at another speed, and warped."""
    length, n_samples = 30, 16
    played = int(length / 1.1)
    plain = [place * (length - 1) // (n_samples - 1) for place in range(n_samples)]
    faster = [
        (place * (played - 1) // (n_samples - 1)) * (length - 1) // (played - 1)
        for place in range(n_samples)
    ]
    # Two stretches at the speeds 1 and 3, as in the chapter: f = 0, 1/4, 1.
    end = 2 * (n_samples - 1)
    bent = [
        (length - 1) * max(place, 3 * place - n_samples + 1) // end
        for place in range(n_samples)
    ]
    drawing = Drawing(
        700,
        215,
        "Three rows of the same 30 frames; the frames that 16 samples show are orange."
        " First row, no change: evenly spread. Second row, played at speed 1.1: again"
        f" evenly spread, {_moved(plain, faster)} of the 16 samples show another frame,"
        " none by more than one. Third row, an uneven warp with speed 1, then 3: close"
        " together in the first half and far apart in the second,"
        f" {_moved(plain, bent)} samples show another frame. The order of frames"
        " stays in every row.",
    )
    for y, title, shown in (
        (40, "as it is", plain),
        (108, "speed 1.1", faster),
        (176, "speed 1, then 3", bent),
    ):
        others = {(0, place) for place in range(length)} - {(0, n) for n in shown}
        drawing.text((122, y + 9), title, anchor="end", bold=True)
        drawing.matrix((132, y), 1, length, "key", cell=18, faded=others)
        if shown is not plain:
            told = f"{_moved(plain, shown)} of 16 samples moved"
            drawing.text((402, y + 29), told, size=11)
    drawing.text((402, 18), "30 frames, time from left to right", size=11)
    return drawing


def _moved(one: list[int], other: list[int]) -> int:
    """Samples that show another frame."""
    return sum(a != b for a, b in zip(one, other, strict=True))


def crnn() -> Drawing:
    """The baseline: a ResNet for each frame, an LSTM over time, the last state."""
    drawing = Drawing(
        700,
        245,
        "The baseline, a CRNN. Frames of a clip stand side by side, T = 16 of them,"
        " time runs from left to right. Each passes through the same ResNet-18 and"
        " becomes a vector of 512 numbers. An LSTM reads the vectors in order and"
        " hands a state of 256 numbers to the right. Only the last state goes into a"
        " linear layer, which gives the scores of V = 100 words.",
    )
    cells = []
    for number in range(5):
        x = 75 + 92 * number
        if number == 3:
            drawing.text((x + 30, 205), "…", size=18)
            drawing.text((x + 30, 130), "…", size=18)
            cells.append(drawing.box((x, 34), (60, 34), "…"))
            continue
        frame = drawing.box((x + 10, 190), (40, 34), kind="memory")
        vector = drawing.matrix((x + 22, 104), 3, 1, "key")
        drawing.arrow(frame.top, vector.bottom)
        cell = drawing.box((x, 34), (60, 34), "LSTM")
        drawing.arrow(vector.top, cell.bottom)
        cells.append(cell)
    for one, other in pairwise(cells):
        drawing.arrow(one.right, other.left)
    drawing.text((62, 128), "512", size=12, anchor="end")
    drawing.text((68, 172), "ResNet-18", size=11, anchor="end")
    drawing.text((62, 207), "T = 16", size=12, anchor="end")
    linear = drawing.box((560, 34), (60, 34), "linear")
    drawing.arrow(cells[-1].right, linear.left)
    drawing.text((531, 20), "last state", size=11)
    drawing.text((531, 84), "256", size=11)
    drawing.arrow(linear.right, (646, 51))
    drawing.text((650, 51), "V = 100", anchor="start", size=11)
    return drawing


def corrections() -> Drawing:
    """Divide by the prior once, and twice: a frequent and a rare word."""
    prior = {"60 clips": 60 / 64, "4 clips": 4 / 64}
    given = {"60 clips": 0.8, "4 clips": 0.2}
    panels = {"the network's answer": given}
    for title in ("corrected once", "corrected twice"):
        last = list(panels.values())[-1]
        divided = {word: share / prior[word] for word, share in last.items()}
        total = sum(divided.values())
        panels[title] = {word: one / total for word, one in divided.items()}
    told = ". ".join(
        f"{title.capitalize()}: {row['60 clips']:.2f} and {row['4 clips']:.2f}"
        for title, row in panels.items()
    )
    drawing = Drawing(
        700,
        130,
        "Three panels with two bars each, for a word with 60 training clips and one"
        f" with 4. {told}. The first correction divides by the share of the word in"
        " training; the second divides by it once more, so that the rare word gets"
        " nearly all.",
    )
    for panel, (title, row) in enumerate(panels.items()):
        left = 75 + 226 * panel
        drawing.text((left + 45, 20), title, bold=True)
        rows = [(word, share, f"{share:.2f}") for word, share in row.items()]
        drawing.bars((left, 50), rows, width=105, step=34)
    return drawing


def sliding_window() -> Drawing:
    """A stream: windows slide, probabilities are smoothed, a threshold decides."""
    smoothing, threshold, given = 0.5, 0.7, 0.9
    smoothed = [0.0]
    for _ in range(4):
        smoothed.append(smoothing * smoothed[-1] + (1 - smoothing) * given)
    told = ", ".join(f"{one:.3f}" for one in smoothed[1:])
    drawing = Drawing(
        700,
        215,
        "A stream of frames, time from left to right. Four windows of eight frames lie"
        " below one another, each two frames further right. The network gives the word"
        " of each the probability 0.9. Smoothed by s = 0.5 the probabilities after the"
        f" four windows are {told}. The third is the first above the threshold of 0.7,"
        " so the word is reported there.",
    )
    drawing.matrix((20, 36), 1, 18, "input", cell=18)
    drawing.text((182, 20), "stream of frames", size=12)
    for number in range(4):
        y = 70 + 34 * number
        drawing.matrix((20 + 36 * number, y), 1, 8, "key", cell=18)
        drawing.arrow((172 + 36 * number, y + 9), (388, y + 9))
    rows = [(f"window {k}", one, "") for k, one in enumerate(smoothed) if k > 0]
    drawing.bars((460, 68), rows, width=180, step=34)
    for number, one in enumerate(smoothed[1:]):
        drawing.text((632, 81 + 34 * number), f"{one:.3f}", anchor="start", size=12)
    limit = 460 + 180 * threshold
    drawing.line((limit, 56), (limit, 200), width=2)
    drawing.text((limit, 42), "threshold 0.7", size=11)
    drawing.text((550, 20), "smoothed probability", size=12)
    return drawing


def confusion_matrix(labels: Sequence[str], table: np.ndarray) -> Drawing:
    """Which words are taken for which: a row is what was signed, a column the answer.

    Args:
        labels: the C words, at most 30.
        table: counts (C, C), as `metrics.confusion_matrix` gives them.

    Raises:
        ValueError: the table has another shape, or there are more words than fit.
    """
    n = len(labels)
    if table.shape != (n, n) or not 1 <= n <= 30:
        raise ValueError(
            f"table: shape {table.shape} for {n} labels; need (C, C) and at most 30"
        )
    right, all_clips = int(np.trace(table)), int(table.sum())
    wrong = [
        (int(table[i, j]), f"{labels[i]} as {labels[j]}")
        for i, j in np.argwhere(table - np.diag(np.diag(table)))
    ]
    wrong.sort(key=lambda one: -one[0])
    told = "; ".join(f"{name} {count}" for count, name in wrong)
    drawing = Drawing(
        160 + 21 * n,
        60 + 21 * n,
        f"Confusion matrix of {n} words. {right} of {all_clips} clips lie on the"
        f" diagonal. Taken for another word: {told or 'none'}.",
    )
    left, top = 130, 48
    drawing.text((left + 10.5 * n, 12), "answer", bold=True)
    drawing.text((left - 8, 30), "signed", anchor="end", bold=True)
    filled = {(int(i), int(j)) for i, j in np.argwhere(table)}
    for i, label in enumerate(labels):
        y = top + 21 * i
        drawing.text((left - 30, y + 10), label, anchor="end", size=12)
        drawing.text((left - 8, y + 10), str(i + 1), anchor="end", size=10)
        drawing.text((left + 21 * i + 10, 36), str(i + 1), size=10)
    for line in range(n + 1):
        shift = 21 * line
        drawing.line((left, top + shift), (left + 21 * n, top + shift), width=0.3)
        drawing.line((left + shift, top), (left + shift, top + 21 * n), width=0.3)
    for i, j in sorted(filled):
        at = (left + 21 * j, top + 21 * i)
        drawing.matrix(at, 1, 1, "value" if i == j else "key", cell=21)
        drawing.text((at[0] + 10.5, at[1] + 10.5), str(table[i, j]), size=11)
    return drawing
