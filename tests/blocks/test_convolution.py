"""Gated convolutions against the formula in loops; what each position can see, with and without padding."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.blocks.convolution import ConvolutionalEncoder, GatedConvolution, receptive_field

B, T, E = 2, 9, 3


def rows() -> torch.Tensor:
    return torch.randn(B, T, E, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def layer(kernel_size: int, **options) -> GatedConvolution:
    torch.manual_seed(0)
    return GatedConvolution(E, kernel_size, **options).double()


@pytest.mark.parametrize(("causal", "dilation"), [(True, 1), (True, 2), (False, 1), (False, 2)])
def test_equals_the_formula_in_loops(causal: bool, dilation: int) -> None:
    module, x, kernel = layer(3, causal=causal, dilation=dilation), rows(), 3
    weight, bias = module.conv.weight.detach(), module.conv.bias.detach()
    output = module(x)
    for t in range(T):
        seen = [t + (tap - (kernel - 1) * (1 if causal else 0.5)) * dilation for tap in range(kernel)]
        wide = bias.expand(B, 2 * E).clone()
        for tap, position in enumerate(seen):
            if 0 <= position < T:
                wide += x[:, int(position)] @ weight[:, :, tap].T
        expected = (x[:, t] + wide[:, :E] * torch.sigmoid(wide[:, E:])) * math.sqrt(0.5)
        torch.testing.assert_close(output[:, t], expected)


@given(st.integers(1, 3), st.integers(1, 4))
def test_receptive_field_is_what_a_stack_depends_on(n_layers: int, kernel_size: int) -> None:
    torch.manual_seed(0)
    stack, x = ConvolutionalEncoder(E, kernel_size, n_layers, causal=True).double(), rows().requires_grad_()
    stack(x)[:, -1].sum().backward()
    reached = x.grad.abs().amax(dim=(0, 2)) > 0
    n_seen = min(receptive_field(n_layers, kernel_size), T)
    assert reached.tolist() == [False] * (T - n_seen) + [True] * n_seen


def test_receptive_field_with_dilation() -> None:
    x = rows().requires_grad_()
    layer(3, dilation=3)(x)[:, -1].sum().backward()
    first = int(x.grad.abs().amax(dim=(0, 2)).nonzero()[0])
    assert receptive_field(1, 3, dilation=3) == T - first == 7


@pytest.mark.parametrize("causal", [True, False])
def test_padding_changes_no_result(causal: bool) -> None:
    torch.manual_seed(0)
    stack, x = ConvolutionalEncoder(E, 3, 2, causal=causal).double(), rows()
    is_real = torch.arange(T) < torch.tensor([[T], [4]])
    output = stack(x, is_real)
    torch.testing.assert_close(output[1, :4], stack(x[1:, :4])[0])
    assert (output[1, 4:] == 0).all()
    x[1, 4:] = 1e3
    torch.testing.assert_close(stack(x, is_real), output, rtol=0, atol=0)


def test_the_future_never_changes_the_past() -> None:
    stack, x = ConvolutionalEncoder(E, 3, 2, causal=True).double(), rows()
    before = stack(x)[:, :5]
    x[:, 5:] = 7.0
    torch.testing.assert_close(stack(x)[:, :5], before, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: GatedConvolution(E, 0), "kernel_size must be a positive integer, got 0"),
        (
            lambda: GatedConvolution(E, 4, causal=False),
            "kernel_size must be odd where causal is False, got 4",
        ),
        (lambda: ConvolutionalEncoder(E, 3, 0), "n_layers must be a positive integer, got 0"),
        (lambda: receptive_field(1, 3, 0), "dilation must be a positive integer, got 0"),
        (lambda: layer(3)(torch.zeros(B, T, 2)), r"x must be \(B, T, 3\), got shape \(2, 9, 2\)"),
        (lambda: layer(3)(rows(), torch.ones(B, 2)), r"padding_mask must be \(2, 9\), got shape \(2, 2\)"),
    ],
)
def test_bad_input_is_named(work, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        work()
