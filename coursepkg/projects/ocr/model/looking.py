"""Where the decoder looks while it writes: its cross-attention over the columns of a line."""

from functools import partial
from typing import cast

import torch
from torch import Tensor, nn

from coursepkg.attention.patterns import padding
from coursepkg.blocks.cross_attention import CrossAttention
from coursepkg.blocks.memory import Memory
from coursepkg.projects.ocr.model.recognizer import LineTransformer


@torch.no_grad()
def cross_attention(model: LineTransformer, memory: Memory, tgt_in: Tensor) -> Tensor:
    """The weights with which `model.decode(tgt_in, memory)` mixes what stands in the columns of a line.

    Fused attention never stores its weights. So the inputs of the queries' projections are caught by hooks, and the
    weights are computed once more from them.

    Args:
        model: in evaluation mode, or dropout changes what is seen.
        memory: encoded lines, from `model.encode`.
        tgt_in: ids (B, T) that begin with BOS; row t shows where the model looks for what follows id t.

    Returns:
        (layers, B, H, T, columns); each row sums to 1 and is 0 at padding. Of a grid the places of a column are
        added up.
    """
    bridges = [cast(CrossAttention, layer.get_submodule("cross")).attention for layer in model.decoder.layers]
    caught: dict[int, Tensor] = {}
    hooks = [
        bridge.q_proj.register_forward_pre_hook(partial(_catch, caught, i))
        for i, bridge in enumerate(bridges)
    ]
    try:
        model.decode(tgt_in, memory)
    finally:
        for hook in hooks:
            hook.remove()
    real = padding(memory.is_real.sum(dim=1))
    weights = []
    for i, bridge in enumerate(bridges):
        k, v = bridge.project_kv(memory.outputs)
        found = bridge.attend(bridge.project_q(caught[i]), k, v, pattern=real, return_weights=True)
        weights.append(found[1])
    steps = torch.stack(weights)  # (layers, B, H, T, steps)
    return steps.unflatten(-1, (-1, model.sequence.rows)).sum(dim=-1)


def _catch(caught: dict[int, Tensor], number: int, module: nn.Module, inputs: tuple[Tensor, ...]) -> None:
    caught[number] = inputs[0]
