"""The lines of a page as readings that nobody has checked, for a list of the least sure ones.

>>> readings = [one for name, image, page in pages for one in page_readings(image, page, name=name)]
>>> write_worst_page("doubts.html", readings, order="confidence", title="Least sure")
"""

import numpy as np
from PIL import Image

from coursepkg.projects.ocr.data.crops import crop_corners
from coursepkg.projects.ocr.detector.box import check_rgb
from coursepkg.projects.ocr.page.page import Page
from coursepkg.projects.ocr.worst import Reading


def page_readings(image: np.ndarray, page: Page, *, name: str = "page") -> list[Reading]:
    """Each line of a page with its crop and its confidence, and without a reference.

    Args:
        image: uint8 (height, width, 3), what the page was read from.
        page: what was read.
        name: of the page; its lines are called by it and their numbers, from 1.

    Raises:
        ValueError: the picture is not in colour, or a line of the page does not lie in it.
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
