"""Options of `coursepkg translation t5-pretrain`, `t5-train` and `t5-predict`."""

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from coursepkg.app.options import Flag, Json
from coursepkg.app.output import log_to_stderr, print_json
from coursepkg.text.languages import LANGUAGES
from coursepkg.validation import check_count, flag_of

if TYPE_CHECKING:
    Language = str
else:
    Language = Literal[(*LANGUAGES, "nom")]
MODELS = {"tiny": "tiny", "report": "minhtoan/t5-translate-vietnamese-nom"}
"""The model that each preset begins with."""


@dataclass(frozen=True)
class T5Pretrain:
    """Pretrain a small T5 on Vietnamese sentences: it is to write what was cut out.

    FOLDER/model is for `t5-train --model`; FOLDER/start is the same model before, with
    random weights. Sentences of the dev and test parts of all corpora are left out.
    """

    out: Annotated[Path, tyro.conf.arg(metavar="FOLDER")]
    """Folder of the run."""
    mono: Annotated[str, tyro.conf.arg(metavar="FILE|CORPUS")] = "wikipedia"
    """Sentences: wikipedia, the Vietnamese of a corpus's training part, or a file of
    one sentence a line.
    """
    limit: int = 0
    """Take only so many sentences, the first ones; 0 takes all."""
    also: Annotated[str, tyro.conf.arg(metavar="CORPUS")] = ""
    """Learn the vocabulary from the training part of this corpus, too, which the model
    is to be fine-tuned on: a name or path as `t5-train --data` takes it.
    """
    source: Annotated[Language, tyro.conf.arg(name="from")] = "en"
    """One language of --also."""
    target: Annotated[Language, tyro.conf.arg(name="to")] = "vi"
    """Its other language."""
    vocab_size: int = 8000
    """Most pieces of the vocabulary, sentinels not counted."""
    d_model: int = 128
    """Width of the model."""
    d_ff: int = 256
    """Width inside the feed-forward networks."""
    n_heads: int = 4
    """Attention heads; --d-model must be a multiple of them."""
    n_layers: int = 2
    """Layers of the encoder, and again of the decoder."""
    epochs: int = 10
    """Most passes over the sentences; each draws other spans."""
    learning_rate: float = 4e-3
    """The highest learning rate."""
    batch_size: int = 64
    """Sentences of a step."""
    precision: str = "32-true"
    """32-true or bf16-mixed. Never fp16: a T5 gives NaN there."""
    max_seconds: float | None = None
    """Stop training after so many seconds."""
    seed: int = 0
    """Of weights, order and spans."""
    resume: Flag = False
    """Go on with the run in FOLDER."""
    json: Json = False

    def __post_init__(self) -> None:
        for name in ("vocab_size", "d_model", "d_ff", "n_heads", "n_layers"):
            check_count(flag_of(name), getattr(self, name))
        if self.d_model % self.n_heads:
            raise ValueError(
                f"--d-model must be a multiple of --n-heads, got {self.d_model} and"
                f" {self.n_heads}"
            )

    def run(self) -> int:
        """Build, pretrain, save; return 0."""
        from coursepkg.projects.translation.t5.pretrain import (
            PreTraining,
            run_pretraining,
        )

        names = ("epochs", "learning_rate", "batch_size", "precision", "seed")
        result = run_pretraining(
            PreTraining(**{name: getattr(self, name) for name in names}),
            mono=self.mono,
            out=self.out,
            sizes={
                "d_model": self.d_model,
                "d_ff": self.d_ff,
                "d_kv": self.d_model // self.n_heads,
                "num_heads": self.n_heads,
                "num_layers": self.n_layers,
            },
            also=self.also,
            source=self.source,
            target=self.target,
            vocab_size=self.vocab_size,
            limit=self.limit,
            max_seconds=self.max_seconds,
            resume=self.resume,
        )
        if self.json:
            print_json(result)
        return 0


@dataclass(frozen=True)
class T5Train:
    """Fine-tune a T5 to translate, or to turn Nom into quoc ngu and back."""

    out: Annotated[Path, tyro.conf.arg(metavar="FOLDER")]
    """Folder of the run; the model lies in FOLDER/model at the end."""
    preset: Literal["tiny", "report"] = "tiny"
    """tiny builds a small model and needs no network; report is the source report's:
    the Nom T5, 3 epochs.
    """
    model: str = ""
    """`tiny`, a folder, or a name on the Hugging Face Hub such as google/mt5-small;
    empty takes the preset's.
    """
    source: Annotated[Language, tyro.conf.arg(name="from")] = "nom"
    """Language or script to translate from."""
    target: Annotated[Language, tyro.conf.arg(name="to")] = "vi"
    """Language or script to translate into."""
    both_ways: Flag = False
    """Learn the other direction as well, in the same model; the prefix tells them
    apart.
    """
    data: str = "auto"
    """auto takes the corpus of the languages; zh-vi, en-vi, phrasebook, nom-vi,
    nom-lesson name one; a path names sentence pairs of your own, as `train` takes them.
    """
    epochs: int | None = None
    """Passes over the training part; the preset's unless given."""
    learning_rate: float | None = None
    """The highest learning rate; the preset's unless given."""
    batch_size: int | None = None
    """Sentence pairs of a step; the preset's unless given."""
    weight_decay: float | None = None
    """AdamW's decoupled decay; the preset's unless given."""
    precision: str = "32-true"
    """32-true or bf16-mixed. Never fp16: a T5 gives NaN there."""
    beam_size: int = 4
    """Beams of the search that the test part is translated with; 1 is greedy."""
    vocab_size: int = 4000
    """Most pieces of the tiny model's vocabulary."""
    n_train: int = 0
    """Take the first so many training pairs only; 0 takes all."""
    max_seconds: float | None = None
    """Stop training after so many seconds."""
    seed: int = 0
    """Of weights, order and dropout."""
    contest_rules: Flag = False
    """Refuse what the contest forbids: every pretrained model, and data from outside
    its training file.
    """
    resume: Flag = False
    """Go on with the run in FOLDER."""
    json: Json = False

    def run(self) -> int:
        """Report coverage, train, score, save; return 0."""
        from coursepkg.projects.translation.competition_rules import check_t5_rules
        from coursepkg.projects.translation.t5.run import run_training

        model = self.model or MODELS[self.preset]
        if self.contest_rules:
            check_t5_rules(model, self.source, self.target, self.data)
        result = run_training(
            self._settings(),
            model=model,
            source=self.source,
            target=self.target,
            both=self.both_ways,
            corpus=self.data,
            out=self.out,
            beam_size=self.beam_size,
            vocab_size=self.vocab_size,
            n_train=self.n_train,
            max_seconds=self.max_seconds,
            resume=self.resume,
        )
        if self.json:
            print_json(result)
        return 0

    def _settings(self) -> Any:
        from coursepkg.projects.translation.t5.train import PRESETS

        names = ("epochs", "learning_rate", "batch_size", "weight_decay")
        given = {name: getattr(self, name) for name in (*names, "precision", "seed")}
        changes = {name: value for name, value in given.items() if value is not None}
        return dataclasses.replace(PRESETS[self.preset], **changes)


@dataclass(frozen=True)
class T5Predict:
    """Translate with a T5: one text, or a file line by line."""

    model: str
    """The folder `model` of a run, another folder with a T5, or a name on the Hugging
    Face Hub.
    """
    source: Annotated[Language, tyro.conf.arg(name="from")] = "nom"
    """Language or script to translate from."""
    target: Annotated[Language, tyro.conf.arg(name="to")] = "vi"
    """Language or script to translate into."""
    text: str = ""
    """One text."""
    file: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """A UTF-8 file, one text a line."""
    out: Annotated[Path | None, tyro.conf.arg(metavar="FILE")] = None
    """Where the translations of a file go; a run that was stopped goes on where it was.
    """
    prefix: str | None = None
    """What stands in front of each source, where the model was trained with another
    text than the course's.
    """
    beam_size: int = 4
    """Beams of the search; 1 is greedy."""
    n_best: int = 1
    """Alternatives of one text, at most `--beam-size`."""
    max_tokens: int = 160
    """Most tokens of an output."""
    batch_size: int = 32
    """Lines side by side."""
    json: Json = False

    def __post_init__(self) -> None:
        if bool(self.text.strip()) == (self.file is not None):
            raise ValueError("give either --text TEXT or --file FILE")
        if (self.file is None) != (self.out is None):
            raise ValueError("--file FILE and --out FILE belong together")
        if self.file is not None and self.n_best > 1:
            raise ValueError(
                "--n-best goes with --text; a file gets one translation a line"
            )

    def run(self) -> int:
        """Translate and return 0."""
        from coursepkg.projects.translation.handlers.predict import translate_file
        from coursepkg.projects.translation.t5.predict import T5Translator
        from coursepkg.projects.translation.t5.text import prefix_of

        prefix_of(self.source, self.target)
        translator = T5Translator.load(self.model, prefix=self.prefix)
        translator.check_direction(self.source, self.target)
        options: dict[str, Any] = {
            "source": self.source,
            "target": self.target,
            "beam_size": self.beam_size,
            "max_tokens": self.max_tokens,
            "batch_size": self.batch_size,
        }
        result: dict[str, Any] = {
            "model": self.model,
            "from": self.source,
            "to": self.target,
        }
        if self.file is not None and self.out is not None:
            identity = {"model": translator.fingerprint}
            done = translate_file(
                translator,
                self.file,
                self.out,
                identity=identity,
                report=_log_progress,
                **options,
            )
            if done:
                log_to_stderr(
                    f"went on behind line {done}, where an earlier run had stopped"
                )
            result |= {"out": str(self.out), "resumed_after": done}
        else:
            (found,) = translator.translate([self.text], n_best=self.n_best, **options)
            print("\n".join(found.alternatives))
            result |= dataclasses.asdict(found)
        if self.json:
            print_json(result)
        return 0


def _log_progress(n_lines: int) -> None:
    log_to_stderr(f"{n_lines} lines")
