"""The n-best lists of a corpus with the scores of the models that shall choose among them."""

from collections.abc import Mapping, Sequence

import numpy as np
from torch import Tensor, nn

from coursepkg.decoding.beam_parts import length_penalty_of
from coursepkg.decoding.hypothesis import Hypothesis
from coursepkg.decoding.rerank import Scorer, language_model_scorer, model_log_prob, n_tokens, rerank
from coursepkg.metrics.scoring import score, sentence_scores
from coursepkg.metrics.signature import Metric
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair, to_scorer
from coursepkg.projects.translation.evaluate import bleu_of
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.reranking.noisy_channel import noisy_channel_scorer
from coursepkg.projects.translation.studies.decoding_methods import Decoder, Method
from coursepkg.projects.translation.tokenizers import cut_sources


def scorers_of(
    translator: Translator,
    language_model: nn.Module | None,
    reverse: Translator | None,
    pairs: Sequence[SentencePair],
    parts: Parts,
    batch_size: int = 64,
) -> dict[str, Scorer]:
    """What a language model (`lm`) and a model that translates back (`reverse`) say of translations of some pairs."""
    scorers: dict[str, Scorer] = {}
    if language_model is not None:
        device = next(language_model.parameters()).device
        scorers["lm"] = language_model_scorer(language_model, batch_size=batch_size, device=device)
    if reverse is not None:
        languages, texts = (parts.source, parts.target), [p.source for p in pairs]
        scorers["reverse"] = noisy_channel_scorer(
            reverse, translator.subwords, texts, *languages, batch_size=batch_size
        )
    return scorers


class NBestLists:
    """The n-best lists of some pairs, scored once by each model.

    Args:
        translator: the system.
        pairs: whose sources are translated; one that is longer than the model takes is cut.
        parts: the corpus.
        scorers: the other models by name.
        n_best: beams, and translations in each list.
        alpha: exponent of the search's length penalty.
        batch_size: sentences at once.
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
        texts = [p.source for p in pairs]
        ids, _ = cut_sources(translator.subwords, texts, parts.source, parts.target, translator.longest)
        decoder = Decoder(translator, batch_size)
        self.found = decoder.n_best(ids, Method(n_best, alpha), n_best)
        self.subwords, self.target = translator.subwords, parts.target
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
        return [self._text(found[0]) for found in self.found]

    def reranked(self, weights: Mapping[str, float], *, alpha: float = 0.0) -> list[str]:
        """The best by the weighted sum, divided by the length penalty of the search.

            score(y) = (log p(y | x) + sum_i weight_i * score_i(x, y)) / ((5 + |y|) / 6)^alpha

        With the alpha of the search and weights of 0 that is the search's own best.

        Args:
            weights: of the other models by name, and of the tokens, `length`.
            alpha: exponent of the penalty; 0 ranks by the sum alone.
        """
        penalty = length_penalty_of(self._known["length"], alpha)
        scorers: dict[str, tuple[Scorer, float]] = {
            name: (_constant(self._known[name] / penalty), weight)
            for name, weight in ({"model": 1.0} | dict(weights)).items()
        }
        best = rerank(self.found, scorers)
        # A hypothesis that the limit cut off stands behind the finished ones, as in the search.
        return [self._text(max(found, key=lambda r: r.hypothesis.finished).hypothesis) for found in best]

    def oracle(self) -> list[str]:
        """Of each list the translation of highest sentence BLEU, which only the reference can tell."""
        metric = bleu_of(self.target, sentence=True)
        best = []
        for found, reference in zip(self.found, self.references, strict=True):
            texts = [self._text(one) for one in found]
            best.append(texts[int(np.argmax(sentence_scores(metric, texts, [reference] * len(texts))))])
        return best

    def bleu(self, texts: Sequence[str]) -> float:
        """Of translations against the references."""
        return float(score(self.metric, texts, self.references).value)

    def _text(self, one: Hypothesis) -> str:
        return to_scorer(self.subwords.target.decode(one.ids), self.target)


def _constant(scores: Tensor) -> Scorer:
    """Scorer: what a model gave all hypotheses when they were found."""
    return lambda sentences, hypotheses: scores
