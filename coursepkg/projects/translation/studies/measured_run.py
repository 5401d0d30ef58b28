"""One training run with its score on the dev part: what the configuration search and the ladder store.

The test part is never read here. Whatever is chosen by these numbers is chosen on dev alone.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursepkg.files import whole_file
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.ensemble import system_note
from coursepkg.projects.translation.evaluate import Evaluation, evaluate, translate_pairs
from coursepkg.projects.translation.models import count_parameters
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.train import train

HEADLINE = "BLEU"
"""The score that rows are ordered by."""


@dataclass(frozen=True)
class Measured:
    """A finished run in numbers."""

    parameters: int
    """Trainable numbers of the model."""
    steps: int
    """Optimiser steps behind the weights that were kept."""
    steps_taken: int
    """Optimiser steps in all; more than `steps` where a later validation was worse or the time ran out before one."""
    epochs: int
    """Passes over the data that were finished and validated."""
    seconds: float
    """Wall-clock seconds of training, validations included."""
    cpu_seconds: float
    """CPU time of training, validations included, its threads added up."""
    decoding_seconds: float
    """Wall-clock seconds of translating the dev part."""
    stopped: str
    """Why training ended: max_epochs, max_seconds or patience."""
    scores: dict[str, dict[str, Any]]
    """By name value, signature and interval, on the dev part."""
    notes: tuple[str, ...]
    """What a reader of the scores must know."""

    def as_json(self) -> dict[str, Any]:
        """The fields as JSON holds them."""
        return {
            "parameters": self.parameters,
            "steps": self.steps,
            "steps_taken": self.steps_taken,
            "epochs": self.epochs,
            "seconds": round(self.seconds, 1),
            "cpu_seconds": round(self.cpu_seconds, 1),
            "decoding_seconds": round(self.decoding_seconds, 1),
            "stopped": self.stopped,
            "scores": self.scores,
            "notes": list(self.notes),
        }


def train_and_score(
    recipe: Recipe,
    parts: Parts,
    out: Path,
    *,
    seed: int = 0,
    extra: Sequence[SentencePair] = (),
    start: Path | None = None,
    round_trips: Sequence[SentencePair] = (),
    clock: str = "wall",
    say: Callable[[str], None] = print,
) -> tuple[Measured, Evaluation]:
    """Train by a recipe into the folder `out`, then translate and score the whole dev part.

    Raises:
        ValueError: the recipe cannot be trained on these data, or training diverged.
    """
    trained = train(
        recipe,
        parts,
        out,
        seed=seed,
        extra=extra,
        start=start,
        round_trips=round_trips,
        clock=clock,
        say=say,
        progress=False,
    )
    translator = Translator(trained.model, trained.subwords, recipe, trained.card["directions"], trained.card)
    begin = time.monotonic()
    result, notes = score_dev(translator, parts)
    history = trained.history
    measured = Measured(
        parameters=count_parameters(trained.model),
        steps=int(trained.card["steps"]),
        steps_taken=history.step,
        epochs=len(history.validations),
        seconds=history.seconds,
        cpu_seconds=history.cpu_seconds,
        decoding_seconds=time.monotonic() - begin,
        stopped=history.stopped,
        scores=result.as_json()["scores"],
        notes=(*result.notes, *notes),
    )
    return measured, result


def score_dev(translator: Translator, parts: Parts, **options: Any) -> tuple[Evaluation, list[str]]:
    """Translate the dev part and score it; what was cut comes back as notes.

    Args:
        translator: the system.
        parts: the corpus.
        **options: of `Translator.translate`.
    """
    found, notes = translate_pairs(translator, parts.dev, parts.source, parts.target, **options)
    beams = options.get("beam_size") or translator.recipe.beam_size
    alpha = options.get("length_penalty")
    protocol = f"{parts.corpus} dev, beam {beams}" + ("" if alpha is None else f", length penalty {alpha:g}")
    protocol += system_note(translator)
    return score_lines([one.n_best[0].line for one in found], parts, protocol), notes


def score_lines(lines: Sequence[str], parts: Parts, protocol: str) -> Evaluation:
    """Score translations of the dev part."""
    return evaluate(lines, parts.dev, parts.source, parts.target, protocol=protocol, seen=parts.train)


def headline(document: Mapping[str, Any]) -> float:
    """The BLEU of a stored run; below all others where there is none."""
    return float(document["scores"][HEADLINE]["value"]) if document.get("scores") else float("-inf")


def with_interval(document: Mapping[str, Any]) -> str:
    """BLEU and its interval as a table shows them."""
    score = document["scores"][HEADLINE]
    interval = score["interval"]
    return f"{score['value']:.2f}" + ("" if interval is None else f" [{interval[0]:.2f}, {interval[1]:.2f}]")


def markdown_table(head: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[int] = ()) -> str:
    """A Markdown table whose columns are aligned as plain text, too.

    Args:
        head: names of the columns.
        rows: cells.
        right: numbers of the columns that are aligned to the right.
    """
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (head, *rows)]
    widths = [max(3, *(len(row[column]) for row in cells)) for column in range(len(head))]

    def line(row: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    rule = ["-" * (w - 1) + ":" if column in right else "-" * w for column, w in enumerate(widths)]
    return "\n".join([line(cells[0]), line(rule), *map(line, cells[1:])])


def write_text(path: Path, text: str) -> None:
    """Write a UTF-8 file, whole or not at all."""
    with whole_file(path) as file:
        file.write(text.encode())
