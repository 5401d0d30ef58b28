"""Each kind of feed-forward network against its formula; sizes, dropout, bad settings."""

import math

import pytest
import torch
from torch import Tensor

from coursepkg.blocks.feedforward import ACTIVATIONS, FeedForward

E, F_ = 6, 10


def x() -> Tensor:
    return torch.randn(2, 3, E, dtype=torch.float64, generator=torch.Generator().manual_seed(0))


def make(activation: str, **options) -> FeedForward:
    torch.manual_seed(0)
    return FeedForward(E, F_, activation, **options).double()


def erf_gelu(z: Tensor) -> Tensor:
    return z * 0.5 * (1 + torch.special.erf(z / math.sqrt(2)))


def tanh_gelu(z: Tensor) -> Tensor:
    return 0.5 * z * (1 + torch.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))


FORMULAS = {
    "relu": lambda z: torch.maximum(z, torch.zeros_like(z)),
    "gelu": erf_gelu,
    "swiglu": lambda z: z / (1 + torch.exp(-z)),
    "geglu": tanh_gelu,
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_equals_the_formula(activation: str, bias: bool) -> None:
    net, f = make(activation, bias=bias), FORMULAS[activation]

    def product(z: Tensor, layer: torch.nn.Linear) -> Tensor:
        y = z @ layer.weight.T
        return y + layer.bias if bias else y

    inner = product(x(), net.up_proj)
    inner = f(inner) if net.gate_proj is None else f(product(x(), net.gate_proj)) * inner
    torch.testing.assert_close(net(x()), product(inner, net.down_proj))


@pytest.mark.parametrize(("activation", "matrices"), [("relu", 2), ("gelu", 2), ("swiglu", 3), ("geglu", 3)])
def test_a_gate_is_one_more_matrix(activation: str, matrices: int) -> None:
    assert sum(p.numel() for p in make(activation, bias=False).parameters()) == matrices * E * F_


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_positions_do_not_meet_and_gradients_are_right(activation: str) -> None:
    net = make(activation)
    torch.testing.assert_close(net(x())[1, 2], net(x()[1, 2]))
    assert torch.autograd.gradcheck(net, x()[0, :2].requires_grad_())


def test_dropout_acts_on_the_inner_activation_in_training_only() -> None:
    net = make("relu", dropout_p=0.5, bias=False)
    clean = make("relu", bias=False)(x())
    torch.testing.assert_close(net.eval()(x()), clean)
    net.train()
    with torch.no_grad():
        net.down_proj.weight.copy_(torch.eye(E, F_))  # shows the first inner activations
        inner = torch.relu(x() @ net.up_proj.weight.T)[..., :E]
        ratio = net(x())[inner > 0] / inner[inner > 0]
    assert set(ratio.round(decimals=9).tolist()) == {0.0, 2.0}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 4), "d_model must be a positive integer, got 0"),
        ((4, -1), "d_ff must be a positive integer, got -1"),
        ((4, 4, "swish"), "activation must be one of relu, gelu, swiglu, geglu, got 'swish'"),
        ((4, 4, "relu", True, 1.0), "dropout_p must be at least 0 and below 1, got 1.0"),
    ],
)
def test_bad_settings_are_named(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        FeedForward(*arguments)
