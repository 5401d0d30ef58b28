"""The network whole: backbone over each frame, layers over time, one vector, one score a word.

    frames (B, T, 3, H, W) -> backbone (B, T, F) -> over time (B, T, E) -> pooled (B, E) -> logits (B, V)

The baseline of source 002 and its improved model are two configurations of this one network, and so is every step
between them.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from coursepkg.blocks.layer_parts import initialise
from coursepkg.projects.sign_language.model.config import ModelConfig
from coursepkg.projects.sign_language.model.library import LibraryBackbone
from coursepkg.projects.sign_language.model.pooling import make_pooling
from coursepkg.projects.sign_language.model.small import SmallCNN, with_motion
from coursepkg.projects.sign_language.model.temporal import Temporal


class ClipScores(NamedTuple):
    """What the network says of clips."""

    logits: Tensor
    """(B, V)."""
    weights: Tensor
    """(B, T), what each frame weighs in the pooled vector; 0 at padding, sum 1."""


class ClipClassifier(nn.Module):
    """Names the word that is signed in a clip.

    Source: the Olympiad tutorials (source 002), second tutorial, sections IV.2 and VI.

    Args:
        config: sizes and choices.

    Raises:
        ImportError: a backbone of the transformers library is asked for, and it is not installed.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.backbone = SmallCNN(config) if config.backbone == "small" else LibraryBackbone(config)
        self.temporal = Temporal(config, self.backbone.out_channels)
        self.pooling = make_pooling(config.pooling, config.d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(config.d_model, config.n_classes)
        for part in (self.pooling, self.output):
            initialise(part)
        self._frozen: list[str] = []

    def train(self, mode: bool = True) -> "ClipClassifier":
        """Training or evaluation mode; frozen parts stay in evaluation mode, batch statistics included."""
        super().train(mode)
        for name in self._frozen:
            self.backbone.get_submodule(name).eval()
        return self

    def freeze(self, n_parts: int) -> None:
        """Keep the first parts of the backbone as they are from now on, and let the others learn.

        Args:
            n_parts: counted from the frame on, the stem first; 0 freezes nothing.

        Raises:
            ValueError: the backbone has fewer; they are named.
        """
        depths = self.backbone.depths
        if not 0 <= n_parts <= len(depths):
            raise ValueError(
                f"--frozen must lie in 0..{len(depths)} for {self.config.backbone} "
                f"(its parts are {', '.join(depths)}), got {n_parts}"
            )
        self._frozen = depths[:n_parts]
        self.backbone.requires_grad_(True)
        for name in self._frozen:
            self.backbone.get_submodule(name).requires_grad_(False)
        self.train(self.training)

    def forward(self, frames: Tensor, mask: Tensor | None = None) -> ClipScores:
        """Score clips.

        Args:
            frames: (B, T, 3, H, W), ImageNet-normalised.
            mask: bool (B, T), True at a real frame; padding stands behind the real frames. None: all are real.

        Raises:
            ValueError: shapes do not fit, a clip has no real frame, or padding stands before a real one.
        """
        check_clips(frames, mask, self.config)
        if mask is not None and bool(mask.all()):
            mask = None
        x = self.temporal(self.frame_vectors(frames, mask), mask)
        real = torch.ones(x.shape[:2], dtype=torch.bool, device=x.device) if mask is None else mask
        pooled = self.pooling(x, real)
        return ClipScores(self.output(self.dropout(pooled.vector)), pooled.weights)

    def frame_vectors(self, frames: Tensor, mask: Tensor | None) -> Tensor:
        """Frames (B, T, 3, H, W) -> (B, T, F); padding is not looked at and gives zeros.

        So padding neither costs time nor enters the statistics of batch normalisation.
        """
        if isinstance(self.backbone, SmallCNN):
            frames = with_motion(frames, mask, self.config.motion)
        real = frames.flatten(0, 1) if mask is None else frames[mask]  # (real frames, C, H, W)
        found: Tensor = self.backbone(real.contiguous(memory_format=torch.channels_last))
        if mask is None:
            return found.unflatten(0, frames.shape[:2])
        vectors = found.new_zeros(*mask.shape, found.shape[-1])
        vectors[mask] = found
        return vectors


def check_clips(frames: Tensor, mask: Tensor | None, config: ModelConfig) -> None:
    """Raises a ValueError unless frames (B, T, 3, size, size) and mask (B, T) are what a model reads."""
    wanted = (3, config.size, config.size)
    if frames.dim() != 5 or frames.shape[2:] != wanted or not frames.is_floating_point():
        raise ValueError(
            f"frames must be floating point (B, T, 3, {config.size}, {config.size}), "
            f"got {frames.dtype} {tuple(frames.shape)}"
        )
    if not frames.shape[0] or not 1 <= frames.shape[1] <= config.n_frames:
        raise ValueError(
            f"frames must hold at least one clip of 1..{config.n_frames} frames, got {tuple(frames.shape[:2])}"
        )
    if mask is None:
        return
    if mask.shape != frames.shape[:2] or mask.dtype != torch.bool:
        raise ValueError(f"mask must be bool {tuple(frames.shape[:2])}, got {mask.dtype} {tuple(mask.shape)}")
    # On a GPU this check would make the host wait at every step.
    if mask.device.type == "cpu":
        wrong = ~mask[:, 0] | (mask[:, 1:] & ~mask[:, :-1]).any(dim=1)
        if bool(wrong.any()):
            raise ValueError(
                f"mask must be True at the real frames, at least one, and False behind them only; "
                f"clip {int(wrong.nonzero()[0])} of the batch is not so"
            )
