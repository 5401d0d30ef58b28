"""The feed-forward network of a layer, applied to each position alone.

    plain    y = f(x W_up) W_down                    f = ReLU or GELU
    gated    y = (f(x W_gate) * (x W_up)) W_down     f = SiLU (SwiGLU) or GELU (GEGLU)

A gated network has three matrices in place of two, so it has the size of a plain one at
2/3 of its d_ff.
"""

from collections.abc import Callable
from functools import partial

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.validation import check_counts

ACTIVATIONS: dict[str, tuple[Callable[[Tensor], Tensor], bool]] = {
    "relu": (F.relu, False),
    "gelu": (F.gelu, False),
    "swiglu": (F.silu, True),
    "geglu": (partial(F.gelu, approximate="tanh"), True),
}
"""By name f, and whether the network is gated; T5 v1.1 has GELU's tanh form."""


class FeedForward(nn.Module):
    """ReLU, GELU, SwiGLU or GEGLU network on each position.

    Args:
        d_model: width of the input and of the output (E).
        d_ff: width between the matrices.
        activation: one of `ACTIVATIONS`.
        bias: whether the matrices have a bias.
        dropout_p: probability of dropping an inner activation, in training mode only.

    Raises:
        ValueError: a size, the activation or the probability is out of range.

    Source: Vaswani et al. (arXiv 1706.03762), section 3.3, the ReLU form; Shazeer, "GLU
    Variants Improve Transformer" (arXiv 2002.05202), section 2, the gated ones.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        activation: str = "relu",
        bias: bool = True,
        dropout_p: float = 0.0,
    ) -> None:
        super().__init__()
        check_counts(d_model=d_model, d_ff=d_ff)
        if activation not in ACTIVATIONS:
            raise ValueError(
                f"activation must be one of {', '.join(ACTIVATIONS)}, got"
                f" {activation!r}"
            )
        if not 0.0 <= dropout_p < 1.0:
            raise ValueError(
                f"dropout_p must be at least 0 and below 1, got {dropout_p}"
            )
        self.activation = activation
        self._function, gated = ACTIVATIONS[activation]
        self.gate_proj = nn.Linear(d_model, d_ff, bias=bias) if gated else None
        self.up_proj = nn.Linear(d_model, d_ff, bias=bias)
        self.down_proj = nn.Linear(d_ff, d_model, bias=bias)
        self.dropout = nn.Dropout(dropout_p)

    def forward(self, x: Float[Tensor, "*B E"]) -> Float[Tensor, "*B E"]:
        """The network on the last dimension of x."""
        inner = self.up_proj(x)
        if self.gate_proj is None:
            inner = self._function(inner)
        else:
            inner = self._function(self.gate_proj(x)) * inner
        return self.down_proj(self.dropout(inner))

    def extra_repr(self) -> str:
        """What print(module) shows."""
        return f"activation={self.activation!r}"
