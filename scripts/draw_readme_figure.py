"""Draws the picture of the README: the attention patterns of the package and the share of work each leaves.

    python scripts/draw_readme_figure.py [FILE.png]

A white card with dark ink, so that it reads on a light and on a dark page.
"""

import argparse
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from coursepkg.attention import (
    causal,
    dilated_window,
    full,
    global_tokens,
    random_blocks,
    sliding_window,
)
from coursepkg.viz import mask_grid
from coursepkg.viz.image import figure_style

LENGTH = 48
PICTURE = (
    Path(__file__).resolve().parents[1] / "book" / "_static" / "attention_patterns.png"
)


def main(path: Path) -> None:
    near = causal() & sliding_window(8)
    patterns = {
        "every pair": full(),
        "causal": causal(),
        "causal window": near,
        "dilated window": dilated_window(5, 3),
        "window and global tokens": sliding_window(5) | global_tokens(3),
        "window, global, random": sliding_window(4)
        | global_tokens(2)
        | random_blocks(2, 4),
    }
    mpl.rcParams.update(figure_style())
    masks = {name: pattern.mask(LENGTH, LENGTH) for name, pattern in patterns.items()}
    figure = mask_grid(masks, columns=3, cell=2.4)
    # The name of the library that drew it would change the file with every release.
    figure.savefig(path, dpi=120, metadata={"Software": None})


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, nargs="?", default=PICTURE)
    main(parser.parse_args().file)
