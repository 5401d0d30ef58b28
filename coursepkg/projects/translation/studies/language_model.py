"""A language model of the target language, in the translator's vocabulary.

OUT/run/       logs and checkpoints, see `coursepkg.training.loop`
OUT/model/     the finished model: the weights of the best validation
"""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from coursepkg.app.jobs import chunks
from coursepkg.app.model_folder import default_device
from coursepkg.app.output import print_json, required_out
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.language_model import LanguageModel
from coursepkg.data.batching import Pair, TokenBatches
from coursepkg.decoding.rerank import token_log_probs
from coursepkg.projects.translation.chapter_helpers import LanguageTask
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair, to_model
from coursepkg.projects.translation.evaluate import dev_halves
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.recipe import LanguageRecipe
from coursepkg.projects.translation.studies.measured_run import open_system
from coursepkg.text.languages import language_of
from coursepkg.text.spacing import split_characters
from coursepkg.text.vocabulary import UNK
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import History, fit
from coursepkg.training.saved_model import load_model, restore, save_model
from coursepkg.training.schedules import inverse_sqrt
from coursepkg.training.seed import set_seed

if TYPE_CHECKING:
    from coursepkg.projects.translation.study_commands import LanguageModelTrain

BATCH = 64
"""Sentences that are scored at once."""


@dataclass(frozen=True)
class Perplexity:
    """How well a language model predicts some sentences."""

    log_prob: float
    """Sum of the natural log-probabilities of all their tokens, EOS included."""
    n_tokens: int
    """Subwords, one EOS a sentence included."""
    n_words: int
    """Words between spaces, of Chinese characters, and one end a sentence."""

    @property
    def per_token(self) -> float:
        """exp(-log_prob / n_tokens): comparable among models of one vocabulary only."""
        return math.exp(-self.log_prob / self.n_tokens)

    @property
    def per_word(self) -> float:
        """exp(-log_prob / n_words): comparable among vocabularies."""
        return math.exp(-self.log_prob / self.n_words)

    def __str__(self) -> str:
        return (
            f"perplexity {self.per_token:.2f} a token ({self.n_tokens} with ends), "
            f"{self.per_word:.2f} a word ({self.n_words} with ends)"
        )

    def as_json(self) -> dict[str, float]:
        """Counts and both perplexities."""
        return asdict(self) | {"per_token": self.per_token, "per_word": self.per_word}


def train_language_model(
    translator: Translator,
    parts: Parts,
    out: Path,
    *,
    recipe: LanguageRecipe | None = None,
    seed: int = 0,
    resume: bool = False,
    clock: str = "wall",
    progress: bool = True,
) -> tuple[LanguageModel, dict[str, Any], History]:
    """Train on the targets of the training part, and store the model in `out`.

    Training stops by the perplexity on one half of the dev part, see `dev_halves`; the
    other half, on which reranking is scored, is looked at once at the end.

    Args:
        translator: whose target vocabulary and longest target the model takes.
        parts: the corpus, its targets in the language to model.
        recipe: sizes and training; None takes the defaults.
        clock: what the limit in seconds counts, see `TrainConfig`.

    Returns:
        the model in eval mode, what is stored beside it, and the history.

    Raises:
        ValueError: `out` holds a finished model, or another run.
    """
    recipe = LanguageRecipe() if recipe is None else recipe
    if (out / "model").exists():
        raise ValueError(
            f"{out} holds a finished language model already; choose another --out"
        )
    choose, score = dev_halves(parts)
    fits = [
        ids
        for ids in _ids(translator, parts.train, parts.target)
        if len(ids) < translator.recipe.max_len
    ]
    if not fits:
        raise ValueError(
            f"no target of {parts.corpus} fits into {translator.recipe.max_len} tokens"
        )
    set_seed(seed)
    config = TransformerConfig.modern(
        len(translator.subwords.target),
        d_model=recipe.d_model,
        n_heads=recipe.n_heads,
        n_decoder_layers=recipe.n_layers,
        d_ff=recipe.d_ff,
        dropout_p=recipe.dropout,
        max_len=translator.recipe.max_len,
    )
    model = LanguageModel(config).to(default_device())
    # The batches want pairs; the one token that stands for a source is not read.
    pairs: list[Pair] = [((UNK,), ids) for ids in fits]
    history = fit(
        model,
        LanguageTask(),
        TokenBatches(pairs, recipe.batch_tokens, seed),
        config=TrainConfig(
            max_epochs=recipe.max_epochs,
            max_seconds=recipe.max_seconds,
            clock=clock,
            learning_rate=inverse_sqrt(recipe.learning_rate, recipe.warmup),
            weight_decay=recipe.weight_decay,
            select_by="perplexity",
            mode="min",
            patience=recipe.patience,
            seed=seed,
            progress=progress,
        ),
        out=out / "run",
        validate=lambda network: {
            "perplexity": (
                perplexity(network, translator, choose, parts.target).per_token
            )
        },
        resume=resume,
    )
    restore(model, out / "run", "last" if history.best_step is None else "best")
    model.eval()
    halves = {"half of dev to choose with": choose, "half of dev to score on": score}
    card = {
        "vocabulary": translator.subwords.fingerprints,
        "language": parts.target,
        "corpora": [parts.corpus],
        "recipe": recipe.described(),
        "seed": seed,
        "n_sentences": len(fits),
        "left_out_as_too_long": len(parts.train) - len(fits),
        "perplexity": {
            name: perplexity(model, translator, half, parts.target).as_json()
            for name, half in halves.items()
        },
    }
    save_model(out / "model", model, **card)
    return model, card, history


def load_language_model(
    folder: Path, translator: Translator, language: str
) -> LanguageModel:
    """The model that `train_language_model` stored.

    Raises:
        FileNotFoundError: there is none.
        ValueError: it has another vocabulary than the translator, or is of another
            language.
    """
    model, _ = load_model(
        folder / "model",
        lambda fields: LanguageModel(TransformerConfig(**fields)),
        vocabulary=translator.subwords.fingerprints,
        language=language,
    )
    assert isinstance(model, LanguageModel)
    return model.to(default_device())


@torch.inference_mode()
def perplexity(
    model: nn.Module,
    translator: Translator,
    pairs: Sequence[SentencePair],
    language: str,
) -> Perplexity:
    """Of the targets of some pairs; what is longer than the model takes is cut there.

    Args:
        model: a `LanguageModel` in eval mode.
        translator: whose vocabulary it has.
        pairs: at least one.
        language: of the targets.
    """
    most = translator.recipe.max_len
    ids = [one[: most - 1] for one in _ids(translator, pairs, language)]
    device = next(model.parameters()).device
    total = 0.0
    for batch in chunks(sorted(ids, key=len), BATCH):
        total += token_log_probs(model, batch, device=device).double().sum().item()
    n_words = sum(_n_words(pair.target, language) + 1 for pair in pairs)
    return Perplexity(total, sum(len(one) + 1 for one in ids), n_words)


def _n_words(text: str, language: str) -> int:
    line = to_model(text, language)
    return len(split_characters(line) if language_of(language).is_han else line.split())


def _ids(
    translator: Translator, pairs: Sequence[SentencePair], language: str
) -> list[list[int]]:
    return translator.subwords.encode_targets([pair.target for pair in pairs], language)


def lm_train(options: "LanguageModelTrain") -> int:
    """Train, and print the perplexity of both halves of the dev part."""
    common = options.common
    out = required_out(common.out)
    translator, _, parts = open_system(common, options.model)
    _, card, history = train_language_model(
        translator,
        parts,
        out,
        recipe=options.recipe,
        seed=options.seed,
        resume=options.resume,
    )
    print(
        f"{card['n_sentences']} sentences; {card['left_out_as_too_long']} left out"
        " as too long for the model"
    )
    for name, one in card["perplexity"].items():
        token, word = one["per_token"], one["per_word"]
        print(f"{name}: perplexity {token:.2f} a token, {word:.2f} a word")
    print(
        f"language model in {out}; rerank with: coursepkg translation rerank --lm {out}"
    )
    if common.json:
        card |= {"seconds": history.seconds, "stopped": history.stopped}
        print_json({"out": str(out), "card": card})
    return 0
