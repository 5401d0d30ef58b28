"""Absolute positions that are added to embeddings: sinusoids and a learned table.

Rotary positions live in `coursepkg.attention.rope`, relative biases in
`coursepkg.attention.position_bias`: those two act inside attention and add nothing
here.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from coursepkg.attention.rope import inverse_frequencies
from coursepkg.validation import check_counts


def sinusoidal_table(
    length: int, d_model: int, base: float = 10000.0
) -> Float[Tensor, "T E"]:
    """The position vectors of the 2017 Transformer, one a row.

        table[m, 2i] = sin(m / base^(2i / E))
        table[m, 2i + 1] = cos(m / base^(2i / E))

    Angles are in radians. The frequencies are those of RoPE; here the sines are added
    to embeddings, there they turn queries and keys.

    Args:
        length: number of positions, from 0 on.
        d_model: width of a row (E), even.
        base: of the frequencies.

    Returns:
        (length, E), computed in float64 and rounded to torch's default dtype.

    Raises:
        ValueError: length is below 1, d_model is odd or base is not positive.

    Source: Vaswani et al. (arXiv 1706.03762), section 3.5.
    """
    if length < 1:
        raise ValueError(f"length must be at least 1, got {length}")
    if d_model < 2 or d_model % 2:
        raise ValueError(f"d_model must be a positive even number, got {d_model}")
    if not base > 0:
        raise ValueError(f"base must be positive, got {base}")
    positions = torch.arange(length, dtype=torch.float64, device="cpu")
    angles = positions[:, None] * inverse_frequencies(d_model, base)
    table = torch.stack((angles.sin(), angles.cos()), dim=-1).flatten(-2)
    return table.to(torch.get_default_device(), torch.get_default_dtype())


class SinusoidalPosition(nn.Module):
    """Adds `sinusoidal_table`, which is no part of the module's state.

    Args:
        max_len: number of positions.
        d_model: width (E), even.
        base: of the frequencies.
    """

    table: Tensor

    def __init__(self, max_len: int, d_model: int, base: float = 10000.0) -> None:
        super().__init__()
        self.register_buffer(
            "table", sinusoidal_table(max_len, d_model, base), persistent=False
        )

    def forward(
        self, x: Float[Tensor, "B T E"], offset: int = 0
    ) -> Float[Tensor, "B T E"]:
        """Add rows offset, offset + 1, ... to x (B, T, E).

        Raises:
            ValueError: a position is outside the table.
        """
        return x + _rows(self.table, x, offset)


class LearnedPosition(nn.Module):
    """Adds one learned vector a position, as BERT and GPT-2 do, up to `max_len`.

    Args:
        max_len: number of positions.
        d_model: width (E).

    Source: Gehring et al. (arXiv 1705.03122), section 3.1; Vaswani et al. (arXiv
    1706.03762), table 3, row E.
    """

    def __init__(self, max_len: int, d_model: int) -> None:
        super().__init__()
        check_counts(max_len=max_len, d_model=d_model)
        self.table = nn.Parameter(torch.empty(max_len, d_model))
        nn.init.normal_(self.table, std=d_model**-0.5)

    # Rows are added in the same way, learned or not.
    forward = SinusoidalPosition.forward


def _rows(table: Tensor, x: Tensor, offset: int) -> Tensor:
    end = offset + x.shape[1]
    if offset < 0 or end > table.shape[0]:
        raise ValueError(
            f"positions must lie in 0..{table.shape[0] - 1}, got {offset}..{end - 1}"
        )
    return table[offset:end]
