"""Which font families are for training and which are held out for testing.

The list goes by the name of the family, so that a face never changes sides between machines. Families drawn after one
another stand on one side: Carlito is made from Lato, and Tinos has the outlines of Liberation Serif.
"""

import re

HELD_OUT = frozenset(
    {
        "Andika",
        "Carlito",
        "Charis SIL",
        "DejaVu Serif",
        "Droid Serif",
        "EB Garamond",
        "JetBrains Mono",
        "Lato",
        "Manrope",
        "Noto Serif",
    }
)
"""Families that no training picture is drawn with; families that are not named here are for training."""
MEASURED = HELD_OUT - {"Droid Serif"}
"""Held-out families that matplotlib and scripts/install_fonts.sh bring: a measurement has all of them. Droid Serif is
held out where a system happens to have it."""
NOT_DRAWN = re.compile(
    r"Display|Math|Symbol|Emoji|Last Resort|STIX|Icon|Keyboard|Initials|CJK|Caps\b|Dunhill|Unslanted|Quotation|^cm"
)
"""Families made for formulas, symbols, titles or another script, and small capitals, which draw "a" as "A"."""
STYLES_NOT_DRAWN = re.compile(r"^08\b|Hairline|Thin")
"""Words in the name of a face: strokes that are thinner than a pixel at these sizes; and EB Garamond 08, whose italic
draws Đ as D and ẵ as ã, although its table of characters has all of them."""
LATIN_NOTO = frozenset({"Noto Sans", "Noto Serif", "Noto Mono", "Noto Sans Mono"})
"""The Noto families for Latin script. Each of the others has its own script; its Latin letters are those of these."""


def is_held_out(family: str) -> bool:
    """Whether the family is kept for testing: its name, or the name that it begins with, is in `HELD_OUT`."""
    return any(family == name or family.startswith(f"{name} ") for name in HELD_OUT)


def is_drawable(family: str, style: str = "Regular") -> bool:
    """Whether lines of text may be drawn in this face."""
    if family.startswith("Noto ") and family not in LATIN_NOTO:
        return False
    return not NOT_DRAWN.search(family) and not STYLES_NOT_DRAWN.search(style)
