"""Make the rows of the ablation ladder: train or ask trained networks, score, compare, and store the numbers.

    RUNS/<conditions>/<row>.seed0/                  the run of a row, see `train`, with dev.json: its answers
    RESULTS/<conditions>_<part>/<row>.seed0.json    its numbers

The conditions are corpus, split, preset, budget and device: only rows under the same ones are held against one
another. What is stored is never overwritten, so a later call adds rows to those that are there.
"""

import shutil
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursepkg.bench.ladder import check_same_settings
from coursepkg.metrics.bootstrap import Comparison
from coursepkg.projects.sign_language.answers import DrawBy, draw_groups, from_rows
from coursepkg.projects.sign_language.augment.resampling import DrawResampling, ResamplingConfig
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.evaluate import compare, evaluate, score_answers
from coursepkg.projects.sign_language.inference import predict_clips
from coursepkg.projects.sign_language.ladder_rows import FIRST, LadderRow, changes_of, recipe_of
from coursepkg.projects.sign_language.ladder_table import NEEDS
from coursepkg.projects.sign_language.recipe import Recipe
from coursepkg.projects.sign_language.scores import SignScores
from coursepkg.projects.sign_language.stored import store_document
from coursepkg.projects.sign_language.train import train
from coursepkg.projects.sign_language.trained_model import read_model
from coursepkg.training.call_log import read_calls
from coursepkg.training.files import read_json, write_json
from coursepkg.training.weights import parameter_counts

SCHEMA = "sign-language ladder row 1"


@dataclass(frozen=True)
class Bench:
    """What all rows of a ladder share."""

    base: Recipe
    """The preset, with the budget."""
    corpus: SignCorpus
    conditions: str
    """Name of corpus, split, preset, budget and device."""
    runs: Path
    """Folder of the runs."""
    results: Path
    """Folder of the numbers."""
    part: str = "dev"
    """What is scored. Whoever chooses a row by its score must not take the test part."""
    clock: str = "wall"
    """What a budget of seconds counts, see `TrainConfig`."""
    timed: bool = False
    """Whether seconds end the training of a row; else passes over the data do."""
    seed: int = 0
    say: Callable[[str], None] = print

    def run(self, row: str) -> Path:
        """Folder of the run of a row."""
        return self.runs / self.conditions / f"{row}.seed{self.seed}"

    def file(self, row: str) -> Path:
        """Where the numbers of a row are stored."""
        return self.results / self.scored / f"{row}.seed{self.seed}.json"

    def answers(self, row: str) -> Path:
        """Where the answers of a row are stored."""
        return self.run(row) / f"{self.part}.json"

    @property
    def scored(self) -> str:
        """The conditions with the part that is scored."""
        return f"{self.conditions}_{self.part}"


def make_row(bench: Bench, row: LadderRow) -> dict[str, Any]:
    """Make a row, and store its numbers unless they are stored.

    The rows whose networks it asks must have been made, and their runs be there.

    Raises:
        ValueError: the row cannot be made, or its run has other settings.
        FileNotFoundError: a run whose network it asks is not there.
    """
    path, recipe = bench.file(row.name), recipe_of(row, bench.base)
    numbers = _trained(bench, row, recipe) if row.trains else {}
    read = [read_model(bench.run(name)) for name in row.models or (row.name,)]
    networks = [one.model for one in read]
    clips = bench.corpus.part(bench.part)
    said = predict_clips(networks[0], clips, recipe, models=networks[1:], counts=bench.corpus.counts)
    protocol = (
        f"{bench.corpus.name} {bench.part}, split {bench.corpus.protocol}, {row.name}, seed {bench.seed}"
    )
    scores = evaluate(said, clips, bench.corpus.labels, bench.corpus.counts, protocol=protocol)
    bench.run(row.name).mkdir(parents=True, exist_ok=True)
    write_json(bench.answers(row.name), scores.as_json())
    document = {
        "row": row.name,
        "about": row.about,
        "seed": bench.seed,
        "conditions": bench.scored,
        "builds_on": row.builds_on,
        "changes": changes_of(row, bench.base),
        "models": list(row.models),
        "seed_shift": row.seed_shift,
        "speed": row.speed,
        "recipe": recipe.described(),
        "data": bench.corpus.described(),
        "part": bench.part,
        "clock": bench.clock,
        "parameters": sum(parameter_counts(network)["total"] for network in networks),
        **numbers,
        "scores": scores.numbers_as_json(),
        "against": _against(bench, row, scores),
    }
    if not path.exists():
        store_document(path, SCHEMA, document)
    return read_json(path, needs=NEEDS)


def stored_row(bench: Bench, row: LadderRow) -> dict[str, Any] | None:
    """The numbers of a row, or None where none are stored. A setting that came into the recipe later had its default.

    Raises:
        ValueError: they are those of other settings; these are named.
    """
    path, recipe = bench.file(row.name), recipe_of(row, bench.base)
    if not path.exists():
        return None
    stored = read_json(path, needs=NEEDS)
    check_same_settings(path, stored["recipe"], recipe.described(), Recipe().described())
    return stored


def _trained(bench: Bench, row: LadderRow, recipe: Recipe) -> dict[str, Any]:
    """Train the network of a row; what its logs say."""
    folder, seed = bench.run(row.name), bench.seed + row.seed_shift
    if bench.timed and not (folder / "model").is_dir():
        # It was cut off half-way: going on would give it more than the others.
        shutil.rmtree(folder, ignore_errors=True)
    trained = train(
        recipe,
        bench.corpus,
        folder,
        seed=seed,
        resume=True,
        clock=bench.clock,
        draw_places=DrawResampling(ResamplingConfig(row.speed)) if row.speed else None,
        say=lambda line: None,
        progress=False,
    )
    calls, history = read_calls(folder), trained.history
    return {
        "steps": trained.card["steps"],
        "steps_taken": history.step,
        "clips": int(sum(one["units"] for one in history.steps)),
        "epochs": len(history.validations),
        "stopped": history.stopped,
        "first_loss": statistics.fmean(one["loss"] for one in history.steps[:20]),
        "last_loss": statistics.fmean(one["loss"] for one in history.steps[-20:]),
        "seconds": round(sum(one["seconds"] for one in calls), 1),
        "cpu_seconds": round(sum(one["cpu_seconds"] for one in calls), 1),
        "peak_memory": max((one["peak_memory"] for one in calls), default=None),
        "dev": {name: trained.card.get(f"dev_{name}") for name in ("macro_f1", "loss", "accuracy")},
    }


def _against(bench: Bench, row: LadderRow, scores: SignScores) -> dict[str, Any]:
    """The paired differences to the row below and to the first row, where their answers are there."""
    found = {}
    for name in dict.fromkeys((row.builds_on, FIRST)):
        path = bench.answers(name)
        if not name or name == row.name or not path.is_file():
            continue
        answers = from_rows(read_json(path), str(path))
        below = score_answers(answers, scores.labels, scores.counts, n_resamples=0)
        by: DrawBy = "clip" if draw_groups(scores.answers, "signer") is None else "signer"
        found[name] = _as_json(compare(below, scores, by=by))
    return found


def _as_json(found: Comparison) -> dict[str, Any]:
    return {
        "difference": found.system - found.baseline,
        "interval": [found.difference.lower, found.difference.upper],
        "p_value": found.p_value,
        "signature": found.signature,
    }
