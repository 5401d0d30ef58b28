"""Checks of the exercises in the chapter on the improved model for signs."""

from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from coursepkg.checks import expect


def attention_pool(
    student: Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]],
) -> None:
    """Whole clips, clips with padding, one real frame, and scores that are large."""
    torch.manual_seed(0)
    for lengths, size in [([4, 4], 1.0), ([4, 2, 1], 1.0), ([3, 1], 200.0)]:
        x = torch.randn(len(lengths), 4, 3, dtype=torch.float64)
        scores = size * torch.randn(len(lengths), 4, dtype=torch.float64)
        mask = torch.arange(4) < torch.tensor(lengths)[:, None]
        before = [one.clone() for one in (x, scores)]
        answer = student(x, scores, mask)
        for name, old, new in zip(("x", "scores"), before, (x, scores), strict=True):
            expect.unchanged(old, new, what=name)
        expect.equal(
            len(answer) if isinstance(answer, tuple | list) else 1,
            2,
            what="the number of tensors that are returned",
            hint="the pooled vectors and the weights, in this order",
        )
        vectors, weights = (
            torch.zeros(len(lengths), 3).double(),
            torch.zeros(len(lengths), 4).double(),
        )
        for row, n in enumerate(lengths):
            own = torch.exp(scores[row, :n] - scores[row, :n].max())
            weights[row, :n] = own / own.sum()
            vectors[row] = weights[row, :n] @ x[row, :n]
        # The weights first: a vector that is wrong because of them would be told the
        # wrong reason.
        expect.close(
            answer[1],
            weights,
            what=f"the weights of clips with {lengths} real frames of 4",
            hint=(
                "the scores of padding become -inf before the softmax, which goes over"
                " the frames, dim=1"
            ),
        )
        expect.close(
            answer[0],
            vectors,
            what=f"the vectors of clips with {lengths} real frames of 4",
            hint="the sum over the frames of weight times vector",
        )


def depthwise(student: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Several sizes of pictures and kernels, one channel and many."""
    torch.manual_seed(0)
    for n, channels, height, width, side in [
        (2, 3, 6, 5, 3),
        (1, 1, 4, 4, 3),
        (1, 4, 8, 7, 7),
        (2, 2, 3, 3, 1),
    ]:
        x = torch.randn(n, channels, height, width, dtype=torch.float64)
        kernels = torch.randn(channels, side, side, dtype=torch.float64)
        before = x.clone()
        answer = student(x, kernels)
        expect.unchanged(before, x, what="x")
        each = [
            F.conv2d(x[:, c : c + 1], kernels[c][None, None], padding=side // 2)
            for c in range(channels)
        ]
        expect.close(
            answer,
            torch.cat(each, dim=1),
            what=(
                f"the convolution of {channels} channel(s) of {height} x {width} with"
                f" kernels of {side} x {side}"
            ),
            hint=(
                "each channel meets its own kernel and no other channel; half of the"
                " kernel's side is padded with zeros, and the kernel is not flipped"
            ),
        )


def convnext_parameters(student: Callable[[Sequence[int], Sequence[int]], int]) -> None:
    """ConvNeXt-Tiny, one stage, and widths that do not double."""
    for widths, blocks in [
        ((96, 192, 384, 768), (3, 3, 9, 3)),
        ((8,), (2,)),
        ((4, 12, 6), (1, 0, 2)),
    ]:
        expect.equal(
            student(list(widths), list(blocks)),
            sum(weight.numel() for weight in _convnext(widths, blocks).parameters()),
            what=(
                f"the number of parameters with the widths {widths} and {blocks} blocks"
            ),
            hint=(
                "8 C^2 + 58 C a block; 48 C + C and a norm for the stem; between stages"
                " a norm of the OLD width and 4 C D + D; a norm of the last width at"
                " the end"
            ),
        )


def _convnext(widths: Sequence[int], blocks: Sequence[int]) -> nn.ModuleList:
    """The parts of the network, which are counted and never run."""
    parts = nn.ModuleList()
    with torch.device("meta"):
        parts.extend([nn.Conv2d(3, widths[0], 4, 4), nn.LayerNorm(widths[0])])
        for stage, (width, n) in enumerate(zip(widths, blocks, strict=True)):
            if stage:
                parts.extend(
                    [
                        nn.LayerNorm(widths[stage - 1]),
                        nn.Conv2d(widths[stage - 1], width, 2, 2),
                    ]
                )
            for _ in range(n):
                parts.extend(
                    [nn.Conv2d(width, width, 7, groups=width), nn.LayerNorm(width)]
                )
                parts.extend([nn.Linear(width, 4 * width), nn.Linear(4 * width, width)])
                parts.append(nn.ParameterList([nn.Parameter(torch.empty(width))]))
        parts.append(nn.LayerNorm(widths[-1]))
    return parts


def part_rates(
    student: Callable[[int, float, float, float, int], Sequence[float]],
) -> None:
    """Equal rates, rates that fall, with nothing, some and all of it frozen."""
    for given, expected in [
        ((3, 1.0, 1.0, 1.0, 0), [1.0, 1.0, 1.0]),
        ((3, 0.01, 0.5, 0.1, 0), [0.00005, 0.0005, 0.005]),
        ((4, 2.0, 0.25, 0.5, 2), [0.0, 0.0, 0.25, 0.5]),
        ((6, 1.0, 0.1, 0.8, 1), [0.0, 0.04096, 0.0512, 0.064, 0.08, 0.1]),
        ((2, 1.0, 0.5, 0.5, 2), [0.0, 0.0]),
    ]:
        answer = student(*given)
        expect.close(
            torch.as_tensor([float(one) for one in answer], dtype=torch.float64),
            torch.tensor(expected, dtype=torch.float64),
            what=(
                f"the rates of {given[0]} parts with rate {given[1]}, backbone_rate"
                f" {given[2]}, layer_decay {given[3]} and {given[4]} frozen"
            ),
            tolerance=1e-6,
            hint=(
                "rate * backbone_rate * layer_decay ** (n_parts - 1 - k) for part k,"
                " the stem being part 0; the first `frozen` parts have 0"
            ),
        )


def times_answered(student: Callable[[], str]) -> None:
    """A column of the confusion matrix, added up."""
    expect.quantity(
        student(),
        18.0,
        "answers",
        what="how often the answer was 'Vui'",
        tolerance=0.001,
        mistakes={
            16.0: "those are the clips of the word; the column has wrong answers, too",
            2.0: "those are the wrong answers; the right ones stand on the diagonal",
            17.0: "the column of 'Vui' has two words besides its own",
        },
    )


BACKBONES = {
    "resnet-18": (11.2, 1.814),
    "resnet-34": (21.3, 3.663),
    "resnet-50": (23.5, 4.087),
    "convnext-tiny": (27.8, 4.455),
    "vit-base": (85.8, 17.563),
    "swin-tiny": (27.5, 4.490),
}
"""Million parameters, and billion multiply-adds for a frame of 224 pixels."""


def backbone_plan(student: Callable[[], tuple[str, int]]) -> None:
    """Within both budgets, and the best of such plans."""
    answer = student()
    is_pair = isinstance(answer, tuple | list) and len(answer) == 2
    assert is_pair, "the result is not a pair; return (backbone, frames)"
    name, frames = answer
    assert name in BACKBONES, f"{name!r} is not in the table: {', '.join(BACKBONES)}"
    assert frames in range(1, 17), f"{frames!r} frames; 1 to 16 are on offer"
    millions, billions = BACKBONES[name]
    assert 4 * millions <= 100, (
        f"{name} has {millions} million weights of 4 bytes: {4 * millions:.0f} MB, more"
        " than 100"
    )
    assert frames * billions <= 60, (
        f"{frames} frames of {billions} billion are {frames * billions:.1f} billion"
        " multiply-adds, more than 60"
    )
    assert frames == 16, f"{frames} frames are fewer than another backbone can see"
    assert name == "resnet-34", f"{name} is allowed, but a larger backbone is, too"
