"""Rotary position embedding: scores of a query at m and a key at n see m - n only."""

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from coursepkg.validation import check_integer, check_number, describe

# Which two components form a pair: (2i, 2i + 1) or (i, i + D / 2). `unflatten` splits D
# into these two axes, and `pair_axis` is the one of the two that has length 2.
LAYOUTS = {"interleaved": (-1, 2), "half": (2, -1)}


def inverse_frequencies(head_dim: int, base: float) -> Float[Tensor, " pairs"]:
    """theta_i = base^(-2i / D) in radians a token, i = 0 .. D / 2 - 1, in float64.

    Source: Su et al. 2021, "RoFormer", equation 15 (arXiv 2104.09864).
    """
    return base ** (
        -torch.arange(0, head_dim, 2, dtype=torch.float64, device="cpu") / head_dim
    )


@dataclass(frozen=True)
class LinearScaling:
    """Position interpolation: m becomes m / factor, so theta_i is divided by `factor`.

    Source: Chen et al. 2023 (arXiv 2306.15595).
    """

    factor: float
    magnitude: ClassVar[float] = 1.0
    """What queries and keys are multiplied by."""

    def __post_init__(self) -> None:
        _check_factor(self.factor)

    def inverse_frequencies(self, head_dim: int, base: float) -> Tensor:
        """theta_i / factor."""
        return inverse_frequencies(head_dim, base) / self.factor


@dataclass(frozen=True)
class NTKScaling:
    """NTK-aware scaling: a larger base, base * factor^(D / (D - 2)).

    The fastest pair keeps its angle and the slowest is slowed by exactly `factor`; the
    others lie between.

    Source: Peng et al. 2023, "YaRN", section 3.1 and definition 1 (arXiv 2309.00071).
    """

    factor: float
    magnitude: ClassVar[float] = 1.0
    """What queries and keys are multiplied by."""

    def __post_init__(self) -> None:
        _check_factor(self.factor)

    def inverse_frequencies(self, head_dim: int, base: float) -> Tensor:
        """theta_i of the larger base."""
        if head_dim < 4:
            raise ValueError(
                f"head_dim: got {head_dim}, needs at least 4 for NTKScaling"
            )
        return inverse_frequencies(
            head_dim, base * self.factor ** (head_dim / (head_dim - 2))
        )


@dataclass(frozen=True)
class YaRNScaling:
    """NTK by parts, and sharper scores: the fast pairs stay, the slow ones interpolate.

    Pair i makes r_i = trained_len * theta_i / (2 pi) turns in training. With the ramp
    g(r) = (r - alpha) / (beta - alpha), cut off at 0 and 1,

        theta_i' = (1 - g(r_i)) theta_i / factor + g(r_i) theta_i,

    and queries and keys become `magnitude` = 0.1 ln(factor) + 1 times as long. The
    authors' code and transformers draw the ramp over i instead of r_i: they agree with
    this one where it is 0 or 1.

    Source: Peng et al. 2023, "YaRN", definition 2 and equation 15 (arXiv 2309.00071).
    """

    factor: float
    trained_len: int
    """Tokens of the longest text in training."""
    alpha: float = 1.0
    """Pairs with fewer turns in training are interpolated by the full factor."""
    beta: float = 32.0
    """Pairs with more turns keep their speed."""

    def __post_init__(self) -> None:
        _check_factor(self.factor)
        check_integer("trained_len", self.trained_len, least=1)
        check_number("alpha", self.alpha)
        check_number("beta", self.beta)
        if not 0 <= self.alpha < self.beta < math.inf:
            raise ValueError(
                f"alpha and beta: got {self.alpha} and {self.beta}, needs 0 <= alpha <"
                " beta"
            )

    @property
    def magnitude(self) -> float:
        """What queries and keys are multiplied by; scores grow by its square."""
        return 0.1 * math.log(self.factor) + 1

    def inverse_frequencies(self, head_dim: int, base: float) -> Tensor:
        """theta_i of each pair, slowed as far as it needs."""
        theta = inverse_frequencies(head_dim, base)
        turns = self.trained_len * theta / (2 * math.pi)
        kept = ((turns - self.alpha) / (self.beta - self.alpha)).clamp(0, 1)
        return (1 - kept) * theta / self.factor + kept * theta


Scaling = LinearScaling | NTKScaling | YaRNScaling


class RotaryEmbedding(nn.Module):
    """Turns pair i of a query or key at position m by the angle m * theta_i.

        (a, b) -> (a cos - b sin, a sin + b cos)

    Args:
        head_dim: D, even.
        base: of the frequencies; theta runs from 1 down to almost 1 / base radians per
            token.
        layout: which components form pair i: "interleaved" (2i, 2i + 1), as in the
            paper, or "half" (i, i + D / 2), as in Hugging Face's Llama. Weights trained
            with one need `convert_projection` for the other.
        scaling: None, `LinearScaling(factor)`, `NTKScaling(factor)` or
            `YaRNScaling(factor, trained_len)`.

    Angles, sines and cosines are computed in float64 whatever the dtype of the input:
    at position 100,000 a float32 angle is off by thousandths of a radian and a bfloat16
    one by whole turns. The tables are no part of the module's state and grow when a
    longer text comes.

    Raises:
        ValueError: `head_dim` is odd, or another argument does not fit.

    Source: Su et al. 2021, "RoFormer", section 3.2 (arXiv 2104.09864).
    """

    def __init__(
        self,
        head_dim: int,
        base: float = 10000.0,
        layout: str = "interleaved",
        scaling: Scaling | None = None,
    ) -> None:
        super().__init__()
        _check_head_dim(head_dim)
        _check_layout("layout", layout)
        _check_base(base)
        _check_scaling(scaling)
        self.head_dim, self.base = head_dim, base
        self.layout, self.scaling = layout, scaling
        source = scaling.inverse_frequencies if scaling else inverse_frequencies
        # A plain attribute: as a buffer, module.half() would round it.
        self.theta = source(head_dim, base)
        self._magnitude = scaling.magnitude if scaling else 1.0
        self._tables: dict[tuple[torch.dtype, torch.device], Tensor] = {}

    def forward(
        self, x: Tensor, offset: int = 0, *, positions: Tensor | None = None
    ) -> Tensor:
        """The same as `rotate`."""
        return self.rotate(x, offset, positions=positions)

    def rotate(
        self, x: Tensor, offset: int = 0, *, positions: Tensor | None = None
    ) -> Tensor:
        """Rotates x (B, H, T, D), whose tokens stand at `offset`, `offset` + 1, ...

        With a cache `offset` is the number of tokens already in it. `positions` (T,) or
        (B, T), integers, takes its place where tokens are packed, padded on the left,
        or have gaps.

        Returns:
            (B, H, T, D) in x's dtype, computed in float32 (float64 for float64 inputs).

        Raises:
            ValueError: x or `positions` has the wrong shape or dtype, or `offset` is
                negative.
        """
        if x.ndim != 4 or x.shape[-1] != self.head_dim or not x.is_floating_point():
            raise ValueError(
                f"x: got {tuple(x.shape)} of {x.dtype}, needs (B, H, T,"
                f" {self.head_dim}) of a float dtype"
            )
        dtype = torch.float64 if x.dtype == torch.float64 else torch.float32
        if positions is None:
            table = self._table(offset, x.shape[2], dtype, x.device)
        else:
            _check_positions(positions, x, offset)
            table = self._cos_sin(positions).to(dtype).to(x.device)
        # Each (1, T, D / 2) or (B, 1, T, D / 2).
        cos, sin = table.unsqueeze(-4).unbind(-1)
        return rotate_pairs(x.to(dtype), cos, sin, self.layout).to(x.dtype)

    def _cos_sin(self, positions: Int[Tensor, "*T"]) -> Float[Tensor, "*T pairs 2"]:
        """Cosine and sine of every angle in float64, times the scaling's magnitude."""
        theta = self.theta.to(positions.device)
        angles = positions.to(torch.float64).unsqueeze(-1) * theta
        return self._magnitude * torch.stack((angles.cos(), angles.sin()), dim=-1)

    def _table(
        self, offset: int, length: int, dtype: torch.dtype, device: torch.device
    ) -> Float[Tensor, "T pairs 2"]:
        """Rows offset .. offset + length of the table, which doubles when too short."""
        check_integer("offset", offset, least=0)
        end = offset + length
        table = self._tables.get((dtype, device))
        if table is None or table.shape[0] < end:
            # A table made under inference_mode could never take part in training.
            with torch.inference_mode(False):
                n_rows = 1 << int(max(end - 1, 63)).bit_length()
                table = self._cos_sin(torch.arange(n_rows, device="cpu"))
                table = table.to(dtype).to(device)
            self._tables[dtype, device] = table
        return table[offset:end]

    def extra_repr(self) -> str:
        """What print(module) shows."""
        shown = f"{self.head_dim}, base={self.base}, layout={self.layout!r}"
        return f"{shown}, scaling={self.scaling}"


def rotate_pairs(
    x: Float[Tensor, "B H T D"],
    cos: Float[Tensor, "*T pairs"],
    sin: Float[Tensor, "*T pairs"],
    layout: str,
) -> Float[Tensor, "B H T D"]:
    """Turns every pair (a, b) of components: (a cos - b sin, a sin + b cos)."""
    split = LAYOUTS[layout]
    pair_axis = split.index(2) - 2  # -1 for (D / 2, 2), -2 for (2, D / 2)
    a, b = x.unflatten(-1, split).unbind(pair_axis)
    turned = torch.stack((a * cos - b * sin, a * sin + b * cos), dim=pair_axis)
    return turned.flatten(-2)


def layout_permutation(head_dim: int) -> Int[Tensor, " D"]:
    """Index p with x_half = x_interleaved[..., p]: even components, then odd ones.

    The way back is p.argsort().

    Raises:
        ValueError: `head_dim` is odd.
    """
    _check_head_dim(head_dim)
    return torch.arange(head_dim).unflatten(0, (-1, 2)).T.flatten()


def convert_projection(weight: Tensor, n_heads: int, to: str) -> Tensor:
    """Reorder a query or key projection for the other layout; attention stays the same.

    `weight` (H D, E), or its bias (H D,), holds the heads one below the other; `to` is
    the new layout. Values and the output projection are not rotated and stay as they
    are. For keys `n_heads` is the number of kv heads.

    Raises:
        ValueError: the rows do not divide into `n_heads` heads of an even size; unknown
            layout.
    """
    _check_layout("to", to)
    if n_heads < 1 or weight.ndim not in (1, 2) or weight.shape[0] % n_heads:
        raise ValueError(
            f"weight: got {tuple(weight.shape)}, needs (n_heads * D, E) or (n_heads *"
            f" D,), n_heads = {n_heads}"
        )
    per_head = weight.unflatten(0, (n_heads, weight.shape[0] // n_heads))  # (H, D, E)
    order = layout_permutation(per_head.shape[1]).to(weight.device)
    return per_head[:, order if to == "half" else order.argsort()].flatten(0, 1)


def _check_head_dim(head_dim: int) -> None:
    check_integer("head_dim", head_dim)
    if head_dim < 2 or head_dim % 2:
        raise ValueError(
            f"head_dim: got {head_dim}, needs a positive even number (RoPE turns pairs)"
        )


def _check_layout(name: str, layout: str) -> None:
    if not isinstance(layout, str) or layout not in LAYOUTS:
        raise ValueError(
            f"{name}: got {describe(layout)}, needs one of {', '.join(LAYOUTS)}"
        )


def _check_base(base: float) -> None:
    check_number("base", base)
    if not (math.isfinite(base) and base > 0):
        raise ValueError(f"base: got {base}, needs a positive number")


def _check_scaling(scaling: Scaling | None) -> None:
    if not (scaling is None or isinstance(scaling, Scaling)):
        raise ValueError(
            f"scaling: got {describe(scaling)}, needs None, LinearScaling(2.0),"
            " NTKScaling(2.0) or YaRNScaling(2.0, trained_len=2048)"
        )


def _check_factor(factor: float) -> None:
    check_number("factor", factor)
    if not (math.isfinite(factor) and factor >= 1):
        raise ValueError(f"factor: got {factor}, needs a number of at least 1")


def _check_positions(positions: Tensor, x: Tensor, offset: int) -> None:
    if not isinstance(positions, Tensor):
        raise ValueError(f"positions: got {describe(positions)}, needs a tensor")
    batch, _, length, _ = x.shape
    if offset != 0:
        raise ValueError(f"offset: got {offset} beside positions, needs one of the two")
    countable = not (
        positions.is_floating_point()
        or positions.is_complex()
        or positions.dtype == torch.bool
    )
    if not countable or tuple(positions.shape) not in ((length,), (batch, length)):
        raise ValueError(
            f"positions: got {tuple(positions.shape)} of {positions.dtype}, "
            f"needs integers ({length},) or ({batch}, {length})"
        )
