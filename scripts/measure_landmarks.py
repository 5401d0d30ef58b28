"""Frames a second of landmark extraction, in turn with the original's on the same frames.

    .venv-dev/bin/python scripts/measure_landmarks.py --original ORIGINAL/bin/python --out landmarks-cpu.json

ORIGINAL is the environment with mediapipe 0.10.21 that `scripts/record_mediapipe.py` describes. A film is drawn; with
`--film` a film of your own is timed as well, of which no picture is stored. Both programs keep what they loaded; while
one works the other waits for a line. The book's file is `book/_data/bench/landmarks-cpu.json`.
"""

import argparse
import json
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.bench.machine import choose_device
from coursepkg.bench.measure import CaseResult, document, table, write
from coursepkg.projects.sign_language.data.video import VideoFrames
from coursepkg.projects.sign_language.landmarks.bench import drawn_film, frame_rate

SERVER = Path(__file__).with_name("record_mediapipe.py")


@contextmanager
def served(
    python: Path, frames: np.ndarray
) -> Iterator[tuple[Callable[[], Any], list[Any]]]:
    """What processes the film once by the original, and the list of its answers."""
    with tempfile.TemporaryDirectory() as folder:
        film = Path(folder) / "film.npz"
        np.savez(film, frames)
        process = subprocess.Popen(
            [str(python), str(SERVER), "serve", str(film)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        stdin, stdout = process.stdin, process.stdout
        assert stdin is not None
        assert stdout is not None
        answers = [json.loads(stdout.readline())]

        def run() -> None:
            stdin.write("once\n")
            stdin.flush()
            answers.append(json.loads(stdout.readline()))

        try:
            yield run, answers
        finally:
            stdin.close()
            process.wait()
            stdout.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--original", type=Path, required=True, help="its python")
    parser.add_argument("--film", type=Path, help="another film, from its start")
    parser.add_argument("--frames", type=int, default=60, help="of that film")
    parser.add_argument("--out", type=Path, help="file")
    chosen = parser.parse_args()
    films = {"drawn signer": drawn_film()}
    if chosen.film is not None:
        pictures = [frame.pixels for frame in VideoFrames(chosen.film)]
        films["real signer"] = np.stack(pictures[: chosen.frames])
    device = choose_device("cpu", 1)
    rows: list[CaseResult] = []
    told: dict[str, Any] = {}
    for name, frames in films.items():
        with served(chosen.original, frames) as (run, answers):
            rows += frame_rate(name, frames, run).run(device)
        told |= answers[0]
        for part in ("hands", "pose"):
            times = [answer[part] for answer in answers[1:]]
            print(f"{name}: MediaPipe's {part} {np.median(times):.1f} ms a frame")
    result = document("landmarks", device, rows)
    result["versions"] |= told
    # `taskset -c 0` leaves one core to both programs.
    result["machine"]["allowed_cores"] = len(os.sched_getaffinity(0))
    print(table(result))
    if chosen.out is not None:
        write(result, chosen.out)


if __name__ == "__main__":
    main()
