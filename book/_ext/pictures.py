"""Moves the pictures of a page into files and states their sizes.

Notebooks hold their figures inside the text, which a browser must read before it can show anything. Here each
becomes a file that is fetched when it comes into view, with the size that keeps the text from moving.
"""

import base64
import hashlib
import re
from collections.abc import Mapping
from io import BytesIO
from os.path import normpath
from pathlib import Path
from urllib.parse import unquote

from lxml import etree, html
from PIL import Image

FOLDER = "_images"
DATA = re.compile(r"data:image/([a-z+]+);base64,(.+)", re.DOTALL)
LARGE = 10_000
"""Bytes above which a PNG is stored as lossless WebP, which takes about two thirds."""
PHOTOGRAPH = 150_000
"""Bytes of lossless WebP above which a picture is a photograph, and is stored as one."""
LENGTH = re.compile(r"[\d.]+")


def move_pictures(
    page: html.HtmlElement,
    root: str,
    outdir: Path,
    path: Path,
    later: Mapping[str, Path],
) -> None:
    """Give every picture of a page a file, a size and, below the first, a late start.

    Args:
        page: the parsed page, changed in place.
        root: leads from the page to the root of the site: `../`.
        outdir: folder of the site.
        path: file of the page.
        later: by name the sources of files that come into the site after its pages.
    """
    for count, image in enumerate(page.iterfind(".//main//img")):
        embedded = DATA.match(image.get("src", ""))
        if embedded:
            name = store(embedded[1], base64.b64decode(embedded[2]), outdir)
            image.set("src", f"{root}{FOLDER}/{name}")
        file = Path(normpath(path.parent / unquote(image.get("src", ""))))
        state_size(image, file if file.is_file() else later.get(file.name, file))
        if count:
            image.set("loading", "lazy")
            image.set("decoding", "async")


def store(kind: str, data: bytes, outdir: Path) -> str:
    """Write a picture into the site unless it is there; the name of its file."""
    stem = hashlib.sha1(data, usedforsecurity=False).hexdigest()[:16]
    as_webp = kind == "png" and len(data) > LARGE
    suffix = "webp" if as_webp else {"jpeg": "jpg", "svg+xml": "svg"}.get(kind, kind)
    path = outdir / FOLDER / f"{stem}.{suffix}"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(webp(data) if as_webp else data)
    return path.name


def webp(png: bytes) -> bytes:
    """The same pixels as lossless WebP; of a photograph, pixels that look the same."""
    data = _encoded(png, lossless=True)
    return data if len(data) <= PHOTOGRAPH else _encoded(png, quality=92)


def _encoded(png: bytes, **options: int) -> bytes:
    target = BytesIO()
    Image.open(BytesIO(png)).save(target, "WEBP", method=3, **options)
    return target.getvalue()


def state_size(image: html.HtmlElement, file: Path) -> None:
    """Write width and height of a picture where the page leaves them open."""
    if not file.is_file() or (image.get("width") and image.get("height")):
        return
    width, height = size_of(file)
    if not width:
        return
    shown = float(next(iter(LENGTH.findall(image.get("width", ""))), width))
    image.set("width", f"{shown:.0f}")
    image.set("height", f"{shown * height / width:.0f}")


def size_of(file: Path) -> tuple[float, float]:
    """Width and height of a picture in pixels; zeros for an SVG that names neither."""
    if file.suffix != ".svg":
        with Image.open(file) as image:
            return image.size
    root = etree.parse(file).getroot()
    named = [LENGTH.match(root.get(side, "")) for side in ("width", "height")]
    box = LENGTH.findall(root.get("viewBox", ""))
    if all(named):
        return float(named[0][0]), float(named[1][0])
    return (float(box[2]), float(box[3])) if len(box) == 4 else (0.0, 0.0)
