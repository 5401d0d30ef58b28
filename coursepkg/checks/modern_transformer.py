"""Checks of the exercises in the chapter on RMSNorm, SwiGLU and pre-norm."""

from collections.abc import Callable, Collection, Mapping
from itertools import combinations
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.transformer import Transformer
from coursepkg.checks import expect


def rms_norm_safe(student: Callable[[Tensor, Tensor, float], Tensor]) -> None:
    """RMSNorm against PyTorch's, with a large epsilon, several shapes."""
    generator = torch.Generator().manual_seed(0)
    weight = torch.randn(6, generator=generator)
    for shape, eps in [((6,), 1e-6), ((2, 5, 6), 1e-6), ((3, 6), 0.5)]:
        x = torch.randn(shape, generator=generator) + 1
        kept = x.clone()
        output = student(x, weight, eps)
        expect.is_tensor(output, x.shape, what=f"the output for x of shape {shape}")
        expect.close(
            output,
            F.rms_norm(x, (6,), weight, eps),
            what=f"the output for x of shape {shape}, eps = {eps}",
            hint=(
                "no mean is subtracted; eps is added to the mean square, under the root"
            ),
        )
        expect.unchanged(kept, x, what="x")
    large = torch.tensor([300.0, -300.0, 300.0, -300.0, 300.0, 300.0]).half()
    output = student(large, torch.ones(6).half(), 1e-6)
    expect.is_tensor(output, large.shape, what="the output for float16 entries of 300")
    expect.close(
        output.float(),
        (large / 300).float(),
        what="the output for float16 entries of 300",
        tolerance=1e-2,
        hint="300 squared is too large for float16: compute in float32",
    )
    expect.equal(
        output.dtype, torch.float16, what="the dtype of the output for a float16 input"
    )


def gated_width(student: Callable[[int, int], int]) -> None:
    """Widths that need rounding up, widths that do not, and that of LLaMA 7B."""
    for d_ff, multiple, width in [
        (3072, 1, 2048),
        (2048, 8, 1368),
        (4 * 4096, 256, 11008),
        (1536, 256, 1024),
        (100, 1, 67),
        (10, 8, 8),
    ]:
        result = student(d_ff, multiple)
        expect.equal(
            result,
            width,
            what=f"the width for d_ff = {d_ff} and multiples of {multiple}",
            hint=(
                "two thirds, then up to the next multiple; a width that is one already"
                " stays"
            ),
        )
        assert expect.is_whole(result), (
            f"the width is a {type(result).__name__}; an int is expected"
        )


BLOCK_MISTAKES = {
    "eps": "eps stands outside the root in RMSNorm",
    "stream": "the residual adds to the normalised input, not to the stream itself",
    "gate": "the SiLU goes around the content, not around the gate",
}


def modern_block(
    student: Callable[
        [Tensor, Callable[[Tensor], Tensor], dict[str, Tensor], float], Tensor
    ],
) -> None:
    """A pre-norm layer with a large epsilon; each mistake that is left is named."""
    generator = torch.Generator().manual_seed(0)
    x = 2 * torch.randn(4, 6, generator=generator) + 1
    mix = torch.randn(4, 4, generator=generator)
    p = {
        name: torch.randn(shape, generator=generator)
        for name, shape in {
            **{"norm_1": (6,), "norm_2": (6,)},
            **{"gate": (6, 8), "up": (6, 8), "down": (8, 6)},
        }.items()
    }
    output = student(
        x.clone(), lambda y: mix @ y, {name: w.clone() for name, w in p.items()}, 0.5
    )
    expect.is_tensor(output, x.shape, what="the output")
    for size in range(1, len(BLOCK_MISTAKES) + 1):
        for left in combinations(BLOCK_MISTAKES, size):
            assert not expect.same(
                output, _block(x, mix, p, 0.5, left), tolerance=1e-4
            ), "still wrong: " + "; ".join(BLOCK_MISTAKES[name] for name in left)
    expect.close(
        output,
        _block(x, mix, p, 0.5, ()),
        what="the output",
        tolerance=1e-4,
        hint="x + attend(norm(x)), then y + network(norm(y)) with SiLU(gate) * up",
    )


def _block(
    x: Tensor, mix: Tensor, p: dict[str, Tensor], eps: float, mistakes: Collection[str]
) -> Tensor:
    def rms_norm(x: Tensor, weight: Tensor) -> Tensor:
        square = x.square().mean(dim=-1, keepdim=True)
        root = square.sqrt() + eps if "eps" in mistakes else (square + eps).sqrt()
        return x / root * weight

    normed = rms_norm(x, p["norm_1"])
    x = (normed if "stream" in mistakes else x) + mix @ normed
    y = rms_norm(x, p["norm_2"])
    gate, content = y @ p["gate"], y @ p["up"]
    if "gate" in mistakes:
        gate, content = content, gate
    return x + (F.silu(gate) * content) @ p["down"]


def widest_network(student: Mapping[str, Any]) -> None:
    """Key-value heads and inner width under a budget of weights and of cache."""
    n_kv_heads, d_ff = (
        expect.attempted(student[key]) for key in ("n_kv_heads", "d_ff")
    )
    for name, number in (("n_kv_heads", n_kv_heads), ("d_ff", d_ff)):
        is_count = expect.is_whole(number) and number > 0
        assert is_count, f"{name} is {number!r}; a positive int is expected"
    assert 8 % n_kv_heads == 0, f"n_kv_heads = {n_kv_heads} does not divide 8"
    assert n_kv_heads >= 2, (
        "n_kv_heads = 1 leaves one of the two GPUs without a key-value head"
    )
    assert n_kv_heads <= 2, (
        f"n_kv_heads = {n_kv_heads}: the cache is {n_kv_heads}/8 of the old one; at"
        " most a quarter is allowed"
    )
    assert d_ff % 8 == 0, f"d_ff = {d_ff} is no multiple of 8"
    budget = 3 * 4 * 512**2 + 2 * 2 * 512 * 2048
    attention = 2 * 512**2 + 2 * 512 * n_kv_heads * 64
    left = budget - 3 * attention - 2 * 3 * 512 * d_ff
    assert left >= 0, (
        f"d_ff = {d_ff} takes {-left:,} weights too many; a gated network has three"
        " matrices"
    )
    assert left < 8 * 2 * 3 * 512, (
        f"d_ff = {d_ff} leaves {left:,} weights unused; give the networks what the keys"
        " and values save"
    )


def modern_parameters(student: Callable[[int, int, int, int, int, int], int]) -> None:
    """The count of real models on the meta device."""
    for sizes in [
        (100, 32, 4, 4, 1, 64),
        (100, 32, 4, 1, 1, 64),
        (50, 24, 6, 2, 3, 40),
        (8000, 768, 12, 4, 8, 3072),
    ]:
        vocab_size, d_model, n_heads, n_kv_heads, n_layers, d_ff = sizes
        heads = {"n_heads": n_heads, "n_kv_heads": n_kv_heads, "output_bias": True}
        layers = {"n_encoder_layers": n_layers, "n_decoder_layers": n_layers}
        config = TransformerConfig.modern(
            vocab_size, d_model=d_model, d_ff=d_ff, **heads, **layers
        )
        with torch.device("meta"):
            model = Transformer(config)
        expect.equal(
            student(*sizes),
            sum(parameter.numel() for parameter in model.parameters()),
            what=f"the count for {sizes}",
            hint=(
                "keys and values have n_kv_heads heads; a decoder layer has two"
                " attentions and three norms; each stack ends in a norm; one embedding"
                " serves for all"
            ),
        )


def center(
    student: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor, Tensor]],
) -> None:
    """All that is written into the stream has mean 0."""
    generator = torch.Generator().manual_seed(0)
    for width, n_in in ((6, 4), (5, 5)):
        embedding = torch.randn(9, width, generator=generator) + 1
        weight = torch.randn(width, n_in, generator=generator) - 0.5
        bias, inner = (
            torch.randn(width, generator=generator),
            torch.randn(9, n_in, generator=generator),
        )
        changed = student(embedding.clone(), weight.clone(), bias.clone())
        names = ("embedding", "weight", "bias")
        is_triple = isinstance(changed, tuple | list) and len(changed) == len(names)
        assert is_triple, (
            f"the result is a {type(changed).__name__}; three tensors are expected:"
            f" {', '.join(names)}"
        )
        for name, tensor, old in zip(
            names, changed, (embedding, weight, bias), strict=True
        ):
            expect.is_tensor(tensor, old.shape, what=f"the new {name}")
        written = {
            "embeddings": changed[0],
            "layer's outputs": F.linear(inner, changed[1], changed[2]),
        }
        for name, rows in written.items():
            expect.close(
                rows.mean(dim=1),
                torch.zeros(9),
                what=f"the mean of the {name} over the features",
                hint=(
                    "the features are the last axis of the embedding, and the first of"
                    " weight and bias"
                ),
            )
        expect.close(
            F.layer_norm(sum(written.values(), torch.zeros(9, width)), (width,)),
            F.layer_norm(embedding + F.linear(inner, weight, bias), (width,)),
            what="LayerNorm of the stream",
            hint=(
                "subtract means only: LayerNorm ignores a shift of all features, and"
                " nothing else"
            ),
        )
