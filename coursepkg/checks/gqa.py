"""Checks of the exercises in the chapter on grouped-query attention."""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from coursepkg.checks import expect


def kv_heads_read(student: Callable[[int, int], list[int]]) -> None:
    """The key-value head of each query head."""
    for n_heads, n_kv_heads, heads in [
        (8, 2, [0, 0, 0, 0, 1, 1, 1, 1]),
        (6, 3, [0, 0, 1, 1, 2, 2]),
        (4, 4, [0, 1, 2, 3]),
        (3, 1, [0, 0, 0]),
    ]:
        expect.equal(
            student(n_heads, n_kv_heads),
            heads,
            what=f"the list for H = {n_heads}, G = {n_kv_heads}",
            hint="neighbouring query heads share: h // (H / G), not h mod G",
        )


def grouped_attention(
    student: Callable[[Tensor, Tensor, Tensor, bool], Tensor],
) -> None:
    """Grouped heads against repeated ones, without a mask and with a causal one."""
    generator = torch.Generator().manual_seed(0)
    for n_kv_heads, n_queries, n_keys, causal in [
        (2, 3, 5, False),
        (6, 4, 4, False),
        (3, 5, 5, True),
        (1, 4, 4, True),
    ]:
        q = torch.randn(2, 6, n_queries, 8, generator=generator)
        k, v = torch.randn(2, 2, n_kv_heads, n_keys, 8, generator=generator)
        output = student(q.clone(), k.clone(), v.clone(), causal)
        case = f"the output for H = 6, G = {n_kv_heads}, causal={causal}"
        expect.is_tensor(output, q.shape, what=case)
        k, v = (x.repeat_interleave(6 // n_kv_heads, dim=1) for x in (k, v))
        expect.close(
            output,
            scaled_dot_product_attention(q, k, v, is_causal=causal),
            what=case,
            hint=(
                "query i must not see keys after i"
                if causal
                else "query head h reads kv head h // (H / G)"
            ),
        )


def device_cache(student: Callable[[int, int, int, int, int], int]) -> None:
    """Bytes on one device with more heads than devices, as many, and fewer."""
    for arguments, n_bytes in [
        ((100, 2, 8, 4, 1), 25600),
        ((100, 2, 8, 4, 4), 6400),
        ((100, 2, 8, 4, 8), 3200),
        ((100, 2, 2, 4, 8), 3200),
        ((100, 2, 1, 4, 8), 3200),
    ]:
        *_, n_kv_heads, _, n_devices = arguments
        expect.equal(
            student(*arguments),
            n_bytes,
            what=f"the cache of one of {n_devices} devices with {n_kv_heads} kv heads",
            hint=(
                "keys and values, 2 bytes each; a device holds its share of the heads,"
                " at least one whole head"
            ),
        )


def choose_groups(student: Callable[[int, int, int, int, int, int], int]) -> None:
    """The most key-value heads whose cache on one device keeps to a budget."""
    for arguments, best in [
        ((64, 128, 80, 8192, 8, 400 * 2**20), 8),
        ((64, 128, 80, 8192, 8, 700 * 2**20), 16),
        ((28, 128, 28, 32768, 4, 500 * 2**20), 4),
        ((12, 64, 24, 1000, 1, 50_000_000), 6),
    ]:
        n_heads, head_dim, n_layers, n_tokens, n_devices, budget = arguments
        chosen = student(*arguments)
        case = f"for H = {n_heads} on {n_devices} device(s), G = {chosen}"
        divisors = [G for G in range(1, n_heads + 1) if n_heads % G == 0]
        assert chosen in divisors, f"{case} does not divide H"
        assert chosen % n_devices == 0 or n_devices % chosen == 0, (
            f"{case}: neither G nor the number of devices divides the other"
        )
        heads = max(1, chosen // n_devices)
        n_bytes = 2 * n_layers * heads * n_tokens * head_dim * 2
        assert n_bytes <= budget, (
            f"{case} stores {n_bytes:,} bytes on a device; {budget:,} are allowed"
        )
        assert chosen == best, (
            f"{case} fits, but G = {best} fits too and keeps more heads: one device"
            " holds its share of the heads, at least one"
        )
