"""What the processor can do."""

import torch


def multiplies_bfloat16() -> bool:
    """Whether an x86 processor has instructions for products of bfloat16; without them they are slower than float32."""
    # Not every supported PyTorch has a public question for it; a private one that is gone answers no.
    asks = (getattr(torch.cpu, f"_is_{name}_supported", bool) for name in ("avx512_bf16", "amx_tile"))
    return any(ask() for ask in asks)
