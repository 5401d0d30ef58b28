"""Clips of signs: the cache against live decoding and a bare loop of PyAV, and what a training step costs.

Speed asks for no trained weights: a network learns from noise as fast as from clips.
"""

import dataclasses
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from torch import Tensor, nn

from coursepkg.bench.machine import Device
from coursepkg.bench.race import Comparison, Contest, Gate, Row
from coursepkg.bench.utilisation import Utilisation
from coursepkg.projects.sign_language.bench.end_to_end import end_to_end
from coursepkg.projects.sign_language.clip import ClipFile
from coursepkg.projects.sign_language.data.batches import ClipBatch
from coursepkg.projects.sign_language.data.loading_race import loading_contest
from coursepkg.projects.sign_language.data.scan import scan_clips
from coursepkg.projects.sign_language.model.build import build_model
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.projects.sign_language.synthetic.config import SignersConfig
from coursepkg.projects.sign_language.synthetic.write import write_signers
from coursepkg.projects.sign_language.task import ClipTask

N_WORDS = 24
FILMS = SignersConfig(
    words=4, signers=4, most_clips=8, least_clips=8, least_frames=30, solid=0.0, frozen=0.0, duplicate=0.0
)
"""32 whole clips of 30 frames at 224 x 224, as the contest's are."""
N_CLIPS, N_CLIPS_LARGE = 16, 1
"""Clips of a step: of `small` alone, and beside a network that sees 224 x 224 pixels."""
LAST_STATE = dataclasses.replace(
    PRESETS["small"], temporal="lstm", pooling="last", n_convolutions=0, n_layers=1, d_model=256
)
"""The contest's way over time on the backbone of `small`."""
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
"""Of the films and their cache, kept until the process ends."""


@dataclass(frozen=True)
class Rated:
    """A contest over clips whose rows also say how many of them a second either side makes."""

    contest: Contest
    n_clips: int

    def run(self, device: Device) -> list[Row]:
        """Gate, time, compare and say."""
        return [with_rates(row, self.n_clips) for row in self.contest.run(device)]


def contests(device: Device) -> list[Rated | Utilisation]:
    """On a CPU the reading of clips and a step of `small`; on a GPU the training of `report`, end to end."""
    if device.is_cuda:
        return [end_to_end(device, compiled=compiled) for compiled in (False, True)]
    folder = tempfile.TemporaryDirectory()
    _FOLDERS.append(folder)
    clips = films(Path(folder.name) / "films")
    small, large = PRESETS["small"], PRESETS["crnn-baseline"]
    return [
        Rated(loading_contest(clips, Path(folder.name) / "cache", size=small.size), len(clips)),
        Rated(step_contest({"small": small, "small, last state of an LSTM": LAST_STATE}, N_CLIPS), N_CLIPS),
        Rated(step_contest({"small": small, "crnn-baseline": large}, N_CLIPS_LARGE), N_CLIPS_LARGE),
    ]


def films(folder: Path) -> list[ClipFile]:
    """Generated clips without a fault."""
    return list(scan_clips(write_signers(folder, 0, FILMS)).files)


def step_contest(recipes: dict[str, Recipe], n_clips: int) -> Contest:
    """Forward and backward of so many clips by the network of each recipe; the first one is the candidate.

    Each sees clips of its own size; all have as many frames.
    """
    candidate, *opponents = recipes
    frames = recipes[candidate].n_frames
    return Contest(
        name=f"forward and backward of {n_clips} clips, {frames} frames",
        variants={
            name: partial(step, network(recipe), noise(recipe, n_clips)) for name, recipe in recipes.items()
        },
        comparisons=[Comparison(candidate, opponent) for opponent in opponents],
        gates=[_gate(candidate, recipes[candidate])],
    )


def network(recipe: Recipe) -> nn.Module:
    """The recipe's network with random weights, in training mode."""
    torch.manual_seed(0)
    return build_model(recipe, N_WORDS, pretrained=False).train()


def noise(recipe: Recipe, n_clips: int) -> ClipBatch:
    """Clips in the size of the recipe."""
    generator = torch.Generator().manual_seed(0)
    shape = (n_clips, recipe.n_frames, 3, recipe.size, recipe.size)
    frames = torch.randn(shape, generator=generator)
    return ClipBatch(frames, torch.ones(shape[:2], dtype=torch.bool), torch.arange(n_clips) % N_WORDS)


def step(model: nn.Module, batch: ClipBatch) -> Tensor:
    """Loss and gradients of a batch, without the optimiser."""
    model.zero_grad(set_to_none=True)
    loss = ClipTask().loss(model, batch)
    loss.backward()
    return loss.detach()


def with_rates(row: Row, n_clips: int) -> Row:
    """The row with clips a second of either side in its note."""
    if row.candidate_ms is None or row.opponent_ms is None:
        return row
    ours, theirs = (1e3 * n_clips / ms for ms in (row.candidate_ms, row.opponent_ms))
    told = f"{ours:,.1f} against {theirs:,.1f} clips/s"
    return dataclasses.replace(row, note=f"{told}; {row.note}" if row.note else told)


@contextmanager
def plain_kernels() -> Iterator[None]:
    """Convolutions and products of matrices by PyTorch's own code instead of oneDNN's."""
    before = torch.backends.mkldnn.set_flags(_enabled=False)
    try:
        yield
    finally:
        torch.backends.mkldnn.set_flags(_enabled=before[0])


def _gate(name: str, recipe: Recipe) -> Gate:
    """Loss and gradients without chance, against the same by PyTorch's plain convolutions."""
    steady = dataclasses.replace(recipe, dropout=0.0, inner_dropout=0.0)

    def found(*, double: bool = False, plain: bool = False) -> list[Tensor]:
        model, batch = network(steady), noise(steady, 2)
        if double:
            model, batch = model.double(), dataclasses.replace(batch, frames=batch.frames.double())
        with plain_kernels() if plain else nullcontext():
            loss = step(model, batch)
        # As one vector: the gradient of a bias before a normalisation is zero but for rounding.
        return [loss, torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])]

    return Gate(name, found, partial(found, plain=True), partial(found, double=True))
