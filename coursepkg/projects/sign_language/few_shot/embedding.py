"""A sign as one vector: a small Transformer over its steps, attention pooling.

    steps (B, N, F) -> linear (B, N, E) -> encoder (B, N, E) -> pooled (B, E)
                    -> linear, length 1 (B, E)

It has learnt from made-up signs of `generator`: two clips of one word by two people are
to be near each other, and far from the other words of the batch (InfoNCE). It has never
seen a word of any language, so that all words are new to it, and equally so.

Sources: InfoNCE, van den Oord et al. (arXiv 1807.03748), section 2.3; one vector a
class from a few examples, Snell et al., "Prototypical Networks" (arXiv 1703.05175).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.encoder import Encoder
from coursepkg.blocks.layer_parts import initialise
from coursepkg.projects.sign_language.few_shot.features import N_STEPS, SignSteps
from coursepkg.projects.sign_language.model.classifier import AttentionPooling
from coursepkg.training.saved_model import load_model

CHECKPOINT = Path(__file__).parent / "checkpoint"
"""The embedding that ships with the package."""
PARTS = (2 * 20 * 3, 2, 4, 4, 6, 1)
"""Numbers of a step: both hands without their wrists, how much they are seen, wrists,
elbows, face, and the logarithm of the seconds."""
N_FEATURES = sum(PARTS)
"""All of them (F)."""


@dataclass(frozen=True)
class EmbeddingConfig:
    """Sizes of a `SignEmbedding`."""

    n_features: int = N_FEATURES
    d_model: int = 128
    """Width of a step's vector, and of the sign's (E)."""
    n_layers: int = 3
    n_heads: int = 4
    d_ff: int = 256
    dropout_p: float = 0.05
    n_steps: int = N_STEPS
    """Most steps of a sign (N)."""


class SignEmbedding(nn.Module):
    """Signs to vectors of length 1.

    Args:
        config: its sizes.
    """

    def __init__(self, config: EmbeddingConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or EmbeddingConfig()
        self.input = nn.Linear(config.n_features, config.d_model)
        self.encoder = Encoder(
            TransformerConfig(
                vocab_size=1,
                d_model=config.d_model,
                n_heads=config.n_heads,
                n_encoder_layers=config.n_layers,
                d_ff=config.d_ff,
                dropout_p=config.dropout_p,
                norm_first=True,
                final_norm=True,
                activation="gelu",
                max_len=config.n_steps,
            )
        )
        self.pooling = AttentionPooling(config.d_model)
        self.output = nn.Linear(config.d_model, config.d_model)
        for part in (self.input, self.pooling, self.output):
            initialise(part)

    def forward(self, steps: Tensor) -> Tensor:
        """steps (B, N, F) -> (B, E), each of length 1."""
        x = self.encoder(self.input(steps))
        real = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device)
        return F.normalize(self.output(self.pooling(x, real).vector), dim=-1)


def step_features(steps: SignSteps) -> np.ndarray:
    """The steps of a sign as the network takes them, float32 (N, F)."""
    n = len(steps.seen)
    parts = (steps.hands[:, :, 1:], steps.seen, steps.wrists, steps.elbows, steps.face)
    flat = [part.reshape(n, -1) for part in parts]
    length = np.full((n, 1), np.log(max(steps.seconds, 0.2)))
    return np.concatenate([*flat, length], axis=1).astype(np.float32)


@torch.no_grad()
def embed(model: nn.Module, signs: Sequence[SignSteps]) -> np.ndarray:
    """Vectors of signs, float32 (n, E)."""
    batch = torch.from_numpy(np.stack([step_features(one) for one in signs]))
    vectors: Tensor = model(batch)
    return vectors.numpy()


@cache
def default_embedding() -> SignEmbedding:
    """The embedding that ships with the package, read once.

    Raises:
        FileNotFoundError: this installation has none.
        ValueError: it is damaged.
    """
    return read_embedding(CHECKPOINT)


def read_embedding(folder: Path) -> SignEmbedding:
    """The embedding in a folder that `save_model` wrote."""

    def build(fields: dict[str, Any]) -> nn.Module:
        return SignEmbedding(EmbeddingConfig(**fields))

    model, _ = load_model(folder, build)
    assert isinstance(model, SignEmbedding)
    return model
