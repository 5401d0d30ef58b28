"""Subwords of a translation model: one vocabulary for both languages with tags, or one for each."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursepkg.projects.translation.corpus import SentencePair, to_model
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.text.subword import SentencePiece
from coursepkg.text.tokenizer import LANGUAGE_TAGS, WORD_MARK

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
        cls, corpora: Sequence[tuple[tuple[str, str], Sequence[SentencePair]]], recipe: Recipe
    ) -> "Subwords":
        """Learn the vocabulary from training parts, and from nothing else.

        Args:
            corpora: for each pair of languages, of sources and targets, the training pairs.
            recipe: `vocab_size`, `subword`, `joint` and `underscores` of it.
        """
        pairs = [
            (to_model(p.source, source), to_model(p.target, target, underscores=recipe.underscores))
            for (source, target), part in corpora
            for p in part
        ]

        def learn(lines: Iterable[str], tags: Sequence[str]) -> SentencePiece:
            return SentencePiece.train(
                lines, vocab_size=recipe.vocab_size, model_type=recipe.subword, tags=tags
            )

        if recipe.joint:
            pieces = learn((line for pair in pairs for line in pair), LANGUAGE_TAGS)
            return cls(pieces, pieces, recipe.underscores)
        return cls(learn((s for s, _ in pairs), ()), learn((t for _, t in pairs), ()), recipe.underscores)

    def encode_sources(self, texts: Sequence[str], source: str, target: str) -> list[list[int]]:
        """Ids of sources in language `source`, with the tag of the target language in front."""
        lines = [to_model(text, source) for text in texts]
        return self.source.encode_batch(lines, tag=tag_of(target) if self.joint else None)

    def encode_targets(self, texts: Sequence[str], target: str) -> list[list[int]]:
        """Ids of targets."""
        return self.target.encode_batch(
            [to_model(text, target, underscores=self.underscores) for text in texts]
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
        target = SentencePiece.load(folder / FILES[1])
        one_each = (folder / FILES[0]).exists()
        return cls(SentencePiece.load(folder / FILES[0]) if one_each else target, target, underscores)


def cut_sources(
    subwords: Subwords, texts: Sequence[str], source: str, target: str, most: int
) -> tuple[list[list[int]], int]:
    """Ids of sources, tag in front, each cut behind its first `most`; and how many were cut."""
    ids = subwords.encode_sources(texts, source, target)
    return [one[:most] for one in ids], sum(len(one) > most for one in ids)


def check_plain(texts: Sequence[str], *, first: int = 1, name: str = "line") -> None:
    """Refuse what a vocabulary would misread: a tag in front of a text, or its mark of words.

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
                f"{name} {number}: the text begins with {tag[0].strip()}; tags are added by the direction (--from, "
                "--to), so leave it out"
            )
        if WORD_MARK in text:
            raise ValueError(f"{name} {number}: holds {WORD_MARK} (U+2581); put a space in its place")
