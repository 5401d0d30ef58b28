"""A Transformer of this package written into CTranslate2's form: which of its layers takes which of our matrices.

CTranslate2 is a C++ runtime with layers of its own. Its specification of an encoder-decoder model holds the choices
(heads, norms, positions) and the weights; self-attention keeps W_q, W_k and W_v as one matrix, cross-attention keeps
W_k and W_v so.
"""

from importlib import import_module
from typing import Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from coursepkg.attention.multihead import MultiHeadAttention
from coursepkg.attention.relative import RelativeBias
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.decoder import Decoder, DecoderLayer
from coursepkg.blocks.encoder import Encoder, EncoderLayer
from coursepkg.blocks.feedforward import FeedForward
from coursepkg.blocks.norm import LayerNorm
from coursepkg.blocks.transformer import Transformer

ACTIVATIONS = {"relu": "RELU", "gelu": "GELU", "swiglu": "SWISH", "geglu": "GELUTanh"}
"""By our name: that of CTranslate2's activation, in a gated network that of the gate."""


def ctranslate2() -> Any:
    """The optional module.

    Raises:
        ImportError: it is not installed.
    """
    try:
        return import_module("ctranslate2")
    except ImportError as reason:
        raise ImportError("an exported model needs ctranslate2: pip install 'coursepkg[export]'") from reason


def check_exportable(model: nn.Module) -> Transformer:
    """The model, if CTranslate2 can run it.

    Raises:
        ValueError: it cannot; the message names what stands in the way.
    """
    if not isinstance(model, Transformer):
        raise ValueError(f"model must be a Transformer to be exported, got {type(model).__name__}")
    if model.output_head is not None:
        raise ValueError(
            "model is packed or has another output head (pack, with_output); export the one it was made from"
        )
    if model.config.rope_cross:
        raise ValueError(
            "rope_cross must be False to export: CTranslate2 rotates self-attention only; train with rope_cross=False"
        )
    return model


def filled_spec(model: Transformer) -> Any:
    """CTranslate2's `TransformerSpec` with copies, in float32, of the model's weights.

    Raises:
        ImportError: ctranslate2 is not installed.
    """
    config, specs = model.config, ctranslate2().specs
    activation = specs.common_spec.Activation[ACTIVATIONS[config.activation]]
    choices = _choices(config) | {"activation": activation}
    encoder = specs.transformer_spec.TransformerEncoderSpec(
        config.n_encoder_layers, config.n_heads, **choices
    )
    decoder = specs.transformer_spec.TransformerDecoderSpec(
        config.n_decoder_layers, config.n_heads, **choices
    )
    spec = specs.TransformerSpec(encoder, decoder)
    spec.config.add_attribute("layer_norm_epsilon", config.norm_eps)
    source = model.target_embedding if model.source_embedding is None else model.source_embedding
    encoder.embeddings[0].weight = _numbers(source.weight)
    decoder.embeddings.weight = _numbers(model.target_embedding.weight)
    _fill_stack(encoder, model.encoder, config)
    _fill_stack(decoder, model.decoder, config)
    decoder.projection.weight = _numbers(model.output_weight)
    if model.output_bias is not None:
        decoder.projection.bias = _numbers(model.output_bias)
    return spec


def _choices(config: TransformerConfig) -> dict[str, Any]:
    """The arguments that both stacks of the specification take."""
    choices = {
        "pre_norm": config.final_norm,  # makes a place for the final norm; `_fill_stack` corrects the meaning
        "rms_norm": config.norm == "rms",
        "ffn_glu": config.activation in ("swiglu", "geglu"),
        "num_heads_kv": config.kv_heads if config.kv_heads != config.n_heads else None,
        "head_dim": config.d_head,
        "relative_attention_bias": config.position == "relative",
    }
    if config.position != "rotary":
        return choices
    return choices | {
        "rotary_dim": config.d_head,
        "rotary_interleave": config.rope_layout == "interleaved",
        "rotary_base": config.rope_base,
    }


def _fill_stack(spec: Any, ours: Encoder | Decoder, config: TransformerConfig) -> None:
    spec.pre_norm = config.norm_first
    spec.scale_embeddings = config.scale_embeddings
    if config.position == "none":
        # Without a table CTranslate2 would add sinusoids.
        spec.position_encodings.encodings = np.zeros((config.max_len, config.d_model), dtype=np.float32)
    elif ours.position is not None:
        spec.position_encodings.encodings = _numbers(ours.position.table)
    if config.final_norm:
        _fill_norm(spec.layer_norm, ours.final_norm)
    for layer_spec, layer in zip(spec.layer, ours.layers, strict=True):
        _fill_layer(layer_spec, cast(EncoderLayer | DecoderLayer, layer), config)
        if ours.relative_bias is not None:
            _fill_relative_bias(layer_spec.self_attention, ours.relative_bias)


def _fill_layer(spec: Any, layer: EncoderLayer | DecoderLayer, config: TransformerConfig) -> None:
    attention = layer.self_attention
    _fill_attention(
        spec.self_attention, attention, [[attention.q_proj, attention.k_proj, attention.v_proj]], config
    )
    _fill_norm(spec.self_attention.layer_norm, layer.self_residual.norm)
    if isinstance(layer, DecoderLayer) and layer.cross is not None:
        cross = layer.cross.attention
        _fill_attention(spec.attention, cross, [[cross.q_proj], [cross.k_proj, cross.v_proj]], config)
        _fill_norm(spec.attention.layer_norm, layer.cross.residual.norm)
    _fill_feed_forward(spec.ffn, layer.feed_forward)
    _fill_norm(spec.ffn.layer_norm, layer.feed_forward_residual.norm)


def _fill_attention(
    spec: Any, attention: MultiHeadAttention, inputs: list[list[nn.Linear]], config: TransformerConfig
) -> None:
    """`inputs`: the projections, grouped as the specification joins them."""
    for linear, parts in zip(spec.linear, [*inputs, [attention.o_proj]], strict=True):
        _fill_linear(linear, *parts)
    if config.attention_scale is not None:
        spec.queries_scale = np.float32(config.attention_scale)


def _fill_feed_forward(spec: Any, network: FeedForward) -> None:
    if network.gate_proj is None:
        _fill_linear(spec.linear_0, network.up_proj)
    else:
        _fill_linear(spec.linear_0, network.gate_proj)
        _fill_linear(spec.linear_0_noact, network.up_proj)
    _fill_linear(spec.linear_1, network.down_proj)


def _fill_relative_bias(spec: Any, bias: RelativeBias) -> None:
    spec.relative_attention_bias = _numbers(bias.table.weight)
    spec.relative_attention_max_distance = np.int32(bias.max_distance)


def _fill_linear(spec: Any, *parts: nn.Linear) -> None:
    """One matrix, or several of the same input below one another."""
    weights: list[Tensor] = [part.weight for part in parts]
    biases: list[Tensor] = [part.bias for part in parts if part.bias is not None]
    spec.weight = _numbers(torch.cat(weights))
    if biases:
        spec.bias = _numbers(torch.cat(biases))


def _fill_norm(spec: Any, norm: nn.Module) -> None:
    spec.gamma = _numbers(cast(Tensor, norm.weight))
    if isinstance(norm, LayerNorm) and norm.bias is not None:
        spec.beta = _numbers(norm.bias)


def _numbers(weight: Tensor) -> np.ndarray:
    """A copy: quantization scales its input in place, which must not reach the model."""
    return weight.detach().to("cpu", torch.float32, copy=True).numpy()
