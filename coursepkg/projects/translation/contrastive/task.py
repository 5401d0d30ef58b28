"""The contrastive stage: a sentence and its translation shall have like vectors, other sentences unlike ones.

    z(x) = g(mean of the encoder's outputs over the content tokens of x)            g: the projection head
    loss = L_MT + lambda_1 L_bilingual + lambda_2 L_monolingual

L_MT is the mean over target tokens, the other two are means over sentences of InfoNCE between two views of each
sentence (see `views`). The head serves training only: `WithProjection.transformer` is the translator.
Source: Olympiad tutorials, first tutorial, section V, step 8, and section VI.4.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.arguments import check_count, check_finite
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.state import CachedState
from coursepkg.blocks.transformer import Transformer
from coursepkg.projects.translation.contrastive.batches import ContrastiveBatch
from coursepkg.projects.translation.task import TranslationTask
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK
from coursepkg.training.losses import info_nce, to_float32


class ProjectionHead(nn.Module):
    """Linear, ReLU, Linear, then length 1: vectors (..., E) -> (..., P) whose dot products are cosines."""

    def __init__(self, d_model: int, d_projection: int = 128) -> None:
        super().__init__()
        check_count("d_model", d_model)
        check_count("d_projection", d_projection)
        self.inner = nn.Linear(d_model, d_model)
        self.outer = nn.Linear(d_model, d_projection)

    def forward(self, x: Tensor) -> Tensor:
        """Pooled vectors (..., E) -> unit vectors (..., P), in float32 where they came in half precision."""
        return F.normalize(to_float32(self.outer(self.inner(x).relu())), dim=-1)


def mean_pool(outputs: Tensor, ids: Tensor, tags: Iterable[int]) -> Tensor:
    """Mean of the encoder's outputs over content tokens: all but PAD, BOS, EOS and the language tags.

    Args:
        outputs: (B, S, E).
        ids: what the encoder read (B, S).
        tags: ids of the language tags.

    Returns:
        (B, E), float32 where the outputs are of half precision; zeros for a row without content.
    """
    special = torch.tensor([PAD, BOS, EOS, *tags], device=ids.device)
    is_content = ~torch.isin(ids, special)
    total = to_float32(outputs).masked_fill(~is_content[..., None], 0.0).sum(dim=1)
    return total / is_content.sum(dim=1, keepdim=True).clamp_min(1)


class WithProjection(nn.Module):
    """A Transformer and the projection head that trains beside it, as one network with one checkpoint.

    Both are kept, not copied: after training the `transformer` that was passed in is the trained one. To get it back
    from a run's folder, `restore` into a `WithProjection` of the same sizes and take its `transformer`.

    Args:
        transformer: the translator.
        projection: its head, made for `transformer.config.d_model`.
        tags: ids of the language tags, which pooling leaves out.

    Raises:
        ValueError: a tag is no ordinary token of the source vocabulary, or there is none.
    """

    def __init__(self, transformer: Transformer, projection: ProjectionHead, tags: Iterable[int]) -> None:
        super().__init__()
        self.transformer, self.projection, self.tags = transformer, projection, tuple(tags)
        config = transformer.config
        size = config.vocab_size if config.source_vocab_size is None else config.source_vocab_size
        if not self.tags:
            raise ValueError("tags must hold at least one id, got none")
        for tag in self.tags:
            check_count("tags", tag, UNK + 1, size - 1)
        if projection.inner.in_features != config.d_model:
            raise ValueError(
                f"projection must be made for d_model = {config.d_model}, got {projection.inner.in_features}"
            )

    @property
    def config(self) -> TransformerConfig:
        """The Transformer's."""
        return self.transformer.config

    def forward(self, src: Tensor, tgt_in: Tensor | None = None) -> Tensor:
        """Translate or embed, in one place, because data-parallel training synchronises on this call only.

        Args:
            src: source ids (B, S), PAD behind their ends.
            tgt_in: target ids (B, T), or None.

        Returns:
            with tgt_in the Transformer's logits (B, T, V), without it a unit vector a sentence (B, P).
        """
        if tgt_in is not None:
            logits: Tensor = self.transformer(src, tgt_in)
            return logits
        vectors: Tensor = self.projection(mean_pool(self.transformer.encode(src).outputs, src, self.tags))
        return vectors

    def start(self, src: Tensor, *, max_len: int) -> CachedState:
        """Make ready to decode with the Transformer, so that a run can validate by translating."""
        return self.transformer.start(src, max_len=max_len)


@dataclass
class ContrastiveTask:
    """Translate as `translation` says, and bring the views of a sentence together.

    `fit` divides what `loss` sums by the number of target tokens. So that each weight means what it means in the
    formula above, the contrastive means come in times that number:

        loss(batch) = sum over target tokens + n_tokens * (weight * L_bilingual + self_weight * L_monolingual)

    A step over several batches thus averages their contrastive losses, each weighted by its target tokens. A batch
    with fewer than 2 distinct pairs has no negatives and adds nothing. With both weights 0 this is `translation`,
    draw by draw, and the head gets no gradient; data-parallel training then wants the bare Transformer.
    """

    translation: TranslationTask = field(default_factory=TranslationTask)
    """The translation loss."""
    weight: int | float = 0.1
    """Weight of the bilingual loss, at least 0."""
    temperature: int | float = 0.1
    """Divides the cosines, above 0: the smaller, the more the nearest negatives count."""
    self_weight: int | float = 0.0
    """Weight of the monolingual loss, at least 0; above 0 the batches must be made with `versions`."""

    def __post_init__(self) -> None:
        for name in ("weight", "self_weight"):
            check_finite(name, getattr(self, name))
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must be at least 0, got {getattr(self, name)}")
        check_finite("temperature", self.temperature)
        if self.temperature <= 0:
            raise ValueError(f"temperature must be above 0, got {self.temperature}")

    def start_step(self, step: int) -> None:
        """Say which step, counted from 1, the coming batches belong to."""
        self.translation.start_step(step)

    def count(self, batch: ContrastiveBatch) -> int:
        """Target tokens of the translations, EOS included."""
        return self.translation.count(batch.text)

    def loss(self, model: Any, batch: ContrastiveBatch) -> Tensor:
        """Summed loss of a batch.

        Args:
            model: `WithProjection`, bare or wrapped by Fabric.
            batch: on the device of the model.

        Raises:
            ValueError: self_weight is above 0, but the batch has no versions.
        """
        total = self.translation.loss(model, batch.text)
        if self.weight:
            total = total + self.weight * self.count(batch) * bilingual_loss(model, batch, self.temperature)
        if self.self_weight:
            loss = monolingual_loss(model, batch, self.temperature)
            total = total + self.self_weight * self.count(batch) * loss
        return total


def bilingual_loss(model: Any, batch: ContrastiveBatch, temperature: int | float) -> Tensor:
    """InfoNCE between the two languages, averaged over two spaces: all asked for b, and all asked for a.

    (InfoNCE(a<2b>, b<2b>) + InfoNCE(b<2a>, a<2a>)) / 2         a mean over sentences; log B at chance
    """
    return _mean_info_nce(model, batch.views.view(2, 2, *batch.views.shape[1:]), temperature)


def monolingual_loss(model: Any, batch: ContrastiveBatch, temperature: int | float) -> Tensor:
    """InfoNCE between two versions of each sentence, averaged over the two languages.

    Raises:
        ValueError: the batch has no versions.
    """
    if batch.versions is None:
        raise ValueError("self_weight must be 0 unless the batches are made with versions")
    return _mean_info_nce(model, batch.versions, temperature)


def _mean_info_nce(model: Any, ids: Tensor, temperature: int | float) -> Tensor:
    """Mean of InfoNCE(ids[k, 0], ids[k, 1]) over k; ids (K, 2, B, S) go through the encoder in one pass."""
    vectors = model(ids.flatten(0, 2)).unflatten(0, ids.shape[:3])  # (K, 2, B, P)
    if ids.shape[2] < 2:
        # Every process must reach the head in every step, or those that have negatives wait for this one.
        return 0.0 * vectors.sum()
    losses = [info_nce(first, second, temperature, reduction="mean") for first, second in vectors]
    return torch.stack(losses).mean()
