"""Faces: the table of characters is read as it is, and families keep their side."""

import re
from pathlib import Path

import pytest
from PIL import ImageFont

from coursepkg.projects.ocr.synthetic.fonts import (
    HELD_OUT,
    REQUIRED,
    check_covers,
    faces_in,
    is_drawable,
    is_held_out,
    matplotlib_faces,
    matplotlib_folder,
    read_face,
    split_faces,
)
from coursepkg.text.vietnamese import LETTERS

FACES = {f"{face.family} {face.style}": face for face in matplotlib_faces()}


def test_the_faces_of_matplotlib() -> None:
    assert {face.family for face in FACES.values()} == {"DejaVu Sans", "DejaVu Sans Mono", "DejaVu Serif"}
    complete = {face.family for face in FACES.values() if face.is_complete}
    assert complete == {"DejaVu Sans", "DejaVu Serif"}
    mono = FACES["DejaVu Sans Mono Book"]
    assert len(mono.missing(LETTERS)) == 46
    assert mono.missing("ế ế có") == "ế"


def test_the_table_agrees_with_an_independent_reader() -> None:
    font_tools = pytest.importorskip("fontTools.ttLib")
    for face in FACES.values():
        with font_tools.TTFont(face.path) as font:
            first = font.getGlyphOrder()[0]
            assert face.characters == {chr(c) for c, glyph in font.getBestCmap().items() if glyph != first}


def test_every_letter_of_a_complete_face_leaves_ink_of_its_own() -> None:
    # A table may promise a glyph that is empty or the same as the letter without its mark.
    for face in FACES.values():
        if face.is_complete:
            font = ImageFont.truetype(face.path, 64)
            drawn = {bytes(font.getmask(letter)): letter for letter in LETTERS}
            assert len(drawn) == len(LETTERS), face


def test_both_sides_have_a_complete_face_without_any_installed_font() -> None:
    train, test = split_faces(matplotlib_faces())
    assert any(face.is_complete for face in train)
    assert any(face.is_complete for face in test)
    assert not {face.family for face in train} & {face.family for face in test}


def test_families_keep_their_side() -> None:
    assert is_held_out("Noto Serif")
    assert is_held_out("Noto Serif Light")
    assert not is_held_out("Noto Serifa")
    assert not is_held_out("Liberation Serif")
    assert all(is_drawable(family) for family in HELD_OUT)
    assert not any(
        map(
            is_drawable,
            [
                "Noto Sans Thai",
                "Latin Modern Mono Caps",
                "DejaVu Math TeX Gyre",
                "cmsy10",
                "Go Smallcaps",
                "D050000L",
                "Unifont Sample",
            ],
        )
    )


def test_faces_that_draw_wrong_or_too_thin_letters_are_left_out() -> None:
    assert is_drawable("EB Garamond", "12 Italic")
    assert not is_drawable("EB Garamond", "08 Italic")
    assert not is_drawable("Lato", "Hairline Italic")


def test_a_face_comes_once_and_symbols_never() -> None:
    faces = faces_in([matplotlib_folder(), matplotlib_folder()])
    assert set(FACES.values()) <= set(faces)
    assert len(faces) < len(list(matplotlib_folder().glob("*.ttf")))
    assert all("a" in face.characters and "7" in face.characters for face in faces)
    assert len({(face.family, face.style) for face in faces}) == len(faces)


def test_what_a_face_lacks_is_named() -> None:
    check_covers(FACES["DejaVu Sans Book"], "".join(REQUIRED))
    with pytest.raises(ValueError, match=re.escape("DejaVu Sans Mono Book has no glyph for 'ếẵ'")):
        check_covers(FACES["DejaVu Sans Mono Book"], "bếp ẵm")


def test_a_file_that_is_no_font(tmp_path: Path) -> None:
    path = tmp_path / "broken.ttf"
    path.write_bytes(b"no font")
    with pytest.raises(ValueError, match=r"broken\.ttf: not a font"):
        read_face(path)
