"""A page that stands alone: one HTML file that asks for nothing from outside, runs no script, holds its pictures."""

import base64
import html
import io
import re
from typing import Any

import numpy as np
from PIL import Image

_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def safe(text: object) -> str:
    """Text for HTML, in elements and in quoted attributes; characters that HTML forbids become U+FFFD."""
    return html.escape(_UNPRINTABLE.sub("\ufffd", str(text)), quote=True)


def page_head(title: str, style: str) -> str:
    """The page up to the begin of its body; what follows must close `body` and `html`.

    Args:
        title: in plain text.
        style: CSS. The page follows the reader's light or dark setting as far as this does.
    """
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        # A second lock: even a mistake in the escaping could load or run nothing.
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">\n"
        f"<title>{safe(title)}</title>\n<style>{style}</style>\n</head>\n<body>\n"
    )


def picture_data(picture: np.ndarray, kind: str = "PNG", **options: Any) -> str:
    """A picture as the `src` of an `<img>`, which then needs no file.

    Args:
        picture: uint8 (height, width), or (height, width, 3) in RGB.
        kind: PNG or JPEG.
        **options: of Pillow's `save`, such as `quality`.
    """
    file = io.BytesIO()
    Image.fromarray(picture).save(file, kind, **options)
    return f"data:image/{kind.lower()};base64,{base64.b64encode(file.getvalue()).decode()}"
