"""Measures how much a few labelled lines of one style bring, and what a recogniser forgets when it learns them.

    .venv/bin/python scripts/measure_own_receipts.py --out book/_data/ocr/own_receipts.json --seeds 0 1 2

Lines of the style are written into a folder with a labels.csv, as a user has them, and learnt by the settings of
`coursepkg ocr train --start`. The folder is parted as the command does it: of ten lines about eight are learnt, one
chooses the best weights, one is left for a test. Scored are other lines of the style, and the test part of `synthetic`,
which shows what is forgotten. Each line is read once (no second look). Without lines the row is the model itself.

Styles: `dot-matrix` is drawn here, with few pins and letters out of their row, which the model that ships has seldom
seen. `documents` are the lines of official documents in `vi-lines`, rendered from PDF; $COURSEPKG_DATA names their
folder. Only numbers are stored. What `--out` holds already is not measured again.
"""

import argparse
import csv
import dataclasses
import random
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import torch
from PIL import Image

from coursepkg.app.model_folder import SHIPPED, start_folder
from coursepkg.bench.machine import circumstances
from coursepkg.data.registry import data_folder
from coursepkg.files import read_json, write_json
from coursepkg.projects.ocr.corpora import load_corpus
from coursepkg.projects.ocr.data.labelled import LABELS_CSV, read_labels
from coursepkg.projects.ocr.evaluation import evaluate
from coursepkg.projects.ocr.fine_tuning import recipe_to_start
from coursepkg.projects.ocr.line import TextLine, sort_lines
from coursepkg.projects.ocr.predict import DEFAULT, Recognizer
from coursepkg.projects.ocr.synthetic.fonts import Face, LineStyle, matplotlib_faces
from coursepkg.projects.ocr.synthetic.render import LineConfig, SyntheticLines
from coursepkg.projects.ocr.synthetic.texts import TextConfig
from coursepkg.projects.ocr.training import train

SCHEMA = "coursepkg.ocr.own_receipts/1"
DOT_MATRIX, DOCUMENTS = "dot-matrix", "documents"
A_RECEIPT = 10
"""Lines that stand on one receipt and are never cut apart."""


class DotMatrixLines(SyntheticLines):
    """Short lines as a printer with few pins prints them, seen on a screen."""

    def __init__(self, seed: int) -> None:
        """Draws them in one face."""
        faces = [
            face
            for face in matplotlib_faces()
            if (face.family, face.style) == ("DejaVu Sans", "Book")
        ]
        texts = TextConfig(sentences=0.0, documents=0.0, prose=0.0, max_length=40)
        config = LineConfig(texts=texts, clean=0.0, screen=1.0, photo=0.0)
        super().__init__(seed, faces=faces, config=config)

    def style(self, face: Face, text: str, dice: random.Random) -> LineStyle:
        """Always the same."""
        return LineStyle(face=face, size=34, pitch=4, stretch=0.7, jitter=1.5)


def options() -> argparse.Namespace:
    """What is asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    place = Path("book/_data/ocr/own_receipts.json")
    parser.add_argument("--out", type=Path, default=place, help="file")
    parser.add_argument("--start", type=Path, default=SHIPPED, help="folder of a model")
    styles = (DOT_MATRIX, DOCUMENTS)
    parser.add_argument("--styles", nargs="+", default=styles, choices=styles)
    sizes = (0, 50, 200)
    parser.add_argument("--sizes", type=int, nargs="+", default=sizes, help="lines")
    parser.add_argument("--seeds", type=int, nargs="+", default=(0,), help="of draws")
    parser.add_argument("--seconds", type=float, default=900.0, help="CPU, a training")
    parser.add_argument("--scored", type=int, default=100, help="lines of a test")
    return parser.parse_args()


def style_lines(
    style: str, sizes: Sequence[int], n_scored: int
) -> tuple[list[TextLine], list[TextLine]] | None:
    """Lines to learn from and other lines to score; None where they are not here."""
    if style == DOCUMENTS:
        folder = data_folder() / "vi_lines"
        if not folder.is_dir():
            print(f"note: {folder} is missing, so {style} are not measured")
            return None
        found = sort_lines(read_labels(folder).lines()).lines
        found = [line for line in found if line.group == style]
        # Lines of a document follow one another, so the last ones are of other ones.
        return found[:-n_scored], found[-n_scored:]
    drawn, scored = DotMatrixLines(0), DotMatrixLines(1)
    test = [scored[number] for number in range(n_scored)]
    texts = {line.text for line in test}
    pool = (drawn[number] for number in range(3 * max(sizes)))
    others = [line for line in pool if line.text not in texts]
    return others[: max(sizes)], test


def write_own(folder: Path, lines: Sequence[TextLine]) -> None:
    """Lines as a user's folder: pictures and a labels.csv."""
    folder.mkdir()
    with (folder / LABELS_CSV).open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["file", "text", "receipt"])
        for number, line in enumerate(lines):
            name = f"{number:04}.png"
            Image.fromarray(line.image).save(folder / name)
            table.writerow([name, line.text, f"r{number // A_RECEIPT}"])


def learnt(
    lines: Sequence[TextLine], seed: int, chosen: argparse.Namespace, folder: Path
) -> tuple[Recognizer, dict[str, Any]]:
    """A model that has learnt some lines, and what is told of its training."""
    write_own(folder / "own", lines)
    corpus = load_corpus(str(folder / "own"))
    recipe = recipe_to_start(["--start", str(chosen.start)])
    assert recipe is not None
    recipe = dataclasses.replace(recipe, max_seconds=chosen.seconds, clock="cpu")
    parts = {part: corpus.part(part).lines for part in ("train", "dev")}
    found = train(
        recipe,
        parts["train"],
        parts["dev"],
        folder / "run",
        data=corpus.described(),
        start=start_folder(chosen.start, DEFAULT),
        seed=seed,
        log=lambda line: None,
        progress=False,
    )
    told = {f"n_{part}": len(some) for part, some in parts.items()}
    told |= {"steps": found.card["steps"], "stopped": found.history.stopped}
    return Recognizer(found.model, found.vocabulary, recipe), told


def scores(recognizer: Recognizer, lines: Sequence[TextLine]) -> dict[str, Any]:
    """Error rate and right lines on some lines, with intervals."""
    found = recognizer.read_lines([line.image for line in lines], second_look=0)
    texts = [line.text for line in lines]
    result = evaluate([one.text for one in found], texts, protocol="own receipts")
    told = result.as_json()
    return {name: told[name] for name in ("n", "cer", "accuracy")}


def main() -> None:
    """Measure what is missing, row by row."""
    chosen = options()
    torch.set_num_threads(1)
    start = start_folder(chosen.start, DEFAULT)
    assert start is not None
    begun = Recognizer.load(start)
    settings = {name: getattr(chosen, name) for name in ("seconds", "scored")}
    settings |= {"start": chosen.start.name, "fingerprint": begun.fingerprint}
    rows: list[dict[str, Any]] = []
    if chosen.out.is_file():
        before = read_json(chosen.out)
        if before["settings"] != settings:
            raise SystemExit(f"error: {chosen.out} holds other settings; remove it")
        rows = before["rows"]
    done = {(row["style"], row["n"], row["seed"]) for row in rows}
    drawn = sort_lines(load_corpus("synthetic").lines("test", chosen.scored)).lines
    for style in chosen.styles:
        both = style_lines(style, chosen.sizes, chosen.scored)
        if both is None:
            continue
        pool, test = both
        for n, seed in product(chosen.sizes, chosen.seeds):
            # Without lines there is one model and nothing to draw.
            is_done = (style, n, seed) in done or n > len(pool)
            if is_done or (not n and seed != chosen.seeds[0]):
                continue
            recognizer, told = begun, {"n_train": 0}
            if n:
                some = random.Random(seed).sample(pool, n)
                with tempfile.TemporaryDirectory() as folder:
                    recognizer, told = learnt(some, seed, chosen, Path(folder))
            row = {"style": style, "n": n, "seed": seed, **told}
            row |= {"own": scores(recognizer, test), "drawn": scores(recognizer, drawn)}
            rows.append(row)
            print(row, flush=True)
            document = {"schema": SCHEMA, "settings": settings}
            write_json(chosen.out, document | {"rows": rows} | circumstances())


if __name__ == "__main__":
    main()
