"""Measures readers of lines on the same lines: texts and font families that the shipped recogniser has not seen.

    scripts/install_fonts.sh fonts
    COURSEPKG_FONTS=fonts .venv/bin/python scripts/measure_ocr_lines.py --out book/_data/ocr

It needs the extra `ocr`. lines.json is written: error rates with intervals, kinds of errors, and the paired comparison
of this project's recogniser with PP-OCRv6 small. The lines are the test part of `synthetic`; another one by a seed that
nothing was chosen by; and the real lines of `vi-lines` where the folder $COURSEPKG_DATA has them. Only numbers are
stored, never what a line says.
"""

import argparse
import time
from pathlib import Path
from typing import Any

import torch
from ocr_measurement import add_threads, conditions, held_out_faces, parser_of

from coursepkg.bench.machine import Device
from coursepkg.data.location import data_folder
from coursepkg.metrics.bootstrap import compare as paired
from coursepkg.metrics.bootstrap import comparison_as_json
from coursepkg.metrics.edit import CER
from coursepkg.projects.ocr.corpora_generated import FRESH, FULL, synthetic_lines
from coursepkg.projects.ocr.corpora_labelled import labelled_corpus
from coursepkg.projects.ocr.corpus import Corpus
from coursepkg.projects.ocr.data.vi_lines import LABELS
from coursepkg.projects.ocr.evaluate import several_groups
from coursepkg.projects.ocr.predict import DEFAULT, Recognizer
from coursepkg.projects.ocr.rivals import LineReader, RapidReader, compare
from coursepkg.training.files import write_json

OURS, THEIRS = "shipped", "PP-OCRv6 small"


def options() -> argparse.Namespace:
    parser = parser_of(__doc__ or "")
    parser.add_argument("--model", type=Path, default=DEFAULT, help="folder of the recogniser")
    add_threads(parser)
    return parser.parse_args()


def main() -> None:
    chosen = options()
    chosen.out.mkdir(parents=True, exist_ok=True)
    families = sorted({face.family for face in held_out_faces()})
    machine = Device("cpu", chosen.threads)
    torch.set_num_threads(machine.threads)
    recognizer = Recognizer.load(chosen.model)
    readers: dict[str, LineReader] = {OURS: recognizer, THEIRS: RapidReader(threads=machine.threads)}
    sets = [measured(readers, synthetic_lines(one)) | {"fonts": families} for one in (FULL, FRESH)]
    real = data_folder() / "vi_lines"
    if (real / LABELS).is_file():
        sets.append(measured(readers, labelled_corpus(real, "vi-lines", "test")))
    else:
        print(f"note: {real / LABELS} is missing, so no real lines are measured")
    document = {
        "schema": "coursepkg.ocr.lines/1",
        "recognizer": recognizer.fingerprint,
        "rival": readers[THEIRS].fingerprint,
        **conditions(machine, "onnxruntime", "rapidocr", "torch"),
        "sets": sets,
    }
    write_json(chosen.out / "lines.json", document)


def measured(readers: dict[str, LineReader], corpus: Corpus) -> dict[str, Any]:
    """Scores of both readers on the test part, and the difference of their CERs on the same draws of lines."""
    start = time.perf_counter()
    part = corpus.part("test")
    found = compare(readers, part.lines)
    ours, theirs = found[OURS], found[THEIRS]
    groups = several_groups([line.group for line in part.lines])
    difference = paired(
        CER(),
        theirs.hypotheses,
        ours.hypotheses,
        ours.references,
        protocol=f"{THEIRS} -> {OURS}",
        groups=groups,
    )
    for name, result in found.items():
        print(f"{corpus.name}, {name}\n{result}")
    print(f"{difference}\nCER {ours.cer.value / max(theirs.cer.value, 1e-9):.3f} times that of {THEIRS}")
    print(f"{corpus.name}: {part.summary()} in {time.perf_counter() - start:.0f} s", flush=True)
    return {
        "name": corpus.name,
        "protocol": corpus.protocol,
        "source": dict(corpus.source),
        "notes": list(corpus.notes),
        "n_without_picture": len(part.unreadable),
        "readers": {name: result.as_json() for name, result in found.items()},
        "comparison": comparison_as_json(difference) | {"of": "cer", "from": THEIRS, "to": OURS},
    }


if __name__ == "__main__":
    main()
