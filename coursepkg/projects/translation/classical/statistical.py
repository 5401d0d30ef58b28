"""Statistical translation word by word: a noisy channel of IBM Model 1 and an n-gram model, searched by a beam.

    best t = argmax  P(t) P(s | t)           P(t): the n-gram model, P(s | t): Model 1

Every source word is replaced by an option: one or two target words, or none. The source words may be taken out of
order, within limits, and jumps cost. In logarithms a translation scores

    lm sum of ln p(t_j | before)  +  sum of ln p(s_i | option)  -  jump |positions jumped over|

where p(s | option) is the mean over the option's words, Model 1 cut down to them, and p(s | NULL) for an empty option.
A second Model 1, of the other direction, only proposes the options.

Sources: Brown et al., Computational Linguistics 19(2), 1993; stacks by the number of covered words, an estimate of
what is still to come, and a limit of reordering as in Koehn, AMTA 2004 (Pharaoh).
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coursepkg.arguments import check_count, check_finite
from coursepkg.projects.translation.classical.ngram_model import END, NgramModel
from coursepkg.projects.translation.classical.word_alignment import NULL, Model1, Tokens

LEAST = 1e-4
"""Probabilities below are taken for this."""


@dataclass(frozen=True)
class Search:
    """Weights and limits of the decoder.

    Raises:
        ValueError: a limit or a weight is out of range.
    """

    lm: int | float = 1.0
    """Weight of the language model, at least 0; 1 is Bayes' rule."""
    jump: int | float = 0.1
    """Cost of each source word that is jumped over, nats, at least 0."""
    n_options: int = 6
    """Most options of a source word."""
    max_jump: int = 6
    """How far from the leftmost open source word the next one may stand; 0 keeps the order of the source."""
    beam_size: int = 20
    """Hypotheses that go on, for each number of covered words."""

    def __post_init__(self) -> None:
        for name in ("lm", "jump"):
            value = getattr(self, name)
            check_finite(name, value)
            if value < 0:
                raise ValueError(f"{name} must be at least 0, got {value}")
        check_count("n_options", self.n_options)
        check_count("beam_size", self.beam_size)
        check_count("max_jump", self.max_jump, least=0)


class Option(NamedTuple):
    """What a source word may become."""

    words: tuple[str, ...]
    score: float
    """ln p(source word | words), the channel."""


class Hypothesis(NamedTuple):
    """A beginning of a translation."""

    covered: int
    """Bit i: source word i is translated."""
    last: int
    """The source word translated last, -1 at the start."""
    history: tuple[str, ...]
    """What the language model looks back on."""
    score: float
    words: tuple[str, ...]
    order: tuple[int, ...]
    """For each target word, the source word that it comes from."""


class NoisyChannel:
    """A translator made of word models and a language model.

    Example:
        >>> lines = (("新 书", "sách mới"), ("新 笔", "bút mới"), ("旧 书", "sách cũ"))
        >>> NoisyChannel.fit([(zh.split(), vi.split()) for zh, vi in lines]).translate(["旧", "笔"]).words
        ('bút', 'cũ')
    """

    def __init__(
        self, proposals: Model1, channel: Model1, language: NgramModel, search: Search = Search()
    ) -> None:
        self.proposals = proposals
        """p(target word | source word)."""
        self.channel = channel
        """p(source word | target word)."""
        self.language = language
        self.search = search
        self._options: dict[str, list[Option]] = {}

    @classmethod
    def fit(
        cls, pairs: Sequence[tuple[Tokens, Tokens]], *, n: int = 2, search: Search = Search()
    ) -> "NoisyChannel":
        """Train all three models on sentence pairs.

        Args:
            pairs: (source tokens, target tokens).
            n: of the language model.
            search: of the decoder.
        """
        proposals = Model1.fit(pairs)
        channel = Model1.fit([(target, source) for source, target in pairs])
        return cls(proposals, channel, NgramModel.fit([target for _, target in pairs], n), search)

    def options(self, source: str) -> list[Option]:
        """What a source word may become, best first; an unknown word becomes itself."""
        if source not in self._options:
            found = sorted(self._candidates(source), key=lambda option: -option.score)
            self._options[source] = found[: self.search.n_options]
        return self._options[source]

    def translate(self, source: Tokens) -> Hypothesis:
        """The best translation that the beam finds."""
        options = [self.options(word) for word in source]
        future = [max(option.score + self._guess(option) for option in row) for row in options]
        stack = {(0, -1, self.language.start()): Hypothesis(0, -1, self.language.start(), 0.0, (), ())}
        for _ in source:
            longer: dict[tuple[int, int, tuple[str, ...]], Hypothesis] = {}
            for old in stack.values():
                for new in self._extended(old, options):
                    key = new[:3]
                    if key not in longer or longer[key].score < new.score:
                        longer[key] = new
            best = sorted(longer.values(), key=lambda h: -h.score - _still_to_come(h.covered, future))
            stack = {h[:3]: h for h in best[: self.search.beam_size]}
        return max(
            stack.values(), key=lambda h: h.score + self.search.lm * self.language.log_prob(END, h.history)
        )

    def _extended(self, old: Hypothesis, options: Sequence[Sequence[Option]]) -> Iterator[Hypothesis]:
        """Every open source word within reach, by every option."""
        first = next(i for i in range(len(options)) if not old.covered >> i & 1)
        for i in range(first, min(first + self.search.max_jump + 1, len(options))):
            if old.covered >> i & 1:
                continue
            cost = self.search.jump * abs(i - old.last - 1)
            for option in options[i]:
                score, history = old.score + option.score - cost, old.history
                for word in option.words:
                    score += self.search.lm * self.language.log_prob(word, history)
                    history = self.language.extend(history, word)
                words, order = old.words + option.words, old.order + (i,) * len(option.words)
                yield Hypothesis(old.covered | 1 << i, i, history, score, words, order)

    def _candidates(self, source: str) -> Iterator[Option]:
        """Nothing, single words that Model 1 names, and pairs of them that often stand together."""
        if source not in self.proposals.table:
            yield Option((source,), 0.0)
            return
        words = [word for word, p in self.proposals.best(source, self.search.n_options) if p > LEAST]
        pairs = ((a, b) for a in words for b in words if self._stand_together(a, b))
        for chosen in ((), *((word,) for word in words), *pairs):
            yield Option(chosen, self._score(source, chosen))

    def _score(self, source: str, words: tuple[str, ...]) -> float:
        explained = [self.channel.probability(word, source) for word in words or (NULL,)]
        return math.log(max(sum(explained) / len(explained), LEAST))

    def _stand_together(self, first: str, second: str) -> bool:
        followers: Counter[str] = self.language.counts.get((first,), Counter())
        return first != second and followers[second] > 0.2 * followers.total()

    def _guess(self, option: Option) -> float:
        """The language model's part of an option, without what stands before it."""
        return self.search.lm * math.fsum(self.language.log_prob(word, ()) for word in option.words)


def _still_to_come(covered: int, future: Sequence[float]) -> float:
    return math.fsum(score for i, score in enumerate(future) if not covered >> i & 1)
