"""A small Transformer with its projection head, the same for every test of the contrastive stage."""

from collections.abc import Mapping

import torch

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.transformer import Transformer
from coursepkg.projects.translation.contrastive.task import ProjectionHead, WithProjection


def small_network(
    tags: Mapping[str, int], vocabulary: int, *, d_model: int, **changes: object
) -> WithProjection:
    torch.manual_seed(0)
    sizes = {"n_heads": 2, "n_kv_heads": 1, "n_encoder_layers": 1, "n_decoder_layers": 1, "d_ff": 2 * d_model}
    config = TransformerConfig.modern(vocabulary, d_model=d_model, **(sizes | changes))
    return WithProjection(Transformer(config), ProjectionHead(d_model, d_model // 2), tags.values())
