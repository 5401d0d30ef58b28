"""The options of `coursepkg sign-language`, but for those of its ladder."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Literal

import tyro

from coursepkg.app.options import (
    PRESET_HELP,
    ExportFormat,
    File,
    Flag,
    Folder,
    Inputs,
    Json,
    Model,
    Out,
    Recursive,
    Resume,
    ScoredPart,
    TrainThreads,
    is_tiny,
    preset_in,
    run_folder,
)
from coursepkg.projects.sign_language.recipe import (
    PRESETS,
    SAME,
    BrokenThresholds,
    CleaningRules,
    Recipe,
    StreamConfig,
)
from coursepkg.validation import check_field, check_finite

WITH_WORDS = (
    "goes with a trained model, and --words names enrolled words; leave one of them out"
)
"""Why an option is refused beside --words."""


def refuse_given(flags: Iterable[tuple[str, object]], reason: str) -> None:
    """Refuse the first option that is given.

    Args:
        flags: names of options, and whether each is given.
        reason: how the message goes on behind the option's name.

    Raises:
        ValueError: one is given.
    """
    for flag, given in flags:
        if given:
            raise ValueError(f"{flag} {reason}")


PresetOption = Annotated[
    Literal["tiny", "small", "crnn-baseline", "report"] | None,
    tyro.conf.arg(help=PRESET_HELP),
]
Split = Literal["auto", "clip", "group", "signer"]


@dataclass(frozen=True)
class Common:
    """What every verb takes."""

    preset: PresetOption = None
    data: str = "auto"
    """signers, signers-tiny, signers-hard, signs, or a folder: train/<word>/*.mp4,
    <word>/*.mp4, a manifest.csv, or what `prepare` wrote. auto is what the model learnt
    from; where there is none yet, signers-tiny for the preset tiny and signers for the
    others."""
    split: Split = "auto"
    """What must not be cut apart. clip parts at random, as the contest's baseline does;
    group keeps recordings and copies together, signer also the clips of a person. auto
    is what the model learnt by, and signer where there is none yet."""
    out: Out = None
    json: Json = False

    @property
    def corpus_name(self) -> str:
        """The data that a verb looks at or learns from, as `load_corpus` takes it."""
        if self.data != "auto":
            return self.data
        return "signers-tiny" if self.is_tiny else "signers"

    @property
    def protocol(self) -> str:
        """How such a verb parts the data."""
        return "signer" if self.split == "auto" else self.split

    @property
    def is_tiny(self) -> bool:
        """Whether a verb that makes a model makes a tiny one."""
        return is_tiny(self.preset)

    @property
    def run_folder(self) -> Path:
        """Where `train` puts a run of this preset."""
        return run_folder("sign-language", self.preset)


CommonOptions = tyro.conf.OmitArgPrefixes[Common]


@dataclass(frozen=True)
class Use:
    """Which trained models to use, and how they look at clips."""

    model: Annotated[
        tyro.conf.UseAppendAction[tuple[Path, ...]], tyro.conf.arg(metavar="FOLDER")
    ] = ()
    """Folder that `train` wrote; several times for an ensemble, whose probabilities are
    averaged. Without it that of
    --preset, and without both the model that ships."""
    views: int | None = None
    """Crops and samplings of a clip whose probabilities are averaged. The model's
    recipe decides if it is not given."""
    adjust: float | None = None
    """Strength of the adjustment for rare words, at least 0. The model's recipe decides
    if it is not given."""
    batch_size: int = 32
    """Clips at once."""
    threads: int = 0
    """CPU threads; 0 is as many as help."""

    def folders(self, common: Common) -> tuple[Path, ...]:
        """Return the model folders in order, or () for the model that ships."""
        return self.model or ((common.run_folder,) if common.preset else ())


UseOptions = tyro.conf.OmitArgPrefixes[Use]


@dataclass(frozen=True)
class Look:
    """How clips are looked at for broken frames and copies."""

    thresholds: tyro.conf.OmitArgPrefixes[BrokenThresholds] = field(
        default_factory=BrokenThresholds
    )
    """When a frame counts as broken."""
    same: float = SAME
    """Distance up to which two clips count as copies, in [0, 1); 0 takes equal pictures
    and motions only."""

    def __post_init__(self) -> None:
        check_finite("--same", self.same)
        check_field(self, "same", 0 <= self.same < 1, "at least 0 and below 1")


LookOptions = tyro.conf.OmitArgPrefixes[Look]


@dataclass(frozen=True)
class Audit:
    """Look at clips and their split: faults of the folder, unreadable files, copies,
    leaks; exit 1 where it leaks.
    """  # noqa: D205 - the help of the command line

    common: CommonOptions = field(default_factory=Common)
    look: LookOptions = field(default_factory=Look)


@dataclass(frozen=True)
class Describe:
    """Print the statistics of the data and the parameters of the model."""

    common: CommonOptions = field(default_factory=Common)


@dataclass(frozen=True)
class Survey:
    """Decode every clip and print sizes, lengths, class counts, broken frames and
    copies beside the contest's.
    """  # noqa: D205 - the help of the command line

    common: CommonOptions = field(default_factory=Common)
    look: LookOptions = field(default_factory=Look)


@dataclass(frozen=True)
class Prepare:
    """Part the clips, clean the training part, decode all of them once into --out; then
    train with --data FOLDER.
    """  # noqa: D205 - the help of the command line

    common: CommonOptions = field(default_factory=Common)
    look: LookOptions = field(default_factory=Look)
    rules: tyro.conf.OmitArgPrefixes[CleaningRules] = field(
        default_factory=CleaningRules
    )
    """When a clip of the training part goes."""
    size: int = 0
    """Side of the square frames in pixels; 0 takes that of the preset."""
    frames: int = 32
    """Most frames that are kept of a clip."""


@dataclass(frozen=True)
class Train:
    """Train a recogniser of signs. The preset gives every setting of the recipe its
    default.
    """  # noqa: D205 - the help of the command line

    common: CommonOptions = field(default_factory=Common)
    recipe: tyro.conf.OmitArgPrefixes[Recipe] = field(
        default_factory=lambda: PRESETS["tiny"]
    )
    """All that decides the model besides data and seed."""
    seed: int = 0
    """Of weights, order and chance."""
    start: Folder = None
    """Begin with the weights and the words of the model in this folder (fine-tuning).
    """
    resume: Resume = False
    threads: TrainThreads = 0

    @staticmethod
    def defaults(arguments: Sequence[str]) -> "Train":
        """Return the options with the preset that the arguments name, or `tiny`."""
        return Train(recipe=preset_in(arguments, PRESETS))


@dataclass(frozen=True)
class Evaluate:
    """Score a model, or several together, on a part of a corpus."""

    common: CommonOptions = field(default_factory=Common)
    use: UseOptions = field(default_factory=Use)
    part: ScoredPart = "dev"
    limit: int = 0
    """Score only so many clips of the part, the first ones; 0 takes all. The signature
    says so."""
    worst: int = 24
    """Most clips on the page of the worst ones, which --out gets."""
    against: File = None
    """Compare with another system: the evaluation.json that `evaluate --out` wrote for
    the same clips."""
    words: Folder = None
    """Score the words of this folder, which `enroll` wrote: each clip is asked about
    by the clips of other signers, or with --split clip by all other clips."""
    method: Literal["auto", "dtw", "dtw-mean", "embedding", "dtw+embedding"] = "auto"
    """With --words: by which distance an example is near."""
    leave_one_signer_out: Flag = False
    """Instead of scoring a part, train on all signers but one and score that one, for
    each who shares words."""
    seed: int = 0
    """With --leave-one-signer-out: of weights, order and chance."""


@dataclass(frozen=True)
class Predict:
    """Name the signed word of clips, of folders of clips, or moment by moment of a
    stream.
    """  # noqa: D205 - the help of the command line

    inputs: Inputs = ()
    """Videos and folders of videos."""
    common: CommonOptions = field(default_factory=Common)
    use: UseOptions = field(default_factory=Use)
    recursive: Recursive = False
    n_best: int = 1
    """Words that are named for each clip, the likeliest first."""
    stream: Flag = False
    """Take each video as a stream of signs: a window slides over it, and a word is
    named where it is sure."""
    windows: tyro.conf.OmitArgPrefixes[StreamConfig] = field(
        default_factory=StreamConfig
    )
    """How a stream is cut into windows, and when a word is sure."""
    contest: File = None
    """Write the answers here as the contest wants them."""
    words: Folder = None
    """Name the words of this folder, which `enroll` wrote, by landmarks, instead of
    those of a trained model. In a stream a word is named when the hands are down."""
    camera: int | None = None
    """Find the signs in front of this camera, 0 the first, instead of those of videos;
    a window shows it where OpenCV has windows."""

    @property
    def finds_events(self) -> bool:
        """Whether signs are found moment by moment, and clips not named as a whole."""
        return self.stream or self.camera is not None


@dataclass(frozen=True)
class Enroll:
    """Learn words from a few clips each, without training: landmarks of every clip are
    kept, and no picture.
    """  # noqa: D205 - the help of the command line

    clips: tyro.conf.Positional[
        Annotated[Path | None, tyro.conf.arg(metavar="CLIPS")]
    ] = None
    """Folder of videos: <word>/*.mp4, or with a manifest.csv (path, label, signer)."""
    out: Annotated[
        Path | None,
        tyro.conf.arg(metavar="FOLDER", help="The words; what is there is added to."),
    ] = None
    replace: Flag = False
    """The earlier clips of these words go."""
    remove: Annotated[tuple[str, ...], tyro.conf.arg(metavar="WORD...")] = ()
    """Words that are taken out of the folder."""
    json: Json = False


@dataclass(frozen=True)
class Export:
    """Write a model as one program that PyTorch or onnxruntime runs without this
    package.
    """  # noqa: D205 - the help of the command line

    common: CommonOptions = field(default_factory=Common)
    model: Model = None
    format: ExportFormat = "pt2"
    words: Folder = None
    """Write the embedding, and the prototypes of the words of this folder, which
    `enroll` wrote, instead of a trained model."""
