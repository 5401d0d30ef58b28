"""Tiny Transformers of every kind, and ids to feed them."""

from collections.abc import Callable

import torch
from torch import Tensor

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.language_model import LanguageModel
from coursepkg.blocks.transformer import Transformer
from coursepkg.text.vocabulary import BOS, EOS, pad_batch

V = 23
SIZES = {"d_model": 16, "n_heads": 4, "n_encoder_layers": 2, "n_decoder_layers": 2, "d_ff": 24, "max_len": 24}
MODERN = {"norm": "rms", "norm_first": True, "final_norm": True, "activation": "swiglu", "bias": False}
CONFIGS = {
    "2017": {},
    "pre-norm": {"norm_first": True, "final_norm": True, "activation": "gelu"},
    "learned": {"position": "learned", "scale_embeddings": False, "tie_output": False},
    "no positions": {"position": "none", "output_bias": True},
    "t5": MODERN | {"position": "relative", "activation": "geglu", "attention_scale": 1.0, "head_dim": 6},
    "t5 grouped": MODERN | {"position": "relative", "n_kv_heads": 2},
    "modern": MODERN | {"position": "rotary", "n_kv_heads": 2},
    "half, one kv head": MODERN | {"position": "rotary", "rope_layout": "half", "n_kv_heads": 1},
    "rope_cross": MODERN | {"position": "rotary", "rope_cross": True, "n_kv_heads": 2},
    "two vocabularies": {"source_vocab_size": V + 8},
    "reference": {"impl": "reference", "position": "relative"},
}
SOURCES = [[5, 6, 7, 8, 9, 10, EOS], [9, EOS], [4, 4, 11, 12, EOS]]
TARGETS = [
    [BOS, 4, 5, 6, 7, 8, 9, 4, 5],
    [BOS, 6, 7, 22, 9, 10, 4, 4, 4],
    [BOS, 20, 19, 18, 17, 16, 15, 14, 13],
]


def config(kind: str, **changes) -> TransformerConfig:
    return TransformerConfig(**({"vocab_size": V} | SIZES | CONFIGS[kind] | changes))


def make(kind: str, model: Callable = Transformer, **changes) -> Transformer | LanguageModel:
    """In float64, in eval mode, every weight moved away from where it starts."""
    torch.manual_seed(3)
    built = model(config(kind, **changes)).double().eval()
    with torch.no_grad():
        for parameter in built.parameters():
            parameter.add_(0.2 * torch.randn_like(parameter))
    return built


def source() -> Tensor:
    return pad_batch(SOURCES)[0]


def target() -> Tensor:
    return torch.tensor(TARGETS)
