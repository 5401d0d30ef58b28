"""Word alignment: IBM Model 1, alignments as matrices, and their error rate.

    P(t_1 .. t_T | s_1 .. s_S) = prod_j  1 / (S + 1)  sum_i=0..S  p(t_j | s_i)

Every target word comes from one source word or from none (s_0, NULL). EM alternates:

    E   share of s_i in t_j     a_ji = p(t_j | s_i) / sum_k p(t_j | s_k)
    M   p(t | s) = sum of a_ji over all pairs of words (s, t) / the same over all t

The likelihood is concave, so all probabilities begin equal. Source: Brown et al.,
Computational Linguistics 19(2), 1993, section 4.1. The alignment error rate is

    AER = 1 - ( |A and S| + |A and P| ) / ( |A| + |S| )

of found links A, sure ones S and possible ones P, with S in P; it is 1 - F1 where
S = P. Source: Och and Ney, Computational Linguistics 29(1), 2003, section 6.
"""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from coursepkg.projects.translation.errors.surface import MARK
from coursepkg.validation import check_count

Tokens = Sequence[str]
"""One sentence."""

NULL = ""
"""The source word of target words that come from none."""


@dataclass(frozen=True)
class Alignment:
    """How much each source token has to do with each target token."""

    source: tuple[str, ...]
    """Tokens of the source."""
    target: tuple[str, ...]
    """Tokens of the target, such as the hypothesis."""
    weights: np.ndarray
    """(T, S), not negative: attention weights or probabilities; rows sum to at most 1.
    """

    def __post_init__(self) -> None:
        wanted = (len(self.target), len(self.source))
        if self.weights.shape != wanted:
            raise ValueError(
                "weights must have a row a target token and a column a source token,"
                f" {wanted}, got {self.weights.shape}"
            )
        if not np.isfinite(self.weights).all() or (self.weights < 0).any():
            raise ValueError(
                "weights must be finite and not negative; check where the alignment"
                " comes from"
            )

    @property
    def coverage(self) -> np.ndarray:
        """What each source token gave in sum, (S,): near 0 where it is untranslated."""
        return self.weights.sum(axis=0)

    def merged(self, mark: str = MARK) -> "Alignment":
        """Subword pieces joined into words: sums over source, means over target pieces.

        A piece that begins with the mark begins a word. Text without spaces, as
        Chinese, has few such marks.
        """
        rows, columns = _word_starts(self.target, mark), _word_starts(self.source, mark)
        weights = np.zeros((len(rows), len(columns)))
        if rows and columns:
            sizes = np.diff([*rows, len(self.target)])[:, None]
            weights = np.add.reduceat(
                np.add.reduceat(self.weights, rows, axis=0) / sizes, columns, axis=1
            )
        return Alignment(
            _joined(self.source, columns, mark),
            _joined(self.target, rows, mark),
            weights,
        )


class Model1:
    """Translation probabilities p(target word | source word).

    Example:
        >>> pairs = [(["das", "Haus"], ["the", "house"]), (["das"], ["the"])]
        >>> model = Model1.fit(pairs)
        >>> model.probability("das", "the") > 0.9
        True
    """

    def __init__(
        self, table: dict[str, dict[str, float]], log_likelihoods: tuple[float, ...]
    ) -> None:
        self.table = table
        """source word -> target word -> p(target word | source word)."""
        self.log_likelihoods = log_likelihoods
        """Log-likelihood of the corpus in nats, at first and after each round."""

    @classmethod
    def fit(
        cls,
        pairs: Sequence[tuple[Tokens, Tokens]],
        *,
        n_iterations: int = 8,
        null: bool = True,
    ) -> "Model1":
        """Learn from sentence pairs, each (source tokens, target tokens).

        Time and memory grow with the sum over all pairs of S x T cells; a cell takes
        about 50 bytes.

        Args:
            null: whether a target word may come from no source word.

        Raises:
            ValueError: n_iterations is out of range, or no pair has words on both
                sides.
        """
        check_count("n_iterations", n_iterations)
        cells = _Cells.of(pairs, null)
        values = np.full(len(cells.keys), 1.0 / len(cells.target_words))
        likelihoods = []
        for _ in range(n_iterations):
            likelihood, counts = cells.expect(values)
            likelihoods.append(likelihood)
            totals = np.bincount(cells.key_source, weights=counts)
            values = counts / totals[cells.key_source]
        likelihoods.append(cells.expect(values)[0])
        return cls(cells.as_table(values), tuple(likelihoods))

    def probability(self, source: str, target: str) -> float:
        """p(target word | source word), 0 for words that never met."""
        return self.table.get(source, {}).get(target, 0.0)

    def best(self, source: str, n: int = 1) -> list[tuple[str, float]]:
        """The most probable target words of a source word with their probabilities."""
        ranked = sorted(
            self.table.get(source, {}).items(), key=lambda item: (-item[1], item[0])
        )
        return ranked[:n]

    def align(self, source: Tokens, target: Tokens) -> Alignment:
        """The share of every source word in every target word, a_ji above.

        What a row lacks to 1 belongs to NULL. The row of a word that no source word
        explains is zero.
        """
        weights = np.array(
            [[self.probability(s, t) for s in source] for t in target], dtype=np.float64
        )
        weights = weights.reshape(len(target), len(source))
        none = np.array(
            [self.probability(NULL, t) for t in target], dtype=np.float64
        ).reshape(-1, 1)
        totals = weights.sum(axis=1, keepdims=True) + none
        return Alignment(
            tuple(source), tuple(target), weights / np.where(totals > 0, totals, 1.0)
        )


@dataclass(frozen=True)
class _Cells:
    """All word pairs that stand in one sentence pair, as flat arrays."""

    source_words: list[str]
    target_words: list[str]
    keys: np.ndarray
    """Distinct word pairs: source number * number of target words + target number."""
    key_source: np.ndarray
    """Source number of each distinct word pair."""
    cell_key: np.ndarray
    """The distinct word pair of each cell."""
    slot_starts: np.ndarray
    """First cell of each target position; its cells follow one another."""
    log_choices: float
    """Sum over all target positions of ln(S + 1), or ln(S) without NULL."""

    @classmethod
    def of(cls, pairs: Sequence[tuple[Tokens, Tokens]], null: bool) -> "_Cells":
        first = [NULL] if null else []
        kept = [
            ([*first, *source], target)
            for source, target in pairs
            if len(source) and len(target)
        ]
        if not kept:
            raise ValueError(
                "pairs must hold at least one pair with words on both sides, got none"
            )
        source_words = list(
            dict.fromkeys(word for source, _ in kept for word in source)
        )
        target_words = list(
            dict.fromkeys(word for _, target in kept for word in target)
        )
        s_number = {word: i for i, word in enumerate(source_words)}
        t_number = {word: i for i, word in enumerate(target_words)}
        blocks, sizes = [], []
        for source, target in kept:
            s = np.array([s_number[word] for word in source], dtype=np.int64)
            t = np.array([t_number[word] for word in target], dtype=np.int64)
            blocks.append((s[None, :] * len(target_words) + t[:, None]).ravel())
            sizes += [len(s)] * len(t)
        keys, cell_key = np.unique(np.concatenate(blocks), return_inverse=True)
        lengths = np.array(sizes)
        return cls(
            source_words,
            target_words,
            keys,
            keys // len(target_words),
            cell_key.astype(np.int32),
            np.concatenate([[0], np.cumsum(lengths)[:-1]]),
            float(np.log(lengths).sum()),
        )

    def expect(self, values: np.ndarray) -> tuple[float, np.ndarray]:
        """The E step: log-likelihood, and expected counts of distinct word pairs."""
        cells = values[self.cell_key]
        sums = np.add.reduceat(cells, self.slot_starts)
        repeats = np.diff([*self.slot_starts, len(cells)])
        counts = np.bincount(
            self.cell_key,
            weights=cells / np.repeat(sums, repeats),
            minlength=len(self.keys),
        )
        return float(np.log(sums).sum()) - self.log_choices, counts

    def as_table(self, values: np.ndarray) -> dict[str, dict[str, float]]:
        table: dict[str, dict[str, float]] = {word: {} for word in self.source_words}
        targets = self.keys % len(self.target_words)
        for source, target, value in zip(
            self.key_source.tolist(), targets.tolist(), values.tolist(), strict=True
        ):
            table[self.source_words[source]][self.target_words[target]] = value
        return table


def _word_starts(tokens: Tokens, mark: str) -> list[int]:
    """Where words begin; the first token always begins one."""
    return [i for i, token in enumerate(tokens) if i == 0 or token.startswith(mark)]


def _joined(tokens: Tokens, starts: Sequence[int], mark: str) -> tuple[str, ...]:
    ends = [*starts, len(tokens)][1:]
    return tuple(
        "".join(tokens[i:j]).removeprefix(mark) or mark
        for i, j in zip(starts, ends, strict=True)
    )


Links = AbstractSet[tuple[int, int]]
"""Pairs (source position, target position), from 0."""


class AlignmentScore(NamedTuple):
    """What of the links is right."""

    precision: float
    """Share of the found links that are possible; 1 where none was found."""
    recall: float
    """Share of the sure links that were found; 1 where there is none."""
    error_rate: float
    """AER, 0 is perfect."""


def score_alignments(
    found: Sequence[Links],
    sure: Sequence[Links],
    possible: Sequence[Links] | None = None,
) -> AlignmentScore:
    """Score the links of some sentence pairs, counted over all of them together.

    Args:
        possible: those that may be there, the sure ones among them; None takes the sure
            ones alone.

    Raises:
        ValueError: the lists differ in length, a sure link is not possible, or there is
            no link at all.
    """
    allowed = sure if possible is None else possible
    if not len(found) == len(sure) == len(allowed):
        raise ValueError(
            f"found, sure and possible must have an entry a pair, got {len(found)},"
            f" {len(sure)} and {len(allowed)}"
        )
    for i, (must, may) in enumerate(zip(sure, allowed, strict=True)):
        if not must <= may:
            raise ValueError(
                f"possible must hold every sure link; pair {i} lacks"
                f" {sorted(must - may)[0]}"
            )
    n_found, n_sure = sum(map(len, found)), sum(map(len, sure))
    if n_found + n_sure == 0:
        raise ValueError("found and sure must hold at least one link, got none")
    right = sum(len(links & may) for links, may in zip(found, allowed, strict=True))
    hit = sum(len(links & must) for links, must in zip(found, sure, strict=True))
    return AlignmentScore(
        right / n_found if n_found else 1.0,
        hit / n_sure if n_sure else 1.0,
        1.0 - (hit + right) / (n_found + n_sure),
    )


def best_links(
    weights: np.ndarray, *, least: float | np.ndarray = 0.0
) -> set[tuple[int, int]]:
    """Each target token with the source token of its largest weight.

    Args:
        weights: (T, S), a row a target token.
        least: a row whose largest weight is not above it gets no link: it belongs to no
            source token. One number, or one a row (T,), such as the share of NULL.

    Raises:
        ValueError: weights are not a table, or have no column.
    """
    if weights.ndim != 2 or weights.shape[1] == 0:
        raise ValueError(
            "weights must be (T, S) with at least one source token, got shape"
            f" {weights.shape}"
        )
    best = weights.argmax(axis=1)
    is_link = weights.max(axis=1) > least
    return {(int(s), t) for t, s in enumerate(best) if is_link[t]}


def flipped(links: Links) -> set[tuple[int, int]]:
    """The same links with source and target swapped."""
    return {(t, s) for s, t in links}
