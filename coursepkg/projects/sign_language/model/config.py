"""The configuration of a network that names signed words; it is stored beside its weights."""

from dataclasses import dataclass

from coursepkg.arguments import check_count, check_finite
from coursepkg.blocks.config import TransformerConfig
from coursepkg.projects.sign_language.model.architectures import HEAD_WIDTH, PATCH, architecture_of

MOTION = ("none", "beside", "alone")
PLACES = ("mean", "fold")
TEMPORAL = ("transformer", "lstm", "none")
POOLINGS = ("attention", "mean", "last")


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and choices of a `ClipClassifier`."""

    n_classes: int
    """Words that it tells apart (V)."""
    size: int = 64
    """Height and width of the frames in pixels."""
    n_frames: int = 16
    """Most frames of a clip (T)."""
    backbone: str = "small"
    """A name of `architectures.ARCHITECTURES`."""
    channels: tuple[int, ...] = ()
    """Channels of the backbone's stages; empty takes those of its name."""
    n_blocks: tuple[int, ...] = ()
    """Blocks of each stage; empty takes those of its name."""
    motion: str = "alone"
    """What `small` sees of a frame, one of `MOTION`: the frame, also what changed since the frame before, or that and
    what the frame has other than the mean of its clip."""
    places: str = "fold"
    """How `small` makes a vector of its last map, one of `PLACES`: the mean, or every place with its own weights."""
    temporal: str = "transformer"
    """What runs over the frames, one of `TEMPORAL`."""
    n_convolutions: int = 2
    """Layers of gated 1D convolution over time before it, at least 0."""
    kernel_size: int = 5
    """Frames that one such layer sees, odd."""
    n_layers: int = 2
    """Layers of the Transformer or the LSTM."""
    d_model: int = 192
    """Width over time (E); the LSTM's hidden state."""
    n_heads: int = 4
    """Heads of the Transformer's attention (H)."""
    d_ff: int = 384
    """Width inside the Transformer's feed-forward networks."""
    final_norm: bool = True
    """Normalise what leaves the Transformer."""
    pooling: str = "attention"
    """How the frames become one vector, one of `POOLINGS`."""
    dropout: float = 0.1
    """Probability of dropping a component of a frame's vector, of a sublayer's output or of the pooled vector, in
    [0, 1)."""
    inner_dropout: float = 0.0
    """Probability of dropping an attention weight or a component inside a feed-forward network, in [0, 1)."""

    def __post_init__(self) -> None:
        for name in (
            "n_classes",
            "size",
            "n_frames",
            "kernel_size",
            "n_layers",
            "d_model",
            "n_heads",
            "d_ff",
        ):
            check_count(name, getattr(self, name))
        check_count("n_convolutions", self.n_convolutions, least=0)
        choices = {"motion": MOTION, "places": PLACES, "temporal": TEMPORAL, "pooling": POOLINGS}
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ValueError(f"{name} must be one of {', '.join(known)}, got {getattr(self, name)!r}")
        for name in ("dropout", "inner_dropout"):
            check_finite(name, getattr(self, name))
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, got {getattr(self, name)}")
        if self.kernel_size % 2 == 0:
            raise ValueError(f"kernel_size must be odd, got {self.kernel_size}")
        self._check_stages()
        self._check_size()
        if self.temporal == "transformer":
            self.transformer()

    def _check_stages(self) -> None:
        known = architecture_of(self.backbone)
        n_stages = 1 if known.family == "vit" else len(self.stage_channels)
        for name, values in (("channels", self.stage_channels), ("n_blocks", self.stage_blocks)):
            if len(values) != n_stages:
                raise ValueError(f"{name} must be one number a stage, {n_stages}, got {values}")
            least = 0 if (name, known.family) == ("n_blocks", "small") else 1
            for value in values:
                check_count(name, value, least=least)
        width = HEAD_WIDTH.get(known.family, 4 if known.layer_type == "bottleneck" else 1)
        if any(c % width for c in self.stage_channels):
            raise ValueError(
                f"channels must be multiples of {width} in {self.backbone}, got {self.stage_channels}"
            )
        doubled = tuple(self.stage_channels[0] * 2**i for i in range(n_stages))
        if known.family == "swin" and self.stage_channels != doubled:
            raise ValueError(
                f"channels must double from stage to stage in {self.backbone}, got {self.stage_channels}"
            )

    def _check_size(self) -> None:
        family = architecture_of(self.backbone).family
        if family == "vit":
            step = PATCH["vit"]
        elif family == "swin":
            step = PATCH["swin"] * 2 ** (len(self.stage_channels) - 1)
        else:
            step = 1
        if self.size % step:
            raise ValueError(f"size must be a multiple of {step} pixels for {self.backbone}, got {self.size}")

    @property
    def stage_channels(self) -> tuple[int, ...]:
        """Channels of each stage, those of the backbone's name filled in."""
        return self.channels or architecture_of(self.backbone).channels

    @property
    def stage_blocks(self) -> tuple[int, ...]:
        """Blocks of each stage, those of the backbone's name filled in."""
        return self.n_blocks or architecture_of(self.backbone).n_blocks

    def transformer(self) -> TransformerConfig:
        """The Transformer layers over the frames: pre-norm, GELU, sinusoidal positions, as in source 002."""
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
