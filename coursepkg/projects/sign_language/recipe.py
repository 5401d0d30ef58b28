"""A recipe: all that decides a sign recogniser besides its data and its seed; and the presets."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from coursepkg.arguments import (
    as_json,
    check_choices,
    check_count,
    check_field,
    check_finite,
    flag_of,
    with_tuples,
)

SCHEDULES = ("constant", "inverse-sqrt", "cosine", "plateau")


@dataclass(frozen=True)
class Recipe:
    """Clips, model and training; the defaults are those of the preset `small`."""

    size: int = 96
    """Height and width of the frames that the network sees, in pixels."""
    n_frames: int = 16
    """Frames of a clip, evenly spaced in time (T)."""
    skip_solid: bool = True
    """Leave frames in one colour out before frames are chosen."""
    padding: Literal["repeat", "loop", "mask"] = "mask"
    """What fills up a clip with fewer frames: its last one, the clip again, or nothing that is looked at."""
    backbone: Literal[
        "small", "resnet-18", "resnet-34", "resnet-50", "convnext-tiny", "vit-base", "swin-tiny"
    ] = "small"
    """The CNN of this package, or a network of the transformers library."""
    pretrained: str = ""
    """Name or folder of the weights that the backbone begins with, as microsoft/resnet-18; empty begins at random."""
    channels: tuple[int, ...] = ()
    """Channels of the backbone's stages; empty takes those of its name."""
    n_blocks: tuple[int, ...] = ()
    """Blocks of each stage; empty takes those of its name."""
    motion: Literal["none", "beside", "alone"] = "alone"
    """What `small` sees: frames, frames and what changed since the frame before, or what moves and nothing else."""
    places: Literal["mean", "fold"] = "fold"
    """How `small` makes a vector of its last map: the mean, or every place with weights of its own."""
    temporal: Literal["transformer", "lstm", "none"] = "transformer"
    """What runs over the frames."""
    n_convolutions: int = 2
    """Layers of 1D convolution over time before it; 0 has none."""
    kernel_size: int = 5
    """Frames that one such layer sees, odd."""
    n_layers: int = 2
    """Layers of the Transformer or the LSTM."""
    d_model: int = 192
    """Width over time; the LSTM's hidden state."""
    n_heads: int = 4
    """Heads of attention."""
    d_ff: int = 384
    """Width inside the feed-forward networks."""
    final_norm: bool = True
    """Normalise what leaves the Transformer."""
    pooling: Literal["attention", "mean", "last"] = "attention"
    """How the frames become one vector: by learnt weights, all alike, or the last alone."""
    dropout: float = 0.1
    """Probability of dropping a component of a vector or of a sublayer's output, in [0, 1)."""
    inner_dropout: float = 0.0
    """Probability of dropping an attention weight or a component inside a feed-forward network, in [0, 1)."""
    frozen: int = 0
    """First parts of the backbone that keep their weights, the stem counted as one."""
    backbone_rate: float = 1.0
    """Learning rate of the backbone's last part as a multiple of the learning rate, above 0."""
    layer_decay: float = 1.0
    """Factor of the learning rate from a part of the backbone to the one before it, in (0, 1]."""
    balanced: bool = True
    """Draw every word equally often. Together with a weighted loss it corrects the long tail twice."""
    loss: Literal["cross-entropy", "weighted", "focal", "weighted-focal", "logit-adjusted"] = "cross-entropy"
    """What training minimises."""
    label_smoothing: float = 0.1
    """Share of the target that goes to all words alike, in [0, 1)."""
    gamma: float = 2.0
    """Exponent of the focal losses, at least 0."""
    tau: float = 1.0
    """Strength of logit adjustment in the loss `logit-adjusted`, at least 0."""
    adjust: float = 0.0
    """Strength of the adjustment of a trained network's logits in prediction, at least 0; 0 leaves them."""
    warp: float = 0.3
    """Strength of the uneven warp of time, in [0, 0.9]; 0 leaves time as it is."""
    crop: float = 0.8
    """Smallest share of height and width that a random crop keeps, in [0.1, 1]; 1 crops nothing."""
    colour: float = 0.3
    """Largest change of brightness, contrast and saturation, as a share, in [0, 1]."""
    rotation: float = 5.0
    """Largest rotation in degrees, in [0, 45]."""
    flip: float = 0.0
    """Probability that a clip is mirrored, in [0, 1]; a left hand becomes a right one."""
    mix: Literal["none", "mixup", "mixup-time", "cutmix-space", "cutmix-time"] = "none"
    """How pairs of clips are mixed, and their words with them."""
    mix_alpha: float = 0.4
    """Both parameters of the Beta distribution that the share of the mixture is drawn from, above 0."""
    batch_clips: int = 16
    """Clips of a batch."""
    learning_rate: float = 1e-3
    """The highest learning rate."""
    schedule: Literal["constant", "inverse-sqrt", "cosine", "plateau"] = "cosine"
    """How it moves: by the step, or halved when more than 3 validations in a row brought no new best (plateau)."""
    warmup: int = 100
    """Steps until the learning rate is highest."""
    weight_decay: float = 0.01
    """AdamW's decoupled decay, at least 0."""
    clip_norm: float = 1.0
    """Largest norm of the gradient, above 0."""
    ema: float = 0.99
    """Decay of the averaged weights that are kept, in [0, 1); 0 keeps the last ones."""
    max_epochs: int = 20
    """Passes over the training part, at least 1."""
    max_seconds: float = 86400.0
    """Wall-clock seconds of training, above 0."""
    patience: int = 20
    """Validations without a new best until training stops, at least 1."""
    select_by: Literal["macro_f1", "loss"] = "macro_f1"
    """Which score of the dev part says what is best."""
    precision: Literal["auto", "32-true", "bf16-mixed", "16-mixed"] = "auto"
    """What the forward pass computes in; auto is bf16-mixed where the processor multiplies bfloat16 itself."""
    views: int = 1
    """Crops and samplings of a clip whose probabilities prediction averages; 1 looks once."""

    def __post_init__(self) -> None:
        counts = ("size", "n_frames", "kernel_size", "n_layers", "d_model", "n_heads", "d_ff", "batch_clips")
        for name in (*counts, "warmup", "max_epochs", "patience", "views"):
            check_count(flag_of(name), getattr(self, name))
        for name in ("n_convolutions", "frozen"):
            check_count(flag_of(name), getattr(self, name), least=0)
        for name in (f.name for f in dataclasses.fields(self) if f.type is float):
            check_finite(flag_of(name), getattr(self, name))
        for name in ("dropout", "inner_dropout", "label_smoothing", "ema"):
            check_field(self, name, 0 <= getattr(self, name) < 1, "in [0, 1)")
        check_field(self, "layer_decay", 0 < self.layer_decay <= 1, "above 0 and at most 1")
        check_field(self, "crop", 0.1 <= self.crop <= 1, "in [0.1, 1]")
        for name, most in (("flip", 1), ("colour", 1), ("warp", 0.9), ("rotation", 45)):
            check_field(self, name, 0 <= getattr(self, name) <= most, f"in [0, {most}]")
        for name in ("gamma", "tau", "adjust", "weight_decay", "learning_rate"):
            check_field(self, name, getattr(self, name) >= 0, "at least 0")
        for name in ("backbone_rate", "mix_alpha", "max_seconds", "clip_norm"):
            check_field(self, name, getattr(self, name) > 0, "above 0")
        check_choices(self)
        self._check_parts()

    def _check_parts(self) -> None:
        if self.pretrained and self.backbone == "small":
            raise ValueError(f"--pretrained {self.pretrained} needs a --backbone other than small")
        if self.kernel_size % 2 == 0:
            raise ValueError(f"--kernel-size must be odd, got {self.kernel_size}")
        if self.temporal == "transformer" and self.d_model % self.n_heads:
            raise ValueError(f"--n-heads must divide --d-model {self.d_model}, got {self.n_heads}")

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "Recipe":
        """The recipe that `described` gave these fields, as JSON gives them back."""
        return cls(**with_tuples(fields))

    def described(self) -> dict[str, Any]:
        """All fields, as JSON can hold them."""
        return as_json(self)


TINY = Recipe(
    precision="32-true",
    size=48,
    n_frames=12,
    channels=(12, 24, 48, 96),
    n_blocks=(0, 0, 0, 1),
    d_model=96,
    n_layers=1,
    d_ff=192,
    n_convolutions=1,
    warmup=20,
    ema=0.97,
    max_epochs=100,
    max_seconds=75.0,
)
"""For a few generated signers on a CPU, under two minutes."""

CRNN_BASELINE = Recipe(
    size=224,
    skip_solid=False,
    padding="repeat",
    backbone="resnet-18",
    pretrained="microsoft/resnet-18",
    motion="none",
    places="mean",
    temporal="lstm",
    n_convolutions=0,
    n_layers=1,
    d_model=256,
    pooling="last",
    dropout=0.0,
    balanced=False,
    label_smoothing=0.0,
    warp=0.0,
    crop=1.0,
    colour=0.0,
    rotation=0.0,
    learning_rate=1e-4,
    schedule="plateau",
    warmup=1,
    weight_decay=1e-4,
    ema=0.0,
    max_epochs=10,
    select_by="loss",
)
"""The contest's baseline, source 002, section IV: ResNet-18, one LSTM layer of 256, its last state, cross-entropy.

The text says 1e-4 for the learning rate and its code 5e-4; the code of the improved model has 1e-4, so this has it
too. The code's dropout of 0.3 does nothing, because an LSTM of one layer has nothing between layers to drop.
"""

REPORT = dataclasses.replace(
    CRNN_BASELINE,
    backbone="convnext-tiny",
    pretrained="facebook/convnext-tiny-224",
    temporal="transformer",
    n_layers=2,
    d_model=768,
    n_heads=8,
    d_ff=3072,
    final_norm=False,
    pooling="attention",
    dropout=0.3,
    inner_dropout=0.3,
    balanced=True,
    label_smoothing=0.1,
    warp=0.1,
    crop=0.85,
    colour=0.2,
)
"""The improved model of source 002, sections V to VII: ConvNeXt-Tiny, Transformer, attention pooling; for a GPU.

Its speed change of 10% is undone by uniform sampling; here the same strength warps time unevenly. The dropout that it
has on positions is 0.1, here 0.3 as in its layers.
"""

PRESETS = {"tiny": TINY, "small": Recipe(), "crnn-baseline": CRNN_BASELINE, "report": REPORT}
"""By the name that `--preset` takes."""
