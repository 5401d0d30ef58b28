"""Measurements on the real files that come with the package: numbers alone, since no sentence may be handed on.

    book/_data/translation/CONDITIONS/ROW.seedN.json     rows of the ladder, see `ladder.store`
    book/_data/translation/evaluations/NAME.json         what `evaluate --out` wrote into evaluation.json
    book/_data/translation/t5/NAME.json                  runs of T5

In an installed copy the folder lies inside this package, as `stored_results`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coursepkg.projects.translation.ladder.store import read_ladder
from coursepkg.projects.translation.studies.measured_run import markdown_table, with_interval
from coursepkg.stored import stored_results
from coursepkg.training.call_log import seconds_of
from coursepkg.training.run_card import read_card


def stored_folder() -> Path | None:
    """Where the stored numbers are, or None where the package came without them."""
    return stored_results("translation", __file__)


def stored_rows(*names: str, conditions: str = "zh-vi_zh2vi") -> list[dict[str, Any]]:
    """Stored rows of the ladder that have scores.

    Args:
        *names: of rows; none takes all.
        conditions: how the name of their conditions begins: corpus and direction.
    """
    folder = stored_folder()
    return [
        row
        for row in (read_ladder(folder) if folder else [])
        if row["conditions"].startswith(conditions) and row["scores"] and (not names or row["row"] in names)
    ]


def stored_documents(kind: str, beginning: str = "") -> dict[str, dict[str, Any]]:
    """Stored documents by the names of their files.

    Args:
        kind: evaluations or t5.
        beginning: of the names.
    """
    folder = stored_folder()
    files = sorted((folder / kind).glob(f"{beginning}*.json")) if folder else []
    return {file.stem: read_card(file) for file in files}


def evaluation_table(documents: Mapping[str, Mapping[str, Any]]) -> str:
    """Stored evaluations as a Markdown table: what was scored, how it was trained, its BLEU.

    Args:
        documents: of `stored_documents("evaluations")`.
    """
    rows = []
    for name, one in documents.items():
        rows.append(
            [
                name,
                f"{one['corpus']} {one['part']}",
                str(one["n"]),
                _system(one),
                _minutes(one),
                with_interval(one),
                f"{one['scores']['chrF']['value']:.2f}",
            ]
        )
    head = ("evaluation", "scored on", "sentences", "search", "minutes of training", "BLEU", "chrF")
    return markdown_table(head, rows, right=(2, 4))


def _system(document: Mapping[str, Any]) -> str:
    """Beams, ensemble and neighbours in a few words."""
    search = document["search"]
    parts = [f"beam {search['beam_size']}"]
    if search.get("ensemble"):
        parts.append(f"ensemble of {len(search['ensemble'])}")
    if search.get("neighbours"):
        parts.append(f"neighbours {search['neighbours']['weight']:g}")
    return ", ".join(parts)


def _minutes(document: Mapping[str, Any]) -> str:
    """Minutes of training, of all members of an ensemble together; empty where nothing is known."""
    members = document["search"].get("ensemble") or [document.get("training", {})]
    logs = [one.get("calls") for one in members]
    if not all(logs):
        return ""
    found = [seconds_of(log) for log in logs]
    whole = all(is_whole for _, is_whole in found)
    return ("" if whole else "over ") + f"{sum(seconds for seconds, _ in found) / 60:.0f}"
