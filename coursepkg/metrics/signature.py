"""A score and its signature: all that must be equal before two scores may be compared.

    BLEU|nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|unicode:raw|n:1268/1268|data:5d41402abc4b|protocol:tst2013|...

The first fields are SacreBLEU's own (Post, arXiv 1804.08771, section 4). Behind them stand the Unicode form,
the number of sentences scored and in the file, the hash of the references, the protocol in the user's words
(split, decoding, post-processing) and the version of this library.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np

import coursepkg
from coursepkg.metrics.corpus import check_integer


@runtime_checkable
class Metric(Protocol):
    """What `score`, `sentence_scores` and `compare` need of a metric.

    A test set is scored in two steps: `statistics` gives one row a sentence, `values` turns the sum of rows into a
    score. Any subset, and any resample, is then scored without counting anything again.
    """

    @property
    def name(self) -> str:
        """The metric's usual name."""

    def settings(self) -> dict[str, str]:
        """Its fields of the signature, in order."""

    def statistics(self, hypotheses: Sequence[Any], references: Sequence[Any]) -> np.ndarray:
        """Hypotheses and references -> (sentences, K): what each sentence adds to the counts."""

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
    """In the units of the metric: 0 to 100 for BLEU, chrF and TER (TER may exceed it), a fraction for all others."""
    signature: str
    """Fields `key:value` joined by `|`."""
    interval: Interval | None = None
    """Bootstrap confidence interval, where asked for."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """What the metric counted."""

    def __str__(self) -> str:
        interval = "" if self.interval is None else f" {self.interval}"
        return f"{self.name}|{self.signature} = {format_values(self.value)[0]}{interval}"


def score_as_json(one: Score) -> dict[str, Any]:
    """Value, signature and interval of a score, as JSON can hold them."""
    signed = f"{one.name}|{one.signature}"
    return {"value": one.value, "signature": signed, "interval": interval_as_json(one.interval)}


def interval_as_json(one: Interval | None) -> list[float] | None:
    """The ends of an interval, the lower first."""
    return None if one is None else [one.lower, one.upper]


def format_values(*values: float) -> list[str]:
    """All with two decimals if the largest is at least 1, else with four: below 1 lie fractions."""
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
        protocol: split, decoding and post-processing, in a few words; left out of the signature if empty.
        n_resamples: bootstrap resamples behind the interval; 0 is none.
        seed: seed of the resampling.
        n_groups: groups that the resamples draw; 0 where they draw sentences.

    Raises:
        ValueError: n_in_file is less than the sentences scored, or the protocol cannot be a field.
    """
    check_integer("n_in_file", n_in_file, least=len(references))
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
    """First 12 hexadecimal digits of the SHA-256 of the references, their order and their Unicode form."""
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
    return entry if isinstance(entry, Sequence) and not isinstance(entry, str) else [entry]
