"""Packed lines: what goes in comes out, without copies; damage and stale folders are refused."""

import json
import pickle
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.ocr.data.images import resize_to_box, resize_to_height
from coursepkg.projects.ocr.data.packed import PackedLines, bucket_height, pack_lines
from coursepkg.projects.ocr.line import TextLine, Unreadable
from tests.projects.ocr.data.tables import lines

FACTS = ("name", "text", "group", "reason")


def pixel_file(folder: Path) -> Path:
    (found,) = folder.glob("pixels-*.bin")
    return found


def test_every_line_comes_back_at_its_height(tmp_path: Path) -> None:
    given = lines(9)
    pack_lines(given, tmp_path / "packed", heights=(40,))
    packed = PackedLines(tmp_path / "packed")
    assert len(packed) == 9
    for one, line in zip(packed, given, strict=True):
        assert np.array_equal(one.image, resize_to_height(line.image, 40))
        assert (one.text, one.group, one.name) == (line.text, line.group, line.name)
    assert packed.sizes == [one.image.shape for one in packed]
    assert [one.text for one in packed[2:4]] == [given[2].text, given[3].text]
    assert sorted(path.suffix for path in (tmp_path / "packed").iterdir()) == [".bin", ".json"]


def test_lines_go_to_the_lowest_height_that_loses_no_rows(tmp_path: Path) -> None:
    assert [bucket_height(h, (48, 24, 32)) for h in (5, 24, 25, 48, 90)] == [24, 24, 32, 48, 48]
    given = [*lines(3, height=24), *lines(3, height=30), *lines(3, height=70)]
    packed = pack_lines(given, tmp_path, heights=(24, 48))
    assert [height for height, _ in packed.sizes] == [24] * 3 + [48] * 6
    assert np.array_equal(packed.image(0), given[0].image)


def test_a_box_makes_all_pictures_equally_large(tmp_path: Path) -> None:
    given = lines(3)
    packed = pack_lines(given, tmp_path, heights=(32,), box_width=128)
    assert packed.sizes == [(32, 128)] * 3
    assert np.array_equal(packed.image(1), resize_to_box(given[1].image, 32, 128))


def test_a_picture_is_a_view_that_cannot_be_written_to(tmp_path: Path) -> None:
    packed = pack_lines(lines(4), tmp_path)
    first = packed.image(0)
    assert np.shares_memory(first, packed.image(0))
    assert not first.flags.owndata
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] = 1


def test_another_process_maps_the_file_instead_of_a_copy(tmp_path: Path) -> None:
    packed = pack_lines(lines(40), tmp_path)
    content = pickle.dumps(packed)
    assert len(content) < pixel_file(tmp_path).stat().st_size / 4
    assert np.array_equal(pickle.loads(content).image(7), packed.image(7))


def test_what_has_no_picture_is_kept_with_its_reason(tmp_path: Path) -> None:
    thin = TextLine(np.zeros((1, 40), dtype=np.uint8), "mỏng", "receipt 9", "receipt 9, instance 0")
    missing = Unreadable("b.jpg, instance 0", "Tổng", "b.jpg", "b.jpg: there is no such picture")
    packed = pack_lines([missing, *lines(3), thin], tmp_path)
    assert len(packed) == 3
    first, second = PackedLines(tmp_path).left_out
    assert first == missing
    assert (second.name, second.text) == (thin.name, "mỏng")
    assert "hold no text" in second.reason


def test_a_writer_that_is_stopped_leaves_what_was_there(tmp_path: Path) -> None:
    before = pack_lines(lines(5), tmp_path, source={"table": "one"}).fingerprint

    def stopped() -> Iterator[TextLine]:
        yield from lines(3, seed=1)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pack_lines(stopped(), tmp_path)
    assert PackedLines(tmp_path, source={"table": "one"}).fingerprint == before
    assert {path.name for path in tmp_path.iterdir()} == {"index.json", pixel_file(tmp_path).name}


def test_packing_again_replaces_the_old_lines(tmp_path: Path) -> None:
    one = pack_lines(lines(5), tmp_path)
    other = pack_lines(lines(3, seed=1), tmp_path)
    assert len(PackedLines(tmp_path)) == 3
    assert one.fingerprint != other.fingerprint
    assert len(list(tmp_path.glob("pixels-*.bin"))) == 1
    assert pack_lines(lines(5), tmp_path).fingerprint == one.fingerprint


def test_lines_packed_from_something_else_are_refused(tmp_path: Path) -> None:
    pack_lines(lines(3), tmp_path, source={"labels.tsv": "a" * 64})
    assert len(PackedLines(tmp_path, source={"labels.tsv": "a" * 64})) == 3
    with pytest.raises(
        ValueError, match=r"was packed from labels\.tsv aaaa.* not from labels\.tsv bbbb.*again"
    ):
        PackedLines(tmp_path, source={"labels.tsv": "b" * 64})


def damage_pixels(folder: Path) -> None:
    path = pixel_file(folder)
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)


def cut_pixels(folder: Path) -> None:
    path = pixel_file(folder)
    path.write_bytes(path.read_bytes()[:-1])


def change_index(folder: Path, **changes: object) -> None:
    path = folder / "index.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def change_text(folder: Path) -> None:
    path = folder / "index.json"
    path.write_text(path.read_text().replace('"receipt 0"', '"receipt 1"', 1))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damage_pixels, "was changed: its SHA-256"),
        (cut_pixels, "is cut short"),
        (lambda folder: pixel_file(folder).unlink(), "is missing"),
        (change_text, "its lines are not those on record"),
        (lambda folder: change_index(folder, version=2), "version 2, not 'packed lines' of version 1"),
        (lambda folder: change_index(folder, kind="clips"), "'clips' of version 1"),
        (lambda folder: change_index(folder, lines={}), "its lines are not those on record"),
        (
            lambda folder: change_index(folder, pixels={"file": "../pixels.bin"}),
            "names no file of pixels beside",
        ),
        (lambda folder: change_index(folder, pixels={"file": "a.bin", "bytes": 1}), "do not fill the pixels"),
        *(
            (
                lambda folder, one=one: change_index(folder, left_out=[one]),
                "is damaged: name, text, group and reason",
            )
            for one in ({"nme": "a"}, "a", dict.fromkeys(FACTS, 5), dict.fromkeys((*FACTS, "more"), ""))
        ),
        (lambda folder: (folder / "index.json").write_text("{"), "is damaged"),
        (lambda folder: (folder / "index.json").unlink(), "is missing"),
    ],
)
def test_damage_is_refused_by_name(tmp_path: Path, damage: object, message: str) -> None:
    pack_lines(lines(6), tmp_path)
    damage(tmp_path)  # type: ignore[operator]
    with pytest.raises((ValueError, FileNotFoundError), match=message) as caught:
        PackedLines(tmp_path)
    assert str(tmp_path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_quick_look_still_finds_a_file_cut_short(tmp_path: Path) -> None:
    pack_lines(lines(6), tmp_path)
    cut_pixels(tmp_path)
    with pytest.raises(ValueError, match="missing or cut short"):
        PackedLines(tmp_path, verify=False)


def test_nothing_to_pack_is_a_mistake_that_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no line has a picture that can be packed; the first: gone"):
        pack_lines([Unreadable("a", "b", "c", "gone")], tmp_path / "new")
    assert list((tmp_path / "new").iterdir()) == []
    with pytest.raises(ValueError, match="heights must be an integer of at least 2"):
        pack_lines(lines(1), tmp_path, heights=(1,))
    with pytest.raises(ValueError, match="heights must name at least one"):
        pack_lines(lines(1), tmp_path, heights=())
