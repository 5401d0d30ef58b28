"""Do neighbours of the training part help a translator, and how much of them?

Weight and temperature are chosen by BLEU on one half of the dev part and judged on the other half, once. The model
alone is one of the choices.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from coursepkg.arguments import check_count
from coursepkg.decoding.neighbours import check_neighbours
from coursepkg.metrics.bootstrap import Comparison, compare, comparison_as_json
from coursepkg.metrics.scoring import score
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair, to_scorer
from coursepkg.projects.translation.evaluate import N_RESAMPLES, bleu_of, translate_pairs
from coursepkg.projects.translation.halves import at_edge, dev_halves
from coursepkg.projects.translation.neighbours import Datastore, with_neighbours
from coursepkg.projects.translation.predict import Translator

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
    """The grid, what it chose, and what that is worth on sentences that took no part in the choice."""

    rows: tuple[NeighbourRow, ...]
    """All points of the grid, by falling BLEU; of equal ones those of smaller weight come first."""
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
        return {"weight": self.chosen.weight, "temperature": self.chosen.temperature, "k": self.k}

    @property
    def at_edge(self) -> list[str]:
        """Settings of which the largest or smallest of several was chosen; the model alone is no edge."""
        return at_edge(self.chosen, self.rows, ("weight", "temperature")) if self.chosen.weight else []

    def __str__(self) -> str:
        best = self.chosen
        return "\n".join(
            [
                "weight  temperature   BLEU",
                *(f"{row.weight:6.2f}  {row.temperature:11g}  {row.bleu:5.2f}" for row in self.rows),
                f"chosen on {self.n_choose} sentences of dev, with {self.k} neighbours of {self.n_keys}: weight "
                f"{best.weight:g}, temperature {best.temperature:g}, BLEU {self.baseline_choose:.2f} -> "
                f"{best.bleu:.2f} there",
                f"on the other {self.n_score}: {self.comparison}",
                *(f"the {name} lies at the edge of the grid; widen it" for name in self.at_edge),
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
    """Translate one half of dev with every weight and temperature, and the other half with the best ones.

    Args:
        translator: the system, without neighbours.
        store: its datastore.
        parts: the corpus; its test part is not touched.
        weights: of the neighbours, in [0, 1], each combined with each temperature.
        temperatures: above 0.
        k: neighbours, in 1..N.
        limit: sentences of each half, the first ones; 0 takes all.
        batch_size: sentences at once.
        n_resamples: bootstrap resamples behind the comparison.
        report: called with each point of the grid when it is there.

    Raises:
        ValueError: the dev part is too small, the datastore belongs to another model, or a setting is out of range.
    """
    check_count("limit", limit, least=0)
    check_neighbours(0.0, 1.0, k, len(store))
    # 0 is the model alone, whatever the temperature.
    grid = [(weight, temperature) for weight, temperature in product(weights, temperatures) if weight != 0]
    for weight, temperature in grid:
        check_neighbours(weight, temperature, k, len(store))
    choose, judge = (half[:limit] if limit else half for half in dev_halves(parts))

    def said(pairs: Sequence[SentencePair], weight: float, temperature: float) -> list[str]:
        system = with_neighbours(translator, store, weight, temperature, k) if weight else translator
        found, _ = translate_pairs(system, pairs, parts.source, parts.target, batch_size=batch_size)
        return [to_scorer(one.line, parts.target) for one in found]

    metric = bleu_of(parts.target)
    first, second = ([to_scorer(p.target, parts.target) for p in half] for half in (choose, judge))
    rows = []
    for weight, temperature in [(0.0, min(temperatures, default=1.0)), *grid]:
        bleu = float(score(metric, said(choose, weight, temperature), first).value)
        rows.append(NeighbourRow(weight, temperature, bleu))
        report(rows[-1])
    alone = rows[0].bleu
    rows.sort(key=lambda row: (-row.bleu, row.weight))
    before, after = (said(judge, w, rows[0].temperature) for w in (0.0, rows[0].weight))
    told = compare(metric, before, after, second, n_resamples=n_resamples)
    return NeighbourStudy(tuple(rows), k, len(store), len(choose), len(judge), alone, told)
