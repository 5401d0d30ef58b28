"""Greedy decoding and sampling: one token after the other, never taken back."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from coursepkg.decoding.filters import (
    Filter,
    RepetitionPenalty,
    Temperature,
    TopK,
    TopP,
)
from coursepkg.decoding.step import (
    DecoderState,
    DecodingStep,
    FinishedHypotheses,
    Hypothesis,
    check_limits,
)
from coursepkg.text.vocabulary import BOS, EOS
from coursepkg.validation import check_count

Pick = Callable[[Tensor, Tensor, Tensor, Tensor], Tensor]
"""(log_probs (B, R, V), sentence (B,), sample (B, R), position (B,)) -> tokens (B, R).
"""


@torch.no_grad()
def greedy(
    state: DecoderState,
    *,
    max_len: int | Tensor,
    bos: int = BOS,
    eos: int | None = EOS,
    prefix: Sequence[Sequence[int]] | None = None,
    filters: Sequence[Filter] = (),
) -> list[Hypothesis]:
    """Take the most likely token at every step: y_t = argmax p(y | y_<t, x).

    Args:
        state: a fresh state, one row a sentence; `model.start(...)`, of a model in eval
            mode.
        max_len: most tokens to produce, EOS included and the prefix not: one number, or
            (B,) one a sentence (see `source_limits`).
        bos: id that starts every target.
        eos: id that ends one; None never ends before the limit.
        prefix: for each sentence the ids it must begin with; they are given, not scored
            and not returned.
        filters: functions (logits, history) -> logits, applied in this order;
            log-probabilities are those after them.

    Returns:
        One hypothesis a sentence.

    Raises:
        ValueError: an argument is malformed, or the logits leave no token to choose
            from.
    """

    def pick(
        log_probs: Tensor, sentence: Tensor, sample: Tensor, position: Tensor
    ) -> Tensor:
        return log_probs.argmax(dim=-1)

    decoder = DecodingStep(state, bos=bos, eos=eos, prefix=prefix, filters=filters)
    limits = check_limits(max_len, state.n_rows, state.device)
    return [found[0] for found in _generate(decoder, limits, 1, pick)]


@torch.no_grad()
def sample(
    state: DecoderState,
    *,
    max_len: int | Tensor,
    seed: int,
    n_samples: int = 1,
    temperature: int | float = 1.0,
    top_k: int | None = None,
    top_p: int | float | None = None,
    repetition_penalty: int | float = 1.0,
    bos: int = BOS,
    eos: int | None = EOS,
    prefix: Sequence[Sequence[int]] | None = None,
    filters: Sequence[Filter] = (),
    sentence_numbers: Sequence[int] | None = None,
) -> list[list[Hypothesis]]:
    """Draw every token from the model's distribution, after the filters.

    The filters act in this order: `filters`, repetition penalty, temperature, top-k,
    top-p. Token t of a sample is the inverse of the cumulative distribution at a
    uniform number that depends on (seed, sentence number, sample, t) alone: what else
    is in the batch, and how many samples there are, changes no draw.

    Args:
        state, max_len, bos, eos, prefix: as in `greedy`.
        seed: at least 0.
        n_samples: independent samples of each sentence.
        temperature: see `Temperature`; 1 changes nothing.
        top_k: see `TopK`; None keeps all.
        top_p: see `TopP`; None keeps all.
        repetition_penalty: see `RepetitionPenalty`; 1 changes nothing.
        filters: functions (logits, history) -> logits; log-probabilities are those
            after all filters.
        sentence_numbers: the number of each sentence, at least 0, in a corpus that is
            decoded in several batches; None counts from 0 in this batch.

    Returns:
        For each sentence its samples, sample 0 first. They may repeat: independent
        draws do.

    Raises:
        ValueError: an argument is malformed, or the logits leave no token to choose
            from.
    """
    check_count("n_samples", n_samples)
    chosen: list[Filter] = [
        *filters,
        RepetitionPenalty(repetition_penalty),
        Temperature(temperature),
    ]
    chosen += [] if top_k is None else [TopK(top_k)]
    chosen += [] if top_p is None else [TopP(top_p)]
    neutral = (RepetitionPenalty(1.0), Temperature(1.0))
    decoder = DecodingStep(
        state,
        bos=bos,
        eos=eos,
        prefix=prefix,
        filters=[keep for keep in chosen if keep not in neutral],
    )
    limits = check_limits(max_len, state.n_rows, state.device)
    draws = _draws(seed, n_samples, sentence_numbers, limits)

    def pick(
        log_probs: Tensor, sentence: Tensor, sample: Tensor, position: Tensor
    ) -> Tensor:
        below = log_probs.double().exp().cumsum(dim=-1)  # (B, R, V)
        mass = below[..., -1]
        # u < 1, but u * mass may round up to the mass, beyond which there is no token.
        most = torch.nextafter(mass, torch.zeros_like(mass))
        point = torch.minimum(
            draws[sentence[:, None], sample, position[:, None]] * mass, most
        )
        token = torch.searchsorted(below, point[..., None], right=True)[..., 0]
        return token.clamp(max=log_probs.shape[-1] - 1)

    return _generate(decoder, limits, n_samples, pick)


def _draws(
    seed: int, n_samples: int, numbers: Sequence[int] | None, limits: Tensor
) -> Tensor:
    """Uniform numbers in [0, 1) as (B, n_samples, longest limit)."""
    check_count("seed", seed, least=0)
    numbers = range(len(limits)) if numbers is None else numbers
    if len(numbers) != len(limits):
        raise ValueError(
            f"sentence_numbers must be one a sentence ({len(limits)}), got"
            f" {len(numbers)}"
        )
    for row, number in enumerate(numbers):
        check_count(f"sentence_numbers[{row}]", number, least=0)
    longest = int(limits.max()) if len(limits) else 0
    places = [[seed, number, s] for number in numbers for s in range(n_samples)]
    rows = np.array([np.random.default_rng(p).random(longest) for p in places])
    shaped = rows.reshape(len(numbers), n_samples, longest)
    return torch.from_numpy(shaped).to(limits.device)


@dataclass
class _Rows:
    """The rows of the sentences that are still in the batch."""

    sentence: Tensor
    """(B,) numbers of the sentences in the whole batch."""
    sample: Tensor
    """(B, R) which sample a row is."""
    is_open: Tensor
    """bool (B, R); False where a row only fills up its sentence."""
    history: Tensor
    """(B, R, t) tokens, forced ones included."""
    log_probs: Tensor
    """(B, R, t) of these tokens."""
    total: Tensor
    """(B, R) their sum."""

    def append(self, token: Tensor, log_prob: Tensor) -> None:
        """Add a column: token and log_prob (B, R)."""
        self.total = self.total + log_prob
        self.history = torch.cat([self.history, token[..., None]], dim=-1)
        new = log_prob[..., None]
        self.log_probs = torch.cat([self.log_probs.to(new), new], dim=-1)

    def take(self, sentences: Tensor, rows: Tensor, is_open: Tensor) -> None:
        """Keep some sentences (B',), and of these some rows (B', R')."""
        at = (sentences[:, None], rows)
        self.sentence, self.is_open = self.sentence[sentences], is_open
        self.sample, self.total = self.sample[at], self.total[at]
        self.history, self.log_probs = self.history[at], self.log_probs[at]


def _generate(
    decoder: DecodingStep, limits: Tensor, n_samples: int, pick: Pick
) -> list[list[Hypothesis]]:
    """Grow `n_samples` rows a sentence; what has ended leaves the batch."""
    found = FinishedHypotheses(len(limits), decoder.prefix_lengths)
    rows = _first_rows(decoder, n_samples)
    n_fed = 1  # rows a sentence of the state: the samples part after the first step
    while len(rows.sentence):
        n_sentences, n_rows, t = rows.history.shape
        fed = rows.history[:, :n_fed].flatten(0, 1)
        scores = decoder.log_probs(fed, rows.sentence.repeat_interleave(n_fed))
        scores = scores.unflatten(0, (n_sentences, n_fed)).expand(-1, n_rows, -1)
        position = t - decoder.prefix_lengths[rows.sentence]
        token = pick(scores, rows.sentence, rows.sample, position.clamp(min=0))
        rows.append(token, scores.gather(-1, token[..., None])[..., 0])
        usable = rows.log_probs[..., -1] > -torch.inf
        if not usable.all():
            raise decoder.explain(~usable.all(dim=1), rows.sentence, t)
        closed = torch.zeros_like(rows.is_open)
        if decoder.eos is not None:
            closed = token == decoder.eos
        finished = closed.clone()
        closed |= (position + 1 == limits[rows.sentence])[:, None]
        if (closed & rows.is_open).any():
            _keep(found, rows, closed & rows.is_open, finished)
            _drop(decoder, rows, closed, n_fed)
        elif n_fed < n_rows:
            sentences = torch.arange(n_sentences, device=token.device)
            decoder.state.select(sentences.repeat_interleave(n_rows))
        n_fed = rows.sample.shape[1]
    return found.by_sentence()


def _first_rows(decoder: DecodingStep, n_samples: int) -> _Rows:
    first = decoder.first_history()
    n_sentences, device = len(first), first.device
    return _Rows(
        sentence=torch.arange(n_sentences, device=device),
        sample=torch.arange(n_samples, device=device).repeat(n_sentences, 1),
        is_open=torch.ones(n_sentences, n_samples, dtype=torch.bool, device=device),
        history=first[:, None].repeat(1, n_samples, 1),
        log_probs=torch.zeros(n_sentences, n_samples, first.shape[1], device=device),
        total=torch.zeros(n_sentences, n_samples, device=device),
    )


def _keep(
    found: FinishedHypotheses, rows: _Rows, done: Tensor, finished: Tensor
) -> None:
    total = rows.total[done]
    sentence = rows.sentence[:, None].expand_as(done)[done]
    kept = (rows.sample[done], rows.history[done], rows.log_probs[done])
    found.add(sentence, *kept, total, total, finished[done])


def _drop(decoder: DecodingStep, rows: _Rows, closed: Tensor, n_fed: int) -> None:
    """Leave as many rows a sentence as the sentence with most open rows has.

    A sentence with fewer open rows repeats its first one, so that nothing grows on
    behind an end.
    """
    is_open = rows.is_open & ~closed
    stay = is_open.any(dim=1).nonzero()[:, 0]
    if not len(stay):
        rows.sentence = rows.sentence[:0]
        return
    n_open = is_open[stay].sum(dim=1)
    widest = int(n_open.max())
    order = (~is_open[stay]).to(torch.int8).sort(dim=1, stable=True).indices[:, :widest]
    is_real = torch.arange(widest, device=order.device) < n_open[:, None]
    order = torch.where(is_real, order, order[:, :1])
    # Before the samples parted the state had one row a sentence, which is the past of
    # all of them.
    parents = stay[:, None] * n_fed + (order if n_fed > 1 else 0)
    kept = stay if len(stay) < len(closed) else None
    decoder.state.select(parents.expand_as(order).flatten(), kept)
    rows.take(stay, order, is_real)
