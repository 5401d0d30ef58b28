"""The JSON of a page: one object, one line of a file, and the same for every kind of input.

schema      "coursepkg.ocr.page/1"; the number grows when a field changes its meaning or goes
file        the picture or PDF, as it was given or found
page        number in the file, from 1
dpi         pixels to the inch at which a PDF's page was drawn; 0 for pictures
width       of the upright picture, in pixels; 0 where it could not be read
height      of the upright picture, in pixels; 0 where it could not be read
text        the whole page: rows joined by line feeds, what stands in one row by spaces
lines       in reading order, each an object:
    row         number of its row, from 0
    text        Unicode form NFC
    confidence  of the reading, in [0, 1]: geometric mean over its characters and the end behind them
    score       of the detector, in [0, 1]; 1 where no detector was used
    corners     four points [x, y] in pixels of the upright picture, clockwise from the upper left corner of
                the text as it is read, so that the first two say in which direction it runs
left_out    boxes that gave no line, by reason: score, confidence, empty, crop
error       null, or in one line why the page could not be read; it then has no lines
"""

from typing import Any

import numpy as np

from coursepkg.projects.ocr.detector.box import TextBox
from coursepkg.projects.ocr.page.page import LEFT_OUT, Page, PageLine
from coursepkg.projects.ocr.page.sources import PagePicture

SCHEMA = "coursepkg.ocr.page/1"


def page_record(picture: PagePicture, page: Page | str) -> dict[str, Any]:
    """The object of a page, or of one that could not be read, with the reason.

    Args:
        picture: where it is from.
        page: what was read, or why nothing was.
    """
    error, read = (page, None) if isinstance(page, str) else (None, page)
    read = read or Page(0, 0, (), dict.fromkeys(LEFT_OUT, 0))
    return {
        "schema": SCHEMA,
        "file": str(picture.source.path),
        "page": picture.number,
        "pages": picture.n_pages,
        "dpi": picture.dpi,
        "width": read.width,
        "height": read.height,
        "text": read.text,
        "lines": [_line_record(line) for line in read.lines],
        "left_out": dict(read.left_out),
        "error": error,
    }


def record_page(record: dict[str, Any]) -> Page:
    """The page of an object that `page_record` made; corners are those that were written, to a tenth of a pixel.

    Raises:
        ValueError: it is of another schema, damaged, or of a page that could not be read.
    """
    if record.get("schema") != SCHEMA:
        raise ValueError(f"a page must have the schema {SCHEMA!r}, got {record.get('schema')!r}")
    if record.get("error") is not None:
        raise ValueError(f"the page could not be read: {record['error']}")
    try:
        lines = tuple(
            PageLine(
                TextBox(np.array(one["corners"], dtype=np.float64), one["score"]),
                one["row"],
                one["text"],
                one["confidence"],
            )
            for one in record["lines"]
        )
        return Page(record["width"], record["height"], lines, dict(record["left_out"]))
    except (KeyError, TypeError) as reason:
        raise ValueError(f"the object of a page is damaged: {reason}") from reason


def _line_record(line: PageLine) -> dict[str, Any]:
    return {
        "row": line.row,
        "text": line.text,
        "confidence": round(line.confidence, 4),
        "score": round(line.box.score, 4),
        "corners": [[round(value, 1) for value in corner] for corner in line.box.corners.tolist()],
    }
