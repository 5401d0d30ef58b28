"""Tests of the assignment on the Transformer: a loss, a norm, masks and memory."""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from coursepkg.checks import expect
from coursepkg.checks.assignments.measure import (
    Observed,
    gradients_close,
    personal,
    quantity,
    same_dtype,
    tensor_of,
    two,
    with_gradients,
)
from coursepkg.checks.assignments.task import Task

Case = tuple[Any, ...]
IGNORED = -100
"""The label that the loss leaves out."""
LOSSES = ("cross_entropy_loss", "nll_loss", "nll_loss_nd", "kl_div")


def _loss_case(real: list[int], n_classes: int, smoothing: float, seed: int) -> Case:
    """Logits and labels of sentences with so many real tokens; odd seeds in half."""
    kinds = torch.float64, torch.bfloat16, torch.float64, torch.float16
    generator = torch.Generator().manual_seed(seed)
    longest = max(*real, 1)
    shape = (len(real), longest)
    logits = 4 * torch.randn(*shape, n_classes, generator=generator)
    labels = torch.randint(n_classes, shape, generator=generator)
    labels[torch.arange(longest) >= torch.tensor(real)[:, None]] = IGNORED
    return logits.to(kinds[seed % 4]), labels, smoothing


def _loss_reference(
    logits: Tensor, labels: Tensor, smoothing: float, reduction: str = "mean"
) -> Tensor:
    rows = logits.flatten(0, 1).float() if logits.dtype != torch.float64 else logits
    rows = rows.reshape(-1, logits.shape[-1])
    if bool((labels == IGNORED).all()):
        return 0.0 * rows.sum()
    return F.cross_entropy(
        rows, labels.flatten(), label_smoothing=smoothing, reduction=reduction
    )


def _other_losses(logits: Tensor, labels: Tensor, smoothing: float) -> dict[str, float]:
    """What usual mistakes give."""
    is_real = labels != IGNORED
    total = _loss_reference(logits, labels, smoothing, "sum")
    each = _loss_reference(logits, labels, smoothing, "none").view(labels.shape)
    counts = is_real.sum(1).clamp(min=1)
    logs = logits.double().log_softmax(-1)
    right = logs.gather(-1, labels.clamp(min=0)[..., None])[..., 0]
    share = smoothing / (logits.shape[-1] - 1)
    others = (1 - smoothing) * right + share * (logs.sum(-1) - right)
    return {
        "labels of -100 must not count in the number of tokens": float(
            total / labels.numel()
        ),
        "it is the mean over the tokens, not their sum": float(total),
        "every token weighs the same, not every sentence": float(
            (each.sum(1) / counts).mean()
        ),
        "the smoothed share is spread over all V classes, the right one among them": (
            -float(others[is_real].mean())
        ),
        "the labels are not smoothed": float(
            _loss_reference(logits.double(), labels, 0.0)
        ),
    }


def _judge_loss(case: Case, answer: Any) -> None:
    logits, labels, _ = case
    observed = Observed(*answer)
    loss, gradients = observed.result
    observed.must_not_call(LOSSES, "write the loss with log_softmax")
    tensor_of(loss, (), what="the loss")
    is_half = logits.dtype in (torch.bfloat16, torch.float16)
    wanted = torch.float32 if is_half else torch.float64
    assert loss.dtype == wanted, (
        f"for {logits.dtype} the loss has dtype {loss.dtype}; {wanted} is expected"
    )
    right, exact = with_gradients(_loss_reference, *case)
    if bool((labels == IGNORED).all()):
        assert float(loss) == 0, (
            f"without a single label the loss is {float(loss)}; 0 is expected"
        )
    else:
        for hint, wrong in _other_losses(*case).items():
            if abs(wrong - float(right)) > 0.01:
                near = abs(float(loss) - wrong) < 1e-4 * max(1.0, abs(wrong))
                assert not near, f"the loss is {float(loss):.4f}: {hint}"
    expect.close(
        loss.double(),
        right.double(),
        what="the loss",
        tolerance=1e-4,
        hint="compute log_softmax in float32 or wider",
    )
    room = 0.02 if is_half else None
    gradients_close(gradients, exact, ("logits", "labels", "smoothing"), tolerance=room)


smoothed_loss = Task(
    "smoothed_loss",
    make=_loss_case,
    judge=_judge_loss,
    public=[
        ([3, 1], 5, 0.2, 0),
        ([4], 7, 0.0, 2),
        ([2, 5], 6, 0.1, 1),
        ([0], 4, 0.1, 4),
    ],
    run="observe",
)


def _weights_case(
    n_queries: int, n_keys: int, head_dim: int, scale: float, size: float, seed: int
) -> Case:
    """Queries and keys of a size, and a mask in which every query sees a key."""
    generator = torch.Generator().manual_seed(seed)
    q, k = (
        size * torch.randn(2, 3, n, head_dim, generator=generator, dtype=torch.float64)
        for n in (n_queries, n_keys)
    )
    gain = 1 + torch.rand(head_dim, generator=generator, dtype=torch.float64)
    mask = torch.rand(n_queries, n_keys, generator=generator) < 0.6
    mask[:, 0] = True
    if n_queries > 1:
        mask[0, 1:] = False
    return q, k, gain, mask, scale, 0.25


def _normed(x: Tensor, gain: Tensor, eps: float) -> Tensor:
    return x * torch.rsqrt(x.pow(2).mean(dim=-1, keepdim=True) + eps) * gain


def _weights_reference(
    q: Tensor, k: Tensor, gain: Tensor, mask: Tensor, scale: float, eps: float
) -> Tensor:
    dots = torch.einsum("bhtd,bhsd->bhts", _normed(q, gain, eps), _normed(k, gain, eps))
    return torch.where(mask, dots * scale, -torch.inf).softmax(dim=-1)


def _judge_weights(case: Case, answer: Any) -> None:
    q, k, gain, mask, scale, eps = case
    weights, gradients = answer
    right, exact = with_gradients(_weights_reference, *case)
    tensor_of(weights, right.shape, what="the tensor of weights")
    same_dtype(q, weights)
    hidden = weights[~mask.expand_as(weights)].detach()
    assert not hidden.numel() or float(hidden.max()) < 1e-6, (
        f"with scale = {scale} a hidden key has the weight {float(hidden.max()):.4f};"
        " is the mask applied before the scale?"
    )
    sums = weights.sum(-1)
    expect.close(sums, torch.ones_like(sums), what="the sum of a row of weights")

    def outside(x: Tensor) -> Tensor:
        return x / (x.square().mean(-1, keepdim=True).sqrt() + eps) * gain

    ones = torch.ones_like(gain)
    for hint, (q_hat, k_hat) in {
        "eps stands inside the root": (outside(q), outside(k)),
        "gain has no effect; apply it after the division": (
            _normed(q, ones, eps),
            _normed(k, ones, eps),
        ),
        "queries and keys are both normalised": (_normed(q, gain, eps), k * gain),
    }.items():
        dots = torch.where(mask, q_hat @ k_hat.transpose(-1, -2) * scale, -torch.inf)
        wrong = dots.softmax(-1)
        if not torch.allclose(wrong, right, atol=1e-4):
            assert not torch.allclose(weights, wrong, atol=1e-6), (
                f"the weights are wrong: {hint}"
            )
    expect.close(weights, right, what="the weights", hint="RMS is a mean over D")
    gradients_close(gradients, exact, ("q", "k", "gain", "mask", "scale", "eps"))


normed_weights = Task(
    "normed_weights",
    make=_weights_case,
    judge=_judge_weights,
    public=[
        (3, 4, 5, 0.5, 1.0, 0),
        (4, 6, 3, 0.001, 1.0, 1),
        (2, 3, 4, 2.0, 0.3, 2),
    ],
    run="gradients",
)


def _packed_case(lengths: list[int], total: int) -> Case:
    return lengths, total


def _judge_packed(case: Case, answer: Any) -> None:
    lengths, total = case
    positions, mask = two(answer, "the positions and the mask")
    document = [i for i, n in enumerate(lengths) for _ in range(n)]
    right = [j for n in lengths for j in range(n)]
    padding = total - len(document)
    tensor_of(positions, (total,), what="the tensor of positions")
    expect.is_tensor(mask, (total, total), what="the mask")
    assert mask.dtype == torch.bool, (
        f"the mask has dtype {mask.dtype}; torch.bool is expected"
    )
    assert positions.dtype == torch.int64, (
        f"the positions have dtype {positions.dtype}; torch.int64 is expected"
    )
    expect.equal(
        positions.tolist(),
        right + [0] * padding,
        what=f"for documents of {lengths} in {total} places: the list of positions",
        hint="they begin at 0 in every document, and are 0 at padding",
    )
    for i in range(total):
        for j in range(total):
            if i >= len(document) or j >= len(document):
                assert not bool(mask[i, j]), (
                    f"place {i} sees place {j}, and one of them is padding"
                )
                continue
            same, past = document[i] == document[j], j <= i
            assert not (bool(mask[i, j]) and not same), (
                f"place {i} sees place {j} of another document"
            )
            assert not (bool(mask[i, j]) and not past), (
                f"place {i} sees place {j}, which comes after it"
            )
            assert bool(mask[i, j]) or not (same and past), (
                f"place {i} does not see place {j} of its own document"
            )


packed_mask = Task(
    "packed_mask",
    make=_packed_case,
    judge=_judge_packed,
    public=[([3, 2], 7), ([1, 1, 2], 4), ([2, 0, 3], 6)],
)


def layer_of(student: Any) -> dict[str, int]:
    """The student's own decoder: layers, width, heads and inner width."""
    draw = personal(student, "training memory")
    n_heads = draw.choice([16, 24, 32])
    return {
        "n_layers": draw.choice([12, 20, 28]),
        "d_model": 64 * n_heads,
        "n_heads": n_heads,
        "n_kv_heads": draw.choice([2, 4, 8]),
        "d_ff": 160 * n_heads,
    }


def training_gib(sizes: dict[str, int], *, bytes_each: int = 16) -> float:
    """Weights, gradients and two moments in float32; no norms, no embeddings."""
    width, heads, groups = sizes["d_model"], sizes["n_heads"], sizes["n_kv_heads"]
    attention = 2 * width * width + 2 * width * width * groups // heads
    network = 3 * width * sizes["d_ff"]
    return bytes_each * sizes["n_layers"] * (attention + network) / 2**30


def _judge_memory(case: Case, answer: Any) -> None:
    sizes = layer_of(case[0])
    right = training_gib(sizes)
    width = sizes["d_model"]
    mistakes = [
        (right / 4, "gradients and AdamW's two moments take memory as well"),
        (right / 2, "AdamW keeps two moments of each parameter, beside its gradient"),
        (
            training_gib({**sizes, "n_kv_heads": sizes["n_heads"]}),
            "keys and values have fewer heads",
        ),
        (
            right - 16 * sizes["n_layers"] * width * sizes["d_ff"] / 2**30,
            "SwiGLU has three matrices",
        ),
        (right / sizes["n_layers"], "every layer counts"),
    ]
    quantity(
        answer,
        right,
        "GiB",
        hint="16 bytes a parameter",
        mistakes=mistakes,
    )


training_memory = Task(
    "training_memory",
    make=lambda student: (student,),
    judge=_judge_memory,
    arguments=lambda case: (),
)
