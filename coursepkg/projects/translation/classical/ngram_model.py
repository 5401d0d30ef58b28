"""An n-gram language model: how likely a word is after the n - 1 words before it, from counts.

    p(w | h) = ( c(h w) + d(h) p(w | h') ) / ( c(h) + d(h) )          h' is h without its first word

c counts in the training sentences, d(h) is the number of different words that followed h: where much was seen and
little of it was new, the counts decide; where h was never seen, the shorter history does. Below the single words lies
a uniform distribution over the vocabulary and one unknown word.
Source: Witten and Bell, IEEE Transactions on Information Theory 37(4), 1991, method C, applied recursively.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from coursepkg.arguments import check_count

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
        """p(word | history), never 0; of a longer history the last n - 1 words count."""
        return self._probability(
            word, history[len(history) - self.n + 1 :] if len(history) >= self.n else history
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
        return math.exp(-sum(self.sentence_log_prob(sentence) for sentence in sentences) / n_words)

    def _probability(self, word: str, history: tuple[str, ...]) -> float:
        shorter = self._probability(word, history[1:]) if history else self._floor
        words = self.counts.get(history)
        if words is None:
            return shorter
        kinds = len(words)
        return (words[word] + kinds * shorter) / (self._totals[history] + kinds)
