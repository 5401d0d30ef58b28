"""Small folders of real videos in the contest's layout, and the command called on them."""

import csv
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from coursepkg.projects.sign_language.synthetic.clips import write_video
from tests.projects.sign_language.quality.scenes import FPS, scene
from tests.said import Said, said

WORDS = ("ăn", "uống", "xin lỗi")
SIGNERS = ("An", "Bình", "Chi", "Dũng")
QUICK = [
    *("--size", "16", "--n-frames", "6", "--channels", "4", "6", "--n-blocks", "0", "1", "--d-model", "8"),
    *("--n-heads", "2", "--d-ff", "12", "--n-layers", "1", "--n-convolutions", "0", "--max-epochs", "1"),
    *(
        "--batch-clips",
        "4",
        "--warmup",
        "2",
        "--warp",
        "0",
        "--crop",
        "1",
        "--colour",
        "0",
        "--rotation",
        "0",
    ),
]
"""Sizes that train in a second and learn nothing; nothing is changed, so kornia is not needed."""


def sign_language(*arguments: object) -> Said:
    """`coursepkg sign-language ...` in this process."""
    return said("sign-language", *arguments)


def write_folder(folder: Path, signers: Sequence[str] = SIGNERS) -> Path:
    """A clip of each word by each signer, every one with a motion of its own; a mapping, and a table of signers."""
    rows = []
    for number, word in enumerate(WORDS):
        for wall, signer in enumerate(signers):
            name = f"train/{word}/{signer}.mp4"
            write_film(folder / name, scene(10 * number + wall, wall=wall))
            rows.append((name, word, signer))
    mapping = {word: number for number, word in enumerate(WORDS)}
    (folder / "label_mapping.json").write_text(json.dumps(mapping), "utf-8")
    with (folder / "manifest.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([("path", "label", "signer"), *rows])
    return folder


def add_clip(folder: Path, word: str, signer: str, frames: np.ndarray, name: str) -> Path:
    """One more clip, with its row in the table."""
    inside = f"train/{word}/{name}.mp4"
    write_film(folder / inside, frames)
    with (folder / "manifest.csv").open("a", encoding="utf-8", newline="") as file:
        csv.writer(file).writerow((inside, word, signer))
    return folder / inside


def write_film(path: Path, frames: np.ndarray) -> None:
    """Frames as a video file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_video(path, frames, FPS)
