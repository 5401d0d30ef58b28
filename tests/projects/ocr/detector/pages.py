"""Pages of boxes as a camera would see them, and the score of a detector on pages, for tests."""

import math
from collections.abc import Iterable

import numpy as np

from coursepkg.projects.ocr.data.geometry import homography, map_points
from coursepkg.projects.ocr.detector.evaluate import DetectionScore, score_page
from coursepkg.projects.ocr.detector.lines import WORD_GAP, Detector, TextBox, place_lines


def box(left: float, top: float, width: float, height: float = 20.0, score: float = 0.9) -> TextBox:
    right, bottom = left + width, top + height
    return TextBox(np.array([[left, top], [right, top], [right, bottom], [left, bottom]]), score)


def receipt(gap: float = 6.0) -> tuple[list[TextBox], list[list[list[int]]]]:
    """Words of a page, and by rows the lines, each the numbers of its words from left to right.

    A row of a title, rows of goods with names of two or three words and a price, and a broad last line.
    """
    words: list[TextBox] = [box(150, 0, 120, 34), box(150 + 120 + gap, 2, 70, 32)]
    rows = [[[0, 1]]]
    for number in range(8):
        top, left = 60 + 40 * number, 10.0
        name = []
        for width in (55, 30, 70)[: 2 + number % 2]:
            name.append(len(words))
            words.append(box(left, top + number % 3, width))
            left += width + gap
        words.append(box(400, top + 1, 14 if number == 3 else 60))
        rows.append([name, [len(words) - 1]])
    last = [len(words) + k for k in range(5)]
    words += [box(10 + k * (80 + gap), 400, 80) for k in range(5)]
    return words, [*rows, [last]]


def seen(boxes: list[TextBox], degrees: float = 0.0, tilt: float = 0.0) -> list[TextBox]:
    """Boxes after a camera's turn about the middle of the page and a perspective that shortens its right side."""
    source = np.array([[0, 0], [480, 0], [480, 440], [0, 440]], float)
    target = source + np.array([[0, 0], [0, tilt], [0, -tilt], [0, 0]]) * 440
    matrix = homography(source, target)
    angle = math.radians(degrees)
    cos, sin = math.cos(angle), math.sin(angle)
    turn = np.array([[cos, sin], [-sin, cos]])
    return [TextBox((map_points(matrix, one.corners) - 240) @ turn + 400, one.score) for one in boxes]


def score_pages(
    detector: Detector, pages: Iterable[tuple[np.ndarray, np.ndarray]], word_gap: float = WORD_GAP
) -> DetectionScore:
    """Find the lines of pictures (height, width, 3) and compare them with the corners (lines, 4, 2)."""
    total = DetectionScore(0, 0, 0, 0)
    for image, wanted in pages:
        lines = place_lines(detector.detect(image), word_gap=word_gap)
        total += score_page([line.box.corners for line in lines], list(wanted))
    return total
