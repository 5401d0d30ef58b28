"""Helpers of chapters: the phrasebook as ids, and models that learn it in seconds.

>>> lesson = Lesson.prepare("zh", "vi", n_train=8000)
>>> model = lesson.transformer()
>>> history = lesson.train(model, max_steps=300)
>>> lesson.translate(model, lesson.parts.test[:2])          # lists of tokens
"""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from coursepkg.app.jobs import chunks
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.language_model import LanguageModel
from coursepkg.blocks.transformer import Transformer
from coursepkg.data.batching import Pair, TextBatch, TokenBatches, make_batch
from coursepkg.decoding.generate import greedy
from coursepkg.decoding.step import Hypothesis
from coursepkg.projects.translation.synthetic import Phrasebook, Split, Triple
from coursepkg.projects.translation.task import TranslationTask
from coursepkg.text.vocabulary import Vocabulary
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import History, fit
from coursepkg.training.losses import label_smoothed_cross_entropy
from coursepkg.training.schedules import inverse_sqrt
from coursepkg.training.seed import set_seed
from coursepkg.training.task import Task

LONGEST = 32
"""Most tokens of a sentence with its special tokens; the longest of the phrasebook has
21."""

Decode = Callable[[Any, Tensor], list[Hypothesis]]
"""(model, source ids (B, S)) -> one hypothesis a sentence."""


@dataclass(frozen=True)
class Lesson:
    """Sentence pairs of two languages as word ids.

    Example:
        >>> lesson = Lesson.prepare("zh", "vi", n_train=8000)
        >>> model = lesson.transformer()
        >>> history = lesson.train(model, max_steps=300)
        >>> lesson.exact(model, lesson.parts.test)
    """

    source: str
    """Language to translate from: zh, en or vi."""
    target: str
    """Language to translate into."""
    source_words: Vocabulary
    """Of the training part alone."""
    target_words: Vocabulary
    """Of the training part alone."""
    parts: Split
    """Training, validation and test triples; combinations of words in the last two are
    new."""

    @classmethod
    def prepare(
        cls,
        source: str = "zh",
        target: str = "vi",
        *,
        n_train: int | None = None,
        seed: int = 0,
    ) -> "Lesson":
        """Number the words of the phrasebook's compositional training part.

        Args:
            n_train: training sentences, the first of the split's random order; None
                takes all.

        Raises:
            ValueError: a language is unknown, or n_train is out of range.
        """
        train, valid, test = Phrasebook(seed).split("compositional", seed)
        if n_train is not None and not 1 <= n_train <= len(train):
            raise ValueError(f"n_train must be in 1..{len(train)}, got {n_train}")
        # Words of all training sentences, so that lessons of any size share their ids.
        source_words, target_words = (
            Vocabulary.build(t.tokens(language) for t in train)
            for language in (source, target)
        )
        parts = Split(train[:n_train], valid, test)
        return cls(source, target, source_words, target_words, parts)

    def pairs(self, triples: Sequence[Triple]) -> list[Pair]:
        """Source ids and target ids, without special tokens."""
        sources = (self.source_words.encode(t.tokens(self.source)) for t in triples)
        targets = (self.target_words.encode(t.tokens(self.target)) for t in triples)
        return list(zip(sources, targets, strict=True))

    def batch(self, triples: Sequence[Triple]) -> TextBatch:
        """Some sentences as one batch."""
        return make_batch(self.pairs(triples))

    def batches(self, max_tokens: int = 1536, seed: int = 0) -> TokenBatches:
        """The training part, batched by length."""
        return TokenBatches(self.pairs(self.parts.train), max_tokens, seed)

    def config(self, **changes: Any) -> TransformerConfig:
        """A small modern Transformer for these vocabularies, with `changes`."""
        sizes: dict[str, Any] = {
            "source_vocab_size": len(self.source_words),
            "d_model": 96,
            "n_heads": 4,
            "n_encoder_layers": 2,
            "n_decoder_layers": 2,
            "d_ff": 192,
            "dropout_p": 0.1,
            "max_len": LONGEST,
        }
        return TransformerConfig.modern(len(self.target_words), **(sizes | changes))

    def transformer(
        self, config: TransformerConfig | None = None, *, seed: int = 0
    ) -> Transformer:
        """A fresh model; its first weights depend on the seed alone."""
        set_seed(seed)
        return Transformer(self.config() if config is None else config).to(device())

    def language_model(self, *, seed: int = 0, **changes: Any) -> LanguageModel:
        """A fresh decoder-only model of the target language."""
        set_seed(seed)
        return LanguageModel(self.config(**changes)).to(device())

    def train(
        self,
        model: nn.Module,
        *,
        task: Task | None = None,
        max_tokens: int = 1536,
        learning_rate: float = 3e-3,
        warmup: int = 60,
        seed: int = 0,
        **settings: Any,
    ) -> History:
        """Train in place by `fit`, quietly: warm-up, then inverse square root.

        Args:
            model: `Transformer`, `GRUSeq2Seq` or, with a `LanguageTask`, a
                `LanguageModel`.
            task: None is `TranslationTask()`.
            max_tokens: positions of a batch.
            learning_rate: the highest.
            warmup: steps until it is reached.
            seed: of batches and dropout.
            settings: further fields of `TrainConfig`; at least one limit, such as
                max_steps.
        """
        chosen: dict[str, Any] = {
            "learning_rate": inverse_sqrt(learning_rate, warmup),
            "progress": False,
            "seed": seed,
        }
        return fit(
            model,
            TranslationTask() if task is None else task,
            self.batches(max_tokens, seed),
            config=TrainConfig(**(chosen | settings)),
        )

    @torch.inference_mode()
    def translate(
        self, model: nn.Module, triples: Sequence[Triple], decode: Decode | None = None
    ) -> list[list[str]]:
        """Translate into tokens, in order; greedily unless `decode` is given."""
        was_training, where = model.training, next(model.parameters()).device
        decode = decode or greedy_translation
        model.eval()
        found: list[Hypothesis] = []
        try:
            for chunk in chunks(triples, 256):
                found += decode(model, self.batch(chunk).src.to(where))
        finally:
            model.train(was_training)
        return [self.target_words.decode(one.ids) for one in found]

    def references(self, triples: Sequence[Triple]) -> list[list[str]]:
        """The true translations as tokens."""
        return [t.tokens(self.target) for t in triples]

    def exact(
        self, model: nn.Module, triples: Sequence[Triple], decode: Decode | None = None
    ) -> float:
        """Share of sentences that are translated exactly as the phrasebook has them."""
        if not triples:
            raise ValueError("triples must hold at least one sentence, got none")
        found, true = self.translate(model, triples, decode), self.references(triples)
        return sum(map(operator.eq, found, true)) / len(triples)


class LanguageTask:
    """Predict every token of the target side from those before it."""

    def count(self, batch: TextBatch) -> int:
        """Target tokens of the batch, EOS included."""
        return batch.n_tokens

    def loss(self, model: nn.Module, batch: TextBatch) -> Tensor:
        """Summed cross-entropy."""
        return label_smoothed_cross_entropy(model(batch.tgt_in), batch.tgt_out, 0.0)


def greedy_translation(model: Any, src: Tensor) -> list[Hypothesis]:
    """The most probable token at each step, up to the lesson's longest sentence."""
    return greedy(model.start(src, max_len=LONGEST), max_len=LONGEST - 1)


def device() -> torch.device:
    """The GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
