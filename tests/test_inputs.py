"""Files that are named to be read: what is common to all projects; each project's own test has its messages."""

from pathlib import Path

import pytest

from coursepkg.inputs import Named, Wanted, find_inputs, natural_key

LISTS = Wanted((".txt",), inputs="lists", missing="no list in it", others="other file")


@pytest.mark.parametrize(
    "order",
    [
        "9 10 clip/5 Clip9/3 clip9/20 clip10/1",
        "a a09 A9a a9b a10 b b1/2 b1/10 ²",
    ],
)
def test_numbers_in_names_count_as_numbers(order: str) -> None:
    assert sorted(sorted(order.split()), key=natural_key) == order.split()


def test_files_in_folders_have_their_place_and_others_have_none(tmp_path: Path) -> None:
    for name in ("10.txt", "2.TXT", "deep/1.txt", "left/3.txt", "run.txt", "x.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    leave = [tmp_path / "left", tmp_path / "run.txt"]
    found, notes = find_inputs([tmp_path / "x.csv", tmp_path], LISTS, recursive=True, leave=leave)
    inside = ["2.TXT", "10.txt", "deep/1.txt"]
    assert found == [Named(tmp_path / "x.csv", ""), *(Named(tmp_path / name, name) for name in inside)]
    assert notes == [f"{tmp_path}: 1 other file left alone, such as x.csv"]


def test_an_empty_folder_has_no_hint_where_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no list in it$"):
        find_inputs([tmp_path], LISTS)
    (tmp_path / "inner").mkdir()
    with pytest.raises(ValueError, match=r"no list in it; 1 folder in it was not opened, add --recursive$"):
        find_inputs([tmp_path], LISTS)
