"""Drawn films that the networks of the landmarks see a person in, and their words."""

from pathlib import Path

import numpy as np
import pytest

from coursepkg.cli import main
from coursepkg.projects.sign_language.synthetic.clips import draw_clip, write_video
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig

CONFIG = SignersConfig(size=224, least_frames=24)
FILMS = {"Tôi": (1, 3), "Xin chào": (1, 3), "Uống": (1,)}


@pytest.fixture(scope="session")
def films(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Drawn films, a folder a word, and beside them one more of `Tôi`, noise, and an empty room."""
    folder = tmp_path_factory.mktemp("films")
    for word, signers in FILMS.items():
        for signer in signers:
            path = folder / "clips" / word / f"{signer}.mp4"
            path.parent.mkdir(parents=True, exist_ok=True)
            write_video(path, draw_clip(word, signer, 0, 40 + signer, CONFIG).frames, CONFIG.fps)
    write_video(folder / "new.mp4", draw_clip("Tôi", 1, 0, 77, CONFIG).frames, CONFIG.fps)
    room = np.full((20, 128, 128, 3), (120, 90, 60), np.uint8)
    write_video(folder / "room.mp4", room, CONFIG.fps)
    return folder


@pytest.fixture(scope="session")
def words(films: Path) -> Path:
    """The words of these films, enrolled."""
    folder = films / "words"
    assert main(["sign-language", "enroll", str(films / "clips"), "--out", str(folder)]) == 0
    return folder
