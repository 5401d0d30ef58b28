"""Weights of other libraries' Transformers, mapped to the names of ours."""

import re
from collections.abc import Mapping

import torch
from torch import Tensor, nn

ATTENTION = ("q_proj", "k_proj", "v_proj")


def load_torch(ours: nn.Module, theirs: nn.Transformer) -> None:
    """The weights of torch.nn.Transformer into encoder and decoder of a `Transformer`."""
    state: dict[str, Tensor] = {}
    for side in ("encoder", "decoder"):
        stack = getattr(theirs, side)
        _copy(state, f"{side}.final_norm", stack.norm)
        for i, layer in enumerate(stack.layers):
            name = f"{side}.layers.{i}"
            _copy_attention(state, f"{name}.self_attention", layer.self_attn)
            _copy(state, f"{name}.self_residual.norm", layer.norm1)
            if side == "decoder":
                _copy_attention(state, f"{name}.cross.attention", layer.multihead_attn)
                _copy(state, f"{name}.cross.residual.norm", layer.norm2)
            _copy(state, f"{name}.feed_forward.up_proj", layer.linear1)
            _copy(state, f"{name}.feed_forward.down_proj", layer.linear2)
            last = layer.norm3 if side == "decoder" else layer.norm2
            _copy(state, f"{name}.feed_forward_residual.norm", last)
    _load(ours, state)


def _copy(state: dict[str, Tensor], name: str, module: nn.Module) -> None:
    state |= {f"{name}.{key}": value for key, value in module.state_dict().items()}


def _copy_attention(state: dict[str, Tensor], name: str, module: nn.MultiheadAttention) -> None:
    for kind in ("weight", "bias"):
        packed = getattr(module, f"in_proj_{kind}").detach()
        for part, rows in zip(ATTENTION, packed.chunk(3), strict=True):
            state[f"{name}.{part}.{kind}"] = rows
        state[f"{name}.o_proj.{kind}"] = getattr(module.out_proj, kind).detach()


LLAMA = {
    r"layers\.(\d+)\.self_attn\.(\w+)": r"layers.\1.self_attention.\2",
    r"layers\.(\d+)\.mlp\.(\w+)": r"layers.\1.feed_forward.\2",
    r"layers\.(\d+)\.input_layernorm": r"layers.\1.self_residual.norm",
    r"layers\.(\d+)\.post_attention_layernorm": r"layers.\1.feed_forward_residual.norm",
    r"norm": r"final_norm",
}
T5_ENCODER = {
    r"block\.0\.layer\.0\.SelfAttention\.relative_attention_bias": r"relative_bias.table",
    r"block\.(\d+)\.layer\.0\.SelfAttention\.([qkvo])": r"layers.\1.self_attention.\2_proj",
    r"block\.(\d+)\.layer\.0\.layer_norm": r"layers.\1.self_residual.norm",
    r"block\.(\d+)\.layer\.1\.DenseReluDense\.wi_0": r"layers.\1.feed_forward.gate_proj",
    r"block\.(\d+)\.layer\.1\.DenseReluDense\.wi(_1)?": r"layers.\1.feed_forward.up_proj",
    r"block\.(\d+)\.layer\.1\.DenseReluDense\.wo": r"layers.\1.feed_forward.down_proj",
    r"block\.(\d+)\.layer\.1\.layer_norm": r"layers.\1.feed_forward_residual.norm",
    r"final_layer_norm": r"final_norm",
}
T5_DECODER = {old.replace(r"layer\.1", r"layer\.2"): new for old, new in T5_ENCODER.items()} | {
    r"block\.(\d+)\.layer\.1\.EncDecAttention\.([qkvo])": r"layers.\1.cross.attention.\2_proj",
    r"block\.(\d+)\.layer\.1\.layer_norm": r"layers.\1.cross.residual.norm",
}


def load_llama(ours: nn.Module, theirs: nn.Module) -> None:
    """The weights of a LlamaModel into a `Decoder` without cross-attention."""
    _load(ours, _renamed(theirs, LLAMA))


def load_t5(ours: nn.Module, theirs: nn.Module) -> None:
    """The weights of a T5Stack into an `Encoder` or a `Decoder`."""
    _load(ours, _renamed(theirs, T5_DECODER if theirs.is_decoder else T5_ENCODER))


def _renamed(theirs: nn.Module, names: Mapping[str, str]) -> dict[str, Tensor]:
    state = {}
    for key, value in theirs.state_dict().items():
        if key == "embed_tokens.weight":
            continue
        stem, _, kind = key.rpartition(".")
        [new] = [re.sub(old, new, stem) for old, new in names.items() if re.fullmatch(old, stem)]
        state[f"{new}.{kind}"] = value
    return state


def _load(ours: nn.Module, state: Mapping[str, Tensor]) -> None:
    """Every weight of theirs must arrive, and every one of ours but the embedding must be set."""
    missing, unexpected = ours.load_state_dict(state, strict=False)
    assert unexpected == []
    assert [name for name in missing if "embedding" not in name] == []


def shake(model: nn.Module) -> None:
    """Move every weight a little, so that no bias is zero and no scale is one."""
    generator = torch.Generator().manual_seed(5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(0.1 * torch.randn(parameter.shape, dtype=parameter.dtype, generator=generator))
