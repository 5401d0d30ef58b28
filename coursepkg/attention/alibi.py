"""ALiBi: attention with linear biases, a penalty on distance in place of position embeddings."""

import torch
from jaxtyping import Float
from torch import Tensor

from coursepkg.attention.input_checks import check_integer


def alibi_slopes(n_heads: int) -> Float[Tensor, " H"]:
    """One slope m_h a head, a geometric sequence that ends at 2^-8, in float32.

        m_h = 2^(-8 h / H),  h = 1..H,  when H is a power of two

    For another H: the slopes of the power of two below it, P, then every second one of those of 2P.

    Raises:
        ValueError: `n_heads` is not positive.

    Source: Press et al. 2022, "Train Short, Test Long", section 3, and the authors' code for other H
    (arXiv 2108.12409).
    """
    check_integer("n_heads", n_heads)
    if n_heads < 1:
        raise ValueError(f"n_heads: got {n_heads}, needs at least 1")
    power = 1 << (n_heads.bit_length() - 1)  # the largest power of two that is not above H

    def geometric(n: int) -> list[float]:
        return [2 ** (-8 * h / n) for h in range(1, n + 1)]

    return torch.tensor(geometric(power) + geometric(2 * power)[::2][: n_heads - power], dtype=torch.float32)


def alibi_bias(
    n_heads: int, n_queries: int, n_keys: int, *, device: torch.device | str | None = None
) -> Float[Tensor, "1 H T S"]:
    """-m_h |i - j|, to be given to `attention` as `bias`.

    The last query stands beside the last key: query t has position i = S - T + t, so that decoding with a cache
    gets the rows it would have had in one pass. The bias hides nothing; a causal pattern does.

    Raises:
        ValueError: a count is negative, or `n_heads` is not positive.
    """
    for name, value in (("n_queries", n_queries), ("n_keys", n_keys)):
        check_integer(name, value)
        if value < 0:
            raise ValueError(f"{name}: got {value}, needs 0 or more")
    queries = torch.arange(n_keys - n_queries, n_keys, device=device).unsqueeze(1)
    distance = (queries - torch.arange(n_keys, device=device)).abs()  # (T, S)
    return (-alibi_slopes(n_heads).to(distance.device)[:, None, None] * distance).unsqueeze(0)
