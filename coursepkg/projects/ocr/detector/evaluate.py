"""Scores of a detector: recall and precision of lines at an intersection over union.

Where words are labelled and lines are found, boxes do not match one by one. Then a word
is found if enough of its area lies in what was found: the area recall of Wolf and
Jolion, "Object count/area graphs" (IJDAR 2006), with their constraint of 0.8.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from coursepkg.projects.ocr.data.geometry import area
from coursepkg.projects.ocr.detector.lines import (
    common_area,
    intersection_over_union,
)
from coursepkg.projects.ocr.synthetic.receipts import make_receipt
from coursepkg.validation import check_count

LEAST_IOU = 0.5
"""A box has found a line when they have so much in common."""
LEAST_COVERED = 0.8
"""A word is found when so much of its area lies in boxes."""


@dataclass(frozen=True)
class DetectionScore:
    """Counts over pictures, and what follows from them."""

    n_pages: int
    """Pictures."""
    n_lines: int
    """Lines that are there."""
    n_boxes: int
    """Boxes that were found."""
    n_matched: int
    """Pairs of a line and its box."""
    least_iou: float = LEAST_IOU
    """What a pair has in common at least."""

    @property
    def recall(self) -> float:
        """Share of the lines that were found; 1 where there are none."""
        return self.n_matched / self.n_lines if self.n_lines else 1.0

    @property
    def precision(self) -> float:
        """Share of the boxes that are lines; 1 where there are none."""
        return self.n_matched / self.n_boxes if self.n_boxes else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of the two: detection's Hmean."""
        total = self.n_lines + self.n_boxes
        return 2 * self.n_matched / total if total else 1.0

    def __add__(self, other: "DetectionScore") -> "DetectionScore":
        if self.least_iou != other.least_iou:
            raise ValueError(
                f"scores at IoU {self.least_iou} and {other.least_iou} do not add; use"
                " one of them for both"
            )
        return DetectionScore(
            self.n_pages + other.n_pages,
            self.n_lines + other.n_lines,
            self.n_boxes + other.n_boxes,
            self.n_matched + other.n_matched,
            self.least_iou,
        )

    def __str__(self) -> str:
        return (
            f"detection|iou:{self.least_iou:g}|pages:{self.n_pages}"
            f"|lines:{self.n_lines}|boxes:{self.n_boxes}"
            f" recall {self.recall:.4f} precision {self.precision:.4f} F1 {self.f1:.4f}"
        )


def match_boxes(
    found: Sequence[np.ndarray],
    wanted: Sequence[np.ndarray],
    least_iou: float = LEAST_IOU,
) -> list[tuple[int, int]]:
    """Pairs of a found and a wanted quadrilateral, each once, the best first.

    Args:
        found: corners (4, 2) each.
        wanted: corners (4, 2) each.
        least_iou: what a pair has in common at least, in (0, 1].

    Returns:
        Numbers (of found, of wanted).
    """
    if not 0 < least_iou <= 1:
        raise ValueError(f"least_iou must be in (0, 1], got {least_iou}")
    pairs = [
        (iou, i, j)
        for i, one in enumerate(found)
        for j, other in enumerate(wanted)
        if (iou := intersection_over_union(one, other)) >= least_iou
    ]
    pairs.sort(key=lambda pair: (-pair[0], pair[1:]))
    taken: tuple[set[int], set[int]] = set(), set()
    matched = []
    for _, i, j in pairs:
        if i not in taken[0] and j not in taken[1]:
            matched.append((i, j))
            taken[0].add(i)
            taken[1].add(j)
    return matched


def score_page(
    found: Sequence[np.ndarray],
    wanted: Sequence[np.ndarray],
    least_iou: float = LEAST_IOU,
) -> DetectionScore:
    """The score of one picture; arguments as `match_boxes`."""
    matched = match_boxes(found, wanted, least_iou)
    return DetectionScore(1, len(wanted), len(found), len(matched), least_iou)


def covered_words(
    found: Sequence[np.ndarray], words: Sequence[np.ndarray]
) -> list[bool]:
    """Whether `LEAST_COVERED` of each word lies in what was found.

    Args:
        found: corners (4, 2) each of lines or words that do not overlap.
        words: corners (4, 2) each.
    """
    return [
        sum(common_area(box, word) for box in found) >= LEAST_COVERED * area(word)
        for word in words
    ]


def generated_pages(
    count: int, seed: int = 0
) -> Iterable[tuple[np.ndarray, np.ndarray]]:
    """Photographs of generated receipts with the corners of every text on them.

    A text is what was printed as one piece: the name of the goods and its price are
    two.
    """
    check_count("count", count)
    for number in range(count):
        receipt = make_receipt(seed, number)
        yield receipt.image, receipt.outlines
