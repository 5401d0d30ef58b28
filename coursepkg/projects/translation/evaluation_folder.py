"""The folder that `coursepkg translation evaluate --out` writes: translations, scores, the report, hard examples."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coursepkg.files import whole_file
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.errors.analysis import ErrorTable
from coursepkg.projects.translation.evaluate import Evaluation
from coursepkg.projects.translation.report import Report, write_report


def write_evaluation(out: Path, result: Evaluation, table: ErrorTable, document: dict[str, Any]) -> None:
    """Write translations, references, scores and the report, each file whole or not at all.

    Args:
        out: the folder; it is made where it is missing.
        result: the scores.
        table: the errors.
        document: what `evaluation.json` is to hold.
    """
    out.mkdir(parents=True, exist_ok=True)
    files = {
        "hypotheses.txt": "\n".join(result.hypotheses) + "\n",
        "references.txt": "\n".join(result.references) + "\n",
        "sources.txt": "\n".join(result.sources) + "\n",
        "evaluation.json": json.dumps(document, ensure_ascii=False, indent=2) + "\n",
    }
    for name, content in files.items():
        with whole_file(out / name) as file:
            file.write(content.encode())
    facts = {"data": f"{document['corpus']}, {document['part']}", "model": document["model"]}
    notes = [*result.notes]
    if "against" in document:
        notes.append(f"against {document['against']['other']}: {document['against']['comparison']}")
    title = f"{result.source} to {result.target}: {facts['data']}"
    write_report(out / "report.html", Report(title, table, result.scores, facts, notes))
    print(f"report in {out / 'report.html'}")


def write_hard(out: Path, pairs: Sequence[SentencePair], chosen: Sequence[int], parts: Parts) -> None:
    """Write hard examples as further training pairs, with a card that says where they are from.

    Args:
        out: the folder.
        pairs: of the training part.
        chosen: places of the hard ones.
        parts: the corpus.
    """
    for language, side in ((parts.source, "source"), (parts.target, "target")):
        with whole_file(out / f"hard.{language}") as file:
            file.write("".join(getattr(pairs[i], side).strip() + "\n" for i in chosen).encode())
    card = {
        "from": parts.source,
        "to": parts.target,
        "corpora": [parts.corpus],
        "part": "train",
        "n": len(chosen),
    }
    with whole_file(out / "hard.json") as file:
        file.write((json.dumps(card) + "\n").encode())
