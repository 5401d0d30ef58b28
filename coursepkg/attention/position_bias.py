"""Biases of attention scores by distance: ALiBi's slopes, T5's learned buckets.

ALiBi: attention with linear biases, a penalty on distance in place of position
embeddings.
"""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from coursepkg.validation import check_integer


def alibi_slopes(n_heads: int) -> Float[Tensor, " H"]:
    """One slope m_h a head, a geometric sequence that ends at 2^-8, in float32.

        m_h = 2^(-8 h / H),  h = 1..H,  when H is a power of two

    For another H: the slopes of the power of two below it, P, then every second one of
    those of 2P.

    Raises:
        ValueError: `n_heads` is not positive.

    Source: Press et al. 2022, "Train Short, Test Long", section 3, and the authors'
    code for other H (arXiv 2108.12409).
    """
    check_integer("n_heads", n_heads, least=1)
    power = 1 << (int(n_heads).bit_length() - 1)  # the largest one that is not above H

    def geometric(n: int) -> list[float]:
        return [2 ** (-8 * h / n) for h in range(1, n + 1)]

    slopes = geometric(power) + geometric(2 * power)[::2][: n_heads - power]
    return torch.tensor(slopes, dtype=torch.float32)


def alibi_bias(
    n_heads: int,
    n_queries: int,
    n_keys: int,
    *,
    device: torch.device | str | None = None,
) -> Float[Tensor, "1 H T S"]:
    """-m_h |i - j|, to be given to `attention` as `bias`.

    The last query stands beside the last key: query t has position i = S - T + t, so
    that decoding with a cache gets the rows it would have had in one pass. The bias
    hides nothing; a causal pattern does.

    Raises:
        ValueError: a count is negative, or `n_heads` is not positive.
    """
    check_integer("n_queries", n_queries, least=0)
    check_integer("n_keys", n_keys, least=0)
    queries = torch.arange(n_keys - n_queries, n_keys, device=device).unsqueeze(1)
    distance = (queries - torch.arange(n_keys, device=device)).abs()  # (T, S)
    slopes = alibi_slopes(n_heads).to(distance.device)[:, None, None]  # (H, 1, 1)
    return (-slopes * distance).unsqueeze(0)


def relative_buckets(
    distance: Int[Tensor, "*T"], n_buckets: int, max_distance: int, bidirectional: bool
) -> Int[Tensor, "*T"]:
    """Bucket number of each distance j - i (key minus query).

    The first half of the buckets holds one distance each; the rest grow logarithmically
    up to `max_distance`, and the last one takes all that lies beyond. With
    `bidirectional` half of all buckets serve keys after the query; without it those
    share bucket 0.

    Raises:
        ValueError: too few buckets, or `max_distance` within the buckets of one
            distance each.

    Source: Raffel et al. 2020, "T5", section 2.1 (arXiv 1910.10683).
    """
    _check_buckets(n_buckets, max_distance, bidirectional)
    side = torch.zeros_like(distance)
    if bidirectional:
        n_buckets //= 2
        side = (distance > 0) * n_buckets
        steps = distance.abs()
    else:
        steps = (-distance).clamp(min=0)
    exact = n_buckets // 2
    # float32 as in T5: at the border of two buckets float64 may round to the other
    # side.
    # 0 at `exact`, 1 at max_distance.
    growth = (steps.float() / exact).log() / math.log(max_distance / exact)
    far = exact + (growth * (n_buckets - exact)).clamp(min=0).long()
    far = far.clamp(max=n_buckets - 1)
    return side + torch.where(steps < exact, steps, far)


def _check_buckets(n_buckets: int, max_distance: int, bidirectional: bool) -> None:
    smallest = 4 if bidirectional else 2
    check_integer("n_buckets", n_buckets)
    check_integer("max_distance", max_distance)
    exact = n_buckets // smallest
    if n_buckets < smallest or n_buckets % 2:
        raise ValueError(
            f"n_buckets: got {n_buckets}, needs an even number of at least {smallest}"
        )
    if max_distance <= exact:
        raise ValueError(
            f"max_distance: got {max_distance}, needs more than {exact} (n_buckets"
            f" / {smallest})"
        )


class RelativeBias(nn.Module):
    """A learned bias b[h, bucket(j - i)], to be given to `attention` as `bias`.

    Args:
        n_heads: H.
        n_buckets: numbers learned for each head; T5 uses 32.
        max_distance: in tokens; distances from here on share one bucket. T5 uses 128.
        bidirectional: tell keys after the query from keys before it (encoders); False
            for causal decoders.

    The table starts at zero, which is attention without positions. `table.weight`
    (n_buckets, H) is laid out as T5's `relative_attention_bias.weight`. T5 itself also
    leaves out the factor 1 / sqrt(D) of the scores.

    Raises:
        ValueError: too few buckets, or `max_distance` within the buckets of one
            distance each.

    Source: Raffel et al. 2020, "T5", section 2.1 (arXiv 1910.10683).
    """

    def __init__(
        self,
        n_heads: int,
        n_buckets: int = 32,
        max_distance: int = 128,
        bidirectional: bool = True,
    ) -> None:
        super().__init__()
        check_integer("n_heads", n_heads, least=1)
        _check_buckets(n_buckets, max_distance, bidirectional)
        self.n_buckets, self.max_distance = n_buckets, max_distance
        self.bidirectional = bidirectional
        self.table = nn.Embedding(n_buckets, n_heads)
        nn.init.zeros_(self.table.weight)

    def forward(self, n_queries: int, n_keys: int) -> Float[Tensor, "1 H T S"]:
        """The bias (1, H, T, S); the last query stands beside the last key.

        Raises:
            ValueError: a count is negative.
        """
        check_integer("n_queries", n_queries, least=0)
        check_integer("n_keys", n_keys, least=0)
        device = self.table.weight.device
        queries = torch.arange(n_keys - n_queries, n_keys, device=device).unsqueeze(1)
        distance = torch.arange(n_keys, device=device) - queries  # (T, S)
        buckets = relative_buckets(
            distance, self.n_buckets, self.max_distance, self.bidirectional
        )
        # (T, S, H) -> (1, H, T, S)
        return self.table(buckets).permute(2, 0, 1).unsqueeze(0)
