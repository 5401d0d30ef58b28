"""Clips of signs: the cache against live decoding, and what a training step costs.

Speed asks for no trained weights: a network learns from noise as fast as from clips.
"""

import dataclasses
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from coursepkg.bench.machine import Device
from coursepkg.bench.measure import (
    BenchmarkCase,
    CaseResult,
    Comparison,
    Gate,
    Utilisation,
)
from coursepkg.projects.sign_language.data.batches import ClipBatch
from coursepkg.projects.sign_language.data.cache import CachedClips, cache_clips
from coursepkg.projects.sign_language.data.clip import (
    ClipFile,
    normalise,
    uniform_frames,
)
from coursepkg.projects.sign_language.data.scan import scan_clips
from coursepkg.projects.sign_language.data.video import CacheConfig, decode_needed
from coursepkg.projects.sign_language.data.video_file import import_av
from coursepkg.projects.sign_language.model.classifier import build_model
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.projects.sign_language.synthetic.clips import write_signers
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig
from coursepkg.projects.sign_language.training import ClipTask

STEP_WORDS = 100
"""The contest's."""
STEP_CLIPS = 32
"""Of a step: 512 pictures of 224 x 224 pixels."""


def end_to_end(
    device: Device,
    recipe: Recipe = PRESETS["report"],
    n_clips: int = STEP_CLIPS,
    *,
    compiled: bool,
) -> Utilisation:
    """Clips a second, and the share of the peak, of training the network of a recipe.

    Args:
        device: where the network is; the clips begin in the memory of the host.
        recipe: its network, with random weights.
        n_clips: of a step.
        compiled: whether `torch.compile` makes the step faster first.
    """
    torch.manual_seed(0)
    model = build_model(recipe, STEP_WORDS, pretrained=False).to(device.kind).train()
    frames = torch.randint(
        256, (n_clips, recipe.n_frames, recipe.size, recipe.size, 3), dtype=torch.uint8
    )
    frames = frames.pin_memory() if device.is_cuda else frames
    targets = torch.arange(n_clips) % STEP_WORDS
    return Utilisation(
        name=(
            f"{recipe.backbone}, bf16, {n_clips} clips of {recipe.n_frames} x"
            f" {recipe.size} x {recipe.size}"
        ),
        candidate="compiled step" if compiled else "eager step",
        step=partial(
            train_step,
            torch.compile(model) if compiled else model,
            torch.optim.AdamW(
                model.parameters(), recipe.learning_rate, fused=device.is_cuda
            ),
            frames,
            targets,
            device.kind,
        ),
        counted=partial(
            train_step,
            model,
            torch.optim.SGD(model.parameters(), 0.0),
            frames,
            targets,
            device.kind,
        ),
        n_units=n_clips,
        unit="clips",
    )


def train_step(
    model: Callable[..., Any],
    optimizer: torch.optim.Optimizer,
    frames: Tensor,
    targets: Tensor,
    kind: str,
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
    batch = ClipBatch(
        clips,
        torch.ones(clips.shape[:2], dtype=torch.bool, device=kind),
        targets.to(kind),
    )
    with torch.autocast(kind, torch.bfloat16):
        loss = ClipTask().loss(model, batch)
    (loss / len(targets)).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


CACHED_TARGET = 20.0
"""How many times faster cached clips are promised to be than live decoding."""
LIVE_TARGET = 1 / 1.3
"""How fast live decoding is promised to be at least, as a multiple of the bare loop's
speed."""


@dataclass(frozen=True)
class Ways:
    """Three ways load the same frames of the same clips in the same order.

    A clip is uint8 (T, size, size, 3).
    """

    cached: Callable[[], list[np.ndarray]]
    live: Callable[[], list[np.ndarray]]
    bare: Callable[[], list[np.ndarray]]
    n_clips: int


def loading_ways(
    files: Sequence[ClipFile],
    folder: str | Path,
    *,
    n_frames: int = 16,
    size: int = 64,
    seed: int = 0,
) -> Ways:
    """Cache some clips, and return what loads them, in one random order.

    Args:
        files: of an even frame rate and with at least `n_frames` frames: the bare loop
            goes by numbers.
        folder: of the cache.
        n_frames: of a clip, T.
        size: of the square frames, in pixels; frames are squeezed, which every way does
            in one step.
        seed: of the order.

    Raises:
        ValueError: a clip cannot be decoded, or has fewer frames.
    """
    cached = cache_clips(
        files, folder, CacheConfig(size=size, frames=n_frames, fit="stretch")
    )
    if cached.left_out:
        raise ValueError(
            f"{len(cached.left_out)} clips cannot be decoded:"
            f" {cached.left_out[0].reason}"
        )
    short = next((clip for clip in cached.clips if len(clip.times) < n_frames), None)
    if short is not None:
        raise ValueError(
            f"{short.name}: {len(short.times)} frames at {n_frames} moments; leave the"
            " clip out"
        )
    order = list(range(len(files)))
    random.Random(seed).shuffle(order)

    def live(i: int) -> np.ndarray:
        return decode_needed(
            files[i].path,
            lambda times: uniform_frames(times, n_frames),
            size=size,
            fit="stretch",
        ).frames

    av = import_av()
    return Ways(
        cached=lambda: [_sampled(cached, i, n_frames) for i in order],
        live=lambda: [live(i) for i in order],
        bare=lambda: [_bare_loop(av, files[i].path, n_frames, size) for i in order],
        n_clips=len(files),
    )


def loading_contest(
    files: Sequence[ClipFile], folder: str | Path, *, n_frames: int = 16, size: int = 64
) -> BenchmarkCase:
    """The race for `coursepkg bench`; its gates ask for equal pixels.

    Args:
        files: see `loading_ways`.
        folder: of the cache, which must last as long as the benchmark.
        n_frames: see `loading_ways`.
        size: see `loading_ways`.
    """
    ways = loading_ways(files, folder, n_frames=n_frames, size=size)

    def pixels(load: Callable[[], list[np.ndarray]]) -> Callable[[], list[Tensor]]:
        return lambda: [
            torch.from_numpy(frames.astype(np.float64)) for frames in load()
        ]

    bare = pixels(ways.bare)
    return BenchmarkCase(
        name=f"{ways.n_clips} clips, {n_frames} frames of {size} x {size}",
        variants={"cached": ways.cached, "live": ways.live, "bare loop": ways.bare},
        comparisons=[
            Comparison("cached", "live", target=CACHED_TARGET),
            Comparison("live", "bare loop", target=LIVE_TARGET),
        ],
        gates=[
            Gate("cached", pixels(ways.cached), bare, bare),
            Gate("live", pixels(ways.live), bare, bare),
        ],
    )


def _sampled(clips: CachedClips, i: int, n_frames: int) -> np.ndarray:
    return clips.frames(i, uniform_frames(clips.times(i), n_frames))


def _bare_loop(av: Any, path: Path, n_frames: int, size: int) -> np.ndarray:
    """Decode up to the last frame that is needed, and convert the needed frames.

    This is the loop that one writes first.
    """
    found = []
    with av.open(str(path)) as container:
        stream = container.streams.video[0]
        last = stream.frames - 1
        wanted = {place * last // (n_frames - 1) for place in range(n_frames)}
        for number, frame in enumerate(container.decode(stream)):
            if number in wanted:
                found.append(
                    frame.to_ndarray(
                        format="rgb24", width=size, height=size, interpolation="AREA"
                    )
                )
            if number == last:
                break
    return np.stack(found)


N_WORDS = 24
FILMS = SignersConfig(
    words=4,
    signers=4,
    most_clips=8,
    least_clips=8,
    least_frames=30,
    solid=0.0,
    frozen=0.0,
    duplicate=0.0,
)
"""32 whole clips of 30 frames at 224 x 224, as the contest's are."""
N_CLIPS, N_CLIPS_LARGE = 16, 1
"""Clips of a step: of `small` alone, and beside a network that sees 224 x 224 pixels.
"""
LAST_STATE = dataclasses.replace(
    PRESETS["small"],
    temporal="lstm",
    pooling="last",
    n_convolutions=0,
    n_layers=1,
    d_model=256,
)
"""The case's way over time on the backbone of `small`."""
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
"""Of the films and their cache, kept until the process ends."""


@dataclass(frozen=True)
class Rated:
    """The rows of this case also give the clips per second of each side."""

    case: BenchmarkCase
    n_clips: int

    def run(self, device: Device) -> list[CaseResult]:
        """Gate, time, compare and say."""
        return [with_rates(row, self.n_clips) for row in self.case.run(device)]


def cases(device: Device) -> list[Rated | Utilisation]:
    """Return the cases for a CPU or for a GPU.

    On a CPU they time the reading of clips and a step of `small`; on a GPU they time
    the training of `report`, end to end.
    """
    if device.is_cuda:
        return [end_to_end(device, compiled=compiled) for compiled in (False, True)]
    folder = tempfile.TemporaryDirectory()
    _FOLDERS.append(folder)
    clips = films(Path(folder.name) / "films")
    small, large = PRESETS["small"], PRESETS["crnn-baseline"]
    return [
        Rated(
            loading_contest(clips, Path(folder.name) / "cache", size=small.size),
            len(clips),
        ),
        Rated(
            step_contest(
                {"small": small, "small, last state of an LSTM": LAST_STATE},
                N_CLIPS,
            ),
            N_CLIPS,
        ),
        Rated(
            step_contest({"small": small, "crnn-baseline": large}, N_CLIPS_LARGE),
            N_CLIPS_LARGE,
        ),
    ]


def films(folder: Path) -> list[ClipFile]:
    """Generated clips without a fault."""
    return list(scan_clips(write_signers(folder, 0, FILMS)).files)


def step_contest(recipes: dict[str, Recipe], n_clips: int) -> BenchmarkCase:
    """Build a case that times forward and backward of each recipe's network.

    A step takes `n_clips` clips. The first recipe is the candidate.

    Each sees clips of its own size; all have as many frames.
    """
    candidate, *opponents = recipes
    frames = recipes[candidate].n_frames
    return BenchmarkCase(
        name=f"forward and backward of {n_clips} clips, {frames} frames",
        variants={
            name: partial(step, network(recipe), noise(recipe, n_clips))
            for name, recipe in recipes.items()
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
    return ClipBatch(
        frames,
        torch.ones(shape[:2], dtype=torch.bool),
        torch.arange(n_clips) % N_WORDS,
    )


def step(model: nn.Module, batch: ClipBatch) -> Tensor:
    """Loss and gradients of a batch, without the optimiser."""
    model.zero_grad(set_to_none=True)
    loss = ClipTask().loss(model, batch)
    loss.backward()
    return loss.detach()


def with_rates(row: CaseResult, n_clips: int) -> CaseResult:
    """The row with clips a second of either side in its note."""
    if row.candidate_ms is None or row.baseline_ms is None:
        return row
    ours, theirs = (1e3 * n_clips / ms for ms in (row.candidate_ms, row.baseline_ms))
    told = f"{ours:,.1f} against {theirs:,.1f} clips/s"
    return dataclasses.replace(row, note=f"{told}; {row.note}" if row.note else told)


@contextmanager
def plain_kernels() -> Iterator[None]:
    """Convolutions and matrix products by PyTorch's own code instead of oneDNN's."""
    before = torch.backends.mkldnn.set_flags(_enabled=False)
    try:
        yield
    finally:
        torch.backends.mkldnn.set_flags(_enabled=before[0])


def _gate(name: str, recipe: Recipe) -> Gate:
    """Compare loss and gradients with those of PyTorch's plain convolutions.

    Dropout is 0, so nothing is random.
    """
    steady = dataclasses.replace(recipe, dropout=0.0, inner_dropout=0.0)

    def found(*, double: bool = False, plain: bool = False) -> list[Tensor]:
        model, batch = network(steady), noise(steady, 2)
        if double:
            model, batch = (
                model.double(),
                dataclasses.replace(batch, frames=batch.frames.double()),
            )
        with plain_kernels() if plain else nullcontext():
            loss = step(model, batch)
        # As one vector: the gradient of a bias before a normalisation is zero but for
        # rounding.
        return [
            loss,
            torch.cat(
                [p.grad.flatten() for p in model.parameters() if p.grad is not None]
            ),
        ]

    return Gate(name, found, partial(found, plain=True), partial(found, double=True))
