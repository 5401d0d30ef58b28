"""The options of `coursepkg sign-language audit|describe|survey|prepare|train|evaluate|predict|export`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import tyro

from coursepkg.projects.options import Flag, preset_in
from coursepkg.projects.sign_language.command_options import (
    Common,
    CommonOptions,
    File,
    Look,
    LookOptions,
    ModelFolder,
    Part,
    Use,
    UseOptions,
)
from coursepkg.projects.sign_language.quality.plan import CleaningRules
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.projects.sign_language.stream_config import StreamConfig


@dataclass(frozen=True)
class Audit:
    """Look at clips and their split: faults of the folder, unreadable files, copies, leaks; exit 1 where it leaks."""

    common: CommonOptions = field(default_factory=Common)
    look: LookOptions = field(default_factory=Look)

    def run(self) -> int:
        """Print the audit; --out also gets it as a JSON file."""
        from coursepkg.projects.sign_language.inspect_commands import audit_command

        return audit_command(self)


@dataclass(frozen=True)
class Describe:
    """Print the statistics of the data and the parameters of the model."""

    common: CommonOptions = field(default_factory=Common)

    def run(self) -> int:
        """Print the description; --out also gets it as a JSON file."""
        from coursepkg.projects.sign_language.inspect_commands import describe_command

        return describe_command(self)


@dataclass(frozen=True)
class Survey:
    """Decode every clip and print sizes, lengths, class counts, broken frames and copies beside the contest's."""

    common: CommonOptions = field(default_factory=Common)
    look: LookOptions = field(default_factory=Look)

    def run(self) -> int:
        """Print the survey; --out also gets it as a JSON file with every clip by name."""
        from coursepkg.projects.sign_language.inspect_commands import survey_command

        return survey_command(self)


@dataclass(frozen=True)
class Prepare:
    """Part the clips, clean the training part, decode all of them once into --out; then train with --data FOLDER."""

    common: CommonOptions = field(default_factory=Common)
    look: LookOptions = field(default_factory=Look)
    rules: tyro.conf.OmitArgPrefixes[CleaningRules] = field(default_factory=CleaningRules)
    """When a clip of the training part goes."""
    size: int = 0
    """Side of the square frames in pixels; 0 takes that of the preset."""
    frames: int = 32
    """Most frames that are kept of a clip."""

    def run(self) -> int:
        """Write the folder --out and say what was removed."""
        from coursepkg.projects.sign_language.prepare_command import prepare_command

        return prepare_command(self)


@dataclass(frozen=True)
class Train:
    """Train a recogniser of signs. The preset gives every setting of the recipe its default."""

    common: CommonOptions = field(default_factory=Common)
    recipe: tyro.conf.OmitArgPrefixes[Recipe] = field(default_factory=lambda: PRESETS["tiny"])
    """All that decides the model besides data and seed."""
    seed: int = 0
    """Of weights, order and chance."""
    start: ModelFolder = None
    """Begin with the weights and the words of the model in this folder (fine-tuning)."""
    resume: Flag = False
    """Go on with the run in --out."""
    threads: int = 0
    """CPU threads; 0 is one for `tiny`, whose matrices are too small to share, and else torch's own choice."""

    @staticmethod
    def defaults(arguments: Sequence[str]) -> "Train":
        """The options with the recipe of the preset that the arguments name; `tiny` where they name none."""
        return Train(recipe=preset_in(arguments, PRESETS))

    def run(self) -> int:
        """Train, then score the dev part."""
        from coursepkg.projects.sign_language.train_command import train_command

        return train_command(self)


@dataclass(frozen=True)
class Evaluate:
    """Score a model, or several together, on a part of a corpus."""

    common: CommonOptions = field(default_factory=Common)
    use: UseOptions = field(default_factory=Use)
    part: Part = "dev"
    """Which part to score. The test part is for the last word."""
    limit: int = 0
    """Score only so many clips of the part, the first ones; 0 takes all. The signature says so."""
    worst: int = 24
    """Most clips on the page of the worst ones, which --out gets."""
    against: File = None
    """Compare with another system: the evaluation.json that `evaluate --out` wrote for the same clips."""
    leave_one_signer_out: Flag = False
    """Instead of scoring a part, train on all signers but one and score that one, for each who shares words."""
    seed: int = 0
    """With --leave-one-signer-out: of weights, order and chance."""

    def run(self) -> int:
        """Print the scores; with --out also write predictions, JSON and a page of the worst clips into that folder."""
        from coursepkg.projects.sign_language.evaluate_command import evaluate_command

        return evaluate_command(self)


@dataclass(frozen=True)
class Predict:
    """Name the signed word of clips, of folders of clips, or moment by moment of a stream."""

    inputs: tyro.conf.Positional[Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FILE|FOLDER...")]] = ()
    """Videos and folders of videos."""
    common: CommonOptions = field(default_factory=Common)
    use: UseOptions = field(default_factory=Use)
    recursive: Flag = False
    """Open folders in folders."""
    n_best: int = 1
    """Words that are named for each clip, the likeliest first."""
    stream: Flag = False
    """Take each video as a stream of signs: a window slides over it, and a word is named where it is sure."""
    windows: tyro.conf.OmitArgPrefixes[StreamConfig] = field(default_factory=StreamConfig)
    """How a stream is cut into windows, and when a word is sure."""
    contest: File = None
    """Write the answers here as the contest wants them."""

    def run(self) -> int:
        """Print or write the words; the exit code is 1 where some clips could not be read, and 2 where none could."""
        from coursepkg.projects.sign_language.predict_command import predict_command

        return predict_command(self)


@dataclass(frozen=True)
class Export:
    """Write a model as one program that PyTorch runs without this package."""

    common: CommonOptions = field(default_factory=Common)
    model: ModelFolder = None
    """Folder that `train` wrote. Without it that of --preset, and without both the model that ships."""

    def run(self) -> int:
        """Write the folder."""
        from coursepkg.projects.sign_language.export_command import export_command

        return export_command(self)
