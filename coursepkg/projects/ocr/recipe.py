"""All that decides a recogniser besides its data and its seed; and the presets."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from coursepkg.app.recipe import (
    AttentionDropout,
    ClipNorm,
    Count,
    Ema,
    FeedForwardWidth,
    Fraction,
    NonNegative,
    Positive,
    Precision,
    Share,
    Size0,
    Warmup,
    WeightDecay,
    check_fields,
)
from coursepkg.validation import as_json, check_count, check_finite, with_tuples

ReaderKind = Literal["ctc", "attention", "joint"]
READERS = get_args(ReaderKind)
ReadingPrecision = Literal["32-true", "auto"]
"""What a finished network encodes in: float32; or bfloat16 where the processor
multiplies that itself."""
STEP = 32
"""Batches are padded to a multiple of so many pixels in width."""
ADDED_SETTINGS = {"box_width": 0, "learns": "all", "clock": "wall", "augment": False}
"""Fields that cards of older runs do not name, with what they were then."""


BOTTLENECK = 4
"""Channels of a ResNet bottleneck's output, as a multiple of the width inside."""


@dataclass(frozen=True)
class Recipe:
    """Text, model, training and decoding; the defaults are the preset `small`."""

    height: Count = 40
    """Height of the pictures in pixels, a multiple of 8."""
    box_width: Size0 = 0
    """Width in pixels that every picture is squeezed or stretched to; 0 keeps the
    proportions."""
    max_width: Count = 2048
    """Widest picture in pixels; a wider one is squeezed in reading."""
    max_len: Count = 192
    """Most characters of a line, BOS or EOS included; longer lines are left out of
    training and counted."""
    backbone: Literal["small", "resnet"] = "small"
    """The CNN of this package, or a ResNet of the transformers library."""
    pretrained: str = ""
    """Name or folder of the ResNet whose weights to begin with, as microsoft/resnet-50;
    empty begins at random."""
    channels: tuple[int, ...] = (32, 64, 128, 192)
    """Channels of the four stages of the CNN."""
    n_blocks: tuple[int, ...] = (0, 1, 1, 0)
    """Residual blocks of each stage."""
    sequence: Literal["fold", "grid"] = "fold"
    """How a feature map becomes a sequence: its height folded into the channels, or
    every place a step."""
    d_model: Count = 256
    """Width of the residual stream."""
    n_heads: Count = 4
    """Heads of attention."""
    n_encoder_layers: Count = 3
    """Transformer layers behind the CNN."""
    n_decoder_layers: Count = 2
    """Transformer layers of the decoder."""
    d_ff: FeedForwardWidth = 768
    norm_first: bool = True
    """Pre-norm instead of post-norm."""
    dropout: Fraction = 0.1
    """Probability of dropping a component of an embedding or a sublayer's output, in
    [0, 1)."""
    attention_dropout: AttentionDropout = 0.0
    learns: Literal["all", "ctc", "decoder"] = "all"
    """What is trained: everything; CNN, encoder and CTC head without the decoder; or
    the decoder behind them alone."""
    ctc_weight: NonNegative = 0.5
    """Weight of the CTC loss beside that of the decoder, at least 0; 0 leaves the CTC
    head untrained."""
    token_mask: Fraction = 0.05
    """Share of the decoder's inputs that training hides behind UNK, in [0, 1)."""
    label_smoothing: Fraction = 0.1
    """Share of the target distribution that goes to other characters, in [0, 1)."""
    augment: bool = False
    """Disturb the training pictures anew in every epoch: for real ones, since generated
    ones are disturbed already."""
    batch_columns: Count = 16384
    """Columns of pixels of a batch, padding included: 64 lines of 256; a wider line
    comes alone."""
    learning_rate: NonNegative = 1e-3
    """The highest learning rate; the factor of `staircase`, which is 0.3 in the text
    recognition notes."""
    schedule: Literal["constant", "inverse-sqrt", "cosine", "staircase"] = "cosine"
    """How it moves from step to step."""
    warmup: Warmup = 1000
    weight_decay: WeightDecay = 0.01
    clip_norm: ClipNorm = 1.0
    ema: Ema = 0.999
    max_epochs: Count = 12
    """Passes over the training part, at least 1. Those of `small` over the lines of
    `synthetic` are about an hour on two cores, and some minutes on a GPU."""
    max_seconds: Positive = 3600.0
    """Seconds of training by the `clock`, above 0; this bounds `small` where lines are
    more or the machine is slower. Then `schedule` does not come to its end: choose
    fewer epochs, or more time."""
    clock: Literal["wall", "cpu"] = "wall"
    """What `max_seconds` counts: time on the wall, or CPU time of this process, its
    threads added up, which other programs on the machine do not use up."""
    patience: Count = 10
    """Validations without a new best CER until training stops, at least 1."""
    validate_every: Size0 = 0
    """Steps between validations; 0 validates at the end of each epoch."""
    precision: Precision = "auto"
    reader: ReaderKind = "joint"
    """Who reads: the CTC head alone, the decoder, or both, whose scores are added."""
    beam_size: Count = 1
    """Beams of the search; 1 is greedy."""
    length_penalty: float = 0.6
    """Exponent alpha of the length penalty of beam search."""
    ctc_share: Share = 0.3
    """Share of the CTC head in the joint score, in [0, 1]."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.box_width > self.widest_line:
            least = f"{self.box_width + STEP}, for batches are padded"
            raise ValueError(
                f"--box-width {self.box_width} needs --max-width of at least {least},"
                f" got {self.max_width}"
            )
        if self.learns == "ctc" and self.reader != "ctc":
            raise ValueError(
                f"--learns ctc needs --reader ctc, got {self.reader}: the decoder"
                " learns nothing"
            )
        if self.reader != "attention" and not self.ctc_weight:
            raise ValueError(
                f"--reader {self.reader} needs --ctc-weight above 0, which trains the"
                " CTC head"
            )
        if self.pretrained and self.backbone != "resnet":
            raise ValueError(f"--pretrained {self.pretrained} needs --backbone resnet")

    @property
    def widest_line(self) -> int:
        """Widest picture to train on in pixels; padding adds less than a step."""
        return self.max_width - STEP

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "Recipe":
        """The recipe that `described` gave these fields, as JSON gives them back."""
        return cls(**with_tuples(fields))

    def described(self) -> dict[str, Any]:
        """All fields, as JSON can hold them."""
        return as_json(self)


@dataclass(frozen=True)
class ModelConfig:
    """Sizes and choices of a `LineTransformer`, stored beside its weights.

    `Recipe` says what each field means.
    """

    vocab_size: int
    """Characters with the four special tokens (V); id 0, padding, is the blank of
    CTC."""
    height: int = 40
    max_width: int = 2048
    max_len: int = 192
    backbone: str = "small"
    channels: tuple[int, ...] = (32, 64, 128, 256)
    n_blocks: tuple[int, ...] = (0, 1, 1, 1)
    sequence: str = "fold"
    d_model: int = 256
    n_heads: int = 4
    n_encoder_layers: int = 3
    n_decoder_layers: int = 2
    d_ff: int = 768
    norm_first: bool = True
    dropout: float = 0.1
    attention_dropout: float = 0.0

    def __post_init__(self) -> None:
        counts = ("vocab_size", "height", "max_width", "max_len", "d_model", "n_heads")
        for name in (*counts, "n_encoder_layers", "n_decoder_layers", "d_ff"):
            check_count(name, getattr(self, name))
        for name, known in (
            ("backbone", ("small", "resnet")),
            ("sequence", ("fold", "grid")),
        ):
            if getattr(self, name) not in known:
                raise ValueError(
                    f"{name} must be one of {', '.join(known)}, got"
                    f" {getattr(self, name)!r}"
                )
        for name in ("dropout", "attention_dropout"):
            check_finite(name, getattr(self, name))
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(
                    f"{name} must be at least 0 and below 1, got {getattr(self, name)}"
                )
        self._check_stages()

    def _check_stages(self) -> None:
        if self.height % 8:
            raise ValueError(f"height must be a multiple of 8, got {self.height}")
        least = 1 if self.backbone == "resnet" else 0
        for name, low in (("channels", 1), ("n_blocks", least)):
            if len(getattr(self, name)) != 4:
                raise ValueError(
                    f"{name} must be 4 numbers, one a stage, got {getattr(self, name)}"
                )
            for value in getattr(self, name):
                check_count(name, value, least=low)
        if self.backbone == "resnet" and any(c % BOTTLENECK for c in self.channels):
            raise ValueError(
                f"channels must be multiples of {BOTTLENECK} in a resnet, got"
                f" {self.channels}"
            )
        if self.sequence == "grid" and self.d_model % 4:
            raise ValueError(
                "d_model must be a multiple of 4 for positions in a grid, got"
                f" {self.d_model}"
            )


TINY = Recipe(
    height=32, max_width=512, max_len=64, channels=(16, 32, 64, 96),
    n_blocks=(0, 0, 0, 1), d_model=96, n_heads=4, n_encoder_layers=1,
    n_decoder_layers=1, d_ff=192, dropout=0.0, batch_columns=2048, learning_rate=2e-3,
    schedule="inverse-sqrt", warmup=50, ema=0.97, max_epochs=11, max_seconds=150.0,
    clock="cpu", precision="32-true", reader="ctc",
)  # fmt: skip
"""For generated lines on a CPU, under two minutes; in so short a time CTC learns to
read well before the decoder.

The epochs end it, so that a busy machine makes the same model; the seconds are for more
lines than those of `synthetic-tiny`, and for slower machines. """

REPORT = Recipe(
    height=32, box_width=300, max_width=512, max_len=64, backbone="resnet",
    pretrained="microsoft/resnet-50", channels=(256, 512, 1024, 2048),
    n_blocks=(3, 4, 6, 3), d_model=512, n_heads=8, n_encoder_layers=3,
    n_decoder_layers=3, d_ff=1024, norm_first=False, attention_dropout=0.1,
    ctc_weight=0.0, token_mask=0.0, label_smoothing=0.0, learning_rate=1e-4,
    schedule="constant", ema=0.0, max_epochs=50, max_seconds=86400.0, patience=50,
    reader="attention",
)  # fmt: skip
"""The network of the text recognition notes, trained as the OCR report says: for a GPU.

The OCR report squeezes every crop to one size and does not say which; 32 x 300 pixels
is that of the settings in the notes."""

PRESETS = {"tiny": TINY, "small": Recipe(), "report": REPORT}
"""By the name that `--preset` takes."""
