"""A sentence pattern: a template in three languages and the phrases that may fill its slots."""

import math
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from coursepkg.projects.translation.phrasebook.interlinear import LANGUAGES, Phrase, Words, finish, wording


@dataclass(frozen=True)
class Sentence:
    """One meaning said in three languages, still with its marks."""

    pattern: str
    concepts: tuple[str, ...]
    words: tuple[Words, Words, Words]


@dataclass(frozen=True)
class Pattern:
    """A template and its slots; iterating it gives its sentences in a fixed order."""

    name: str
    zh: str
    en: str
    vi: str
    slots: dict[str, Sequence[Phrase]]
    """Fillers by slot; the first two slots are the key concepts."""
    fits: Callable[..., bool] | None = None
    """Selection restriction: called with the slots by name, says whether they go together."""
    limit: int = 120
    """Sentences at most; beyond it, as many drawn evenly."""

    def __iter__(self) -> Iterator[Sentence]:
        names = list(self.slots)
        for fillers in self._combinations():
            chosen = dict(zip(names, fillers, strict=True))
            zh, en, vi = (
                finish(wording(side, language, chosen), language)
                for language, side in zip(LANGUAGES, (self.zh, self.en, self.vi), strict=True)
            )
            yield Sentence(self.name, tuple(filler.concept for filler in fillers), (zh, en, vi))

    def _combinations(self) -> Iterator[tuple[Phrase, ...]]:
        """Fillers that go together, drawn without replacement until the limit is reached."""
        names, choices = list(self.slots), list(self.slots.values())
        sizes = [len(choice) for choice in choices]
        drawn = 0
        for index in _draw(math.prod(sizes), self.name):
            fillers = []
            for choice, size in zip(choices, sizes, strict=True):
                index, position = divmod(index, size)
                fillers.append(choice[position])
            if self.fits is not None and not self.fits(**dict(zip(names, fillers, strict=True))):
                continue
            yield tuple(fillers)
            drawn += 1
            if drawn == self.limit:
                return


def _draw(total: int, name: str) -> Iterator[int]:
    """The numbers below ``total``, each once, scattered by a stride that depends on the name.

    A stride prime to ``total`` visits everything, and the golden ratio spreads the first few evenly; no
    library shuffle is used, so the order is the same in every version of Python.
    """
    stride = max(1, round(total * (math.sqrt(5) - 1) / 2))
    while math.gcd(stride, total) != 1:
        stride += 1
    start = int(random.Random(name).random() * total)
    return ((start + i * stride) % total for i in range(total))
