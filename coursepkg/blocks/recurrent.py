"""Recurrent networks from their formulas: the plain RNN, the LSTM and the GRU.

A cell is one step. It splits its work in two, so that the half that does not wait for
the past is done for all steps at once: `input_gates(x)` is one matrix product over the
whole sequence, `step(gates, state)` is the recurrence.

The state of a cell is a tuple of tensors (B, hidden), whose first is the output h: (h,)
for RNN and GRU, (h, c) for the LSTM. Parameter layout and formulas are those of
`torch.nn.RNNCell`, `LSTMCell` and `GRUCell`.

`RecurrentState` decodes with such a cell: its cache is one vector a row, whatever the
length.
"""

import math
from collections.abc import Callable, Iterator
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from coursepkg.blocks.cache import Memory, check_ids, check_rows, check_tokens
from coursepkg.validation import check_counts

State = tuple[Tensor, ...]


@runtime_checkable
class Cell(Protocol):
    """What `unroll` needs: `RNNCell`, `LSTMCell`, `GRUCell` or one of your own."""

    d_hidden: int
    n_states: int
    input_gates: nn.Linear

    def step(self, gates: Tensor, state: State) -> State:
        """Projected input of a step (B, n * hidden), state before -> state after."""


class RNNCell(nn.Module):
    """h' = tanh(W x + U h + b): Elman (1990), "Finding structure in time"."""

    n_states = 1

    def __init__(self, d_input: int, d_hidden: int) -> None:
        super().__init__()
        self.d_hidden = d_hidden
        self.input_gates, self.state_gates = _gates(1, d_input, d_hidden)

    def step(self, gates: Tensor, state: State) -> State:
        """gates (B, hidden), state (h,) -> (h',)."""
        return (torch.tanh(gates + self.state_gates(state[0])),)


class LSTMCell(nn.Module):
    """Long short-term memory: the second state c is never multiplied by a matrix.

        i, f, o = sigmoid(W x + U h + b)    three gates, each with its own W, U, b
        g = tanh(W x + U h + b)             what could be remembered
        c' = f * c + i * g                  h' = o * tanh(c')

    Along c a gradient is multiplied by f at each step, so it lasts as long as the gate
    stays near 1. Source: Hochreiter and Schmidhuber (1997); the forget gate is by Gers
    et al. (2000).
    """

    n_states = 2

    def __init__(self, d_input: int, d_hidden: int) -> None:
        super().__init__()
        self.d_hidden = d_hidden
        self.input_gates, self.state_gates = _gates(4, d_input, d_hidden)

    def step(self, gates: Tensor, state: State) -> State:
        """gates (B, 4 * hidden), state (h, c) -> (h', c')."""
        h, c = state
        i, f, g, o = (gates + self.state_gates(h)).chunk(4, dim=-1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class GRUCell(nn.Module):
    """Gated recurrent unit: one state, kept or replaced number by number.

        r, z = sigmoid(W x + U h + b)       two gates, each with its own W, U, b
        n = tanh(W x + b + r * (U h + b'))  the candidate
        h' = (1 - z) * n + z * h

    Source: Cho et al. (arXiv 1406.1078), section 2.3. They apply r before the product
    with U; the form here is the one of cuDNN and PyTorch, in which r comes after it.
    """

    n_states = 1

    def __init__(self, d_input: int, d_hidden: int) -> None:
        super().__init__()
        self.d_hidden = d_hidden
        self.input_gates, self.state_gates = _gates(3, d_input, d_hidden)

    def step(self, gates: Tensor, state: State) -> State:
        """gates (B, 3 * hidden), state (h,) -> (h',)."""
        (h,) = state
        input_r, input_z, input_n = gates.chunk(3, dim=-1)
        state_r, state_z, state_n = self.state_gates(h).chunk(3, dim=-1)
        r, z = torch.sigmoid(input_r + state_r), torch.sigmoid(input_z + state_z)
        n = torch.tanh(input_n + r * state_n)
        return ((1 - z) * n + z * h,)


def unroll(
    cell: Cell,
    inputs: Tensor,
    lengths: Tensor | None = None,
    state: State | None = None,
) -> tuple[Tensor, State]:
    """Run a cell over sequences, one step after the other.

    From step lengths[b] on, sequence b keeps its state and its outputs are zero, so
    that padding changes no result: the state returned is the one after the last real
    step.

    Args:
        cell: one step.
        inputs: (B, T, input), at least one step.
        lengths: (B,) real steps of each sequence, from 0 to T; None takes all for real.
        state: the state to start from; None starts from zeros.

    Returns:
        outputs (B, T, hidden), and the last state.

    Raises:
        ValueError: shapes or lengths do not fit.
    """
    _check_inputs(cell, inputs, lengths)
    if lengths is not None:
        lengths = lengths.to(inputs.device)
    gates = cell.input_gates(inputs)  # (B, T, n * hidden): one product for all steps
    if state is None:
        zeros = gates.new_zeros(inputs.shape[0], cell.d_hidden)
        state = (zeros,) * cell.n_states
    outputs = []
    for t in range(inputs.shape[1]):
        new = cell.step(gates[:, t], state)
        if lengths is None:
            state = new
            outputs.append(state[0])
            continue
        is_real = (t < lengths)[:, None]
        state = tuple(
            torch.where(is_real, a, b) for a, b in zip(new, state, strict=True)
        )
        outputs.append(state[0] * is_real)
    return torch.stack(outputs, dim=1), state


def truncated_unroll(
    cell: Cell, inputs: Tensor, n_steps: int, state: State | None = None
) -> Iterator[tuple[Tensor, State]]:
    """Truncated back-propagation: run `n_steps` steps, yield, cut the gradient, go on.

    Values flow through the whole sequence, gradients through `n_steps` steps at most;
    memory too is that of `n_steps` steps when each piece is followed by its own
    `backward()`.

    Args:
        cell: one step.
        inputs: (B, T, input).
        n_steps: steps between two cuts, at least 1; the last piece may be shorter.
        state: the state to start from; None starts from zeros.

    Yields:
        outputs (B, steps of this piece, hidden), and the state after it, still with its
        gradient.

    Raises:
        ValueError: n_steps is below 1, or shapes do not fit.

    Example:
        >>> for outputs, _ in truncated_unroll(cell, inputs, n_steps=20):
        ...     outputs.square().mean().backward()
    """
    if n_steps < 1:
        raise ValueError(f"n_steps must be at least 1, got {n_steps}")
    for piece in inputs.split(n_steps, dim=1):
        outputs, state = unroll(cell, piece, state=state)
        yield outputs, state
        state = tuple(part.detach() for part in state)


def gradient_through_time(cell: Cell, inputs: Tensor, seed: int = 0) -> Tensor:
    """How strongly the last output still depends on each earlier input.

    The last output h_T is multiplied by a random unit vector u, and the gradient of u .
    h_T is taken with respect to every input x_t. Where its norm falls geometrically
    with T - t, gradients vanish.

    Args:
        cell: one step.
        inputs: (B, T, input).
        seed: of the direction u, which is the same for every cell of equal width.

    Returns:
        norms (T,), each the mean over the batch of |d (u . h_T) / d x_t|.
    """
    inputs = inputs.detach().requires_grad_()
    _, state = unroll(cell, inputs)
    generator = torch.Generator().manual_seed(seed)
    direction = torch.randn(cell.d_hidden, generator=generator, dtype=torch.float64)
    direction = (direction / direction.norm()).to(inputs)
    (gradient,) = torch.autograd.grad((state[0] * direction).sum(), inputs)
    return gradient.norm(dim=-1).mean(dim=0)


def _gates(n_gates: int, d_input: int, d_hidden: int) -> tuple[nn.Linear, nn.Linear]:
    """The projections from input and from state, uniform within 1 / sqrt(hidden)."""
    check_counts(d_input=d_input, d_hidden=d_hidden)
    n_outputs, bound = n_gates * d_hidden, 1 / math.sqrt(d_hidden)
    projections = nn.Linear(d_input, n_outputs), nn.Linear(d_hidden, n_outputs)
    for projection in projections:
        for parameter in projection.parameters():
            nn.init.uniform_(parameter, -bound, bound)
    return projections


def _check_inputs(cell: Cell, inputs: Tensor, lengths: Tensor | None) -> None:
    width = cell.input_gates.in_features
    if inputs.dim() != 3 or inputs.shape[-1] != width or not inputs.shape[1]:
        raise ValueError(
            f"inputs must be (B, T, {width}) with at least one step, got shape"
            f" {tuple(inputs.shape)}"
        )
    if lengths is None:
        return
    n_steps = inputs.shape[1]
    if lengths.shape != inputs.shape[:1] or lengths.is_floating_point():
        raise ValueError(
            f"lengths must be {inputs.shape[0]} integers, one a sequence, got"
            f" {lengths.dtype} {tuple(lengths.shape)}"
        )
    if lengths.device.type == "cpu":  # a GPU would have to be waited for
        check_lengths(lengths, n_steps)


def check_lengths(lengths: Tensor, n_steps: int) -> None:
    """Raises a ValueError unless all lengths lie in 0..n_steps."""
    if bool((lengths < 0).any()) or bool((lengths > n_steps).any()):
        raise ValueError(f"lengths must lie in 0..{n_steps}, got {lengths.tolist()}")


NextLogits = Callable[[Tensor, State, Memory], tuple[Tensor, State]]
"""(tokens (N, T), state before, memory) -> logits (N, V) of what follows, new state."""


class RecurrentState:
    """Rows (hypotheses) of a batch in the midst of decoding, from `GRUSeq2Seq.start`.

    Rows are sentence-major, as in `CachedState`.
    """

    def __init__(
        self,
        next_logits: NextLogits,
        vocab_size: int,
        state: State,
        memory: Memory,
        max_len: int,
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
        """Take in tokens (N, T), T >= 1 -> logits (N, V) of what follows the last one.

        Raises:
            ValueError: the tokens are not one row each, too many, or outside the
                vocabulary.
        """
        check_tokens(tokens, self.n_rows, self._room)
        if self.n_taken == 0 or tokens.shape[1] > 1:  # as in `CachedState`
            check_ids("tokens", tokens, self._vocab_size, self._room)
        logits, self._state = self._next_logits(tokens, self._state, self._row_memory)
        self._room -= tokens.shape[1]
        self.n_taken += tokens.shape[1]
        return logits

    @torch.no_grad()
    def select(self, rows: Tensor, sentences: Tensor | None = None) -> None:
        """Row i continues what row rows[i] was; see `CachedState.select`."""
        n_kept = check_rows(rows, sentences, self.n_rows, self.n_sentences)
        per_sentence = self.n_rows // self.n_sentences
        self._state = tuple(part[rows] for part in self._state)
        if sentences is not None:
            self._memory = _take(self._memory, sentences)
        if sentences is not None or len(rows) // n_kept != per_sentence:
            owner = torch.arange(n_kept, device=rows.device)
            owner = owner.repeat_interleave(len(rows) // n_kept)
            self._row_memory = _take(self._memory, owner)


def _take(memory: Memory, sentences: Tensor) -> Memory:
    return Memory(memory.outputs[sentences], memory.is_real[sentences])
