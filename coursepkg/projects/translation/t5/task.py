"""What a T5 learns from a batch, and how it writes: the loss that `fit` minimises, and generation.

    loss = - sum over the target tokens of log p(token | source, tokens before it)

Never in fp16: T5 was trained in bfloat16, and its activations leave the range of fp16, so that losses become NaN
(Hugging Face transformers, issues 4586 and 9295). float32 and bf16-mixed are safe.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from coursepkg.arguments import check_count
from coursepkg.projects.translation.t5.data import IGNORED, T5Batch, encode_text, make_t5_batch
from coursepkg.projects.translation.t5.model import T5
from coursepkg.training.losses import label_smoothed_cross_entropy


class TextToText(nn.Module):
    """A T5 with one way in and one way out, ids to logits: what `fit` trains.

    Args:
        network: Hugging Face's network; its weights are shared with this module, not copied.
    """

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network

    def forward(self, src: Tensor, src_mask: Tensor, tgt_in: Tensor) -> Tensor:
        """Source ids and mask (B, S), decoder input (B, T) -> logits (B, T, V)."""
        return self.network(
            input_ids=src,
            attention_mask=src_mask,
            decoder_input_ids=tgt_in,
            use_cache=False,
            return_dict=False,
        )[0]


@dataclass(frozen=True)
class T5Task:
    """Predict every target token, EOS included, from the source and the tokens before it."""

    label_smoothing: float = 0.0
    """Share of the target distribution that goes to other tokens, at least 0 and below 1; T5 has none."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.label_smoothing < 1.0:
            raise ValueError(f"label_smoothing must be at least 0 and below 1, got {self.label_smoothing}")

    def count(self, batch: T5Batch) -> int:
        """Target tokens of the batch."""
        return batch.n_tokens

    def loss(self, model: Any, batch: T5Batch) -> Tensor:
        """Summed cross-entropy.

        Args:
            model: `TextToText`, bare or wrapped by Fabric.
            batch: on the device of the model.
        """
        logits = model(batch.src, batch.src_mask, batch.tgt_in)
        return label_smoothed_cross_entropy(logits, batch.labels, self.label_smoothing, ignore_index=IGNORED)


@dataclass(frozen=True)
class T5Output:
    """What a T5 wrote for one source."""

    text: str
    """The best output."""
    confidence: float
    """Geometric mean of the probabilities of its tokens, EOS included, in (0, 1]."""
    alternatives: tuple[str, ...]
    """The n best outputs, the best one first, where asked for; those that read the same are there once."""

    @property
    def line(self) -> str:
        """The best output again: a T5 learns text as it is read."""
        return self.text


@torch.no_grad()
def sample_losses(model: TextToText, batch: T5Batch) -> Tensor:
    """Mean cross-entropy of each example's target tokens (B,)."""
    logits = model(batch.src, batch.src_mask, batch.tgt_in)
    losses = label_smoothed_cross_entropy(logits, batch.labels, 0.0, ignore_index=IGNORED, reduction="none")
    return losses.sum(dim=1) / (batch.labels != IGNORED).sum(dim=1)


@torch.no_grad()
def t5_mean_loss(model: nn.Module, batches: Iterable[T5Batch]) -> float:
    """Cross-entropy a target token over some batches, in nats; the model is left in the mode that it came in.

    Raises:
        ValueError: there is no batch.
    """
    was_training = model.training
    device = next(model.parameters()).device
    total, n_tokens = 0.0, 0
    try:
        model.eval()
        for batch in batches:
            total += float(T5Task().loss(model, batch.to(device)))
            n_tokens += batch.n_tokens
    finally:
        model.train(was_training)
    if not n_tokens:
        raise ValueError("batches must hold at least one batch, got none")
    return total / n_tokens


def write_texts(
    t5: T5,
    texts: Sequence[str],
    prefix: str,
    *,
    beam_size: int = 1,
    n_best: int = 1,
    max_tokens: int = 160,
    batch_size: int = 32,
) -> list[T5Output]:
    """What a T5 writes for each text, in order.

    Args:
        t5: the model.
        texts: the sources, without the prefix.
        prefix: what the model was trained with in front of each source.
        beam_size: beams of the search; 1 is greedy.
        n_best: alternatives of each output, at most beam_size.
        max_tokens: most tokens of an output.
        batch_size: sources side by side.

    Raises:
        ValueError: a number is out of range, or a text is empty; it is named.
    """
    for name, value in (("beam_size", beam_size), ("max_tokens", max_tokens), ("batch_size", batch_size)):
        check_count(name, value)
    check_count("n_best", n_best, most=beam_size)
    empty = next((i for i, text in enumerate(texts) if not text.strip()), None)
    if empty is not None:
        raise ValueError(f"texts[{empty}] must not be empty")
    sources = [encode_text(t5, prefix + text) for text in texts]
    # Alike lengths side by side: less padding.
    order = sorted(range(len(texts)), key=lambda i: len(sources[i]))
    outputs: dict[int, T5Output] = {}
    was_training = t5.network.training
    t5.network.eval()
    try:
        for first in range(0, len(order), batch_size):
            chosen = order[first : first + batch_size]
            found = _write_batch(t5, [sources[i] for i in chosen], beam_size, n_best, max_tokens)
            outputs |= dict(zip(chosen, found, strict=True))
    finally:
        t5.network.train(was_training)
    return [outputs[i] for i in range(len(texts))]


@torch.inference_mode()
def _write_batch(
    t5: T5, sources: Sequence[list[int]], beam_size: int, n_best: int, max_tokens: int
) -> list[T5Output]:
    eos = int(t5.tokenizer.eos_token_id)
    # The targets are not known yet; a lone EOS keeps the form.
    batch = make_t5_batch([(s, [eos]) for s in sources], pad_id=t5.pad_id, start_id=t5.start_id)
    here = batch.to(t5.network.device)
    written = t5.network.generate(
        input_ids=here.src,
        attention_mask=here.src_mask,
        decoder_start_token_id=t5.start_id,
        num_beams=beam_size,
        num_return_sequences=n_best,
        max_new_tokens=max_tokens,
        do_sample=False,
    )
    targets = [_up_to_eos(row[1:], eos) for row in written.tolist()]
    texts = [t5.tokenizer.decode(ids, skip_special_tokens=True).strip() for ids in targets]
    best = [(source, targets[i * n_best]) for i, source in enumerate(sources)]
    judged = make_t5_batch(best, pad_id=t5.pad_id, start_id=t5.start_id).to(t5.network.device)
    losses = sample_losses(TextToText(t5.network), judged).tolist()
    return [
        T5Output(
            texts[i * n_best],
            math.exp(-loss),
            tuple(dict.fromkeys(texts[i * n_best : (i + 1) * n_best])),
        )
        for i, loss in enumerate(losses)
    ]


def _up_to_eos(ids: Sequence[int], eos: int) -> list[int]:
    """The ids up to the first EOS; all of them where the limit cut the output off."""
    return list(ids[: ids.index(eos) + 1]) if eos in ids else list(ids)
