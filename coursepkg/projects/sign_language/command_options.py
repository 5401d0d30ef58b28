"""Options that several verbs of `coursepkg sign-language` share."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from coursepkg.arguments import check_field, check_finite
from coursepkg.projects.options import RUNS, Flag
from coursepkg.projects.sign_language.quality.broken import BrokenThresholds
from coursepkg.projects.sign_language.quality.fingerprint import SAME

if TYPE_CHECKING:
    from coursepkg.projects.sign_language.recognizer import SignRecognizer

Preset = Literal["tiny", "small", "crnn-baseline", "report"]
Part = Literal["train", "dev", "test"]
Split = Literal["auto", "clip", "group", "signer"]

ModelFolder = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")]
File = Annotated[Path | None, tyro.conf.arg(metavar="FILE")]


@dataclass(frozen=True)
class Common:
    """What every verb takes."""

    preset: Preset | None = None
    """Settings to start from; the other verbs then take the run that `train` made by it."""
    data: str = "auto"
    """signers, signers-tiny, signs, or a folder: train/<word>/*.mp4, <word>/*.mp4, a manifest.csv, or what `prepare`
    wrote. auto is what the model learnt from; where there is none yet, signers-tiny for the preset tiny and signers for
    the others."""
    split: Split = "auto"
    """What must not be cut apart. clip parts at random, as the contest's baseline does; group keeps recordings and
    copies together, signer also the clips of a person. auto is what the model learnt by, and signer where there is none
    yet."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """Where results go."""
    json: Flag = False
    """Print one JSON document as the last line."""

    @property
    def corpus_name(self) -> str:
        """The data that a verb looks at or makes a model of, as `load_corpus` takes it."""
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
        return self.preset in (None, "tiny")

    @property
    def run_folder(self) -> Path:
        """Where `train` puts a run of this preset."""
        return RUNS / f"sign-language-{self.preset or 'tiny'}"


CommonOptions = tyro.conf.OmitArgPrefixes[Common]


@dataclass(frozen=True)
class Use:
    """Which trained models to use, and how they look at clips."""

    model: Annotated[tyro.conf.UseAppendAction[tuple[Path, ...]], tyro.conf.arg(metavar="FOLDER")] = ()
    """Folder that `train` wrote; several times for an ensemble, whose probabilities are averaged. Without it that of
    --preset, and without both the model that ships."""
    views: int | None = None
    """Crops and samplings of a clip whose probabilities are averaged. The model's recipe decides if it is not given."""
    adjust: float | None = None
    """Strength of the adjustment for rare words, at least 0. The model's recipe decides if it is not given."""
    batch_size: int = 32
    """Clips at once."""
    threads: int = 0
    """CPU threads; 0 is torch's own choice."""

    def folders(self, common: Common) -> tuple[Path, ...]:
        """The folders of the models, the first one first; empty for the model that ships."""
        return self.model or ((common.run_folder,) if common.preset else ())


UseOptions = tyro.conf.OmitArgPrefixes[Use]


def load_recognizer(common: Common, use: Use) -> "SignRecognizer":
    """The model, or the ensemble, that the options name, looking as they say."""
    from coursepkg.projects.sign_language.recognizer import SignRecognizer

    folders = use.folders(common)
    recognizer = SignRecognizer.load(*folders) if folders else SignRecognizer.load_default()
    return recognizer.looking(views=use.views, adjust=use.adjust)


@dataclass(frozen=True)
class Look:
    """How clips are looked at for broken frames and copies."""

    thresholds: tyro.conf.OmitArgPrefixes[BrokenThresholds] = field(default_factory=BrokenThresholds)
    """When a frame counts as broken."""
    same: float = SAME
    """Distance up to which two clips count as copies, in [0, 1); 0 takes equal pictures and motions only."""

    def __post_init__(self) -> None:
        check_finite("--same", self.same)
        check_field(self, "same", 0 <= self.same < 1, "at least 0 and below 1")


LookOptions = tyro.conf.OmitArgPrefixes[Look]
