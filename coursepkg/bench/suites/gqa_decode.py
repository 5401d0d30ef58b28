"""One decoding step with grouped heads: reading the cache once a group instead of once a head."""

from collections.abc import Callable
from functools import partial

from torch import Tensor
from torch.nn.attention import SDPBackend
from torch.nn.functional import scaled_dot_product_attention

from coursepkg.attention.api import attention
from coursepkg.bench.machine import Device
from coursepkg.bench.race import Comparison, Contest, Work
from coursepkg.bench.suites.inputs import gate_against_reference, pinned_sdpa, random_qkv

CACHE = 1024
HEADLINE_BATCH = 8
"""The batch whose ratios the course promises: a cache of 16 MiB, larger than a core's own caches."""


def contests(device: Device) -> list[Contest]:
    """16 query heads on 4 kv heads with 1024 cached tokens, in batches of three sizes."""
    return [_contest(device, batch) for batch in (1, HEADLINE_BATCH, 32)]


def _contest(device: Device, batch: int) -> Contest:
    q, k, v = random_qkv(device, CACHE, batch=batch, n_heads=16, n_kv_heads=4, n_queries=1)
    targets = (
        {"repeat_interleave": 20.0, "enable_gqa": 1.2}
        if batch == HEADLINE_BATCH and not device.is_cuda
        else {}
    )
    sdpa: Callable[..., Tensor] = scaled_dot_product_attention
    suffix = ""
    if device.is_cuda:
        sdpa, suffix = pinned_sdpa(SDPBackend.FLASH_ATTENTION), " flash"
    work: dict[str, Work] = {
        "sdpa": partial(attention, q, k, v, impl="sdpa"),
        f"repeat_interleave{suffix}": partial(_repeated, q, k, v, sdpa),
        f"enable_gqa{suffix}": partial(sdpa, q, k, v, enable_gqa=True),
    }
    return Contest(
        name=f"decode step, 16 heads on 4 kv heads, cache {CACHE}, batch {batch}, D 64",
        variants=work,
        comparisons=[Comparison("sdpa", name, targets.get(name)) for name in work if name != "sdpa"],
        gates=[gate_against_reference(device, "sdpa", None, n_heads=16, n_kv_heads=4, n_queries=1)],
    )


def _repeated(q: Tensor, k: Tensor, v: Tensor, sdpa: Callable[..., Tensor]) -> Tensor:
    """What many code bases do: copy the keys and values out to every head, then attend."""
    n_shared = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(n_shared, dim=1), v.repeat_interleave(n_shared, dim=1)
    return sdpa(q, k, v)
