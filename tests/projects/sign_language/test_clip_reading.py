"""Clips of which there is little to see are read, and what is wrong with them is said."""

from pathlib import Path

import numpy as np

from coursepkg.projects.sign_language.data.video import CacheConfig, read_small
from coursepkg.projects.sign_language.synthetic.clips import write_video
from tests.projects.sign_language.signed import FPS, SIDE, moving, recognizer

WHITE = np.full((9, SIDE, SIDE, 3), 255, np.uint8)
CONFIG = CacheConfig(size=SIDE, frames=32, skip_solid=True)


def written(path: Path, *parts: np.ndarray) -> Path:
    write_video(path, np.concatenate(parts), FPS)
    return path


def test_a_clip_in_one_colour_has_an_answer_that_means_nothing(tmp_path: Path) -> None:
    path = written(tmp_path / "white.mp4", WHITE)
    said = f"{path}: every frame is in one colour; the answer means nothing"
    for skip_solid in (True, False):
        clip, flaw = read_small(path, CacheConfig(size=SIDE, frames=32, skip_solid=skip_solid))
        assert (len(clip.frames), flaw) == (9, said)
    (found,) = recognizer().recognize([path])
    assert (found.flaw, found.error) == (said, "")
    assert read_small(written(tmp_path / "one.mp4", WHITE[:1]), CONFIG)[1].endswith("means nothing")


def test_a_single_frame_shows_no_motion(tmp_path: Path) -> None:
    film = moving("lên", 100)
    path = written(tmp_path / "one.mp4", film[:1])
    assert read_small(path, CONFIG)[1] == f"{path}: one frame only, no motion to read"
    path = written(tmp_path / "left.mp4", film[:1], WHITE)
    told = "9 of 10 frames that were looked at are in one colour and were left out"
    assert read_small(path, CONFIG)[1] == f"{path}: {told}; one frame only, no motion to read"


def test_a_clip_that_moves_has_no_flaw(tmp_path: Path) -> None:
    clip, flaw = read_small(written(tmp_path / "two.mp4", moving("lên", 100)[:2]), CONFIG)
    assert (len(clip.frames), flaw) == (2, "")
