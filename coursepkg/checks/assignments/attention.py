"""Tests of the assignment on attention: windows, rotations and caches."""

from typing import Any

import torch
from torch import Tensor

from coursepkg.attention.api import attention
from coursepkg.attention.pattern import causal, sliding_window
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
BANNED = (
    "scaled_dot_product_attention",
    "flex_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "coursepkg.attention.",
)
LONG = 200
"""From this length on a test looks at the size of tensors."""


def _window_case(length: int, window: int, head_dim: int, seed: int) -> Case:
    generator = torch.Generator().manual_seed(seed)
    batch, n_heads = (1, 1) if length >= LONG else (2, 3)
    dtype = torch.float32 if length >= LONG else torch.float64
    q, k, v = torch.randn(
        3, batch, n_heads, length, head_dim, generator=generator, dtype=dtype
    )
    return q, k, v, window


def _window_reference(q: Tensor, k: Tensor, v: Tensor, window: int) -> Any:
    pattern = causal() & sliding_window(window)
    return attention(q, k, v, pattern=pattern, impl="reference")


def _judge_window(case: Case, answer: Any) -> None:
    q, k, v, window = case
    length = q.shape[2]
    observed = Observed(*answer)
    output, gradients = observed.result
    observed.must_not_call(BANNED, "write the attention yourself")
    if length >= LONG:
        observed.must_stay_below(
            length * length // 4, f"as large as {length} x {length} scores"
        )
    what = f"for T = {length} and window = {window}: the output"
    tensor_of(output, v.shape, what=what)
    same_dtype(q, output)
    right, exact = with_gradients(_window_reference, *case)
    for other in (window + 1, window - 1):
        if not 0 < other < length < LONG:
            continue
        wrong = _window_reference(q, k, v, other)
        assert not torch.allclose(output, wrong), (
            f"{what} is that of a window of {other}; a query sees itself and the"
            " window - 1 tokens before it"
        )
    expect.close(
        output,
        right,
        what=what,
        hint="no later token, the scale is one over the root of D",
    )
    gradients_close(gradients, exact, ("q", "k", "v", "window"))


window_attention = Task(
    "window_attention",
    make=_window_case,
    judge=_judge_window,
    public=[(8, 3, 4, 0), (7, 3, 5, 1), (5, 9, 2, 2), (1, 1, 3, 3), (256, 12, 4, 4)],
    run="observe",
)


def _rope_case(positions: list[int], head_dim: int, seed: int, dtype: str) -> Case:
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(2, 3, len(positions), head_dim, generator=generator)
    return x.to(getattr(torch, dtype)), torch.tensor(positions)


def _turned(
    x: Tensor, positions: Tensor, exponent: float = 2.0, *, layout: str = "half"
) -> Tensor:
    """Pairs as complex numbers, turned by a complex number of size 1."""
    half = x.shape[-1] // 2
    theta = 10000.0 ** (-exponent * torch.arange(half).double() / x.shape[-1])
    angle = positions.double()[:, None] * theta
    turn = torch.polar(torch.ones_like(angle), angle)
    wide = x.double()
    if layout == "half":
        pairs = torch.complex(wide[..., :half], wide[..., half:]) * turn
        return torch.cat([pairs.real, pairs.imag], dim=-1)
    pairs = torch.complex(wide[..., 0::2], wide[..., 1::2]) * turn
    return torch.stack([pairs.real, pairs.imag], dim=-1).flatten(-2)


def _judge_rope(case: Case, answer: Any) -> None:
    x, positions = case
    result, gradients = answer
    what = f"the result for {x.dtype} and positions {positions.tolist()}"
    tensor_of(result, x.shape, what=what)
    same_dtype(x, result)
    right, exact = with_gradients(_turned, *case)
    room = {torch.bfloat16: 0.02, torch.float32: 5e-4, torch.float64: 5e-4}[x.dtype]
    counted = torch.arange(len(positions))
    for hint, wrong in {
        "theta_i is base ** (-2 i / D)": _turned(x, positions, 1.0),
        "this is the interleaved layout; the half layout is asked for": _turned(
            x, positions, layout="interleaved"
        ),
        "the pairs are turned the other way": _turned(x, -positions),
        "the positions that were given are not used": _turned(x, counted),
    }.items():
        if not torch.allclose(wrong, right, atol=0.1):
            same = torch.allclose(result.double(), wrong, atol=5 * room)
            assert not same, f"{what} is wrong: {hint}"
    before, after = x.double().norm(dim=-1), result.double().norm(dim=-1)
    expect.close(
        after,
        before,
        what=f"{what}: a vector's length",
        tolerance=2 * room,
        hint="a rotation keeps it: both components of a pair need the same angle",
    )
    expect.close(
        result.double(),
        right,
        what=what,
        tolerance=room,
        hint=(
            "compute angles in float32 or wider"
            if x.dtype == torch.bfloat16
            else "component i is paired with component i + D / 2"
        ),
    )
    if x.dtype == torch.float64:
        gradients_close(gradients, exact, ("x", "positions"), tolerance=room)


apply_rope = Task(
    "apply_rope",
    make=_rope_case,
    judge=_judge_rope,
    public=[
        ([0, 1, 2], 4, 0, "float64"),
        ([5, 9, 2, 40], 6, 1, "float32"),
        ([300, 301], 8, 2, "bfloat16"),
    ],
    run="gradients",
)


def _cache_case(*sizes: int) -> Case:
    return sizes


def _best_cache(
    n_layers: int, n_heads: int, head_dim: int, n_tokens: int, budget: int
) -> tuple[int, int]:
    """By trying every group count and every window."""
    found = [
        (groups, window)
        for groups in range(1, n_heads + 1)
        if n_heads % groups == 0
        for window in range(1, n_tokens + 1)
        if 4 * n_layers * groups * head_dim * window <= budget
        and n_layers * (window - 1) >= n_tokens - 1
    ]
    return max(found, default=(0, 0))


def _judge_cache(case: Case, answer: Any) -> None:
    n_layers, n_heads, head_dim, n_tokens, budget = case
    n_kv_heads, window = two(answer, "the key-value heads and the window")
    right = _best_cache(*case)
    what = (
        f"{n_layers} layers, {n_heads} heads of {head_dim}, {n_tokens} tokens and"
        f" {budget} bytes: ({n_kv_heads}, {window})"
    )
    if (n_kv_heads, window) == right:
        return
    assert right != (0, 0), f"{what} does not fit; nothing does, so (0, 0) is expected"
    assert (n_kv_heads, window) != (0, 0), f"{what}: there is a cache that fits"
    assert n_heads % max(n_kv_heads, 1) == 0, (
        f"{what}: {n_kv_heads} does not divide the {n_heads} heads"
    )
    assert window <= n_tokens, f"{what}: a window longer than the text is no gain"
    used = 4 * n_layers * n_kv_heads * head_dim * window
    assert used <= budget, (
        f"{what} takes {used} bytes; keys and values both count, 2 bytes a number"
    )
    assert n_layers * (window - 1) >= n_tokens - 1, (
        f"{what}: the last token does not reach the first;"
        " a layer goes back by window - 1"
    )
    raise AssertionError(
        f"{what} fits, but it is not the best: first as many key-value heads as"
        " possible, then the longest window"
    )


choose_cache = Task(
    "choose_cache",
    make=_cache_case,
    judge=_judge_cache,
    public=[
        (5, 4, 4, 42, 2_880),
        (2, 4, 8, 10, 2_000),
        (4, 8, 16, 64, 40_000),
        (3, 6, 8, 20, 100),
        (2, 2, 4, 6, 10**6),
    ],
)


def cache_of(student: Any) -> dict[str, int]:
    """The student's own model: layers, heads, head dimension, tokens and GB/s."""
    draw = personal(student, "cache time")
    return {
        "n_layers": draw.choice([24, 28, 36]),
        "n_heads": 32,
        "n_kv_heads": draw.choice([2, 4, 8]),
        "head_dim": draw.choice([64, 128]),
        "n_tokens": draw.choice([8_192, 16_384, 24_576]),
        "gb_per_second": draw.choice([320, 900, 2_000]),
    }


def cache_milliseconds(sizes: dict[str, int]) -> float:
    """Keys and values of all layers in 2 bytes a number, read once."""
    numbers = sizes["n_layers"] * sizes["n_kv_heads"] * sizes["head_dim"]
    n_bytes = 2 * 2 * numbers * sizes["n_tokens"]
    return n_bytes / (sizes["gb_per_second"] * 1e9) * 1e3


def _judge_cache_time(case: Case, answer: Any) -> None:
    sizes = cache_of(case[0])
    right = cache_milliseconds(sizes)
    mistakes = [
        (right / 2, "keys and values are read"),
        (
            right * sizes["n_heads"] / sizes["n_kv_heads"],
            "only key-value heads are stored",
        ),
        (right / sizes["n_layers"], "every layer has a cache"),
        (right / 1e3, "a second has 1,000 ms"),
    ]
    quantity(
        answer,
        right,
        "ms",
        hint="bytes of the cache over bytes a second",
        mistakes=mistakes,
    )


cache_time = Task(
    "cache_time",
    make=lambda student: (student,),
    judge=_judge_cache_time,
    arguments=lambda case: (),
)
