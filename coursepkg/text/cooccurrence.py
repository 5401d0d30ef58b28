"""Word vectors by counting: which words stand near which, how surprising that is, and its best short summary."""

import math
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from coursepkg.text.vocabulary import UNK, Vocabulary
from coursepkg.text.word_vectors import WordVectors, orient

MAX_WORDS = 20_000
"""Largest vocabulary of a dense count matrix: 20,000 words take 3.2 GB."""


def count_cooccurrences(
    sentences: Iterable[Sequence[str]], vocabulary: Vocabulary, *, window: int
) -> Float[Tensor, "V V"]:
    """How often word j stands at most `window` places from word i in one sentence: a symmetric matrix in float64.

    Words that the vocabulary lacks are taken out first, as word2vec and GloVe do.

    Args:
        sentences: lists of tokens.
        vocabulary: gives the rows and columns.
        window: places to either side, 1 or more.

    Raises:
        ValueError: the window is below 1, or the vocabulary is too large for a dense matrix.
    """
    if window < 1:
        raise ValueError(f"window must be at least 1, got {window}")
    size = len(vocabulary)
    if size > MAX_WORDS:
        raise ValueError(f"vocabulary must have at most {MAX_WORDS} tokens, got {size}; raise its min_count")
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
    """Positive pointwise mutual information: how much more often two words meet than by chance, in nats.

        max(0, log(P(w, c) / (P(w) P(c))) - shift),  0 where two words never meet

    Args:
        counts: how often word w (row) meets context c (column).
        context_power: exponent on the counts of contexts in P(c); below 1 (0.75) it makes rare contexts count less.
        shift: log k for k negative samples: what skip-gram with k negatives factorises is PMI - log k.

    Raises:
        ValueError: a count is negative or not finite, all are zero, or an option is out of range.

    Source: Levy and Goldberg 2014, "Neural Word Embedding as Implicit Matrix Factorization", sections 3 and 5; the
    exponent from Levy, Goldberg and Dagan 2015, "Improving Distributional Similarity with Lessons Learned from Word
    Embeddings".
    """
    if not 0 < context_power <= 1:
        raise ValueError(f"context_power must lie above 0 and be at most 1, got {context_power}")
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


def svd_vectors(matrix: Float[Tensor, "V C"], dim: int, *, power: float = 0.5) -> Float[Tensor, "V dim"]:
    """The rows of a matrix in `dim` numbers each: U S^power of its singular value decomposition, cut to `dim`.

    U S V^T cut to `dim` is the nearest matrix of that rank. Each column's largest entry is made positive.

    Args:
        matrix: such as the result of `ppmi`.
        dim: length of the vectors, at most the smaller side of the matrix.
        power: exponent on the singular values: 1 keeps the inner products of the rows, 0.5 shares them evenly between
            words and contexts, which suits similarity better, 0 drops them.

    Raises:
        ValueError: dim is out of range.

    Source: Levy and Goldberg 2014, section 4.2.
    """
    if not 1 <= dim <= min(matrix.shape):
        raise ValueError(f"dim must lie in 1..{min(matrix.shape)}, got {dim}")
    u, s, _ = torch.linalg.svd(matrix, full_matrices=False)
    return orient(u[:, :dim] * s[:dim] ** power)


def count_vectors(
    sentences: Iterable[Sequence[str]], vocabulary: Vocabulary, *, dim: int, window: int = 2
) -> WordVectors:
    """Word vectors by PPMI with smoothed contexts (power 0.75) and truncated SVD, in float32."""
    matrix = ppmi(count_cooccurrences(sentences, vocabulary, window=window), context_power=0.75)
    return WordVectors.from_vocabulary(vocabulary, svd_vectors(matrix, dim).float())


def flatten(sentences: Iterable[Sequence[str]], vocabulary: Vocabulary) -> tuple[Tensor, Tensor]:
    """All known words of some sentences in a row: their ids (N,) and the numbers of their sentences (N,).

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
    return torch.tensor(ids), torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths))
