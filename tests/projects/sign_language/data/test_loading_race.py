"""All ways of the race load the same pixels; how fast they are is for the benchmark to say."""

from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.sign_language.bench import loading_contest, loading_ways
from coursepkg.projects.sign_language.data.clip import ClipFile
from tests.projects.sign_language.data.films import numbers_of, write_film


@pytest.fixture
def files(tmp_path: Path) -> list[ClipFile]:
    lengths = (16, 30, 45)
    return [ClipFile(write_film(tmp_path / f"{length}.mp4", length), "ăn") for length in lengths]


def test_every_way_gives_the_same_frames(files: list[ClipFile], tmp_path: Path) -> None:
    ways = loading_ways(files, tmp_path / "cache", size=24)
    cached, live, bare = ways.cached(), ways.live(), ways.bare()
    assert len(cached) == len(live) == len(bare) == ways.n_clips == 3
    for one, other, third in zip(cached, live, bare, strict=True):
        assert np.array_equal(one, other)
        assert np.array_equal(one, third)
    longest = max(cached, key=lambda frames: max(numbers_of(frames)))
    assert numbers_of(longest) == [place * 44 // 15 for place in range(16)]


def test_the_gate_stops_a_race_between_different_pictures(files: list[ClipFile], tmp_path: Path) -> None:
    contest = loading_contest(files[:2], tmp_path / "cache", n_frames=8, size=24)
    assert [gate.failure() for gate in contest.gates] == [None, None]
    write_film(files[0].path, 40)
    assert "error" in str(contest.gates[0].failure())
    assert contest.gates[1].failure() is None


def test_clips_with_too_few_frames_stop_the_race(files: list[ClipFile], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"16\.mp4: 16 frames at 20 moments; leave the clip out"):
        loading_ways(files, tmp_path / "cache", n_frames=20)
