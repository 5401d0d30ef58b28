"""The configuration of a network that reads lines; it is stored beside its weights."""

from dataclasses import dataclass
from typing import Any

from coursepkg.arguments import check_count, check_finite
from coursepkg.blocks.config import TransformerConfig

BACKBONES = ("small", "resnet")
SEQUENCES = ("fold", "grid")
BOTTLENECK = 4
"""Channels of a ResNet bottleneck's output, as a multiple of the width inside."""


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and choices of a `LineTransformer`."""

    vocab_size: int
    """Characters with the four special tokens (V); id 0, padding, is the blank of CTC."""
    height: int = 40
    """Height of the pictures in pixels, a multiple of 8."""
    max_width: int = 2048
    """Widest picture in pixels."""
    max_len: int = 192
    """Most characters of a line, BOS or EOS included."""
    backbone: str = "small"
    """One of `BACKBONES`: the CNN of this package, or a ResNet of the transformers library."""
    channels: tuple[int, ...] = (32, 64, 128, 256)
    """Channels of the four stages."""
    n_blocks: tuple[int, ...] = (0, 1, 1, 1)
    """Residual blocks of each stage; a ResNet counts its bottlenecks, at least 1."""
    sequence: str = "fold"
    """One of `SEQUENCES`: the height goes into the channels of a column, or every place is a step of its own."""
    d_model: int = 256
    """Width of the residual stream (E)."""
    n_heads: int = 8
    """Heads of attention (H)."""
    n_encoder_layers: int = 2
    """Transformer layers behind the CNN."""
    n_decoder_layers: int = 2
    """Transformer layers of the decoder."""
    d_ff: int = 512
    """Width inside the feed-forward networks."""
    norm_first: bool = True
    """Normalise what enters a sublayer (pre-norm) instead of the sum behind it."""
    dropout: float = 0.1
    """Probability of dropping a component of an embedding or a sublayer's output, in [0, 1)."""
    attention_dropout: float = 0.0
    """Probability of dropping an attention weight, in [0, 1)."""

    def __post_init__(self) -> None:
        counts = ("vocab_size", "height", "max_width", "max_len", "d_model", "n_heads")
        for name in (*counts, "n_encoder_layers", "n_decoder_layers", "d_ff"):
            check_count(name, getattr(self, name))
        for name, known in (("backbone", BACKBONES), ("sequence", SEQUENCES)):
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name in ("dropout", "attention_dropout"):
            check_finite(name, getattr(self, name))
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, got {getattr(self, name)}")
        self._check_stages()

    def _check_stages(self) -> None:
        if self.height % 8:
            raise ValueError(f"height must be a multiple of 8, got {self.height}")
        least = 1 if self.backbone == "resnet" else 0
        for name, low in (("channels", 1), ("n_blocks", least)):
            if len(getattr(self, name)) != 4:
                raise ValueError(f"{name} must be 4 numbers, one a stage, got {getattr(self, name)}")
            for value in getattr(self, name):
                check_count(name, value, least=low)
        if self.backbone == "resnet" and any(c % BOTTLENECK for c in self.channels):
            raise ValueError(f"channels must be multiples of {BOTTLENECK} in a resnet, got {self.channels}")
        if self.sequence == "grid" and self.d_model % 4:
            raise ValueError(f"d_model must be a multiple of 4 for positions in a grid, got {self.d_model}")

    def transformer(self, max_len: int, position: str = "sinusoidal") -> TransformerConfig:
        """The Transformer layers of one side, for at most `max_len` steps."""
        parts: dict[str, Any] = {
            "d_model": self.d_model,
            "n_heads": self.n_heads,
            "n_encoder_layers": self.n_encoder_layers,
            "n_decoder_layers": self.n_decoder_layers,
            "d_ff": self.d_ff,
            "dropout_p": self.dropout,
            "attention_dropout_p": self.attention_dropout,
            "norm_first": self.norm_first,
            "final_norm": self.norm_first,
            "max_len": max_len,
            "position": position,
        }
        return TransformerConfig(self.vocab_size, **parts)
