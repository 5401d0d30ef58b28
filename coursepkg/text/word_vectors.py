"""Word vectors: by counting, from files of GloVe, word2vec and fastText, and their use.

The text formats have one line a word: the word, then its numbers, separated by single
spaces. word2vec and fastText put a line with the number of words and of dimensions in
front, GloVe does not. Files hold millions of words; only those of a vocabulary are kept
while the file streams by.
"""

import gzip
import math
import zlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import normalize

from coursepkg.files import whole_file
from coursepkg.text.vocabulary import PAD, SPECIALS, UNK, Vocabulary


@dataclass(frozen=True, eq=False)
class WordVectors:
    """A vector (E,) for each of some words."""

    words: tuple[str, ...]
    vectors: Tensor
    """Row i is the vector of word i: (V, E)."""
    ids: dict[str, int] = field(init=False, repr=False)
    """The row of each word."""

    def __post_init__(self) -> None:
        shape = tuple(self.vectors.shape)
        if len(shape) != 2 or shape[0] != len(self.words) or 0 in shape:
            raise ValueError(
                f"vectors must be (V, E) for the {len(self.words)} words, got {shape}"
            )
        if not self.vectors.is_floating_point() or not self.vectors.isfinite().all():
            raise ValueError(
                "vectors must be finite floating-point numbers, got others"
            )
        object.__setattr__(self, "ids", {word: i for i, word in enumerate(self.words)})
        if len(self.ids) != len(self.words):
            raise ValueError("words must be distinct, but some occur more than once")

    @classmethod
    def from_vocabulary(cls, vocabulary: Vocabulary, vectors: Tensor) -> "WordVectors":
        """Vectors (V, E), one for each id; special tokens are left out."""
        if vectors.shape[0] != len(vocabulary):
            raise ValueError(
                f"vectors must have a row for each of the {len(vocabulary)} ids, got"
                f" {vectors.shape[0]}"
            )
        return cls(vocabulary.tokens[len(SPECIALS) :], vectors[len(SPECIALS) :])

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return word in self.ids

    def __getitem__(self, word: str) -> Float[Tensor, " E"]:
        """The vector of a word.

        Raises:
            ValueError: the word has none.
        """
        if word not in self.ids:
            raise ValueError(
                f"word must be one of the {len(self.words)} that have a vector, got"
                f" {word!r}"
            )
        return self.vectors[self.ids[word]]

    def similarity(self, first: str, second: str) -> float:
        """Cosine between the vectors of two words; 0 where one vector is zero."""
        return float(normalize(self[first], dim=0) @ normalize(self[second], dim=0))

    def nearest(
        self, query: str | Tensor, n: int = 5, *, exclude: Collection[str] = ()
    ) -> list[tuple[str, float]]:
        """The words of largest cosine to a word or vector, and the cosines.

        Args:
            query: a word, which is left out of its own neighbours, or a vector (E,).
            n: how many.
            exclude: other words to leave out.

        Raises:
            ValueError: the word has no vector, the vector has another size, or n is
                below 1.
        """
        if n < 1:
            raise ValueError(f"n must be at least 1, got {n}")
        vector = self[query] if isinstance(query, str) else query
        if vector.shape != self.vectors.shape[1:]:
            raise ValueError(
                f"query must have the shape {tuple(self.vectors.shape[1:])}, got"
                f" {tuple(vector.shape)}"
            )
        hidden = {*exclude, query} if isinstance(query, str) else set(exclude)
        cosines = normalize(self.vectors, dim=1) @ normalize(
            vector.to(self.vectors), dim=0
        )
        order = cosines.sort(descending=True, stable=True).indices.tolist()
        found = [
            (self.words[i], float(cosines[i]))
            for i in order
            if self.words[i] not in hidden
        ]
        return found[:n]

    def analogy(
        self, a: str, b: str, c: str, n: int = 1, *, exclude_given: bool = True
    ) -> list[tuple[str, float]]:
        """What is to c as b is to a: the words nearest to b - a + c.

        Args:
            a: the word that b is set against.
            b: its partner.
            c: the word whose partner is asked for.
            n: how many answers.
            exclude_given: leave a, b and c out of the answers. Almost every published
                score does so; without it the answer is often b or c itself.

        Source: Mikolov, Yih and Zweig 2013, "Linguistic Regularities in Continuous
        Space Word Representations".
        """
        unit_a, unit_b, unit_c = (normalize(self[word], dim=0) for word in (a, b, c))
        return self.nearest(
            unit_b - unit_a + unit_c, n, exclude=(a, b, c) if exclude_given else ()
        )

    def principal_components(
        self, words: Sequence[str], n: int = 2
    ) -> Float[Tensor, "words n"]:
        """Coordinates of some words along the n directions of largest variance.

        The largest coordinate of each direction is made positive.

        Raises:
            ValueError: there is no word, one has no vector, or n is more than the words
                or the dimensions allow.
        """
        if not words:
            raise ValueError("words must name at least one, got none")
        most = min(len(words), self.vectors.shape[1])
        if not 1 <= n <= most:
            raise ValueError(f"n must lie in 1..{most}, got {n}")
        chosen = torch.stack([self[word] for word in words])
        u, s, _ = torch.linalg.svd(chosen - chosen.mean(dim=0), full_matrices=False)
        return orient(u[:, :n] * s[:n])


def orient(columns: Float[Tensor, "rows n"]) -> Float[Tensor, "rows n"]:
    """Columns whose largest entry is positive; a singular vector has no sign."""
    largest = columns.abs().argmax(dim=0)
    signs = columns.gather(0, largest[None]).sign()
    return columns * torch.where(signs == 0, 1, signs)


def embedding_from(
    vectors: WordVectors,
    vocabulary: Vocabulary,
    *,
    std: float | None = None,
    seed: int = 0,
) -> nn.Embedding:
    """An embedding that begins with pretrained vectors; it trains on like any other.

    Words without a vector, and the special tokens, get normal draws with the mean and
    deviation of the pretrained ones in each dimension; padding is zero and stays zero.

    Args:
        vectors: the pretrained vectors.
        vocabulary: gives the words and their ids.
        std: deviation that all entries get, around a mean of 0 in each dimension; a
            model expects the scale of its own first weights. None leaves the vectors as
            they are.
        seed: of the draws.

    Returns:
        an embedding of V rows and E columns in the dtype of the vectors.

    Raises:
        ValueError: std is not positive, or the vectors are all the same.
    """
    shape = (len(vocabulary), vectors.vectors.shape[1])
    mean, deviation = (
        vectors.vectors.mean(dim=0),
        vectors.vectors.std(dim=0, unbiased=False),
    )
    draws = torch.randn(
        shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64
    )
    weight = mean + deviation * draws.to(vectors.vectors)
    known = [
        (row, vectors.ids[token])
        for row, token in enumerate(vocabulary.tokens)
        if token in vectors
    ]
    if known:
        rows, pretrained = torch.tensor(known).unbind(dim=1)
        weight[rows] = vectors.vectors[pretrained]
    if std is not None:
        weight = _rescaled(weight, std)
    weight[PAD] = 0
    return nn.Embedding.from_pretrained(weight, freeze=False, padding_idx=PAD)


def _rescaled(weight: Float[Tensor, "V E"], std: float) -> Float[Tensor, "V E"]:
    if not 0 < std < math.inf:
        raise ValueError(f"std must be positive and finite, got {std}")
    centred = weight - weight[PAD + 1 :].mean(dim=0)
    size = centred[PAD + 1 :].square().mean().sqrt()
    if size == 0:
        raise ValueError(
            "vectors must differ from one another to be rescaled, got equal ones"
        )
    return centred * (std / size)


@dataclass(frozen=True)
class Coverage:
    """What a file of vectors had of the words that were asked for."""

    n_lines: int
    """Words in the file."""
    n_repeated: int
    """Lines with a word that came before; the first one counts."""
    found: tuple[str, ...]
    """Words that got a vector, in the order of the file."""
    missing: tuple[str, ...]
    """Words asked for that the file lacks, sorted."""

    def __str__(self) -> str:
        asked = len(self.found) + len(self.missing)
        shown = ", ".join(self.missing[:10]) + (
            ", ..." if len(self.missing) > 10 else ""
        )
        return (
            f"{len(self.found)} of {asked} words found"
            f" ({len(self.found) / max(asked, 1):.1%}) among {self.n_lines}"
            + (f", {self.n_repeated} repeated" if self.n_repeated else "")
            + (f"; missing: {shown}" if self.missing else "")
        )


def load_vectors(
    path: str | Path, words: Collection[str] | None = None
) -> tuple[WordVectors, Coverage]:
    """Read the vectors of some words, in float32.

    A word may hold spaces, as some of GloVe's do: the last E fields are the numbers.
    The first line is a header if it is two integers. A name that ends in `.gz` is
    decompressed on the way.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line does not fit, the file is cut short, or it has none of the
            words; names the file and the line. The numbers of words that are not wanted
            are counted but not read.
    """
    if isinstance(words, str):
        raise ValueError(
            f"words must be a collection of words, got the string {words[:40]!r}"
        )
    path = Path(path)
    wanted = None if words is None else frozenset(words)
    rows: dict[str, list[float]] = {}
    n_lines = n_repeated = 0
    for number, word, fields in _entries(path):
        n_lines += 1
        if wanted is not None and word not in wanted:
            continue
        if word in rows:
            n_repeated += 1
            continue
        rows[word] = _numbers(path, number, fields)
    if not rows:
        raise ValueError(
            f"{path} has none of the {len(wanted or ())} words among its {n_lines};"
            " compare spellings"
        )
    vectors = WordVectors(tuple(rows), torch.tensor(list(rows.values())))
    return vectors, Coverage(
        n_lines,
        n_repeated,
        tuple(rows),
        tuple(sorted((wanted or frozenset()) - rows.keys())),
    )


def save_vectors(vectors: WordVectors, path: str | Path) -> None:
    """Write the word2vec text format; the file appears whole or not at all.

    Raises:
        ValueError: a word is empty or has a space or a line break in it.
    """
    bad = [word for word in vectors.words if not word or {" ", "\n", "\r"} & set(word)]
    if bad:
        raise ValueError(f"words must have no space or line break, got {bad[0]!r}")
    with whole_file(path) as file:
        file.write(f"{len(vectors)} {vectors.vectors.shape[1]}\n".encode())
        for word, row in zip(vectors.words, vectors.vectors.tolist(), strict=True):
            file.write(f"{word} {' '.join(f'{x:.9g}' for x in row)}\n".encode())


def _entries(path: Path) -> Iterator[tuple[int, str, list[str]]]:
    """(line number, word, its number fields) of every line but the header."""
    promised, size = None, 0
    n_words = 0
    for number, line in _lines(path):
        fields = line.split(" ")
        if (
            number == 1
            and len(fields) == 2
            and all(field.isascii() and field.isdigit() for field in fields)
        ):
            promised, size = int(fields[0]), int(fields[1])
            continue
        size = size or len(fields) - 1
        if size < 1 or len(fields) <= size:
            raise ValueError(
                f"{path}, line {number}: must be a word and {max(size, 1)} numbers, got"
                f" {len(fields)} fields"
            )
        n_words += 1
        yield number, " ".join(fields[:-size]), fields[-size:]
    if promised is not None and n_words != promised:
        raise ValueError(
            f"{path}: its first line promises {promised} words, but it has {n_words};"
            " is it cut short?"
        )
    if n_words == 0:
        raise ValueError(f"{path} must hold word vectors, but it is empty")


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers; only a line feed ends one."""
    number = 0
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        try:
            for number, line in enumerate(file, start=1):
                yield number, line.decode("utf-8").rstrip(" \r\n")
        except UnicodeDecodeError as reason:
            raise ValueError(
                f"{path}, line {number}: must be UTF-8, got other bytes"
            ) from reason
        except (EOFError, gzip.BadGzipFile, zlib.error) as reason:
            raise ValueError(
                f"{path}, after line {number}: {reason}; download it again"
            ) from reason


LARGEST_NUMBER = torch.finfo(torch.float32).max
"""Of a vector that is read."""


def _numbers(path: Path, number: int, fields: list[str]) -> list[float]:
    try:
        numbers = [float(field) for field in fields]
    except ValueError:
        numbers = [math.nan]
    if not all(abs(x) <= LARGEST_NUMBER for x in numbers):
        bad = next(field for field in fields if not _is_finite(field))
        raise ValueError(
            f"{path}, line {number}: must hold finite numbers after the word, got"
            f" {bad!r}"
        )
    return numbers


def _is_finite(field: str) -> bool:
    try:
        return abs(float(field)) <= LARGEST_NUMBER
    except ValueError:
        return False


MAX_WORDS = 20_000
"""Largest vocabulary of a dense count matrix: 20,000 words take 3.2 GB."""


def count_cooccurrences(
    sentences: Iterable[Sequence[str]], vocabulary: Vocabulary, *, window: int
) -> Float[Tensor, "V V"]:
    """How often word j stands at most `window` places from word i.

    Words that the vocabulary lacks are taken out first, as word2vec and GloVe do.

    Raises:
        ValueError: the window is below 1, or the vocabulary is too large for a dense
            matrix.
    """
    if window < 1:
        raise ValueError(f"window must be at least 1, got {window}")
    size = len(vocabulary)
    if size > MAX_WORDS:
        raise ValueError(
            f"vocabulary must have at most {MAX_WORDS} tokens, got {size}; raise its"
            " min_count"
        )
    ids, sentence = flatten(sentences, vocabulary)
    counts = torch.zeros(size * size, dtype=torch.float64)
    for distance in range(1, window + 1):
        together = sentence[:-distance] == sentence[distance:]
        left, right = ids[:-distance][together], ids[distance:][together]
        counts += torch.bincount(left * size + right, minlength=size * size)
    one_way = counts.view(size, size)
    return one_way + one_way.T


def ppmi(
    counts: Float[Tensor, "V C"], *, context_power: float = 1.0, shift: float = 0.0
) -> Float[Tensor, "V C"]:
    """Positive pointwise mutual information, in nats.

        max(0, log(P(w, c) / (P(w) P(c))) - shift),  0 where two words never meet

    Args:
        counts: how often word w (row) meets context c (column).
        context_power: exponent on the counts of contexts in P(c); below 1 (0.75) it
            makes rare contexts count less.
        shift: log k for k negative samples: what skip-gram with k negatives factorises
            is PMI - log k.

    Raises:
        ValueError: a count is negative or not finite, all are zero, or an option is out
            of range.

    Source: Levy and Goldberg 2014, "Neural Word Embedding as Implicit Matrix
    Factorization", sections 3 and 5; the exponent from Levy, Goldberg and Dagan 2015,
    "Improving Distributional Similarity with Lessons Learned from Word Embeddings".
    """
    if not 0 < context_power <= 1:
        raise ValueError(
            f"context_power must lie above 0 and be at most 1, got {context_power}"
        )
    if not 0 <= shift < math.inf:
        raise ValueError(f"shift must be at least 0 and finite, got {shift}")
    if not counts.isfinite().all() or (counts < 0).any() or not counts.any():
        raise ValueError("counts must be finite, at least 0 and not all 0")
    words = counts.sum(dim=1) / counts.sum()
    contexts = counts.sum(dim=0) ** context_power
    contexts = contexts / contexts.sum()
    by_chance = words[:, None] * contexts
    ratio = torch.where(counts > 0, counts / counts.sum() / by_chance, 1)
    return torch.where(counts > 0, ratio.log() - shift, 0).clamp(min=0)


def svd_vectors(
    matrix: Float[Tensor, "V C"], dim: int, *, power: float = 0.5
) -> Float[Tensor, "V dim"]:
    """The rows of a matrix in `dim` numbers each, by truncated SVD: U S^power.

    U S V^T cut to `dim` is the nearest matrix of that rank. Each column's largest entry
    is made positive.

    Args:
        matrix: such as the result of `ppmi`.
        dim: length of the vectors, at most the smaller side of the matrix.
        power: exponent on the singular values: 1 keeps the inner products of the rows,
            0.5 shares them evenly between words and contexts, which suits similarity
            better, 0 drops them.

    Raises:
        ValueError: dim is out of range.

    Source: Levy and Goldberg 2014, section 4.2.
    """
    if not 1 <= dim <= min(matrix.shape):
        raise ValueError(f"dim must lie in 1..{min(matrix.shape)}, got {dim}")
    u, s, _ = torch.linalg.svd(matrix, full_matrices=False)
    return orient(u[:, :dim] * s[:dim] ** power)


def count_vectors(
    sentences: Iterable[Sequence[str]],
    vocabulary: Vocabulary,
    *,
    dim: int,
    window: int = 2,
) -> WordVectors:
    """Word vectors by PPMI (context power 0.75) and truncated SVD, in float32."""
    matrix = ppmi(
        count_cooccurrences(sentences, vocabulary, window=window), context_power=0.75
    )
    return WordVectors.from_vocabulary(vocabulary, svd_vectors(matrix, dim).float())


def flatten(
    sentences: Iterable[Sequence[str]], vocabulary: Vocabulary
) -> tuple[Tensor, Tensor]:
    """The known words' ids (N,) and the numbers of their sentences (N,).

    Raises:
        ValueError: no word of the sentences is in the vocabulary.
    """
    ids: list[int] = []
    lengths: list[int] = []
    for sentence in sentences:
        known = [i for i in vocabulary.encode(sentence) if i != UNK]
        ids += known
        lengths.append(len(known))
    if not ids:
        raise ValueError("sentences must hold words of the vocabulary, got none")
    return torch.tensor(ids), torch.arange(len(lengths)).repeat_interleave(
        torch.tensor(lengths)
    )
