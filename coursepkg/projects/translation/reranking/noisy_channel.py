"""What a model that translates back says of a translation: the noisy channel.

    log p(x | y): how well the source x can be told from its translation y

A translation that leaves words out, or makes some up, may be likely under log p(y | x); from it the source is not.
Bayes' rule has p(y | x) in proportion to p(x | y) p(y); in practice the parts are weighted and added to the direct
model's own score.
Source: Yee et al. (arXiv 1908.05731).
"""

from collections.abc import Sequence
from dataclasses import replace

from torch import Tensor

from coursepkg.decoding.hypothesis import Hypothesis
from coursepkg.decoding.rerank import Scorer, reverse_scorer
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.tokenizers import Subwords


def noisy_channel_scorer(
    reverse: Translator,
    subwords: Subwords,
    sources: Sequence[str],
    source: str,
    target: str,
    *,
    batch_size: int = 64,
) -> Scorer:
    """Scorer: log p(x | y) of a model that translates from `target` into `source`.

    A hypothesis is read as text and cut into subwords again, with the reverse model's own tag, so that its vocabulary
    may be another one, and the model that wrote the hypotheses may serve itself if it knows both directions. What is
    too long for it is cut.

    Args:
        reverse: the model that translates back.
        subwords: of the hypotheses.
        sources: for each sentence its source, as it stands in the corpus.
        source: language of the sources.
        target: language of the hypotheses.
        batch_size: hypotheses at once.

    Raises:
        ValueError: the model does not translate back.
    """
    reverse.check_direction(target, source)
    wanted = [ids[: reverse.longest] for ids in reverse.subwords.encode_targets(sources, source)]
    device = next(reverse.model.parameters()).device
    score_ids = reverse_scorer(reverse.model, wanted, batch_size=batch_size, device=device)

    def score(sentences: Sequence[int], hypotheses: Sequence[Hypothesis]) -> Tensor:
        lines = [subwords.target.decode(one.ids) for one in hypotheses]
        ids = reverse.subwords.encode_sources(lines, target, source)
        read = [
            replace(one, ids=tuple(own[: reverse.longest])) for one, own in zip(hypotheses, ids, strict=True)
        ]
        return score_ids(sentences, read)

    return score
