"""Bench of translation: against Hugging Face, and exported against PyTorch.

The model has the size of the preset `small`.

Random weights translate random sentences, and none of them ends before the limit, so
all variants do the same work.
"""

import copy
import tempfile
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from coursepkg.bench.machine import Device
from coursepkg.bench.measure import BenchmarkCase, Comparison, Gate, Work
from coursepkg.bench.suites.baselines import generate, marian
from coursepkg.blocks.cache import RecomputedState
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.packed import pack_where_possible
from coursepkg.blocks.transformer import Transformer
from coursepkg.decoding.beam import beam_search
from coursepkg.decoding.generate import greedy
from coursepkg.decoding.rerank import token_log_probs
from coursepkg.text.vocabulary import EOS

SMALLER: dict[str, Any] = {
    "n_encoder_layers": 2,
    "n_decoder_layers": 2,
    "d_model": 64,
    "d_ff": 96,
}
"""Of the model of a gate that recomputes everything in float64."""
SOURCE, TARGET = 24, 32
BEAMS, BATCH = 5, 32


def cases(device: Device) -> list[BenchmarkCase]:
    """Beam search against Hugging Face; on a CPU also the export against PyTorch."""
    if device.is_cuda:
        return [_against_hugging_face(device)]
    model = _model("modern", device, never_ends=True)
    exports = {name: exported(model, name, device.threads) for name in ("none", "int8")}
    return [
        _against_hugging_face(device),
        _export(model, exports, BEAMS, BATCH),
        _export(model, exports, 1, BATCH),
        _export(model, exports, BEAMS, 1),
    ]


def _against_hugging_face(device: Device) -> BenchmarkCase:
    """Our modern model, Marian, and our model of 2017, of equal size."""
    modern, old = (_model(kind, device) for kind in ("modern", "vaswani2017"))
    small, small_old = (
        _model(kind, Device("cpu", 1), **SMALLER) for kind in ("modern", "vaswani2017")
    )
    src, few = _sources(BATCH).to(device.kind), _sources(16)
    theirs, small_theirs = marian(old), marian(small_old)
    return BenchmarkCase(
        name=(
            f"beam {BEAMS}, {_shape()}, batch {BATCH}, source {SOURCE}, {TARGET} tokens"
        ),
        variants={
            "beam_search, modern": partial(
                _beam, pack_where_possible(modern), src, TARGET
            ),
            "beam_search, 2017": partial(_beam, pack_where_possible(old), src, TARGET),
            "Hugging Face Marian": partial(generate, theirs, src, TARGET, BEAMS),
        },
        comparisons=[
            Comparison("beam_search, modern", "Hugging Face Marian", 1.5),
            Comparison("beam_search, 2017", "Hugging Face Marian"),
        ],
        gates=[
            Gate(
                "beam_search, modern",
                compute=lambda: _beam(pack_where_possible(small.float()), few, 8),
                plain=lambda: _beam(small.float(), few, 8, recomputed=True),
                exact=lambda: _beam(small.double(), few, 8, recomputed=True),
            ),
            Gate(
                "beam_search, 2017",
                compute=lambda: _beam(pack_where_possible(small_old.float()), few, 8),
                plain=lambda: generate(small_theirs.float(), few, 8, BEAMS),
                exact=lambda: generate(small_theirs.double(), few, 8, BEAMS),
            ),
        ],
    )


def _export(
    model: Transformer, exports: dict[str, Any], beams: int, batch: int
) -> BenchmarkCase:
    packed, src = pack_where_possible(model), _sources(batch)
    search = f"beam {beams}" if beams > 1 else "greedy"
    variants: dict[str, Work] = {
        f"CTranslate2, {name}": partial(_translate, exports[stored], src, beams)
        for name, stored in (("float32", "none"), ("int8", "int8"))
    }
    ours: dict[str, Work] = {
        "PyTorch": partial(_beam, packed, src, TARGET, beams),
        "PyTorch, not packed": partial(_beam, model, src, TARGET, beams),
    }
    return BenchmarkCase(
        name=(
            f"export, {search}, modern, {_shape()}, batch {batch}, source {SOURCE},"
            f" {TARGET} tokens"
        ),
        variants=variants | ours,
        comparisons=[
            *(Comparison(name, "PyTorch", 1.5) for name in variants),
            *(Comparison(name, "PyTorch, not packed") for name in variants),
        ],
        gates=_export_gates(model, packed, exports),
        # Of float32 alone: 8-bit products have another peak.
        flops={"CTranslate2, float32": flops(model, beams, batch)},
    )


def flops(model: Transformer, beams: int, batch: int) -> float:
    """Multiplications and additions of the matrix products of one run.

    Every weight of a matrix costs two for each row that meets it: the encoder's and the
    cross-attention's keys and values meet the source once, all else every row of every
    step. The first step has one row a sentence.
    """
    per_source, per_row = 0, model.output_weight.numel()
    for name, weight in model.named_parameters():
        if "_proj.weight" not in name:
            continue
        if name.startswith("encoder") or (
            "cross" in name and ("k_proj" in name or "v_proj" in name)
        ):
            per_source += weight.numel()
        else:
            per_row += weight.numel()
    rows = batch * (1 + beams * (TARGET - 1))
    return 2.0 * (per_source * batch * SOURCE + per_row * rows)


def _export_gates(
    model: Transformer, packed: Transformer, exports: dict[str, Any]
) -> list[Gate]:
    """Log-probabilities of sentences; in float32 also greedy tokens."""
    precise, src, tgt = copy.deepcopy(model).double(), _sources(8), _sources(8, seed=2)

    def scores(name: str) -> Tensor:
        return torch.tensor(exports[name].score(src.tolist(), tgt.tolist()))[
            :, :-1
        ]  # the end is never predicted

    return [
        Gate(
            "CTranslate2, float32",
            compute=lambda: [
                scores("none"),
                _tokens(_translate(exports["none"], src, 1)),
            ],
            plain=lambda: [_scores(packed, src, tgt), _tokens(_greedy(packed, src))],
            exact=lambda: [_scores(precise, src, tgt), _tokens(_greedy(precise, src))],
        ),
        Gate(
            "CTranslate2, int8",
            compute=lambda: [scores("int8")],
            plain=lambda: [_scores(in_eight_bits(model), src, tgt)],
            exact=lambda: [_scores(precise, src, tgt)],
        ),
    ]


def exported(model: Transformer, quantization: str, threads: int = 1) -> Any:
    """The model as an `ExportedTranslator`; its folder is needed for loading alone."""
    from coursepkg.projects.translation.export.convert import (
        ExportedTranslator,
        export_ctranslate2,
    )

    with tempfile.TemporaryDirectory() as folder:
        pieces = [str(i) for i in range(model.config.vocab_size)]
        export_ctranslate2(
            model, pieces, Path(folder) / "model", quantization=quantization
        )
        return ExportedTranslator(Path(folder) / "model", threads=threads)


@torch.no_grad()
def in_eight_bits(model: Transformer) -> Transformer:
    """A copy with matrices and inputs of 255 values a row: int8 written out."""
    copied = copy.deepcopy(model)
    for module in copied.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            module.weight.copy_(_rounded(module.weight))
        if isinstance(module, nn.Linear):
            module.register_forward_pre_hook(lambda _, inputs: (_rounded(inputs[0]),))
    return copied


def _rounded(x: Tensor) -> Tensor:
    step = x.abs().amax(dim=-1, keepdim=True).clamp(min=torch.finfo(x.dtype).tiny) / 127
    return (x / step).round() * step


@cache
def sizes() -> dict[str, int]:
    """Those of the preset `small`, its vocabulary and key-value heads among them."""
    from coursepkg.projects.translation.recipe import PRESETS

    preset = PRESETS["small"]
    names = (
        "vocab_size d_model n_heads n_kv_heads n_encoder_layers n_decoder_layers d_ff"
    )
    return {name: getattr(preset, name) for name in names.split()}


def _shape() -> str:
    return (
        "{n_encoder_layers}+{n_decoder_layers} layers, d {d_model}, d_ff {d_ff}"
    ).format_map(sizes())


def _config(kind: str, **changes: Any) -> TransformerConfig:
    """The modern model, or one of 2017 with as many parameters."""
    fields: dict[str, Any] = {**sizes(), "max_len": 128, **changes}
    modern = TransformerConfig.modern(**fields)
    if kind == "modern":
        return modern
    old = TransformerConfig.vaswani2017(**fields | {"n_kv_heads": None})
    least, more, wanted = map(
        _n_parameters, (replace(old, d_ff=1), replace(old, d_ff=2), modern)
    )
    return replace(old, d_ff=1 + round((wanted - least) / (more - least)))


def _n_parameters(config: TransformerConfig) -> int:
    with torch.device("meta"):
        return sum(weight.numel() for weight in Transformer(config).parameters())


def _model(
    kind: str, device: Device, *, never_ends: bool = False, **changes: int
) -> Transformer:
    torch.manual_seed(0)
    model = Transformer(_config(kind, output_bias=never_ends, **changes)).eval()
    if model.output_bias is not None:
        # CTranslate2 cannot be told to go on behind the end of a sentence; a model that
        # never says it can be raced.
        model.output_bias.data[EOS] = -1e4
    return model.to(device.kind, torch.bfloat16 if device.is_cuda else torch.float32)


def _sources(batch: int, seed: int = 1) -> Tensor:
    return torch.randint(
        4,
        sizes()["vocab_size"],
        (batch, SOURCE),
        generator=torch.Generator().manual_seed(seed),
    )


def _greedy(model: Transformer, src: Tensor) -> list[Any]:
    with torch.inference_mode():
        found = greedy(model.start(src, max_len=TARGET + 1), max_len=TARGET)
    return [[one] for one in found]


def _tokens(found: list[Any]) -> Tensor:
    return torch.tensor([best.ids for best, *_ in found], dtype=torch.float64)


def _scores(model: Transformer, src: Tensor, tgt: Tensor) -> Tensor:
    """Log-probabilities (B, T) of the tokens of tgt, without the end."""
    with torch.inference_mode():
        return token_log_probs(
            lambda tgt_in: model(src, tgt_in), tgt.tolist(), eos=None
        )


def _translate(translator: Any, src: Tensor, beams: int) -> list[Any]:
    found: list[Any] = translator.translate(
        src.tolist(), max_len=TARGET, beam_size=beams
    )
    return found


def _beam(
    model: Transformer,
    src: Tensor,
    n_tokens: int,
    beams: int = BEAMS,
    *,
    recomputed: bool = False,
) -> list[Tensor]:
    """Log-probability of each best hypothesis; one beam is greedy decoding."""
    with torch.inference_mode():
        state = (
            RecomputedState.of(model, src)
            if recomputed
            else model.start(src, max_len=n_tokens + 1)
        )
        if beams == 1:
            found = [[one] for one in greedy(state, max_len=n_tokens, eos=None)]
        else:
            found = beam_search(
                state, beam_size=beams, max_len=n_tokens, length_penalty=0.0, eos=None
            )
    return [torch.tensor([best.log_prob for best, *_ in found], dtype=torch.float64)]
