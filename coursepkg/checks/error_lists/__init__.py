"""Lists of real errors that exercises of the kind "classify errors" ask about.

A list is a table beside this file, `NAME.tsv`: one error a row, the last two columns
its label and the reason for it. `scripts/collect_errors.py` and, for the translations
of the translator, `scripts/label_translation_errors.py` say how the errors were
collected. Where the exercise states a rule, the labels follow it; else they are a
person's.
"""

import csv
from pathlib import Path


def read_errors(name: str) -> list[dict[str, str]]:
    """The errors of a list, each by the names of its columns, without their labels.

    Raises:
        ValueError: for a name that no list has.
    """
    return [
        {column: value for column, value in row.items() if column not in JUDGED}
        for row in read_rows(name)
    ]


def read_labels(name: str) -> tuple[list[str], list[str]]:
    """The reference labels of a list, and the reason for each.

    Raises:
        ValueError: for a name that no list has.
    """
    rows = read_rows(name)
    return [row["label"] for row in rows], [row["reason"] for row in rows]


JUDGED = ("label", "reason")
"""Columns that a student does not see."""


def read_rows(name: str) -> list[dict[str, str]]:
    """The errors of a list, each by the names of its columns.

    Raises:
        ValueError: for a name that no list has.
    """
    known = {file.stem: file for file in Path(__file__).parent.glob("*.tsv")}
    if name not in known:
        raise ValueError(f"name: {name!r} is no list; need one of {sorted(known)}")
    with known[name].open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
