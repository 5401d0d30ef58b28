"""Do neighbours of the training part help a translator, and how much of them?

Weight and temperature are chosen by BLEU on one half of the dev part and judged on the
other half, once. The model alone is one of the choices.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

from coursepkg.app.output import print_json
from coursepkg.decoding.knn import check_knn_settings
from coursepkg.metrics.scoring import Comparison, compare, comparison_as_json, score
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair, to_scorer
from coursepkg.projects.translation.ensemble import load_translator
from coursepkg.projects.translation.evaluate import (
    N_RESAMPLES,
    bleu_of,
    dev_halves,
    on_grid_boundary,
    translate_pairs,
)
from coursepkg.projects.translation.knn_mt import (
    FOLDER,
    Datastore,
    build_datastore,
    with_neighbours,
)
from coursepkg.projects.translation.predict import Translator
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

    rows: tuple[NeighbourRow, ...]
    """All points of the grid, by falling BLEU; of equal ones those of smaller weight
    come first."""
    k: int
    """Neighbours of each state."""
    n_keys: int
    """Target tokens in the datastore."""
    n_choose: int
    """Sentences of the half that chose."""
    n_score: int
    """Sentences of the half that is scored."""
    baseline_choose: float
    """BLEU of the model alone on the first half."""
    comparison: Comparison
    """The model alone against the chosen settings on the second half."""

    @property
    def chosen(self) -> NeighbourRow:
        """The settings of highest BLEU on the first half."""
        return self.rows[0]

    @property
    def settings(self) -> dict[str, Any]:
        """The chosen ones, as `with_neighbours` takes them."""
        return {
            "weight": self.chosen.weight,
            "temperature": self.chosen.temperature,
            "k": self.k,
        }

    @property
    def on_grid_boundary(self) -> list[str]:
        """Settings on the boundary of the grid; the model alone is none."""
        return (
            on_grid_boundary(self.chosen, self.rows, ("weight", "temperature"))
            if self.chosen.weight
            else []
        )

    def __str__(self) -> str:
        best = self.chosen
        return "\n".join(
            [
                "weight  temperature   BLEU",
                *(
                    f"{row.weight:6.2f}  {row.temperature:11g}  {row.bleu:5.2f}"
                    for row in self.rows
                ),
                (
                    f"chosen on {self.n_choose} sentences of dev, with {self.k}"
                    f" neighbours of {self.n_keys}: weight {best.weight:g}, temperature"
                    f" {best.temperature:g}, BLEU {self.baseline_choose:.2f} ->"
                    f" {best.bleu:.2f} there"
                ),
                f"on the other {self.n_score}: {self.comparison}",
                *(
                    f"the {name} lies at the edge of the grid; widen it"
                    for name in self.on_grid_boundary
                ),
            ]
        )

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return {
            "rows": [asdict(row) for row in self.rows],
            "chosen": self.settings,
            "n_keys": self.n_keys,
            "choose": {"n": self.n_choose, "baseline": self.baseline_choose},
            "score": comparison_as_json(self.comparison) | {"n": self.n_score},
        }


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
    grid = [
        (weight, temperature)
        for weight, temperature in product(weights, temperatures)
        if weight != 0
    ]
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
        bleu = float(
            score(metric, predictions(choose, weight, temperature), first).value
        )
        rows.append(NeighbourRow(weight, temperature, bleu))
        report(rows[-1])
    alone = rows[0].bleu
    rows.sort(key=lambda row: (-row.bleu, row.weight))
    before, after = (
        predictions(judge, w, rows[0].temperature) for w in (0.0, rows[0].weight)
    )
    told = compare(metric, before, after, second, n_resamples=n_resamples)
    return NeighbourStudy(
        tuple(rows), k, len(store), len(choose), len(judge), alone, told
    )


def neighbours_command(options: "Neighbours") -> int:
    """Build the datastore, tune and store it, and print the table."""
    _check_options(options)
    common = options.common
    translator, folder = load_translator(common, options.model)
    parts = common.parts(options.model)
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
