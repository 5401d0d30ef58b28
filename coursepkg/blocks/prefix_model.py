"""Translation by a decoder alone: the source is the beginning of a text, the target its continuation.

    row:   <2vi> 酒店 在 哪里 </s> <s> Khách sạn ở đâu ?          predict:  Khách sạn ở đâu ? </s>

There is no encoder and no cross-attention; source and target pass through the same layers, and the source sees only
what is before it.
"""

from dataclasses import replace

import torch
from torch import Tensor, nn

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.language_model import LanguageModel
from coursepkg.blocks.memory import check_ids, real_tokens
from coursepkg.decoding.state import RecomputedState


class PrefixTransformer(nn.Module):
    """A `LanguageModel` that continues a source with its translation; it stands in for a `Transformer`.

    Args:
        config: one vocabulary for both sides; `max_len` counts for source and target each.
    """

    def __init__(self, config: TransformerConfig) -> None:
        super().__init__()
        if config.source_vocab_size is not None:
            raise ValueError(
                f"source_vocab_size must be None in a decoder-only model, got {config.source_vocab_size}"
            )
        self.config = config
        self.language_model = LanguageModel(replace(config, max_len=2 * config.max_len))

    def forward(self, src: Tensor, tgt_in: Tensor) -> Tensor:
        """Teacher forcing.

        Args:
            src: source ids (B, S), each row ends with EOS, PAD behind.
            tgt_in: target ids (B, T) that begin with BOS.

        Returns:
            logits (B, T, V) of what follows each target token.
        """
        for name, ids in (("src", src), ("tgt_in", tgt_in)):
            check_ids(name, ids, self.config.vocab_size, self.config.max_len)
        _, lengths = real_tokens("src", src)
        place = torch.arange(src.shape[1] + tgt_in.shape[1], device=src.device) - lengths[:, None]  # 0: BOS
        in_target = place.clamp(0, tgt_in.shape[1] - 1)
        in_source = (place + lengths[:, None]).clamp(max=src.shape[1] - 1)
        rows = torch.where(place < 0, src.gather(1, in_source), tgt_in.gather(1, in_target))  # (B, S + T)
        logits: Tensor = self.language_model(rows)
        wanted = lengths[:, None] + torch.arange(tgt_in.shape[1], device=src.device)  # (B, T)
        return logits.gather(1, wanted[..., None].expand(-1, -1, logits.shape[-1]))

    @torch.no_grad()
    def start(self, src: Tensor, *, max_len: int) -> RecomputedState:
        """Make ready to decode; every step reads source and target again, as sources differ in length."""
        if not 1 <= max_len <= self.config.max_len:
            raise ValueError(f"max_len must be in 1..{self.config.max_len}, got {max_len}")

        def predict(tokens: Tensor, sentence: Tensor) -> Tensor:
            logits: Tensor = self(src[sentence], tokens)[:, -1]
            return logits

        return RecomputedState(predict, len(src), src.device)
