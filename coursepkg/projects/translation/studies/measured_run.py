"""What studies share: a run scored on dev, settings tuned on dev, a system, a report.

The test part is never read here. Whatever is chosen by these numbers is chosen on dev
alone.
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursepkg.app.output import print_json, write_texts
from coursepkg.metrics.scoring import Comparison, comparison_as_json
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.ensemble import load_translator, system_note
from coursepkg.projects.translation.evaluate import (
    Evaluation,
    evaluate,
    on_grid_boundary,
    search_note,
    translate_pairs,
)
from coursepkg.projects.translation.models import count_parameters
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.train import train
from coursepkg.training.loop import History
from coursepkg.training.run_card import read_calls

if TYPE_CHECKING:
    from coursepkg.projects.translation.commands import Common


Curve = dict[str, list[int] | list[float]]
"""A learning curve: by validation its `steps` and its `bleu`."""


@dataclass(frozen=True)
class Measured:
    """A finished run in numbers."""

    parameters: int
    """Trainable numbers of the model."""
    steps: int
    """Optimiser steps behind the weights that were kept."""
    steps_taken: int
    """Optimiser steps in all; more than `steps` where a later validation was worse or
    the time ran out before one."""
    epochs: int
    """Passes over the data that were finished and validated."""
    curve: Curve
    """Of greedy translations of the first sentences of the dev part."""
    seconds: float
    """Wall-clock seconds of training in all calls, validations included."""
    cpu_seconds: float
    """CPU time of training, validations included, its threads added up."""
    timed_steps: int
    """Optimiser steps that these seconds were spent on; fewer than `steps_taken` where
    a call was cut off, which leaves no time behind."""
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
        times = ("seconds", "cpu_seconds", "decoding_seconds")
        rounded = {name: round(getattr(self, name), 1) for name in times}
        return asdict(self) | rounded | {"notes": list(self.notes)}


def train_and_score(
    recipe: Recipe, parts: Parts, out: Path, **options: Any
) -> tuple[Measured, Evaluation]:
    """Train by a recipe into `out`, then translate and score the dev part.

    Args:
        **options: of `train`, which shows no progress here.

    Raises:
        ValueError: the recipe cannot be trained on these data, or training diverged.
    """
    trained = train(recipe, parts, out, progress=False, **options)
    card, history = trained.card, trained.history
    translator = Translator(
        trained.model, trained.subwords, recipe, card["directions"], card
    )
    begin = time.monotonic()
    result, notes = score_dev(translator, parts)
    calls = read_calls(out)
    timed = sum(one["step"] - one["from_step"] for one in calls)
    if timed < history.step:
        notes.append(
            f"the times are those of {timed} of {history.step} steps: a call that is"
            " cut off leaves none"
        )
    measured = Measured(
        parameters=count_parameters(trained.model),
        steps=int(card["steps"]),
        steps_taken=history.step,
        epochs=len(history.validations),
        curve=learning_curve(history),
        seconds=sum(one["seconds"] for one in calls),
        cpu_seconds=sum(one["cpu_seconds"] for one in calls),
        timed_steps=timed,
        decoding_seconds=time.monotonic() - begin,
        stopped=history.stopped,
        scores=result.as_json()["scores"],
        notes=(*result.notes, *notes),
    )
    return measured, result


def learning_curve(history: History) -> Curve:
    """The dev BLEU of every validation by step, as `Measured.curve` holds it."""
    rows = history.validations
    return {
        "steps": [int(row["step"]) for row in rows],
        "bleu": [round(row["bleu"], 3) for row in rows],
    }


def score_dev(
    translator: Translator, parts: Parts, **options: Any
) -> tuple[Evaluation, list[str]]:
    """Translate the dev part and score it; what was cut comes back as notes.

    Args:
        **options: of `Translator.translate`.
    """
    found, notes = translate_pairs(
        translator, parts.dev, parts.source, parts.target, **options
    )
    names = ("beam_size", "reverse_weight", "length_penalty")
    note = search_note(translator, parts.source, parts.target, *map(options.get, names))
    protocol = f"{parts.corpus} dev, {note}{system_note(translator)}"
    return score_lines([one.line for one in found], parts, protocol), notes


def score_lines(lines: Sequence[str], parts: Parts, protocol: str) -> Evaluation:
    """Score translations of the dev part."""
    return evaluate(
        lines,
        parts.dev,
        parts.source,
        parts.target,
        protocol=protocol,
        seen=parts.train,
    )


@dataclass(frozen=True)
class GridStudy:
    """The points of a grid, chosen on one half of dev and judged on the other half."""

    rows: tuple[Any, ...]
    """All points with their `bleu` on the half that chooses, the chosen one first."""
    settings: tuple[str, ...]
    """Attributes of a row that the grid varies."""
    n_choose: int
    """Sentences of the half that chose."""
    n_score: int
    """Sentences of the half that is scored."""
    baseline_choose: float
    """BLEU of the plain search on the first half."""
    comparison: Comparison
    """The plain search against the chosen point on the second half."""

    @property
    def chosen(self) -> Any:
        """The point of highest BLEU on the first half."""
        return self.rows[0]

    @property
    def on_grid_boundary(self) -> list[str]:
        """Settings whose chosen value lies on the boundary of the grid."""
        return on_grid_boundary(self.chosen, self.rows, self.settings)

    def lines(self, choice: str, kind: str) -> list[str]:
        """The choice in words, its worth on both halves, and what to widen.

        Args:
            choice: by how many sentences which settings were chosen.
            kind: what a setting is, such as "weight of ".
        """
        before, after = self.baseline_choose, self.chosen.bleu
        return [
            f"{choice}, BLEU {before:.2f} -> {after:.2f} there",
            f"on the other {self.n_score}: {self.comparison}",
            *(
                f"the {kind}{name} lies at the edge of the grid; widen it"
                for name in self.on_grid_boundary
            ),
        ]

    def as_json(self, chosen: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        """All of it, with the chosen settings and more, as JSON can hold it."""
        return {
            "rows": [asdict(row) for row in self.rows],
            "chosen": chosen,
            **more,
            "choose": {"n": self.n_choose, "baseline": self.baseline_choose},
            "score": comparison_as_json(self.comparison) | {"n": self.n_score},
        }


def open_system(
    common: "Common", model: Path | None, *, neighbours: bool = False
) -> tuple[Translator, str, Parts]:
    """The translator that a study asks for, the name of its folder, and the corpus.

    What the corpus leaves out is printed.
    """
    if common.out is not None and not common.out.absolute().parent.is_dir():
        raise ValueError(
            f"--out {common.out}: the folder does not exist; make it first"
        )
    translator, folder = load_translator(common, model, neighbours=neighbours)
    return translator, folder.name, common.parts_of(model)


def report_study(
    common: "Common", parts: Parts, text: str, document: Mapping[str, Any]
) -> int:
    """Print a study; write it where --out says, as JSON and beside it as text.

    An --out that ends in .txt names the text.
    """
    print(text)
    where = {"corpus": parts.corpus, "from": parts.source, "to": parts.target}
    document = where | dict(document)
    if common.out is not None:
        content = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
        text_file = common.out.with_suffix(".txt")
        is_text = common.out == text_file
        json_file = common.out.with_suffix(".json") if is_text else common.out
        texts = {json_file.name: content, text_file.name: text + "\n"}
        write_texts(common.out.parent, texts)
    if common.json:
        print_json(document)
    return 0
