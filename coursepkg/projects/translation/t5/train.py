"""Fine-tune a T5 on sentence pairs with our own loop, and let it write.

OUT/start/      the tiny model as it was built, where it was built here
OUT/run/        logs and checkpoints of `fit`
OUT/model/      the best model as Hugging Face stores it, with its prefixes
OUT/result.json settings, coverage, scores

    loss = - sum over the target tokens of log p(token | source, tokens before it)

Never in fp16: T5 was trained in bfloat16, and its activations leave the range of fp16,
so that losses become NaN (Hugging Face transformers, issues 4586 and 9295).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn

from coursepkg.app.jobs import chunks
from coursepkg.projects.translation.t5.data import (
    IGNORED,
    Direction,
    Ids,
    T5Batch,
    T5Batches,
    encode_pairs,
    encode_text,
    make_t5_batch,
)
from coursepkg.projects.translation.t5.model import T5
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import History, fit
from coursepkg.training.losses import label_smoothed_cross_entropy
from coursepkg.training.saved_model import restore
from coursepkg.training.schedules import Formula, constant
from coursepkg.training.task import eval_mode, mean_loss
from coursepkg.validation import (
    check_at_least,
    check_count,
    check_finite,
    check_positive,
    flag_of,
)


class TextToText(nn.Module):
    """A T5 with one way in and one way out, ids to logits: what `fit` trains."""

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
    """Predict every target token, EOS included, from the source and those before it."""

    label_smoothing: float = 0.0
    """Share of the target that goes to other tokens, in [0, 1); T5 has none."""

    def __post_init__(self) -> None:
        if not 0.0 <= self.label_smoothing < 1.0:
            raise ValueError(
                "label_smoothing must be at least 0 and below 1, got"
                f" {self.label_smoothing}"
            )

    def count(self, batch: T5Batch) -> int:
        """Target tokens of the batch."""
        return batch.n_tokens

    def loss(self, model: Any, batch: T5Batch) -> Tensor:
        """Summed cross-entropy."""
        logits = model(batch.src, batch.src_mask, batch.tgt_in)
        return label_smoothed_cross_entropy(
            logits, batch.labels, self.label_smoothing, ignore_index=IGNORED
        )


@dataclass(frozen=True)
class T5Output:
    """What a T5 wrote for one source."""

    text: str
    """The best output."""
    confidence: float
    """Geometric mean of the probabilities of its tokens, EOS included, in (0, 1]."""
    alternatives: tuple[str, ...]
    """The n best distinct outputs, the best first."""

    @property
    def line(self) -> str:
        """The best output again: a T5 learns text as it is read."""
        return self.text


@torch.no_grad()
def sample_losses(model: TextToText, batch: T5Batch) -> Tensor:
    """Mean cross-entropy of each example's target tokens (B,)."""
    logits = model(batch.src, batch.src_mask, batch.tgt_in)
    losses = label_smoothed_cross_entropy(
        logits, batch.labels, 0.0, ignore_index=IGNORED, reduction="none"
    )
    return losses.sum(dim=1) / (batch.labels != IGNORED).sum(dim=1)


def t5_mean_loss(model: nn.Module, batches: Iterable[T5Batch]) -> float:
    """Cross-entropy a target token over some batches, in nats; the mode is kept.

    Raises:
        ValueError: there is no batch.
    """
    return mean_loss(model, T5Task(), batches)


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
        n_best: alternatives of each output, at most beam_size.

    Raises:
        ValueError: a number is out of range, or a text is empty; it is named.
    """
    check_count("beam_size", beam_size)
    check_count("max_tokens", max_tokens)
    check_count("batch_size", batch_size)
    check_count("n_best", n_best, most=beam_size)
    empty = next((i for i, text in enumerate(texts) if not text.strip()), None)
    if empty is not None:
        raise ValueError(f"texts[{empty}] must not be empty")
    sources = [encode_text(t5, prefix + text) for text in texts]
    # Alike lengths side by side: less padding.
    order = sorted(range(len(texts)), key=lambda i: len(sources[i]))
    outputs: dict[int, T5Output] = {}
    with eval_mode(t5.network):
        for chosen in chunks(order, batch_size):
            ids = [sources[i] for i in chosen]
            found = _write_batch(t5, ids, beam_size, n_best, max_tokens)
            outputs |= dict(zip(chosen, found, strict=True))
    return [outputs[i] for i in range(len(texts))]


@torch.inference_mode()
def _write_batch(
    t5: T5, sources: Sequence[list[int]], beam_size: int, n_best: int, max_tokens: int
) -> list[T5Output]:
    eos = int(t5.tokenizer.eos_token_id)

    def batch_of(targets: Sequence[list[int]]) -> T5Batch:
        pairs = list(zip(sources, targets, strict=True))
        batch = make_t5_batch(pairs, pad_id=t5.pad_id, start_id=t5.start_id)
        return batch.to(t5.network.device)

    # The targets are not known yet; a lone EOS keeps the form.
    here = batch_of([[eos]] * len(sources))
    written = t5.network.generate(
        input_ids=here.src,
        attention_mask=here.src_mask,
        decoder_start_token_id=t5.start_id,
        num_beams=beam_size,
        num_return_sequences=n_best,
        max_new_tokens=max_tokens,
        do_sample=False,
    )
    # Up to the first EOS; all tokens where the limit cut the output off.
    targets = [
        ids[: ids.index(eos) + 1] if eos in ids else ids
        for ids in (row[1:] for row in written.tolist())
    ]
    texts = [
        t5.tokenizer.decode(ids, skip_special_tokens=True).strip() for ids in targets
    ]
    best = batch_of(targets[::n_best])
    losses = sample_losses(TextToText(t5.network), best).tolist()
    return [
        T5Output(
            texts[i * n_best],
            math.exp(-loss),
            tuple(dict.fromkeys(texts[i * n_best : (i + 1) * n_best])),
        )
        for i, loss in enumerate(losses)
    ]


@dataclass(frozen=True)
class FineTuning:
    """How a T5 is fine-tuned: as in the report, otherwise as Hugging Face's Trainer."""

    learning_rate: int | float = 2e-5
    """The highest rate, above 0."""
    schedule: Literal["linear", "constant"] = "linear"
    """linear falls to 0 at the last step; constant does not."""
    batch_size: int = 32
    """Sentence pairs of a step, at least 1."""
    weight_decay: int | float = 0.01
    """AdamW's decoupled decay, at least 0."""
    epochs: int = 3
    """Passes over the training part, at least 1."""
    precision: str = "32-true"
    """32-true or bf16-mixed."""
    max_tokens: int = 160
    """Most tokens of a side, prefix and EOS included; longer pairs are left out."""
    seed: int = 0
    """Of the order of the pairs and of dropout."""

    def __post_init__(self) -> None:
        for name in ("batch_size", "epochs", "max_tokens"):
            check_count(flag_of(name), getattr(self, name))
        check_positive("--learning-rate", self.learning_rate)
        check_finite("--weight-decay", self.weight_decay)
        check_at_least("--weight-decay", self.weight_decay, 0)
        if self.schedule not in ("linear", "constant"):
            raise ValueError(
                f"--schedule must be linear or constant, got {self.schedule}"
            )
        if self.precision not in ("32-true", "bf16-mixed"):
            raise ValueError(
                f"--precision must be 32-true or bf16-mixed, got {self.precision}; in"
                " fp16 a T5 gives NaN"
            )


PRESETS = {
    "tiny": FineTuning(
        learning_rate=3e-3, schedule="linear", weight_decay=0.01, epochs=30
    ),
    "report": FineTuning(),
}
"""By name: for random weights on a CPU, and for a pretrained model."""


def fine_tune(
    t5: T5,
    directions: Sequence[Direction],
    settings: FineTuning,
    *,
    out: Path,
    resume: bool = False,
    max_seconds: int | float | None = None,
    progress: bool = False,
) -> tuple[History, list[str]]:
    """Train in place; the model ends with the weights of the lowest loss on dev.

    Args:
        t5: the model to begin with; the same one when a run is resumed.
        max_seconds: wall-clock limit of this call; None has none.

    Returns:
        what the run did, and a note for each direction whose pairs were too long.

    Raises:
        ValueError: no pair is left, or `out` holds another run.
    """
    train, notes = _examples(t5, directions, "train", settings.max_tokens)
    dev, dev_notes = _examples(t5, directions, "dev", settings.max_tokens)
    ids: dict[str, Any] = {"pad_id": t5.pad_id, "start_id": t5.start_id}
    batches = T5Batches(train, settings.batch_size, seed=settings.seed, **ids)
    judged = T5Batches(dev, settings.batch_size, shuffle=False, **ids).epoch(0)
    n_steps = math.ceil(len(train) / settings.batch_size) * settings.epochs
    rate = settings.learning_rate
    config = TrainConfig(
        max_epochs=settings.epochs,
        max_seconds=max_seconds,
        learning_rate=(
            linear_to_zero(rate, n_steps)
            if settings.schedule == "linear"
            else constant(rate)
        ),
        betas=(0.9, 0.999),
        eps=1e-8,
        weight_decay=settings.weight_decay,
        precision="bf16-mixed" if settings.precision == "bf16-mixed" else "32-true",
        seed=settings.seed,
        progress=progress,
    )
    model = TextToText(t5.network)
    history = fit(
        model,
        T5Task(),
        batches,
        config=config,
        out=out,
        validate=lambda network: {"loss": t5_mean_loss(network, judged)},
        resume=resume,
    )
    # A run that was stopped before its first validation has no best weights yet.
    if history.best_step is not None:
        restore(model, out)
    return history, notes + dev_notes


def linear_to_zero(lr: int | float, total: int) -> Formula:
    """A straight line from lr towards 0: lr (total - step + 1) / total."""
    return Formula(
        "linear_to_zero",
        {"lr": lr, "total": total},
        lambda step: lr * max(0, total - step + 1) / total,
    )


def _examples(
    t5: T5, directions: Sequence[Direction], part: str, max_tokens: int
) -> tuple[list[Ids], list[str]]:
    """Examples of all directions, and a note where pairs were too long."""
    examples: list[Ids] = []
    notes = []
    for direction in directions:
        pairs = direction.natural(getattr(direction.parts, part))
        kept, left_out = encode_pairs(t5, pairs, direction.prefix, max_tokens)
        examples += kept
        if left_out:
            first = f"{left_out[0].file}:{left_out[0].line}"
            notes.append(
                f"{direction.name} {part}: {len(left_out)} of {len(pairs)} pairs have"
                f" more than {max_tokens} tokens and are left out, the first is {first}"
            )
    return examples, notes
