"""A model that is a table: logits by prefix, so small that all sequences can be listed. And slow searches over it."""

import itertools
import math

import numpy as np
import torch
from torch import Tensor

from coursepkg.decoding import Hypothesis, RecomputedState


class Table:
    """Random logits for every prefix of every sentence, the same at every call.

    Args:
        n_tokens: vocabulary size.
        seed: which table.
        spread: standard deviation of the logits.
        eos: a token whose logit gets `eos_bias` on top.
    """

    def __init__(
        self, n_tokens: int, seed: int, *, spread: float = 1.5, eos: int = 2, eos_bias: float = 0.0
    ) -> None:
        self.n_tokens, self.seed, self.spread = n_tokens, seed, spread
        self.eos, self.eos_bias = eos, eos_bias
        self.first = 0  # number of sentence 0 of the next state: lets a sentence stand alone
        self.largest_batch: list[int] = []

    def logits(self, sentence: int, prefix: tuple[int, ...]) -> np.ndarray:
        """prefix: the tokens so far, without BOS -> (V,)."""
        logits = self.spread * np.random.default_rng([self.seed, sentence, *prefix]).normal(
            size=self.n_tokens
        )
        if self.eos < self.n_tokens:
            logits[self.eos] += self.eos_bias
        return logits

    def log_probs(self, sentence: int, prefix: tuple[int, ...]) -> list[float]:
        logits = self.logits(sentence, prefix)
        return (logits - np.log(np.exp(logits - logits.max()).sum()) - logits.max()).tolist()

    def start(self, n_sentences: int, first: int = 0) -> RecomputedState:
        """A state of sentences first, first + 1, ..."""

        def predict(tokens: Tensor, sentence: Tensor) -> Tensor:
            self.largest_batch.append(len(tokens))
            rows = [
                self.logits(first + s, tuple(row[1:]))
                for row, s in zip(tokens.tolist(), sentence.tolist(), strict=True)
            ]
            return torch.from_numpy(np.array(rows))

        return RecomputedState(predict, n_sentences)


def penalty(length: int, alpha: float) -> float:
    return ((5 + length) / 6) ** alpha


def all_sequences(
    table: Table, sentence: int, limit: int, eos: int | None, alpha: float = 0.0
) -> list[Hypothesis]:
    """Every sequence that ends by EOS within the limit, by score; then every one that the limit cuts, by score."""
    others = [token for token in range(table.n_tokens) if token != eos]
    ends = [] if eos is None else range(limit)
    finished = [
        path(table, sentence, (*ids, eos), eos, alpha)
        for n in ends
        for ids in itertools.product(others, repeat=n)
    ]
    cut = [path(table, sentence, ids, eos, alpha) for ids in itertools.product(others, repeat=limit)]
    return sorted(finished, key=lambda h: -h.score) + sorted(cut, key=lambda h: -h.score)


def path(table: Table, sentence: int, ids: tuple[int, ...], eos: int | None, alpha: float) -> Hypothesis:
    gained = tuple(table.log_probs(sentence, ids[:i])[token] for i, token in enumerate(ids))
    total, finished = sum(gained), ids[-1] == eos
    score = total / penalty(len(ids), alpha)
    return Hypothesis(ids[:-1] if finished else ids, gained, total, score, finished)


def slow_greedy(table: Table, sentence: int, limit: int, eos: int | None) -> Hypothesis:
    ids: tuple[int, ...] = ()
    while len(ids) < limit and (not ids or ids[-1] != eos):
        ids = (*ids, int(np.argmax(table.logits(sentence, ids))))
    return path(table, sentence, ids, eos, 0.0)


def slow_beam(
    table: Table, sentence: int, limit: int, eos: int | None, size: int, alpha: float, n_best: int
) -> list[Hypothesis]:
    """Beam search as its definition reads, without early stop: lists, loops and sorting."""
    alive: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
    finished: list[Hypothesis] = []
    for _ in range(limit):
        grown = [
            (total + gain, (*ids, token))
            for total, ids in alive
            for token, gain in enumerate(table.log_probs(sentence, ids))
        ]
        best = sorted(grown, reverse=True)[: 2 * size]
        finished += [path(table, sentence, ids, eos, alpha) for _, ids in best[:size] if ids[-1] == eos]
        alive = [(total, ids) for total, ids in best if ids[-1] != eos][:size]
        if len(finished) >= size:
            break
    finished.sort(key=lambda h: -h.score)
    cut = [path(table, sentence, ids, eos, alpha) for _, ids in alive] if len(finished) < size else []
    return (finished + cut)[:n_best]


def same(found: Hypothesis, wanted: Hypothesis) -> None:
    """Equal tokens and end; numbers to rounding."""
    assert (found.ids, found.finished) == (wanted.ids, wanted.finished)
    assert len(found.token_log_probs) == len(wanted.token_log_probs)
    for a, b in zip(found.token_log_probs, wanted.token_log_probs, strict=True):
        assert math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)
    assert math.isclose(found.log_prob, wanted.log_prob, rel_tol=1e-9, abs_tol=1e-12)
    assert math.isclose(found.score, wanted.score, rel_tol=1e-9, abs_tol=1e-12)
