"""What a chapter sets before it begins: one thread, one seed, one look for all figures."""

import random
import warnings
from typing import Any

import matplotlib as mpl
import numpy as np
import torch
from cycler import cycler
from matplotlib import font_manager

# Colours that readers with any kind of colour vision tell apart (Okabe and Ito, 2008), dark ones first.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")

CJK_FONTS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans SC",
    "WenQuanYi Zen Hei",
    "Microsoft YaHei",
    "PingFang SC",
)
"""Fonts that have Chinese glyphs, in the order they are tried. `apt install fonts-noto-cjk` gives the first one."""


def notebook_defaults(seed: int = 0, threads: int = 1) -> None:
    """Makes a notebook repeatable and its figures legible.

    One thread, because the order in which threads add changes the last digits; one seed for Python, NumPy and
    torch; four printed decimals; figures on a white card, which reads on a light and on a dark page.

    Args:
        seed: what every random generator starts from.
        threads: threads that torch computes with.
    """
    torch.set_num_threads(threads)
    torch.set_printoptions(precision=4, sci_mode=False, linewidth=110)
    np.set_printoptions(precision=4, suppress=True, linewidth=110)
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)
    mpl.rcParams.update(figure_style())
    # A machine without Chinese fonts draws a box for each such glyph; the figure still says what it must.
    warnings.filterwarnings("ignore", message=r"Glyph \d+ .* missing from font")


def figure_style() -> Any:
    """The matplotlib settings of the book: white card, dark text, fonts that cover Vietnamese and Chinese.

    DejaVu Sans ships with matplotlib and has every Vietnamese letter. Chinese glyphs come from the first of
    `CJK_FONTS` that is installed; where none is, they are drawn as boxes.
    """
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
    """DejaVu Sans, then the first installed font with Chinese glyphs; only installed ones, so nothing warns."""
    installed = {font.name for font in font_manager.fontManager.ttflist}
    return ["DejaVu Sans", *[name for name in CJK_FONTS if name in installed][:1]]
