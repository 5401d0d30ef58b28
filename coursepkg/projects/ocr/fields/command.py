"""What `coursepkg ocr evaluate-fields` does."""

from pathlib import Path
from typing import Any

from coursepkg.app.output import check_out_file, write_json_output
from coursepkg.bench.machine import circumstances
from coursepkg.data.registry import data_folder
from coursepkg.projects.ocr.data.mc_ocr import TABLE, read_table
from coursepkg.projects.ocr.fields.rules import extract_fields
from coursepkg.projects.ocr.fields.table import (
    LabelledReceipt,
    generated_fields,
    labelled_receipts,
    score_fields,
    split_receipts,
)
from coursepkg.projects.ocr.options import EvaluateFields
from coursepkg.validation import counted

LABELLED_ONLY = (
    "the table holds the lines with a field alone; on whole receipts other lines stand"
    " in the way"
)


def evaluate_fields_command(options: EvaluateFields) -> int:
    """Score, report and return the exit code."""
    check_out_file(options.out, "fields.json")
    receipts, protocol, notes = _receipts(options)
    found = [extract_fields(one.lines) for one in receipts]
    scores = score_fields(found, receipts, protocol=f"{protocol}, rules")
    print(scores)
    for note in notes:
        print(f"note: {note}")
    document: dict[str, Any] = {
        "n": len(receipts),
        "protocol": protocol,
        "way": "rules",
        **scores.as_json(),
        "notes": notes,
    }
    document |= circumstances()
    write_json_output(document, out=options.out, as_json=options.json)
    return 0


def _receipts(
    options: EvaluateFields,
) -> tuple[list[LabelledReceipt], str, list[str]]:
    """Receipts to score, what they are, and what a reader of the scores must know.

    Raises:
        ValueError: there is no such set, or the part is empty.
    """
    folder, notes = Path(options.data), []
    if options.data == "mc-ocr":
        folder = data_folder() / "mc_ocr"
    if options.data == "mc-ocr" and not (folder / TABLE).is_file():
        notes = [f"{folder / TABLE} is missing, so generated receipts stand in for it"]
    elif options.data != "receipts":
        return _of_table(folder, options)
    drawn = list(generated_fields(options.generate))
    told = f"receipts, {counted(len(drawn), 'generated receipt')} with all lines"
    return drawn, told, notes


def _of_table(
    folder: Path, options: EvaluateFields
) -> tuple[list[LabelledReceipt], str, list[str]]:
    if not (folder / TABLE).is_file():
        raise ValueError(
            f"--data must be mc-ocr, receipts or a folder with a {TABLE}, got"
            f" {options.data}"
        )
    table = read_table(folder)
    if not table.receipts:
        raise ValueError(f"{folder / TABLE}: no receipt in it has a usable line")
    split = split_receipts(table, options.split)
    every = labelled_receipts(table)
    chosen = [every[number] for number in split.parts[options.part]]
    if not chosen:
        raise ValueError(f"--part {options.part} is empty by --split {options.split}")
    told = f"{folder.name} {options.part}, split {options.split}"
    return chosen, f"{told} {split.fingerprint[:12]}, true lines", [LABELLED_ONLY]
