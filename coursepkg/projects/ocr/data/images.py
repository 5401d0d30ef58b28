"""Pictures from files of users: read safely, turned upright, in grayscale, and resized.

A picture is refused by its number of pixels before it is decoded, so that a small file
cannot fill the memory.
"""

import io
import re
import struct
import warnings
import zlib
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from coursepkg.files import check_regular
from coursepkg.validation import one_line

MOST_PIXELS = 64_000_000
"""Largest picture that is decoded or drawn, in pixels; a photograph of a phone has 12
to 50 million."""


FORMATS = ("PNG", "JPEG", "TIFF", "BMP", "WEBP", "GIF", "PPM")
"""What is read. Pillow knows more formats, among them some that call other programs."""
LEAST_SIDE = 2
"""A picture of text has at least so many pixels in height and width."""
MOST_WIDTH = 16_384
"""Widest line after resizing, in pixels: some thousand characters."""

_BROKEN = (
    *(OSError, SyntaxError, ValueError, EOFError, IndexError, TypeError),
    *(struct.error, zlib.error),
)
"""What Pillow's decoders raise at damaged files."""
Source = str | Path | bytes
"""A file, or the bytes of one."""


def read_gray(
    source: Source, name: str = "", *, most_pixels: int = MOST_PIXELS
) -> np.ndarray:
    """Read a picture upright as uint8 (height, width); 0 is black, 255 white.

    Colours become luminance, transparent places white, 16 bits 8.

    Args:
        source: file or bytes.
        name: what messages call it; the file's name where it is not given.
        most_pixels: larger pictures are refused before they are decoded.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is no picture, damaged, cut short, or too large; the message is
            one line.
    """
    return np.array(_read(source, name, most_pixels, "L"))


def read_rgb(
    source: Source, name: str = "", *, most_pixels: int = MOST_PIXELS, frame: int = 0
) -> np.ndarray:
    """Read a picture as uint8 (height, width, 3), otherwise as `read_gray`.

    Args:
        source: see `read_gray`.
        name: see `read_gray`.
        most_pixels: see `read_gray`.
        frame: which of a file's pictures, from 0, as the pages of a TIFF; see
            `count_pages`.
    """
    return np.array(_read(source, name, most_pixels, "RGB", frame))


def count_pages(source: Source) -> int:
    """How many pages a picture file has: those of a TIFF, and one of anything else.

    Moving pictures have one page, their first. So has a file that cannot be read:
    reading it says why.
    """
    try:
        with _open(source, str(source)[:80], MOST_PIXELS) as opened:
            return getattr(opened, "n_frames", 1) if opened.format == "TIFF" else 1
    except _BROKEN:
        return 1


def check_header(source: Source, name: str = "") -> None:
    """Raises a ValueError unless a file begins as a picture that may be read.

    It does not decode it, so damage further on is found by reading alone.
    """
    name = name or ("picture" if isinstance(source, bytes) else str(source))
    with _open(source, name, MOST_PIXELS) as opened:
        _check_pixels(opened, name, MOST_PIXELS)


def check_size(image: np.ndarray, name: str) -> None:
    """Raises a ValueError unless a picture is large enough to show a letter."""
    height, width = image.shape[:2]
    if min(height, width) < LEAST_SIDE:
        raise ValueError(
            f"{name}: {width} x {height} pixels hold no text; leave it out"
        )


def width_at(
    width: int | float, height: int | float, to: int, box_width: int = 0
) -> int:
    """Width in pixels of a picture scaled to a height, or the box's width."""
    return box_width or max(1, round(width * to / height))


def resize_to_height(image: np.ndarray, height: int, name: str = "image") -> np.ndarray:
    """Scale a grayscale picture, uint8 (h, w), to a height and keep its proportions.

    Returns:
        uint8 (height, width), the width as `width_at` gives it.

    Raises:
        ValueError: it is of one pixel, or so long that the result would be wider than
            `MOST_WIDTH`.
    """
    check_size(image, name)
    width = width_at(image.shape[1], image.shape[0], height)
    if width > MOST_WIDTH:
        raise ValueError(
            f"{name}: {image.shape[1]} x {image.shape[0]} pixels would be {width:,}"
            f" wide at height {height}, more than {MOST_WIDTH:,}; cut the line into"
            " pieces"
        )
    return _resize(image, width, height)


def resize_to_box(
    image: np.ndarray, height: int, width: int, name: str = "image"
) -> np.ndarray:
    """Squeeze or stretch a grayscale picture, uint8 (h, w), to one fixed size.

    Long lines get narrow letters and short ones wide letters: kept for comparison with
    `resize_to_height`. A second look takes other widths by it.

    Returns:
        uint8 (height, width).
    """
    check_size(image, name)
    return _resize(image, width, height)


def fit_image(
    image: np.ndarray,
    height: int,
    box_width: int = 0,
    name: str = "image",
    *,
    most_width: int = 0,
) -> np.ndarray:
    """Scale a picture to a height, or with a `box_width` to that fixed size.

    Args:
        image: uint8 (h, w).
        height: in pixels.
        box_width: in pixels; 0 keeps the proportions.
        name: what messages call it.
        most_width: a line that would be wider is squeezed to this many pixels; 0 sets
            no limit.

    Returns:
        uint8 (height, width), the width as `width_at` gives it; without a `box_width`
        at most `most_width`.
    """
    if most_width and not box_width:
        is_wide = width_at(image.shape[1], image.shape[0], height) > most_width
        box_width = most_width if is_wide else 0
    if box_width:
        return resize_to_box(image, height, box_width, name)
    return resize_to_height(image, height, name)


def _resize(image: np.ndarray, width: int, height: int) -> np.ndarray:
    if image.shape == (height, width):
        return image
    # Pillow widens its filter when it shrinks, so that thin strokes do not fall between
    # the pixels.
    return np.array(
        Image.fromarray(image).resize((width, height), Image.Resampling.BILINEAR)
    )


def _read(
    source: Source, name: str, most_pixels: int, mode: str, frame: int = 0
) -> Image.Image:
    name = name or ("picture" if isinstance(source, bytes) else str(source))
    if not isinstance(source, bytes):
        if Path(source).is_dir():
            raise ValueError(f"{name} is a folder; name a picture in it")
        if not Path(source).exists():
            raise FileNotFoundError(f"{name}: there is no such picture")
    with _open(source, name, most_pixels) as opened:
        if frame:
            _turn_to(opened, frame, name)
        _check_pixels(opened, name, most_pixels)
        _check_mode(opened.mode, name)
        try:
            opened.load()
            return _convert(_upright(opened), mode)
        except MemoryError:
            width, height = opened.size
            raise ValueError(
                f"{name}: {width:,} x {height:,} pixels do not fit into memory"
            ) from None
        except _BROKEN as reason:
            raise ValueError(
                f"{name}: the picture is damaged or cut short ({_reason_text(reason)})"
            ) from None


def _open(source: Source, name: str, most_pixels: int) -> Image.Image:
    if not isinstance(source, bytes):
        check_regular(Path(source))
    file = io.BytesIO(source) if isinstance(source, bytes) else source
    try:
        with warnings.catch_warnings():
            # Our own bound is checked next, with a message of its own.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            return Image.open(file, formats=FORMATS)
    except Image.DecompressionBombError as reason:
        size = re.search(r"\d+ pixels", str(reason))
        there = f"{int(size[0].split()[0]):,} pixels, " if size else ""
        raise ValueError(
            f"{name}: {there}more than {most_pixels:,}; scale it down"
        ) from None
    except UnidentifiedImageError:
        raise ValueError(f"{name}: {_not_a_picture(source)}") from None
    except PermissionError:
        raise ValueError(f"{name} may not be read; check its permissions") from None
    except _BROKEN as reason:
        raise ValueError(
            f"{name}: not a picture that can be read ({_reason_text(reason)})"
        ) from None


def _check_pixels(image: Image.Image, name: str, most_pixels: int) -> None:
    width, height = image.size
    if width * height > most_pixels:
        raise ValueError(
            f"{name}: {width:,} x {height:,} pixels, more than {most_pixels:,};"
            " scale it down"
        )


def _check_mode(mode: str, name: str) -> None:
    if mode == "F":
        raise ValueError(
            f"{name}: its pixels are floating-point numbers; save it with 8 bits"
        )
    if mode == "LAB":
        raise ValueError(f"{name}: its colours are in CIE Lab; save it in RGB")


def _turn_to(image: Image.Image, frame: int, name: str) -> None:
    try:
        image.seek(frame)
    except _BROKEN as reason:
        raise ValueError(
            f"{name}: page {frame + 1} is damaged or not there ({_reason_text(reason)})"
        ) from None


def _not_a_picture(source: Source) -> str:
    if isinstance(source, bytes):
        head = source[:16]
    else:
        with Path(source).open("rb") as file:
            head = file.read(16)
    if not head:
        return "the file is empty"
    if head[4:8] == b"ftyp":
        return "a HEIC or AVIF picture or a video; save it as PNG or JPEG"
    if head.startswith(b"%PDF"):
        return "a PDF, not a picture; render its pages first"
    return f"not a picture; {', '.join(FORMATS)} can be read"


def _upright(image: Image.Image) -> Image.Image:
    try:
        return ImageOps.exif_transpose(image)
    except _BROKEN:
        # A damaged EXIF block says nothing about the pixels, which are there.
        return image


def _convert(image: Image.Image, mode: str) -> Image.Image:
    if image.mode.startswith("I"):
        return Image.fromarray(_eight_bits(np.asarray(image))).convert(mode)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        over = image.convert("RGBA")
        paper = Image.new("RGBA", over.size, "white")
        return Image.alpha_composite(paper, over).convert(mode)
    # Gray from other colour spaces goes by RGB, which Pillow knows a way to from each
    # of them.
    if image.mode not in ("1", "L", "P", "RGB"):
        image = image.convert("RGB")
    return image.convert(mode)


def _eight_bits(pixels: np.ndarray) -> np.ndarray:
    """16 bits as 8: 65535 becomes 255, where Pillow alone would clip at 255."""
    values = np.clip(pixels.astype(np.int64), 0, 65535)
    return ((values + 128) // 257).astype(np.uint8)


def _reason_text(reason: BaseException) -> str:
    text = one_line(reason)
    return text if len(text) <= 120 else text[:120] + "…"
