"""Where a Transformer looks: the attention weights of every layer and head for given sentences."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from coursepkg.attention.patterns import Pattern, causal, padding
from coursepkg.blocks.memory import real_tokens
from coursepkg.blocks.transformer import Transformer


@dataclass(frozen=True)
class AttentionMaps:
    """Attention weights; each row sums to 1."""

    encoder: Tensor
    """Self-attention of the encoder (layers, B, H, S, S)."""
    decoder: Tensor
    """Self-attention of the decoder (layers, B, H, T, T)."""
    cross: Tensor
    """Cross-attention (layers, B, H, T, S)."""


@torch.no_grad()
def attention_maps(model: Transformer, src: Tensor, tgt_in: Tensor) -> AttentionMaps:
    """The weights with which `model(src, tgt_in)` mixes values.

    Fused attention never stores its weights. So the inputs of every attention are caught by hooks, and its weights are
    computed once more from them.

    Args:
        model: in eval mode, or dropout changes what is seen.
        src: source ids (B, S), PAD behind their ends.
        tgt_in: target ids (B, T).

    Raises:
        ValueError: ids do not fit, or the model's `impl` cannot return weights.
    """
    caught: dict[nn.Module, Tensor] = {}
    linears = [module for module in model.modules() if isinstance(module, nn.Linear)]
    hooks = [linear.register_forward_pre_hook(partial(_catch, caught)) for linear in linears]
    try:
        model(src, tgt_in)
    finally:
        for hook in hooks:
            hook.remove()
    real = padding(real_tokens("src", src)[1])

    def weights(attention: Any, pattern: Pattern, stack: Any) -> Tensor:
        q = attention.project_q(caught[attention.q_proj])
        k, v = attention.project_kv(caught[attention.k_proj])
        bias = (
            None
            if stack is None or stack.relative_bias is None
            else stack.relative_bias(q.shape[2], k.shape[2])
        )
        return attention.attend(q, k, v, pattern=pattern, score_bias=bias, return_weights=True)[1]

    def stacked(layers: nn.ModuleList, name: str, pattern: Pattern, stack: Any = None) -> Tensor:
        return torch.stack([weights(layer.get_submodule(name), pattern, stack) for layer in layers])

    return AttentionMaps(
        stacked(model.encoder.layers, "self_attention", real, model.encoder),
        stacked(model.decoder.layers, "self_attention", causal(), model.decoder),
        stacked(model.decoder.layers, "cross.attention", real),
    )


def _catch(caught: dict[nn.Module, Tensor], module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    caught[module] = inputs[0]
