"""The options of `coursepkg ocr audit|describe|pack|train|evaluate|export`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro

from coursepkg.projects.ocr.recipe import PRESETS, ReadingPrecision, Recipe
from coursepkg.projects.options import RUNS, Flag, preset_in

if TYPE_CHECKING:
    from coursepkg.projects.ocr.corpus import Corpus

Preset = Literal["tiny", "small", "report"]
Part = Literal["train", "dev", "test"]
Split = Literal["auto", "line", "receipt", "seller", "test"]
ReaderKind = Literal["ctc", "attention", "joint"]


@dataclass(frozen=True)
class Common:
    """What every verb takes."""

    preset: Preset | None = None
    """Settings to start from; the other verbs then take the run that `train` made by it."""
    data: str = "auto"
    """synthetic, synthetic-tiny, receipts, mc-ocr, vi-lines, or a folder: packed lines, a table in the form of MC-OCR,
    or pictures with a labels.tsv. auto is what the model learnt from. Where there is none yet, it is mc-ocr parted by
    line for the preset report, as the OCR report trained, unless --texts is given, and synthetic for others. To the
    preset tiny, synthetic means synthetic-tiny: few, short and clean lines."""
    split: Split = "auto"
    """What must not be cut apart. line parts at random, as the OCR report did; receipt keeps the lines of a receipt or
    document together, seller those of a shop; test leaves everything for testing. auto is test for vi-lines and receipt
    for others; generated lines are parted by font and text."""
    generate: int = 0
    """Training lines of synthetic, or receipts of receipts, to generate; 0 takes the usual number."""
    texts: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Texts of your own, such as annotations that you may use, one a line in UTF-8: about half of the lines of
    synthetic and synthetic-tiny then say them. A model may give away what it learnt."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """Where results go."""
    json: Flag = False
    """Print one JSON document as the last line."""

    def corpus(self, *, is_tiny: bool) -> "Corpus":
        """The lines that the options name, for the preset tiny or another."""
        from coursepkg.projects.ocr.corpora import load_corpus

        name, split = self.data, self.split
        if name == "auto" and self.preset == "report" and self.texts is None:
            name, split = "mc-ocr", "line" if split == "auto" else split
        elif name == "auto":
            name = "synthetic"
        if name == "synthetic" and is_tiny:
            name = "synthetic-tiny"
        return load_corpus(name, split=split, generate=self.generate, texts=self.texts)

    @property
    def is_tiny(self) -> bool:
        """Whether a verb that makes a model makes a tiny one."""
        return self.preset in (None, "tiny")

    @property
    def run_folder(self) -> Path:
        """Where `train` puts a run of this preset."""
        return RUNS / f"ocr-{self.preset or 'tiny'}"

    def model_folder(self, model: Path | None) -> Path:
        """The model that a verb reads with: the one it names, else that of the preset, else the one that ships."""
        from coursepkg.projects.ocr.predict import DEFAULT

        return model or (self.run_folder if self.preset else DEFAULT)


CommonOptions = tyro.conf.OmitArgPrefixes[Common]
ModelFolder = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")]


@dataclass(frozen=True)
class Audit:
    """Look at labelled lines: faults of the table, bad texts, repeated ones, leaks; exit 1 where the split leaks."""

    common: CommonOptions = field(default_factory=Common)

    def run(self) -> int:
        """Print the audit."""
        from coursepkg.projects.ocr.inspect_commands import audit_command

        return audit_command(self)


@dataclass(frozen=True)
class Describe:
    """Print the statistics of the data and the parameters of the model."""

    common: CommonOptions = field(default_factory=Common)

    def run(self) -> int:
        """Print the description."""
        from coursepkg.projects.ocr.inspect_commands import describe_command

        return describe_command(self)


@dataclass(frozen=True)
class Pack:
    """Cut or draw all lines once and store them at a model's height; then train with --data FOLDER."""

    common: CommonOptions = field(default_factory=Common)
    height: int = 0
    """Height of the pictures in pixels; 0 takes that of the preset."""
    box_width: int | None = None
    """Width that every picture is squeezed to; 0 keeps the proportions. The preset decides if it is not given."""

    def run(self) -> int:
        """Write the folder --out."""
        from coursepkg.projects.ocr.inspect_commands import pack_command

        return pack_command(self)


@dataclass(frozen=True)
class Train:
    """Train a recogniser. The preset gives every setting of the recipe its default."""

    common: CommonOptions = field(default_factory=Common)
    recipe: tyro.conf.OmitArgPrefixes[Recipe] = field(default_factory=lambda: PRESETS["tiny"])
    """All that decides the model besides data and seed."""
    seed: int = 0
    """Of weights, order and dropout."""
    start: ModelFolder = None
    """Begin with the weights and the characters of the model in this folder (fine-tuning)."""
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
        from coursepkg.projects.ocr.model_commands import train_command

        return train_command(self)


@dataclass(frozen=True)
class Evaluate:
    """Score a model on a part of a corpus."""

    common: CommonOptions = field(default_factory=Common)
    model: ModelFolder = None
    """Folder that `train` wrote. Without it that of --preset, and without both the model that ships."""
    part: Part = "dev"
    """Which part to score. The test part is for the last word."""
    reader: ReaderKind | None = None
    """Who reads: the CTC head, the decoder, or both. The model's recipe decides if it is not given."""
    beam_size: int | None = None
    """Beams; 1 is greedy. The model's recipe decides if it is not given."""
    second_look: float | None = None
    """Confidence in [0, 1] below which a line is read again, narrower and wider; 0 reads none again. Not given, it is
    0.9 for joint reading; the other readers have no second look."""
    precision: ReadingPrecision = "32-true"
    """32-true reads alike on every machine; auto encodes in bfloat16 where the processor multiplies that itself, which
    is faster and may read a doubtful letter otherwise."""
    batch_size: int = 64
    """Lines encoded at once."""
    limit: int = 0
    """Score only so many lines of the part, the first ones; 0 takes all. The signature says so."""
    worst: int = 100
    """Most readings on the page of the worst ones, which --out gets."""
    worst_by: Literal["error", "confidence"] = "error"
    """What puts a reading on that page: its errors; or how unsure the model is, as where nobody knows what is right."""

    def run(self) -> int:
        """Print the scores; with --out also write readings, JSON and a page of the worst crops into that folder."""
        from coursepkg.projects.ocr.evaluate_command import evaluate_command

        return evaluate_command(self)


@dataclass(frozen=True)
class Export:
    """Write encoder and CTC head as one program that PyTorch runs without this package."""

    common: CommonOptions = field(default_factory=Common)
    model: ModelFolder = None
    """Folder that `train` wrote. Without it that of --preset, and without both the model that ships."""

    def run(self) -> int:
        """Write the folder."""
        from coursepkg.projects.ocr.model_commands import export_command

        return export_command(self)
