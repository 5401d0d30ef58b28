"""Options of the verbs that translation alone has: studies, synthetic pairs."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from coursepkg.app.options import Flag, Folder, Json, Resume
from coursepkg.processor import check_threads
from coursepkg.projects.translation.commands import (
    Common,
    CommonOptions,
    Search,
    SearchOptions,
)
from coursepkg.projects.translation.recipe import LanguageRecipe
from coursepkg.validation import check_count, check_finite

if TYPE_CHECKING:
    from coursepkg.projects.translation.recipe import Recipe
    from coursepkg.projects.translation.studies.decoding_study import Method

TranslatorFolder = Annotated[
    Path | None,
    tyro.conf.arg(
        metavar="FOLDER",
        help="Folder of the translator. Without it that of --preset, and without both "
        "the model that ships.",
    ),
]
Weights = Annotated[tuple[float, ...], tyro.conf.arg(metavar="WEIGHT...")]
Settings = Annotated[tuple[str, ...], tyro.conf.arg(name="set", metavar="NAME=VALUE")]


@dataclass(frozen=True)
class LearnDictionary:
    """Learn which words translate each other, from the training part alone, and write
    them to --out as TSV.
    """  # noqa: D205

    common: CommonOptions = field(default_factory=Common)


@dataclass(frozen=True)
class LanguageModelTrain:
    """Train a language model of --to, in the vocabulary of a translator.

    It learns the targets of the training part.
    """

    common: CommonOptions = field(default_factory=Common)
    model: TranslatorFolder = None
    recipe: tyro.conf.OmitArgPrefixes[LanguageRecipe] = field(
        default_factory=LanguageRecipe
    )
    """Sizes and training."""
    seed: int = 0
    """Of weights, order and dropout."""
    resume: Resume = False


@dataclass(frozen=True)
class Rerank:
    """Choose among the n best translations by other models.

    Weights come from half of dev, scores from the other.

    Give a language model of --to, or a model that translates back, or both.
    """

    common: CommonOptions = field(default_factory=Common)
    model: TranslatorFolder = None
    lm: Folder = None
    """Folder that `lm-train` wrote with the same translator."""
    reverse_model: Folder = None
    """Folder of a translator from --to into --from; may be that of --model if it knows
    both directions."""
    reverse_weight: Weights = ()
    """What to try for log p(x | y) of the reverse model, several values or one; a grid
    from 0 to 1 if none is given."""
    n_best: int = 8
    """Beams of the search, and translations in each list."""
    limit: int = 0
    """Take only so many sentences of each half, the first ones; 0 takes all."""
    batch_size: int = 64
    """Sentences at once in the search."""
    neighbours: Flag = False
    """Search with the neighbours that `neighbours` stored with the model."""


@dataclass(frozen=True)
class DecodeStudy:
    """Decode the dev part in every way: greedy, beams, sampling.

    Scores, lengths, variety and time are compared.
    """

    common: CommonOptions = field(default_factory=Common)
    model: TranslatorFolder = None
    seeds: int = 3
    """Draws of each way to sample."""
    limit: int = 0
    """Take only so many sentences of the dev part, the first ones; 0 takes all."""
    batch_size: int = 64
    """Sentences at once."""


@dataclass(frozen=True)
class Neighbours:
    """Give a model a datastore of its training part, tuned on dev.

    Half of dev chooses weight and temperature, the other half judges. The datastore
    goes into the folder of the run; `evaluate`, `predict` and `rerank` use it with
    --neighbours.
    """

    common: CommonOptions = field(default_factory=Common)
    model: Folder = None
    """Folder that `train` wrote; without it that of --preset."""
    weights: Weights = ()
    """Weights of the neighbours to try, in [0, 1]; 0.2 to 0.5 if none is given. The
    model alone is always tried."""
    temperatures: Annotated[tuple[float, ...], tyro.conf.arg(metavar="T...")] = ()
    """Temperatures of their squared distances to try, above 0; 5, 10 and 20 if none is
    given."""
    k: Annotated[int, tyro.conf.arg(aliases=["-k"])] = 16
    """Neighbours of each state."""
    limit: int = 0
    """Take only so many sentences of each half of dev, the first ones; 0 takes all."""
    batch_size: int = 64
    """Sentences at once."""


@dataclass(frozen=True)
class Calibrate:
    """Fit the confidence of a model on a dev part, in all its directions.

    Run-on sentences made of the dev part are fitted on as well. The confidence goes
    into the model's folder as confidence.json; `predict` then calls translations
    doubtful that are more likely unusable than usable.
    """

    model: Folder = None
    """Folder that `train` wrote; it must be given."""
    data: str = "open"
    """Corpus or own data whose dev part is translated."""
    batch_size: int = 64
    """Sentences at once."""
    json: Json = False


@dataclass(frozen=True)
class ConfigSearch:
    """Try many settings of a recipe, each in a short training run.

    They are ordered by BLEU on the dev part.
    """

    common: CommonOptions = field(default_factory=Common)
    grid: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME=VALUE,VALUE...")] = ()
    """Values to try in every combination, such as vocab-size=4000,8000 d-model=192,256.
    """
    random: int = 0
    """Draw this many combinations from --grid and --range instead; 0 takes every
    combination of --grid."""
    ranges: Annotated[
        tuple[str, ...], tyro.conf.arg(name="range", metavar="NAME=LOW..HIGH[:log]")
    ] = ()
    """Ranges to draw from, such as learning-rate=3e-4..3e-3:log dropout=0.1..0.4; they
    need --random."""
    fixed: Settings = ()
    """Settings that differ from the preset in every trial."""
    max_seconds: float | None = None
    """Wall-clock seconds of training for each trial. Without it the preset's."""
    max_epochs: int | None = None
    """Most epochs of each trial. Without it the preset's."""
    seed: int = 0
    """Of the drawn combinations, and of every training run."""
    threads: int = 0
    """CPU threads; 0 is one for each core that is free to use."""

    def __post_init__(self) -> None:
        for name in ("random", "seed"):
            check_count(f"--{name}", getattr(self, name), least=0)
        check_threads(self.threads)


@dataclass(frozen=True)
class Ladder:
    """Train the rows of the ablation ladder for the same time each, or until each is
    done.

    A table says what each change gave on the dev part.
    """  # noqa: D205

    common: CommonOptions = field(default_factory=Common)
    rows: Annotated[tuple[str, ...], tyro.conf.arg(metavar="NAME...")] = ()
    """Rows to make, see --list; all of them if none is given. A row whose model another
    one needs comes with it."""
    seeds: Annotated[tuple[int, ...], tyro.conf.arg(metavar="SEED...")] = (0,)
    """Of weights, order and dropout; every row is made once for each."""
    seconds: float = 480.0
    """Seconds of training for each row, by the clock."""
    clock: Literal["wall", "cpu"] = "wall"
    """What the seconds count: time on the wall, or CPU time, which other programs do
    not use up; with --threads 1."""
    converged: Flag = False
    """Train each row until its dev BLEU has not risen for as many validations as the
    preset's patience, whatever time it takes. A row that was cut off goes on."""
    tune_rate: Flag = False
    """Train nothing but short trials of three learning rates a row, with seed 0. The
    one that is best on dev is stored, and --converged trains the row with it."""
    fixed: Settings = ()
    """Settings that differ from the preset in every row that begins with it."""
    results: Folder = None
    """Where the numbers are stored, one file a row and seed; in a checkout its own
    book/_data/translation. What is there is never overwritten."""
    list: Flag = False
    """Only print the rows, with what is stored of each."""
    threads: int = 0
    """CPU threads; 0 is one for each core that is free to use."""

    def __post_init__(self) -> None:
        from torch.cuda import is_available

        from coursepkg.projects.translation.ladder.rows import LADDER

        check_finite("--seconds", self.seconds)
        check_threads(self.threads)
        if not self.seconds > 0:
            raise ValueError(f"--seconds must be above 0, got {self.seconds}")
        if self.converged and self.seconds != Ladder.seconds:
            raise ValueError("--converged has no limit of time; leave --seconds out")
        if self.tune_rate and not self.converged:
            raise ValueError("--tune-rate needs --converged, which takes its rates")
        if self.clock == "cpu" and self.threads != 1:
            raise ValueError(
                "--clock cpu counts the time of all threads together: give --threads 1"
                " with it"
            )
        if self.clock == "cpu" and is_available():
            raise ValueError(
                "--clock cpu counts nothing that a GPU does; leave it out here"
            )
        if not self.seeds:
            raise ValueError("--seeds needs at least one seed")
        for seed in self.seeds:
            check_count("--seeds", seed, least=0)
        for name in self.rows:
            LADDER.row(name)


@dataclass(frozen=True)
class Draws:
    """Whether the model searches for its sentences or draws them."""

    sample: Flag = False
    """Draw the tokens at random instead of searching."""
    temperature: float = 1.0
    """Of the draws."""
    top_k: int = 0
    """Draw among so many tokens; 0 draws among all."""
    seed: int = 0
    """Of the draws."""

    def method(self, search: Search, recipe: "Recipe") -> "Method":
        """How to decode by these options, those of the search, and else the recipe."""
        from coursepkg.projects.translation.studies.decoding_study import Method

        drawn: dict[str, Any] = {"temperature": self.temperature, "seed": self.seed}
        drawn |= {"top_k": self.top_k or None}
        given, penalty = search.beam_size, search.length_penalty
        if search.reverse_weight:
            raise ValueError(
                "--reverse-weight is for predict and evaluate; leave it out"
            )
        if not self.sample:
            beams = recipe.beam_size if given is None else given
            alpha = recipe.length_penalty if penalty is None else penalty
            return Method(beams, alpha, **drawn)
        if given not in (None, 1):
            raise ValueError(
                "--sample takes no --beam-size: a draw has no beams; leave one of the"
                " two out"
            )
        if penalty is not None:
            raise ValueError(
                "--sample takes no --length-penalty: a draw compares no beams; leave"
                " one of the two out"
            )
        return Method(sample=True, **drawn)


DrawOptions = tyro.conf.OmitArgPrefixes[Draws]


@dataclass(frozen=True)
class BackTranslate:
    """Make training pairs for --from and --to out of text in the language --to alone.

    The model must translate the other way: a run trained with --reverse, or with --from
    and --to exchanged. Sentences of a dev or test part are left out, also of a --data
    of yours. A command that was stopped and is given again goes on where it
    was.
    """

    common: CommonOptions = field(default_factory=Common)
    search: SearchOptions = field(default_factory=Search)
    draws: DrawOptions = field(default_factory=Draws)
    mono: Annotated[str, tyro.conf.arg(metavar="FILE|CORPUS")] = "en-vi"
    """Text in the language --to: a file of one sentence a line, the training part of a
    corpus that --data names, or wikipedia (Vietnamese)."""
    skip: int = 0
    """Leave out so many sentences first, those that a call before has taken."""
    limit: int = 0
    """Take only so many sentences, the next ones; 0 takes all."""


@dataclass(frozen=True)
class RoundTrip:
    """Translate training pairs there and back, for `train --round-trips`.

    One pair comes out for each training pair that fits the model. The run that takes
    them must have this model's vocabulary and longest sentence: the same data and
    settings of the text, or --start with this model. A command that was stopped and is
    given again goes on where it was.
    """

    common: CommonOptions = field(default_factory=Common)
    search: SearchOptions = field(default_factory=Search)
    draws: DrawOptions = field(default_factory=Draws)
