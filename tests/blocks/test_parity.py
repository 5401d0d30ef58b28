"""Same weights, same outputs and gradients: torch.nn.Transformer, Llama's layers, T5's stacks."""

import pytest
import torch
from torch import Tensor, nn

from coursepkg.attention.pattern import padding
from coursepkg.blocks.cache import Memory
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.decoder import Decoder
from coursepkg.blocks.encoder import Encoder
from coursepkg.blocks.transformer import Transformer
from tests.blocks.parity import load_llama, load_t5, load_torch, shake

E, H, LAYERS, D_FF, V = 24, 4, 2, 40, 30
SIZES = {"d_model": E, "n_heads": H, "n_encoder_layers": LAYERS, "n_decoder_layers": LAYERS, "d_ff": D_FF}
S, T = 7, 5
LENGTHS = torch.tensor([S, 4, 6])
IS_REAL = torch.arange(S) < LENGTHS[:, None]


def vectors(length: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(len(LENGTHS), length, E, dtype=torch.float64, generator=generator)


def grads_of(output: Tensor, inputs: list[Tensor]) -> tuple[Tensor, ...]:
    weights = torch.linspace(-1, 1, output.numel(), dtype=output.dtype).view_as(output)
    return torch.autograd.grad((output * weights).sum(), inputs)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor is True")
@pytest.mark.filterwarnings("ignore:Support for mismatched src_key_padding_mask")
@pytest.mark.parametrize("padded", [False, True])
@pytest.mark.parametrize("activation", ["relu", "gelu"])
@pytest.mark.parametrize("norm_first", [False, True])
def test_equals_torch_transformer(norm_first: bool, activation: str, padded: bool) -> None:
    theirs = nn.Transformer(
        E, H, LAYERS, LAYERS, D_FF, 0.0, activation, batch_first=True, norm_first=norm_first
    ).double()
    shake(theirs)
    config = TransformerConfig(
        V, **SIZES, norm_first=norm_first, activation=activation, final_norm=True, position="none"
    )
    ours = Transformer(config).double()
    load_torch(ours, theirs)
    theirs.train(), ours.eval()  # in eval mode theirs takes a path that gives no gradients

    is_real = IS_REAL if padded else torch.ones_like(IS_REAL)
    src, tgt = vectors(S, 1).requires_grad_(), vectors(T, 2).requires_grad_()
    future = nn.Transformer.generate_square_subsequent_mask(T, dtype=torch.float64)
    expected = theirs(
        src, tgt, tgt_mask=future, src_key_padding_mask=~is_real, memory_key_padding_mask=~is_real
    )
    outputs = ours.encoder(src, padding(is_real.sum(1)) if padded else None)
    found = ours.decoder(tgt, ours.decoder.read(Memory(outputs, is_real)))
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(grads_of(found, [src, tgt]), grads_of(expected, [src, tgt]))
    encoded = theirs.encoder(src, src_key_padding_mask=~is_real)
    torch.testing.assert_close(outputs[is_real], encoded[is_real])


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
def test_equals_llama(n_kv_heads: int) -> None:
    from transformers import LlamaConfig, LlamaModel

    theirs = LlamaModel(
        LlamaConfig(
            vocab_size=V,
            hidden_size=E,
            intermediate_size=D_FF,
            num_hidden_layers=LAYERS,
            num_attention_heads=H,
            num_key_value_heads=n_kv_heads,
            head_dim=8,
            rms_norm_eps=1e-5,
            rope_theta=500.0,
            attn_implementation="eager",
        )
    )
    theirs = theirs.double().eval()
    shake(theirs)
    config = TransformerConfig.modern(
        V,
        **SIZES,
        n_kv_heads=n_kv_heads,
        head_dim=8,
        norm_eps=1e-5,
        rope_base=theirs.rotary_emb.config.rope_parameters["rope_theta"],
        rope_layout="half",
    )
    ours = Decoder(config, cross=False).double().eval()
    load_llama(ours, theirs)
    x = vectors(T, 1).requires_grad_()
    expected = theirs(inputs_embeds=x).last_hidden_state
    # Their angles are float32 whatever the input, so ours are compared at the precision of those angles.
    torch.testing.assert_close(ours(x), expected, rtol=1e-6, atol=1e-6)
    torch.testing.assert_close(grads_of(ours(x), [x]), grads_of(expected, [x]), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("activation", ["relu", "gated-gelu"])
@pytest.mark.parametrize("padded", [False, True])
def test_equals_t5(activation: str, padded: bool) -> None:
    from transformers import T5Config, T5Model

    theirs = T5Model(
        T5Config(
            vocab_size=V,
            d_model=E,
            d_kv=8,
            d_ff=D_FF,
            num_layers=LAYERS,
            num_heads=H,
            feed_forward_proj=activation,
            dropout_rate=0.0,
        )
    )
    theirs = theirs.double().eval()
    shake(theirs)
    config = TransformerConfig(
        V,
        **SIZES,
        head_dim=8,
        norm="rms",
        norm_eps=1e-6,
        norm_first=True,
        final_norm=True,
        activation="relu" if activation == "relu" else "geglu",
        bias=False,
        position="relative",
        attention_scale=1.0,
    )
    encoder, decoder = Encoder(config).double().eval(), Decoder(config).double().eval()
    load_t5(encoder, theirs.encoder)
    load_t5(decoder, theirs.decoder)

    is_real = IS_REAL if padded else torch.ones_like(IS_REAL)
    src, tgt = vectors(S, 1).requires_grad_(), vectors(T, 2).requires_grad_()
    expected = theirs(
        inputs_embeds=src, attention_mask=is_real.long(), decoder_inputs_embeds=tgt
    ).last_hidden_state
    outputs = encoder(src, padding(is_real.sum(1)) if padded else None)
    found = decoder(tgt, decoder.read(Memory(outputs, is_real)))
    # Their norm and softmax are float32 whatever the input, so ours are compared at that precision.
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
    inputs = [src, tgt]
    torch.testing.assert_close(grads_of(found, inputs), grads_of(expected, inputs), rtol=1e-5, atol=1e-5)
