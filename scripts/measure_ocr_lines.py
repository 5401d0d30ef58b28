"""Measures readers of lines on the same lines: texts and font families that the shipped recogniser has not seen.

    scripts/install_fonts.sh fonts
    COURSEPKG_FONTS=fonts .venv/bin/python scripts/measure_ocr_lines.py --out book/_data/ocr

It needs the extra `ocr`. lines.json is written: error rates with intervals, kinds of errors, and the paired comparison
of this project's recogniser with PP-OCRv6 small. The lines are the test part of `synthetic`; another one by a seed that
nothing was chosen by, and amounts in other currencies, both less the lines whose text the recogniser learnt; and those
of `vi-lines` where the folder $COURSEPKG_DATA has them: official documents rendered from PDF, and a directive as a
screen shows it. Only numbers are stored, never what a line says.
"""

import argparse
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import torch
from ocr_measurement import add_threads, conditions, held_out_faces, parser_of
from ocr_shards import ShardPlan, plan_sha256, shard_texts

from coursepkg.bench.machine import Device
from coursepkg.data.registry import data_folder
from coursepkg.files import read_json, write_json
from coursepkg.metrics.edit import CER
from coursepkg.metrics.scoring import compare as paired
from coursepkg.metrics.scoring import comparison_as_json
from coursepkg.projects.ocr.baselines import LineReader, RapidReader, compare
from coursepkg.projects.ocr.corpora import labelled_corpus
from coursepkg.projects.ocr.corpus import (
    CURRENCIES,
    FRESH,
    FULL,
    Corpus,
    line_faces,
    synthetic_lines,
)
from coursepkg.projects.ocr.data.labelled import LABELS
from coursepkg.projects.ocr.evaluation import several_groups
from coursepkg.projects.ocr.predict import DEFAULT, Recognizer
from coursepkg.projects.ocr.synthetic.fonts import Face, split_faces
from coursepkg.projects.ocr.synthetic.render import LineConfig
from coursepkg.projects.ocr.synthetic.texts import TextConfig

OURS, THEIRS = "shipped", "PP-OCRv6 small"


def options() -> argparse.Namespace:
    parser = parser_of(__doc__ or "")
    parser.add_argument(
        "--model", type=Path, default=DEFAULT, help="folder of the recogniser"
    )
    add_threads(parser)
    return parser.parse_args()


def main() -> None:
    chosen = options()
    chosen.out.mkdir(parents=True, exist_ok=True)
    families = sorted({face.family for face in held_out_faces()})
    machine = Device("cpu", chosen.threads)
    torch.set_num_threads(machine.threads)
    recognizer = Recognizer.load(chosen.model)
    readers: dict[str, LineReader] = {
        OURS: recognizer,
        THEIRS: RapidReader(threads=machine.threads),
    }
    usual, fresh = synthetic_lines(FULL), synthetic_lines(FRESH)
    learnt, is_certain = learnt_texts(
        chosen.model,
        {one.text for part in ("dev", "test") for one in usual.labels[part]},
    )
    sets = [measured(readers, usual)] + [
        measured(readers, one, leave_out=learnt)
        for one in (fresh, synthetic_lines(CURRENCIES))
    ]
    sets = [one | {"fonts": families} for one in sets]
    for one in sets[1:]:
        one["learnt_texts_are_certain"] = is_certain
    real = data_folder() / "vi_lines"
    if (real / LABELS).is_file():
        sets.append(measured(readers, labelled_corpus(real, "vi-lines", "test")))
    else:
        print(f"note: {real / LABELS} is missing, so vi-lines are not measured")
    document = {
        "schema": "coursepkg.ocr.lines/1",
        "recognizer": recognizer.fingerprint,
        "rival": readers[THEIRS].fingerprint,
        **conditions(machine, "onnxruntime", "rapidocr", "torch"),
        "sets": sets,
    }
    write_json(chosen.out / "lines.json", document)


def learnt_texts(model: Path, avoided: set[str]) -> tuple[set[str], bool]:
    """The texts that a model of `train_ocr_checkpoint.py` learnt, and whether they are certainly these.

    They are not certain where fonts of the training are missing: the lines of whole receipts then say other things.

    Args:
        model: its folder.
        avoided: texts that were kept out of its training, those of the usual dev and test parts.
    """
    card: dict[str, Any] | None = read_json(model / "model" / "model.json")["meta"]
    installed = split_faces(line_faces(FULL))[0]
    texts: set[str] = set()
    is_same = True
    while card is not None:
        if not {"lines", "data", "fonts"} <= card.keys():
            raise SystemExit(
                f"error: {model} does not say what it learnt; take a model of train_ocr_checkpoint.py"
            )
        told = card["lines"]["plan"]
        faces = faces_of(card, installed)
        is_same &= plan_sha256(told, faces, avoided) == card["data"]["generator"]
        plan = stored_plan(told)
        for shard in range(plan.n_shards):
            texts |= shard_texts(plan, shard, faces, avoided)
        card = card.get("before")
    return texts, is_same


def faces_of(card: dict[str, Any], installed: Sequence[Face]) -> list[Face]:
    """Those of the installed faces that a card names; later trainings have more families."""
    named = {
        (entry["family"], style) for entry in card["fonts"] for style in entry["styles"]
    }
    return [face for face in installed if (face.family, face.style) in named]


def stored_plan(told: dict[str, Any]) -> ShardPlan:
    """The plan of lines that a card tells."""
    texts = TextConfig(**told["config"]["texts"])
    config = LineConfig(**told["config"] | {"texts": texts})
    return ShardPlan(**told | {"config": config})


def measured(
    readers: dict[str, LineReader],
    corpus: Corpus,
    leave_out: Collection[str] = frozenset(),
) -> dict[str, Any]:
    """Scores of both readers on the test part, and the difference of their CERs on the same draws of lines."""
    start = time.perf_counter()
    part = corpus.part("test")
    lines = [line for line in part.lines if line.text not in leave_out]
    found = compare(readers, lines)
    ours, theirs = found[OURS], found[THEIRS]
    groups = several_groups([line.group for line in lines])
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
    print(
        f"{difference}\nCER {ours.cer.value / max(theirs.cer.value, 1e-9):.3f} times that of {THEIRS}"
    )
    print(
        f"{corpus.name}: {part.summary()} in {time.perf_counter() - start:.0f} s",
        flush=True,
    )
    return {
        "name": corpus.name,
        "protocol": corpus.protocol,
        "source": dict(corpus.source),
        "notes": list(corpus.notes),
        "n_without_picture": len(part.unreadable),
        "n_learnt": len(part.lines) - len(lines),
        "readers": {name: result.as_json() for name, result in found.items()},
        "comparison": comparison_as_json(difference)
        | {"of": "cer", "from": THEIRS, "to": OURS},
    }


if __name__ == "__main__":
    main()
