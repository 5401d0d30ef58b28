"""The configuration of a network that names signed words, stored beside its weights."""

from dataclasses import dataclass
from typing import Annotated

from coursepkg.app.recipe import Count, Limit, Size0, check_fields
from coursepkg.blocks.config import TransformerConfig
from coursepkg.projects.sign_language.recipe import architecture_of
from coursepkg.validation import check_count

Dropped = Annotated[float, Limit("at least 0 and below 1", lambda x: 0 <= x < 1)]
MOTION = ("none", "beside", "alone")
PLACES = ("mean", "fold")
TEMPORAL = ("transformer", "lstm", "none")
POOLINGS = ("attention", "mean", "last")


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and choices of a `ClipClassifier`."""

    n_classes: Count
    """Words that it tells apart (V)."""
    size: Count = 64
    """Height and width of the frames in pixels."""
    n_frames: Count = 16
    """Most frames of a clip (T)."""
    backbone: str = "small"
    """A name of `architectures.ARCHITECTURES`."""
    channels: tuple[int, ...] = ()
    """Channels of the backbone's stages; empty takes those of its name."""
    n_blocks: tuple[int, ...] = ()
    """Blocks of each stage; empty takes those of its name."""
    motion: str = "alone"
    """What `small` sees of a frame, one of `MOTION`: the frame, also what changed since
    the frame before, or that and what the frame has other than the mean of its clip."""
    places: str = "fold"
    """How `small` makes a vector of its last map, one of `PLACES`: the mean, or every
    place with its own weights."""
    temporal: str = "transformer"
    """What runs over the frames, one of `TEMPORAL`."""
    n_convolutions: Size0 = 2
    """Layers of gated 1D convolution over time before it, at least 0."""
    kernel_size: Count = 5
    """Frames that one such layer sees, odd."""
    n_layers: Count = 2
    """Layers of the Transformer or the LSTM."""
    d_model: Count = 192
    """Width over time (E); the LSTM's hidden state."""
    n_heads: Count = 4
    """Heads of the Transformer's attention (H)."""
    d_ff: Count = 384
    """Width inside the Transformer's feed-forward networks."""
    final_norm: bool = True
    """Normalise what leaves the Transformer."""
    pooling: str = "attention"
    """How the frames become one vector, one of `POOLINGS`."""
    dropout: Dropped = 0.1
    """Probability of dropping a component of a frame's vector, of a sublayer's output
    or of the pooled vector, in [0, 1)."""
    inner_dropout: Dropped = 0.0
    """Probability of dropping an attention weight or a component inside a feed-forward
    network, in [0, 1)."""

    def __post_init__(self) -> None:
        check_fields(self, str)
        choices = {"motion": MOTION, "places": PLACES}
        choices |= {"temporal": TEMPORAL, "pooling": POOLINGS}
        for name, known in choices.items():
            value = getattr(self, name)
            if value not in known:
                said = ", ".join(known)
                raise ValueError(f"{name} must be one of {said}, got {value!r}")
        if self.kernel_size % 2 == 0:
            raise ValueError(f"kernel_size must be odd, got {self.kernel_size}")
        self._check_backbone()
        if self.temporal == "transformer":
            self.transformer()

    def _check_backbone(self) -> None:
        known, name = architecture_of(self.backbone), self.backbone
        n_stages = known.n_stages if known.family == "vit" else len(self.stage_channels)
        for field, values, least in (
            ("channels", self.stage_channels, 1),
            ("n_blocks", self.stage_blocks, known.least_blocks),
        ):
            if len(values) != n_stages:
                raise ValueError(
                    f"{field} must be one number a stage, {n_stages}, got {values}"
                )
            for value in values:
                check_count(field, value, least=least)
        channels, width = self.stage_channels, known.head_width
        if any(c % width for c in channels):
            raise ValueError(
                f"channels must be multiples of {width} in {name}, got {channels}"
            )
        if known.doubles and channels != tuple(
            channels[0] * 2**i for i in range(n_stages)
        ):
            raise ValueError(
                f"channels must double from stage to stage in {name}, got {channels}"
            )
        step = known.size_step(n_stages)
        if self.size % step:
            raise ValueError(
                f"size must be a multiple of {step} pixels for {name}, got {self.size}"
            )

    @property
    def stage_channels(self) -> tuple[int, ...]:
        """Channels of each stage, those of the backbone's name filled in."""
        return self.channels or architecture_of(self.backbone).channels

    @property
    def stage_blocks(self) -> tuple[int, ...]:
        """Blocks of each stage, those of the backbone's name filled in."""
        return self.n_blocks or architecture_of(self.backbone).n_blocks

    def transformer(self) -> TransformerConfig:
        """Return the config of pre-norm GELU layers with sinusoidal positions.

        These are the Transformer layers over the frames in source 002.
        """
        return TransformerConfig(
            vocab_size=1,
            d_model=self.d_model,
            n_heads=self.n_heads,
            n_encoder_layers=self.n_layers,
            d_ff=self.d_ff,
            dropout_p=self.dropout,
            attention_dropout_p=self.inner_dropout,
            activation_dropout_p=self.inner_dropout,
            norm_first=True,
            final_norm=self.final_norm,
            activation="gelu",
            max_len=self.n_frames,
        )
