"""Styles, versions and licences of the fonts that lines are drawn with, for the card of a model."""

from collections.abc import Sequence
from typing import Any

from coursepkg.projects.ocr.synthetic.fonts import Face
from coursepkg.projects.ocr.synthetic.render import by_family

COPYRIGHT, VERSION, LICENCE, LICENCE_URL = 0, 5, 13, 14
"""Numbers of entries in the table `name` of a font file (OpenType specification, "name
IDs")."""
MOST_CHARACTERS = 200


def font_facts(faces: Sequence[Face]) -> list[dict[str, Any]]:
    """Styles, version and licence of each family; empty where unknown.

    A font without an entry for its licence is described by its copyright notice.
    """
    facts = []
    for family, own in by_family(faces).items():
        names = name_table(own[0].path)
        facts.append(
            {
                "family": family,
                "styles": [face.style for face in own],
                "version": names.get(VERSION, ""),
                "licence": names.get(LICENCE) or names.get(COPYRIGHT, ""),
                "licence_url": names.get(LICENCE_URL, ""),
            }
        )
    return facts


def name_table(path: str) -> dict[int, str]:
    """The entries of a font's table of names, each in one short line."""
    from matplotlib.ft2font import FT2Font

    found: dict[int, str] = {}
    for (platform, _, _, number), raw in sorted(FT2Font(path).get_sfnt().items()):
        # The entries of Windows, which come last, are UTF-16; those of old Macs are
        # Latin letters in single bytes.
        text = raw.decode("utf-16-be" if platform in (0, 3) else "mac-roman", "replace")
        (
            found.setdefault(number, "")
            if not text.strip()
            else found.update({number: _short(text)})
        )
    return found


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= MOST_CHARACTERS else line[: MOST_CHARACTERS - 1] + "…"
