"""Does a language model, or one that translates back, help to choose among the n best translations?

    score(y) = (log p(y | x) + weight_lm * log p_LM(y) + weight_reverse * log p(x | y) + weight_length * |y|)
               / ((5 + |y|) / 6)^alpha

alpha is that of the search, so that weights of 0 are its own choice.
The weights are chosen by BLEU on one half of the dev part and judged on the other half, once.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import Any

from torch import nn

from coursepkg.metrics.bootstrap import Comparison, compare, comparison_as_json
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.evaluate import N_RESAMPLES
from coursepkg.projects.translation.halves import at_edge, dev_halves
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.reranking.lists import NBestLists, scorers_of

LM_WEIGHTS = (0.0, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
"""What is tried for log p_LM(y)."""
LENGTH_WEIGHTS = (-0.5, -0.2, 0.0, 0.2, 0.5, 1.0, 2.0, 3.0)
"""What is tried for each token."""
REVERSE_WEIGHTS = (0.0, 0.1, 0.2, 0.4, 0.7, 1.0)
"""What is tried for log p(x | y)."""


@dataclass(frozen=True)
class WeightRow:
    """One point of the grid."""

    lm: float
    """Weight of log p_LM(y)."""
    length: float
    """Weight of the tokens of y."""
    bleu: float
    """On the half of the dev part that chooses."""
    reverse: float = 0.0
    """Weight of log p(x | y)."""


@dataclass(frozen=True)
class RerankStudy:
    """The grid, what it chose, and what that is worth on sentences that took no part in the choice."""

    rows: tuple[WeightRow, ...]
    """All points of the grid, by falling BLEU; of equal ones those with smaller weights come first."""
    n_choose: int
    """Sentences of the half that chose the weights."""
    n_score: int
    """Sentences of the half that is scored."""
    baseline_choose: float
    """BLEU of the search's own best on the first half."""
    comparison: Comparison
    """The search's own best against the reranked best on the second half."""
    oracle: float
    """BLEU on the second half if of each list the translation of highest sentence BLEU were taken."""
    n_changed: int
    """Sentences of the second half whose best translation the reranking changed."""
    n_best: int
    """Translations in each list, at most."""

    @property
    def chosen(self) -> WeightRow:
        """The weights of highest BLEU on the first half."""
        return self.rows[0]

    @property
    def at_edge(self) -> list[str]:
        """Weights of which the largest or smallest of several was chosen; 0 is no edge, it leaves the part out."""
        return at_edge(self.chosen, self.rows, ("lm", "reverse", "length"))

    def __str__(self) -> str:
        best, told = self.chosen, self.comparison
        return "\n".join(
            [
                "   lm  reverse  length   BLEU",
                *(
                    f"{row.lm:5.2f}  {row.reverse:7.2f}  {row.length:6.2f}  {row.bleu:5.2f}"
                    for row in self.rows[:10]
                ),
                f"weights chosen on {self.n_choose} sentences of dev: lm {best.lm:g}, reverse {best.reverse:g}, "
                f"length {best.length:g}, BLEU {self.baseline_choose:.2f} -> {best.bleu:.2f} there",
                f"on the other {self.n_score}: {told}",
                *(f"the weight of {name} lies at the edge of the grid; widen it" for name in self.at_edge),
                f"{self.n_changed} of {self.n_score} translations changed; "
                f"the best of each list of up to {self.n_best} would give {self.oracle:.2f}",
            ]
        )

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return {
            "rows": [asdict(row) for row in self.rows],
            "chosen": asdict(self.chosen),
            "choose": {"n": self.n_choose, "baseline": self.baseline_choose},
            "score": comparison_as_json(self.comparison)
            | {"n": self.n_score, "oracle": self.oracle, "n_changed": self.n_changed},
            "n_best": self.n_best,
        }


def rerank_study(
    translator: Translator,
    language_model: nn.Module | None,
    parts: Parts,
    *,
    reverse: Translator | None = None,
    n_best: int = 8,
    lm_weights: Sequence[float] = LM_WEIGHTS,
    reverse_weights: Sequence[float] = REVERSE_WEIGHTS,
    length_weights: Sequence[float] = LENGTH_WEIGHTS,
    length_penalty: float | None = None,
    limit: int = 0,
    batch_size: int = 64,
    n_resamples: int = N_RESAMPLES,
) -> RerankStudy:
    """Search n-best lists for the dev part, choose the weights on one half, score on the other.

    Args:
        translator: the system.
        language_model: a `LanguageModel` of the target vocabulary, in eval mode; None leaves it out.
        parts: the corpus; its test part is not touched.
        reverse: translates back; may be `translator` itself if it knows both directions. None leaves it out.
        n_best: beams, and translations in each list.
        lm_weights: of log p_LM(y), each combined with each of the others.
        reverse_weights: of log p(x | y).
        length_weights: of the length in tokens.
        length_penalty: of the search; None takes the recipe's.
        limit: sentences of each half, the first ones; 0 takes all.
        batch_size: sentences at once.
        n_resamples: bootstrap resamples behind the comparison.

    Raises:
        ValueError: the dev part is too small, `reverse` does not translate back, or a weight is no finite number.
    """
    if reverse is not None:
        reverse.check_direction(parts.target, parts.source)
    choose, judge = (half[:limit] if limit else half for half in dev_halves(parts))
    alpha = translator.recipe.length_penalty if length_penalty is None else length_penalty
    models = (translator, language_model, reverse)
    lists = [
        NBestLists(
            translator,
            half,
            parts,
            scorers_of(*models, half, parts, batch_size),
            n_best,
            alpha,
            batch_size,
        )
        for half in (choose, judge)
    ]
    grid = product(
        lm_weights if language_model is not None else (0.0,),
        reverse_weights if reverse is not None else (0.0,),
        length_weights,
    )
    rows = [
        WeightRow(
            lm,
            length,
            lists[0].bleu(lists[0].reranked(_weights(models, lm, back, length), alpha=alpha)),
            back,
        )
        for lm, back, length in grid
    ]
    rows.sort(key=lambda row: (-row.bleu, abs(row.lm) + abs(row.reverse) + abs(row.length)))
    best = rows[0]
    before = lists[1].first
    after = lists[1].reranked(_weights(models, best.lm, best.reverse, best.length), alpha=alpha)
    return RerankStudy(
        tuple(rows),
        len(choose),
        len(judge),
        lists[0].bleu(lists[0].first),
        compare(lists[1].metric, before, after, lists[1].references, n_resamples=n_resamples),
        lists[1].bleu(lists[1].oracle()),
        sum(a != b for a, b in zip(before, after, strict=True)),
        n_best,
    )


def _weights(models: tuple[Any, ...], lm: float, reverse: float, length: float) -> dict[str, float]:
    """The weights of the models that are there, and of the length."""
    _, language_model, back = models
    given = {"lm": lm} if language_model is not None else {}
    return given | ({"reverse": reverse} if back is not None else {}) | {"length": length}
