"""Files that are named to be read: what is common to all projects; each project's own test has its messages."""

import re
from functools import partial
from pathlib import Path

import pytest

from coursepkg.app.jobs import (
    InputFile,
    InputKind,
    OutputPaths,
    ResumableJsonl,
    RunStats,
    find_inputs,
    natural_key,
)

LISTS = InputKind((".txt",), inputs="lists", missing="no list in it", others="other file")


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
    found = find_inputs([tmp_path / "x.csv", tmp_path], LISTS, recursive=True, leave=leave)
    inside = ["2.TXT", "10.txt", "deep/1.txt"]
    assert list(found.files) == [
        InputFile(tmp_path / "x.csv", ""),
        *(InputFile(tmp_path / name, name) for name in inside),
    ]
    assert found.notes == (f"{tmp_path}: 1 other file left alone, such as x.csv",)


def test_links_to_folders_are_opened_once(tmp_path: Path) -> None:
    (tmp_path / "in" / "deep").mkdir(parents=True)
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "1.txt").touch()
    (tmp_path / "in" / "linked").symlink_to(tmp_path / "far")
    (tmp_path / "in" / "deep" / "above").symlink_to(tmp_path / "in")
    found = find_inputs([tmp_path / "in"], LISTS, recursive=True)
    assert [one.inside for one in found.files] == ["linked/1.txt"]
    assert not found.notes


def test_files_have_the_name_of_their_folder_and_not_of_a_link_to_it(tmp_path: Path) -> None:
    (tmp_path / "z" / "deep").mkdir(parents=True)
    (tmp_path / "z" / "1.txt").touch()
    (tmp_path / "a").symlink_to(tmp_path / "z")
    found = find_inputs([tmp_path], LISTS, recursive=True)
    assert [one.inside for one in found.files] == ["z/1.txt"]


def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(place: str | Path) -> None:
        raise PermissionError(13, "Permission denied", str(place))

    monkeypatch.setattr("os.scandir", refuse)
    with pytest.raises(PermissionError, match=re.escape(str(tmp_path))):
        find_inputs([tmp_path], LISTS)


def test_an_empty_folder_has_no_hint_where_there_is_none(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no list in it$"):
        find_inputs([tmp_path], LISTS)
    (tmp_path / "inner").mkdir()
    with pytest.raises(ValueError, match=r"no list in it; 1 folder in it was not opened, add --recursive$"):
        find_inputs([tmp_path], LISTS)


def test_places_are_checked_before_the_work(tmp_path: Path) -> None:
    out, other = tmp_path / "out.jsonl", tmp_path / "other.csv"
    paths = OutputPaths({"--out": out, "--contest": other, "--text": None})
    paths.check()
    assert paths.journal == out
    assert OutputPaths({"--out": None, "--contest": other}).journal == other
    assert OutputPaths({"--out": None}).journal is None
    assert tmp_path / "other.csv.part.json" in paths.written
    with pytest.raises(ValueError, match=r"^--out and --contest are both .*; give each a file of its own$"):
        OutputPaths({"--out": out, "--contest": out}).check()
    with pytest.raises(ValueError, match=r"^--out .*the folder does not exist; make it first$"):
        OutputPaths({"--out": tmp_path / "no" / "x"}).check()
    with pytest.raises(ValueError, match=r"is a folder; name a file$"):
        OutputPaths({"--out": tmp_path}).check()
    out.touch()
    with pytest.raises(ValueError, match=r"already exists; remove it or choose another --out$"):
        paths.check()
    paths.check(may_exist=["--out"])


def test_lines_grow_until_they_are_whole(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    part = ResumableJsonl(out, {"input": "x"})
    part.add([{"a": "ă"}, [1]])
    part.path.write_bytes(part.path.read_bytes() + b'{"half')
    again = ResumableJsonl(out, {"input": "x"})
    assert (again.n_lines, list(again.records())) == (2, [{"a": "ă"}, [1]])
    with pytest.raises(ValueError, match=r"belongs to another command \(it differs in input, more\)"):
        ResumableJsonl(out, {"input": "y", "more": 1})
    again.write("3\n")
    again.finish()
    assert out.read_text("utf-8") == '{"a": "ă"}\n[1]\n3\n'
    assert [path.name for path in tmp_path.iterdir()] == ["out.jsonl"]


def test_results_that_are_there_are_not_made_again(tmp_path: Path) -> None:
    made: list[int] = []

    def make(number: int) -> list[str]:
        made.append(number)
        return [str(number)]

    part = ResumableJsonl(tmp_path / "out", {})
    assert [part.next_result(partial(make, n)) for n in (1, 2)] == [["1"], ["2"]]
    again = ResumableJsonl(tmp_path / "out", {})
    assert [again.next_result(partial(make, n)) for n in (1, 2, 3)] == [["1"], ["2"], ["3"]]
    assert made == [1, 2, 3]
    again.discard()
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_summed_up() -> None:
    stats = RunStats("video")
    assert (stats.exit_code, str(stats)) == (0, "0 of 0 videos read")
    for failed in (False, True):
        stats.count(failed=failed)
    stats.resumed = 1
    told = "1 of 2 videos read; 1 answers were there from an earlier run"
    assert (stats.exit_code, str(stats)) == (1, told)
    assert RunStats("video", done=2, failed=2).exit_code == 2
