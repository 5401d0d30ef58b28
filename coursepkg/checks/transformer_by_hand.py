"""Checks of the exercises in the chapter on the Transformer by hand."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn import functional as F

from coursepkg.attention.multihead import MultiHeadAttention
from coursepkg.checks import expect


def layer_norm(student: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
    """Features of different size, a batch whose rows differ."""
    generator = torch.Generator().manual_seed(0)
    for shape, spread in (
        *(((2, 3, 4), 3.0), ((1, 1, 16), 3.0), ((5, 2, 6), 3.0)),
        ((2, 3, 8), 1e-3),
    ):
        x = spread * torch.randn(shape, generator=generator) + min(spread, 1.0)
        x[0, 0] = 2.0
        gamma, beta = torch.randn(2, shape[-1], generator=generator)
        normed = student(x.clone(), gamma.clone(), beta.clone())
        case = f"the norm for shape {shape} and features {spread:g} apart"
        expect.close(
            normed,
            F.layer_norm(x, shape[-1:], gamma, beta),
            what=case,
            tolerance=1e-4,
            hint=(
                "mean and variance run over the E features of one position, and the"
                " variance divides by E; epsilon is added to it, under the root"
            ),
        )


def encoder_work(student: str) -> None:
    """The work of the base model's six encoder layers for 512 tokens."""
    unit = 2**27 / 1e9  # n E^2 and n^2 E in GFLOP, as n = E = 512
    expect.quantity(
        student,
        6 * 28 * unit,
        "GFLOP",
        what="the work",
        mistakes={
            28 * unit: "that is one layer; the encoder has six",
            6 * 24 * unit: "scores and weighted sums are missing, 4 n^2 E a layer",
            6 * 12 * unit: "the feed-forward network is missing, 16 n E^2 a layer",
            6 * 14 * unit: "a product and a sum are two operations",
        },
    )


def gradient_ratio(student: str) -> None:
    """How far the division lifts the gradient at the scores, read off the figure."""
    expect.quantity(
        student,
        33e3,
        "times",
        what="the ratio",
        tolerance=0.65,
        mistakes={
            4.4: "the axis is logarithmic, and a step between labels is a factor of 10",
            1.3e3: "that is short of it: the lower curve ends below 1e-5",
            2.5e5: "the lower curve ends between 1e-6 and 1e-5, the upper near 0.2",
            4e-5: "divide the larger number by the smaller one",
        },
    )


def softmax_gradient(student: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Soft and saturated rows, against autograd."""
    generator = torch.Generator().manual_seed(1)
    for size in (1.0, 10.0):
        s = (size * torch.randn(4, 6, generator=generator)).requires_grad_()
        u = torch.randn(4, 6, generator=generator)
        (exact,) = torch.autograd.grad((s.softmax(-1) * u).sum(), s)
        gradient = student(s.detach().clone(), u.clone())
        case = f"the gradient for scores of size {size:.0f}"
        expect.close(
            gradient,
            exact,
            what=case,
            hint="the sum over i is a number a row: p_j (u_j - sum_i p_i u_i)",
        )


def cross_attention(
    student: Callable[[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, int], Tensor],
) -> None:
    """Sources longer and shorter than the target, with one head and several."""
    generator = torch.Generator().manual_seed(2)
    for n_queries, n_keys, width, n_heads in (
        (3, 5, 8, 2),
        (4, 2, 12, 3),
        (2, 2, 6, 1),
    ):
        y = torch.randn(n_queries, width, generator=generator)
        m = torch.randn(n_keys, width, generator=generator)
        matrices = torch.randn(4, width, width, generator=generator) / width**0.5
        w_q, w_k, w_v, w_o = matrices.clone()
        output = student(y.clone(), m.clone(), w_q, w_k, w_v, w_o, n_heads)
        case = f"the output for T = {n_queries}, S = {n_keys}, {n_heads} heads"
        expect.close(
            output,
            _attention(matrices, n_heads)(y[None], m[None])[0].detach(),
            what=case,
            hint=(
                "keys and values are projected from m, each head divides by the root of"
                " its own dimension"
            ),
        )


def encoder_layer_2017(
    student: Callable[[Tensor, dict[str, Tensor], int], Tensor],
) -> None:
    """A whole post-norm layer against the package's parts."""
    generator = torch.Generator().manual_seed(3)
    for length, width, inner, n_heads in ((3, 4, 6, 2), (5, 12, 24, 3)):
        x = torch.randn(length, width, generator=generator)
        p = _weights(width, inner, generator)
        matrices = torch.stack([p[name] for name in ("w_q", "w_k", "w_v", "w_o")])
        attended = _attention(matrices, n_heads)(x[None])[0].detach()
        y = F.layer_norm(x + attended, (width,), p["gamma_1"], p["beta_1"])
        network = F.relu(y @ p["w_1"] + p["b_1"]) @ p["w_2"] + p["b_2"]
        output = student(
            x.clone(), {name: weight.clone() for name, weight in p.items()}, n_heads
        )
        case = f"the output for T = {length}, E = {width}, {n_heads} heads"
        expect.close(
            output,
            F.layer_norm(y + network, (width,), p["gamma_2"], p["beta_2"]),
            what=case,
            tolerance=1e-4,
            hint=(
                "each sublayer: add its output to its input, then normalise the sum;"
                " the network has its max(0, .)"
            ),
        )


def _weights(width: int, inner: int, generator: torch.Generator) -> dict[str, Tensor]:
    def random(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator) / shape[0] ** 0.5

    weights = {name: random(width, width) for name in ("w_q", "w_k", "w_v", "w_o")}
    weights |= {"w_1": random(width, inner), "b_1": random(inner)}
    weights |= {"w_2": random(inner, width), "b_2": random(width)}
    for number in (1, 2):
        weights |= {
            f"gamma_{number}": 1 + random(width),
            f"beta_{number}": random(width),
        }
    return weights


def _attention(matrices: Tensor, n_heads: int) -> MultiHeadAttention:
    """The package's module with the matrices W_q, W_k, W_v, W_o, each for x W."""
    module = MultiHeadAttention(matrices.shape[-1], n_heads, impl="reference")
    linears = (module.q_proj, module.k_proj, module.v_proj, module.o_proj)
    for linear, matrix in zip(linears, matrices, strict=True):
        linear.weight.data.copy_(matrix.T)
    return module
