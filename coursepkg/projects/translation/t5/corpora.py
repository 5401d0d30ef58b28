"""The corpora of the translation project as a T5 sees them: natural text, with a prefix for the direction."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from coursepkg.projects.translation.corpora import Parts, load_parts
from coursepkg.projects.translation.corpus import SentencePair, to_reader, to_scorer
from coursepkg.projects.translation.t5.nom import load_nom
from coursepkg.projects.translation.t5.text import prefix_of

NOM_CORPORA = ("nom-vi", "nom-lesson")
"""Corpora of Nom by the names that `--data` takes: the real texts, and the generated lesson."""


@dataclass(frozen=True)
class Direction:
    """Sentences of one direction as a T5 sees them."""

    parts: Parts
    """As they stand in their files, split."""
    prefix: str
    """What stands in front of each source."""

    @property
    def name(self) -> str:
        """Such as nom-vi."""
        return f"{self.parts.source}-{self.parts.target}"

    def natural(self, part: Sequence[SentencePair]) -> list[SentencePair]:
        """Pairs as a reader writes them: what a pretrained model knows."""
        return [
            p._replace(
                source=natural(p.source, self.parts.source), target=natural(p.target, self.parts.target)
            )
            for p in part
        ]


def directions_of(
    source: str, target: str, *, corpus: str = "auto", both: bool = False, folder: Path | None = None
) -> list[Direction]:
    """The corpus of a language pair, in one direction or in both; a missing one is stood in for, with a note.

    Args:
        source: language or script to translate from.
        target: language or script to translate into.
        corpus: auto takes the corpus of the pair; else one of `NOM_CORPORA` or of `corpora.CORPORA`.
        both: the other direction of the same split as well.
        folder: of the data sets; None is `data_folder()`.

    Raises:
        ValueError: there is no such direction or corpus, or a file is malformed.
    """
    prefix = prefix_of(source, target)
    if "nom" in (source, target):
        if corpus not in ("auto", *NOM_CORPORA):
            raise ValueError(f"--data must be auto or one of {', '.join(NOM_CORPORA)} for nom, got {corpus}")
        parts = load_nom(source, target, folder=folder, generated=corpus == "nom-lesson")
    else:
        parts = load_parts(corpus, source, target, folder=folder)
    there = Direction(parts, prefix)
    return [there, Direction(parts.swapped(), prefix_of(target, source))] if both else [there]


def natural(text: str, language: str) -> str:
    """A line of a corpus as a reader writes it: without segmentation, underscores and spaced punctuation."""
    return " ".join(text.split()) if language == "nom" else to_reader(to_scorer(text, language), language)
