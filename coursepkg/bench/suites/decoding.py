"""Decoding with a cache against recomputation, expanded keys and Hugging Face."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from coursepkg.attention.api import attention
from coursepkg.bench.machine import Device
from coursepkg.bench.measure import BenchmarkCase, Comparison, Gate, Work
from coursepkg.bench.suites.attention import random_qkv
from coursepkg.bench.suites.baselines import gate_model, generate, marian
from coursepkg.blocks.cache import RecomputedState
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.packed import pack_where_possible
from coursepkg.blocks.transformer import Transformer
from coursepkg.decoding.beam import beam_search
from coursepkg.decoding.generate import greedy

VOCABULARY = 8000
SOURCE, TARGET = 24, 48
BEAMS = 4


def cases(device: Device) -> list[BenchmarkCase]:
    """The base model of 2017 with random weights; end tokens are switched off."""
    lengths = {24: None, 128: 3.0, 512: None}
    return [
        _cached_greedy(device),
        *(
            _cross_attention(device, length, target)
            for length, target in lengths.items()
        ),
        _against_hugging_face(device),
    ]


def _cached_greedy(device: Device, batch: int = 8) -> BenchmarkCase:
    model, src = _model(device), _sources(device, batch)
    small, few = _gate_inputs(device)
    return BenchmarkCase(
        name=(
            f"greedy, 6+6 layers, d 512, batch {batch}, source {SOURCE}, {TARGET}"
            " tokens"
        ),
        variants={
            "cached": partial(_greedy, model.start, src, TARGET),
            "recomputed": partial(_greedy, _recomputed(model), src, TARGET),
        },
        comparisons=[
            Comparison("cached", "recomputed", None if device.is_cuda else 4.0)
        ],
        gates=[
            Gate(
                "cached",
                compute=lambda: _greedy(small.float().start, few, 8),
                plain=lambda: _greedy(_recomputed(small.float()), few, 8),
                exact=lambda: _greedy(_recomputed(small.double()), few, 8),
            )
        ],
    )


def _cross_attention(
    device: Device, length: int, target: float | None, batch: int = 16
) -> BenchmarkCase:
    """One step of cross-attention: beams as queries, or a copy of the keys for each."""
    q, k, v = random_qkv(device, length, batch=batch, n_queries=BEAMS)
    rows = (
        q.transpose(1, 2).flatten(0, 1).unsqueeze(2).contiguous()
    )  # (B * beams, H, 1, D), as a decoder has them
    keys, values = (x.repeat_interleave(BEAMS, dim=0) for x in (k, v))

    def folded(rows: Tensor, k: Tensor, v: Tensor) -> list[Tensor]:
        heads = (
            rows.squeeze(2).unflatten(0, (len(k), -1)).transpose(1, 2)
        )  # (B, H, beams, D)
        return [_attended(heads, k, v).transpose(1, 2)]

    def expanded(
        rows: Tensor, k: Tensor, v: Tensor, dtype: torch.dtype | None = None
    ) -> list[Tensor]:
        return [
            _attended(*(x.to(dtype) for x in (rows, k, v))).view(
                len(q), BEAMS, *q.shape[1::2]
            )
        ]

    return BenchmarkCase(
        name=(
            f"cross-attention step, beam {BEAMS}, batch {batch}, 8 heads, source"
            f" {length}, D 64"
        ),
        variants={
            "beams as queries": partial(folded, rows, k, v),
            "expanded keys": partial(expanded, rows, keys, values),
        },
        comparisons=[
            Comparison(
                "beams as queries",
                "expanded keys",
                None if device.is_cuda else target,
                float(BEAMS),
            )
        ],
        gates=[
            Gate(
                "beams as queries",
                compute=partial(folded, rows, k, v),
                plain=partial(expanded, rows, keys, values),
                exact=partial(expanded, rows, keys, values, torch.float64),
            )
        ],
    )


def _against_hugging_face(device: Device, batch: int = 32) -> BenchmarkCase:
    model, src = _model(device), _sources(device, batch)
    theirs = marian(model)
    small, few = _gate_inputs(device)
    baseline = marian(small)
    variants: dict[str, Work] = {
        "beam_search": partial(_beam, pack_where_possible(model), src, TARGET),
        "weights not packed": partial(_beam, model, src, TARGET),
        "Hugging Face generate": partial(generate, theirs, src, TARGET, BEAMS),
    }
    if device.is_cuda:  # nothing is packed there
        del variants["weights not packed"]
    ours = list(variants)[:-1]
    targets = {"beam_search": 1.5}
    return BenchmarkCase(
        name=(
            f"beam {BEAMS}, 6+6 layers, d 512, batch {batch}, source {SOURCE}, {TARGET}"
            " tokens"
        ),
        variants=variants,
        comparisons=[
            Comparison(name, "Hugging Face generate", targets.get(name))
            for name in ours
        ],
        gates=[
            Gate(
                name,
                compute=partial(_prepared_beam, name == "beam_search", small, few),
                plain=lambda: generate(baseline.float(), few, 8, BEAMS),
                exact=lambda: generate(baseline.double(), few, 8, BEAMS),
            )
            for name in ours
        ],
    )


def _model(device: Device) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(TransformerConfig.vaswani2017(VOCABULARY, max_len=128)).eval()
    return model.to(device.kind, torch.bfloat16 if device.is_cuda else torch.float32)


def _gate_inputs(device: Device) -> tuple[Transformer, Tensor]:
    """A small model and sources for it."""
    return gate_model(max_len=40).to(device.kind), _sources(device, 3)[:, :9] % 60


def _prepared_beam(packs: bool, model: Transformer, src: Tensor) -> list[Tensor]:
    return _beam(pack_where_possible(model.float()) if packs else model.float(), src, 8)


def _sources(device: Device, batch: int) -> Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.randint(4, VOCABULARY, (batch, SOURCE), generator=generator).to(
        device.kind
    )


def _recomputed(model: Transformer) -> Callable[..., RecomputedState]:
    return lambda src, max_len: RecomputedState.of(model, src)


def _greedy(start: Callable[..., Any], src: Tensor, n_tokens: int) -> list[Tensor]:
    """Log-probabilities of the tokens that were chosen."""
    with torch.inference_mode():
        found = greedy(start(src, max_len=n_tokens + 1), max_len=n_tokens, eos=None)
    return [torch.tensor([one.token_log_probs for one in found], dtype=torch.float64)]


def _beam(model: Transformer, src: Tensor, n_tokens: int) -> list[Tensor]:
    """Log-probability of the best hypothesis of each sentence."""
    with torch.inference_mode():
        state = model.start(src, max_len=n_tokens + 1)
        found = beam_search(
            state, beam_size=BEAMS, max_len=n_tokens, length_penalty=0.0, eos=None
        )
    return [torch.tensor([best.log_prob for best, *_ in found], dtype=torch.float64)]


def _attended(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    output = attention(q, k, v, impl="sdpa")
    assert isinstance(output, Tensor)
    return output
