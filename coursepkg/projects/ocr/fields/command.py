"""What `coursepkg ocr train-fields` and `coursepkg ocr evaluate-fields` do."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coursepkg.app.output import (
    check_out_file,
    print_json,
    required_out,
    write_json_output,
)
from coursepkg.bench.machine import circumstances
from coursepkg.data.registry import data_folder
from coursepkg.files import FORMAT
from coursepkg.metrics.scoring import comparison_as_json
from coursepkg.projects.ocr.data.mc_ocr import TABLE, read_table
from coursepkg.projects.ocr.fields.rules import Fields, extract_fields
from coursepkg.projects.ocr.fields.table import (
    FieldReceipt,
    LabelledReceipt,
    compare_found,
    generated_fields,
    labelled_receipts,
    score_fields,
    split_receipts,
)
from coursepkg.projects.ocr.options import EvaluateFields, TrainFields
from coursepkg.validation import counted

SCHEMA = "coursepkg.ocr.fields/1"
LABELLED_ONLY = (
    "the table holds the lines with a field alone; on whole receipts other lines stand"
    " in the way"
)
TRAIN_SEED, DEV_SEED = 1, 2
"""Of generated receipts to learn from and to choose by; seed 0 is scored."""
N_DEV = 100
N_RECEIPTS = {"train": 2000, "receipts": 200, "photographs": 60}
"""Receipts to generate where --generate does not say."""


@dataclass(frozen=True)
class ScoredSet:
    """Receipts to score."""

    receipts: Sequence[FieldReceipt]
    protocol: str
    """What they are, for the signature."""
    notes: list[str] = field(default_factory=list)
    """What a reader of the scores must know."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What the document says besides."""


def evaluate_fields_command(options: EvaluateFields) -> int:
    """Score the rules and the model, compare them, and return the exit code."""
    from coursepkg.projects.ocr.fields.line_tagger import LineTagger

    check_out_file(options.out, "fields.json")
    ways: dict[str, Callable[[Any], Fields]] = {"rules": extract_fields}
    facts: dict[str, Any] = {}
    if options.model is not None:
        tagger = LineTagger.load(options.model)
        ways["model"] = tagger.extract_fields
        facts["model"] = {"sha256": tagger.fingerprint, "data": tagger.data}
    chosen = _scored_set(options)
    found = {
        name: [extract(one.lines) for one in chosen.receipts]
        for name, extract in ways.items()
    }
    scores = {}
    for name, fields in found.items():
        told = f"{chosen.protocol}, {name}"
        scores[name] = score_fields(fields, chosen.receipts, protocol=told)
        print(f"{name}:\n{scores[name]}")
    document: dict[str, Any] = {
        "format": FORMAT,
        "schema": SCHEMA,
        "n": len(chosen.receipts),
        "protocol": chosen.protocol,
        **chosen.facts,
        **facts,
        "ways": {name: one.as_json() for name, one in scores.items()},
        "notes": chosen.notes,
    }
    if "model" in found:
        differences = compare_found(
            found["rules"], found["model"], chosen.receipts, protocol=chosen.protocol
        )
        print("rules -> model:", *differences, sep="\n")
        document["rules to model"] = [comparison_as_json(one) for one in differences]
    for note in chosen.notes:
        print(f"note: {note}")
    document |= circumstances()
    write_json_output(document, out=options.out, as_json=options.json)
    return 0


def train_fields_command(options: TrainFields) -> int:
    """Train a line tagger and return the exit code."""
    from coursepkg.projects.ocr.fields.training import train_line_tagger

    out = required_out(options.out)
    folder = _table_folder(options.data, ("mc-ocr", "receipts"))
    if folder is None:
        n = options.generate or N_RECEIPTS["train"]
        train = list(generated_fields(n, TRAIN_SEED))
        dev = list(generated_fields(N_DEV, DEV_SEED))
        data: dict[str, Any] = {"receipts": n, "seed": TRAIN_SEED}
    else:
        train, data = _part(folder, options.split, "train")
        dev, _ = _part(folder, options.split, "dev")
    trained = train_line_tagger(
        train,
        dev,
        out,
        data=data,
        epochs=options.epochs,
        seed=options.seed,
        resume=options.resume,
    )
    print(f"model in {out}; score it with: coursepkg ocr evaluate-fields --model {out}")
    if options.json:
        print_json({"out": str(out), "card": trained.card})
    return 0


def _table_folder(data: str, others: tuple[str, ...]) -> Path | None:
    """The folder of a table that --data names; None where receipts are generated.

    Raises:
        ValueError: there is no table.
    """
    folder = data_folder() / "mc_ocr" if data == "mc-ocr" else Path(data)
    if (folder / TABLE).is_file():
        return folder
    if data in others:
        return None
    raise ValueError(
        f"--data must be {', '.join(others)} or a folder with a {TABLE}, got {data}"
    )


def _part(
    folder: Path, split: str, part: str
) -> tuple[list[LabelledReceipt], dict[str, Any]]:
    """The receipts of a part of a table, and what they are."""
    table = read_table(folder)
    if not table.receipts:
        raise ValueError(f"{folder / TABLE}: no receipt in it has a usable line")
    parted = split_receipts(table, split)
    every = labelled_receipts(table)
    chosen = [every[number] for number in parted.parts[part]]
    return chosen, {"table": folder.name, "split": f"{split} {parted.fingerprint[:12]}"}


def _scored_set(options: EvaluateFields) -> ScoredSet:
    """What the options name.

    Raises:
        ValueError: there is no such set, or the part is empty.
    """
    if options.data == "photographs":
        return _photographs(options.generate or N_RECEIPTS["photographs"])
    folder = _table_folder(options.data, ("mc-ocr", "receipts", "photographs"))
    if folder is not None:
        chosen, facts = _part(folder, options.split, options.part)
        if not chosen:
            raise ValueError(
                f"--part {options.part} is empty by --split {options.split}"
            )
        told = f"{facts['table']} {options.part}, split {facts['split']}, true lines"
        return ScoredSet(chosen, told, [LABELLED_ONLY])
    drawn = list(generated_fields(options.generate or N_RECEIPTS["receipts"]))
    told = f"receipts, {counted(len(drawn), 'generated receipt')} with all lines"
    missing = f"{data_folder() / 'mc_ocr' / TABLE} is missing, so generated receipts"
    notes = [f"{missing} stand in for it"] if options.data == "mc-ocr" else []
    return ScoredSet(drawn, told, notes)


def _photographs(count: int) -> ScoredSet:
    from coursepkg.projects.ocr.fields.photographs import (
        held_out_faces,
        read_photographs,
    )
    from coursepkg.projects.ocr.predict import Recognizer

    recognizer = Recognizer.load_default()
    fonts = sorted({face.family for face in held_out_faces()})
    receipts = list(read_photographs(count, recognizer))
    told = f"{counted(count, 'photograph')} of generated receipts, read"
    told += f", held-out font families: {len(fonts)}"
    facts = {"fonts": fonts, "recognizer": recognizer.fingerprint}
    return ScoredSet(receipts, told, facts=facts)
