"""A page of the worst readings: every crop beside what it says and what was read.

Worst are those with the most errors, or those that are least sure. The page is one file
that needs nothing else. It shows the pictures and texts of the test set: keep it as
private.

>>> readings = page_readings(image, page, name="receipt")
>>> write_error_gallery("doubts.html", readings, order="confidence", title="Least sure")
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

from coursepkg.app.error_gallery import write_gallery
from coursepkg.metrics.edit import CER
from coursepkg.metrics.scoring import sentence_scores
from coursepkg.projects.ocr.data.geometry import crop_corners
from coursepkg.projects.ocr.detector.lines import check_rgb
from coursepkg.projects.ocr.evaluation import marked_html
from coursepkg.projects.ocr.page.read import Page
from coursepkg.viz.image import picture_data

STYLE = """
body { max-width: 70rem; }
table { border-collapse: collapse; width: 100%; }
td, th { border-top: 1px solid var(--line); padding: .5rem; text-align: left;
  vertical-align: top; }
img { background: #fff; height: auto; max-height: 6rem; max-width: 100%; }
p.text { font-family: monospace; white-space: pre-wrap; }
ins { background: #d5520040; text-decoration: underline; }
del { background: #0072b240; text-decoration: none; }
"""


class Reading(NamedTuple):
    """A crop, what it says and what was read."""

    image: np.ndarray | None
    """uint8 (height, width); None where it could not be read."""
    reference: str | None
    """None where nobody has said it."""
    hypothesis: str
    confidence: float
    name: str


ORDERS = ("error", "confidence")
"""What a page may go by."""
Ranked = tuple[float | None, Reading]
"""A reading and its CER, where that is known."""


def rank_by_error(readings: Sequence[Reading]) -> list[tuple[float, Reading]]:
    """Readings with errors and their CERs, worst first, then by confidence.

    Raises:
        ValueError: there is no reading, or one has no reference; it is named.
    """
    wrong = [
        (rate, one)
        for rate, one in zip(_rates(readings), readings, strict=True)
        if rate > 0
    ]
    return sorted(wrong, key=lambda pair: (-pair[0], -pair[1].confidence, pair[1].name))


def rank_by_confidence(readings: Sequence[Reading]) -> list[Ranked]:
    """All readings with their CERs, where known; the least confident first."""
    known = [one for one in readings if one.reference is not None]
    rates = iter(_rates(known) if known else [])
    ranked: list[Ranked] = [
        (None if one.reference is None else next(rates), one) for one in readings
    ]
    return sorted(ranked, key=lambda pair: (pair[1].confidence, pair[1].name))


def _rates(readings: Sequence[Reading]) -> list[float]:
    references: list[str] = []
    for one in readings:
        if one.reference is None:
            raise ValueError(
                f"{one.name}: nobody has said what is right; take the order by"
                " confidence"
            )
        references.append(one.reference)
    return [
        float(rate)
        for rate in sentence_scores(
            CER(), [one.hypothesis for one in readings], references
        )
    ]


def write_error_gallery(
    path: str | Path,
    readings: Sequence[Reading],
    *,
    title: str = "Worst readings",
    most: int = 100,
    order: str = "error",
) -> int:
    """Write the page and return how many readings it shows.

    Args:
        path: of the HTML file.
        readings: all lines of the test set.
        title: heading of the page.
        most: readings to show.
        order: one of `ORDERS`. By error it shows no right lines and needs a reference
            for every one; by confidence it is for readings that nobody has checked.

    Raises:
        ValueError: there is no reading, or the order is unknown or not to be had.
    """
    ranked = _ranked(readings, order)
    shown = ranked[:most]
    have = "lines have an error" if order == "error" else "lines were read"
    first = "worst" if order == "error" else "least sure"
    write_gallery(
        path,
        title=title,
        opening=f"<p>{len(ranked)} of {len(readings)} {have}; {len(shown)} are shown,"
        f" {first} first. <ins>Read</ins> and <del>right</del> differ where they are"
        " marked.</p>\n<table>\n<tr><th>CER</th><th>line</th></tr>",
        entries=(_row(i, rate, one) for i, (rate, one) in enumerate(shown, start=1)),
        closing="</table>",
        style=STYLE,
    )
    return len(shown)


def _ranked(readings: Sequence[Reading], order: str) -> Sequence[Ranked]:
    if order not in ORDERS:
        raise ValueError(f"order must be one of {', '.join(ORDERS)}, got {order!r}")
    if not readings:
        raise ValueError("readings must hold at least one reading, got none")
    return rank_by_error(readings) if order == "error" else rank_by_confidence(readings)


def _row(number: int, rate: float | None, one: Reading) -> str:
    reference = one.hypothesis if one.reference is None else one.reference
    read, right = marked_html(one.hypothesis, reference)
    picture = "<p>The picture could not be read.</p>"
    if one.image is not None:
        height, width = one.image.shape
        picture = (
            f'<img src="{picture_data(one.image)}" width="{width}" height="{height}"'
            f' alt="crop of line {number}">'
        )
    rows = [f'{picture}\n<p class="text" lang="vi">read {read or "nothing"}</p>']
    if one.reference is not None:
        rows.append(f'<p class="text" lang="vi">right {right}</p>')
    rows.append(
        f"<p><small>confidence {one.confidence:.2f}, {escape(one.name)}</small>"
    )
    cell = "\n".join(rows)
    share = "" if rate is None else f"{rate:.0%}"
    return f"<tr><td>{share}</td><td>{cell}</p></td></tr>\n"


def page_readings(
    image: np.ndarray, page: Page, *, name: str = "page"
) -> list[Reading]:
    """Each line of a page with its crop and its confidence, and without a reference.

    Args:
        image: uint8 (height, width, 3), what the page was read from.
        page: what was read.
        name: of the page; its lines are called by it and their numbers, from 1.

    Raises:
        ValueError: the picture is not in colour, or a line of the page does not lie in
            it.
    """
    check_rgb(image, name)
    gray = np.asarray(Image.fromarray(image).convert("L"))
    return [
        Reading(
            crop_corners(gray, line.box.corners, name=f"{name}, line {number}"),
            None,
            line.text,
            line.confidence,
            f"{name}, line {number}",
        )
        for number, line in enumerate(page.lines, start=1)
    ]
