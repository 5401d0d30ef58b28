"""The improved model of source 002 in training, end to end: pixels in memory to changed weights, in bfloat16."""

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor

from coursepkg.bench.machine import Device
from coursepkg.bench.utilisation import Utilisation
from coursepkg.projects.sign_language.data.batches import ClipBatch
from coursepkg.projects.sign_language.data.imagenet import normalise
from coursepkg.projects.sign_language.model.build import build_model
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.projects.sign_language.task import ClipTask

N_WORDS = 100
"""The contest's."""
N_CLIPS = 32
"""Of a step: 512 pictures of 224 x 224 pixels."""


def end_to_end(
    device: Device, recipe: Recipe = PRESETS["report"], n_clips: int = N_CLIPS, *, compiled: bool
) -> Utilisation:
    """Clips a second, and the share of the peak, of training the network of a recipe.

    Args:
        device: where the network is; the clips begin in the memory of the host.
        recipe: its network, with random weights.
        n_clips: of a step.
        compiled: whether `torch.compile` makes the step faster first.
    """
    torch.manual_seed(0)
    model = build_model(recipe, N_WORDS, pretrained=False).to(device.kind).train()
    frames = torch.randint(256, (n_clips, recipe.n_frames, recipe.size, recipe.size, 3), dtype=torch.uint8)
    frames = frames.pin_memory() if device.is_cuda else frames
    targets = torch.arange(n_clips) % N_WORDS
    return Utilisation(
        name=f"{recipe.backbone}, bf16, {n_clips} clips of {recipe.n_frames} x {recipe.size} x {recipe.size}",
        candidate="compiled step" if compiled else "eager step",
        step=partial(
            train_step,
            torch.compile(model) if compiled else model,
            torch.optim.AdamW(model.parameters(), recipe.learning_rate, fused=device.is_cuda),
            frames,
            targets,
            device.kind,
        ),
        counted=partial(
            train_step, model, torch.optim.SGD(model.parameters(), 0.0), frames, targets, device.kind
        ),
        n_units=n_clips,
        unit="clips",
    )


def train_step(
    model: Callable[..., Any], optimizer: torch.optim.Optimizer, frames: Tensor, targets: Tensor, kind: str
) -> None:
    """To the device, normalise, forward, loss, backward, and a step of the optimiser.

    Args:
        model: on the device.
        optimizer: of its weights.
        frames: uint8 (B, T, H, W, 3), in the memory of the host.
        targets: class numbers (B,).
        kind: of the device, `cpu` or `cuda`.
    """
    clips = normalise(frames.to(kind, non_blocking=True))
    batch = ClipBatch(clips, torch.ones(clips.shape[:2], dtype=torch.bool, device=kind), targets.to(kind))
    with torch.autocast(kind, torch.bfloat16):
        loss = ClipTask().loss(model, batch)
    (loss / len(targets)).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
