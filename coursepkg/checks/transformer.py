"""Checks of the exercises in the chapter on the Transformer."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, scaled_dot_product_attention

from coursepkg.checks import expect


def equal_shares(student: str) -> None:
    """Where scores and sums pass the projections, read off the figure of the shares."""
    expect.quantity(
        student,
        2.0 * 512,
        "tokens",
        what="the length",
        tolerance=0.15,
        mistakes={
            4.0 * 512: "there the curve meets that of the feed-forward network",
            6.0 * 512: "there, at the dotted line, they pass half of all work",
        },
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


def target_loss(
    student: Callable[[Callable[[Tensor], Tensor], Tensor], Tensor],
) -> None:
    """The loss of a decoder that sees one token, with padding and without."""
    generator = torch.Generator().manual_seed(0)
    table = 2 * torch.randn(9, 9, generator=generator)
    for rows in (
        [[1, 4, 5, 6, 2], [1, 7, 8, 4, 2]],
        [[1, 4, 5, 6, 7, 2], [1, 8, 2, 0, 0, 0]],
    ):
        target = torch.tensor(rows)
        read, labels = target[:, :-1], target[:, 1:]
        losses = {
            "the label of a place is the token that it has just read": (target, target),
            "each place is asked for its own token, not for the next one": (read, read),
            "the decoder reads the next token and is asked for the one before": (
                labels,
                read,
            ),
        }
        loss = student(lambda ids: table[ids], target.clone())
        for mistake, (given, asked) in losses.items():
            for ignored, padding in ((-100, "; and padding counts"), (0, "")):
                _differs(
                    loss, _mean_loss(table[given], asked, ignored), mistake + padding
                )
        _differs(
            loss if (labels == 0).any() else torch.tensor(torch.nan),
            _mean_loss(table[read], labels, -100),
            "padding counts as a token that has to be predicted",
        )
        expect.close(
            loss,
            float(_mean_loss(table[read], labels, 0)),
            what=f"the loss for the targets {rows}",
            hint="one sum over all real labels, divided once by their number",
        )


def _mean_loss(logits: Tensor, labels: Tensor, ignored: int) -> Tensor:
    return cross_entropy(logits.flatten(0, 1), labels.flatten(), ignore_index=ignored)


def _differs(loss: Any, mistaken: Tensor, mistake: str) -> None:
    assert not expect.same(loss, mistaken), f"the loss is wrong: {mistake}"


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
                len(result) if isinstance(result, tuple | list) else 1,
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
