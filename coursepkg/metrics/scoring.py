"""From a metric and a test set to a score with signature and bootstrap interval.

    BLEU|nrefs:1|case:mixed|eff:no|tok:13a|...|n:1268/1268|data:5d41402abc4b|...

The first fields of a signature are SacreBLEU's own (Post, arXiv 1804.08771, section 4).
Behind them stand the Unicode form, the sentences scored and in the file, the hash of
the references, the protocol in the user's words and the version of this library. Scores
may be compared only where all of it is equal.

A bootstrap draws N of the N sentences with replacement and scores the draw, 1000 times;
the middle 95% of these scores is the interval. A draw is scored from the counts of its
sentences, so a thousand draws are one matrix product. Draws, interval and p-value are
those of SacreBLEU for the same seed. Source: Koehn (EMNLP 2004).
"""

import hashlib
import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

import coursepkg
from coursepkg.validation import check_count


@runtime_checkable
class Metric(Protocol):
    """What `score`, `sentence_scores` and `compare` need of a metric.

    A test set is scored in two steps: `statistics` gives one row a sentence, `values`
    turns the sum of rows into a score. Any subset, and any resample, is then scored
    without counting anything again.
    """

    @property
    def name(self) -> str:
        """The metric's usual name."""

    def settings(self) -> dict[str, str]:
        """Its fields of the signature, in order."""

    def statistics(
        self, hypotheses: Sequence[Any], references: Sequence[Any]
    ) -> np.ndarray:
        """Hypotheses and references -> counts (sentences, K)."""

    def values(self, totals: np.ndarray) -> np.ndarray:
        """Sums of rows (n, K) -> scores (n,)."""

    def details(self, totals: np.ndarray) -> dict[str, Any]:
        """What a reader may want beside the score, from a sum of rows (K,)."""


@dataclass(frozen=True)
class Interval:
    """A bootstrap confidence interval."""

    lower: float
    """Lower end."""
    upper: float
    """Upper end."""
    confidence: float
    """Share of the resamples inside of it, in (0, 1)."""
    n_resamples: int
    """Number of resamples."""
    seed: int
    """Seed of the resampling."""

    def __str__(self) -> str:
        lower, upper = format_values(self.lower, self.upper)
        return f"[{lower}, {upper}] at {self.confidence:.0%}"


@dataclass(frozen=True)
class Score:
    """A score that says what it is; `str` gives one line."""

    name: str
    """Name of the metric."""
    value: float
    """In the units of the metric: 0 to 100 for BLEU, chrF and TER (TER may exceed it),
    a fraction for all others."""
    signature: str
    """Fields `key:value` joined by `|`."""
    interval: Interval | None = None
    """Bootstrap confidence interval, where asked for."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the metric counted."""

    def __str__(self) -> str:
        interval = "" if self.interval is None else f" {self.interval}"
        return (
            f"{self.name}|{self.signature} = {format_values(self.value)[0]}{interval}"
        )


def score_as_json(one: Score) -> dict[str, Any]:
    """Value, signature and interval of a score, as JSON can hold them."""
    signed = f"{one.name}|{one.signature}"
    return {
        "value": one.value,
        "signature": signed,
        "interval": interval_as_json(one.interval),
    }


def interval_as_json(one: Interval | None) -> list[float] | None:
    """The ends of an interval, the lower first."""
    return None if one is None else [one.lower, one.upper]


def format_values(*values: float) -> list[str]:
    """All with two decimals if the largest is at least 1, else with four."""
    decimals = 2 if max(map(abs, values)) >= 1 else 4
    return [f"{value:.{decimals}f}" for value in values]


def signature(
    metric: Metric,
    references: Sequence[Any],
    *,
    n_in_file: int,
    protocol: str = "",
    n_resamples: int = 0,
    seed: int = 0,
    n_groups: int = 0,
) -> str:
    """The fields that must agree before two scores may be compared.

    Args:
        metric: what was measured.
        references: against what.
        n_in_file: sentences of the test file. What was left out shows as `n:990/1000`.
        protocol: split, decoding and post-processing, in a few words; left out of the
            signature if empty.
        n_resamples: bootstrap resamples behind the interval; 0 is none.
        seed: seed of the resampling.
        n_groups: groups that the resamples draw; 0 where they draw sentences.

    Raises:
        ValueError: n_in_file is less than the sentences scored, or the protocol cannot
            be a field.
    """
    check_count("n_in_file", n_in_file, least=len(references))
    if any(sign in protocol for sign in "|\r\n"):
        raise ValueError(f"protocol must be one line without '|', got {protocol!r}")
    fields = {"nrefs": _n_references(references)}
    if n_resamples:
        fields |= {"bs": str(n_resamples), "seed": str(seed)}
        fields |= {"bsgroups": str(n_groups)} if n_groups else {}
    fields |= metric.settings()
    fields |= {"n": f"{len(references)}/{n_in_file}", "data": data_hash(references)}
    if protocol:
        fields["protocol"] = protocol
    fields["version"] = f"coursepkg-{coursepkg.__version__}"
    return "|".join(f"{key}:{value}" for key, value in fields.items())


def data_hash(references: Sequence[Any]) -> str:
    """First 12 digits of the SHA-256 of the references and their Unicode form."""
    entries = [list(_several(entry)) for entry in references]
    text = json.dumps(entries, ensure_ascii=True, separators=(",", ":"), default=_plain)
    return hashlib.sha256(text.encode("ascii")).hexdigest()[:12]


def _plain(label: Any) -> Any:
    """A label that JSON lacks; a NumPy number counts as the number that it is."""
    return label.item() if isinstance(label, np.generic) else str(label)


def _n_references(references: Sequence[Any]) -> str:
    counts = {len(_several(entry)) for entry in references}
    return str(counts.pop()) if len(counts) == 1 else "var"


def _several(entry: Any) -> Sequence[Any]:
    """The references of one sentence; a single one stands without a list."""
    return (
        entry if isinstance(entry, Sequence) and not isinstance(entry, str) else [entry]
    )


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
    """Share of the resamples in which the system scores higher than the baseline (Koehn
    2004, section 4)."""
    p_value: float
    """How probable so large a difference, of either sign, is by the luck of the draw
    alone."""
    signature: str
    """Signature of both scores."""

    def __str__(self) -> str:
        before, after, change = format_values(
            self.baseline, self.system, self.system - self.baseline
        )
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


def resampled_values(
    metric: Metric, statistics: np.ndarray, *, n_resamples: int, seed: int
) -> np.ndarray:
    """Scores of random draws: (sentences, K) -> (n_resamples,)."""
    check_count("n_resamples", n_resamples, least=2)
    check_count("seed", seed, least=0)
    draws = _draws(len(statistics), n_resamples, seed)
    return np.concatenate([metric.values(counts @ statistics) for counts in draws])


def by_group(statistics: np.ndarray, groups: Sequence[Hashable]) -> np.ndarray:
    """Counts summed by group, such as a photograph: (sentences, K) -> (groups, K).

    Sentences of one group share what makes them hard. Drawing them one by one pretends
    that they were independent, and makes the interval too narrow; drawing whole groups
    does not.

    Raises:
        ValueError: there is not one group a sentence.
    """
    if len(groups) != len(statistics):
        raise ValueError(
            f"groups must name one group a sentence, got {len(groups)} for"
            f" {len(statistics)}"
        )
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

    The p-value is the share of draws whose difference, less the mean difference of all
    draws, exceeds the difference on the whole set: (1 + number of those) / (1 +
    n_resamples), as in SacreBLEU and Moses. Systems with equal counts on every sentence
    have p = 1, where that formula would call them different.

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
    statistics = [
        metric.statistics(outputs, references) for outputs in (baseline, system)
    ]
    if groups is not None:
        statistics = [by_group(counts, groups) for counts in statistics]
    first, second = (
        metric.values(counts.sum(axis=0, keepdims=True)).item() for counts in statistics
    )
    before, after = (
        resampled_values(metric, counts, n_resamples=n_resamples, seed=seed)
        for counts in statistics
    )
    distances = np.abs(after - before)
    n_larger = np.count_nonzero(distances - distances.mean() > abs(second - first))
    return Comparison(
        name=metric.name,
        baseline=first,
        system=second,
        difference=_interval(after - before, confidence, seed),
        share_higher=float(np.mean(after > before)),
        p_value=(
            1.0
            if np.array_equal(statistics[0], statistics[1])
            else (n_larger + 1) / (n_resamples + 1)
        ),
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
    """How often each draw holds each sentence, in blocks (draws, sentences)."""
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
    return Interval(
        float(ordered[n_cut]), float(ordered[-1 - n_cut]), confidence, len(values), seed
    )


def score(
    metric: Metric,
    hypotheses: Sequence[Any],
    references: Sequence[Any],
    *,
    n_in_file: int | None = None,
    protocol: str = "",
    n_resamples: int = 0,
    confidence: float = 0.95,
    seed: int = 12345,
    groups: Sequence[Hashable] | None = None,
) -> Score:
    """Score a test set as a whole: the sentences' counts are summed first.

    Example:
        >>> print(score(CER(), ["Xin chao"], ["Xin chào"], protocol="one line"))
        CER|nrefs:1|unit:character|unicode:NFC|n:1/1|...|protocol:one line|... = 0.1250

    Args:
        metric: such as `BLEU(tokenize="zh")`.
        hypotheses: what the system gave, one entry a sentence.
        references: what is right: `references[i]` belongs to `hypotheses[i]`, and may
            be a list of several texts where the metric takes them.
        n_in_file: sentences of the test file, where that is not the number scored.
        protocol: split, decoding and post-processing in a few words, for the signature.
        n_resamples: bootstrap resamples for a confidence interval; 0 leaves it out.
        confidence: share of the resamples inside the interval.
        seed: seed of the resampling; SacreBLEU's own unless told.
        groups: of each sentence, such as its photograph; the resamples draw whole
            groups, see `by_group`.

    Raises:
        ValueError: hypotheses and references do not fit each other or the metric, or an
            option is out of range.
    """
    statistics = metric.statistics(hypotheses, references)
    totals = statistics.sum(axis=0, keepdims=True)
    drawn = statistics if groups is None else by_group(statistics, groups)
    interval = (
        interval_of(
            metric, drawn, n_resamples=n_resamples, confidence=confidence, seed=seed
        )
        if n_resamples
        else None
    )
    return Score(
        name=metric.name,
        value=metric.values(totals).item(),
        signature=signature(
            metric,
            references,
            n_in_file=len(references) if n_in_file is None else n_in_file,
            protocol=protocol,
            n_resamples=n_resamples,
            seed=seed,
            n_groups=0 if groups is None else len(set(groups)),
        ),
        interval=interval,
        details=metric.details(totals[0]),
    )


def sentence_scores(
    metric: Metric, hypotheses: Sequence[Any], references: Sequence[Any]
) -> np.ndarray:
    """The score of every sentence by itself, (sentences,).

    BLEU of single sentences needs `effective_order=True`, or short ones are measured by
    n-grams that they cannot have.

    Raises:
        ValueError: hypotheses and references do not fit each other or the metric.
    """
    return metric.values(metric.statistics(hypotheses, references))
