"""Word vectors: one vector a word, whatever its sentence. Nearest words, analogies, and a start for an embedding."""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import normalize

from coursepkg.text.vocabulary import PAD, SPECIALS, Vocabulary


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
            raise ValueError(f"vectors must be (V, E) for the {len(self.words)} words, got {shape}")
        if not self.vectors.is_floating_point() or not self.vectors.isfinite().all():
            raise ValueError("vectors must be finite floating-point numbers, got others")
        object.__setattr__(self, "ids", {word: i for i, word in enumerate(self.words)})
        if len(self.ids) != len(self.words):
            raise ValueError("words must be distinct, but some occur more than once")

    @classmethod
    def from_vocabulary(cls, vocabulary: Vocabulary, vectors: Tensor) -> "WordVectors":
        """Vectors (V, E), one for each id of a vocabulary; those of the special tokens are left out."""
        if vectors.shape[0] != len(vocabulary):
            raise ValueError(
                f"vectors must have a row for each of the {len(vocabulary)} ids, got {vectors.shape[0]}"
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
            raise ValueError(f"word must be one of the {len(self.words)} that have a vector, got {word!r}")
        return self.vectors[self.ids[word]]

    def similarity(self, first: str, second: str) -> float:
        """Cosine of the angle between the vectors of two words; 0 where one of them is zero."""
        return float(normalize(self[first], dim=0) @ normalize(self[second], dim=0))

    def nearest(
        self, query: str | Tensor, n: int = 5, *, exclude: Collection[str] = ()
    ) -> list[tuple[str, float]]:
        """The words with the largest cosine to a word or a vector, and the cosines; equal ones in the order of rows.

        Args:
            query: a word, which is left out of its own neighbours, or a vector (E,).
            n: how many.
            exclude: other words to leave out.

        Raises:
            ValueError: the word has no vector, the vector has another size, or n is below 1.
        """
        if n < 1:
            raise ValueError(f"n must be at least 1, got {n}")
        vector = self[query] if isinstance(query, str) else query
        if vector.shape != self.vectors.shape[1:]:
            raise ValueError(
                f"query must have the shape {tuple(self.vectors.shape[1:])}, got {tuple(vector.shape)}"
            )
        hidden = {*exclude, query} if isinstance(query, str) else set(exclude)
        cosines = normalize(self.vectors, dim=1) @ normalize(vector.to(self.vectors), dim=0)
        order = cosines.sort(descending=True, stable=True).indices.tolist()
        found = [(self.words[i], float(cosines[i])) for i in order if self.words[i] not in hidden]
        return found[:n]

    def analogy(
        self, a: str, b: str, c: str, n: int = 1, *, exclude_given: bool = True
    ) -> list[tuple[str, float]]:
        """What is to c as b is to a: the words nearest to b - a + c, of vectors of length 1.

        Args:
            a: the word that b is set against.
            b: its partner.
            c: the word whose partner is asked for.
            n: how many answers.
            exclude_given: leave a, b and c out of the answers. Almost every published score does so; without it the
                answer is often b or c itself.

        Source: Mikolov, Yih and Zweig 2013, "Linguistic Regularities in Continuous Space Word Representations".
        """
        unit_a, unit_b, unit_c = (normalize(self[word], dim=0) for word in (a, b, c))
        return self.nearest(unit_b - unit_a + unit_c, n, exclude=(a, b, c) if exclude_given else ())

    def principal_components(self, words: Sequence[str], n: int = 2) -> Float[Tensor, "words n"]:
        """A map of some words: their coordinates along the n directions in which they differ most.

        The largest coordinate of each direction is made positive.

        Raises:
            ValueError: a word has no vector, or n is more than the words or the dimensions allow.
        """
        chosen = torch.stack([self[word] for word in words])
        if not 1 <= n <= min(chosen.shape):
            raise ValueError(f"n must lie in 1..{min(chosen.shape)}, got {n}")
        u, s, _ = torch.linalg.svd(chosen - chosen.mean(dim=0), full_matrices=False)
        return orient(u[:, :n] * s[:n])


def orient(columns: Float[Tensor, "rows n"]) -> Float[Tensor, "rows n"]:
    """Columns whose entry of largest size is positive: a singular vector is defined up to its sign only."""
    largest = columns.abs().argmax(dim=0)
    signs = columns.gather(0, largest[None]).sign()
    return columns * torch.where(signs == 0, 1, signs)


def embedding_from(
    vectors: WordVectors, vocabulary: Vocabulary, *, std: float | None = None, seed: int = 0
) -> nn.Embedding:
    """An embedding that begins with pretrained vectors; it trains on like any other.

    Words without a vector, and the special tokens, get normal draws with the mean and deviation of the pretrained
    ones in each dimension; padding is zero and stays zero.

    Args:
        vectors: the pretrained vectors.
        vocabulary: gives the words and their ids.
        std: deviation that all entries get, around a mean of 0 in each dimension; a model expects the scale of its
            own first weights. None leaves the vectors as they are.
        seed: of the draws.

    Returns:
        an embedding of V rows and E columns in the dtype of the vectors.

    Raises:
        ValueError: std is not positive, or the vectors are all the same.
    """
    shape = (len(vocabulary), vectors.vectors.shape[1])
    mean, deviation = vectors.vectors.mean(dim=0), vectors.vectors.std(dim=0, unbiased=False)
    draws = torch.randn(shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    weight = mean + deviation * draws.to(vectors.vectors)
    known = [(row, vectors.ids[token]) for row, token in enumerate(vocabulary.tokens) if token in vectors]
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
        raise ValueError("vectors must differ from one another to be rescaled, got equal ones")
    return centred * (std / size)
