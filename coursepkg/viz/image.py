"""A figure as an HTML image with alt text, the same in the book, in JupyterLab and on Colab."""

import base64
import io
from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

RESOLUTION = 144
"""Pixels per inch of the stored picture; it is shown at 96, so it stays sharp on a dense screen."""

# The card is white whatever the page's colours are; `height:auto` keeps the proportions on a phone.
CARD = "background:#fff;border-radius:6px;padding:6px;max-width:100%;height:auto;box-sizing:border-box"


def show(figure: "Figure", *, alt: str) -> None:
    """Displays a matplotlib figure with alt text, and closes it.

    An image that Jupyter displays by itself has no alt text. This one is an `<img>` with the picture inside,
    and its plain-text form is the alt text, so that a change of what the figure says shows in a comparison.

    Args:
        figure: what to show. It is closed, so the notebook does not show it a second time.
        alt: what a reader who cannot see the figure needs to know: what is drawn and what can be read off it.

    Raises:
        ValueError: for an alt text that is missing.
    """
    from IPython.display import display

    html = figure_html(figure, alt=alt)
    display({"text/html": html, "text/plain": f"Figure: {alt}"}, raw=True)


def figure_html(figure: "Figure", *, alt: str, resolution: int = RESOLUTION) -> str:
    """The figure as one `<img>` element with the PNG in it; the figure is closed.

    Raises:
        ValueError: for an alt text that is missing.
    """
    import matplotlib.pyplot as plt

    if not alt or not alt.strip():
        raise ValueError("alt: an empty text; say what the figure shows, for readers who cannot see it")
    width = round(figure.get_figwidth() * 96)
    picture = base64.b64encode(png_bytes(figure, resolution)).decode()
    plt.close(figure)
    return (
        f'<img alt="{escape(alt, quote=True)}" width="{width}" style="{CARD}" '
        f'src="data:image/png;base64,{picture}">'
    )


def png_bytes(figure: "Figure", resolution: int = RESOLUTION) -> bytes:
    """The figure as PNG in 256 colours, a third of the usual size, without a time stamp or version in it."""
    from PIL import Image

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
