"""What is named is read once, in natural order, and what is left alone is told."""

from pathlib import Path

import pytest

from coursepkg.projects.sign_language.predict import find_clips


def touch(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(b"")
    return folder


def test_a_folder_is_read_in_natural_order_and_the_rest_is_told(tmp_path: Path) -> None:
    folder = touch(
        tmp_path / "clips", "10.mp4", "2.MP4", "1.mov", ".hidden.mp4", "notes.txt", "list.csv", "deep/3.mp4"
    )
    found = find_clips([folder])
    assert [one.name for one in found.files] == ["1.mov", "2.MP4", "10.mp4"]
    assert [one.path for one in found.files] == [folder / one.name for one in found.files]
    assert found.notes == (
        f"{folder}: 2 other files left alone, such as list.csv",
        f"{folder}: 1 folder in it was not opened, add --recursive",
    )
    deeper = find_clips([folder], recursive=True)
    assert [one.name for one in deeper.files] == ["1.mov", "2.MP4", "10.mp4", "deep/3.mp4"]
    assert len(deeper.notes) == 1


def test_files_are_taken_whatever_their_names_and_only_once(tmp_path: Path) -> None:
    touch(tmp_path, "b.dat", "a.mp4")
    found = find_clips([tmp_path / "b.dat", tmp_path, tmp_path / "b.dat"], leave=[tmp_path / "nothing"])
    assert [one.path.name for one in found.files] == ["b.dat", "a.mp4"]
    assert found.notes[-1] == f"{tmp_path / 'b.dat'}: named twice, read once"


def test_what_the_run_itself_writes_is_left_out(tmp_path: Path) -> None:
    touch(tmp_path, "a.mp4", "out.mp4")
    assert [one.name for one in find_clips([tmp_path], leave=[tmp_path / "out.mp4"]).files] == ["a.mp4"]


def test_the_fingerprint_knows_other_files(tmp_path: Path) -> None:
    touch(tmp_path, "a.mp4", "b.mp4")
    before = find_clips([tmp_path]).fingerprint
    assert find_clips([tmp_path]).fingerprint == before
    (tmp_path / "a.mp4").write_bytes(b"longer")
    changed = find_clips([tmp_path]).fingerprint
    touch(tmp_path, "c.mp4")
    assert len({before, changed, find_clips([tmp_path]).fingerprint}) == 3


def test_nothing_to_read_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for inputs, said in (
        ([], "no input; name videos or folders of them"),
        ([tmp_path / "none"], "none: there is no such file or folder"),
        ([tmp_path / "empty"], r"no video in it; videos are known by their ending, such as \.mp4"),
        (
            [touch(tmp_path / "deep", "train/ăn/1.mp4")],
            "no video in it; 1 folder in it was not opened, add",
        ),
    ):
        with pytest.raises((ValueError, FileNotFoundError), match=said):
            find_clips(inputs)
