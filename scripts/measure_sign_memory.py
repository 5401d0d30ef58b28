"""Measures the memory of preparing many clips and of training from what was prepared.

    .venv/bin/python scripts/measure_sign_memory.py --out book/_data/sign_language/memory.json

The clips are generated films under as many names as are wanted: each name is opened, decoded, surveyed and cached for
itself, and no rule removes any. Both commands run in a process of their own; stored is the largest resident size of
each.
"""

import argparse
import csv
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coursepkg.bench.machine import circumstances
from coursepkg.files import write_json
from coursepkg.projects.sign_language.corpora import SETS, find_videos
from coursepkg.projects.sign_language.corpus import open_corpus
from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.training.run_card import MAXRSS_UNIT

COMMANDS = {
    "prepare": "coursepkg sign-language prepare --preset small --data CLIPS --copies keep --contradictions keep "
    "--most-broken 1 --least-frames 1 --out PREPARED",
    "train": "coursepkg sign-language train --preset small --data PREPARED --max-epochs EPOCHS --out RUN",
}
PROMISED = 4e9
"""Bytes that 4,000 clips may take, indexed and trained from the cache."""


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("book/_data/sign_language/memory.json"),
        help="file",
    )
    parser.add_argument("--clips", type=int, default=4000, help="names of clips")
    parser.add_argument("--epochs", type=int, default=1, help="of training")
    parser.add_argument(
        "--films",
        choices=SETS,
        default="signers",
        help="generated set that they are names of",
    )
    return parser.parse_args()


def main() -> None:
    chosen = options()
    films = find_videos(chosen.films, "group").files
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        named(films, chosen.clips, folder / "CLIPS")
        rows = [measured(command, folder, chosen.epochs) for command in COMMANDS]
        corpus = open_corpus(folder / "PREPARED", verify=False)
        cached = sum(
            path.stat().st_size for path in (folder / "PREPARED").rglob("*.bin")
        )
    parts = {part: len(clips) for part, clips in corpus.parts.items()}
    if sum(parts.values()) != chosen.clips:
        raise SystemExit(
            f"error: {sum(parts.values())} of {chosen.clips} clips were kept, so this measures fewer"
        )
    facts = {
        "clips": chosen.clips,
        "parts": parts,
        "distinct_films": min(len(films), chosen.clips),
        "cache_bytes": cached,
    }
    facts |= {
        "promised_bytes": PROMISED,
        "epochs": chosen.epochs,
        "commands": COMMANDS,
        "rows": rows,
    }
    write_json(
        chosen.out,
        {"schema": "coursepkg.sign_language.memory/1"} | facts | circumstances(),
    )


def named(films: Sequence[ClipFile], count: int, folder: Path) -> None:
    """So many names of films in turn, with a table that gives each the word and the signer of its film."""
    folder.mkdir()
    with (folder / "manifest.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(("path", "label", "signer", "group"))
        for i in range(count):
            film = films[i % len(films)]
            table.writerow((f"{i:05}.mp4", film.label, film.signer, film.group))
            try:
                os.link(film.path, folder / f"{i:05}.mp4")
            except OSError:  # the folder is on another file system
                shutil.copyfile(film.path, folder / f"{i:05}.mp4")


def measured(command: str, folder: Path, epochs: int) -> dict[str, Any]:
    """Seconds and peak memory of one call."""
    places = {name: str(folder / name) for name in ("CLIPS", "PREPARED", "RUN")} | {
        "EPOCHS": str(epochs)
    }
    words = [places.get(word, word) for word in COMMANDS[command].split()]
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", *words], stdout=subprocess.DEVNULL
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"error: {' '.join(words)} failed")
    row = {
        "command": command,
        "seconds": round(time.perf_counter() - begun, 1),
        "cpu_seconds": round(usage.ru_utime + usage.ru_stime, 1),
        "peak_memory": usage.ru_maxrss * MAXRSS_UNIT,
    }
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
