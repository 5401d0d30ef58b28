"""Cells against torch's, unrolling with padding, truncated gradients, and how far gradients reach."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn

from coursepkg.blocks.recurrent import (
    GRUCell,
    LSTMCell,
    RNNCell,
    gradient_through_time,
    truncated_unroll,
    unroll,
)

B, T, D_INPUT, D_HIDDEN = 3, 5, 4, 6
CELLS = [RNNCell, LSTMCell, GRUCell]
TORCH_CELLS = {RNNCell: nn.RNNCell, LSTMCell: nn.LSTMCell, GRUCell: nn.GRUCell}
TORCH_LAYERS = {RNNCell: nn.RNN, LSTMCell: nn.LSTM, GRUCell: nn.GRU}


def make(kind: type) -> nn.Module:
    torch.manual_seed(0)
    return kind(D_INPUT, D_HIDDEN).double()


def texts(seed: int = 1) -> Tensor:
    return torch.randn(B, T, D_INPUT, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def copy_weights(ours: nn.Module, theirs: nn.Module, suffix: str = "") -> None:
    with torch.no_grad():
        for part, projection in (("ih", ours.input_gates), ("hh", ours.state_gates)):
            getattr(theirs, f"weight_{part}{suffix}").copy_(projection.weight)
            getattr(theirs, f"bias_{part}{suffix}").copy_(projection.bias)


@pytest.mark.parametrize("kind", CELLS)
def test_one_step_equals_torch_in_output_and_gradients(kind: type) -> None:
    ours = make(kind)
    theirs = TORCH_CELLS[kind](D_INPUT, D_HIDDEN).double()
    copy_weights(ours, theirs)
    x = texts()[:, 0].requires_grad_()
    state = tuple(torch.randn(B, D_HIDDEN, dtype=torch.float64) for _ in range(ours.n_states))
    their_x = x.detach().clone().requires_grad_()

    new = ours.step(ours.input_gates(x), state)
    expected = theirs(their_x, state if ours.n_states > 1 else state[0])
    expected = expected if ours.n_states > 1 else (expected,)
    for a, b in zip(new, expected, strict=True):
        torch.testing.assert_close(a, b)
    sum(part.square().sum() for part in new).backward()
    sum(part.square().sum() for part in expected).backward()
    torch.testing.assert_close(x.grad, their_x.grad)
    for part, projection in (("ih", ours.input_gates), ("hh", ours.state_gates)):
        torch.testing.assert_close(projection.weight.grad, getattr(theirs, f"weight_{part}").grad)
        torch.testing.assert_close(projection.bias.grad, getattr(theirs, f"bias_{part}").grad)


@pytest.mark.parametrize("kind", CELLS)
def test_unroll_equals_torch_on_packed_sequences(kind: type) -> None:
    ours = make(kind)
    theirs = TORCH_LAYERS[kind](D_INPUT, D_HIDDEN, batch_first=True).double()
    copy_weights(ours, theirs, "_l0")
    lengths = torch.tensor([5, 1, 3])
    packed = nn.utils.rnn.pack_padded_sequence(texts(), lengths, batch_first=True, enforce_sorted=False)
    expected, last = theirs(packed)
    expected, _ = nn.utils.rnn.pad_packed_sequence(expected, batch_first=True)
    outputs, state = unroll(ours, texts(), lengths)
    torch.testing.assert_close(outputs, expected)
    for a, b in zip(state, last if isinstance(last, tuple) else (last,), strict=True):
        torch.testing.assert_close(a, b[0])


@pytest.mark.parametrize("kind", CELLS)
def test_padding_changes_neither_results_nor_gradients(kind: type) -> None:
    cell, lengths, results = make(kind), torch.tensor([5, 0, 3]), []
    is_real = torch.arange(T) < lengths[:, None]
    for filler in (0.0, 1e3):
        x = torch.where(is_real[..., None], texts(), filler).requires_grad_()
        outputs, state = unroll(cell, x, lengths)
        (outputs.sum() + state[0].square().sum()).backward()
        assert (x.grad[~is_real] == 0).all()
        results.append((outputs, state[0], x.grad[is_real]))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b, rtol=0, atol=0)
    assert (results[0][0][~is_real] == 0).all()
    assert (results[0][1][1] == 0).all()


@given(st.sampled_from(CELLS), st.integers(1, T - 1))
def test_the_state_can_be_handed_over_at_any_split(kind: type, split: int) -> None:
    cell = make(kind)
    whole, last = unroll(cell, texts())
    first, state = unroll(cell, texts()[:, :split])
    second, state = unroll(cell, texts()[:, split:], state=state)
    torch.testing.assert_close(torch.cat([first, second], dim=1), whole)
    torch.testing.assert_close(state, last)


@given(st.sampled_from(CELLS), st.integers(1, T + 2))
def test_truncation_keeps_values_and_cuts_gradients(kind: type, n_steps: int) -> None:
    cell, x = make(kind), texts().requires_grad_()
    pieces = [outputs for outputs, _ in truncated_unroll(cell, x, n_steps)]
    whole, _ = unroll(cell, texts())
    torch.testing.assert_close(torch.cat(pieces, dim=1), whole)
    pieces[-1][:, -1].sum().backward()
    start_of_last = (T - 1) // n_steps * n_steps
    reached = x.grad.abs().amax(dim=(0, 2)) > 0
    assert reached.tolist() == [t >= start_of_last for t in range(T)]


def test_truncation_to_the_whole_length_is_the_full_gradient() -> None:
    cell = make(GRUCell)
    for outputs, _ in truncated_unroll(cell, texts(), T):
        outputs.sum().backward()
    truncated = cell.state_gates.weight.grad.clone()
    cell.zero_grad()
    unroll(cell, texts())[0].sum().backward()
    torch.testing.assert_close(truncated, cell.state_gates.weight.grad)


@pytest.mark.parametrize("kind", CELLS)
def test_gradient_through_time_equals_finite_differences(kind: type) -> None:
    cell, x, tiny = make(kind), texts()[:1], 1e-6
    norms = gradient_through_time(cell, x)
    u = torch.randn(D_HIDDEN, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    u = u / u.norm()
    for t in range(T):
        slopes = []
        for i in range(D_INPUT):
            shift = torch.zeros_like(x)
            shift[0, t, i] = tiny
            up, down = (unroll(cell, x + sign * shift)[1][0] @ u for sign in (1, -1))
            slopes.append((up - down).item() / (2 * tiny))
        assert norms[t].item() == pytest.approx(torch.tensor(slopes).norm().item(), rel=1e-5)


def test_an_open_forget_gate_carries_the_gradient_and_a_plain_rnn_loses_it() -> None:
    x = torch.randn(4, 60, D_INPUT, generator=torch.Generator().manual_seed(2))
    torch.manual_seed(0)
    lstm, rnn = LSTMCell(D_INPUT, 32), RNNCell(D_INPUT, 32)
    with torch.no_grad():
        lstm.input_gates.bias[32:64] = 6.0  # forget gate near 1
    kept, lost = gradient_through_time(lstm, x), gradient_through_time(rnn, x)
    assert kept[0] / kept[-1] > 0.05
    assert lost[0] / lost[-1] < 1e-6


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: GRUCell(0, 4), "d_input must be a positive integer, got 0"),
        (lambda: LSTMCell(4, -1), "d_hidden must be a positive integer, got -1"),
        (lambda: unroll(make(GRUCell), texts()[0]), r"inputs must be \(B, T, 4\)"),
        (lambda: unroll(make(GRUCell), texts()[:, :0]), "with at least one step"),
        (lambda: unroll(make(GRUCell), texts(), torch.tensor([1, 2])), "lengths must be 3 integers"),
        (lambda: unroll(make(GRUCell), texts(), torch.ones(3)), "lengths must be 3 integers"),
        (
            lambda: unroll(make(GRUCell), texts(), torch.tensor([1, 2, 6])),
            r"lengths must lie in 0\.\.5, got \[1, 2, 6\]",
        ),
        (lambda: next(truncated_unroll(make(GRUCell), texts(), 0)), "n_steps must be at least 1, got 0"),
    ],
)
def test_bad_input_is_named(work, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        work()
