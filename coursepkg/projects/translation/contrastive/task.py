"""The contrastive stage, and how sentence vectors lie before and after it.

Translations shall have like vectors, other sentences unlike ones::

    z(x) = g(mean of the encoder's outputs over the content tokens of x)
    loss = L_MT + lambda_1 L_bilingual + lambda_2 L_monolingual

g is the projection head. L_MT is the mean over target tokens, the other two are means
over sentences of InfoNCE between two views of each sentence (`batches`). The head
serves training only: `WithProjection.transformer` is the translator. Source: Olympiad
tutorials, first tutorial, section V, step 8, and section VI.4.

InfoNCE rewards alignment, partners close together, and uniformity, all vectors spread
over the sphere. Source: Wang and Isola (arXiv 2005.10242), sections 4.1 and 4.2.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.app.jobs import chunks
from coursepkg.blocks.cache import CachedState
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.norm import to_float32
from coursepkg.blocks.transformer import Transformer
from coursepkg.projects.translation.contrastive.batches import ContrastiveBatch
from coursepkg.projects.translation.task import TranslationTask
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK, pad_batch
from coursepkg.training.losses import info_nce
from coursepkg.training.task import eval_mode
from coursepkg.validation import (
    check_at_least,
    check_count,
    check_finite,
    check_positive,
)


class ProjectionHead(nn.Module):
    """Linear, ReLU, Linear, normalise: (..., E) -> unit vectors (..., P)."""

    def __init__(self, d_model: int, d_projection: int = 128) -> None:
        super().__init__()
        check_count("d_model", d_model)
        check_count("d_projection", d_projection)
        self.inner = nn.Linear(d_model, d_model)
        self.outer = nn.Linear(d_model, d_projection)

    def forward(self, x: Tensor) -> Tensor:
        """Pooled vectors (..., E) -> unit vectors (..., P), in at least float32."""
        return F.normalize(to_float32(self.outer(self.inner(x).relu())), dim=-1)


def mean_pool(outputs: Tensor, ids: Tensor, tags: Iterable[int]) -> Tensor:
    """Mean of the encoder's outputs over all but PAD, BOS, EOS and language tags.

    Args:
        ids: what the encoder read (B, S).
        tags: ids of the language tags.

    Returns:
        (B, E), float32 where the outputs are of half precision; zeros for a row without
        content.
    """
    special = torch.tensor([PAD, BOS, EOS, *tags], device=ids.device)
    is_content = ~torch.isin(ids, special)
    total = to_float32(outputs).masked_fill(~is_content[..., None], 0.0).sum(dim=1)
    return total / is_content.sum(dim=1, keepdim=True).clamp_min(1)


class WithProjection(nn.Module):
    """A Transformer and its projection head as one network with one checkpoint.

    Both are kept, not copied: after training the `transformer` that was passed in is
    the trained one. To get it back from a run's folder, `restore` into a
    `WithProjection` of the same sizes and take its `transformer`.

    Args:
        projection: its head, made for `transformer.config.d_model`.
        tags: ids of the language tags, which pooling leaves out.

    Raises:
        ValueError: a tag is no ordinary token of the source vocabulary, or there is
            none.
    """

    def __init__(
        self, transformer: Transformer, projection: ProjectionHead, tags: Iterable[int]
    ) -> None:
        super().__init__()
        self.transformer, self.projection = transformer, projection
        self.tags = tuple(tags)
        config = transformer.config
        size = config.source_vocab_size
        size = config.vocab_size if size is None else size
        if not self.tags:
            raise ValueError("tags must hold at least one id, got none")
        for tag in self.tags:
            check_count("tags", tag, UNK + 1, size - 1)
        if projection.inner.in_features != config.d_model:
            raise ValueError(
                f"projection must be made for d_model = {config.d_model}, got"
                f" {projection.inner.in_features}"
            )

    @property
    def config(self) -> TransformerConfig:
        """The Transformer's."""
        return self.transformer.config

    def forward(self, src: Tensor, tgt_in: Tensor | None = None) -> Tensor:
        """Translate or embed: data-parallel training synchronises on this call only.

        Args:
            src: source ids (B, S), PAD behind their ends.
            tgt_in: target ids (B, T), or None.

        Returns:
            with tgt_in the Transformer's logits (B, T, V), without it a unit vector a
            sentence (B, P).
        """
        if tgt_in is not None:
            logits: Tensor = self.transformer(src, tgt_in)
            return logits
        vectors: Tensor = self.projection(
            mean_pool(self.transformer.encode(src).outputs, src, self.tags)
        )
        return vectors

    def start(self, src: Tensor, *, max_len: int) -> CachedState:
        """Make ready to decode, so that a run can validate by translating."""
        return self.transformer.start(src, max_len=max_len)


@dataclass
class ContrastiveTask:
    """Translate as `translation` says, and bring the views of a sentence together.

    `fit` divides what `loss` sums by the number of target tokens. So that each weight
    means what it means in the formula above, the contrastive means come in times that
    number:

        loss(batch) = sum over target tokens + n_tokens * (weight * L_bilingual +
        self_weight * L_monolingual)

    A step over several batches thus averages their contrastive losses, each weighted by
    its target tokens. A batch with fewer than 2 distinct pairs has no negatives and
    adds nothing. With both weights 0 this is `translation`, draw by draw, and the head
    gets no gradient; data-parallel training then wants the bare Transformer.
    """

    translation: TranslationTask = field(default_factory=TranslationTask)
    """The translation loss."""
    weight: int | float = 0.1
    """Weight of the bilingual loss, at least 0."""
    temperature: int | float = 0.1
    """Divides the cosines, above 0: the smaller, the more the nearest negatives count.
    """
    self_weight: int | float = 0.0
    """Weight of the monolingual loss, at least 0; above 0 it needs `versions`."""

    def __post_init__(self) -> None:
        for name in ("weight", "self_weight"):
            check_finite(name, getattr(self, name))
            check_at_least(name, getattr(self, name), 0)
        check_positive("temperature", self.temperature)

    def start_step(self, step: int) -> None:
        """Say which step, counted from 1, the coming batches belong to."""
        self.translation.start_step(step)

    def count(self, batch: ContrastiveBatch) -> int:
        """Target tokens of the translations, EOS included."""
        return self.translation.count(batch.text)

    def loss(self, model: Any, batch: ContrastiveBatch) -> Tensor:
        """Summed loss of a batch.

        Raises:
            ValueError: self_weight is above 0, but the batch has no versions.
        """
        total = self.translation.loss(model, batch.text)
        if self.weight:
            total = total + self.weight * self.count(batch) * bilingual_loss(
                model, batch, self.temperature
            )
        if self.self_weight:
            loss = monolingual_loss(model, batch, self.temperature)
            total = total + self.self_weight * self.count(batch) * loss
        return total


def bilingual_loss(
    model: Any, batch: ContrastiveBatch, temperature: int | float
) -> Tensor:
    """InfoNCE between the two languages, averaged over both target spaces.

    (InfoNCE(a<2b>, b<2b>) + InfoNCE(b<2a>, a<2a>)) / 2,  log B at chance
    """
    return _mean_info_nce(
        model, batch.views.view(2, 2, *batch.views.shape[1:]), temperature
    )


def monolingual_loss(
    model: Any, batch: ContrastiveBatch, temperature: int | float
) -> Tensor:
    """InfoNCE between two versions of each sentence, averaged over the two languages.

    Raises:
        ValueError: the batch has no versions.
    """
    if batch.versions is None:
        raise ValueError(
            "self_weight must be 0 unless the batches are made with versions"
        )
    return _mean_info_nce(model, batch.versions, temperature)


def _mean_info_nce(model: Any, ids: Tensor, temperature: int | float) -> Tensor:
    """Mean of InfoNCE(ids[k, 0], ids[k, 1]) over k; ids (K, 2, B, S) in one pass."""
    vectors = model(ids.flatten(0, 2)).unflatten(0, ids.shape[:3])  # (K, 2, B, P)
    if ids.shape[2] < 2:
        # Every process must reach the head in every step, or those that have negatives
        # wait for this one.
        return 0.0 * vectors.sum()
    losses = [
        info_nce(first, second, temperature, reduction="mean")
        for first, second in vectors
    ]
    return torch.stack(losses).mean()


TIE = 1e-6
"""Cosines that differ by less are equal: rounding moves equal sentences so far."""


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
    """A unit vector for each sentence, without dropout; the mode is kept.

    Args:
        model: with its head, or bare: then the pooled outputs of the encoder are taken,
            so that a model from before the contrastive stage can be measured too.
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
    with eval_mode(model):
        for chosen in chunks(order, batch_size):
            padded, _ = pad_batch([[*sentences[i], EOS] for i in chosen])
            src = padded.to(device)
            if isinstance(model, WithProjection):
                vectors = model(src)
            else:
                pooled = mean_pool(model.encode(src).outputs, src, tags)
                vectors = F.normalize(pooled, dim=-1)
            rows.append(vectors.cpu())
    return torch.cat(rows)[torch.tensor(order).argsort()]


def similarity_matrix(a: Tensor, b: Tensor) -> Tensor:
    """Cosines of every vector of a (N, P) with every one of b (M, P): (N, M)."""
    _check_vectors(a, b, same_count=False)
    return F.normalize(a, dim=-1) @ F.normalize(b, dim=-1).T


def retrieval_accuracy(a: Tensor, b: Tensor) -> Retrieval:
    """How often a sentence of a (B, P) is nearest to its translation in b (B, P).

    Where several are equally near, the translation counts as one of them: 1 / their
    number. Vectors that have all collapsed into one thus score chance, 1 / B. Equal
    sentences share the credit in the same way; give distinct ones.

    Raises:
        ValueError: the shapes differ, or there is no row.
    """
    _check_vectors(a, b)
    cosines = similarity_matrix(a, b)
    return Retrieval(_hits(cosines), _hits(cosines.T))


def alignment(a: Tensor, b: Tensor, power: int | float = 2) -> float:
    """Mean distance of partners on the unit sphere: mean_i |a_i - b_i|^power.

    Raises:
        ValueError: the shapes (B, P) differ, there is no row, or the power is not above
            0.
    """
    _check_vectors(a, b)
    check_positive("power", power)
    gap = F.normalize(a, dim=-1) - F.normalize(b, dim=-1)
    return float(gap.norm(dim=-1).pow(power).mean())


def uniformity(x: Tensor, t: int | float = 2) -> float:
    """How evenly vectors lie on the unit sphere: log mean_{i<j} exp(-t |x_i - x_j|^2).

    0 where all are one point; the lower, the more even.

    Raises:
        ValueError: there are fewer than 2 vectors, or t is not above 0.
    """
    _check_vectors(x, x)
    check_positive("t", t)
    if len(x) < 2:
        raise ValueError(f"x must have at least 2 rows, got {len(x)}")
    distances = torch.pdist(F.normalize(x, dim=-1))
    return float((-t * distances.square()).logsumexp(dim=0)) - math.log(len(distances))


def _hits(cosines: Tensor) -> float:
    """Share of rows whose diagonal entry is the largest; ties share."""
    is_best = cosines >= cosines.max(dim=1, keepdim=True).values - TIE
    return float((is_best.diagonal() / is_best.sum(dim=1)).mean())


def _check_vectors(a: Tensor, b: Tensor, *, same_count: bool = True) -> None:
    good = a.dim() == b.dim() == 2 and a.shape[1] == b.shape[1] and len(a) and len(b)
    if not good or (same_count and len(a) != len(b)):
        shapes = f"{tuple(a.shape)} and {tuple(b.shape)}"
        raise ValueError(
            "vectors must be rows of one width, in pairs where pairs are compared, got"
            f" {shapes}"
        )
