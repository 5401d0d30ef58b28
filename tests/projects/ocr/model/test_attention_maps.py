"""The weights of cross-attention are those that the decoder mixed with, and nobody looks at padding."""

import pytest
import torch
from torch import nn

from coursepkg.projects.ocr.model.recognizer import cross_attention
from tests.projects.ocr.drawn import network, noise


def mixed_values(model: nn.Module, tgt_in: torch.Tensor, memory: object) -> list[torch.Tensor]:
    """What each layer's cross-attention hands to its output projection, caught in the decoder's own pass."""
    caught: list[torch.Tensor] = []
    hooks = [
        layer.cross.attention.o_proj.register_forward_pre_hook(
            lambda module, inputs: caught.append(inputs[0])
        )
        for layer in model.decoder.layers
    ]
    with torch.no_grad():
        model.decode(tgt_in, memory)
    for hook in hooks:
        hook.remove()
    return caught


def test_weights_times_values_are_what_the_decoder_made() -> None:
    model = network()
    with torch.no_grad():
        memory = model.encode(*noise([90, 41], 96))
    tgt_in = torch.randint(4, 30, (2, 6))
    weights = cross_attention(model, memory, tgt_in)
    assert weights.shape == (2, 2, 2, 6, 24)
    for found, layer, made in zip(
        weights, model.decoder.layers, mixed_values(model, tgt_in, memory), strict=True
    ):
        _, values = layer.cross.attention.project_kv(memory.outputs)
        heads = found @ values  # (B, H, T, D)
        torch.testing.assert_close(heads.transpose(1, 2).flatten(-2), made)


@pytest.mark.parametrize("kind", [{}, {"sequence": "grid"}, {"norm_first": False}])
def test_rows_sum_to_one_and_padding_has_nothing(kind: dict) -> None:
    model = network(**kind)
    with torch.no_grad():
        memory = model.encode(*noise([90, 41], 96))
    weights = cross_attention(model, memory, torch.randint(4, 30, (2, 6)))
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones_like(weights[..., 0]))
    assert float(weights[:, 0, :, :, 23:].abs().max()) == 0.0
    assert float(weights[:, 1, :, :, 11:].abs().max()) == 0.0


def test_later_ids_do_not_change_where_earlier_ones_look() -> None:
    model = network()
    with torch.no_grad():
        memory = model.encode(*noise([64], 64))
    ids = torch.randint(4, 30, (1, 6))
    other = torch.cat([ids[:, :3], (ids[:, 3:] + 1) % 26 + 4], dim=1)
    before, after = (cross_attention(model, memory, one) for one in (ids, other))
    torch.testing.assert_close(before[..., :3, :], after[..., :3, :])
    assert not torch.allclose(before[..., 3:, :], after[..., 3:, :])


def test_ids_outside_the_vocabulary_are_refused() -> None:
    model = network()
    with torch.no_grad():
        memory = model.encode(*noise([64], 64))
    with pytest.raises(ValueError, match="tgt_in"):
        cross_attention(model, memory, torch.full((1, 3), 999))


def test_hooks_are_gone_after_an_error() -> None:
    model = network()
    with torch.no_grad():
        memory = model.encode(*noise([64], 64))
    with pytest.raises(ValueError, match="one row a line"):
        cross_attention(model, memory, torch.full((2, 3), 5))
    assert not any(module._forward_pre_hooks for module in model.modules())
