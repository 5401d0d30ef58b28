"""From a recipe to a network and its vocabulary, from files back to them, and a search.

A vocabulary serves both languages, with tags, or there is one for each.
"""

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn
from torch.nn import functional as F

from coursepkg.blocks.cache import Memory
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.language_model import PrefixTransformer
from coursepkg.blocks.seq2seq import GRUSeq2Seq, Seq2SeqConfig
from coursepkg.blocks.transformer import Transformer
from coursepkg.decoding.beam import beam_search
from coursepkg.decoding.filters import Filter
from coursepkg.decoding.generate import greedy
from coursepkg.decoding.step import Hypothesis, source_limits
from coursepkg.files import read_json
from coursepkg.projects.translation.corpus import SentencePair, to_model
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.text.subword import SentencePiece
from coursepkg.text.tokenizer import LANGUAGE_TAGS, WORD_MARK
from coursepkg.text.vocabulary import BOS, EOS, PAD, pad_batch

EXTRA_LENGTH = 30
"""Tokens by which a translation may be longer than its source."""


def config_of(
    recipe: Recipe, source_vocab: int, target_vocab: int
) -> TransformerConfig | Seq2SeqConfig:
    """The configuration of the network that a recipe asks for.

    Args:
        recipe: its architecture and sizes.
        source_vocab: pieces of the source vocabulary.
        target_vocab: pieces of the target vocabulary.
    """
    if recipe.architecture in ("gru", "gru-attention"):
        return Seq2SeqConfig(
            source_vocab=source_vocab,
            target_vocab=target_vocab,
            d_embedding=recipe.d_model,
            d_hidden=recipe.d_ff,
            dropout_p=recipe.dropout,
            attention="additive" if recipe.architecture == "gru-attention" else "none",
        )
    sizes: dict[str, Any] = {
        "d_model": recipe.d_model,
        "n_heads": recipe.n_heads,
        "n_encoder_layers": recipe.n_encoder_layers,
        "n_decoder_layers": recipe.n_decoder_layers,
        "d_ff": recipe.d_ff,
        "dropout_p": recipe.dropout,
        "attention_dropout_p": recipe.attention_dropout,
        "activation_dropout_p": recipe.activation_dropout,
        "max_len": recipe.max_len,
        "output_bias": recipe.output_bias,
        "source_vocab_size": None if recipe.joint else source_vocab,
    }
    if recipe.architecture == "vaswani2017":
        return TransformerConfig.vaswani2017(target_vocab, **sizes)
    return TransformerConfig.modern(
        target_vocab,
        n_kv_heads=recipe.n_kv_heads,
        rope_cross=recipe.rope_cross,
        norm_eps=recipe.norm_eps,
        **sizes,
    )


def build_model(recipe: Recipe, source_vocab: int, target_vocab: int) -> nn.Module:
    """A fresh network; its weights come from PyTorch's generator as it stands."""
    return _network(recipe, config_of(recipe, source_vocab, target_vocab))


def rebuilder(recipe: Recipe) -> Callable[[dict[str, Any]], nn.Module]:
    """What makes a recipe's network from the configuration in its file."""
    is_gru = recipe.architecture in ("gru", "gru-attention")
    kind = Seq2SeqConfig if is_gru else TransformerConfig
    return lambda fields: _network(recipe, kind(**fields))


def _network(recipe: Recipe, config: TransformerConfig | Seq2SeqConfig) -> nn.Module:
    if isinstance(config, Seq2SeqConfig):
        return GRUSeq2Seq(config)
    decoder_only = recipe.architecture == "decoder-only"
    return PrefixTransformer(config) if decoder_only else Transformer(config)


def count_parameters(model: nn.Module) -> int:
    """Trainable numbers, each shared matrix once."""
    return sum(p.numel() for p in model.parameters())


FILES = ("source.model", "target.model")
"""In the folder of a model; with one vocabulary only the second."""


TAG = re.compile(r"\s*<2\w+>")
"""A tag in front of a text, one that the vocabulary knows or another."""


def tag_of(language: str) -> str:
    """The tag that asks for a translation into a language."""
    return f"<2{language}>"


@dataclass(frozen=True)
class Subwords:
    """Text of two languages to ids and back."""

    source: SentencePiece
    target: SentencePiece
    """The same object as `source` where the vocabulary is joint."""
    underscores: str
    """Whether Vietnamese targets keep word-segmentation underscores: keep or remove."""

    @property
    def joint(self) -> bool:
        """Whether both languages share one vocabulary, and sources begin with a tag."""
        return self.source is self.target

    @property
    def fingerprints(self) -> list[str]:
        """SHA-256 of the vocabularies; a model stores them."""
        return [self.source.fingerprint, self.target.fingerprint]

    @classmethod
    def train(
        cls,
        corpora: Sequence[tuple[tuple[str, str], Sequence[SentencePair]]],
        recipe: Recipe,
    ) -> "Subwords":
        """Learn the vocabulary from training parts, and from nothing else.

        Args:
            corpora: for each pair of languages, of sources and targets, the training
                pairs.
            recipe: `vocab_size`, `subword`, `joint` and `underscores` of it.
        """
        pairs = [
            (
                to_model(p.source, source),
                to_model(p.target, target, underscores=recipe.underscores),
            )
            for (source, target), part in corpora
            for p in part
        ]

        def learn(lines: Iterable[str], tags: Sequence[str]) -> SentencePiece:
            size, kind = recipe.vocab_size, recipe.subword
            return SentencePiece.train(
                lines, vocab_size=size, model_type=kind, tags=tags
            )

        if recipe.joint:
            pieces = learn((line for pair in pairs for line in pair), LANGUAGE_TAGS)
            return cls(pieces, pieces, recipe.underscores)
        sources, targets = ([pair[side] for pair in pairs] for side in (0, 1))
        return cls(learn(sources, ()), learn(targets, ()), recipe.underscores)

    def encode_sources(
        self, texts: Sequence[str], source: str, target: str
    ) -> list[list[int]]:
        """Ids of sources; where joint, the tag of the target language in front."""
        lines = [to_model(text, source) for text in texts]
        tag = tag_of(target) if self.joint else None
        return self.source.encode_batch(lines, tag=tag)

    def encode_targets(self, texts: Sequence[str], target: str) -> list[list[int]]:
        """Ids of targets."""
        kept = self.underscores
        return self.target.encode_batch(
            [to_model(text, target, underscores=kept) for text in texts]
        )

    def save(self, folder: Path) -> None:
        """Write the files into an existing folder."""
        if not self.joint:
            self.source.save(folder / FILES[0])
        self.target.save(folder / FILES[1])

    @classmethod
    def load(cls, folder: Path, underscores: str) -> "Subwords":
        """Read what `save` wrote.

        Raises:
            FileNotFoundError: there is no vocabulary in the folder.
            ValueError: a file is no SentencePiece model.
        """
        source = target = SentencePiece.load(folder / FILES[1])
        if (folder / FILES[0]).exists():
            source = SentencePiece.load(folder / FILES[0])
        return cls(source, target, underscores)


def cut_sources(
    subwords: Subwords, texts: Sequence[str], source: str, target: str, most: int
) -> tuple[list[list[int]], int]:
    """Ids of sources cut behind their first `most`, and how many were cut."""
    ids = subwords.encode_sources(texts, source, target)
    return [one[:most] for one in ids], sum(len(one) > most for one in ids)


def check_plain(texts: Sequence[str], *, first: int = 1, name: str = "line") -> None:
    """Refuse what a vocabulary would misread: a tag in front, or its word mark.

    Args:
        texts: sentences.
        first: number of the first one.
        name: what they are, for the message.

    Raises:
        ValueError: a text begins with a tag or holds U+2581; it is named by its number.
    """
    for number, text in enumerate(texts, start=first):
        if tag := TAG.match(text):
            raise ValueError(
                f"{name} {number}: the text begins with {tag[0].strip()}; tags are"
                " added by the direction (--from, --to), so leave it out"
            )
        if WORD_MARK in text:
            raise ValueError(
                f"{name} {number}: holds {WORD_MARK} (U+2581); put a space in its place"
            )


def _are_directions(told: Any) -> bool:
    """Whether a card names pairs of languages."""
    return (
        isinstance(told, list)
        and bool(told)
        and all(isinstance(pair, list) and len(pair) == 2 for pair in told)
        and all(isinstance(name, str) for pair in told for name in pair)
    )


def recipe_from(folder: Path) -> Recipe:
    """The recipe of the finished model in the folder of a run.

    Raises:
        FileNotFoundError: there is no finished model.
        ValueError: the card is damaged, of another kind of model, or of a later version
            of this package.
    """
    meta = read_json(folder / "model" / "model.json").get("meta")
    return recipe_in(meta if isinstance(meta, dict) else {}, folder)


def recipe_in(card: Mapping[str, Any], folder: Path) -> Recipe:
    """The recipe in the card of a translator.

    Raises:
        ValueError: the card is damaged, of another kind of model, or of a later version
            of this package.
    """
    fields = card.get("recipe")
    wanted = "give a folder that coursepkg translation train wrote"
    if not isinstance(fields, dict) or not _are_directions(card.get("directions")):
        raise ValueError(
            f"{folder} holds no translator (its card has no recipe and directions of"
            f" one); {wanted}"
        )
    unknown = sorted(set(fields) - {field.name for field in dataclasses.fields(Recipe)})
    if unknown:
        raise ValueError(
            f"{folder} holds no translator that this version reads (it does not know"
            f" {', '.join(unknown)}); {wanted}, or update coursepkg"
        )
    try:
        return Recipe(**fields)
    except (TypeError, ValueError) as reason:
        raise ValueError(
            f"{folder} holds no translator (its recipe is damaged: {reason}); {wanted}"
        ) from reason


@torch.inference_mode()
def search(
    model: nn.Module,
    sources: Sequence[Sequence[int]],
    *,
    max_len: int,
    beam_size: int = 5,
    length_penalty: float = 1.0,
    n_best: int = 1,
    batch_size: int = 64,
    filters: Sequence[Filter] = (),
) -> list[list[Hypothesis]]:
    """Translate ids by beam search, or greedily with one beam.

    Args:
        model: `Transformer` or `GRUSeq2Seq`; it decodes in evaluation mode and goes
            back to the mode it came in.
        sources: ids of each source, its tag in front, EOS not yet behind.
        max_len: most tokens of a target, EOS included, that the model takes.
        beam_size: beams; 1 is greedy.
        length_penalty: exponent of the length penalty.
        n_best: hypotheses of each source, at most `beam_size`.
        batch_size: sources at once.
        filters: applied to the logits of every step.

    Returns:
        for each source its hypotheses, best first.
    """
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    device, was_training = next(model.parameters()).device, model.training
    found: list[list[Hypothesis]] = [[] for _ in sources]
    model.eval()
    try:
        for first in range(0, len(order), batch_size):
            chosen = order[first : first + batch_size]
            src, _ = pad_batch([[*sources[i], EOS] for i in chosen])
            settings = (max_len, beam_size, length_penalty, n_best, filters)
            results = _one_batch(model, src.to(device), *settings)
            for i, result in zip(chosen, results, strict=True):
                found[i] = result
    finally:
        model.train(was_training)
    return found


def _one_batch(
    model: Any,
    src: torch.Tensor,
    most: int,
    beam_size: int,
    alpha: float,
    n_best: int,
    filters: Sequence[Filter],
) -> list[list[Hypothesis]]:
    limits = source_limits(src, EXTRA_LENGTH, most=most - 1)
    state = model.start(src, max_len=int(limits.max()) + 1)
    if beam_size == 1:
        return [[one] for one in greedy(state, max_len=limits, filters=filters)]
    return beam_search(
        state,
        beam_size=beam_size,
        max_len=limits,
        length_penalty=alpha,
        n_best=n_best,
        filters=filters,
    )


@torch.inference_mode()
def log_probs(
    model: nn.Module,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    *,
    batch_size: int = 64,
) -> list[float]:
    """log p of each target, EOS included, given its source.

    Args:
        model: `Transformer` or `GRUSeq2Seq`, in evaluation mode.
        sources: ids, tags in front, EOS not yet behind.
        targets: ids, without BOS and EOS.
        batch_size: pairs at once.
    """
    found = [0.0] * len(sources)
    device = next(model.parameters()).device
    # Rows of about one length need little padding.
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]) + len(targets[i]))
    for first in range(0, len(order), batch_size):
        chosen = order[first : first + batch_size]
        src, _ = pad_batch([[*sources[i], EOS] for i in chosen])
        tgt, _ = pad_batch([[BOS, *targets[i], EOS] for i in chosen])
        logits = _logits(model, src.to(device), tgt[:, :-1].to(device)).float()
        losses = F.cross_entropy(
            logits.mT, tgt[:, 1:].to(device), ignore_index=PAD, reduction="none"
        )
        for i, loss in zip(chosen, losses.sum(dim=1).tolist(), strict=True):
            found[i] = -loss
    return found


def unwrapped(model: Any) -> nn.Module:
    """The module inside Fabric's wrapper."""
    return getattr(model, "module", model)


def predict(model: Any, src: torch.Tensor, tgt_in: torch.Tensor) -> torch.Tensor:
    """Logits (B, T, V) of a `Transformer` or `GRUSeq2Seq`, bare or wrapped."""
    if isinstance(unwrapped(model), GRUSeq2Seq):
        return model(src, (src != PAD).sum(dim=1), tgt_in)
    return model(src, tgt_in)


def _logits(model: Any, src: torch.Tensor, tgt_in: torch.Tensor) -> torch.Tensor:
    """What a model predicts; a source that all targets share is encoded once."""
    if not isinstance(model, Transformer) or not (src == src[0]).all():
        return predict(model, src, tgt_in)
    memory = model.encode(src[:1])
    n = len(tgt_in)
    shared = Memory(memory.outputs.expand(n, -1, -1), memory.is_real.expand(n, -1))
    return model.decode(tgt_in, shared)
