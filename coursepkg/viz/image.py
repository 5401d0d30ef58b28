"""Figures as HTML images with alt text, whole HTML pages, and the book's style."""

import base64
import io
import random
import re
import warnings
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESOLUTION = 144
"""Pixels per inch of the stored picture; it is shown at 96, so it stays sharp on a
dense screen."""

# The card is white whatever the page's colours are; `height:auto` keeps the proportions
# on a phone.
CARD = (
    "background:#fff;border-radius:6px;padding:6px;max-width:100%;height:auto;"
    "box-sizing:border-box"
)


def one_title_a_panel(title: str | Sequence[str], n_panels: int) -> list[str]:
    """The title of each panel, from one title for all or one a panel.

    Raises:
        ValueError: there are more titles than panels, or fewer.
    """
    titles = [title] * n_panels if isinstance(title, str) else list(title)
    if len(titles) != n_panels:
        raise ValueError(
            f"title: {len(titles)} titles for {n_panels} panels; need one, or one a"
            " panel"
        )
    return titles


def show(figure: "Figure", *, alt: str) -> None:
    """Displays a matplotlib figure with alt text, and closes it.

    An image that Jupyter displays by itself has no alt text. This one is an `<img>`
    with the picture inside, and its plain-text form is the alt text, so that a change
    of what the figure says shows in a comparison.

    Args:
        figure: what to show. It is closed, so the notebook does not show it a second
            time.
        alt: what a reader who cannot see the figure needs to know: what is drawn and
            what can be read off it.

    Raises:
        ValueError: for an alt text that is missing.
    """
    display_picture(figure_html(figure, alt=alt), alt)


def display_picture(html: str, alt: str) -> None:
    """Displays HTML in a notebook, with the alt text as its plain-text form.

    Where no notebook runs, only the alt text is printed.
    """
    from IPython import get_ipython
    from IPython.display import display

    text = f"Figure: {alt}"
    if get_ipython() is None:
        print(text)
    else:
        display({"text/html": html, "text/plain": text}, raw=True)


def check_alt(alt: str) -> None:
    """Raises a ValueError for an alt text that is missing."""
    if not alt or not alt.strip():
        raise ValueError(
            "alt: an empty text; say what the figure shows, for readers who cannot"
            " see it"
        )


def image_element(
    picture: bytes, kind: str, *, alt: str, width: int | float, style: str = CARD
) -> str:
    """One `<img>` element with the picture inside.

    Args:
        picture: the file.
        kind: of the file, such as `png` or `svg+xml`.
        alt: what a reader who cannot see it needs to know.
        width: in pixels.
        style: CSS.
    """
    inside = base64.b64encode(picture).decode()
    return (
        f'<img alt="{escape(alt, quote=True)}" width="{width:g}" style="{style}"'
        f' src="data:image/{kind};base64,{inside}">'
    )


def figure_html(figure: "Figure", *, alt: str, resolution: int = RESOLUTION) -> str:
    """The figure as one `<img>` element with the PNG in it; the figure is closed.

    Raises:
        ValueError: for an alt text that is missing.
    """
    import matplotlib.pyplot as plt

    check_alt(alt)
    width = round(figure.get_figwidth() * 96)
    picture = png_bytes(figure, resolution)
    plt.close(figure)
    return image_element(picture, "png", alt=alt, width=width)


def png_bytes(figure: "Figure", resolution: int = RESOLUTION) -> bytes:
    """The figure as PNG in 256 colours, without a time stamp or version in it."""
    full = io.BytesIO()
    figure.savefig(full, format="png", dpi=resolution, metadata={"Software": None})
    small = io.BytesIO()
    picture = (
        Image.open(full)
        .convert("RGB")
        .quantize(256, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE)
    )
    picture.save(small, format="png", optimize=True)
    return small.getvalue()


_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def safe(text: object) -> str:
    """Text for HTML, in elements and in quoted attributes."""
    return escape(_UNPRINTABLE.sub("\ufffd", str(text)), quote=True)


def page_head(title: str, style: str) -> str:
    """The page up to the begin of its body; what follows must close `body` and `html`.

    Args:
        title: in plain text.
        style: CSS. The page follows the reader's light or dark setting as far as this
            does.
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
    return (
        f"data:image/{kind.lower()};base64,{base64.b64encode(file.getvalue()).decode()}"
    )


# Colours that readers with any kind of colour vision tell apart (Okabe and Ito, 2008),
# dark ones first.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")

CJK_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "PingFang SC",
)
"""Fonts that have Chinese glyphs, in the order they are tried. `apt install
fonts-noto-cjk` gives the first one."""


def notebook_defaults(seed: int = 0, threads: int = 1) -> None:
    """Makes a notebook repeatable and its figures legible.

    One thread, because the order in which threads add changes the last digits; one seed
    for Python, NumPy and torch; four printed decimals; figures on a white card, which
    reads on a light and on a dark page.
    """
    import matplotlib as mpl
    import torch

    torch.set_num_threads(threads)
    torch.set_printoptions(precision=4, sci_mode=False, linewidth=110)
    np.set_printoptions(precision=4, suppress=True, linewidth=110)
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    mpl.rcParams.update(figure_style())
    # A machine without Chinese fonts draws a box for each such glyph; the figure still
    # says what it must.
    warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")


def figure_style() -> Any:
    """The matplotlib settings of the book, for Vietnamese and Chinese too.

    DejaVu Sans ships with matplotlib and has every Vietnamese letter. Chinese glyphs
    come from the first of `CJK_FONTS` that is installed; where none is, they are drawn
    as boxes.
    """
    from cycler import cycler

    return {
        "font.family": font_families(),
        "font.size": 11,
        "figure.figsize": (7.0, 3.6),
        "figure.dpi": 96,
        "figure.max_open_warning": 0,
        "figure.facecolor": "white",
        "figure.constrained_layout.use": True,
        "savefig.facecolor": "white",
        "axes.facecolor": "white",
        "axes.prop_cycle": cycler(color=PALETTE),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "grid.color": "#DDDDDD",
        "grid.linewidth": 0.6,
        "axes.titlesize": 12,
        "lines.linewidth": 2.0,
        "image.cmap": "Blues",
    }


def font_families() -> list[str]:
    """DejaVu Sans, then the first installed font with Chinese glyphs."""
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return ["DejaVu Sans", *[name for name in CJK_FONTS if name in installed][:1]]


def font_file() -> Path:
    """DejaVu Sans, which comes with matplotlib and has every Vietnamese letter."""
    import matplotlib

    return Path(matplotlib.get_data_path()) / "fonts" / "ttf" / "DejaVuSans.ttf"
