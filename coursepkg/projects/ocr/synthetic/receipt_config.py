"""How often generated receipts have the faults, layouts, print and wear of real ones.

`receipts` has the quirks of MC-OCR's table alone; every stored result is measured on
them. `varied-receipts` adds what photographs of strangers show: other layouts, sums
that agree, dot matrix and worn thermal print, crumpled and folded paper, fingers,
other surfaces, few pixels.
"""

import random
from dataclasses import dataclass, fields

from coursepkg.validation import check_share


@dataclass(frozen=True)
class ReceiptConfig:
    """How often each quirk comes, in [0, 1]; first those of the real table."""

    several_polygons: float = 0.02
    """Share of instances with a second outline, a sliver left by the mouse; 115 of
    6,585 in the real table."""
    fifth_corner: float = 0.25
    """Share of instances whose outline has a corner too many, close to the first."""
    turned: float = 0.04
    """Share of receipts that lie on their side, half of them each way."""
    empty: float = 0.002
    """Share of rows without any annotation; 2 of 1,155 in the real table."""
    layout: float = 0.0
    """Share of receipts in another layout: head at the left, time at the foot, goods in
    one row each or as count times price."""
    sums: float = 0.0
    """Share of receipts whose sums are those of a sale: goods less discount is the
    total, and what was paid less the total is the change."""
    valid_dates: float = 0.0
    """Share of receipts without a day that its month lacks, such as 31 February."""
    dot_matrix: float = 0.0
    """Share of receipts that nine pins strike, without diacritics; their sums agree,
    too."""
    missing_dots: float = 0.0
    """Share of thermal receipts with white dots and white columns in the print."""
    crumpled: float = 0.0
    """Share of receipts that were crumpled and smoothed again."""
    folded: float = 0.0
    """Share of receipts that were folded into equal parts."""
    background: float = 0.0
    """Share of receipts on checked cloth, wood, or the edge of a table."""
    finger: float = 0.0
    """Share of receipts with a finger over an edge of the paper; it hides no text."""
    low_resolution: float = 0.0
    """Share of photographs with few pixels, enlarged again, as messengers send them."""

    def __post_init__(self) -> None:
        for field in fields(self):
            check_share(field.name, getattr(self, field.name))


RECEIPTS = {
    "receipts": ReceiptConfig(),
    "varied-receipts": ReceiptConfig(
        layout=0.7, sums=0.7, valid_dates=1.0, dot_matrix=0.15, missing_dots=0.3,
        crumpled=0.25, folded=0.25, background=0.5, finger=0.25, low_resolution=0.25,
    ),
}  # fmt: skip
"""Kinds of generated receipts by the name that `--data` and `--pages` take."""


def receipt_config(name: str) -> ReceiptConfig:
    """The settings of a kind of receipts; a ValueError names those there are."""
    if name not in RECEIPTS:
        raise ValueError(
            f"generated receipts: unknown kind {name!r}; choose from"
            f" {', '.join(RECEIPTS)}"
        )
    return RECEIPTS[name]


def happens(dice: random.Random, share: float) -> bool:
    """Whether chance picks what comes at a rate; a rate of 0 draws no number."""
    return share > 0 and dice.random() < share
