"""A training step against `torch.nn.Transformer`, batching by length, GPU use."""

import math
import random
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from coursepkg.bench.machine import Device
from coursepkg.bench.measure import BenchmarkCase, Comparison, Gate, Utilisation
from coursepkg.bench.suites.baselines import TorchTransformer, gate_model
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.transformer import Transformer
from coursepkg.data.batching import (
    Epoch,
    Pair,
    TextBatch,
    TokenBatches,
    padded_random_batches,
)
from coursepkg.text.vocabulary import PAD

VOCABULARY = 8000
MEDIAN_LENGTH, SPREAD, LONGEST = 16, 0.65, 100
"""Sentence lengths are drawn from a log-normal distribution like that of talks: mean
20, one in ten above 37."""


def cases(device: Device) -> list[BenchmarkCase | Utilisation]:
    """The base model of 2017 on any device; the large model on a GPU alone."""
    found: list[BenchmarkCase | Utilisation] = [
        _against_torch(device),
        _by_length(device),
    ]
    if device.is_cuda:
        found += [utilisation(device, compiled=compiled) for compiled in (False, True)]
    return found


def utilisation(
    device: Device, sentences: int = 1024, *, compiled: bool
) -> Utilisation:
    """Train the 157M model of the Olympiad tutorials in bfloat16, with AdamW."""
    config = TransformerConfig.zh_vi_report()
    model = Transformer(config).to(device.kind)
    ids = torch.randint(
        4, config.vocab_size, (2, sentences, config.max_len), device=device.kind
    )
    run = torch.compile(model) if compiled else model
    return Utilisation(
        name=(
            f"157M model, bf16, {sentences} pairs of {config.max_len} +"
            f" {config.max_len} tokens"
        ),
        candidate="compiled step" if compiled else "eager step",
        step=partial(
            _bf16_step,
            run,
            torch.optim.AdamW(model.parameters(), 1e-4, fused=True),
            ids,
        ),
        counted=partial(
            _bf16_step, model, torch.optim.SGD(model.parameters(), 0.0), ids
        ),
        n_units=ids.numel(),
        unit="tokens",
        target=0.35,
    )


def _against_torch(device: Device, sentences: int = 16) -> BenchmarkCase:
    batch = padded_random_batches(draw_pairs(sentences, VOCABULARY), sentences)[0].to(
        device.kind
    )
    ours = _model(device)
    theirs = TorchTransformer(ours).to(device.kind)
    tiny = gate_model(max_len=128, final_norm=True)
    small = padded_random_batches(draw_pairs(4, 60), 4)[0]
    n_tokens = int((batch.src != PAD).sum()) + batch.n_tokens
    return BenchmarkCase(
        name=f"training step, 6+6 layers, d 512, {sentences} pairs, {n_tokens} tokens",
        variants={
            name: partial(
                _step, model, torch.optim.AdamW(model.parameters(), 1e-4), batch
            )
            for name, model in (("Transformer", ours), ("torch.nn.Transformer", theirs))
        },
        comparisons=[Comparison("Transformer", "torch.nn.Transformer", 1.0)],
        gates=[
            Gate(
                "Transformer",
                compute=lambda: _loss_and_gradient(tiny.float(), small),
                plain=lambda: _loss_and_gradient(
                    TorchTransformer(tiny.float()).eval(), small
                ),
                exact=lambda: _loss_and_gradient(
                    TorchTransformer(tiny).double().eval(), small
                ),
            )
        ],
    )


def _by_length(
    device: Device, sentences: int = 640, batch_size: int = 32
) -> BenchmarkCase:
    """One pass over the same pairs, in batches of at most as many positions."""
    pairs = draw_pairs(sentences, VOCABULARY)
    in_random_order = padded_random_batches(pairs, batch_size)
    largest = max(batch.src.numel() + batch.tgt_in.numel() for batch in in_random_order)
    by_length = TokenBatches(pairs, largest).epoch(0)
    model = _model(
        device, d_model=128, d_ff=512, n_heads=4, n_encoder_layers=2, n_decoder_layers=2
    )
    ways = {"by length": by_length, "random": in_random_order}
    shares = {name: epoch.padding_share for name, epoch in ways.items()}
    return BenchmarkCase(
        name=(
            f"{sentences} pairs, batches of at most {largest} positions, padding "
            f"{shares['by length']:.0%} against {shares['random']:.0%}"
        ),
        variants={
            name: partial(_epoch, model, [batch.to(device.kind) for batch in epoch])
            for name, epoch in ways.items()
        },
        comparisons=[Comparison("by length", "random", 1.4)],
        gates=[_same_examples(by_length, in_random_order)],
    )


def draw_pairs(n: int, vocabulary: int, seed: int = 0) -> list[Pair]:
    """Random pairs; a target is about a tenth longer or shorter than its source."""
    draw = random.Random(seed)

    def sentence(length: float) -> list[int]:
        return [
            draw.randrange(4, vocabulary)
            for _ in range(max(1, min(LONGEST, round(length))))
        ]

    lengths = [draw.lognormvariate(math.log(MEDIAN_LENGTH), SPREAD) for _ in range(n)]
    return [
        (sentence(length), sentence(length * draw.lognormvariate(0.1, 0.15)))
        for length in lengths
    ]


def _same_examples(a: Epoch, b: Epoch) -> Gate:
    """Both ways must show every example exactly once."""

    def seen(epoch: Epoch) -> list[Tensor]:
        return [
            torch.tensor(
                sorted(i for group in epoch.groups for i in group), dtype=torch.float64
            )
        ]

    return Gate(
        "by length",
        compute=partial(seen, a),
        plain=partial(seen, b),
        exact=partial(seen, b),
    )


def _model(device: Device, **changes: int) -> Transformer:
    torch.manual_seed(0)
    config = TransformerConfig.vaswani2017(
        VOCABULARY, final_norm=True, max_len=128, **changes
    )
    return Transformer(config).to(device.kind)


def _loss(model: Callable[..., Tensor], batch: TextBatch) -> Tensor:
    logits = model(batch.src, batch.tgt_in)
    return cross_entropy(
        logits.flatten(0, 1), batch.tgt_out.flatten(), ignore_index=PAD
    )


def _loss_and_gradient(model: nn.Module, batch: TextBatch) -> list[Tensor]:
    """The loss and the norm of its gradient, which depend on no names."""
    loss = _loss(model, batch)
    norms = [
        gradient.norm()
        for gradient in torch.autograd.grad(loss, list(model.parameters()))
    ]
    return [loss.detach(), torch.stack(norms).norm()]


def _step(model: nn.Module, optimizer: torch.optim.Optimizer, batch: TextBatch) -> None:
    _loss(model, batch).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def _epoch(model: nn.Module, batches: Sequence[TextBatch]) -> None:
    for batch in batches:
        _loss(model, batch).backward()
        model.zero_grad(set_to_none=True)


def _bf16_step(
    model: Callable[..., Tensor], optimizer: torch.optim.Optimizer, ids: Tensor
) -> None:
    src, tgt = ids
    with torch.autocast("cuda", torch.bfloat16):
        logits = model(src, tgt)
    cross_entropy(logits.flatten(0, 1).float(), tgt.flatten()).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
