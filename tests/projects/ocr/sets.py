"""Small labelled folders, and a model that is trained on one of them by the command line."""

from pathlib import Path

import numpy as np
from PIL import Image

from tests.projects.ocr.drawn import drawn_lines
from tests.said import Said, said

QUICK = [
    *(
        "--channels",
        "4",
        "6",
        "8",
        "8",
        "--n-blocks",
        "0",
        "1",
        "0",
        "1",
        "--d-model",
        "16",
        "--n-heads",
        "2",
    ),
    *("--d-ff", "24", "--max-epochs", "1", "--batch-columns", "1024", "--warmup", "2"),
]
"""Sizes that train in a second and learn nothing."""


def ocr(*arguments: object) -> Said:
    """`coursepkg ocr ...` in this process."""
    return said("ocr", *arguments)


def write_labelled(folder: Path, count: int = 40, groups: int = 20) -> Path:
    """Drawn lines as PNG files with a labels.tsv, a few lines in each of several documents."""
    rows = []
    for i, line in enumerate(drawn_lines(count)):
        name = f"document{i % groups:02}/{i:03}.png"
        write_picture(folder / name, line.image)
        rows.append(f"{name}\t{line.text}\n")
    (folder / "labels.tsv").write_text("".join(rows), "utf-8")
    return folder


def write_picture(path: Path, image: np.ndarray) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(image).save(path)
    return path
