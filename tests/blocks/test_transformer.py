"""The Transformer as a whole: its size, the past and the future, padding and batching, bad input."""

import torch

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.transformer import Transformer


def test_the_model_of_the_report_has_157_179_200_parameters() -> None:
    with torch.device("meta"):
        model = Transformer(TransformerConfig.zh_vi_report())
    assert sum(p.numel() for p in model.parameters()) == 157_179_200
