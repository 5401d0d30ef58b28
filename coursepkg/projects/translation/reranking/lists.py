"""The n-best lists of a corpus with the scores of the models that shall choose among them."""

from collections.abc import Sequence

import numpy as np
from torch import Tensor, nn

from coursepkg.decoding.hypothesis import Hypothesis
from coursepkg.decoding.rerank import Scorer, language_model_scorer, model_log_prob, n_tokens, rerank
from coursepkg.metrics.bleu import BLEU
from coursepkg.metrics.scoring import score, sentence_scores
from coursepkg.metrics.signature import Metric
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair, to_scorer
from coursepkg.projects.translation.evaluate import bleu_of
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.reranking.noisy_channel import noisy_channel_scorer
from coursepkg.projects.translation.studies.decoding_methods import Decoder, Method


class NBestLists:
    """The n-best lists of some pairs, scored once by each model."""

    def __init__(
        self,
        translator: Translator,
        language_model: nn.Module | None,
        reverse: Translator | None,
        pairs: Sequence[SentencePair],
        parts: Parts,
        n_best: int,
        alpha: float,
        batch_size: int,
    ) -> None:
        ids = translator.subwords.encode_sources([p.source for p in pairs], parts.source, parts.target)
        # A longer source is cut, as in the validations of training.
        ids = [one[: translator.longest] for one in ids]
        decoder = Decoder(translator, batch_size)
        self.found = decoder.n_best(ids, Method(n_best, alpha), n_best)
        self.subwords, self.target = translator.subwords, parts.target
        self.metric: Metric = bleu_of(parts.target)
        self.references = [to_scorer(p.target, parts.target) for p in pairs]
        scorers: dict[str, Scorer] = {}
        if language_model is not None:
            device = next(language_model.parameters()).device
            scorers["lm"] = language_model_scorer(language_model, batch_size=batch_size, device=device)
        if reverse is not None:
            languages, texts = (parts.source, parts.target), [p.source for p in pairs]
            scorers["reverse"] = noisy_channel_scorer(
                reverse, translator.subwords, texts, *languages, batch_size=batch_size
            )
        flat = [one for found in self.found for one in found]
        numbers = [number for number, found in enumerate(self.found) for _ in found]
        self._known = {name: scorer(numbers, flat) for name, scorer in scorers.items()}

    @property
    def first(self) -> list[str]:
        """The search's own best."""
        return [self._text(found[0]) for found in self.found]

    def reranked(self, lm: float, reverse: float, length: float) -> list[str]:
        """The best by the weighted sum."""
        weights = {"lm": lm, "reverse": reverse}
        scorers: dict[str, tuple[Scorer, float]] = {
            name: (_constant(scores), weights[name]) for name, scores in self._known.items()
        }
        scorers |= {"model": (model_log_prob, 1.0), "length": (n_tokens, length)}
        return [self._text(found[0].hypothesis) for found in rerank(self.found, scorers)]

    def oracle(self) -> list[str]:
        """Of each list the translation of highest sentence BLEU, which only the reference can tell."""
        metric = BLEU(tokenize="zh" if self.target == "zh" else "13a", effective_order=True)
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
