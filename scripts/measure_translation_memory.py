"""Measures the memory of translating files of different length with the model that ships.

    .venv/bin/python scripts/measure_translation_memory.py --out book/_data/translation/memory.json

Each file holds distinct Chinese sentences of the phrasebook and is translated by the command line in a process of its
own; stored is the largest resident size of that process. Where memory does not grow with the file, the last sizes are
alike.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from coursepkg.bench.machine import circumstances
from coursepkg.files import write_json
from coursepkg.projects.translation.synthetic import Phrasebook
from coursepkg.training.run_card import MAXRSS_UNIT

COMMAND = "coursepkg translation predict --file FILE --out OUT"
SIZES = (100, 1000, 10_000)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("book/_data/translation/memory.json"),
        help="file",
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", default=SIZES, help="lines of the files"
    )
    chosen = parser.parse_args()
    lines = [triple.text("zh") for triple in Phrasebook().triples]
    if max(chosen.sizes) > len(lines):
        raise SystemExit(
            f"error: --sizes must be at most {len(lines)}, the sentences of the phrasebook"
        )
    rows = []
    for size in sorted(chosen.sizes):
        rows.append(measured(lines[:size]))
        print(rows[-1], flush=True)
    write_json(
        chosen.out,
        {"schema": "coursepkg.translation.memory/1", "command": COMMAND, "rows": rows}
        | circumstances(),
    )


def measured(lines: list[str]) -> dict[str, Any]:
    """Seconds and peak memory of one call of the command."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "lines.zh", Path(folder) / "lines.vi"
        source.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        words = COMMAND.replace("FILE", str(source)).replace("OUT", str(out)).split()
        begun = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", *words], stdout=subprocess.DEVNULL
        )
        _, status, usage = os.wait4(process.pid, 0)
        if status or len(out.read_text(encoding="utf-8").splitlines()) != len(lines):
            raise SystemExit(
                f"error: {' '.join(words)} did not translate {len(lines)} lines"
            )
        return {
            "lines": len(lines),
            "seconds": round(time.perf_counter() - begun, 1),
            "peak_memory": usage.ru_maxrss * MAXRSS_UNIT,
        }


if __name__ == "__main__":
    main()
