"""From answers to single scores: which words count, what is drawn, and where nothing can be drawn."""

from collections.abc import Hashable, Sequence

import numpy as np

from coursepkg.metrics.bootstrap import by_group, resampled_values
from coursepkg.metrics.scoring import score
from coursepkg.metrics.signature import Metric, Score
from coursepkg.projects.sign_language.answers import Answer, DrawBy, draw_groups
from coursepkg.projects.sign_language.word_f1 import WordF1

SEED = 12345
"""Of the draws; SacreBLEU's own."""


class Scorer:
    """Answers, and what all scores of them have in common.

    Args:
        answers: at least one.
        labels: all words.
        protocol: for the signatures.
        n_resamples: draws behind an interval; 0 for none.
    """

    def __init__(
        self, answers: Sequence[Answer], labels: tuple[str, ...], protocol: str = "", n_resamples: int = 0
    ) -> None:
        self.answers, self.labels = answers, labels
        self.protocol, self.n_resamples = protocol, n_resamples
        self.said, self.truths = [one.said for one in answers], [one.label for one in answers]
        signed = set(self.truths)
        self.absent = tuple(word for word in labels if word not in signed)
        """Words of the list without a clip."""

    def metric(self, words: tuple[str, ...] = (), about: str = "") -> WordF1:
        """Macro-F1 over some words; empty for all."""
        absent = tuple(word for word in self.absent if not words or word in words)
        return WordF1(self.labels, words, absent, about)

    def value(self, metric: Metric) -> float:
        """A score without interval."""
        return score(metric, self.said, self.truths).value

    def score(self, metric: Metric, by: DrawBy = "signer") -> Score:
        """A score with its interval, where one can be drawn."""
        groups = draw_groups(self.answers, by)
        can = self.n_resamples > 0 and groups is not None and self.can_draw(metric, groups, self.said)
        return score(
            metric,
            self.said,
            self.truths,
            protocol=self.protocol,
            n_resamples=self.n_resamples if can else 0,
            seed=SEED,
            groups=groups if can else None,
        )

    def can_draw(self, metric: Metric, groups: Sequence[Hashable], said: Sequence[str | None]) -> bool:
        """Whether no draw comes out that has nothing to score, as one of signers who sign no word of the tail."""
        drawn = by_group(metric.statistics(said, self.truths), groups)
        values = resampled_values(metric, drawn, n_resamples=max(2, self.n_resamples), seed=SEED)
        return not bool(np.isnan(values).any())
