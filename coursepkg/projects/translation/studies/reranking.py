"""Reranking n-best lists by a language model or a model that translates back.

    score(y) = (log p(y | x) + weight_lm * log p_LM(y) + weight_reverse * log p(x | y) +
               weight_length * |y|) / ((5 + |y|) / 6)^alpha

alpha is that of the search, so that weights of 0 are its own choice. The weights are
chosen by BLEU on one half of the dev part and judged on the other half, once.

The reverse score is the noisy channel (Yee et al., arXiv 1908.05731): a translation
that leaves words out may be likely given its source; the source is not likely given it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import Tensor, nn

from coursepkg.app.output import check_out_file
from coursepkg.decoding.beam import length_penalty_of
from coursepkg.decoding.rerank import (
    Scorer,
    language_model_scorer,
    model_log_prob,
    n_tokens,
    rerank,
)
from coursepkg.decoding.step import Hypothesis
from coursepkg.metrics.scoring import Metric, compare, score, sentence_scores
from coursepkg.projects.translation.confidence import read_back
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair, to_scorer
from coursepkg.projects.translation.evaluate import N_RESAMPLES, bleu_of, dev_halves
from coursepkg.projects.translation.knn_mt import neighbours_settings
from coursepkg.projects.translation.placeholders import Masked, marked, restore
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.decoding_study import Decoder, Method
from coursepkg.projects.translation.studies.language_model import load_language_model
from coursepkg.projects.translation.studies.measured_run import (
    GridStudy,
    open_system,
    report_study,
)
from coursepkg.validation import check_count

if TYPE_CHECKING:
    from coursepkg.projects.translation.study_commands import Rerank


def noisy_channel_scorer(
    reverse: Translator,
    translator: Translator,
    sources: Sequence[str],
    source: str,
    target: str,
) -> Scorer:
    """Scorer: log p(x | y) of a model that translates from `target` into `source`.

    A hypothesis is read as text and cut into subwords again, so the vocabulary of the
    reverse model may be another one; see `read_back`.

    Args:
        reverse: the model that translates back; it may be the one that searched.
        translator: the model that searched.
        sources: for each sentence its source.

    Raises:
        ValueError: the model does not translate back.
    """
    reverse.check_direction(target, source)
    ours, theirs = ([*map(one.masked, sources)] for one in (translator, reverse))

    def score(sentences: Sequence[int], hypotheses: Sequence[Hypothesis]) -> Tensor:
        pairs = []
        for i, one in zip(sentences, hypotheses, strict=True):
            line = restore(translator.line_of(one, ours[i]), ours[i].values)
            pairs.append((theirs[i].text, marked(line, theirs[i].values)))
        found = read_back(reverse, pairs, source, target)
        return torch.tensor([total for total, _ in found], dtype=torch.float64)

    return score


def scorers_of(
    translator: Translator,
    language_model: nn.Module | None,
    reverse: Translator | None,
    pairs: Sequence[SentencePair],
    parts: Parts,
    batch_size: int = 64,
) -> dict[str, Scorer]:
    """Scorers by name: a language model (`lm`), a reverse model (`reverse`)."""
    scorers: dict[str, Scorer] = {}
    if language_model is not None:
        device = next(language_model.parameters()).device
        scorers["lm"] = language_model_scorer(
            language_model, batch_size=batch_size, device=device
        )
    if reverse is not None:
        languages, texts = (parts.source, parts.target), [p.source for p in pairs]
        scorers["reverse"] = noisy_channel_scorer(
            reverse, translator, texts, *languages
        )
    return scorers


class NBestLists:
    """The n-best lists of some pairs, scored once by each model.

    Args:
        pairs: whose sources are translated; one that is longer than the model takes is
            cut.
        scorers: the other models by name.
        n_best: beams, and translations in each list.
        alpha: exponent of the search's length penalty.
    """

    def __init__(
        self,
        translator: Translator,
        pairs: Sequence[SentencePair],
        parts: Parts,
        scorers: Mapping[str, Scorer],
        n_best: int,
        alpha: float,
        batch_size: int = 64,
    ) -> None:
        texts, self.target = [p.source for p in pairs], parts.target
        self.decoder = Decoder(translator, batch_size)
        self.masked, ids, _ = self.decoder.encoded(texts, parts.source, parts.target)
        self.found = self.decoder.n_best(ids, Method(n_best, alpha), n_best)
        self._is_exported = translator.exported is not None
        self.metric: Metric = bleu_of(parts.target)
        self.references = [to_scorer(p.target, parts.target) for p in pairs]
        flat = [one for found in self.found for one in found]
        numbers = [number for number, found in enumerate(self.found) for _ in found]
        self._known = {name: scorer(numbers, flat) for name, scorer in scorers.items()}
        self._known["model"] = model_log_prob(numbers, flat)
        self._known["length"] = n_tokens(numbers, flat)

    @property
    def first(self) -> list[str]:
        """The search's own best."""
        first = [found[0] for found in self.found]
        return [*map(self._text, first, self.masked)]

    def reranked(
        self, weights: Mapping[str, float], *, alpha: float = 0.0
    ) -> list[str]:
        """The best by the weighted sum, divided by the length penalty of the search.

            score(y) = (log p(y | x) + sum_i weight_i * score_i(x, y)) / ((5 + |y|) /
            6)^alpha

        With the alpha of the search and weights of 0 that is the search's own best. An
        exported model divides by |y|^alpha instead, and so does this.

        Args:
            weights: of the other models by name, and of the tokens, `length`.
            alpha: exponent of the penalty; 0 ranks by the sum alone.
        """
        length = self._known["length"]
        penalty = (
            length**alpha if self._is_exported else length_penalty_of(length, alpha)
        )
        scorers: dict[str, tuple[Scorer, float]] = {
            name: (_constant(self._known[name] / penalty), weight)
            for name, weight in ({"model": 1.0} | dict(weights)).items()
        }
        best = rerank(self.found, scorers)
        # A hypothesis that the limit cut off stands behind the finished ones, as in the
        # search.
        first = [max(own, key=lambda r: r.hypothesis.finished) for own in best]
        return [*map(self._text, (one.hypothesis for one in first), self.masked)]

    def oracle(self) -> list[str]:
        """Of each list the translation of highest sentence BLEU."""
        metric, best = bleu_of(self.target, sentence=True), []
        rows = zip(self.found, self.masked, self.references, strict=True)
        for found, part, reference in rows:
            texts = [self._text(one, part) for one in found]
            scores = sentence_scores(metric, texts, [reference] * len(texts))
            best.append(texts[int(np.argmax(scores))])
        return best

    def bleu(self, texts: Sequence[str]) -> float:
        """Of translations against the references."""
        return float(score(self.metric, texts, self.references).value)

    def _text(self, one: Hypothesis, part: Masked) -> str:
        return to_scorer(self.decoder.line(one, part), self.target)


def _constant(scores: Tensor) -> Scorer:
    """Scorer: what a model gave all hypotheses when they were found."""
    return lambda sentences, hypotheses: scores


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
    """The grid, its choice, and what that is worth on the other half."""

    grid: GridStudy
    """All weights; of equal BLEU those with smaller weights come first."""
    oracle: float
    """BLEU on the second half if of each list the translation of highest sentence BLEU
    were taken."""
    n_changed: int
    """Sentences of the second half whose best translation the reranking changed."""
    n_best: int
    """Translations in each list, at most."""

    def __str__(self) -> str:
        grid, best = self.grid, self.grid.chosen
        rows = [
            f"{row.lm:5.2f}  {row.reverse:7.2f}  {row.length:6.2f}  {row.bleu:5.2f}"
            for row in grid.rows[:10]
        ]
        choice = (
            f"weights chosen on {grid.n_choose} sentences of dev: lm {best.lm:g},"
            f" reverse {best.reverse:g}, length {best.length:g}"
        )
        changed = (
            f"{self.n_changed} of {grid.n_score} translations changed; the best of each"
            f" list of up to {self.n_best} would give {self.oracle:.2f}"
        )
        head = "   lm  reverse  length   BLEU"
        return "\n".join([head, *rows, *grid.lines(choice, "weight of "), changed])

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        document = self.grid.as_json(asdict(self.grid.chosen))
        document["score"] |= {"oracle": self.oracle, "n_changed": self.n_changed}
        return document | {"n_best": self.n_best}


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
    """Choose reranking weights on one half of dev, score on the other.

    Args:
        language_model: a `LanguageModel` of the target vocabulary, in eval mode; None
            leaves it out.
        parts: the corpus; its test part is not touched.
        reverse: translates back; may be `translator` itself if it knows both
            directions. None leaves it out.
        n_best: beams, and translations in each list.
        lm_weights: of log p_LM(y), each combined with each of the others.
        reverse_weights: of log p(x | y).
        length_weights: of the length in tokens.
        length_penalty: of the search; None takes the recipe's.
        n_resamples: bootstrap resamples behind the comparison.

    Raises:
        ValueError: the dev part is too small, `reverse` does not translate back, or a
            weight is no finite number.
    """
    if reverse is not None:
        reverse.check_direction(parts.target, parts.source)
    choose, judge = (half[:limit] if limit else half for half in dev_halves(parts))
    alpha = (
        translator.recipe.length_penalty if length_penalty is None else length_penalty
    )
    first, second = (
        NBestLists(
            translator,
            half,
            parts,
            scorers_of(translator, language_model, reverse, half, parts, batch_size),
            n_best,
            alpha,
            batch_size,
        )
        for half in (choose, judge)
    )

    def reranked(lists: NBestLists, lm: float, back: float, length: float) -> list[str]:
        given = {"lm": lm} if language_model is not None else {}
        given |= {"reverse": back} if reverse is not None else {}
        return lists.reranked(given | {"length": length}, alpha=alpha)

    rows = [
        WeightRow(lm, length, first.bleu(reranked(first, lm, back, length)), back)
        for lm, back, length in product(
            lm_weights if language_model is not None else (0.0,),
            reverse_weights if reverse is not None else (0.0,),
            length_weights,
        )
    ]
    rows.sort(
        key=lambda row: (-row.bleu, abs(row.lm) + abs(row.reverse) + abs(row.length))
    )
    best, before = rows[0], second.first
    after = reranked(second, best.lm, best.reverse, best.length)
    return RerankStudy(
        GridStudy(
            tuple(rows),
            ("lm", "reverse", "length"),
            len(choose),
            len(judge),
            first.bleu(first.first),
            compare(
                second.metric, before, after, second.references, n_resamples=n_resamples
            ),
        ),
        second.bleu(second.oracle()),
        sum(a != b for a, b in zip(before, after, strict=True)),
        n_best,
    )


def rerank_command(options: "Rerank") -> int:
    """Print the grid and the comparison; --out also writes them as a JSON file."""
    check_count("--n-best", options.n_best, least=2)
    check_count("--limit", options.limit, least=0)
    check_out_file(options.common.out, "study.json")
    if not (options.lm or options.reverse_model):
        raise ValueError(
            "--lm or --reverse-model FOLDER must be given, the folder that lm-train"
            " wrote"
        )
    if options.reverse_weight and options.reverse_model is None:
        raise ValueError(
            "--reverse-weight needs --reverse-model FOLDER, whose score it weighs"
        )
    translator, name, parts = open_system(
        options.common, options.model, neighbours=options.neighbours
    )
    lm, back = options.lm, options.reverse_model
    study = rerank_study(
        translator,
        None if lm is None else load_language_model(lm, translator, parts.target),
        parts,
        reverse=None if back is None else Translator.load(back),
        reverse_weights=options.reverse_weight or REVERSE_WEIGHTS,
        n_best=options.n_best,
        limit=options.limit,
        batch_size=options.batch_size,
    )
    document = {
        "model": name,
        "lm": lm and lm.name,
        "reverse_model": back and back.name,
        "neighbours": neighbours_settings(translator),
        **study.as_json(),
    }
    return report_study(options.common, parts, str(study), document)
