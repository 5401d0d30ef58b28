"""Cached clips: what decoding gives comes back, a stopped writer goes on, damage and other sources are noticed."""

import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.sign_language.data import cache
from coursepkg.projects.sign_language.data.cache import CachedClips, Journal, cache_clips
from coursepkg.projects.sign_language.data.clip import ClipFile, uniform_frames
from coursepkg.projects.sign_language.data.video import CacheConfig, decode_needed, decode_video
from tests.projects.sign_language.data.films import cut, numbers_of, write_film
from tests.projects.sign_language.data.sets import LENGTHS, write_clips

SMALL = CacheConfig(size=24, frames=20, fit="stretch")


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[ClipFile]:
    return write_clips(tmp_path_factory.mktemp("clips"))


@pytest.fixture(scope="module")
def made(files: list[ClipFile], tmp_path_factory: pytest.TempPathFactory) -> CachedClips:
    return cache_clips(files, tmp_path_factory.mktemp("cache"), SMALL)


@pytest.fixture
def copied(made: CachedClips, tmp_path: Path) -> Path:
    """The same cache in a folder of its own, to be damaged."""
    return shutil.copytree(made.folder, tmp_path / "copied")


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are decoded while this is in use."""
    names: list[str] = []

    def watched(path: Path, *rest: object, **options: object) -> object:
        names.append(path.name)
        return decode_needed(path, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(cache, "decode_needed", watched)
    return names


def frames_file(folder: Path) -> Path:
    (found,) = folder.glob("clips-*.bin")
    return found


def test_every_clip_comes_back_as_it_was_decoded(files: list[ClipFile], made: CachedClips) -> None:
    again = CachedClips(made.folder)
    assert len(again) == len(files) == 7
    for number, file in enumerate(files):
        whole = decode_video(file.path, size=24, fit="stretch")
        kept = np.arange(len(whole.times))
        if len(kept) > 20:
            kept = np.unique(uniform_frames(whole.times, 20))
        clip = again.clip(number)
        assert np.array_equal(clip.frames, whole.frames[kept])
        assert np.array_equal(clip.times, whole.times[kept])
        assert (clip.label, clip.signer) == (file.label, file.signer)
        assert np.array_equal(again.frames(number, [3, 0, 3]), clip.frames[[3, 0, 3]])
    assert again.labels == [file.label for file in files]
    assert again.clips[0].name == "ăn/0.mp4"
    assert sorted(path.suffix for path in made.folder.iterdir()) == [".bin", ".json"]


def test_a_short_clip_keeps_all_frames_and_a_long_one_evenly_spaced(made: CachedClips) -> None:
    lengths = [length for word in LENGTHS.values() for length in word]
    assert [len(clip.times) for clip in made.clips] == [min(20, length) for length in lengths]
    assert numbers_of(made.frames(1)) == list(range(18))
    assert numbers_of(made.frames(6)) == [place * 49 // 19 for place in range(20)]


def test_another_process_opens_the_file_itself(made: CachedClips) -> None:
    content = pickle.dumps(made)
    assert len(content) < frames_file(made.folder).stat().st_size / 4
    assert np.array_equal(pickle.loads(content).frames(5), made.frames(5))


def test_the_same_again_decodes_nothing(files: list[ClipFile], made: CachedClips, decoded: list[str]) -> None:
    again = cache_clips(files, made.folder, SMALL)
    assert decoded == []
    assert again.fingerprint == made.fingerprint


@pytest.mark.parametrize("change", ["config", "label", "plan", "file", "strong"])
def test_another_source_is_cached_anew(
    files: list[ClipFile], copied: Path, decoded: list[str], tmp_path: Path, change: str
) -> None:
    before = CachedClips(copied).fingerprint
    config = replace(SMALL, frames=10) if change == "config" else SMALL
    others = [replace(files[0], label="nói"), *files[1:]] if change == "label" else files
    if change == "file":
        others = write_clips(tmp_path / "other")
        write_film(others[0].path, 12)
    strong = [True] + [False] * 6 if change == "strong" else None
    again = cache_clips(others, copied, config, plan="2" if change == "plan" else "", strong=strong)
    assert len(decoded) == 7
    assert (again.fingerprint == before) == (change == "plan")
    assert again.clips[0].strong == (change == "strong")
    assert len(list(copied.iterdir())) == 2


@pytest.mark.parametrize(
    "damage", ["none", "half a line", "half a clip", "changed clip", "no line", "other source"]
)
def test_a_stopped_writer_goes_on_where_it_was(
    files: list[ClipFile], made: CachedClips, decoded: list[str], tmp_path: Path, damage: str
) -> None:
    def stop(times: np.ndarray) -> np.ndarray:
        raise KeyboardInterrupt

    every = [lambda times: np.arange(len(times))] * 4 + [stop] + [lambda times: np.arange(len(times))] * 2
    with pytest.raises(KeyboardInterrupt):
        cache_clips(files, tmp_path, SMALL, usable=every)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["clips.part", "clips.part.jsonl"]
    part, lines = tmp_path / "clips.part", tmp_path / "clips.part.jsonl"
    expected = 3
    if damage == "half a line":
        lines.write_bytes(lines.read_bytes()[:-10])
        expected = 4
    if damage == "half a clip":
        part.write_bytes(part.read_bytes()[:-100])
        expected = 4
    if damage == "changed clip":
        content = bytearray(part.read_bytes())
        content[5] ^= 1
        part.write_bytes(content)
        expected = 7
    if damage == "no line":
        part.write_bytes(part.read_bytes() + bytes(500))
    if damage == "other source":
        lines.write_bytes(lines.read_bytes().replace(b'["source", "', b'["source", "0', 1))
        expected = 7
    decoded.clear()
    said: list[str] = []
    again = cache_clips(files, tmp_path, SMALL, log=said.append)
    assert len(decoded) == expected
    assert said == ([] if expected == 7 else [f"{7 - expected} of 7 clips were cached before"])
    assert again.fingerprint == made.fingerprint
    assert [clip.place for clip in again.clips] == list(range(7))
    assert len(list(tmp_path.iterdir())) == 2
    CachedClips(tmp_path)


def test_on_a_full_disk_what_is_done_stays(
    files: list[ClipFile], decoded: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = Journal.keep

    def full(journal: Journal, *told: object, **options: object) -> None:
        if len(journal.clips) == 2:
            raise OSError(28, "No space left on device")
        whole(journal, *told, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(Journal, "keep", full)
    with pytest.raises(OSError, match=r"the clips could not be written: .*No space left.*free some space"):
        cache_clips(files, tmp_path, SMALL)
    monkeypatch.setattr(Journal, "keep", whole)
    decoded.clear()
    assert len(cache_clips(files, tmp_path, SMALL)) == 7
    assert len(decoded) == 5


def test_what_cannot_be_kept_is_named_and_what_has_a_flaw_too(files: list[ClipFile], tmp_path: Path) -> None:
    film = write_film(tmp_path / "films" / "long.mp4", 30, container={"movflags": "faststart"})
    flawed = cut(film, 0.9)
    photograph = tmp_path / "films" / "photograph.mp4"
    photograph.write_bytes(b"\xff\xd8\xff")
    given = [
        ClipFile(photograph, "ăn"),
        ClipFile(flawed, "ăn"),
        ClipFile(tmp_path / "films" / "gone.mp4", "ăn"),
        ClipFile(film, "uống"),
    ]
    found = cache_clips(given, tmp_path / "cache", SMALL)
    assert [clip.name for clip in found.clips] == ["cut long.mp4", "long.mp4"]
    assert "of 30 frames are missing" in found.clips[0].flaw
    assert found.clips[1].flaw == ""
    assert [one.name for one in found.left_out] == ["photograph.mp4", "gone.mp4"]
    assert "a JPEG picture" in found.left_out[0].reason
    assert "there is no such video" in found.left_out[1].reason
    assert found.numbers_of([0, 1, 2, 3]) == [0, 1]
    assert found.numbers_of([3, 2]) == [1]
    report = found.report()
    assert "left out: 2" in report
    assert "kept with a flaw: 1" in report
    lost = 1 - len(decode_video(flawed).times) / 30
    strict = cache_clips(given, tmp_path / "cache", replace(SMALL, most_lost=lost / 2))
    assert [clip.name for clip in strict.clips] == ["long.mp4"]
    with pytest.raises(ValueError, match=r"no clip of 1 can be decoded; the first: .*a JPEG picture"):
        cache_clips(given[:1], tmp_path / "none")
    assert list((tmp_path / "none").iterdir()) == []


def test_a_plan_says_which_frames_are_used(files: list[ClipFile], tmp_path: Path) -> None:
    middle = [lambda times: np.flatnonzero((times > 0.2) & (times < 0.9))] * 7
    found = cache_clips(files, tmp_path, SMALL, usable=middle, plan="middle")
    assert numbers_of(found.frames(0)) == list(range(7, 27))
    assert all(0.2 < time < 0.9 for clip in found.clips for time in clip.times)
    with pytest.raises(ValueError, match="usable must have one entry a file, 7, got 1"):
        cache_clips(files, tmp_path, SMALL, usable=middle[:1])


@pytest.mark.parametrize("damage", ["byte", "shorter", "gone", "times", "kind", "elsewhere"])
def test_a_damaged_cache_is_refused_by_name(copied: Path, damage: str) -> None:
    path, index = frames_file(copied), json.loads((copied / "index.json").read_text())
    content = bytearray(path.read_bytes())
    if damage == "byte":
        content[-1] ^= 1
    path.write_bytes(content[:-1] if damage == "shorter" else content)
    if damage == "gone":
        path.unlink()
    if damage == "times":
        index["clips"][0][5].pop()
    if damage == "kind":
        index["kind"] = "packed lines"
    if damage == "elsewhere":
        index["frames"]["file"] = f"../{path.name}"
    (copied / "index.json").write_text(json.dumps(index))
    with pytest.raises((ValueError, FileNotFoundError), match="copied") as told:
        CachedClips(copied)
    assert "\n" not in str(told.value)


def test_bad_settings_are_named() -> None:
    with pytest.raises(ValueError, match="--size must be an integer of at least 8, got 4"):
        CacheConfig(size=4)
    with pytest.raises(ValueError, match=r"--most-lost must be above 0 and at most 1, got 0\.0"):
        CacheConfig(most_lost=0.0)
