"""The faces that lines are drawn with, and which characters each of them has.

A face that lacks a letter draws an empty box or nothing, and the recogniser would learn that the box reads "ẵ". So the
table of characters of every face (`cmap`) is read, and a text goes to faces only that cover it. DejaVu comes with
matplotlib: Sans and Serif write all of Vietnamese, Sans Mono lacks 46 of its letters. More families come
from the folder that the environment variable `COURSEPKG_FONTS` names, see `corpora_generated.line_faces`.
"""

import string
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

from coursepkg.projects.ocr.synthetic.families import is_drawable, is_held_out
from coursepkg.text.vietnamese import LETTERS

REQUIRED = frozenset(LETTERS + string.digits + string.punctuation + " ")
"""What a complete face has: the 186 Vietnamese letters, digits, and the punctuation of ASCII."""
ENDINGS = (".ttf", ".otf")


@dataclass(frozen=True)
class Face:
    """One face of a family, as a file."""

    family: str
    """Name of the family, such as `DejaVu Sans`: what is held out for testing as a whole."""
    style: str
    """Name of the face in its family, such as `Bold Oblique`."""
    path: str
    """The font file."""
    characters: frozenset[str]
    """Every character that it has a glyph for."""

    @cached_property
    def is_complete(self) -> bool:
        """Whether it writes all of `REQUIRED`."""
        return self.characters >= REQUIRED

    @property
    def held_out(self) -> bool:
        """Whether its family is kept for testing."""
        return is_held_out(self.family)

    def missing(self, text: str) -> str:
        """The characters of the text that it cannot draw, each once, in their order."""
        return "".join(dict.fromkeys(character for character in text if character not in self.characters))


def read_face(path: str | Path) -> Face:
    """Reads names and characters of a font file, through FreeType, which is also what draws it.

    A character that leads to the first glyph, the box for what is missing, does not count.

    Raises:
        ValueError: the file is no font that can be read, or has no table of characters.
    """
    from matplotlib.ft2font import FT2Font

    try:
        font = FT2Font(str(path))
        table = font.get_charmap()
    except (OSError, RuntimeError) as reason:
        raise ValueError(
            f"{path}: not a font that can be read ({reason}); give a .ttf or .otf file"
        ) from reason
    characters = frozenset(chr(code) for code, glyph in table.items() if glyph)
    if not characters or not font.family_name:
        raise ValueError(f"{path}: the font has no table of Unicode characters or no name; leave it out")
    return Face(font.family_name, font.style_name, str(path), characters)


def matplotlib_folder() -> Path:
    """The folder of the fonts that come with matplotlib."""
    import matplotlib

    return Path(matplotlib.get_data_path()) / "fonts" / "ttf"


@cache
def _faces_in(folder: str) -> tuple[Face, ...]:
    found = []
    for path in sorted(Path(folder).expanduser().rglob("*")):
        if path.suffix.lower() in ENDINGS and path.is_file():
            try:
                found.append(read_face(path))
            except ValueError as reason:
                warnings.warn(f"font left out: {reason}", stacklevel=2)
    return tuple(found)


def faces_in(folders: Iterable[str | Path]) -> tuple[Face, ...]:
    """The faces under these folders that lines can be drawn with, each family and style once, sorted by name.

    Left out are faces without ASCII (symbols, other scripts) and families made for display only.
    """
    by_name: dict[tuple[str, str], Face] = {}
    for folder in folders:
        for face in _faces_in(str(folder)):
            if face.characters >= set(string.ascii_letters + string.digits) and is_drawable(
                face.family, face.style
            ):
                by_name.setdefault((face.family, face.style), face)
    return tuple(by_name[name] for name in sorted(by_name))


def matplotlib_faces() -> tuple[Face, ...]:
    """The DejaVu faces of matplotlib: the same on every machine."""
    return faces_in([matplotlib_folder()])


def split_faces(faces: Sequence[Face]) -> tuple[tuple[Face, ...], tuple[Face, ...]]:
    """Faces to train with, and faces of the families that are held out for testing."""
    train = tuple(face for face in faces if not face.held_out)
    return train, tuple(face for face in faces if face.held_out)


def complete_faces(faces: Sequence[Face]) -> tuple[Face, ...]:
    """Those of the faces that write all of Vietnamese.

    Raises:
        ValueError: there is none.
    """
    found = tuple(face for face in faces if face.is_complete)
    if not found:
        raise ValueError(f"faces: none of the {len(faces)} given writes all of Vietnamese; add DejaVu Sans")
    return found


def check_covers(face: Face, text: str) -> None:
    """Raises a ValueError if the face lacks a character of the text."""
    lacking = face.missing(text)
    if lacking:
        raise ValueError(
            f"text {text!r}: {face.family} {face.style} has no glyph for {lacking!r}; choose a face that covers it"
        )
