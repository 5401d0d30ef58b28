"""What all decoders do at every step: from tokens to the next log-probabilities.

`DecoderState` is what a model offers: a batch of unfinished rows that moves on token by
token. Decoding knows token ids only. It calls `step` with the next token of every row
and gets logits; it calls `select` to say which rows live on. How the past is kept (a
cache of keys and values, a GRU's state, nothing at all) is the model's business.
`Transformer.start`, `GRUSeq2Seq.start` and `LanguageModel.start` return such a state.

`DecodingStep` feeds it; `FinishedHypotheses` keeps results while others still grow.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from coursepkg.blocks.cache import RecomputedState as RecomputedState
from coursepkg.decoding.filters import Filter
from coursepkg.validation import check_count


def source_limits(
    src: Tensor, extra_decode_length: int = 10, *, pad: int = 0, most: int | None = None
) -> Tensor:
    """A limit for the target of each source: its own length plus some tokens.

    The padding of a batch does not count, so that a sentence has one limit in every
    batch. The option and its value of 10 come from the text recognition notes
    (`extra_decode_length: 10`), which took them from Tensor2Tensor.

    Args:
        src: source ids (B, S), padded behind their ends.
        extra_decode_length: tokens by which a target may be longer than its source.
        pad: id of padding.
        most: largest limit, such as the target tokens that the model can take; None
            sets none.

    Returns:
        (B,) int64: most tokens to produce, the end token included; for the argument
        `max_len` of the decoders.

    Raises:
        ValueError: src is no matrix, or extra_decode_length is negative.
    """
    check_count("extra_decode_length", extra_decode_length, least=0)
    if src.dim() != 2:
        raise ValueError(f"src must be ids (B, S), got shape {tuple(src.shape)}")
    limits = (src != pad).sum(dim=1) + extra_decode_length
    if most is None:
        return limits
    check_count("most", most)
    return limits.clamp(max=most)


def check_limits(
    max_len: int | Tensor, n_sentences: int, device: torch.device
) -> Tensor:
    """max_len, one for all or one a sentence (B,) -> (B,) int64.

    Raises:
        ValueError: it is below 1, or not one integer a sentence.
    """
    if not isinstance(max_len, Tensor):
        check_count("max_len", max_len)
        return torch.full((n_sentences,), max_len, device=device)
    if (
        max_len.shape != (n_sentences,)
        or max_len.is_floating_point()
        or max_len.dtype == torch.bool
    ):
        raise ValueError(
            f"max_len must be an integer or integers ({n_sentences},), one a sentence, "
            f"got {max_len.dtype} {tuple(max_len.shape)}"
        )
    if n_sentences and int(max_len.min()) < 1:
        raise ValueError(
            f"max_len must be at least 1 for every sentence, got {int(max_len.min())}"
        )
    return max_len.to(device=device, dtype=torch.int64)


def check_prefix(
    prefix: Sequence[Sequence[int]] | None, n_sentences: int, eos: int | None
) -> list[list[int]]:
    """The tokens that each sentence must begin with, as lists.

    Raises:
        ValueError: there is not one list a sentence, or a list holds a negative id or
            the end token.
    """
    if prefix is None:
        return [[] for _ in range(n_sentences)]
    lists = [list(ids) for ids in prefix]
    if len(lists) != n_sentences:
        raise ValueError(
            f"prefix must hold one list of ids a sentence ({n_sentences}), got"
            f" {len(lists)}"
        )
    for row, ids in enumerate(lists):
        for i in ids:
            check_count(f"prefix[{row}]'s id", i, least=0)
            if i == eos:
                raise ValueError(
                    f"prefix[{row}] must not hold the end token {eos}: nothing would"
                    " follow it"
                )
    return lists


@runtime_checkable
class DecoderState(Protocol):
    """N rows of unfinished targets, as many for each of B sentences.

    Rows are sentence-major: the rows of sentence 0 come first, then those of sentence
    1. A fresh state has one row a sentence and no token.
    """

    @property
    def n_rows(self) -> int:
        """Rows now alive (N)."""

    @property
    def device(self) -> torch.device:
        """Where tokens are expected and logits come back."""

    def step(self, tokens: Tensor) -> Tensor:
        """Append tokens (N, T), T >= 1 -> logits (N, V) of what follows the last one.

        Raises:
            ValueError: the rows grow longer than the state was made for, or an id is
                outside the vocabulary.
        """

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> None:
        """Row i goes on from what row rows[i] was.

        Args:
            rows: int64 (N',), rows before this call. Sentence-major and as many for
                each sentence that stays: a row never moves to another sentence, but a
                sentence may get more rows or fewer.
            sentences: int64 (B',), ascending: which of the B sentences before this call
                stay. None keeps all.
        """


@dataclass(frozen=True)
class Hypothesis:
    """One decoded sequence."""

    ids: tuple[int, ...]
    """The tokens that were chosen: without BOS, forced prefix and EOS."""
    token_log_probs: tuple[float, ...]
    """ln of each chosen token's probability; that of EOS last where `finished`."""
    log_prob: float
    """Sum of `token_log_probs`, as the search added it up."""
    score: float
    """What ranks it: log_prob, in beam search after the length penalty."""
    finished: bool
    """True if it ended with EOS, False if the limit cut it off."""


@dataclass
class FinishedHypotheses:
    """Hypotheses that have ended, as tensors; lists are built once, at the end."""

    n_sentences: int
    """Sentences of the batch (B)."""
    prefix_lengths: Tensor
    """(B,) forced tokens of each sentence, which are no part of a hypothesis."""
    parts: list[tuple[Tensor, ...]] = field(default_factory=list)
    """Of each `add` its arguments."""

    def add(
        self,
        sentence: Tensor,
        order: Tensor,
        ids: Tensor,
        log_probs: Tensor,
        total: Tensor,
        score: Tensor,
        finished: Tensor,
    ) -> None:
        """Keep M hypotheses of t tokens each.

        Args:
            sentence: (M,) number of the sentence in the batch.
            order: (M,) place among the hypotheses of the sentence, ascending; need not
                be without gaps.
            ids: (M, t) tokens, forced ones and EOS included.
            log_probs: (M, t) of these tokens.
            total: (M,) sum of the log-probabilities.
            score: (M,) what ranks.
            finished: bool (M,), whether the last token is EOS.
        """
        start = self.prefix_lengths[sentence]
        self.parts.append(
            (sentence, order, start, ids, log_probs, total, score, finished)
        )

    def by_sentence(self) -> list[list[Hypothesis]]:
        """For each sentence its hypotheses, in ascending order."""
        found: list[list[tuple[float, Hypothesis]]]
        found = [[] for _ in range(self.n_sentences)]
        for part in self.parts:
            columns = (column.tolist() for column in part)
            for sentence, order, *values in zip(*columns, strict=True):
                found[sentence].append((order, _hypothesis(*values)))
        return [[h for _, h in sorted(hs, key=lambda pair: pair[0])] for hs in found]


def _hypothesis(
    start: int,
    ids: list[int],
    log_probs: list[float],
    total: float,
    score: float,
    finished: bool,
) -> Hypothesis:
    chosen = tuple(ids[start:-1] if finished else ids[start:])
    return Hypothesis(chosen, tuple(log_probs[start:]), total, score, finished)


class DecodingStep:
    """Feeds a state, filters its logits, forces the prefix, refuses unusable logits.

    What all prefixes have in length is fed at once, together with BOS. Where one prefix
    is longer than another, its rest is forced step by step: the forced token gets
    probability 1, so that choosing costs nothing there.

    Args:
        state: a fresh state, one row a sentence.
        bos: the token that starts every target.
        eos: the token that ends one, or None.
        prefix: for each sentence the tokens it must begin with, or None.
        filters: applied to the logits, in this order.

    Raises:
        ValueError: an argument is malformed.
    """

    def __init__(
        self,
        state: DecoderState,
        *,
        bos: int,
        eos: int | None,
        prefix: Sequence[Sequence[int]] | None,
        filters: Sequence[Filter],
    ) -> None:
        n_taken = getattr(state, "n_taken", 0)  # a state of one's own need not count
        if n_taken:
            raise ValueError(
                f"state must be fresh, got one with {n_taken} tokens; start another one"
            )
        check_count("bos", bos, least=0)
        if eos is not None:
            check_count("eos", eos, least=0)
        self.state, self.bos, self.eos, self.filters = state, bos, eos, tuple(filters)
        forced = check_prefix(prefix, state.n_rows, eos)
        longest = max((len(ids) for ids in forced), default=0)
        self._largest_id = max((i for ids in forced for i in ids), default=0)
        self._common = min((len(ids) for ids in forced), default=0)
        device = state.device
        lengths = [len(ids) for ids in forced]
        self.prefix_lengths = torch.tensor(lengths, dtype=torch.int64, device=device)
        # (longest, B), -1 where a prefix has ended: column t forces token t.
        padded = [ids + [-1] * (longest - len(ids)) for ids in forced]
        rows = torch.tensor(padded, dtype=torch.int64, device=device)
        self._forced = rows.reshape(len(forced), longest).T

    def first_history(self) -> Tensor:
        """(B, t) the tokens that are fed at once after BOS."""
        return self._forced[: self._common].T

    def log_probs(self, history: Tensor, sentence: Tensor) -> Tensor:
        """Move the state on.

        Args:
            history: (N, t) tokens of the rows so far, without BOS; all but the last are
                known to the state.
            sentence: (N,) the number of each row's sentence in the batch.

        Returns:
            (N, V) log-probabilities of token t. A row is NaN where the logits were
            unusable; see `explain`.
        """
        t = history.shape[1]
        new = history[:, -1:]
        if t == self._common:
            new = torch.nn.functional.pad(history, (1, 0), value=self.bos)
        logits = self.state.step(new)
        if t == self._common:
            self._check_logits(logits)
        if logits.dtype in (torch.float16, torch.bfloat16):
            logits = logits.float()
        for keep in self.filters:
            logits = keep(logits, history)
        log_probs = logits.log_softmax(dim=-1)
        is_forced = t < len(self._forced)
        return self._force(log_probs, t, sentence) if is_forced else log_probs

    def explain(self, is_bad: Tensor, sentence: Tensor, t: int) -> ValueError:
        """The error for the sentences of which `is_bad` (B,) have no usable token t."""
        number = int(sentence[is_bad][0])
        where = f"sentence {number} at token {t - int(self.prefix_lengths[number])}"
        hint = ", or let the filters leave a token" if self.filters else ""
        return ValueError(
            "logits must hold finite numbers for at least one token and no NaN, got"
            f" none for {where}{hint}"
        )

    def _force(self, log_probs: Tensor, t: int, sentence: Tensor) -> Tensor:
        token = self._forced[t][sentence]
        is_forced = token >= 0
        certain = torch.full_like(log_probs, -torch.inf)
        certain.scatter_(1, token.clamp(min=0)[:, None], 0.0)
        return torch.where(is_forced[:, None], certain, log_probs)

    def _check_logits(self, logits: Tensor) -> None:
        if (
            logits.dim() != 2
            or logits.shape[0] != self.state.n_rows
            or not logits.is_floating_point()
        ):
            raise ValueError(
                f"state.step must return logits ({self.state.n_rows}, V), "
                f"got {logits.dtype} {tuple(logits.shape)}"
            )
        n_tokens = logits.shape[1]
        for name, largest in (("eos", self.eos or 0), ("prefix ids", self._largest_id)):
            if largest >= n_tokens:
                raise ValueError(
                    f"{name} must be below the vocabulary size {n_tokens}, got"
                    f" {largest}"
                )
        if self.eos is not None and n_tokens < 2:
            raise ValueError(
                "the vocabulary must hold a token besides eos, got 1 token"
            )
