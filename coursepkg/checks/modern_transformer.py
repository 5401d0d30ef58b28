"""Checks of the exercises in the chapter on modern parts of the Transformer."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import layer_norm, linear

from coursepkg.checks import expect


def rms_norm(student: Callable[[Tensor, Tensor, float], Tensor]) -> None:
    """RMSNorm over the last dimension for several shapes, with a scale and a large epsilon."""
    generator = torch.Generator().manual_seed(0)
    for shape, eps in (((3, 4), 1e-6), ((2, 5, 6), 1e-6), ((2, 3, 3, 8), 0.5)):
        x = 3 * torch.randn(shape, generator=generator) + 2
        weight = torch.randn(shape[-1], generator=generator)
        result = student(x.clone(), weight.clone(), eps)
        case = f"the result for x {shape}, eps {eps}"
        expect.is_tensor(result, shape, what=case)
        expect.close(
            result,
            x / (x.pow(2).mean(-1, keepdim=True) + eps).sqrt() * weight,
            what=case,
            hint="the mean of squares over the last dimension, eps added to it, then the root; no mean is subtracted",
        )


def gated_width(student: Callable[[int, int], int]) -> None:
    """Widths that divide, that must be rounded, and one that rounding twice gets wrong."""
    for d_ff, multiple, width in (
        (2048, 1, 1366),
        (3072, 64, 2048),
        (2048, 64, 1408),
        (11008, 256, 7424),
        (97, 64, 128),
        (6, 4, 4),
    ):
        expect.equal(
            student(d_ff, multiple),
            width,
            what=f"the width for d_ff {d_ff} and multiples of {multiple}",
            hint="three matrices of the new width weigh what two of d_ff do; round up once, at the end",
        )


def fold_norm(student: Callable[[Tensor, Tensor, Tensor, Tensor], tuple[Tensor, Tensor]]) -> None:
    """A linear layer behind a norm with scale and shift against one behind a norm without."""
    generator = torch.Generator().manual_seed(0)
    for n_out, width in ((3, 5), (6, 6), (7, 4)):
        x, weight = torch.randn(8, width, generator=generator), torch.randn(n_out, width, generator=generator)
        bias = torch.randn(n_out, generator=generator)
        gamma, beta = torch.randn(2, width, generator=generator)
        folded = student(weight.clone(), bias.clone(), gamma.clone(), beta.clone())
        _several(folded, ((n_out, width), (n_out,)), ("weight", "bias"))
        expect.close(
            linear(layer_norm(x, (width,)), *folded),
            linear(layer_norm(x, (width,), gamma, beta), weight, bias),
            what=f"the layer's output for weight ({n_out}, {width})",
            hint="gamma scales the inputs, the columns of weight; beta is a constant input, so it becomes a bias",
        )


def center(student: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]]) -> None:
    """What is written has mean 0, and LayerNorm of the stream is as before."""
    generator = torch.Generator().manual_seed(0)
    for width, n_in in ((6, 4), (5, 5)):
        embedding = torch.randn(9, width, generator=generator) + 1
        weight, bias = (
            torch.randn(width, n_in, generator=generator) - 0.5,
            torch.randn(width, generator=generator),
        )
        inner = torch.randn(9, n_in, generator=generator)
        changed = student(embedding.clone(), weight.clone(), bias.clone())
        _several(changed, ((9, width), (width, n_in), (width,)), ("embedding", "weight", "bias"))
        stream = embedding + linear(inner, weight, bias)
        new = changed[0] + linear(inner, changed[1], changed[2])
        for name, written in (("embeddings", changed[0]), ("layer's outputs", linear(inner, *changed[1:]))):
            expect.close(
                written.mean(1),
                torch.zeros(9),
                what=f"the mean of the {name} over the features",
                hint="the features are the last axis of the embedding, and the first of weight and bias",
            )
        expect.close(
            layer_norm(new, (width,)),
            layer_norm(stream, (width,)),
            what="LayerNorm of the stream",
            hint="subtract means only: LayerNorm ignores a shift of all features, and nothing else",
        )


def _several(result: object, shapes: tuple[tuple[int, ...], ...], names: tuple[str, ...]) -> None:
    expect.equal(
        isinstance(result, tuple) and len(result),
        len(shapes),
        what="the number of tensors returned",
        hint=f"return {', '.join(names)}",
    )
    for tensor, shape, name in zip(result, shapes, names, strict=True):  # type: ignore[call-overload]
        expect.is_tensor(tensor, shape, what=f"the new {name}")
