"""What `coursepkg ocr train-fields` and `coursepkg ocr evaluate-fields` do."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

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
from coursepkg.projects.ocr.data.mc_ocr import TABLE, Table
from coursepkg.projects.ocr.fields.rules import Fields, extract_fields
from coursepkg.projects.ocr.fields.table import (
    FieldReceipt,
    LabelledReceipt,
    compare_found,
    generated_fields,
    labelled_receipts,
    read_field_table,
    score_fields,
    split_receipts,
)
from coursepkg.projects.ocr.options import (
    EvaluateFields,
    TrainFields,
    load_recognizer,
    refuse_given,
)
from coursepkg.projects.ocr.synthetic.receipt_config import (
    RECEIPTS,
    ReceiptConfig,
    receipt_config,
)
from coursepkg.validation import counted

if TYPE_CHECKING:
    from coursepkg.projects.ocr.export import ExportedReader
    from coursepkg.projects.ocr.predict import Recognizer

SCHEMA = "coursepkg.ocr.fields/1"
SCHEMA_READ = "coursepkg.ocr.fields_read/1"
LABELLED_ONLY = (
    "the table holds the lines with a field alone; on whole receipts other lines stand"
    " in the way"
)
TRAIN_SEED, DEV_SEED = 1, 2
"""Of generated receipts to learn from and to choose by; seed 0 is scored."""
N_DEV = 100
N_RECEIPTS = {"train": 2000, "receipts": 200, "photographs": 60}
"""Receipts to generate where --generate does not say."""
PHOTOGRAPHS = {"photographs": "receipts", "varied-photographs": "varied-receipts"}
"""Photographs that are generated and read, and the kind of their receipts."""
GENERATED = (*RECEIPTS, *PHOTOGRAPHS)
"""What `evaluate-fields --data` generates; `train-fields` has no photographs."""


@dataclass(frozen=True)
class ScoredSet:
    """Receipts to score."""

    receipts: Sequence[FieldReceipt]
    protocol: str
    """What they are, for the signature."""
    is_table: bool = False
    """They are the receipts of a table, often without the lines by which a page looks
    like a receipt."""
    notes: list[str] = field(default_factory=list)
    """What a reader of the scores must know."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What the document says besides."""


def evaluate_fields_command(options: EvaluateFields) -> int:
    """Score the rules and the model, compare them, and return the exit code."""
    from coursepkg.projects.ocr.fields.line_tagger import LineTagger

    check_out_file(options.out, "fields.json")
    ways: dict[str, Callable[..., Fields]] = {"rules": extract_fields}
    facts: dict[str, Any] = {}
    if options.model is not None:
        tagger = LineTagger.load(options.model)
        ways["model"] = tagger.extract_fields
        facts["model"] = {"sha256": tagger.fingerprint, "data": tagger.data}
    if _is_labelled(options.data):
        return _evaluate_photographs(options, ways, facts)
    chosen = _scored_set(options)
    found = {
        name: [
            extract(one.lines, is_receipt=chosen.is_table) for one in chosen.receipts
        ]
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


def _is_labelled(data: str) -> bool:
    """Whether --data names a folder of photographs with their true fields."""
    from coursepkg.projects.ocr.fields.labelled import has_fields

    return data not in ("mc-ocr", *GENERATED) and has_fields(Path(data))


def _evaluate_photographs(
    options: EvaluateFields,
    ways: Mapping[str, Callable[..., Fields]],
    facts: Mapping[str, Any],
) -> int:
    """Read labelled photographs, score their fields and return the exit code."""
    from coursepkg.projects.ocr.fields.labelled import (
        FIELDS_CSV,
        read_labelled_photos,
        score_photos,
    )

    given = {
        "--split": options.split != "auto",
        "--part": options.part != "dev",
        "--generate": options.generate != 0,
    }
    why = f"has no use, since all photographs of {options.data} are read"
    refuse_given(given, f"{why}; leave it out")
    labelled = read_labelled_photos(Path(options.data))
    recognizer = _recognizer(options)
    protocol = f"{labelled.name}, photographs, {recognizer.describe_reading()}"
    scores = score_photos(labelled, recognizer, ways, protocol=protocol)
    for name, shares in scores.items():
        print(f"{name}:", *shares, sep="\n")
    document = {
        "format": FORMAT,
        "schema": SCHEMA_READ,
        "n": len(labelled.photos),
        "protocol": protocol,
        "labels": {"file": FIELDS_CSV, "sha256": labelled.sha256},
        "recognizer": recognizer.fingerprint,
        **facts,
        "ways": {
            name: {one.column: one.as_json() for one in shares}
            for name, shares in scores.items()
        },
        **circumstances(),
    }
    write_json_output(document, out=options.out, as_json=options.json)
    return 0


def _recognizer(options: EvaluateFields) -> "Recognizer | ExportedReader":
    """What reads photographs."""
    from coursepkg.projects.ocr.predict import DEFAULT

    return load_recognizer(options.recognizer or DEFAULT, "32-true")


def train_fields_command(options: TrainFields) -> int:
    """Train a line tagger and return the exit code."""
    from coursepkg.projects.ocr.fields.training import train_line_tagger

    out = required_out(options.out)
    table = _table(options, tuple(RECEIPTS))
    if table is None:
        n = options.generate or N_RECEIPTS["train"]
        kind, config = _kind(options.data)
        train = list(generated_fields(n, TRAIN_SEED, config))
        dev = list(generated_fields(N_DEV, DEV_SEED, config))
        data: dict[str, Any] = {kind: n, "seed": TRAIN_SEED}
        notes = _stand_in(options.data)
    else:
        parts, data = _parted(table, options)
        train, dev = parts["train"], parts["dev"]
        notes = _left_out(table, options.data)
    if not dev:
        notes.append("the dev part is empty, so the weights of the last pass are kept")
    if notes:
        data["notes"] = notes
    for note in notes:
        print(f"note: {note}")
    trained = train_line_tagger(
        train,
        dev,
        out,
        data=data,
        epochs=options.epochs,
        seed=options.seed,
        resume=options.resume,
    )
    split = [] if options.split == "auto" else ["--split", options.split]
    scoring = ["coursepkg", "ocr", "evaluate-fields", "--model", str(out)]
    scoring += ["--data", options.data, *split]
    print(f"model in {out}; score it with: {shlex.join(scoring)}")
    if options.json:
        print_json({"out": str(out), "card": trained.card})
    return 0


def _table(
    options: EvaluateFields | TrainFields, generated: Sequence[str]
) -> Table | None:
    """The table that --data names; None where receipts are generated.

    Args:
        options: of the verb.
        generated: what --data may name to have receipts generated.

    Raises:
        ValueError: there is no such table, or it cannot be used; or an option is given
            that has no use.
    """
    data = options.data
    folder = _folder(data)
    if data == "mc-ocr" and not (folder / TABLE).is_file():
        return None
    is_generated = data in generated
    _check_meant(options, is_generated)
    if is_generated:
        return None
    if not folder.is_dir():
        known = ", ".join(("mc-ocr", *generated))
        raise ValueError(f"--data must be one of {known} or a folder, got {data}")
    return read_field_table(folder, to_train=isinstance(options, TrainFields))


def _folder(data: str) -> Path:
    return data_folder() / "mc_ocr" if data == "mc-ocr" else Path(data)


def _check_meant(options: EvaluateFields | TrainFields, is_generated: bool) -> None:
    """Raises a ValueError for options that the receipts have no use for."""
    part = options.part if isinstance(options, EvaluateFields) else "dev"
    if is_generated:
        given = {"--split": options.split != "auto", "--part": part != "dev"}
        why = "generates receipts, which are not parted"
    else:
        given = {"--generate": options.generate != 0}
        why = "names receipts that are there"
    refuse_given(given, f"has no use, since --data {options.data} {why}; leave it out")


def _kind(data: str) -> tuple[str, ReceiptConfig]:
    """Which receipts --data has generated, and their settings."""
    kind = "receipts" if data == "mc-ocr" else data
    return kind, receipt_config(kind)


def _stand_in(data: str) -> list[str]:
    """What must be known where receipts are generated for --data."""
    if data != "mc-ocr":
        return []
    missing = f"{_folder(data) / TABLE} is missing, so generated receipts"
    return [f"{missing}, which are not parted, stand in for it"]


def _left_out(table: Table, data: str) -> list[str]:
    """What must be known of a table of which not everything can be used."""
    receipts = table.n_rows - len(table.receipts)
    texts = max(0, table.n_annotated - len(table.texts))
    if not receipts and not texts:
        return []
    return [
        f"left out of {table.file}: {counted(receipts, 'receipt')},"
        f" {counted(texts, 'text')}; coursepkg ocr audit --data {data} names them"
    ]


def _parted(
    table: Table, options: EvaluateFields | TrainFields
) -> tuple[dict[str, list[LabelledReceipt]], dict[str, Any]]:
    """The receipts of a table by part, and what they are."""
    protocol: str = options.split
    if protocol == "auto":
        protocol = "seller" if table.file == TABLE else "receipt"
    split = split_receipts(table, protocol)
    every = labelled_receipts(table)
    parts = {name: [every[i] for i in chosen] for name, chosen in split.parts.items()}
    return parts, {
        "table": _folder(options.data).name,
        "sha256": table.sha256,
        "split": f"{protocol} {split.fingerprint[:12]}",
    }


def _scored_set(options: EvaluateFields) -> ScoredSet:
    """What the options name.

    Raises:
        ValueError: there is no such set, or the part is empty; or an option is given
            that has no use.
    """
    is_read = options.data in PHOTOGRAPHS
    given = {"--recognizer": options.recognizer is not None and not is_read}
    why = f"reads photographs, and of {options.data} the true lines are known"
    refuse_given(given, f"{why}; leave it out")
    table = _table(options, GENERATED)
    if table is not None:
        return _scored_part(table, options)
    if is_read:
        count = options.generate or N_RECEIPTS["photographs"]
        return _photographs(PHOTOGRAPHS[options.data], count, _recognizer(options))
    kind, config = _kind(options.data)
    count = options.generate or N_RECEIPTS["receipts"]
    drawn = list(generated_fields(count, config=config))
    told = f"{kind}, {counted(len(drawn), 'generated receipt')} with all lines"
    return ScoredSet(drawn, told, notes=_stand_in(options.data))


def _scored_part(table: Table, options: EvaluateFields) -> ScoredSet:
    """The part of a table that the options name."""
    parts, facts = _parted(table, options)
    if not (chosen := parts[options.part]):
        raise ValueError(
            f"--part {options.part} is empty by --split {facts['split'].split()[0]};"
            " take another part or split, or label more receipts"
        )
    told = f"{facts['table']} {options.part}, split {facts['split']}, true lines"
    notes = [LABELLED_ONLY] if all(table.labels) else []
    notes += _left_out(table, options.data)
    return ScoredSet(chosen, told, is_table=True, notes=notes)


def _photographs(
    kind: str, count: int, recognizer: "Recognizer | ExportedReader"
) -> ScoredSet:
    from coursepkg.projects.ocr.fields.photographs import (
        held_out_faces,
        read_photographs,
    )

    fonts = sorted({face.family for face in held_out_faces()})
    receipts = list(read_photographs(count, recognizer, config=receipt_config(kind)))
    told = f"{counted(count, 'photograph')} of generated {kind}, read"
    told += f", held-out font families: {len(fonts)}"
    facts = {"fonts": fonts, "recognizer": recognizer.fingerprint}
    return ScoredSet(receipts, told, facts=facts)
