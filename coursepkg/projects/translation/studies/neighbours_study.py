"""Do neighbours of the training part help a translator, and how much of them?

Weight and temperature are chosen by BLEU on one half of the dev part and judged on the
other half, once. The model alone is one of the choices.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from coursepkg.app.output import print_json
from coursepkg.decoding.knn import check_knn_settings
from coursepkg.metrics.scoring import compare, score
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair, to_scorer
from coursepkg.projects.translation.ensemble import load_translator
from coursepkg.projects.translation.evaluate import (
    N_RESAMPLES,
    bleu_of,
    dev_halves,
    translate_pairs,
)
from coursepkg.projects.translation.knn_mt import (
    FOLDER,
    Datastore,
    build_datastore,
    with_neighbours,
)
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.measured_run import GridStudy
from coursepkg.validation import check_count

if TYPE_CHECKING:
    from coursepkg.projects.translation.study_commands import Neighbours

WEIGHTS = (0.2, 0.3, 0.4, 0.5)
"""What is tried for the neighbours; the model alone is always tried."""
TEMPERATURES = (5.0, 10.0, 20.0)
"""What is tried for their squared distances."""
K = 16
"""Neighbours; more change little, as far ones have next to no share."""


@dataclass(frozen=True)
class NeighbourRow:
    """One point of the grid."""

    weight: float
    """Of the neighbours; 0 is the model alone."""
    temperature: float
    """Of their squared distances."""
    bleu: float
    """On the half of the dev part that chooses."""


@dataclass(frozen=True)
class NeighbourStudy:
    """The grid, its choice, and what that is worth on the other half."""

    grid: GridStudy
    """All points; of equal BLEU those of smaller weight come first."""
    k: int
    """Neighbours of each state."""
    n_keys: int
    """Target tokens in the datastore."""

    @property
    def settings(self) -> dict[str, Any]:
        """The chosen ones, as `with_neighbours` takes them."""
        best = self.grid.chosen
        return {"weight": best.weight, "temperature": best.temperature, "k": self.k}

    def __str__(self) -> str:
        best = self.grid.chosen
        rows = [
            f"{row.weight:6.2f}  {row.temperature:11g}  {row.bleu:5.2f}"
            for row in self.grid.rows
        ]
        choice = (
            f"chosen on {self.grid.n_choose} sentences of dev, with {self.k} neighbours"
            f" of {self.n_keys}: weight {best.weight:g}, temperature"
            f" {best.temperature:g}"
        )
        head = "weight  temperature   BLEU"
        return "\n".join([head, *rows, *self.grid.lines(choice, "")])

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return self.grid.as_json(self.settings, n_keys=self.n_keys)


def neighbour_study(
    translator: Translator,
    store: Datastore,
    parts: Parts,
    *,
    weights: Sequence[float] = WEIGHTS,
    temperatures: Sequence[float] = TEMPERATURES,
    k: int = K,
    limit: int = 0,
    batch_size: int = 64,
    n_resamples: int = N_RESAMPLES,
    report: Callable[[NeighbourRow], None] = lambda row: None,
) -> NeighbourStudy:
    """Choose weight and temperature on one half of dev, judge on the other.

    Args:
        translator: the system, without neighbours.
        parts: the corpus; its test part is not touched.
        weights: of the neighbours, in [0, 1], each combined with each temperature.
        temperatures: above 0.
        k: neighbours, in 1..N.
        n_resamples: bootstrap resamples behind the comparison.
        report: called with each point of the grid when it is there.

    Raises:
        ValueError: the dev part is too small, the datastore belongs to another model,
            or a setting is out of range.
    """
    check_count("limit", limit, least=0)
    check_knn_settings(0.0, 1.0, k, len(store))
    # 0 is the model alone, whatever the temperature.
    grid = [point for point in product(weights, temperatures) if point[0] != 0]
    for weight, temperature in grid:
        check_knn_settings(weight, temperature, k, len(store))
    choose, judge = (half[:limit] if limit else half for half in dev_halves(parts))

    def predictions(
        pairs: Sequence[SentencePair], weight: float, temperature: float
    ) -> list[str]:
        system = (
            with_neighbours(translator, store, weight, temperature, k)
            if weight
            else translator
        )
        found, _ = translate_pairs(
            system, pairs, parts.source, parts.target, batch_size=batch_size
        )
        return [to_scorer(one.line, parts.target) for one in found]

    metric = bleu_of(parts.target)
    first, second = (
        [to_scorer(p.target, parts.target) for p in half] for half in (choose, judge)
    )
    rows = []
    for weight, temperature in [(0.0, min(temperatures, default=1.0)), *grid]:
        found = predictions(choose, weight, temperature)
        bleu = float(score(metric, found, first).value)
        rows.append(NeighbourRow(weight, temperature, bleu))
        report(rows[-1])
    alone = rows[0].bleu
    rows.sort(key=lambda row: (-row.bleu, row.weight))
    best = rows[0]
    before, after = (
        predictions(judge, w, best.temperature) for w in (0.0, best.weight)
    )
    comparison = compare(metric, before, after, second, n_resamples=n_resamples)
    # The model alone has no temperature that could be widened.
    varied = ("weight", "temperature") if best.weight else ()
    study = GridStudy(tuple(rows), varied, len(choose), len(judge), alone, comparison)
    return NeighbourStudy(study, k, len(store))


def neighbours_command(options: "Neighbours") -> int:
    """Build the datastore, tune and store it, and print the table."""
    _check_options(options)
    common = options.common
    translator, folder = load_translator(common, options.model)
    parts = common.parts_of(options.model)
    dev_halves(parts)  # a dev part that is too small is told before the long work
    store = build_datastore(translator, parts, batch_size=options.batch_size)
    print(
        f"{len(store)} target tokens of {len(parts.train)} training pairs", flush=True
    )
    study = neighbour_study(
        translator,
        store,
        parts,
        weights=options.weights or WEIGHTS,
        temperatures=options.temperatures or TEMPERATURES,
        k=options.k,
        limit=options.limit,
        batch_size=options.batch_size,
        report=lambda row: print(
            f"weight {row.weight:g}, temperature {row.temperature:g}: BLEU"
            f" {row.bleu:.2f}",
            flush=True,
        ),
    )
    document = study.as_json()
    replace(store, settings=study.settings).save(folder / FOLDER, study=document)
    print(study)
    print(
        f"datastore in {folder / FOLDER}; use it: coursepkg translation predict"
        f" --model {folder} --neighbours"
    )
    if common.json:
        where = {"corpus": parts.corpus, "from": parts.source, "to": parts.target}
        print_json({"model": folder.name} | where | document)
    return 0


def _check_options(options: "Neighbours") -> None:
    """Refuse what cannot be before any long work."""
    if options.model is None and options.common.preset is None:
        raise ValueError(
            "--model FOLDER must be given: the datastore goes into that folder"
        )
    if options.common.out is not None:
        raise ValueError(
            f"--out does not go with neighbours: the datastore goes into MODEL/{FOLDER}"
        )
    for weight in options.weights:
        check_knn_settings(weight, 1.0, 1, 1)
    for temperature in options.temperatures:
        check_knn_settings(1.0, temperature, 1, 1)
    for name in ("k", "batch_size"):
        check_count(name, getattr(options, name))
    check_count("--limit", options.limit, least=0)
