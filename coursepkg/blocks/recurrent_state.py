"""The state of decoding with a recurrent decoder: its cache is one vector a row, whatever the length."""

from collections.abc import Callable

import torch
from torch import Tensor

from coursepkg.blocks.memory import Memory, check_ids
from coursepkg.blocks.recurrent import State
from coursepkg.blocks.state import check_rows, check_tokens

NextLogits = Callable[[Tensor, State, Memory], tuple[Tensor, State]]
"""(tokens (N, T), state before them, memory of each row) -> logits (N, V) of what follows the last one, new state."""


class RecurrentState:
    """Rows (hypotheses) of a batch of sentences in the midst of decoding; `GRUSeq2Seq.start` makes one.

    Rows are sentence-major, as in `CachedState`.
    """

    def __init__(
        self, next_logits: NextLogits, vocab_size: int, state: State, memory: Memory, max_len: int
    ) -> None:
        self._next_logits, self._vocab_size = next_logits, vocab_size
        self._state, self._room = state, max_len
        self.n_taken = 0
        """Tokens of each row so far."""
        self._memory = self._row_memory = memory

    @property
    def n_rows(self) -> int:
        """Rows now alive (N)."""
        return self._state[0].shape[0]

    @property
    def n_sentences(self) -> int:
        """Sentences that the rows belong to (B)."""
        return self._memory.outputs.shape[0]

    @property
    def device(self) -> torch.device:
        """Where tokens and rows must be."""
        return self._state[0].device

    @torch.no_grad()
    def step(self, tokens: Tensor) -> Tensor:
        """Take in tokens (N, T), T at least 1, and return the logits (N, V) of what follows the last one.

        Raises:
            ValueError: the tokens are not one row each, too many, or outside the vocabulary.
        """
        check_tokens(tokens, self.n_rows, self._room)
        check_ids("tokens", tokens, self._vocab_size, self._room)
        logits, self._state = self._next_logits(tokens, self._state, self._row_memory)
        self._room -= tokens.shape[1]
        self.n_taken += tokens.shape[1]
        return logits

    @torch.no_grad()
    def select(self, rows: Tensor, sentences: Tensor | None = None) -> None:
        """Row i continues what row rows[i] was; arguments and errors as in `CachedState.select`."""
        n_kept = check_rows(rows, sentences, self.n_rows, self.n_sentences)
        per_sentence = self.n_rows // self.n_sentences
        self._state = tuple(part[rows] for part in self._state)
        if sentences is not None:
            self._memory = _take(self._memory, sentences)
        if sentences is not None or len(rows) // n_kept != per_sentence:
            owner = torch.arange(n_kept, device=rows.device).repeat_interleave(len(rows) // n_kept)
            self._row_memory = _take(self._memory, owner)


def _take(memory: Memory, sentences: Tensor) -> Memory:
    return Memory(memory.outputs[sentences], memory.is_real[sentences])
