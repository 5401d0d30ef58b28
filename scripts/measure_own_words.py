"""Measures enrolling 10 words of 3 clips, and naming a clip of 2 seconds after that.

    .venv/bin/python scripts/measure_own_words.py --out book/_data/sign_language/own_words.json

The films are drawn, 640 x 480 at 30 frames a second. Each command runs in a process of its own and knows no film from
before; stored are its seconds, start of the program included, and the largest resident size. The third row is naming
alone: the same clip in a program that has read the words already.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.bench.machine import circumstances
from coursepkg.files import write_json
from coursepkg.projects.sign_language.few_shot.recognizer import WordRecognizer
from coursepkg.projects.sign_language.landmarks.bench import FPS, HEIGHT, WIDTH
from coursepkg.projects.sign_language.landmarks.extract import (
    LandmarkTracker,
    extract_landmarks,
)
from coursepkg.projects.sign_language.synthetic.clips import draw_clip, write_video
from coursepkg.projects.sign_language.synthetic.signer import WORDS, SignersConfig
from coursepkg.training.run_card import MAXRSS_UNIT

N_WORDS, N_CLIPS, SECONDS = 10, 3, 2
PROMISED = {"enroll": 60.0, "predict": 2.0, "bytes": 500e6}
"""Seconds of both, and bytes of memory."""


def write_films(folder: Path) -> None:
    """Draw the clips of each word, and one more of the first."""
    n_frames = SECONDS * FPS
    config = SignersConfig(size=HEIGHT, least_frames=n_frames, most_frames=n_frames)
    side = (WIDTH - HEIGHT) // 2
    films = [
        (f"clips/{word}/{signer}.mp4", word, signer)
        for word in list(WORDS)[:N_WORDS]
        for signer in range(N_CLIPS)
    ]
    films.append(("new.mp4", next(iter(WORDS)), N_CLIPS))
    for name, word, signer in films:
        frames = draw_clip(word, signer, 0, 10, config).frames
        wide = np.pad(frames, ((0, 0), (0, 0), (side, side), (0, 0)), mode="edge")
        path = folder / name
        write_video(path, wide, FPS)


LAUNCHER = """
import os, subprocess, sys
process = subprocess.Popen(sys.argv[1:], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
print(usage.ru_maxrss)
sys.exit(bool(status))
"""
"""Runs a command and prints its largest resident size. A process that is started from here directly would have the
size of this one in its own."""


def measured(command: str, folder: Path) -> dict[str, Any]:
    """Seconds and largest memory of a command in a process of its own."""
    words = [
        sys.executable,
        "-S",
        "-c",
        LAUNCHER,
        sys.executable,
        "-m",
        *command.split(),
    ]
    own = os.environ | {"XDG_CACHE_HOME": str(folder / "cache")}
    start = time.perf_counter()
    done = subprocess.run(
        words, cwd=folder, env=own, stdout=subprocess.PIPE, text=True, check=False
    )
    seconds = time.perf_counter() - start
    if done.returncode:
        raise SystemExit(f"error: {command} failed")
    return {
        "command": command,
        "seconds": round(seconds, 2),
        "peak_memory": int(done.stdout) * MAXRSS_UNIT,
    }


def named_again(folder: Path) -> dict[str, Any]:
    """Seconds of naming alone, the median of five times."""
    recognizer, times = WordRecognizer.load(folder / "words"), []
    with LandmarkTracker() as tracker:
        for _ in range(5):
            start = time.perf_counter()
            path = folder / "new.mp4"
            landmarks = extract_landmarks(path, tracker=tracker, keep=False)
            recognizer.name_sign(landmarks)
            times.append(time.perf_counter() - start)
    told = "WordRecognizer in a running program"
    return {"command": told, "seconds": round(float(np.median(times)), 2)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    place = Path("book/_data/sign_language/own_words.json")
    parser.add_argument("--out", type=Path, default=place, help="file")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_films(folder)
        rows = [
            measured("coursepkg sign-language enroll clips --out words", folder),
            measured("coursepkg sign-language predict new.mp4 --words words", folder),
            named_again(folder),
        ]
    facts: dict[str, Any] = {
        "words": N_WORDS,
        "clips": N_CLIPS,
        "clip_seconds": SECONDS,
    }
    facts |= {"promised": PROMISED, "rows": rows}
    schema = {"schema": "coursepkg.sign_language.own_words/1"}
    write_json(chosen.out, schema | facts | circumstances())
    for row in rows:
        print(row)


if __name__ == "__main__":
    main()
