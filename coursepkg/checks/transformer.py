"""Checks of the exercises in the chapter on the Transformer."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, scaled_dot_product_attention

from coursepkg.checks import expect


def normalize(student: Callable[[Tensor, Tensor, Tensor, float], Tensor]) -> None:
    """LayerNorm over the last dimension for several shapes, with a scale."""
    generator = torch.Generator().manual_seed(0)
    for shape, eps in (((3, 4), 1e-5), ((2, 5, 6), 1e-5), ((2, 3, 3, 8), 0.5)):
        x = 3 * torch.randn(shape, generator=generator) + 2
        weight, bias = torch.randn(2, shape[-1], generator=generator)
        result = student(x.clone(), weight.clone(), bias.clone(), eps)
        case = f"the result for x {shape}, eps {eps}"
        expect.close(
            result,
            layer_norm(x, shape[-1:], weight, bias, eps),
            what=case,
            hint=(
                "mean and variance are over the last dimension; the variance divides by"
                " E; eps is inside the root"
            ),
        )


def n_parameters(student: Callable[[int, int, int, int], int]) -> None:
    """The base model, a small one and one without layers' multiples of each other."""
    for sizes, number in (
        ((37000, 512, 2048, 6), 63_082_496),
        ((100, 8, 32, 1), 2_848),
        ((50, 4, 6, 3), 1_388),
    ):
        expect.equal(
            student(*sizes),
            number,
            what="the number for vocabulary {}, d_model {}, d_ff {}, {} layers".format(
                *sizes
            ),
            hint=(
                "attention 4 (E^2 + E), network 2 E F + F + E, norm 2 E; a decoder"
                " layer has 2 attentions, 3 norms"
            ),
        )


def bridge(student: Callable[..., Tensor]) -> None:
    """Cross-attention against PyTorch's, for equal and for different lengths."""
    generator = torch.Generator().manual_seed(0)
    for n_target, lengths in ((3, [5, 5]), (1, [5, 2]), (4, [1, 5])):
        y, m = (
            torch.randn(2, n_target, 6, generator=generator),
            torch.randn(2, 5, 6, generator=generator),
        )
        w_q, w_k, w_v = torch.randn(3, 6, 4, generator=generator)
        real = torch.tensor(lengths)
        output = student(
            y.clone(), m.clone(), real.clone(), w_q.clone(), w_k.clone(), w_v.clone()
        )
        case = f"the output for T = {n_target}, S = 5, lengths {lengths}"
        expect.is_tensor(output, (2, n_target, 4), what=case)
        visible = torch.arange(5) < real[:, None, None]
        expect.close(
            output,
            scaled_dot_product_attention(y @ w_q, m @ w_k, m @ w_v, visible),
            what=case,
            hint=(
                "queries from y, keys and values from m; divide by sqrt(D); no weight"
                " at or behind a source's length"
            ),
        )


def cached_attention(
    student: Callable[[Tensor, Tensor, Tensor, Any], tuple[Tensor, Any]],
) -> None:
    """Causal attention in pieces of several sizes against one pass."""
    generator = torch.Generator().manual_seed(0)
    q, k, v = torch.randn(3, 2, 7, 4, generator=generator)
    full = scaled_dot_product_attention(q, k, v, is_causal=True)
    for sizes in ([7], [1] * 7, [3, 1, 1, 2], [2, 5]):
        past, first = None, 0
        for size in sizes:
            piece = slice(first, first + size)
            result = student(
                q[:, piece].clone(), k[:, piece].clone(), v[:, piece].clone(), past
            )
            case = f"the output of tokens {first}..{first + size - 1} in pieces {sizes}"
            expect.equal(
                isinstance(result, tuple) and len(result),
                2,
                what="the number of things returned",
                hint="return the output and the new past",
            )
            output, past = result
            expect.close(
                output,
                full[:, piece],
                what=case,
                hint=(
                    "with P tokens in the past, new token i sees the keys up to P + i;"
                    " divide by sqrt(D)"
                ),
            )
            first += size
