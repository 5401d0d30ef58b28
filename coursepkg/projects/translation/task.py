"""What a translation model learns from a batch of sentence pairs: the loss that `fit` minimises."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from coursepkg.blocks.seq2seq import GRUSeq2Seq
from coursepkg.data.batching import TextBatch
from coursepkg.text.vocabulary import PAD
from coursepkg.training import task as training_task
from coursepkg.training.losses import CONVENTIONS, label_smoothed_cross_entropy
from coursepkg.training.rdrop import r_drop_loss, twice
from coursepkg.training.scheduled_sampling import mix_in_parallel, mix_step_by_step
from coursepkg.training.schedules import Schedule


@dataclass
class TranslationTask:
    """Predict every target token from the source and the target tokens before it, in a `Transformer` or `GRUSeq2Seq`.

    Losses are sums over the target tokens of a batch, EOS included. In evaluation mode the decoder reads the true
    tokens in one pass, whatever the settings.
    """

    label_smoothing: float = 0.1
    """Share of the target distribution that goes to other tokens, at least 0 and below 1."""
    convention: str = "pytorch"
    """How it is shared out, one of `losses.CONVENTIONS`."""
    r_drop_alpha: int | float = 0.0
    """Weight of R-Drop's divergence, at least 0; 0 makes one pass instead of two."""
    scheduled_sampling: Schedule | None = None
    """Probability of a true token in the decoder's input, by step; None is teacher forcing."""
    _step: int | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        if not 0.0 <= self.label_smoothing < 1.0:
            raise ValueError(f"label_smoothing must be at least 0 and below 1, got {self.label_smoothing}")
        if self.convention not in CONVENTIONS:
            raise ValueError(f"convention must be one of {', '.join(CONVENTIONS)}, got {self.convention!r}")
        if not 0 <= self.r_drop_alpha < float("inf"):
            raise ValueError(f"r_drop_alpha must be at least 0 and finite, got {self.r_drop_alpha}")

    def start_step(self, step: int) -> None:
        """Say which step, counted from 1, the coming batches belong to; scheduled sampling goes by it."""
        self._step = step

    def count(self, batch: TextBatch) -> int:
        """Target tokens of the batch, EOS included."""
        return batch.n_tokens

    def loss(self, model: Any, batch: TextBatch) -> Tensor:
        """Summed loss of a batch.

        Args:
            model: `Transformer` or `GRUSeq2Seq`, bare or wrapped by Fabric.
            batch: on the device of the model.

        Raises:
            ValueError: scheduled sampling is on, but no step was started.
        """
        tgt_in = self._mixed(model, batch) if model.training else batch.tgt_in
        if self.r_drop_alpha and model.training:
            return r_drop_loss(
                predict(model, twice(batch.src), twice(tgt_in)),
                batch.tgt_out,
                self.r_drop_alpha,
                smoothing=self.label_smoothing,
                convention=self.convention,
            )
        logits = predict(model, batch.src, tgt_in)
        return label_smoothed_cross_entropy(
            logits, batch.tgt_out, self.label_smoothing, convention=self.convention
        )

    def _mixed(self, model: Any, batch: TextBatch) -> Tensor:
        """The decoder's input of this step: true tokens, or a mixture of true and predicted ones."""
        if self.scheduled_sampling is None:
            return batch.tgt_in
        if self._step is None:
            raise ValueError("start_step must be called before loss where scheduled_sampling is given")
        p = 1.0 - self.scheduled_sampling(self._step)
        if p == 0.0:
            return batch.tgt_in
        inner = _unwrapped(model)
        if isinstance(inner, GRUSeq2Seq):
            state = inner.start(batch.src, max_len=batch.tgt_in.shape[1])
            return mix_step_by_step(state.step, batch.tgt_in, p)
        with torch.no_grad():
            logits = predict(model, batch.src, batch.tgt_in)
        return mix_in_parallel(logits, batch.tgt_in, p)


def predict(model: Any, src: Tensor, tgt_in: Tensor) -> Tensor:
    """Logits (B, T, V) of a `Transformer` or a `GRUSeq2Seq`, bare or wrapped by Fabric."""
    if isinstance(_unwrapped(model), GRUSeq2Seq):
        return model(src, (src != PAD).sum(dim=1), tgt_in)
    return model(src, tgt_in)


def mean_loss(model: nn.Module, batches: Iterable[TextBatch]) -> float:
    """Cross-entropy a target token over some batches, in nats, without smoothing and dropout.

    Its exponential is the perplexity. The model is left in the mode that it came in.

    Raises:
        ValueError: there is no batch.
    """
    return training_task.mean_loss(model, TranslationTask(label_smoothing=0.0), batches)


def _unwrapped(model: Any) -> nn.Module:
    """The module inside Fabric's wrapper."""
    return getattr(model, "module", model)
