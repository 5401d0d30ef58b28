"""What a recogniser learns from a batch of lines: the loss that `fit` minimises.

    loss = cross-entropy of the decoder (label smoothing) + ctc_weight * CTC loss

both summed over the lines of the batch. The decoder learns to spell, CTC ties the encoder to where letters stand:
early in training, before the decoder knows where to look, most of what the CNN learns comes from it.

A network that learns `ctc` alone (`LineTransformer.let_learn`) has the CTC loss only, and one that learns its decoder
behind a finished encoder only the cross-entropy: CTC alone takes three quarters of a step's time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.projects.ocr.data.batches import LineBatch
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK
from coursepkg.training import task as training_task
from coursepkg.training.losses import label_smoothed_cross_entropy, to_float32


@dataclass
class LineTask:
    """Predict every character from the picture and the characters before it; and the whole text by CTC.

    Losses are sums over the target tokens of a batch, EOS included.
    """

    label_smoothing: float = 0.1
    """Share of the target distribution that goes to other characters, in [0, 1)."""
    token_mask: float = 0.05
    """Share of the decoder's inputs that are hidden behind UNK, in [0, 1), in training mode only: the decoder then
    cannot go by the spelling alone. VietOCR does so."""
    ctc_weight: float = 0.5
    """Weight of the CTC loss, at least 0."""

    def __post_init__(self) -> None:
        for name in ("label_smoothing", "token_mask"):
            if not 0 <= getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 0 and below 1, got {getattr(self, name)}")
        if not 0 <= self.ctc_weight < float("inf"):
            raise ValueError(f"ctc_weight must be at least 0 and finite, got {self.ctc_weight}")

    def count(self, batch: LineBatch) -> int:
        """Target tokens of the batch, EOS included."""
        return batch.n_tokens

    def loss(self, model: Any, batch: LineBatch) -> Tensor:
        """Summed loss of a batch.

        Args:
            model: `LineTransformer`, bare or wrapped by Fabric.
            batch: on the device of the model.
        """
        if model.learns == "ctc":
            found = model(batch.images, batch.widths, None)
            return ctc_loss(found.ctc, found.n_columns, batch.tgt_out)
        tgt_in = mask_tokens(batch.tgt_in, self.token_mask) if model.training else batch.tgt_in
        found = model(batch.images, batch.widths, tgt_in)
        loss = label_smoothed_cross_entropy(found.attention, batch.tgt_out, self.label_smoothing)
        if not self.ctc_weight or model.learns == "decoder":
            return loss
        return loss + self.ctc_weight * ctc_loss(found.ctc, found.n_columns, batch.tgt_out)


def ctc_loss(logits: Tensor, n_columns: Tensor, tgt_out: Tensor) -> Tensor:
    """Negative log-likelihood of the texts by CTC, summed over the batch.

    A line whose text needs more columns than it has (very narrow print) has no path; it adds nothing here, and the
    decoder alone learns from it.

    Args:
        logits: (B, columns, V); class 0 is the blank.
        n_columns: (B,) columns that count.
        tgt_out: ids (B, T), each text ends with EOS.
    """
    lengths = (tgt_out != PAD).sum(dim=1) - 1  # without EOS
    log_probs = to_float32(logits).log_softmax(dim=-1).transpose(0, 1)  # (columns, B, V)
    texts = tgt_out.masked_fill(tgt_out == EOS, PAD)
    return F.ctc_loss(log_probs, texts, n_columns, lengths, blank=PAD, reduction="sum", zero_infinity=True)


def mask_tokens(tgt_in: Tensor, share: float) -> Tensor:
    """The decoder's inputs (B, T) with a share of the characters hidden behind UNK (B, T); BOS and padding stay."""
    if share == 0.0:
        return tgt_in
    hidden = torch.rand(tgt_in.shape, device=tgt_in.device) < share
    return tgt_in.masked_fill(hidden & (tgt_in != BOS) & (tgt_in != PAD), UNK)


def mean_loss(model: nn.Module, batches: Iterable[LineBatch]) -> float:
    """Cross-entropy of the decoder a token over some batches, in nats, without smoothing; the mode stays as it was.

    Of a network that learns by CTC alone it is the CTC loss.

    Raises:
        ValueError: there is no batch.
    """
    return training_task.mean_loss(model, LineTask(0.0, 0.0, 0.0), batches)
