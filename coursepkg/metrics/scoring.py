"""From a metric and a test set to a score with its signature."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from coursepkg.metrics.bootstrap import by_group, interval_of
from coursepkg.metrics.signature import Metric, Score, signature


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
    """Score a test set as a whole: the sentences' counts are summed first, then turned into one number.

    Example:
        >>> print(score(CER(), ["Xin chao"], ["Xin chào"], protocol="one line"))
        CER|nrefs:1|unit:character|unicode:NFC|n:1/1|data:...|protocol:one line|version:coursepkg-0.1.0 = 0.1250

    Args:
        metric: such as `BLEU(tokenize="zh")`.
        hypotheses: what the system gave, one entry a sentence.
        references: what is right: `references[i]` belongs to `hypotheses[i]`, and may be a list of several texts
            where the metric takes them.
        n_in_file: sentences of the test file, where that is not the number scored.
        protocol: split, decoding and post-processing in a few words, for the signature.
        n_resamples: bootstrap resamples for a confidence interval; 0 leaves it out.
        confidence: share of the resamples inside the interval.
        seed: seed of the resampling; SacreBLEU's own unless told.
        groups: of each sentence, such as its photograph; the resamples draw whole groups, see `bootstrap.by_group`.

    Raises:
        ValueError: hypotheses and references do not fit each other or the metric, or an option is out of range.
    """
    statistics = metric.statistics(hypotheses, references)
    totals = statistics.sum(axis=0, keepdims=True)
    drawn = statistics if groups is None else by_group(statistics, groups)
    interval = (
        interval_of(metric, drawn, n_resamples=n_resamples, confidence=confidence, seed=seed)
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


def sentence_scores(metric: Metric, hypotheses: Sequence[Any], references: Sequence[Any]) -> np.ndarray:
    """The score of every sentence by itself, (sentences,).

    BLEU of single sentences needs `effective_order=True`, or short ones are measured by n-grams that they cannot have.

    Raises:
        ValueError: hypotheses and references do not fit each other or the metric.
    """
    return metric.values(metric.statistics(hypotheses, references))
