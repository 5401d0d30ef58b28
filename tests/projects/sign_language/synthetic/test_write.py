"""Files: the contest's layout, tables that agree with them, and a run that goes on where it stopped."""

import csv
import json
import pickle
import sys
from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.sign_language.synthetic import clips
from coursepkg.projects.sign_language.synthetic.clips import (
    CARD,
    COLUMNS,
    PlannedClip,
    draw_planned,
    plan_clips,
    write_signers,
    write_video,
)
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig

av = pytest.importorskip("av")

TINY = SignersConfig(
    words=3,
    signers=4,
    most_clips=10,
    size=32,
    least_frames=12,
    most_frames=16,
    solid=0.15,
    frozen=0.1,
    duplicate=0.15,
)


def _decode(path: Path) -> np.ndarray:
    with av.open(path) as container:
        return np.stack([frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_signers(tmp_path_factory.mktemp("signers") / "set", 3, TINY)


@pytest.fixture(scope="module")
def rows(folder: Path) -> list[dict[str, str]]:
    with (folder / "signers.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_layout_is_the_contests(folder: Path, rows: list[dict[str, str]]) -> None:
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    tables = {"label_mapping.pkl", "label_mapping.json", "signers.csv", CARD}
    assert set(files) == tables | {row["path"] for row in rows}
    assert tuple(rows[0]) == COLUMNS
    assert len(rows) == len(plan_clips(3, TINY))
    assert all(Path(row["path"]).parts[:2] == ("train", row["label"]) for row in rows)


def test_label_numbers_are_the_same_in_both_tables(folder: Path) -> None:
    as_json = json.loads((folder / "label_mapping.json").read_text(encoding="utf-8"))
    stored = (folder / "label_mapping.pkl").read_bytes()
    # Written here a moment ago, so it may be unpickled; readers must not.
    assert pickle.loads(stored) == as_json == {"Cảm ơn": 0, "Tôi": 1, "Xin chào": 2}
    assert stored[:2] == b"\x80\x04"


def test_videos_are_h264_with_the_drawn_frames(folder: Path) -> None:
    for clip in plan_clips(3, TINY)[:8]:
        path = folder / "train" / clip.word / clip.file
        with av.open(path) as container:
            stream = container.streams.video[0]
            assert stream.codec_context.name == "h264"
            assert stream.average_rate == TINY.fps
            assert stream.pix_fmt == "yuv420p"
        drawn, decoded = draw_planned(clip, 3, TINY).frames, _decode(path)
        assert decoded.shape == drawn.shape
        # What H.264 and halved colours lose is far less than what tells two frames apart.
        assert np.abs(decoded.astype(int) - drawn).mean() < 12


def test_faults_survive_in_the_files(folder: Path, rows: list[dict[str, str]]) -> None:
    counts = {fault: sum(row["fault"] == fault for row in rows) for fault in ("solid", "frozen", "duplicate")}
    assert min(counts.values()) >= 2
    for row in rows:
        frames = _decode(folder / row["path"]).astype(float)
        solid = (frames.std(axis=(1, 2)).max(axis=-1) < 3).sum()
        assert solid == (int(row["broken"]) if row["fault"] == "solid" else 0), row
        assert (int(row["broken"]) > 0) == (row["fault"] in ("solid", "frozen"))


def test_a_copy_is_in_the_group_of_its_original(folder: Path, rows: list[dict[str, str]]) -> None:
    groups: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row)
    copies = [row for row in rows if row["fault"] == "duplicate"]
    assert len(groups) == len(rows) - len(copies)
    for group in groups.values():
        assert len({(row["label"], row["signer"]) for row in group}) == 1
        assert sum(row["fault"] != "duplicate" for row in group) == 1
        frames = [_decode(folder / row["path"]).astype(int) for row in group]
        assert all(np.abs(other - frames[0]).mean() < 12 for other in frames[1:])


def test_the_same_frames_give_the_same_bytes(tmp_path: Path) -> None:
    frames = draw_planned(PlannedClip("Mẹ", 0, 0, "", 0), 0, TINY).frames
    for name, crf in (("first", 23), ("second", 23), ("coarse", 40)):
        write_video(tmp_path / name, frames, 12, crf=crf)
    first, second, coarse = ((tmp_path / name).read_bytes() for name in ("first", "second", "coarse"))
    assert first == second
    assert len(coarse) < len(first)
    with pytest.raises(OSError, match="first"):
        write_video(tmp_path / "first" / "clip.mp4", frames, 12)


@pytest.fixture
def cut_short(monkeypatch: pytest.MonkeyPatch) -> list[PlannedClip]:
    """After three clips the machine stops; the clips drawn since are listed."""
    drawn: list[PlannedClip] = []

    def draw(clip: PlannedClip, seed: int, config: SignersConfig) -> object:
        drawn.append(clip)
        if len(drawn) == 4:
            raise KeyboardInterrupt
        return draw_planned(clip, seed, config)

    monkeypatch.setattr(clips, "draw_planned", draw)
    return drawn


def test_a_run_that_was_stopped_goes_on(tmp_path: Path, folder: Path, cut_short: list[PlannedClip]) -> None:
    target = tmp_path / "set"
    with pytest.raises(KeyboardInterrupt):
        write_signers(target, 3, TINY)
    assert not target.exists()
    assert len(list((tmp_path / "set.part").rglob("*.mp4"))) == 3
    assert not list((tmp_path / "set.part").rglob("*.mp4.part"))
    # A run with other settings does not mix its clips with these.
    with pytest.raises(ValueError, match=r"set\.part: holds something other than"):
        write_signers(target, 4, TINY)
    said: list[str] = []
    assert write_signers(target, 3, TINY, log=said.append) == target
    assert len(cut_short) == 4 + len(plan_clips(3, TINY)) - 3
    assert not (tmp_path / "set.part").exists()
    names = sorted(path.relative_to(target) for path in target.rglob("*") if path.is_file())
    assert names == sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert all((target / name).read_bytes() == (folder / name).read_bytes() for name in names)


def test_a_finished_folder_is_left_as_it_is(folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    assert write_signers(folder, 3, TINY) == folder
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before


def test_a_folder_of_something_else_is_refused(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(
        ValueError, match=r"mine: holds something other than the generated signers of seed 3 "
    ):
        write_signers(tmp_path / "mine", 3, TINY)
    with pytest.raises(ValueError, match="holds something other than"):
        write_signers(folder, 4, TINY)
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["notes.txt"]


def test_without_av_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(ImportError, match=r"writing videos needs av: pip install 'coursepkg\[video\]'"):
        write_video(tmp_path / "clip.mp4", np.zeros((2, 32, 32, 3), np.uint8), 12)
    with pytest.raises(ImportError, match="writing videos needs av"):
        write_signers(tmp_path / "set", 0, TINY)
    assert not list(tmp_path.iterdir())
