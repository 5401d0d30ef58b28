"""Rerank an n-best list by models that could not take part in the search.

    score(y) = sum_i weight_i * score_i(y)

This is the log-linear model of statistical translation (Och and Ney, ACL 2002). The
usual parts: log p(y | x) of the model itself, log p(y) of a language model (fluency),
log p(x | y) of a model that translates backwards (nothing left out), and the length,
since each of the others prefers short sequences.

`token_log_probs` scores sequences that are there already: a reference, a sample, or the
hypothesis of another model.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from coursepkg.decoding.step import Hypothesis
from coursepkg.text.vocabulary import BOS, EOS, PAD, pad_batch
from coursepkg.validation import check_count, check_finite

Predict = Callable[[Tensor], Tensor]
"""Target inputs (B, T), padded behind their ends -> logits (B, T, V): a
`LanguageModel`, or an encoder-decoder whose source is given, as `lambda tgt_in:
model(src, tgt_in)`."""


@torch.no_grad()
def token_log_probs(
    predict: Predict,
    targets: Sequence[Sequence[int]],
    *,
    bos: int = BOS,
    eos: int | None = EOS,
    device: torch.device | str = "cpu",
) -> Tensor:
    """log p(y_t | y_<t) of every token of given sequences, under teacher forcing.

    Args:
        predict: the model, in eval mode; see `Predict`.
        targets: B lists of ids, without BOS and EOS; a list may be empty.
        bos: put in front of every input.
        eos: counted as the last token of every target; None leaves it out (sequences
            that were cut off).
        device: where the model computes.

    Returns:
        (B, T) natural logarithms; T is the longest target, EOS included; 0 behind the
        end of a shorter one.

    Raises:
        ValueError: no targets, an id outside the vocabulary, or the model returns
            something else than logits.
    """
    if not len(targets):
        raise ValueError("targets must hold at least one sequence, got none")
    check_count("bos", bos, least=0)
    ends = [] if eos is None else [eos]
    rows = [[*target, *ends] for target in targets]
    longest = max(len(row) for row in rows)
    if not longest:
        return torch.zeros(len(rows), 0, device=device)
    padded = [row + [PAD] * (longest - len(row)) for row in rows]
    ids = torch.tensor(padded, device=device)
    lengths = torch.tensor([[len(row)] for row in rows], device=device)  # (B, 1)
    is_real = torch.arange(longest, device=device) < lengths
    if int(ids.min()) < 0:
        raise ValueError(f"targets must hold ids of at least 0, got {int(ids.min())}")
    given = torch.cat([torch.full_like(ids[:, :1], bos), ids[:, :-1]], dim=1)
    try:
        logits = predict(given)
    except IndexError as reason:
        raise ValueError(
            "targets and bos must hold ids of the model's vocabulary, got ids up to"
            f" {int(given.max())}"
        ) from reason
    if logits.shape[:-1] != ids.shape or not logits.is_floating_point():
        raise ValueError(
            f"predict must return logits {(*ids.shape, 'V')}, got {logits.dtype}"
            f" {tuple(logits.shape)}"
        )
    if int(ids.max()) >= logits.shape[-1]:
        raise ValueError(
            f"targets must hold ids below V = {logits.shape[-1]}, got {int(ids.max())}"
        )
    if logits.dtype in (torch.float16, torch.bfloat16):
        logits = logits.float()
    found = logits.log_softmax(dim=-1).gather(-1, ids[..., None])[..., 0]
    return found.masked_fill(~is_real, 0.0)


Scorer = Callable[[Sequence[int], Sequence[Hypothesis]], Tensor]
"""(number of the sentence of each, M hypotheses) -> scores (M,); larger is better."""


@dataclass(frozen=True)
class Reranked:
    """A hypothesis with its new score."""

    hypothesis: Hypothesis
    """As the search returned it, its own score included."""
    score: float
    """Weighted sum of `parts`."""
    parts: dict[str, float]
    """By name what each scorer gave, before its weight."""


def rerank(
    n_best: Sequence[Sequence[Hypothesis]],
    scorers: Mapping[str, tuple[Scorer, int | float]],
) -> list[list[Reranked]]:
    """Order each sentence's hypotheses by a weighted sum of scores.

    Args:
        n_best: for each sentence its hypotheses, as `beam_search` and `sample` return
            them.
        scorers: by name a scorer and its weight: `model_log_prob`, `n_tokens`,
            `language_model_scorer(...)`, `reverse_scorer(...)` or any other function.

    Returns:
        For each sentence its hypotheses, best first; equal ones keep their order.

    Raises:
        ValueError: no scorer, a weight that is no finite number, or a scorer that does
            not give one number each.
    """
    if not scorers:
        raise ValueError("scorers must hold at least one scorer, got none")
    flat = [hypothesis for found in n_best for hypothesis in found]
    sentences = [number for number, found in enumerate(n_best) for _ in found]
    parts = {
        name: _scores(name, scorer, sentences, flat)
        for name, (scorer, _) in scorers.items()
    }
    ordered: list[list[Reranked]] = [[] for _ in n_best]
    for place, (number, hypothesis) in enumerate(zip(sentences, flat, strict=True)):
        own = {name: values[place] for name, values in parts.items()}
        score = sum(
            _weight(name, weight) * own[name] for name, (_, weight) in scorers.items()
        )
        ordered[number].append(Reranked(hypothesis, score, own))
    return [sorted(found, key=lambda r: -r.score) for found in ordered]


def model_log_prob(
    sentences: Sequence[int], hypotheses: Sequence[Hypothesis]
) -> Tensor:
    """Scorer: what the search's own model gave, log p(y | x)."""
    return torch.tensor([h.log_prob for h in hypotheses], dtype=torch.float64)


def n_tokens(sentences: Sequence[int], hypotheses: Sequence[Hypothesis]) -> Tensor:
    """Scorer: tokens of each hypothesis, EOS included."""
    lengths = [len(h.token_log_probs) for h in hypotheses]
    return torch.tensor(lengths, dtype=torch.float64)


def language_model_scorer(
    predict: Predict,
    *,
    bos: int = BOS,
    eos: int = EOS,
    batch_size: int = 64,
    device: torch.device | str = "cpu",
) -> Scorer:
    """Scorer: log p(y) of a language model over the target vocabulary.

    Args:
        predict: ids (M, T) -> logits (M, T, V), as a `LanguageModel` in eval mode.
        bos: starts every sequence.
        eos: ends every hypothesis that finished.
        batch_size: hypotheses at once.
        device: where the model computes.
    """
    check_count("batch_size", batch_size)

    def score(sentences: Sequence[int], hypotheses: Sequence[Hypothesis]) -> Tensor:
        targets = [[*h.ids, eos] if h.finished else list(h.ids) for h in hypotheses]
        sums = []
        for i in range(0, len(targets), batch_size):
            some = targets[i : i + batch_size]
            found = token_log_probs(predict, some, bos=bos, eos=None, device=device)
            sums.append(found.sum(dim=1))
        return torch.cat(sums).double().cpu()

    return score


def reverse_scorer(
    model: Callable[[Tensor, Tensor], Tensor],
    sources: Sequence[Sequence[int]],
    *,
    bos: int = BOS,
    eos: int = EOS,
    batch_size: int = 64,
    device: torch.device | str = "cpu",
) -> Scorer:
    """Scorer: log p(x | y) of a model that translates backwards.

    Args:
        model: (src (M, S), tgt_in (M, T)) -> logits (M, T, V), as a `Transformer` in
            eval mode; its source is a hypothesis with EOS behind it.
        sources: for each sentence its source ids, without BOS and EOS.
        bos: starts every target.
        eos: ends every source and every target.
        batch_size: hypotheses at once.
        device: where the model computes.
    """
    check_count("batch_size", batch_size)

    def score_chunk(numbers: Sequence[int], hypotheses: Sequence[Hypothesis]) -> Tensor:
        src = pad_batch([[*h.ids, eos] for h in hypotheses])[0].to(device)
        targets = [list(sources[number]) for number in numbers]
        found = token_log_probs(
            lambda tgt_in: model(src, tgt_in), targets, bos=bos, eos=eos, device=device
        )
        return found.sum(dim=1)

    def score(sentences: Sequence[int], hypotheses: Sequence[Hypothesis]) -> Tensor:
        if sentences and max(sentences) >= len(sources):
            raise ValueError(
                f"sources must hold one a sentence ({max(sentences) + 1}), got"
                f" {len(sources)}"
            )
        starts = range(0, len(sentences), batch_size)
        cuts = [slice(start, start + batch_size) for start in starts]
        sums = [score_chunk(sentences[cut], hypotheses[cut]) for cut in cuts]
        return torch.cat(sums).double().cpu()

    return score


def _weight(name: str, weight: int | float) -> int | float:
    check_finite(f"weight of {name!r}", weight)
    return weight


def _scores(
    name: str,
    scorer: Scorer,
    sentences: Sequence[int],
    hypotheses: Sequence[Hypothesis],
) -> list[float]:
    if not hypotheses:
        return []
    scores = scorer(sentences, hypotheses)
    if scores.shape != (len(hypotheses),):
        raise ValueError(
            f"scorer {name!r} must return one score a hypothesis ({len(hypotheses)},),"
            f" got {tuple(scores.shape)}"
        )
    is_nan = scores.isnan()
    if is_nan.any():
        place = int(is_nan.nonzero()[0])
        raise ValueError(
            f"scorer {name!r} must return numbers, got NaN for hypothesis {place}"
        )
    return scores.tolist()
