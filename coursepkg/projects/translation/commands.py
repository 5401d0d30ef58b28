"""The options of the six verbs of `coursepkg translation`."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from coursepkg.app.options import (
    File,
    Flag,
    Json,
    Model,
    ModelOrExport,
    Out,
    Part,
    Resume,
    preset_in,
    run_folder,
)
from coursepkg.app.options import TrainThreads as Threads
from coursepkg.projects.translation.recipe import PRESETS, Recipe
from coursepkg.text.languages import LANGUAGES, PAIRS

if TYPE_CHECKING:
    from coursepkg.projects.translation.corpora import Parts

    Language = str
else:
    Language = Literal[tuple(LANGUAGES)]
Prefix = Annotated[Path | None, tyro.conf.arg(metavar="PREFIX")]


@dataclass(frozen=True)
class Common:
    """What every verb takes."""

    preset: Literal["gru-baseline", "tiny", "plain", "small", "report"] | None = None
    """Settings to start from; the other verbs then take the run that `train` made by
    it."""
    source: Annotated[Language, tyro.conf.arg(name="from")] = "zh"
    """Language to translate from."""
    target: Annotated[Language, tyro.conf.arg(name="to")] = "vi"
    """Language to translate into."""
    data: Annotated[
        str,
        tyro.conf.arg(
            help=f"auto (the corpus of the two languages), {', '.join(PAIRS)}, open, "
            "open-everyday, open-documentation, open-interface, tatoeba, phrasebook or "
            "phrasebook-compositional; or your own sentence pairs: a folder with "
            "train.LANG for both languages or train.tsv, a .tsv or a .tmx file.",
            metavar="NAME|PATH",
        ),
    ] = "auto"
    out: Out = None
    json: Json = False

    def corpus(self) -> str:
        """`--data`; `auto` is the phrasebook for `tiny` and where nothing is named.

        Languages that the phrasebook does not have always take their own corpus.
        """
        is_tiny = self.preset in ("tiny", None)
        return "phrasebook" if is_tiny and self._leaves_corpus else self.data

    def corpus_of(self, model: Path | None) -> str:
        """`--data` to score a model on; `auto` is `open` for the one that ships."""
        is_shipped = self.preset is None and model is None
        if is_shipped and self._leaves_corpus:
            return "open"
        return self.data if self.preset is None else self.corpus()

    @property
    def _leaves_corpus(self) -> bool:
        """Whether the languages are to name the corpus, and the phrasebook has them."""
        from coursepkg.projects.translation.phrasebook.interlinear import (
            LANGUAGES as GENERATED,
        )

        return self.data == "auto" and {self.source, self.target} <= set(GENERATED)

    def parts(self) -> "Parts":
        """The corpus with its split; what was found while reading is printed."""
        return self._read(self.corpus())

    def parts_of(self, model: Path | None) -> "Parts":
        """The same of the corpus that a model is scored on."""
        return self._read(self.corpus_of(model))

    def _read(self, corpus: str) -> "Parts":
        from coursepkg.projects.translation.corpora import load_parts

        parts = load_parts(corpus, self.source, self.target)
        for note in parts.notes:
            print(f"note: {note}")
        return parts

    @property
    def run_folder(self) -> Path:
        """Where `train` puts a run of this preset and direction."""
        return run_folder("translation", self.preset, self.source, self.target)


@dataclass(frozen=True)
class Search:
    """Which trained model to use, and how it searches."""

    model: ModelOrExport = None
    beam_size: int | None = None
    """Beams; 1 is greedy. The model's recipe decides if it is not given."""
    length_penalty: float | None = None
    """Exponent of the length penalty. The model's recipe decides if it is not given."""
    reverse_weight: float | None = None
    """Weight of log p(source | translation) when predict and evaluate rank; 0 keeps the
    order of the search. The model's recipe decides if it is not given."""
    batch_size: int = 64
    """Sentences at once."""
    neighbours: Flag = False
    """Mix in the neighbours that `neighbours` stored with the model, with the settings
    that were best on dev."""
    ensemble: Annotated[tuple[Path, ...], tyro.conf.arg(metavar="FOLDER...")] = ()
    """Further models that decode together with the first one; of the same vocabulary,
    such as other seeds."""

    def options(self) -> dict[str, Any]:
        """What `Translator.translate` takes."""
        names = ("beam_size", "length_penalty", "reverse_weight", "batch_size")
        return {name: getattr(self, name) for name in names}


CommonOptions = tyro.conf.OmitArgPrefixes[Common]
SearchOptions = tyro.conf.OmitArgPrefixes[Search]


@dataclass(frozen=True)
class Audit:
    """Look for duplicates and bad rows, then for leakage; exit 1 where it leaks.

    The raw lines are audited first, then their split.
    """

    common: CommonOptions = field(default_factory=Common)
    random_split: Flag = False
    """Audit a random split of the raw lines instead, to see what it leaks."""


@dataclass(frozen=True)
class Describe:
    """Print the statistics of the data and the parameters of the model."""

    common: CommonOptions = field(default_factory=Common)


@dataclass(frozen=True)
class Train:
    """Train a model. The preset gives every setting of the recipe its default."""

    common: CommonOptions = field(default_factory=Common)
    recipe: tyro.conf.OmitArgPrefixes[Recipe] = field(
        default_factory=lambda: PRESETS["tiny"]
    )
    """All that decides the model besides data and seed."""
    seed: int = 0
    """Of weights, order and dropout."""
    also: tuple[Language, ...] = ()
    """Further languages to translate from, in the same model. Beside a --data of yours
    their sentences come from the corpus that --start learnt, or from that of the two
    languages; --also may then name --from, too."""
    extra: Prefix = None
    """Further training pairs: PREFIX.zh and PREFIX.vi, as `back-translate` writes them.
    """
    round_trips: Prefix = None
    """What came back for each training pair, for --versions round-trip: PREFIX.zh and
    PREFIX.vi."""
    start: Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")] = None
    """Begin with the weights and the vocabulary of the model in this folder
    (fine-tuning); `default` is the one that ships. Without --preset the sizes and the
    text settings are those of that model."""
    contest_rules: Flag = False
    """Refuse what the contest forbids: pretrained models, and data from outside its
    training file."""
    resume: Resume = False
    threads: Threads = 0

    @staticmethod
    def defaults(arguments: Sequence[str]) -> "Train":
        """The options with the recipe of the preset, or of the model to begin with."""
        from coursepkg.projects.translation.fine_tuning import recipe_to_start

        begun = recipe_to_start(arguments)
        return Train(recipe=begun or preset_in(arguments, PRESETS))


@dataclass(frozen=True)
class Evaluate:
    """Score a model on a part of a corpus, or translations that are there already."""

    common: CommonOptions = field(default_factory=Common)
    search: SearchOptions = field(default_factory=Search)
    part: Part = "dev"
    """Which part to score. The test part is for the last word, the train part for
    finding hard examples."""
    hypotheses: File = None
    """Score these lines instead of translating."""
    against: Annotated[Path | None, tyro.conf.arg(metavar="PATH")] = None
    """Compare with another system: the folder of a model, or a file of its
    translations."""
    limit: int = 0
    """Score only so many sentences of the part, the first ones; 0 takes all. The
    signature says so."""
    dictionary: File = None
    """Terms whose translations are known, as `dictionary` writes them; the report then
    names wrong terms."""
    repair: Flag = False
    """Repair numbers, terms and repetitions after decoding, and say how many."""
    hard: int = 0
    """With --part train, write so many pairs of lowest sentence BLEU to --out: hard.zh
    and hard.vi, to fine-tune on."""


@dataclass(frozen=True)
class Predict:
    """Translate a text or a file."""

    common: CommonOptions = field(default_factory=Common)
    search: SearchOptions = field(default_factory=Search)
    text: Annotated[tuple[str, ...], tyro.conf.arg(metavar="SENTENCE...")] = ()
    """One or more sentences."""
    file: File = None
    """A UTF-8 file, one sentence a line; a run that was stopped goes on where it was.
    """
    form: Literal["reader", "corpus", "contest", "scored"] = "reader"
    """How a file is written: as it is read, spaced as in training, as the contest's
    CSV, or with the confidence and a tab in front."""
    n_best: int = 1
    """Translations of each sentence of --text."""
    alignments: Flag = False
    """Also say which source word each word of the translation looked at most."""


@dataclass(frozen=True)
class Export:
    """Write a model for the CTranslate2 runtime, or for onnxruntime."""

    common: CommonOptions = field(default_factory=Common)
    model: Model = None
    format: Literal["ctranslate2", "onnx"] = "ctranslate2"
    """For CTranslate2, which also searches; or as two ONNX graphs, encoder and decoder
    step, which run in a browser too."""
    quantization: Literal["none", "int8", "float16", "bfloat16"] = "none"
    """How CTranslate2 stores its matrices."""
