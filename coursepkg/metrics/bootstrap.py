"""Bootstrap resampling: how much of a score, or of a difference between two, is the luck of the test set.

    draw N of the N sentences with replacement, score the draw; do it 1000 times; the middle 95% of these scores is
    the interval

A draw is scored from the counts of its sentences, so that a thousand draws are one matrix product. Draws,
interval and p-value are those of SacreBLEU for the same seed. Source: Koehn (EMNLP 2004), "Statistical
significance tests for machine translation evaluation".
"""

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from coursepkg.metrics.corpus import check_integer
from coursepkg.metrics.signature import Interval, Metric, format_values, signature

_BLOCK_CELLS = 4_000_000


@dataclass(frozen=True)
class Comparison:
    """Two systems on one test set."""

    name: str
    """Name of the metric."""
    baseline: float
    """Score of the first system."""
    system: float
    """Score of the second."""
    difference: Interval
    """Interval of system - baseline over the resamples."""
    share_higher: float
    """Share of the resamples in which the system scores higher than the baseline (Koehn 2004, section 4)."""
    p_value: float
    """How probable so large a difference, of either sign, is by the luck of the draw alone."""
    signature: str
    """Signature of both scores."""

    def __str__(self) -> str:
        before, after, change = format_values(self.baseline, self.system, self.system - self.baseline)
        scores = f"{before} -> {after}, {change} {self.difference}"
        return f"{self.name}|{self.signature} = {scores}, p = {self.p_value:.4f}"


def comparison_as_json(found: Comparison) -> dict[str, Any]:
    """A comparison of two systems in numbers, as JSON can hold them."""
    return {
        "baseline": found.baseline,
        "system": found.system,
        "difference": found.system - found.baseline,
        "interval": [found.difference.lower, found.difference.upper],
        "share_higher": found.share_higher,
        "p_value": found.p_value,
        "signature": f"{found.name}|{found.signature}",
    }


def resampled_values(metric: Metric, statistics: np.ndarray, *, n_resamples: int, seed: int) -> np.ndarray:
    """Scores of `n_resamples` draws, from one row of counts a sentence, (sentences, K) -> (n_resamples,)."""
    check_integer("n_resamples", n_resamples, least=2)
    check_integer("seed", seed, least=0)
    draws = _draws(len(statistics), n_resamples, seed)
    return np.concatenate([metric.values(counts @ statistics) for counts in draws])


def by_group(statistics: np.ndarray, groups: Sequence[Hashable]) -> np.ndarray:
    """Counts summed over each group, such as the lines of a photograph: (sentences, K) -> (groups, K).

    Sentences of one group share what makes them hard. Drawing them one by one pretends that they were independent, and
    makes the interval too narrow; drawing whole groups does not.

    Raises:
        ValueError: there is not one group a sentence.
    """
    if len(groups) != len(statistics):
        raise ValueError(f"groups must name one group a sentence, got {len(groups)} for {len(statistics)}")
    numbers = {name: number for number, name in enumerate(dict.fromkeys(groups))}
    sums = np.zeros((len(numbers), statistics.shape[1]), dtype=statistics.dtype)
    np.add.at(sums, [numbers[name] for name in groups], statistics)
    return sums


def interval_of(
    metric: Metric,
    statistics: np.ndarray,
    *,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 12345,
) -> Interval:
    """The middle share of the scores of all draws.

    Args:
        metric: what gave the statistics.
        statistics: (sentences, K).
        n_resamples: number of draws, at least 2.
        confidence: that share, in (0, 1).
        seed: seed of the draws.

    Raises:
        ValueError: n_resamples or confidence is out of range.
    """
    values = resampled_values(metric, statistics, n_resamples=n_resamples, seed=seed)
    return _interval(values, confidence, seed)


def compare(
    metric: Metric,
    baseline: Sequence[Any],
    system: Sequence[Any],
    references: Sequence[Any],
    *,
    n_resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 12345,
    protocol: str = "",
    groups: Sequence[Hashable] | None = None,
) -> Comparison:
    """Paired bootstrap test: both systems are scored on the same draws.

    The p-value is the share of draws whose difference, less the mean difference of all draws, exceeds the difference
    on the whole set: (1 + number of those) / (1 + n_resamples), as in SacreBLEU and Moses. Systems with equal counts on
    every sentence have p = 1, where that formula would call them different.

    Args:
        metric: what to measure.
        baseline: outputs of the first system.
        system: outputs of the second.
        references: `references[i]` belongs to `baseline[i]` and `system[i]`.
        n_resamples: number of draws, at least 2.
        confidence: share of the draws inside the interval of the difference.
        seed: seed of the draws.
        protocol: for the signature.
        groups: of each sentence; whole groups are drawn, see `by_group`.

    Raises:
        ValueError: the inputs do not fit one another, or an option is out of range.
    """
    statistics = [metric.statistics(outputs, references) for outputs in (baseline, system)]
    if groups is not None:
        statistics = [by_group(counts, groups) for counts in statistics]
    first, second = (metric.values(counts.sum(axis=0, keepdims=True)).item() for counts in statistics)
    before, after = (
        resampled_values(metric, counts, n_resamples=n_resamples, seed=seed) for counts in statistics
    )
    distances = np.abs(after - before)
    n_larger = np.count_nonzero(distances - distances.mean() > abs(second - first))
    return Comparison(
        name=metric.name,
        baseline=first,
        system=second,
        difference=_interval(after - before, confidence, seed),
        share_higher=float(np.mean(after > before)),
        p_value=1.0 if np.array_equal(statistics[0], statistics[1]) else (n_larger + 1) / (n_resamples + 1),
        signature=signature(
            metric,
            references,
            n_in_file=len(references),
            protocol=protocol,
            n_resamples=n_resamples,
            seed=seed,
            n_groups=0 if groups is None else len(set(groups)),
        ),
    )


def _draws(n_sentences: int, n_resamples: int, seed: int) -> Iterator[np.ndarray]:
    """How often each draw holds each sentence: blocks (draws, sentences) that together have n_resamples rows."""
    generator = np.random.default_rng(seed)
    block = max(1, _BLOCK_CELLS // n_sentences)
    for start in range(0, n_resamples, block):
        n_rows = min(block, n_resamples - start)
        chosen = generator.integers(n_sentences, size=(n_rows, n_sentences))
        chosen += n_sentences * np.arange(n_rows)[:, None]
        counts = np.bincount(chosen.ravel(), minlength=n_rows * n_sentences)
        # float64 takes the fast matrix product and holds every count exactly
        yield counts.reshape(n_rows, n_sentences).astype(np.float64)


def _interval(values: np.ndarray, confidence: float, seed: int) -> Interval:
    if not 0 < confidence < 1:
        raise ValueError(f"confidence must lie between 0 and 1, got {confidence}")
    n_cut = int(len(values) * (1 - confidence) / 2 + 1e-9)
    ordered = np.sort(values)
    return Interval(float(ordered[n_cut]), float(ordered[-1 - n_cut]), confidence, len(values), seed)
