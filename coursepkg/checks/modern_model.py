"""Checks of the exercises in the chapter on the modern translation model."""

from collections.abc import Callable

import torch
from torch import Tensor

from coursepkg.attention.rope import RotaryEmbedding
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.transformer import Transformer
from coursepkg.checks import expect


def layer_parameters(student: Callable[[int, int, int, int], int]) -> None:
    """A decoder layer on the meta device: one head each, grouped heads."""
    for d_model, n_heads, n_kv_heads, d_ff in [
        (32, 4, 4, 64),
        (32, 4, 2, 64),
        (48, 6, 1, 100),
        (768, 12, 4, 3072),
        (256, 8, 2, 688),
    ]:
        with torch.device("meta"):
            sizes = {"d_model": d_model, "n_heads": n_heads, "d_ff": d_ff}
            layers = {"n_encoder_layers": 1, "n_decoder_layers": 1}
            config = TransformerConfig.modern(
                8, n_kv_heads=n_kv_heads, **sizes, **layers
            )
            model = Transformer(config)
        expect.equal(
            student(d_model, n_heads, n_kv_heads, d_ff),
            sum(p.numel() for p in model.decoder.layers[0].parameters()),
            what=(
                f"the count for d_model {d_model}, {n_heads} and {n_kv_heads} heads,"
                f" d_ff {d_ff}"
            ),
            hint=(
                "two attentions with four matrices each, three matrices in the network,"
                " three norms, no biases"
            ),
        )


def widest(student: Callable[[int, int, int], int]) -> None:
    """Budgets that a width fills exactly, that miss it by one."""
    for vocab_size, n_layers in [(4000, 4), (2000, 2), (100, 1), (32000, 6)]:
        sizes = {
            width: _family(vocab_size, n_layers, width)
            for width in range(128, 1281, 128)
        }
        budgets = [
            (sizes[256], 256),
            (sizes[256] - 1, 128),
            (sizes[640] + 1, 640),
            ((sizes[1024] + sizes[1152]) // 2, 1024),
            (sizes[128] - 1, 0),
        ]
        for budget, width in budgets:
            answer = student(vocab_size, n_layers, budget)
            expect.equal(
                answer,
                width,
                what=(
                    f"the width for {vocab_size} pieces, {n_layers} layers and"
                    f" {budget:,} parameters"
                ),
                hint=(
                    "count embedding, layers and two final norms; the budget itself may"
                    " be reached; 0 if nothing fits"
                ),
            )


def cache_bytes(student: Callable[[int, int, int, int, int, int, int], int]) -> None:
    """One beam, several beams, half precision, no token yet."""
    for sizes in [
        (4, 2, 32, 9, 12, 1, 4),
        (4, 2, 32, 9, 12, 5, 4),
        (4, 8, 32, 9, 12, 5, 2),
        (2, 1, 64, 30, 0, 4, 4),
        (8, 4, 64, 32, 32, 5, 2),
    ]:
        layers, heads, width, source, written, beams, size = sizes
        expect.equal(
            student(*sizes),
            2 * layers * heads * width * (source + beams * written) * size,
            what=f"the bytes for {sizes}",
            hint=(
                "keys and values; the source is stored once for all beams, what was"
                " written once for each"
            ),
        )


def rotated_score(student: Callable[[Tensor, Tensor, int, int], Tensor]) -> None:
    """The score of two vectors at many pairs of positions."""
    generator = torch.Generator().manual_seed(0)
    for head_dim in (2, 8, 64):
        q, k = torch.randn(2, head_dim, generator=generator, dtype=torch.float64)
        kept = q.clone(), k.clone()
        rope = RotaryEmbedding(head_dim)
        for m, n in [(0, 0), (5, 5), (7, 3), (3, 7), (1, 30), (40, 39)]:
            turned = (
                rope.rotate(q[None, None, None], offset=m),
                rope.rotate(k[None, None, None], offset=n),
            )
            expect.close(
                student(q, k, m, n),
                float((turned[0] * turned[1]).sum()) / head_dim**0.5,
                what=f"the score of a query at {m} and a key at {n} (D = {head_dim})",
                tolerance=1e-6,
                hint=(
                    "pairs are (2i, 2i + 1), theta_i = 10000^(-2i / D), the scale is 1"
                    " / sqrt(D)"
                ),
            )
        together = [student(q, k, 9 + far, 4 + far) for far in (0, 20)]
        expect.close(
            together[1],
            float(together[0]),
            what="the score after both positions have moved by 20",
            tolerance=1e-6,
            hint="it may depend on m - n alone",
        )
        for before, after, name in zip(kept, (q, k), ("q", "k"), strict=True):
            expect.unchanged(before, after, what=name)


def epochs_in_an_hour(answer: str) -> None:
    """3,600 s at 0.4 s a step, 64,000 examples in batches of 80."""
    expect.quantity(
        answer,
        3600 / 0.4 / (2 * 32_000 / 80),
        "epochs",
        what="the answer",
        mistakes={
            11.0: "the last epoch is cut short; count the part of it that is done, too",
            22.5: "trained both ways, each pair gives two examples",
            9000 / 32_000: "a step takes a batch of 80 examples, not one",
            9000 / 64_000: "a step takes a batch of 80 examples, not one",
            1.8: "divide the hour by the seconds of a step",
            9000.0: "those are the steps; how many does an epoch have?",
        },
    )


def _family(vocab_size: int, n_layers: int, width: int) -> int:
    """Parameters of the chapter's family at a width: heads of 32."""
    with torch.device("meta"):
        model = Transformer(
            TransformerConfig.modern(
                vocab_size,
                d_model=width,
                n_heads=width // 32,
                n_kv_heads=width // 128,
                n_encoder_layers=n_layers,
                n_decoder_layers=n_layers,
                d_ff=-(-8 * width // 24) * 8,
            )
        )
    return sum(p.numel() for p in model.parameters())
