"""Answers in files: stopped anywhere and started again they are the same; what cannot be read is told and counted."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from coursepkg.app.jobs import FoundInputs, OutputPaths, RunStats
from coursepkg.projects.sign_language.predict import (
    answer_clips,
    find_clips,
    output_paths,
)
from coursepkg.projects.sign_language.recipe import StreamConfig
from coursepkg.projects.sign_language.streams.predict import watch_streams
from tests.projects.sign_language.data.films import write_sound
from tests.projects.sign_language.signed import FPS, recognizer, word_of, write_film, write_films

N_FILMS = 5
ALONE = StreamConfig(window=1.0, hop=1.0, smoothing=0.0, refractory=0.0)


class Stopped(Exception):
    """What stands for a kill between two batches."""


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("films")
    write_films(folder, N_FILMS)
    return folder


def answer(folder: Path, places: OutputPaths, stop_at: int = -1, **options: Any) -> RunStats:
    """Answers two clips at a time; stopped once so many are written."""

    def log(line: str) -> None:
        if line.startswith(f"{stop_at} of"):
            raise Stopped

    return answer_clips(recognizer(), find_clips([folder]), places, batch_size=2, log=log, **options)


def documents(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_line_for_each_clip(films: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    stats = answer(films, output_paths(out), n_best=2)
    assert (stats.done, stats.failed, stats.resumed, stats.exit_code) == (N_FILMS, 0, 0, 0)
    assert names(tmp_path) == ["out.jsonl"]
    for place, (found, one) in enumerate(
        zip(recognizer().recognize(sorted(films.iterdir())), documents(out), strict=True)
    ):
        assert one["clip"] == f"{place}.mp4"
        assert one["label"] == found.label == word_of(Path(found.name))
        assert one["confidence"] == pytest.approx(found.confidence, abs=1e-4)
        assert [word for word, _ in one["candidates"]] == [word for word, _ in found.candidates[:2]]
        assert len(one["weights"]) == len(one["seconds"]) == 6
        assert (one["error"], one["flaw"]) == ("", "")


@pytest.mark.parametrize("kinds", [("out",), ("contest",), ("out", "contest")])
@pytest.mark.parametrize("at", [2, 4])
def test_stopped_and_resumed_equals_never_stopped(
    films: Path, tmp_path: Path, kinds: tuple[str, ...], at: int
) -> None:
    def places(name: str) -> OutputPaths:
        return output_paths(**{kind: tmp_path / f"{name}.{kind}" for kind in kinds})

    answer(films, places("whole"))
    with pytest.raises(Stopped):
        answer(films, places("again"), stop_at=at)
    assert not any((tmp_path / f"again.{kind}").exists() for kind in kinds)
    journal = places("again").journal
    assert journal is not None
    part = journal.with_name(f"{journal.name}.part")
    assert len(documents(part)) == at
    with part.open("ab") as file:
        file.write(b'{"clip": "half a li')
    stats = answer(films, places("again"))
    assert (stats.resumed, stats.done) == (at, N_FILMS)
    for kind in kinds:
        assert (tmp_path / f"again.{kind}").read_bytes() == (tmp_path / f"whole.{kind}").read_bytes()
    assert len(names(tmp_path)) == 2 * len(kinds)


def test_the_part_of_another_command_is_refused(films: Path, tmp_path: Path) -> None:
    places = output_paths(tmp_path / "out")
    with pytest.raises(Stopped):
        answer(films, places, stop_at=2)
    with pytest.raises(ValueError, match=r"out\.part belongs to another command \(it differs in n_best\)"):
        answer(films, places, n_best=3)


def test_the_contest_gets_a_row_for_every_clip(films: Path, tmp_path: Path) -> None:
    part = tmp_path / "public_test"
    write_films(part, 2)
    (part / "10.mp4").write_bytes(b"")
    write_sound(part / "2.mp4")
    lines: list[str] = []
    places = output_paths(contest=tmp_path / "public_test.csv")
    stats = answer_clips(recognizer(), find_clips([part]), places, log=lines.append)
    with (tmp_path / "public_test.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [
        ["video_name", "label"],
        ["0.mp4", "lên"],
        ["1.mp4", "nằm"],
        ["2.mp4", ""],
        ["10.mp4", ""],
    ]
    assert (stats.done, stats.failed, stats.exit_code) == (4, 2, 1)
    assert [line.partition(":")[0] for line in lines] == ["error", "error"]
    assert "audio only" in lines[0]
    assert "the file is empty" in lines[1]
    assert names(tmp_path) == ["public_test", "public_test.csv"]


def test_where_nothing_can_be_read_nothing_is_written(tmp_path: Path) -> None:
    (tmp_path / "clips").mkdir()
    write_sound(tmp_path / "clips" / "a.mp4")
    lines: list[str] = []
    sources = find_clips([tmp_path / "clips" / "a.mp4"])
    for stats in (
        answer_clips(recognizer(), sources, output_paths(tmp_path / "out"), log=lines.append),
        watch_streams(recognizer(), sources, ALONE, tmp_path / "out", log=lines.append),
    ):
        assert stats.exit_code == 2
    assert [("audio only" in line, line.startswith("error: ")) for line in lines] == [(True, True)] * 2
    assert names(tmp_path) == ["clips"]


def test_places_are_checked_before_anything_is_done(tmp_path: Path) -> None:
    (tmp_path / "there").write_text("kept")
    for places, said in (
        (output_paths(tmp_path / "there"), "there already exists; remove it or choose another --out"),
        (output_paths(contest=tmp_path / "there"), "choose another --contest"),
        (output_paths(tmp_path / "no" / "out"), "--out .*: the folder does not exist"),
        (output_paths(tmp_path / "a", tmp_path / "a"), "--out and --contest are both"),
    ):
        with pytest.raises(ValueError, match=said):
            places.check()
    output_paths(tmp_path / "a", tmp_path / "b").check()


@pytest.fixture(scope="module")
def streams(tmp_path_factory: pytest.TempPathFactory) -> FoundInputs:
    folder = tmp_path_factory.mktemp("streams")
    write_film(folder / "a.mp4", "lên", "xuống", "lên")
    write_sound(folder / "b.mp4")
    write_film(folder / "c.mp4", "nằm", "xuống")
    return find_clips([folder])


def test_the_events_of_every_stream(streams: FoundInputs, tmp_path: Path) -> None:
    shown: list[dict[str, Any]] = []
    lines: list[str] = []
    stats = watch_streams(recognizer(), streams, ALONE, tmp_path / "out", show=shown.append, log=lines.append)
    assert documents(tmp_path / "out") == shown
    assert [(one["clip"], one["label"]) for one in shown] == [
        ("a.mp4", "lên"),
        ("a.mp4", "xuống"),
        ("a.mp4", "lên"),
        ("c.mp4", "nằm"),
        ("c.mp4", "xuống"),
    ]
    assert [round(one["end"] - one["start"], 2) for one in shown] == [1.0] * 5
    assert (stats.done, stats.failed, stats.exit_code) == (3, 1, 1)
    assert "b.mp4: audio only" in "".join(lines)
    assert names(tmp_path) == ["out"]


def test_a_stream_that_was_stopped_asks_the_network_for_the_rest_only(
    streams: FoundInputs, tmp_path: Path
) -> None:
    config = StreamConfig(window=1.0, hop=2 / FPS)
    watch_streams(recognizer(), streams, config, tmp_path / "whole")
    stopped: list[dict[str, Any]] = []

    def stop(record: dict[str, Any]) -> None:
        stopped.append(record)
        if record["clip"] == "c.mp4":
            raise Stopped

    with pytest.raises(Stopped):
        watch_streams(recognizer(), streams, config, tmp_path / "out", show=stop)
    part = tmp_path / "out.part"
    assert names(tmp_path) == ["out.part", "out.part.json", "whole"]
    done = len(part.read_text().splitlines())
    stats = watch_streams(recognizer(), streams, config, tmp_path / "out")
    assert stats.resumed == done > 5
    assert (tmp_path / "out").read_bytes() == (tmp_path / "whole").read_bytes()
    assert names(tmp_path) == ["out", "whole"]
