"""What a model offers to decoding: a batch of unfinished rows that moves on token by token.

Decoding knows token ids only. It calls `step` with the next token of every row and gets logits; it calls `select` to
say which rows live on. How the past is kept (a cache of keys and values, a GRU's state, nothing at all) is the
model's business. `Transformer.start`, `GRUSeq2Seq.start` and `LanguageModel.start` return such a state.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor


@runtime_checkable
class DecoderState(Protocol):
    """N rows of unfinished target sequences, the same number of rows for each of B sentences.

    Rows are sentence-major: the rows of sentence 0 come first, then those of sentence 1. A fresh state has one row a
    sentence and no token.
    """

    @property
    def n_rows(self) -> int:
        """Rows now alive (N)."""

    @property
    def device(self) -> torch.device:
        """Where tokens are expected and logits come back."""

    def step(self, tokens: Tensor) -> Tensor:
        """Append tokens (N, T), T >= 1, to the rows -> logits (N, V) of the token that follows the last one.

        Raises:
            ValueError: the rows grow longer than the state was made for, or an id is outside the vocabulary.
        """

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> None:
        """Row i goes on from what row rows[i] was.

        Args:
            rows: int64 (N',), rows before this call. Sentence-major and as many for each sentence that stays: a row
                never moves to another sentence, but a sentence may get more rows or fewer.
            sentences: int64 (B',), ascending: which of the B sentences before this call stay. None keeps all.
        """


class RecomputedState:
    """A `DecoderState` without a cache: every step runs the model over all tokens of every row again.

    T steps of a Transformer cost O(T^2) token positions instead of T. It is the specification that cached states are
    tested against, and the slow side of their benchmark.

    Args:
        predict: (tokens (N, T), sentence (N,)) -> logits (N, V) of the token that follows; sentence[i] is the number
            of the sentence, in the batch at the start, that row i belongs to.
        n_sentences: sentences at the start (B).
        device: where the model computes.
    """

    def __init__(
        self,
        predict: Callable[[Tensor, Tensor], Tensor],
        n_sentences: int,
        device: torch.device | str = "cpu",
    ) -> None:
        self.predict = predict
        self.device = torch.device(device)
        self.n_rows = n_sentences
        self.sentence = torch.arange(n_sentences, device=self.device)
        self.tokens = torch.empty(n_sentences, 0, dtype=torch.int64, device=self.device)

    @property
    def n_taken(self) -> int:
        """Tokens of each row so far."""
        return self.tokens.shape[1]

    @classmethod
    def of(cls, model: Any, src: Tensor) -> "RecomputedState":
        """The state of an encoder-decoder with `encode(src) -> Memory` and `decode(tokens, memory) -> logits`.

        The source is encoded once; the decoder, cross-attention keys included, runs again at every step.
        """
        memory = model.encode(src)

        def predict(tokens: Tensor, sentence: Tensor) -> Tensor:
            seen = replace(memory, outputs=memory.outputs[sentence], is_real=memory.is_real[sentence])
            return model.decode(tokens, seen)[:, -1]

        return cls(predict, src.shape[0], src.device)

    def step(self, tokens: Tensor) -> Tensor:
        """Append tokens (N, T) to the rows -> logits (N, V) of the token that follows the last one."""
        if tokens.dim() != 2 or tokens.shape[0] != self.n_rows or not tokens.shape[1]:
            raise ValueError(f"tokens must be ({self.n_rows}, T >= 1), got {tuple(tokens.shape)}")
        self.tokens = torch.cat([self.tokens, tokens], dim=1)
        return self.predict(self.tokens, self.sentence)

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> None:
        """Row i goes on from what row rows[i] was; `sentences` needs no work here, each row knows its own."""
        self.tokens, self.sentence = self.tokens[rows], self.sentence[rows]
        self.n_rows = rows.shape[0]
