"""What the measurements of reading share: their options, the fonts they are drawn in, and the conditions they name."""

import argparse
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

from coursepkg.bench.machine import Device, commit
from coursepkg.projects.ocr.corpus import FULL, line_faces
from coursepkg.projects.ocr.synthetic.fonts import MEASURED, Face, split_faces


def measured_faces() -> tuple[Face, ...]:
    """The held-out faces that a stored measurement is drawn in.

    Raises:
        ValueError: families are missing; without all of them it would be another
            measurement.
    """
    faces = split_faces(line_faces(FULL))[1]
    if missing := MEASURED - {face.family for face in faces}:
        raise ValueError(
            f"held-out families without a font file: {', '.join(sorted(missing))}; "
            "run scripts/install_fonts.sh FOLDER and set COURSEPKG_FONTS=FOLDER"
        )
    return faces


def parser_of(description: str) -> argparse.ArgumentParser:
    """A parser with the folder of the result."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("book/_data/ocr"),
        help="folder of what is written",
    )
    return parser


def add_threads(parser: argparse.ArgumentParser) -> None:
    """With the cores of each reader, where readers are compared."""
    parser.add_argument(
        "--threads", type=int, default=os.cpu_count() or 1, help="cores for each reader"
    )


def held_out_faces() -> tuple[Face, ...]:
    """The faces to draw in; a missing family ends the program."""
    try:
        return measured_faces()
    except ValueError as reason:
        raise SystemExit(f"error: {reason}") from reason


def conditions(machine: Device, *packages: str) -> dict[str, Any]:
    """The machine, whose peak is not measured, the versions of some packages, and the commit."""
    return {
        "commit": commit(),
        "versions": {name: version(name) for name in packages},
        "machine": machine.describe() | {"peak_flops": None, "peak_is": "not measured"},
    }
