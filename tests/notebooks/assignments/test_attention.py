"""The tasks of the assignment on attention accept what is right and say what is wrong."""

import torch
import torch.nn.functional as F

from coursepkg.attention import attention as package_attention
from coursepkg.attention import causal, sliding_window
from coursepkg.checks.assignments import attention
from tests.notebooks.assignments.sources import solution_tests


def blocks(q, k, v, window, *, size=64, past=None, scale=None):
    past = window - 1 if past is None else past
    outputs = []
    for start in range(0, q.shape[2], size):
        stop = min(start + size, q.shape[2])
        first = max(0, start - past)
        distance = torch.arange(start, stop)[:, None] - torch.arange(first, stop)
        scores = q[:, :, start:stop] @ k[:, :, first:stop].transpose(-1, -2)
        scores = scores * (q.shape[-1] ** -0.5 if scale is None else scale)
        scores = scores.masked_fill((distance < 0) | (distance > past), -torch.inf)
        outputs.append(scores.softmax(-1) @ v[:, :, first:stop])
    return torch.cat(outputs, 2)


def window_attention(q, k, v, window):
    return blocks(q, k, v, window)


def gathered(q, k, v, window):
    """Every query gathers its own keys."""
    length = q.shape[2]
    window = min(window, length)
    at = torch.arange(length)[:, None] - torch.arange(window)
    near_k, near_v = (x[:, :, at.clamp(min=0)] for x in (k, v))
    scores = torch.einsum("bhtd,bhtwd->bhtw", q, near_k) / q.shape[-1] ** 0.5
    weights = scores.masked_fill(at < 0, -torch.inf).softmax(-1)
    return torch.einsum("bhtw,bhtwd->bhtd", weights, near_v)


def dense(q, k, v, window):
    distance = torch.arange(q.shape[2])[:, None] - torch.arange(q.shape[2])
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    return scores.masked_fill((distance < 0) | (distance >= window), -torch.inf).softmax(-1) @ v


def by_torch(q, k, v, window):
    distance = torch.arange(q.shape[2])[:, None] - torch.arange(q.shape[2])
    return F.scaled_dot_product_attention(q, k, v, attn_mask=(distance >= 0) & (distance < window))


def by_another_name(q, k, v, window):
    function = getattr(torch.ops.aten, "_".join(["scaled", "dot", "product", "attention"]))
    distance = torch.arange(q.shape[2])[:, None] - torch.arange(q.shape[2])
    return function(q, k, v, attn_mask=(distance >= 0) & (distance < window))


def by_the_package(q, k, v, window):
    return package_attention(q, k, v, pattern=causal() & sliding_window(window))


def one_more(q, k, v, window):
    return blocks(q, k, v, window, past=window)


def both_sides(q, k, v, window):
    distance = (torch.arange(q.shape[2])[:, None] - torch.arange(q.shape[2])).abs()
    if q.shape[2] > 200:
        return blocks(q, k, v, window)
    scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
    return scores.masked_fill(distance >= window, -torch.inf).softmax(-1) @ v


def even_blocks(q, k, v, window):
    n = q.shape[2] // 4 * 4
    return blocks(q[:, :, :n], k[:, :, :n], v[:, :, :n], window)


def unscaled(q, k, v, window):
    return blocks(q, k, v, window, scale=1.0)


def single(q, k, v, window):
    return blocks(q.float(), k.float(), v.float(), window)


def keys_detached(q, k, v, window):
    return blocks(q, k.detach(), v, window)


def dense_in_float(q, k, v, window):
    return dense(q, k, v, window) if q.shape[2] > 200 else blocks(q, k, v, window)


def apply_rope(x, positions, *, pairs="half", exponent=2.0, wide=None):
    half = x.shape[-1] // 2
    wide = wide or torch.promote_types(x.dtype, torch.float32)
    theta = (10000.0 ** (-exponent * torch.arange(half) / x.shape[-1])).to(wide)
    angle = positions.to(wide)[:, None] * theta
    angle = torch.cat([angle, angle], -1) if pairs == "half" else angle.repeat_interleave(2, -1)
    other = torch.cat([-x[..., half:], x[..., :half]], -1)
    return (x * angle.cos() + other * angle.sin()).to(x.dtype)


def rope_precise(x, positions):
    half = x.shape[-1] // 2
    theta = 10000.0 ** (-2 * torch.arange(half).double() / x.shape[-1])
    angle = positions.double()[:, None] * theta
    first, second = x[..., :half].double(), x[..., half:].double()
    turned = [first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()]
    return torch.cat(turned, -1).to(x.dtype)


def rope_broken(x, positions):
    return apply_rope(x, positions, pairs="interleaved", exponent=1.0, wide=x.dtype)


def rope_wrong_pairs(x, positions):
    return apply_rope(x, positions, pairs="interleaved")


def rope_wrong_exponent(x, positions):
    half = x.shape[-1] // 2
    theta = 10000.0 ** (-torch.arange(half).double() / x.shape[-1])
    angle = positions.double()[:, None] * theta
    first, second = x[..., :half].double(), x[..., half:].double()
    turned = [first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()]
    return torch.cat(turned, -1).to(x.dtype)


def rope_interleaved(x, positions):
    half = x.shape[-1] // 2
    theta = 10000.0 ** (-2 * torch.arange(half).double() / x.shape[-1])
    angle = positions.double()[:, None] * theta
    first, second = x[..., 0::2].double(), x[..., 1::2].double()
    turned = [first * angle.cos() - second * angle.sin(), first * angle.sin() + second * angle.cos()]
    return torch.stack(turned, -1).flatten(-2).to(x.dtype)


def cache_by_trying(n_layers, n_heads, head_dim, n_tokens, budget):
    best = (0, 0)
    for heads in range(1, n_heads + 1):
        for window in range(1, n_tokens + 1):
            fits = 2 * 2 * n_layers * heads * head_dim * window <= budget
            reaches = 1 + n_layers * (window - 1) >= n_tokens
            if n_heads % heads == 0 and fits and reaches:
                best = max(best, (heads, window))
    return best


def choose_cache(n_layers, n_heads, head_dim, n_tokens, budget, *, each=4, least=None, divides=True):
    shortest = 1 + -(-(n_tokens - 1) // n_layers) if least is None else least(n_tokens, n_layers)
    for heads in range(n_heads, 0, -1):
        window = min(n_tokens, budget // (each * n_layers * heads * head_dim))
        if (n_heads % heads == 0 or not divides) and window >= shortest:
            return heads, window
    return 0, 0


def longest_window_first(n_layers, n_heads, head_dim, n_tokens, budget):
    window = min(n_tokens, budget // (4 * n_layers * head_dim))
    return (1, window) if n_layers * (window - 1) >= n_tokens - 1 else (0, 0)


def shortest_window(*sizes):
    heads, window = choose_cache(*sizes)
    return heads, min(window, 1 + -(-(sizes[3] - 1) // sizes[0]))


def window_not_cut(n_layers, n_heads, head_dim, n_tokens, budget):
    heads, window = choose_cache(n_layers, n_heads, head_dim, n_tokens, budget)
    return heads, budget // (4 * n_layers * heads * head_dim) if heads else window


SIZES = attention.cache_of("an-id")
MS = (
    2 * 2 * SIZES["n_layers"] * SIZES["n_kv_heads"] * SIZES["head_dim"] * SIZES["n_tokens"]
    / (SIZES["gb_per_second"] * 1e6)
)  # fmt: skip

RIGHT = {
    "window_attention": window_attention,
    "window_attention gathered": gathered,
    "window_attention small blocks": lambda q, k, v, window: blocks(q, k, v, window, size=7),
    "apply_rope": apply_rope,
    "apply_rope precise": rope_precise,
    "choose_cache": choose_cache,
    "choose_cache by trying": cache_by_trying,
    "cache_time": lambda: f"{MS} ms",
    "cache_time rounded": lambda: f"{MS:.3g}ms",
}
WRONG = {
    "window_attention dense": (dense, "as large as 256 x 256 scores"),
    "window_attention dense where long": (dense_in_float, "as large as 256 x 256 scores"),
    "window_attention sdpa": (by_torch, "scaled_dot_product_attention was called"),
    "window_attention sdpa by another name": (by_another_name, "scaled_dot_product_attention was called"),
    "window_attention package": (by_the_package, "coursepkg.attention."),
    "window_attention one more": (one_more, "is that of a window of 4"),
    "window_attention both sides": (both_sides, "no later token"),
    "window_attention even blocks": (even_blocks, "for T = 7 and window = 3: the output is (2, 3, 4, 5)"),
    "window_attention unscaled": (unscaled, "the scale is one over the root of D"),
    "window_attention float32": (single, "torch.float64 is expected, as it came"),
    "window_attention detached": (keys_detached, "no gradient reaches k"),
    "apply_rope broken": (rope_broken, "a rotation keeps it"),
    "apply_rope pairs": (rope_wrong_pairs, "a rotation keeps it"),
    "apply_rope exponent": (rope_wrong_exponent, "theta_i is base ** (-2 i / D)"),
    "apply_rope interleaved": (rope_interleaved, "this is the interleaved layout"),
    "apply_rope other way": (lambda x, p: apply_rope(x, -p), "turned the other way"),
    "apply_rope counted": (lambda x, p: apply_rope(x, torch.arange(len(p))), "are not used"),
    "apply_rope narrow angles": (lambda x, p: apply_rope(x, p, wide=x.dtype), "float32 or wider"),
    "apply_rope wide result": (lambda x, p: rope_precise(x.double(), p), "is expected, as it came"),
    "apply_rope detached": (lambda x, p: apply_rope(x.detach(), p), "no gradient reaches x"),
    "choose_cache keys only": (lambda *s: choose_cache(*s, each=2), "keys and values both count"),
    "choose_cache divides": (lambda *s: choose_cache(*s, divides=False), "does not divide"),
    "choose_cache reach": (
        lambda *s: choose_cache(*s, least=lambda n, layers: 1),
        "does not reach the first",
    ),
    "choose_cache off by one": (
        lambda *s: choose_cache(*s, least=lambda n, layers: -(-n // layers)),
        "does not reach the first",
    ),
    "choose_cache window first": (longest_window_first, "it is not the best"),
    "choose_cache shortest": (shortest_window, "then the longest window"),
    "choose_cache too long": (window_not_cut, "longer than the text"),
    "choose_cache always": (lambda *s: (1, s[3]), "takes"),
    "cache_time keys only": (lambda: f"{MS / 2} ms", "keys and values are read"),
    "cache_time heads": (lambda: f"{MS * 32 / SIZES['n_kv_heads']} ms", "only key-value heads"),
    "cache_time one layer": (lambda: f"{MS / SIZES['n_layers']} ms", "every layer has a cache"),
    "cache_time seconds": (lambda: f"{MS / 1000} ms", "a second has 1,000 ms"),
    "cache_time unit": (lambda: f"{MS / 1000} s", "the unit is 's'"),
    "cache_time bare": (lambda: f"{MS}", "has no unit"),
    "cache_time bits": (lambda: f"{8 * MS} ms", "bytes of the cache over bytes a second"),
}

test_right, test_wrong = solution_tests("attention", attention, RIGHT, WRONG)
