"""All settings of sign recognition: recipes and presets, and how clips are looked at.

A recipe is all that decides a recogniser besides its data and its seed.

A backbone turns one frame into one vector. To add one, write its class in
`model/backbones.py` and enter it into `ARCHITECTURES`; `--backbone` then takes its
name. The class is made with a `ModelConfig`, and has

    forward(frames)     (N, 3, H, W), ImageNet-normalised, or where its entry has
                        `n_features` (N, F), landmarks -> (N, out_channels)
    out_channels        width of the vector
    depths              names of its parts, from the frame to the vector
    load_pretrained     gives it weights by name or folder; needed where its entry
                        names weights

Sources: ResNet, He et al. (arXiv 1512.03385), table 1; ConvNeXt, Liu et al. (arXiv
2201.03545), section 3; ViT, Dosovitskiy et al. (arXiv 2010.11929), table 1; Swin, Liu
et al. (arXiv 2103.14030), section 3.3.
"""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from coursepkg.app.recipe import (
    ClipNorm,
    Count,
    Ema,
    FeedForwardWidth,
    Fraction,
    Limit,
    MaxEpochs,
    MaxSeconds,
    NonNegative,
    Positive,
    PositiveShare,
    Precision,
    Share,
    Size0,
    Warmup,
    WeightDecay,
    check_fields,
    within,
)
from coursepkg.validation import (
    as_json,
    check_choice,
    check_count,
    check_field,
    flag_of,
    with_tuples,
)

MODEL = "coursepkg.projects.sign_language.model."


@dataclass(frozen=True)
class Architecture:
    """One backbone."""

    network: str
    """Its class, `module:name`; the module is imported when a network is built."""
    family: str
    """Kind of network, which weights must share."""
    channels: tuple[int, ...]
    """Width of each stage; a ViT has one stage."""
    n_blocks: tuple[int, ...]
    """Blocks of each stage."""
    weights: str = ""
    """Name of weights trained on ImageNet, on the Hugging Face Hub; empty for none."""
    layer_type: str = ""
    """Of a ResNet: basic, two 3 x 3 convolutions, or bottleneck."""
    least_blocks: int = 1
    """Fewest blocks of a stage."""
    head_width: int = 1
    """Channels are multiples of it: the dimension of an attention head, or else 1."""
    patch: int = 1
    """Side in pixels of the squares that a frame is cut into."""
    n_features: int = 0
    """Numbers of a frame where it reads landmarks (F), see `landmarks.steps`; 0 where
    it reads pictures."""
    doubles: bool = False
    """Whether each stage has twice the channels of the one before, on half the places.
    """

    @property
    def n_stages(self) -> int:
        """Stages that channels and blocks are given for."""
        return len(self.channels)

    def size_step(self, n_stages: int) -> int:
        """Height and width of a frame are multiples of it, in pixels."""
        return self.patch * 2 ** (n_stages - 1) if self.doubles else self.patch


def _library(
    family: str,
    channels: tuple[int, ...],
    n_blocks: tuple[int, ...],
    weights: str,
    **more: Any,
) -> Architecture:
    network = f"{MODEL}backbones:LibraryBackbone"
    return Architecture(network, family, channels, n_blocks, weights, **more)


_RESNET = (64, 128, 256, 512)
_BOTTLENECKS = (256, 512, 1024, 2048)
_HALVED = (96, 192, 384, 768)
_SMALL = f"{MODEL}classifier:SmallCNN"
_SWIN = "microsoft/swin-tiny-patch4-window7-224"
_VIT = "google/vit-base-patch16-224"
ARCHITECTURES: dict[str, Architecture] = {
    "small": Architecture(
        _SMALL, "small", (16, 32, 64, 128), (0, 0, 1, 1), least_blocks=0
    ),
    "resnet-18": _library(
        "resnet", _RESNET, (2, 2, 2, 2), "microsoft/resnet-18", layer_type="basic"
    ),
    "resnet-34": _library(
        "resnet", _RESNET, (3, 4, 6, 3), "microsoft/resnet-34", layer_type="basic"
    ),
    "resnet-50": _library(
        "resnet",
        _BOTTLENECKS,
        (3, 4, 6, 3),
        "microsoft/resnet-50",
        layer_type="bottleneck",
        head_width=4,
    ),
    "convnext-tiny": _library(
        "convnext", _HALVED, (3, 3, 9, 3), "facebook/convnext-tiny-224"
    ),
    "vit-base": _library("vit", (768,), (12,), _VIT, head_width=64, patch=16),
    "swin-tiny": _library(
        "swin", _HALVED, (2, 2, 6, 2), _SWIN, head_width=32, patch=4, doubles=True
    ),
    "landmarks": Architecture(
        f"{MODEL}backbones:LandmarkLayer", "landmarks", (), (), n_features=137
    ),
}
"""By the name that `--backbone` takes."""


def architecture_of(backbone: str) -> Architecture:
    """The backbone of this name.

    Raises:
        ValueError: there is none; the known ones are named.
    """
    check_choice("backbone", backbone, ARCHITECTURES)
    return ARCHITECTURES[backbone]


Dropped = Annotated[float, Limit("at least 0 and below 1", lambda x: 0 <= x < 1)]
SCHEDULES = ("constant", "inverse-sqrt", "cosine", "plateau")
SAME = 0.35
"""Distance up to which two clips are taken for copies.

Measured on 34 real and generated clips, before this number was chosen: copies that were
packed again, brightened, halved in size, cropped by 2% or partly black were at most
0.23 apart, different clips of one signer at least 0.51. A copy that was cut by a
sixteenth of its length was 0.51 apart as well: it is not found."""
if TYPE_CHECKING:
    BackboneName = str
else:
    BackboneName = Literal[tuple(ARCHITECTURES)]
Motion = Literal["none", "centred", "beside", "alone"]
Places = Literal["mean", "fold"]
TemporalName = Literal["transformer", "lstm", "none"]
PoolingName = Literal["attention", "mean", "last"]
_CHOICES = {
    "motion": get_args(Motion),
    "places": get_args(Places),
    "temporal": get_args(TemporalName),
    "pooling": get_args(PoolingName),
}


@dataclass(frozen=True)
class Recipe:
    """Clips, model and training; the defaults are those of the preset `small`."""

    size: Count = 96
    """Height and width of the frames that the network sees, in pixels."""
    n_frames: Count = 16
    """Frames of a clip, evenly spaced in time (T)."""
    skip_solid: bool = True
    """Leave frames in one colour out before frames are chosen."""
    padding: Literal["repeat", "loop", "mask"] = "mask"
    """What fills up a clip with fewer frames: its last one, the clip again, or nothing
    that is looked at."""
    backbone: BackboneName = "small"
    """The CNN of this package, a network of the transformers library, or landmarks: one
    linear layer on the landmarks of body and hands instead of pictures."""
    pretrained: str = ""
    """Name or folder of the weights that the backbone begins with, as
    microsoft/resnet-18; empty begins at random."""
    channels: tuple[int, ...] = ()
    """Channels of the backbone's stages; empty takes those of its name."""
    n_blocks: tuple[int, ...] = ()
    """Blocks of each stage; empty takes those of its name."""
    motion: Motion = "alone"
    """What `small` sees: frames, frames less the mean of their clip, frames and what
    changed since the frame before, or what moves and nothing else."""
    places: Places = "fold"
    """How `small` makes a vector of its last map: the mean, or every place with weights
    of its own."""
    temporal: TemporalName = "transformer"
    """What runs over the frames."""
    n_convolutions: Size0 = 2
    """Layers of 1D convolution over time before it; 0 has none."""
    kernel_size: Count = 5
    """Frames that one such layer sees, odd."""
    n_layers: Count = 2
    """Layers of the Transformer or the LSTM."""
    d_model: Count = 192
    """Width over time; the LSTM's hidden state."""
    n_heads: Count = 4
    """Heads of attention."""
    d_ff: FeedForwardWidth = 384
    final_norm: bool = True
    """Normalise what leaves the Transformer."""
    pooling: PoolingName = "attention"
    """How the frames become one vector: by learnt weights, all alike, or the last
    alone."""
    dropout: Fraction = 0.1
    """Probability of dropping a component of a vector or of a sublayer's output, in [0,
    1)."""
    inner_dropout: Fraction = 0.0
    """Probability of dropping an attention weight or a component inside a feed-forward
    network, in [0, 1)."""
    frozen: Size0 = 0
    """First parts of the backbone that keep their weights, the stem counted as one."""
    backbone_rate: Positive = 1.0
    """Learning rate of the backbone's last part as a multiple of the learning rate,
    above 0."""
    layer_decay: PositiveShare = 1.0
    """Factor of the learning rate from a part of the backbone to the one before it, in
    (0, 1]."""
    balanced: bool = True
    """Draw every word equally often. Together with a weighted loss it corrects the long
    tail twice."""
    loss: Literal[
        "cross-entropy", "weighted", "focal", "weighted-focal", "logit-adjusted"
    ] = "cross-entropy"
    """What training minimises."""
    label_smoothing: Fraction = 0.1
    """Share of the target that goes to all words alike, in [0, 1)."""
    gamma: NonNegative = 2.0
    """Exponent of the focal losses, at least 0."""
    tau: NonNegative = 1.0
    """Strength of logit adjustment in the loss `logit-adjusted`, at least 0."""
    adjust: NonNegative = 0.0
    """Strength of the adjustment of a trained network's logits in prediction, at least
    0; 0 leaves them."""
    warp: Annotated[float, within(0, 0.9)] = 0.3
    """Strength of the uneven warp of time, in [0, 0.9]; 0 leaves time as it is."""
    crop: Annotated[float, within(0.1, 1)] = 0.8
    """Smallest share of height and width that a random crop keeps, in [0.1, 1]; 1 crops
    nothing."""
    colour: Share = 0.3
    """Largest change of brightness, contrast and saturation, as a share, in [0, 1]."""
    rotation: Annotated[float, within(0, 45)] = 5.0
    """Largest rotation in degrees, in [0, 45]. Landmarks are also scaled, moved, hidden
    and made noisy where it is above 0; crop and colour do not change them."""
    flip: Share = 0.0
    """Probability that a clip is mirrored, in [0, 1]; a left hand becomes a right one.
    """
    mix: Literal["none", "mixup", "mixup-time", "cutmix-space", "cutmix-time"] = "none"
    """How pairs of clips are mixed, and their words with them."""
    mix_alpha: Positive = 0.4
    """Both parameters of the Beta distribution that the share of the mixture is drawn
    from, above 0."""
    batch_clips: Count = 16
    """Clips of a batch."""
    learning_rate: NonNegative = 1e-3
    """The highest learning rate."""
    schedule: Literal["constant", "inverse-sqrt", "cosine", "plateau"] = "cosine"
    """How it moves: by the step, or halved when more than 3 validations in a row
    brought no new best (plateau)."""
    warmup: Warmup = 100
    weight_decay: WeightDecay = 0.01
    clip_norm: ClipNorm = 1.0
    ema: Ema = 0.99
    max_epochs: MaxEpochs = 20
    max_seconds: MaxSeconds = 86400.0
    patience: Count = 20
    """Validations without a new best until training stops, at least 1."""
    select_by: Literal["macro_f1", "loss"] = "macro_f1"
    """Which score of the dev part says what is best."""
    precision: Precision = "auto"
    views: Count = 1
    """Crops and samplings of a clip whose probabilities prediction averages; 1 looks
    once."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.pretrained and not architecture_of(self.backbone).weights:
            raise ValueError(
                f"--pretrained {self.pretrained} needs a --backbone other than"
                f" {self.backbone}"
            )
        _check_sizes(self, flag_of)

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "Recipe":
        """The recipe that `described` gave these fields, as JSON gives them back."""
        return cls(**with_tuples(fields))

    def described(self) -> dict[str, Any]:
        """All fields, as JSON can hold them."""
        return as_json(self)


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and choices of a `ClipClassifier`, stored beside its weights.

    `Recipe` says what each field means.
    """

    n_classes: Count
    """Words that it tells apart (V)."""
    size: Count = 64
    n_frames: Count = 16
    backbone: str = "small"
    channels: tuple[int, ...] = ()
    n_blocks: tuple[int, ...] = ()
    motion: str = "alone"
    places: str = "fold"
    temporal: str = "transformer"
    n_convolutions: Size0 = 2
    kernel_size: Count = 5
    n_layers: Count = 2
    d_model: Count = 192
    n_heads: Count = 4
    d_ff: Count = 384
    final_norm: bool = True
    pooling: str = "attention"
    dropout: Dropped = 0.1
    inner_dropout: Dropped = 0.0

    def __post_init__(self) -> None:
        check_fields(self, str)
        for name, choices in _CHOICES.items():
            check_choice(name, getattr(self, name), choices)
        _check_sizes(self, str)
        self._check_backbone()

    def _check_backbone(self) -> None:
        known, name = architecture_of(self.backbone), self.backbone
        if known.n_features:
            return
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


def _check_sizes(config: Recipe | ModelConfig, name_of: Callable[[str], str]) -> None:
    """Raise a ValueError where two fields of the network do not go together."""
    if config.kernel_size % 2 == 0:
        raise ValueError(
            f"{name_of('kernel_size')} must be odd, got {config.kernel_size}"
        )
    if config.temporal == "transformer" and config.d_model % config.n_heads:
        raise ValueError(
            f"{name_of('n_heads')} must divide {name_of('d_model')} {config.d_model},"
            f" got {config.n_heads}"
        )


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
"""The contest's baseline (Olympiad tutorials, section IV): ResNet-18, one LSTM layer of
256, its last state, cross-entropy.

The text says 1e-4 for the learning rate and its code 5e-4; the code of the improved
model has 1e-4, so this has it too. The code's dropout of 0.3 does nothing, because an
LSTM of one layer has nothing between layers to drop. """

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
"""The improved model of the Olympiad tutorials, sections V to VII: ConvNeXt-Tiny,
Transformer, attention pooling; for a GPU.

Its speed change of 10% is undone by uniform sampling; here the same strength warps time
unevenly. The dropout that it has on positions is 0.1, here 0.3 as in its layers. """

PRESETS = {
    "tiny": TINY,
    "small": Recipe(),
    "crnn-baseline": CRNN_BASELINE,
    "report": REPORT,
}
"""By the name that `--preset` takes."""


@dataclass(frozen=True)
class StreamConfig:
    """How a stream is cut into windows and these become events.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    window: Positive = 2.5
    """Seconds that are looked at together, above 0: about as long as the clips that the
    network learnt from."""
    hop: float = 0.5
    """Seconds from one window to the next, above 0 and at most the window."""
    smoothing: Fraction = 0.5
    """Share of the window before in the probabilities, in [0, 1); 0 takes each window
    for itself."""
    threshold: PositiveShare = 0.5
    """A word is sure where its smoothed probability is at least this, above 0 and up to
    1."""
    refractory: NonNegative = 1.0
    """A word that is sure again within so many seconds is still the same event, at
    least 0."""

    def __post_init__(self) -> None:
        check_fields(self)
        said = f"above 0 and at most the window, {self.window:g}"
        check_field(self, "hop", 0 < self.hop <= self.window, said)


@dataclass(frozen=True)
class BrokenThresholds:
    """The thresholds decide when a frame counts as broken.

    Gray levels are those of 8 bits, 0 to 255, of the means of cells.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    solid_spread: Annotated[float, within(0, 128)] = 8.0
    """A cell has the colour of the frame where no channel is further than this from the
    frame's median, in gray levels, in [0, 128]. H.264 keeps a plain colour within two
    or three levels."""
    solid_share: Annotated[float, within(0.5, 1)] = 0.98
    """A frame is solid where this share of its cells has one colour, in [0.5, 1]: a
    line of garbage at an edge makes no picture of it."""
    still_change: Annotated[float, within(0, 255)] = 2.0
    """A frame stands still where the brightness of no cell is further than this from
    the frame before, in gray levels, in [0, 255]. H.264 refines a picture that stands
    by one or two of them; a moving hand changes some cell by 50."""
    still_run: Count = 3
    """So many frames that stand still one after another are frozen, from 1; shorter
    runs are left by a change of the frame rate, which shows frames twice."""
    still_seconds: Annotated[float, within(0, 3600)] = 0.25
    """A run has to take so long, in seconds, at least 0. At 30 frames a second a hand
    that turns back stands for three of them."""
    still_drift: Annotated[float, within(0, 255)] = 4.0
    """From its first to its last frame no cell of a run changes by more, in gray
    levels, in [0, 255]. What tells a frozen picture from hands that are held: in nine
    such runs, real and generated, the frozen ones were at most 3.3 apart and those that
    were held for half a second 6 to 9. That was in pictures of 112 pixels and more; in
    smaller ones the codec itself changes a cell by as much."""
    longest_rest: Annotated[float, within(0, 1)] = 0.2
    """A run that touches the first or the last frame is taken for the pose of rest and
    not for a fault where it covers at most this share of the clip, in [0, 1]; 0 knows
    no rest. A codec stores hands that rest as one picture again and again, in real
    clips up to a seventh of their length."""

    def __post_init__(self) -> None:
        check_fields(self)


@dataclass(frozen=True)
class CleaningRules:
    """When a clip goes and what is done to those that stay.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    most_broken: PositiveShare = 0.6
    """A clip with at least this share of broken frames goes, above 0 and up to 1."""
    least_frames: Count = 8
    """A clip goes where fewer good frames are left, from 1."""
    most_seconds: Positive = 20.0
    """A longer clip is cut to its middle, above 0. Contest clips take 2 to 3 seconds, a
    few above 30."""
    middle_seconds: float = 3.0
    """How much of such a clip stays, above 0 and at most `most_seconds`."""
    drop_frames: bool = True
    """Whether the broken frames of clips that stay are left out before frames are
    sampled."""
    copies: Literal["keep-tail", "remove", "keep"] = "keep-tail"
    """What becomes of copies, of which one always stays: `keep-tail` removes them where
    their word has 20 different clips or more, and marks those of rarer words for
    stronger augmentation; `keep` marks all."""
    contradictions: Literal["remove", "keep"] = "remove"
    """What becomes of copies that stand under different words. Which word is right
    cannot be told from here."""

    def __post_init__(self) -> None:
        check_fields(self)
        inside = 0 < self.middle_seconds <= self.most_seconds
        said = f"above 0 and at most {self.most_seconds:g}"
        check_field(self, "middle_seconds", inside, said)
