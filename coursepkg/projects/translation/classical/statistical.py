"""Statistical translation by words: IBM Model 1 and an n-gram model in a beam search.

    best t = argmax  P(t) P(s | t)           P(t): the n-gram model, P(s | t): Model 1

Every source word is replaced by an option: one or two target words, or none. Words may
be taken out of order, within limits, and jumps cost. A translation scores

    lm sum ln p(t_j | before) + sum ln p(s_i | option) - jump |positions jumped over|

where p(s | option) is the mean of Model 1 over the option's words, and p(s | NULL) for
an empty option. A second Model 1, of the other direction, only proposes the options.
Sources: Brown et al., Computational Linguistics 19(2), 1993; stacks by the number of
covered words, future scores and a limit of reordering: Koehn, AMTA 2004 (Pharaoh).

The n-gram model interpolates with shorter histories h':

    p(w | h) = ( c(h w) + d(h) p(w | h') ) / ( c(h) + d(h) )

c counts in the training sentences, d(h) is the number of different words that followed
h. Below single words lies a uniform distribution over the vocabulary and one unknown
word. Source: Witten and Bell, IEEE Transactions on Information Theory 37(4), 1991,
method C, applied recursively.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from coursepkg.projects.translation.classical.word_alignment import NULL, Model1, Tokens
from coursepkg.validation import check_at_least, check_count, check_finite

START, END = "<s>", "</s>"
"""What stands before the first word of a sentence and behind the last."""


class NgramModel:
    """Conditional probabilities of words.

    Example:
        >>> model = NgramModel.fit([["a", "b"], ["a", "c"]], n=2)
        >>> round(model.probability("b", ("a",)), 3)
        0.34
    """

    def __init__(self, n: int, counts: dict[tuple[str, ...], Counter[str]]) -> None:
        self.n = n
        """Words of an n-gram: 2 looks at one word before."""
        self.counts = counts
        """History -> how often each word followed it; histories of 0 to n - 1 words."""
        self._totals = {history: words.total() for history, words in counts.items()}
        self._floor = 1.0 / (len(counts[()]) + 1)
        self._known: dict[tuple[str, tuple[str, ...]], float] = {}

    @classmethod
    def fit(cls, sentences: Iterable[Sequence[str]], n: int = 2) -> "NgramModel":
        """Count the n-grams of some sentences.

        Raises:
            ValueError: n is not a positive integer, or there is no sentence.
        """
        check_count("n", n)
        counts: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for sentence in sentences:
            words = [START] * (n - 1) + [*sentence, END]
            for at in range(n - 1, len(words)):
                for size in range(n):
                    counts[tuple(words[at - size : at])][words[at]] += 1
        if not counts:
            raise ValueError("sentences must hold at least one sentence, got none")
        return cls(n, dict(counts))

    def start(self) -> tuple[str, ...]:
        """The history of the first word."""
        return (START,) * (self.n - 1)

    def extend(self, history: tuple[str, ...], word: str) -> tuple[str, ...]:
        """The history behind a word."""
        return (*history, word)[-(self.n - 1) :] if self.n > 1 else ()

    def probability(self, word: str, history: tuple[str, ...]) -> float:
        """p(word | history), never 0; only the last n - 1 words count."""
        return self._probability(
            word,
            history[len(history) - self.n + 1 :] if len(history) >= self.n else history,
        )

    def log_prob(self, word: str, history: tuple[str, ...]) -> float:
        """Its natural logarithm, remembered for the next time."""
        key = (word, history)
        if key not in self._known:
            self._known[key] = math.log(self.probability(word, history))
        return self._known[key]

    def sentence_log_prob(self, sentence: Sequence[str]) -> float:
        """Sum of the log-probabilities of all words and of the end."""
        history, total = self.start(), 0.0
        for word in (*sentence, END):
            total += self.log_prob(word, history)
            history = self.extend(history, word)
        return total

    def perplexity(self, sentences: Sequence[Sequence[str]]) -> float:
        """exp of the mean negative log-probability a word, ends included.

        Raises:
            ValueError: there is no sentence.
        """
        if not sentences:
            raise ValueError("sentences must hold at least one sentence, got none")
        n_words = sum(len(sentence) + 1 for sentence in sentences)
        return math.exp(
            -sum(self.sentence_log_prob(sentence) for sentence in sentences) / n_words
        )

    def _probability(self, word: str, history: tuple[str, ...]) -> float:
        shorter = self._probability(word, history[1:]) if history else self._floor
        words = self.counts.get(history)
        if words is None:
            return shorter
        kinds = len(words)
        return (words[word] + kinds * shorter) / (self._totals[history] + kinds)


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
    """How far behind the leftmost open source word one may go on; 0 keeps the order."""
    beam_size: int = 20
    """Hypotheses that go on, for each number of covered words."""

    def __post_init__(self) -> None:
        for name in ("lm", "jump"):
            check_finite(name, getattr(self, name))
            check_at_least(name, getattr(self, name), 0)
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
        >>> pairs = [(zh.split(), vi.split()) for zh, vi in lines]
        >>> NoisyChannel.fit(pairs).translate(["旧", "笔"]).words
        ('bút', 'cũ')
    """

    def __init__(
        self,
        proposals: Model1,
        channel: Model1,
        language: NgramModel,
        search: Search = Search(),
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
        cls,
        pairs: Sequence[tuple[Tokens, Tokens]],
        *,
        n: int = 2,
        search: Search = Search(),
    ) -> "NoisyChannel":
        """Train all three models on sentence pairs."""
        proposals = Model1.fit(pairs)
        channel = Model1.fit([(target, source) for source, target in pairs])
        return cls(
            proposals,
            channel,
            NgramModel.fit([target for _, target in pairs], n),
            search,
        )

    def options(self, source: str) -> list[Option]:
        """What a source word may become, best first; an unknown word becomes itself."""
        if source not in self._options:
            found = sorted(self._candidates(source), key=lambda option: -option.score)
            self._options[source] = found[: self.search.n_options]
        return self._options[source]

    def translate(self, source: Tokens) -> Hypothesis:
        """The best translation that the beam finds."""
        options = [self.options(word) for word in source]
        future = [
            max(option.score + self._guess(option) for option in row) for row in options
        ]
        stack = {
            (0, -1, self.language.start()): Hypothesis(
                0, -1, self.language.start(), 0.0, (), ()
            )
        }
        for _ in source:
            longer: dict[tuple[int, int, tuple[str, ...]], Hypothesis] = {}
            for old in stack.values():
                for new in self._extended(old, options):
                    key = new[:3]
                    if key not in longer or longer[key].score < new.score:
                        longer[key] = new
            best = sorted(
                longer.values(),
                key=lambda h: -h.score - _still_to_come(h.covered, future),
            )
            stack = {h[:3]: h for h in best[: self.search.beam_size]}
        return max(
            stack.values(),
            key=lambda h: (
                h.score + self.search.lm * self.language.log_prob(END, h.history)
            ),
        )

    def _extended(
        self, old: Hypothesis, options: Sequence[Sequence[Option]]
    ) -> Iterator[Hypothesis]:
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
                words, order = (
                    old.words + option.words,
                    old.order + (i,) * len(option.words),
                )
                yield Hypothesis(old.covered | 1 << i, i, history, score, words, order)

    def _candidates(self, source: str) -> Iterator[Option]:
        """Nothing, single words that Model 1 names, and frequent pairs of them."""
        if source not in self.proposals.table:
            yield Option((source,), 0.0)
            return
        words = [
            word
            for word, p in self.proposals.best(source, self.search.n_options)
            if p > LEAST
        ]
        pairs = ((a, b) for a in words for b in words if self._stand_together(a, b))
        for chosen in ((), *((word,) for word in words), *pairs):
            yield Option(chosen, self._score(source, chosen))

    def _score(self, source: str, words: tuple[str, ...]) -> float:
        explained = [
            self.channel.probability(word, source) for word in words or (NULL,)
        ]
        return math.log(max(sum(explained) / len(explained), LEAST))

    def _stand_together(self, first: str, second: str) -> bool:
        followers: Counter[str] = self.language.counts.get((first,), Counter())
        return first != second and followers[second] > 0.2 * followers.total()

    def _guess(self, option: Option) -> float:
        """The language model's part of an option, without what stands before it."""
        return self.search.lm * math.fsum(
            self.language.log_prob(word, ()) for word in option.words
        )


def _still_to_come(covered: int, future: Sequence[float]) -> float:
    return math.fsum(score for i, score in enumerate(future) if not covered >> i & 1)
