"""The options of `coursepkg ocr`, verb by verb, and how a page is read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

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
    ModelOrExport,
    Out,
    Recursive,
    Resume,
    ScoredPart,
    TrainThreads,
    is_tiny,
    preset_in,
    run_folder,
)
from coursepkg.projects.ocr.detector.engines import DetectorSettings, EngineName
from coursepkg.projects.ocr.detector.lines import WORD_GAP
from coursepkg.projects.ocr.recipe import (
    PRESETS,
    READERS,
    ReaderKind,
    ReadingPrecision,
    Recipe,
)
from coursepkg.validation import (
    check_count,
    check_field,
    check_finite,
    check_share,
    flag_of,
)

if TYPE_CHECKING:
    from coursepkg.projects.ocr.corpus import Corpus
    from coursepkg.projects.ocr.export import ExportedReader
    from coursepkg.projects.ocr.predict import Recognizer

PresetOption = Annotated[
    Literal["tiny", "small", "report"] | None, tyro.conf.arg(help=PRESET_HELP)
]
Split = Literal["auto", "line", "receipt", "seller", "test"]
FieldSplit = Annotated[
    Literal["auto", "receipt", "seller"],
    tyro.conf.arg(
        help="What must not be cut apart: receipt parts receipt by receipt, as the "
        "lines of a recogniser are, seller shop by shop. auto is seller for tables and "
        "receipt for exports. Generated receipts are not parted."
    ),
]
BeamSize = Annotated[
    int | None,
    tyro.conf.arg(
        help="Beams; 1 is greedy. The model's recipe decides if it is not given."
    ),
]
SecondLook = Annotated[
    float | None,
    tyro.conf.arg(
        help="Confidence in [0, 1] below which a line is read again, narrower and "
        "wider; 0 reads none again. Not given, it is 0.92 for joint reading; the other "
        "readers have no second look."
    ),
]
Precision = Annotated[
    ReadingPrecision,
    tyro.conf.arg(
        help="32-true reads alike on every machine; auto encodes in bfloat16 where the "
        "processor multiplies that itself, which is faster and may read a doubtful "
        "letter otherwise."
    ),
]


def refuse_given(given: Mapping[str, bool], why: str) -> None:
    """Raise a ValueError that names the first flag that is given, and why not.

    Args:
        given: by flag whether it is given.
        why: goes on behind the flag.
    """
    for flag, is_given in given.items():
        if is_given:
            raise ValueError(f"{flag} {why}")


@dataclass(frozen=True)
class Common:
    """What every verb takes."""

    preset: PresetOption = None
    data: str = "auto"
    """synthetic, synthetic-tiny, receipts, varied-receipts (more layouts, print and
    wear), mc-ocr, vi-lines, or a folder: pictures of lines with a labels.tsv or a
    labels.csv, photographs with a JSON export of Label Studio or a table in the form of
    MC-OCR, or packed lines. auto is what the model learnt from. Where there is none
    yet, it is mc-ocr parted by line for the preset report, as the OCR report trained,
    unless --texts is given, and synthetic for others. To the preset tiny, synthetic
    means synthetic-tiny: few, short and clean lines."""
    split: Split = "auto"
    """What must not be cut apart. line parts at random, as the OCR report did; receipt
    keeps the lines of a receipt or document together, seller those of a shop; test
    leaves everything for testing. auto is test for vi-lines and receipt for others;
    generated lines are parted by font and text."""
    generate: int = 0
    """Training lines of synthetic, or receipts of receipts and varied-receipts, to
    generate; 0 takes the usual number."""
    texts: File = None
    """Texts of your own, such as annotations that you may use, one a line in UTF-8:
    about half of the lines of synthetic and synthetic-tiny then say them. A model may
    give away what it learnt."""
    out: Out = None
    json: Json = False

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
        return is_tiny(self.preset)

    @property
    def run_folder(self) -> Path:
        """Where `train` puts a run of this preset."""
        return run_folder("ocr", self.preset)

    def model_folder(self, model: Path | None) -> Path:
        """The model that a verb names, else the preset's, else the shipped one."""
        from coursepkg.projects.ocr.predict import DEFAULT

        return model or (self.run_folder if self.preset else DEFAULT)


CommonOptions = tyro.conf.OmitArgPrefixes[Common]


@dataclass(frozen=True)
class Audit:
    """Look at labelled lines: faults of the table, bad texts, repeated ones, leaks;
    exit 1 where the split leaks.
    """  # noqa: D205 - the help of the command line

    common: CommonOptions = field(default_factory=Common)


@dataclass(frozen=True)
class Describe:
    """Print the statistics of the data and the parameters of the model."""

    common: CommonOptions = field(default_factory=Common)


@dataclass(frozen=True)
class Pack:
    """Cut or draw all lines once and store them at a model's height; then train with
    --data FOLDER.
    """  # noqa: D205 - the help of the command line

    common: CommonOptions = field(default_factory=Common)
    height: int = 0
    """Height of the pictures in pixels; 0 takes that of the preset."""
    box_width: int | None = None
    """Width that every picture is squeezed to; 0 keeps the proportions. The preset
    decides if it is not given."""


@dataclass(frozen=True)
class Train:
    """Train a recogniser. The preset gives every setting of the recipe its default."""

    common: CommonOptions = field(default_factory=Common)
    recipe: tyro.conf.OmitArgPrefixes[Recipe] = field(
        default_factory=lambda: PRESETS["tiny"]
    )
    """All that decides the model besides data and seed."""
    seed: int = 0
    """Of weights, order and dropout."""
    start: Folder = None
    """Begin with the weights and the characters of the model in this folder
    (fine-tuning); `default` is the one that ships. Without --preset the sizes and the
    reading are those of that model."""
    resume: Resume = False
    threads: TrainThreads = 0

    @staticmethod
    def defaults(arguments: Sequence[str]) -> "Train":
        """The options with the recipe of the preset, or of the model to begin with."""
        from coursepkg.projects.ocr.fine_tuning import recipe_to_start

        begun = recipe_to_start(arguments)
        return Train(recipe=begun or preset_in(arguments, PRESETS))


@dataclass(frozen=True)
class Evaluate:
    """Score a model on a part of a corpus, or detector and model on whole pages."""

    common: CommonOptions = field(default_factory=Common)
    model: ModelOrExport = None
    pages: str = ""
    """Score whole pages instead of lines: vi_receipts, receipts or varied-receipts for
    generated ones (as many as --generate says), or a folder of pictures, each with its
    words in a NAME.txt: x1,y1,x2,y2,x3,y3,x4,y4,text a line. --out then gets numbers in
    a pages_NAME.json, and, unless --worst is 0, the texts that were read and the worst
    pages."""
    baselines: tuple[Literal["rapidocr", "tesseract"], ...] = ()
    """What else reads the same pages in the same run: rapidocr's own pipeline;
    Tesseract with its Vietnamese model, in four ways of page segmentation."""
    part: ScoredPart = "dev"
    reader: ReaderKind | None = None
    """Who reads: the CTC head, the decoder, or both. The model's recipe decides if it
    is not given."""
    beam_size: BeamSize = None
    second_look: SecondLook = None
    precision: Precision = "32-true"
    batch_size: int = 64
    """Lines encoded at once."""
    limit: int = 0
    """Score only so many lines of the part, or pages, the first ones; 0 takes all. The
    signature says so."""
    worst: int = 100
    """Most readings on the page of the worst ones, which --out gets; or most pages."""
    worst_by: Literal["error", "confidence"] = "error"
    """What puts a reading on that page: its errors; or how unsure the model is, as
    where nobody knows what is right."""


@dataclass(frozen=True)
class EvaluateFields:
    """Score the fields found on receipts whose lines or fields are known: shop,
    address, time, total.
    """  # noqa: D205 - the help of the command line

    data: str = "mc-ocr"
    """mc-ocr, whose table holds the lines with a field alone; receipts, generated ones
    with all of their lines; varied-receipts, with more layouts; photographs of
    generated receipts, read by the detector and a recogniser; varied-photographs, of
    varied receipts with worn print and paper; or a folder: with a JSON export of Label
    Studio or a table in the form of MC-OCR, whose true lines are taken, or with
    photographs and a fields.csv, which are read: file,total,date,seller,address, a
    receipt a line, as a.jpg,45000,2021-01-16,Quán Phở,Huế. Where mc-ocr is missing,
    receipts stand in for it."""
    split: FieldSplit = "auto"
    part: ScoredPart = "dev"
    generate: int = 0
    """Receipts or photographs to generate; 0 is 200 receipts or 60 photographs."""
    model: Folder = None
    """Also score the model in this folder, which `train-fields` wrote, and compare it
    with the rules on the same receipts."""
    recognizer: Annotated[
        Path | None,
        tyro.conf.arg(
            metavar="FOLDER",
            help="Read photographs by the model in this folder, which `train` or "
            "`export` wrote; without it by the one that ships.",
        ),
    ] = None
    out: File = None
    """Write the JSON document here."""
    json: Json = False

    def __post_init__(self) -> None:
        check_count("--generate", self.generate, least=0)


@dataclass(frozen=True)
class TrainFields:
    """Train a small Transformer that labels the lines of a receipt: shop, address,
    time, total.
    """  # noqa: D205 - the help of the command line

    data: str = "receipts"
    """receipts, generated ones with all of their lines; varied-receipts, with more
    layouts; mc-ocr; or a folder with a JSON export of Label Studio or a table in the
    form of MC-OCR. Where mc-ocr is missing, receipts stand in for it."""
    split: FieldSplit = "auto"
    generate: int = 0
    """Receipts to generate; 0 is 2,000."""
    epochs: int = 20
    """Passes over the training part."""
    seed: int = 0
    """Of weights, order and dropout."""
    out: Out = None
    resume: Resume = False
    json: Json = False

    def __post_init__(self) -> None:
        check_count("--generate", self.generate, least=0)


@dataclass(frozen=True)
class Export:
    """Write encoder and CTC head as one program that PyTorch or onnxruntime runs
    without this package.
    """  # noqa: D205 - the help of the command line

    common: CommonOptions = field(default_factory=Common)
    model: Model = None
    format: ExportFormat = "pt2"


@dataclass(frozen=True)
class ReadOptions:
    """How a page is read."""

    min_score: float = 0.0
    """Boxes that the detector is less sure of are left out, in [0, 1]."""
    min_confidence: float = 0.0
    """Lines that the recogniser is less sure of are left out, in [0, 1]."""
    reader: ReaderKind | None = None
    """Who reads: the CTC head (fastest), the decoder, or both. The model's recipe
    decides if it is not given."""
    beam_size: BeamSize = None
    second_look: SecondLook = None
    batch_size: int = 64
    """Lines encoded at once; it changes the time and never the result."""
    word_gap: float = WORD_GAP
    """Boxes of one row are one line up to this gap between their letters, in heights of
    the lower letters."""
    margin: float = 0.0
    """Added to each box on every side before it is cut out, in heights of the line,
    from 0 to 1."""
    upside_down: tyro.conf.FlagCreatePairsOff[bool] = True
    """Do not look whether what reads badly stands upside down."""

    def __post_init__(self) -> None:
        for name in ("min_score", "min_confidence"):
            check_share(flag_of(name), getattr(self, name))
        check_finite("--word-gap", self.word_gap)
        check_field(self, "word_gap", self.word_gap >= 0, "at least 0")
        check_share("--margin", self.margin)
        check_count("--batch-size", self.batch_size)
        known = f"one of {', '.join(READERS)}"
        check_field(self, "reader", self.reader in (None, *READERS), known)
        if self.beam_size is not None:
            check_count("--beam-size", self.beam_size)
        if self.second_look is not None:
            check_share("--second-look", self.second_look)


def reading_options(options: Evaluate | ReadOptions) -> dict[str, Any]:
    """Who reads and how, as `Recognizer.read_lines` takes it."""
    names = ("reader", "beam_size", "second_look")
    return {name: getattr(options, name) for name in names}


def load_recognizer(folder: Path, precision: str) -> "Recognizer | ExportedReader":
    """What reads lines by a folder that `train` or `export` wrote.

    Args:
        folder: the folder.
        precision: of a trained model, see `Recognizer`.

    Raises:
        ImportError: it is an ONNX export, and onnxruntime is not installed.
        FileNotFoundError: it holds neither, or a file is missing.
        ValueError: a file is damaged, or an export cannot read in this precision.
    """
    from coursepkg.projects.ocr.predict import Recognizer

    if not (folder / "model").is_dir():
        from coursepkg.projects.ocr.export import ExportedReader, is_export

        if is_export(folder):
            if precision != "32-true":
                raise ValueError(
                    f"--precision {precision} is for trained models, and an export"
                    " computes in float32; leave it out, or take the model itself"
                )
            return ExportedReader(folder)
    return Recognizer.load(folder, precision=precision)


@dataclass(frozen=True)
class Predict:
    """Read photographs, scans and PDFs, or folders of them, and print or write what
    they say.
    """  # noqa: D205 - the help of the command line

    inputs: Inputs = ()
    """Pictures, PDFs, TIFFs of several pages, and folders."""
    common: CommonOptions = field(default_factory=Common)
    read: tyro.conf.OmitArgPrefixes[ReadOptions] = field(default_factory=ReadOptions)
    """How a page is read."""
    model: ModelOrExport = None
    precision: Precision = "32-true"
    fields: Folder = None
    """Find the fields of a receipt by the model in this folder, which `train-fields`
    wrote, in place of the rules."""
    text: File = None
    """Write plain text here."""
    overlay: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """Draw boxes and texts here: a .png of one picture, a folder for several."""
    reference: File = None
    """What the input says, as a UTF-8 text file: also print the bag-of-words F1."""
    lines: Flag = False
    """The pictures show one line of text each; no detector is needed."""
    recursive: Recursive = False
    dpi: int = 200
    """Pixels to the inch at which the pages of PDFs are drawn, from 36 to 1200."""
    engine: EngineName = "onnxruntime"
    """What finds the text."""
    side: int = DetectorSettings.side
    """Longer side of the picture as the detector sees it, in pixels."""
    threads: int = 0
    """CPU threads; 0 is as many as help, at most two for the detector."""
