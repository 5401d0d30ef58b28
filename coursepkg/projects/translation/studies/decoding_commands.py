"""The options of `coursepkg translation lm-train`, `rerank` and `decode-study`, and what they do."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from coursepkg.documents import print_json
from coursepkg.projects.options import Flag
from coursepkg.projects.translation.commands import Common, CommonOptions
from coursepkg.projects.translation.reranking.language_recipe import LanguageRecipe

if TYPE_CHECKING:
    from coursepkg.projects.translation.corpora import Parts
    from coursepkg.projects.translation.predict import Translator

Model = Annotated[Path | None, tyro.conf.arg(metavar="FOLDER")]


@dataclass(frozen=True)
class LanguageModelTrain:
    """Train a language model of --to on the targets of the training part, with the vocabulary of a translator."""

    common: CommonOptions = field(default_factory=Common)
    model: Model = None
    """Folder of the translator. Without it that of --preset, and without both the model that ships."""
    recipe: tyro.conf.OmitArgPrefixes[LanguageRecipe] = field(default_factory=LanguageRecipe)
    """Sizes and training."""
    seed: int = 0
    """Of weights, order and dropout."""
    resume: Flag = False
    """Go on with the run in --out."""

    def run(self) -> int:
        """Train, and print the perplexity of both halves of the dev part."""
        from coursepkg.projects.translation.reranking.language_model import train_language_model

        out = _needed(self.common.out, "the folder to write")
        translator, _, parts = _opened(self.common, self.model)
        _, card, history = train_language_model(
            translator, parts, out, recipe=self.recipe, seed=self.seed, resume=self.resume
        )
        print(
            f"{card['n_sentences']} sentences; {card['left_out_as_too_long']} left out as too long for the model"
        )
        for name, one in card["perplexity"].items():
            print(f"{name}: perplexity {one['per_token']:.2f} a token, {one['per_word']:.2f} a word")
        print(f"language model in {out}; rerank with: coursepkg translation rerank --lm {out}")
        if self.common.json:
            card |= {"seconds": history.seconds, "stopped": history.stopped}
            print_json({"out": str(out), "card": card})
        return 0


@dataclass(frozen=True)
class Rerank:
    """Choose among the n best translations by other models: weights from half of dev, scores from the other.

    Give a language model of --to, or a model that translates back, or both.
    """

    common: CommonOptions = field(default_factory=Common)
    model: Model = None
    """Folder of the translator. Without it that of --preset, and without both the model that ships."""
    lm: Model = None
    """Folder that `lm-train` wrote with the same translator."""
    reverse_model: Model = None
    """Folder of a translator from --to into --from; may be that of --model if it knows both directions."""
    reverse_weight: Annotated[tuple[float, ...], tyro.conf.arg(metavar="WEIGHT...")] = ()
    """What to try for log p(x | y) of the reverse model, several values or one; a grid from 0 to 1 if none is given."""
    n_best: int = 8
    """Beams of the search, and translations in each list."""
    limit: int = 0
    """Take only so many sentences of each half, the first ones; 0 takes all."""
    batch_size: int = 64
    """Sentences at once."""
    neighbours: Flag = False
    """Search with the neighbours that `neighbours` stored with the model."""

    def run(self) -> int:
        """Print the grid and the comparison; --out also writes them as a JSON file."""
        from coursepkg.arguments import check_count
        from coursepkg.projects.translation.neighbours import neighbours_settings
        from coursepkg.projects.translation.predict import Translator
        from coursepkg.projects.translation.reranking.language_model import load_language_model
        from coursepkg.projects.translation.reranking.rerank import REVERSE_WEIGHTS, rerank_study

        check_count("--n-best", self.n_best, least=2)
        check_count("--limit", self.limit, least=0)
        _needed(
            self.lm or self.reverse_model, "the folder that lm-train wrote", "--lm or --reverse-model FOLDER"
        )
        if self.reverse_weight and self.reverse_model is None:
            raise ValueError("--reverse-weight needs --reverse-model FOLDER, whose score it weighs")
        translator, name, parts = _opened(self.common, self.model, neighbours=self.neighbours)
        language_model = None if self.lm is None else load_language_model(self.lm, translator, parts.target)
        study = rerank_study(
            translator,
            language_model,
            parts,
            reverse=None if self.reverse_model is None else Translator.load(self.reverse_model),
            reverse_weights=self.reverse_weight or REVERSE_WEIGHTS,
            n_best=self.n_best,
            limit=self.limit,
            batch_size=self.batch_size,
        )
        names = {"lm": self.lm, "reverse_model": self.reverse_model}
        models = {key: path and path.name for key, path in names.items()}
        document = {"model": name, **models, "neighbours": neighbours_settings(translator), **study.as_json()}
        return _told(self.common, parts, str(study), document)


@dataclass(frozen=True)
class DecodeStudy:
    """Decode the dev part in every way: greedy, beams, sampling; compare scores, lengths, variety and time."""

    common: CommonOptions = field(default_factory=Common)
    model: Model = None
    """Folder of the translator. Without it that of --preset, and without both the model that ships."""
    seeds: int = 3
    """Draws of each way to sample."""
    limit: int = 0
    """Take only so many sentences of the dev part, the first ones; 0 takes all."""
    batch_size: int = 64
    """Sentences at once."""

    def run(self) -> int:
        """Print the table; --out also writes it as a JSON file, and beside it as text."""
        from coursepkg.arguments import check_count
        from coursepkg.projects.translation.studies.decoding_study import study_decoding, study_methods

        check_count("--seeds", self.seeds)
        check_count("--limit", self.limit, least=0)
        translator, name, parts = _opened(self.common, self.model)
        study = study_decoding(
            translator,
            parts,
            methods=study_methods(range(self.seeds)),
            limit=self.limit,
            batch_size=self.batch_size,
            report=lambda row: print(f"{row.method}: BLEU {row.bleu:.2f} in {row.seconds:.1f} s", flush=True),
        )
        return _told(self.common, parts, str(study), {"model": name, **study.as_json()})


def _needed(path: Path | None, what: str, flag: str = "--out FOLDER") -> Path:
    if path is None:
        raise ValueError(f"{flag} must be given, {what}")
    return path


def _opened(
    common: Common, model: Path | None, *, neighbours: bool = False
) -> "tuple[Translator, str, Parts]":
    """The translator, the name of its folder, and the corpus; what the corpus leaves out is printed."""
    from coursepkg.projects.translation.corpora import load_parts
    from coursepkg.projects.translation.predict_command import load_translator

    if common.out is not None and not common.out.absolute().parent.is_dir():
        raise ValueError(f"--out {common.out}: the folder does not exist; make it first")
    translator, folder = load_translator(common, model, neighbours=neighbours)
    parts = load_parts(common.corpus(model), common.source, common.target)
    for note in parts.notes:
        print(f"note: {note}")
    return translator, folder.name, parts


def _told(common: Common, parts: "Parts", text: str, document: dict[str, Any]) -> int:
    """Print a study, and write it where --out says: as JSON, and beside it as text."""
    from coursepkg.files import whole_file

    print(text)
    document = {"corpus": parts.corpus, "from": parts.source, "to": parts.target} | document
    if common.out is not None:
        content = json.dumps(document, ensure_ascii=False, indent=2) + "\n"
        for path, whole in ((common.out, content), (common.out.with_suffix(".txt"), text + "\n")):
            with whole_file(path) as file:
                file.write(whole.encode())
    if common.json:
        print_json(document)
    return 0
