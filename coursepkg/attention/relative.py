"""T5's relative position bias: one learned number for each head and each bucket of distances."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


def relative_buckets(
    distance: Int[Tensor, "*T"], n_buckets: int, max_distance: int, bidirectional: bool
) -> Int[Tensor, "*T"]:
    """Bucket number of each distance j - i (key minus query).

    The first half of the buckets holds one distance each; the rest grow logarithmically up to `max_distance`,
    and the last one takes all that lies beyond. With `bidirectional` half of all buckets serve keys after the
    query; without it those share bucket 0.

    Source: Raffel et al. 2020, "T5", section 2.1 (arXiv 1910.10683).
    """
    side = torch.zeros_like(distance)
    if bidirectional:
        n_buckets //= 2
        side = (distance > 0) * n_buckets
        steps = distance.abs()
    else:
        steps = (-distance).clamp(min=0)
    exact = n_buckets // 2
    # float32 as in T5: at the border of two buckets float64 may round to the other side.
    growth = (steps.float() / exact).log() / math.log(max_distance / exact)  # 0 at `exact`, 1 at max_distance
    far = (exact + (growth * (n_buckets - exact)).clamp(min=0).long()).clamp(max=n_buckets - 1)
    return side + torch.where(steps < exact, steps, far)


class RelativeBias(nn.Module):
    """A learned bias b[h, bucket(j - i)] for each head, to be given to `attention` as `bias`.

    Args:
        n_heads: H.
        n_buckets: numbers learned for each head; T5 uses 32.
        max_distance: in tokens; distances from here on share one bucket. T5 uses 128.
        bidirectional: tell keys after the query from keys before it (encoders); False for causal decoders.

    The table starts at zero, which is attention without positions. `table.weight` (n_buckets, H) is laid out as
    T5's `relative_attention_bias.weight`. T5 itself also leaves out the factor 1 / sqrt(D) of the scores.

    Raises:
        ValueError: too few buckets, or `max_distance` within the buckets of one distance each.

    Source: Raffel et al. 2020, "T5", section 2.1 (arXiv 1910.10683).
    """

    def __init__(
        self, n_heads: int, n_buckets: int = 32, max_distance: int = 128, bidirectional: bool = True
    ) -> None:
        super().__init__()
        smallest = 4 if bidirectional else 2
        exact = n_buckets // smallest
        if n_heads < 1:
            raise ValueError(f"n_heads: got {n_heads}, needs at least 1")
        if n_buckets < smallest or n_buckets % 2:
            raise ValueError(f"n_buckets: got {n_buckets}, needs an even number of at least {smallest}")
        if max_distance <= exact:
            raise ValueError(
                f"max_distance: got {max_distance}, needs more than {exact} (n_buckets / {smallest})"
            )
        self.n_buckets, self.max_distance, self.bidirectional = n_buckets, max_distance, bidirectional
        self.table = nn.Embedding(n_buckets, n_heads)
        nn.init.zeros_(self.table.weight)

    def forward(self, n_queries: int, n_keys: int) -> Float[Tensor, "1 H T S"]:
        """The bias (1, H, T, S); the last query stands beside the last key.

        Raises:
            ValueError: a count is negative.
        """
        for name, value in (("n_queries", n_queries), ("n_keys", n_keys)):
            if value < 0:
                raise ValueError(f"{name}: got {value}, needs 0 or more")
        device = self.table.weight.device
        queries = torch.arange(n_keys - n_queries, n_keys, device=device).unsqueeze(1)
        distance = torch.arange(n_keys, device=device) - queries  # (T, S)
        buckets = relative_buckets(distance, self.n_buckets, self.max_distance, self.bidirectional)
        return self.table(buckets).permute(2, 0, 1).unsqueeze(0)  # (T, S, H) -> (1, H, T, S)
