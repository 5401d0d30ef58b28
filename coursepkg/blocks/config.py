"""One configuration for every Transformer of the course, from 2017 to today."""

from dataclasses import dataclass, fields
from typing import Any

from coursepkg.attention.api import CAPABILITIES
from coursepkg.attention.rope import LAYOUTS
from coursepkg.blocks.feedforward import ACTIVATIONS
from coursepkg.validation import (
    describe,
    is_integer,
    is_number,
    use_python_numbers,
)

NORMS = ("layer", "rms")
POSITIONS = ("sinusoidal", "learned", "rotary", "relative", "none")


@dataclass(frozen=True)
class TransformerConfig:
    """Sizes and choices of a `Transformer` or `LanguageModel`; defaults as in 2017.

    Source: Vaswani et al. (arXiv 1706.03762), table 3.
    """

    vocab_size: int
    """Target vocabulary, special tokens included (V)."""
    source_vocab_size: int | None = None
    """Source vocabulary; None: both sides share one vocabulary and one embedding."""
    d_model: int = 512
    """Width of the residual stream (E)."""
    n_heads: int = 8
    """Query heads (H)."""
    n_kv_heads: int | None = None
    """Key-value heads (G), a divisor of n_heads; None takes n_heads."""
    head_dim: int | None = None
    """Dimension of a head (D); None takes d_model / n_heads."""
    n_encoder_layers: int = 6
    """Layers of the encoder; a `LanguageModel` has none."""
    n_decoder_layers: int = 6
    """Layers of the decoder."""
    d_ff: int = 2048
    """Width inside the feed-forward network."""
    dropout_p: float = 0.1
    """Probability of dropping a component of an embedding or a sublayer's output."""
    attention_dropout_p: float = 0.0
    """Probability of dropping an attention weight, in [0, 1)."""
    activation_dropout_p: float = 0.0
    """Probability of dropping a component inside the feed-forward network."""
    norm: str = "layer"
    """One of `NORMS`: LayerNorm or RMSNorm."""
    norm_eps: float = 1e-5
    """Added to the variance or mean square, above 0."""
    norm_first: bool = False
    """Normalise what enters a sublayer (pre-norm), not the sum behind it (post-norm).
    """
    final_norm: bool = False
    """Normalise what leaves each stack; pre-norm needs it, post-norm does not."""
    activation: str = "relu"
    """One of the `ACTIVATIONS` of the feed-forward network."""
    bias: bool = True
    """Whether the linear layers of attention and feed-forward network have a bias."""
    position: str = "sinusoidal"
    """One of `POSITIONS`: the first two are added to embeddings, the next two act in
    self-attention.
    """
    rope_base: float = 10000.0
    """Base of the rotary frequencies."""
    rope_layout: str = "interleaved"
    """Which components rotary positions pair: interleaved (2i, 2i + 1) or half."""
    rope_cross: bool = False
    """Also rotate queries and keys of cross-attention, as the Olympiad tutorials do;
    the angle is then a distance between two different sentences."""
    max_len: int = 512
    """Most tokens of a source and of a target, special tokens included."""
    scale_embeddings: bool = True
    """Multiply embeddings by sqrt(d_model)."""
    attention_scale: float | None = None
    """Factor on the dot products of attention; None is 1 / sqrt(D), T5 takes 1.0."""
    tie_output: bool = True
    """Use the target embedding as the matrix of the output layer."""
    output_bias: bool = False
    """Whether the output layer has a bias."""
    impl: str = "auto"
    """Implementation that `attention()` runs."""

    def __post_init__(self) -> None:
        for field in fields(self):
            _check_kind(field.name, getattr(self, field.name), field.type)
        use_python_numbers(self)
        for name, known in (
            ("norm", NORMS),
            ("activation", tuple(ACTIVATIONS)),
            ("position", POSITIONS),
            ("rope_layout", tuple(LAYOUTS)),
            ("impl", (*CAPABILITIES, "auto")),
        ):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(known)}, got"
                    f" {getattr(self, name)!r}"
                )
        for name in ("dropout_p", "attention_dropout_p", "activation_dropout_p"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise ValueError(
                    f"{name} must be at least 0 and below 1, got {getattr(self, name)}"
                )
        for name in ("norm_eps", "rope_base", "attention_scale"):
            value = getattr(self, name)
            if value is not None and not 0 < value < float("inf"):
                raise ValueError(f"{name} must be positive, got {value}")
        self._check_heads()
        if self.rope_cross and self.position != "rotary":
            raise ValueError(
                "rope_cross must be False unless position is 'rotary', got position"
                f" {self.position!r}"
            )

    def _check_heads(self) -> None:
        if self.n_heads % self.kv_heads:
            raise ValueError(
                f"n_kv_heads must divide n_heads = {self.n_heads}, got {self.kv_heads}"
            )
        if self.head_dim is None and self.d_model % self.n_heads:
            raise ValueError(
                f"n_heads must divide d_model = {self.d_model} unless head_dim is"
                f" given, got {self.n_heads}"
            )
        if self.position == "rotary" and self.d_head % 2:
            raise ValueError(
                f"head_dim must be even for rotary positions, got {self.d_head}"
            )
        if self.position == "sinusoidal" and self.d_model % 2:
            raise ValueError(
                f"d_model must be even for sinusoidal positions, got {self.d_model}"
            )

    @property
    def kv_heads(self) -> int:
        """Key-value heads (G), the default filled in."""
        return self.n_heads if self.n_kv_heads is None else self.n_kv_heads

    @property
    def d_head(self) -> int:
        """Dimension of a head (D), the default filled in."""
        return self.d_model // self.n_heads if self.head_dim is None else self.head_dim

    @classmethod
    def vaswani2017(cls, vocab_size: int, **changes: object) -> "TransformerConfig":
        """The base model of "Attention Is All You Need", with `changes`."""
        return cls(**({"vocab_size": vocab_size} | changes))  # type: ignore[arg-type]

    @classmethod
    def modern(cls, vocab_size: int, **changes: object) -> "TransformerConfig":
        """The same width and depth with the parts of today's models, with `changes`.

        Pre-norm RMSNorm, SwiGLU, rotary positions, grouped queries (four heads share
        one key-value head), no biases. d_ff is 2/3 of 2048, rounded up to a multiple of
        8, so that three matrices weigh what two did.
        """
        parts = {
            "vocab_size": vocab_size,
            "n_kv_heads": 2,
            "d_ff": 1368,
            "norm": "rms",
            "norm_eps": 1e-6,
            "norm_first": True,
            "final_norm": True,
            "activation": "swiglu",
            "bias": False,
            "position": "rotary",
        }
        return cls(**(parts | changes))  # type: ignore[arg-type]

    @classmethod
    def zh_vi_report(cls) -> "TransformerConfig":
        """The model of the Olympiad tutorials: 157,179,200 parameters."""
        return cls.modern(
            8000,
            d_model=768,
            n_heads=12,
            n_kv_heads=4,
            n_encoder_layers=8,
            n_decoder_layers=8,
            d_ff=3072,
            dropout_p=0.01,
            attention_dropout_p=0.01,
            norm_eps=1e-8,
            rope_cross=True,
            max_len=32,
            output_bias=True,
        )


def _check_kind(name: str, value: Any, kind: object) -> None:
    """Raises a ValueError unless a value fits its field; integers are positive."""
    if value is None and kind in (int | None, float | None):
        return
    if kind in (int, int | None) and not (is_integer(value) and value > 0):
        raise ValueError(f"{name} must be a positive integer, got {describe(value)}")
    if kind in (float, float | None) and not is_number(value):
        raise ValueError(f"{name} must be a number, got {describe(value)}")
    if kind in (bool, str) and type(value) is not kind:
        what = "True or False" if kind is bool else "a string"
        raise ValueError(f"{name} must be {what}, got {describe(value)}")
