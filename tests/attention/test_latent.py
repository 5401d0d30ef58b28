"""Multi-head latent attention: both forms agree, with a cache, and with DeepSeek-V2 of transformers."""

import pytest
import torch
from transformers.models.deepseek_v2.configuration_deepseek_v2 import DeepseekV2Config
from transformers.models.deepseek_v2.modeling_deepseek_v2 import (
    DeepseekV2Attention,
    DeepseekV2RotaryEmbedding,
)

from coursepkg.attention import MultiHeadLatentAttention, RotaryEmbedding, causal, sliding_window


def make_layer(seed=0):
    torch.manual_seed(seed)
    layer = MultiHeadLatentAttention(
        24, 4, head_dim=6, latent_dim=10, rope_dim=4, rope=RotaryEmbedding(4)
    ).double()
    torch.nn.init.uniform_(layer.latent_norm.weight, 0.5, 1.5)
    return layer


def normal(*shape):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


@pytest.mark.parametrize("pattern", [None, causal(), sliding_window(3)])
def test_absorbed_form_equals_expanded_form_in_output_and_gradients(pattern):
    layer, found = make_layer(), []
    for absorbed in (False, True):
        x = normal(2, 9, 24).requires_grad_()
        output = layer(x, pattern=pattern, absorbed=absorbed)
        found.append((output, *torch.autograd.grad(output.square().sum(), [x, *layer.parameters()])))
    for expanded, absorbed in zip(*found, strict=True):
        torch.testing.assert_close(absorbed, expanded, rtol=1e-10, atol=1e-12)


def test_decoding_with_cached_rows_equals_the_whole_sentence():
    layer, x = make_layer(), normal(2, 9, 24)
    whole = layer(x, pattern=causal())
    rows = x.new_zeros(2, 1, 0, 14)
    for t, token in enumerate(x.split(1, dim=1)):
        rows = torch.cat([rows, layer.compress(token, offset=t)], dim=2)
        step = layer.attend(layer.project_q(token, offset=t), rows, absorbed=True)
        torch.testing.assert_close(step[:, 0], whole[:, t])
    assert rows[0, 0, 0].numel() == layer.latent_dim + layer.rope_dim


def test_it_is_the_attention_of_deepseek_v2():
    config = DeepseekV2Config(
        hidden_size=24,
        num_attention_heads=4,
        num_key_value_heads=4,
        q_lora_rank=None,
        kv_lora_rank=10,
        qk_nope_head_dim=6,
        qk_rope_head_dim=4,
        v_head_dim=6,
        attn_implementation="eager",
    )
    theirs, ours, x = DeepseekV2Attention(config, 0).double(), make_layer(), normal(2, 9, 24)
    theirs.load_state_dict(
        {
            "q_proj.weight": ours.q_proj.weight,
            "kv_a_proj_with_mqa.weight": ours.down_proj.weight,
            "kv_a_layernorm.weight": ours.latent_norm.weight,
            "kv_b_proj.weight": ours.up_proj.weight,
            "o_proj.weight": ours.o_proj.weight,
        }
    )
    places = DeepseekV2RotaryEmbedding(config)(x, torch.arange(9)[None])
    hidden = torch.full((9, 9), float("-inf"), dtype=x.dtype).triu(1)[None, None]
    expected, _ = theirs(x, attention_mask=hidden, position_embeddings=places)
    # transformers rotates in float32.
    torch.testing.assert_close(ours(x, pattern=causal()), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: make_layer()(normal(9, 24)), r"^x must be a tensor \(B, T, 24\), got \(9, 24\)$"),
        (
            lambda: MultiHeadLatentAttention(
                8, 2, head_dim=4, latent_dim=0, rope_dim=2, rope=RotaryEmbedding(2)
            ),
            r"^latent_dim must be a positive integer, got 0$",
        ),
        (
            lambda: MultiHeadLatentAttention(
                8, 2, head_dim=4, latent_dim=4, rope_dim=2, rope=RotaryEmbedding(4)
            ),
            r"^rope must be for rope_dim 2, got one for 4$",
        ),
    ],
)
def test_bad_input_is_one_line(call, message):
    with pytest.raises(ValueError, match=message):
        call()
