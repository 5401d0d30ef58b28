"""How sentence vectors lie: do translations find each other, and is the space used evenly?

Alignment and uniformity are the two things that InfoNCE rewards: partners close together, all vectors spread over the
sphere. Source: Wang and Isola (arXiv 2005.10242), sections 4.1 and 4.2.
"""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from coursepkg.arguments import check_count, check_finite
from coursepkg.blocks.transformer import Transformer
from coursepkg.projects.translation.contrastive.batches import ContrastiveBatch
from coursepkg.projects.translation.contrastive.task import WithProjection, bilingual_loss, mean_pool
from coursepkg.text.vocabulary import EOS, pad_batch

TIE = 1e-6
"""Cosines that differ by less are equal: rounding alone moves equal sentences that far apart."""


class Retrieval(NamedTuple):
    """Share of sentences whose translation is the nearest of all, by cosine."""

    forward: float
    """From a to b."""
    backward: float
    """From b to a."""


@torch.no_grad()
def sentence_vectors(
    model: Transformer | WithProjection,
    sentences: Sequence[Sequence[int]],
    *,
    tags: Iterable[int],
    batch_size: int = 64,
) -> Tensor:
    """A unit vector for each sentence, without dropout; the model is left in the mode that it came in.

    Args:
        model: with its head, or bare: then the pooled outputs of the encoder are taken, so that a model from before
            the contrastive stage can be measured too.
        sentences: source ids, tag in front, without EOS.
        tags: ids of the language tags; pooling leaves them out.
        batch_size: sentences in a pass; it changes no vector by more than rounding.

    Returns:
        (B, P) or (B, E), in the order of the sentences, on the CPU.

    Raises:
        ValueError: there is no sentence, or batch_size is below 1.
    """
    check_count("batch_size", batch_size)
    if not sentences:
        raise ValueError("sentences must hold at least one sentence, got none")
    tags = tuple(tags)
    device = next(model.parameters()).device
    order = sorted(range(len(sentences)), key=lambda i: len(sentences[i]))
    rows: list[Tensor] = []
    was_training = model.training
    try:
        model.eval()
        for start in range(0, len(order), batch_size):
            padded, _ = pad_batch([[*sentences[i], EOS] for i in order[start : start + batch_size]])
            src = padded.to(device)
            if isinstance(model, WithProjection):
                vectors = model(src)
            else:
                vectors = F.normalize(mean_pool(model.encode(src).outputs, src, tags), dim=-1)
            rows.append(vectors.cpu())
    finally:
        model.train(was_training)
    return torch.cat(rows)[torch.tensor(order).argsort()]


def similarity_matrix(a: Tensor, b: Tensor) -> Tensor:
    """Cosines of every vector of a (N, P) with every one of b (M, P): (N, M)."""
    _check_vectors(a, b, same_count=False)
    return F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).T


def retrieval_accuracy(a: Tensor, b: Tensor) -> Retrieval:
    """How often the nearest neighbour of a sentence is its translation, among all that are given.

    Where several are equally near, the translation counts as one of them: 1 / their number. Vectors that have all
    collapsed into one thus score chance, 1 / B. Equal sentences share the credit in the same way; give distinct ones.

    Args:
        a: vectors (B, P).
        b: those of the translations (B, P), row by row.

    Raises:
        ValueError: the shapes differ, or there is no row.
    """
    _check_vectors(a, b)
    cosines = similarity_matrix(a, b)
    return Retrieval(_hits(cosines), _hits(cosines.T))


def alignment(a: Tensor, b: Tensor, power: int | float = 2) -> float:
    """Mean distance of partners on the unit sphere, to a power: mean_i |a_i - b_i|^power; 0 is best.

    Raises:
        ValueError: the shapes (B, P) differ, there is no row, or the power is not above 0.
    """
    _check_vectors(a, b)
    _check_positive("power", power)
    gap = F.normalize(a, dim=-1) - F.normalize(b, dim=-1)
    return float(gap.norm(dim=-1).pow(power).mean())


def uniformity(x: Tensor, t: int | float = 2) -> float:
    """How evenly vectors lie on the unit sphere: log mean_{i<j} exp(-t |x_i - x_j|^2).

    0 where all are one point; the lower, the more even.

    Args:
        x: vectors (B, P), at least 2.
        t: sharpness, above 0.

    Raises:
        ValueError: there are fewer than 2 vectors, or t is not above 0.
    """
    _check_vectors(x, x)
    _check_positive("t", t)
    if len(x) < 2:
        raise ValueError(f"x must have at least 2 rows, got {len(x)}")
    distances = torch.pdist(F.normalize(x, dim=-1))
    return float((-t * distances.square()).logsumexp(dim=0)) - math.log(len(distances))


@torch.no_grad()
def mean_bilingual_loss(
    model: WithProjection, batches: Iterable[ContrastiveBatch], temperature: int | float
) -> float:
    """`bilingual_loss` a sentence over some batches, without dropout; chance is the log of the batch size.

    Batches with fewer than 2 distinct pairs are left out, as they have no negatives.

    Raises:
        ValueError: no batch has two distinct pairs.
    """
    was_training = model.training
    device = next(model.parameters()).device
    total, count = 0.0, 0
    try:
        model.eval()
        for batch in batches:
            n_pairs = batch.views.shape[1]
            if n_pairs > 1:
                total += n_pairs * float(bilingual_loss(model, batch.to(device), temperature))
                count += n_pairs
    finally:
        model.train(was_training)
    if not count:
        raise ValueError("batches must hold a batch of at least two distinct pairs, got none")
    return total / count


def _hits(cosines: Tensor) -> float:
    """Share of rows whose diagonal entry is the largest; ties share."""
    is_best = cosines >= cosines.max(dim=1, keepdim=True).values - TIE
    return float((is_best.diagonal() / is_best.sum(dim=1)).mean())


def _check_positive(name: str, value: int | float) -> None:
    check_finite(name, value)
    if value <= 0:
        raise ValueError(f"{name} must be above 0, got {value}")


def _check_vectors(a: Tensor, b: Tensor, *, same_count: bool = True) -> None:
    good = a.dim() == b.dim() == 2 and a.shape[1] == b.shape[1] and len(a) and len(b)
    if not good or (same_count and len(a) != len(b)):
        shapes = f"{tuple(a.shape)} and {tuple(b.shape)}"
        raise ValueError(
            f"vectors must be rows of one width, in pairs where pairs are compared, got {shapes}"
        )
