"""The weights of `attention_maps` are those with which the model computes."""

import pytest
import torch

from coursepkg.attention.multihead import MultiHeadAttention
from coursepkg.blocks.packed import pack_where_possible
from coursepkg.blocks.transformer import attention_maps
from coursepkg.text.vocabulary import PAD
from tests.blocks.models import CONFIGS, make, source, target


@pytest.mark.parametrize("kind", CONFIGS)
def test_weights_and_values_give_what_enters_the_output_projection(kind: str) -> None:
    model, seen = make(kind), {}
    attentions = {n: m for n, m in model.named_modules() if isinstance(m, MultiHeadAttention)}
    for name, module in attentions.items():
        module.v_proj.register_forward_hook(lambda m, i, out, name=name: seen.update({name + "/v": out}))
        module.o_proj.register_forward_pre_hook(lambda m, i, name=name: seen.update({name + "/o": i[0]}))
    maps = attention_maps(model, source(), target())
    for stack, part, weights in (
        ("encoder", "self_attention", maps.encoder),
        ("decoder", "self_attention", maps.decoder),
        ("decoder", "cross.attention", maps.cross),
    ):
        assert len(weights) == 2
        for layer, mixed in enumerate(weights):
            name = f"{stack}.layers.{layer}.{part}"
            module = attentions[name]
            values = seen[name + "/v"].unflatten(-1, (module.n_kv_heads, -1)).transpose(1, 2)
            values = values.repeat_interleave(module.n_heads // module.n_kv_heads, dim=1)
            torch.testing.assert_close((mixed @ values).transpose(1, 2).flatten(2), seen[name + "/o"])


def test_shapes_sums_and_zeros() -> None:
    maps = attention_maps(make("modern"), source(), target())
    assert maps.encoder.shape == (2, 3, 4, 7, 7)
    assert maps.decoder.shape == (2, 3, 4, 9, 9)
    assert maps.cross.shape == (2, 3, 4, 9, 7)
    for weights in (maps.encoder, maps.decoder, maps.cross):
        torch.testing.assert_close(weights.sum(-1), torch.ones_like(weights[..., 0]))
    assert (maps.decoder.triu(1) == 0).all()
    padded = source() == PAD
    assert (maps.cross.permute(1, 4, 0, 2, 3)[padded] == 0).all()
    assert (maps.encoder.permute(1, 4, 0, 2, 3)[padded] == 0).all()


def test_the_model_is_left_as_it_was() -> None:
    model = make("2017")
    before = model(source(), target())
    attention_maps(model, source(), target())
    assert not any(module._forward_pre_hooks for module in model.modules())
    torch.testing.assert_close(model(source(), target()), before, rtol=0, atol=0)


def test_an_implementation_without_weights_is_named() -> None:
    with pytest.raises(
        ValueError, match=r"^impl='sdpa' does not support return_weights; use impl='reference'$"
    ):
        attention_maps(make("2017", impl="sdpa"), source(), target())


def test_a_packed_model_has_the_same_maps() -> None:
    model = make("2017").float()
    packed = pack_where_possible(model)
    for found, wanted in zip(
        vars(attention_maps(packed, source(), target())).values(),
        vars(attention_maps(model, source(), target())).values(),
        strict=True,
    ):
        torch.testing.assert_close(found, wanted)
