"""Several models decode as one: the mean of what they predict for the next token.

    p(v | x) = (1 / n) sum_i p_i(v | x)

Models that differ in nothing but the seed make different mistakes; where one is wrong,
the mean of the others often still has the right token in front. Decoding costs n times
as much. The models share a vocabulary, and nothing else.

Source: Sutskever et al., "Sequence to Sequence Learning with Neural Networks" (arXiv
1409.3215), section 3.
"""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from coursepkg.decoding.step import DecoderState


class EnsembleState:
    """A `DecoderState` made of the states of all members, which move on together.

    Args:
        states: one of each member, for the same sentences.
    """

    def __init__(self, states: Sequence[DecoderState]) -> None:
        self.states = list(states)

    @property
    def n_rows(self) -> int:
        """Rows now alive (N)."""
        return self.states[0].n_rows

    @property
    def device(self) -> torch.device:
        """Where tokens and rows must be."""
        return self.states[0].device

    @property
    def n_taken(self) -> int:
        """Tokens of each row so far, of the member that has taken in most."""
        return max(getattr(state, "n_taken", 0) for state in self.states)

    def step(self, tokens: Tensor) -> Tensor:
        """Append tokens (N, T) -> log-probabilities (N, V) of what follows."""
        logits = [state.step(tokens).float() for state in self.states]
        each = torch.stack(logits).log_softmax(dim=-1)  # (members, N, V)
        return each.logsumexp(dim=0) - math.log(len(self.states))

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> None:
        """Row i continues what row rows[i] was, in every member."""
        for state in self.states:
            state.select(rows, sentences)


class Ensemble(nn.Module):
    """Models with one vocabulary, for decoding.

    Args:
        members: models with `start(src, max_len=...)`, such as `Transformer`; they may
            differ in size and kind.

    Raises:
        ValueError: there is no member.
    """

    def __init__(self, members: Sequence[nn.Module]) -> None:
        super().__init__()
        if not members:
            raise ValueError("members must hold at least one model, got none")
        self.members = nn.ModuleList(members)

    def start(self, src: Tensor, *, max_len: int) -> EnsembleState:
        """Encode source ids (B, S) with every member, ready to be decoded step by step.

        Runs in the modules' present mode: call `eval()` first, or dropout changes the
        result.
        """
        members: list[Any] = list(self.members)
        return EnsembleState([member.start(src, max_len=max_len) for member in members])
