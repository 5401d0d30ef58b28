"""All that decides a language model besides its vocabulary, its data and its seed."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from coursepkg.arguments import check_count, check_finite, flag_of


@dataclass(frozen=True)
class LanguageRecipe:
    """A small decoder-only Transformer and its training; the vocabulary is the translator's."""

    d_model: int = 256
    """Width of the residual stream."""
    n_heads: int = 4
    """Heads, a divisor of `d_model`."""
    n_layers: int = 4
    """Layers."""
    d_ff: int = 688
    """Width inside the feed-forward network."""
    dropout: float = 0.2
    """Probability of dropping a component of an embedding or of a sublayer's output, in [0, 1)."""
    batch_tokens: int = 4096
    """Positions of a batch, padding included."""
    learning_rate: float = 1e-3
    """The highest learning rate, above 0."""
    warmup: int = 300
    """Steps until the learning rate is highest."""
    weight_decay: float = 0.01
    """AdamW's decoupled decay, at least 0."""
    max_epochs: int = 20
    """Passes over the sentences, at least 1."""
    max_seconds: float = 900.0
    """Wall-clock seconds of training, above 0."""
    patience: int = 3
    """Validations without a new best perplexity until training stops, at least 1."""

    def __post_init__(self) -> None:
        for name in (
            "d_model",
            "n_heads",
            "n_layers",
            "d_ff",
            "batch_tokens",
            "warmup",
            "max_epochs",
            "patience",
        ):
            check_count(flag_of(name), getattr(self, name))
        for name in ("dropout", "learning_rate", "weight_decay", "max_seconds"):
            check_finite(flag_of(name), getattr(self, name))
        if not 0 <= self.dropout < 1:
            raise ValueError(f"--dropout must be in [0, 1), got {self.dropout}")
        for name in ("learning_rate", "max_seconds"):
            if getattr(self, name) <= 0:
                raise ValueError(f"{flag_of(name)} must be above 0, got {getattr(self, name)}")
        if self.weight_decay < 0:
            raise ValueError(f"--weight-decay must be at least 0, got {self.weight_decay}")
        if self.d_model % (2 * self.n_heads):
            raise ValueError(
                f"--n-heads must make heads of even width out of --d-model {self.d_model}, got {self.n_heads}"
            )

    def described(self) -> dict[str, Any]:
        """All fields, as JSON can hold them."""
        return dataclasses.asdict(self)
