"""Other libraries' Transformers with the weights of one of ours."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.position import sinusoidal_table
from coursepkg.blocks.transformer import Transformer
from coursepkg.text.vocabulary import BOS, PAD

Weights = dict[str, Tensor]

TORCH_NAMES = {
    "self_attention.o_proj": "self_attn.out_proj",
    "cross.attention.o_proj": "multihead_attn.out_proj",
    "feed_forward.up_proj": "linear1",
    "feed_forward.down_proj": "linear2",
    "self_residual.norm": "norm1",
}
MARIAN_NAMES = {
    "self_attention.o_proj": "self_attn.out_proj",
    "self_attention": "self_attn",
    "self_residual.norm": "self_attn_layer_norm",
    "cross.attention.o_proj": "encoder_attn.out_proj",
    "cross.attention": "encoder_attn",
    "cross.residual.norm": "encoder_attn_layer_norm",
    "feed_forward.up_proj": "fc1",
    "feed_forward.down_proj": "fc2",
    "feed_forward_residual.norm": "final_layer_norm",
}


def gate_model(**changes: Any) -> Transformer:
    """A small model of 2017 in eval mode, on which a suite shows that results agree."""
    torch.manual_seed(0)
    layers = {"n_encoder_layers": 2, "n_decoder_layers": 2}
    sizes = {"d_model": 32, "n_heads": 4, "d_ff": 64} | layers
    return Transformer(TransformerConfig.vaswani2017(60, **sizes, **changes)).eval()


class TorchTransformer(nn.Module):
    """`torch.nn.Transformer` between our embedding and output, with our weights.

    Args:
        ours: a 2017 Transformer with final norms (torch always has them), one
            vocabulary and a tied output.
    """

    def __init__(self, ours: Transformer) -> None:
        super().__init__()
        config = ours.config
        self.core = nn.Transformer(
            config.d_model,
            config.n_heads,
            config.n_encoder_layers,
            config.n_decoder_layers,
            config.d_ff,
            config.dropout_p,
            batch_first=True,
            norm_first=config.norm_first,
        )
        self.embedding = nn.Embedding(config.vocab_size, config.d_model)
        self.position = ours.encoder.position
        self.dropout = nn.Dropout(config.dropout_p)
        self.core.load_state_dict(torch_weights(ours))
        self.embedding.load_state_dict(ours.target_embedding.state_dict())

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """src (B, S), tgt_in (B, T) -> logits (B, T, V)."""
        padding = src == PAD
        future = nn.Transformer.generate_square_subsequent_mask(
            tgt_in.shape[1], device=src.device
        ).bool()
        x = self.core(
            self._embed(src),
            self._embed(tgt_in),
            tgt_mask=future,
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_is_causal=True,
        )
        return nn.functional.linear(x, self.embedding.weight)

    def _embed(self, ids: Tensor) -> Tensor:
        x = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)
        return self.dropout(x if self.position is None else self.position(x))


def torch_weights(ours: Transformer) -> Weights:
    """The encoder and decoder of `ours` under the names of `torch.nn.Transformer`."""
    weights: Weights = {}
    packed: dict[str, list[Tensor]] = {}
    for name, value in ours.state_dict().items():
        if not name.startswith(("encoder.", "decoder.")):
            continue
        for part, theirs in (
            ("self_attention", "self_attn"),
            ("cross.attention", "multihead_attn"),
        ):
            if (
                f".{part}." in name and ".o_proj." not in name
            ):  # q, k and v come in this order
                prefix, kind = name.split(f"{part}.")[0], name.rpartition(".")[2]
                packed.setdefault(f"{prefix}{theirs}.in_proj_{kind}", []).append(value)
                break
        else:
            names = TORCH_NAMES | {
                "cross.residual.norm": "norm2",
                "feed_forward_residual.norm": (
                    "norm2" if name.startswith("encoder.") else "norm3"
                ),
            }
            weights[_renamed(name, names).replace("final_norm", "norm")] = value
    return weights | {name: torch.cat(parts) for name, parts in packed.items()}


def marian(ours: Transformer) -> Any:
    """Hugging Face's Marian model with the weights of `ours`.

    Raises:
        ImportError: transformers is not installed.
    """
    try:
        from transformers import MarianConfig, MarianMTModel
    except ImportError as reason:
        raise ImportError(
            "the baseline needs transformers: pip install 'coursepkg[t5]'"
        ) from reason
    config = ours.config
    theirs = MarianMTModel(
        MarianConfig(
            vocab_size=config.vocab_size,
            d_model=config.d_model,
            encoder_layers=config.n_encoder_layers,
            decoder_layers=config.n_decoder_layers,
            encoder_attention_heads=config.n_heads,
            decoder_attention_heads=config.n_heads,
            encoder_ffn_dim=config.d_ff,
            decoder_ffn_dim=config.d_ff,
            activation_function=config.activation,
            scale_embedding=config.scale_embeddings,
            max_position_embeddings=config.max_len,
            max_length=config.max_len,
            pad_token_id=PAD,
            eos_token_id=None,
            forced_eos_token_id=None,
            decoder_start_token_id=BOS,
        )
    ).eval()
    weights = {
        f"model.{_renamed(name, MARIAN_NAMES)}": value
        for name, value in ours.state_dict().items()
        if ".layers." in name
    }
    table = sinusoidal_table(config.max_len, config.d_model)
    for side in ("encoder", "decoder"):
        weights[f"model.{side}.embed_positions.weight"] = table
        weights[f"model.{side}.embed_tokens.weight"] = ours.target_embedding.weight
    weights["model.shared.weight"] = weights["lm_head.weight"] = (
        ours.target_embedding.weight
    )
    weights["final_logits_bias"] = torch.zeros(1, config.vocab_size)
    theirs.load_state_dict(weights)
    return theirs.to(ours.target_embedding.weight)


def _renamed(name: str, names: dict[str, str]) -> str:
    for part, theirs in names.items():
        if f".{part}." in name:
            return name.replace(f".{part}.", f".{theirs}.")
    return name


def generate(model: Any, src: Tensor, n_tokens: int, beams: int) -> list[Tensor]:
    """Log-probability of each sentence's best hypothesis, by Hugging Face's search."""
    with torch.inference_mode():
        found = model.generate(
            input_ids=src,
            attention_mask=torch.ones_like(src),
            num_beams=beams,
            max_new_tokens=n_tokens,
            length_penalty=0.0,
            do_sample=False,
            return_dict_in_generate=True,
            output_scores=True,
        )
    return [found.sequences_scores.double().cpu()]
