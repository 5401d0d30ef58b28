"""From a recipe to a network, and from a network's file back to one."""

import hashlib
from collections.abc import Callable
from typing import Any

from torch import nn

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.prefix_model import PrefixTransformer
from coursepkg.blocks.seq2seq import GRUSeq2Seq, Seq2SeqConfig
from coursepkg.blocks.transformer import Transformer
from coursepkg.projects.translation.recipe import Recipe


def config_of(recipe: Recipe, source_vocab: int, target_vocab: int) -> TransformerConfig | Seq2SeqConfig:
    """The configuration of the network that a recipe asks for.

    Args:
        recipe: its architecture and sizes.
        source_vocab: pieces of the source vocabulary.
        target_vocab: pieces of the target vocabulary.
    """
    if recipe.architecture in ("gru", "gru-attention"):
        return Seq2SeqConfig(
            source_vocab=source_vocab,
            target_vocab=target_vocab,
            d_embedding=recipe.d_model,
            d_hidden=recipe.d_ff,
            dropout_p=recipe.dropout,
            attention="additive" if recipe.architecture == "gru-attention" else "none",
        )
    sizes: dict[str, Any] = {
        "d_model": recipe.d_model,
        "n_heads": recipe.n_heads,
        "n_encoder_layers": recipe.n_encoder_layers,
        "n_decoder_layers": recipe.n_decoder_layers,
        "d_ff": recipe.d_ff,
        "dropout_p": recipe.dropout,
        "attention_dropout_p": recipe.attention_dropout,
        "activation_dropout_p": recipe.activation_dropout,
        "max_len": recipe.max_len,
        "output_bias": recipe.output_bias,
        "source_vocab_size": None if recipe.joint else source_vocab,
    }
    if recipe.architecture == "vaswani2017":
        return TransformerConfig.vaswani2017(target_vocab, **sizes)
    return TransformerConfig.modern(
        target_vocab,
        n_kv_heads=recipe.n_kv_heads,
        rope_cross=recipe.rope_cross,
        norm_eps=recipe.norm_eps,
        **sizes,
    )


def build_model(recipe: Recipe, source_vocab: int, target_vocab: int) -> nn.Module:
    """A fresh network; its weights come from PyTorch's generator as it stands."""
    config = config_of(recipe, source_vocab, target_vocab)
    if isinstance(config, Seq2SeqConfig):
        return GRUSeq2Seq(config)
    return PrefixTransformer(config) if recipe.architecture == "decoder-only" else Transformer(config)


def rebuilder(recipe: Recipe) -> Callable[[dict[str, Any]], nn.Module]:
    """What makes a network of the recipe's architecture from the configuration that its file holds."""

    def rebuild(fields: dict[str, Any]) -> nn.Module:
        if recipe.architecture in ("gru", "gru-attention"):
            return GRUSeq2Seq(Seq2SeqConfig(**fields))
        config = TransformerConfig(**fields)
        return PrefixTransformer(config) if recipe.architecture == "decoder-only" else Transformer(config)

    return rebuild


def count_parameters(model: nn.Module) -> int:
    """Trainable numbers, each shared matrix once."""
    return sum(p.numel() for p in model.parameters())


def model_sha256(model: nn.Module, vocabulary: str) -> str:
    """SHA-256 of a vocabulary, or what stands for it, and of a model's weights."""
    digest = hashlib.sha256(vocabulary.encode())
    for name, weight in model.state_dict().items():
        digest.update(name.encode() + weight.detach().cpu().numpy().tobytes())
    return digest.hexdigest()
