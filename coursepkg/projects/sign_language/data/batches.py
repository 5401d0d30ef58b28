"""Batches of clips for training: T frames of each, sampled, normalised, with a mask.

The steps of a clip, in this order: warp its time, sample T frames, change the pictures,
normalise; then mix the clips of the batch. What chance decides belongs to (seed, epoch,
place in the epoch), so a resumed run draws what the first one drew.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from coursepkg.data.batching import LazyBatches
from coursepkg.projects.sign_language.data.cache import CachedClips
from coursepkg.projects.sign_language.data.clip import (
    PADDINGS,
    Padding,
    Places,
    network_input,
    sample_frames,
)
from coursepkg.projects.sign_language.data.label_mapping import LabelMapping
from coursepkg.validation import check_choice, check_count

DrawPlaces = Callable[[np.random.Generator], Places]
"""From where chance comes from to the places in a clip where its frames are taken, as a
warp of time has them."""
ChangeFrames = Callable[[np.ndarray, np.random.Generator], np.ndarray]
"""The sampled frames of a clip, uint8 (T, height, width, 3) or landmarks, float32 (T,
F), to others of the same shape; one draw for all of them."""


@dataclass(frozen=True)
class ClipBatch:
    """Clips side by side, as the network takes them."""

    frames: Tensor
    """Float32 (B, T, 3, height, width), in the statistics of ImageNet, or of landmarks
    (B, T, F)."""
    mask: Tensor
    """Bool (B, T), True where a frame is real."""
    targets: Tensor
    """Class numbers, int64 (B,); of mixed clips the shares of the classes, float32 (B,
    V)."""

    def __len__(self) -> int:
        return len(self.targets)

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "ClipBatch":
        """The same batch on a device."""
        return ClipBatch(
            *(
                one.to(device, non_blocking=non_blocking)
                for one in (self.frames, self.mask, self.targets)
            )
        )


MixFunction = Callable[[ClipBatch, np.random.Generator], ClipBatch]
"""A batch to one whose clips are mixed with one another, and their targets with them.
"""


class ClipBatches:
    """This is the training data of `fit`; an epoch depends on (seed, number) alone.

    Args:
        clips: the cached clips.
        mapping: the words and their class numbers.
        chosen: the clips that count, by their numbers, as a part of a split; None takes
            all.
        n_frames: frames of a clip, T.
        padding: one of `PADDINGS` of `data.clip`.
        batch_clips: clips of a batch; the last batch of an epoch has what is left.
        seed: of order and chance.
        shuffle: False keeps the order of `chosen` in every epoch, as validation wants
            it.
        balanced: draw every word equally often: an epoch has as many clips as without
            it, rare ones several times, of frequent words only some. Class weights in
            the loss besides would correct the long tail twice.
        draw_places: moves the places where frames are taken, for each clip anew; None
            spaces them evenly.
        change_frames: changes the sampled frames of a clip; None leaves them.
        change_strong: the same for clips that are marked as repetitions; None treats
            them as all others.
        mix_clips: mixes the clips of a batch; None leaves them.

    Raises:
        ValueError: there is no clip, one has a word that the mapping lacks, or an
            option is out of range.
    """

    def __init__(
        self,
        clips: CachedClips,
        mapping: LabelMapping,
        *,
        chosen: Sequence[int] | None = None,
        n_frames: int = 16,
        padding: Padding = "mask",
        batch_clips: int = 16,
        seed: int = 0,
        shuffle: bool = True,
        balanced: bool = False,
        draw_places: DrawPlaces | None = None,
        change_frames: ChangeFrames | None = None,
        change_strong: ChangeFrames | None = None,
        mix_clips: MixFunction | None = None,
    ) -> None:
        check_count("n_frames", n_frames)
        check_count("batch_clips", batch_clips)
        check_count("seed", seed, least=0)
        check_choice("padding", padding, PADDINGS)
        self.clips, self.mapping = clips, mapping
        self.chosen = tuple(range(len(clips)) if chosen is None else chosen)
        if not self.chosen:
            raise ValueError("chosen must hold at least one clip, got none")
        self.n_frames, self.padding, self.batch_clips = n_frames, padding, batch_clips
        self.seed, self.shuffle, self.balanced = seed, shuffle, balanced
        self.draw_places, self.mix_clips = draw_places, mix_clips
        self.change_frames, self.change_strong = change_frames, change_strong
        self.numbers = [_number(clips, mapping, i) for i in self.chosen]
        """Class number of each clip that counts."""

    @property
    def counts(self) -> list[int]:
        """Clips of each class (V,)."""
        return np.bincount(self.numbers, minlength=len(self.mapping)).tolist()

    @property
    def _changes(self) -> tuple[ChangeFrames | None, ChangeFrames | None]:
        return self.change_frames, self.change_strong

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of clips, classes and options."""
        options = [
            self.n_frames,
            self.padding,
            self.batch_clips,
            self.seed,
            self.shuffle,
            self.balanced,
        ]
        changes = [
            _told(one) for one in (self.draw_places, *self._changes, self.mix_clips)
        ]
        told = [
            self.clips.fingerprint,
            self.mapping.fingerprint,
            self.chosen,
            options,
            changes,
        ]
        return hashlib.sha256(json.dumps(told).encode()).hexdigest()

    def epoch(self, number: int) -> LazyBatches[ClipBatch]:
        """The batches of epoch `number`."""
        size, total = self.batch_clips, len(self.chosen)
        places = [(at, min(at + size, total)) for at in range(0, total, size)]
        return LazyBatches(places, lambda place: self.build(number, *place))

    def order(self, number: int) -> list[int]:
        """The clips of an epoch in their order, by their places in `chosen`."""
        if not self.shuffle:
            return list(range(len(self.chosen)))
        draw = np.random.Generator(np.random.PCG64([self.seed, number]))
        if not self.balanced:
            return draw.permutation(len(self.chosen)).tolist()
        return balanced_order(self.numbers, draw)

    def build(self, number: int, start: int, stop: int) -> ClipBatch:
        """The batch of the clips from place `start` to `stop` of epoch `number`."""
        order = self._order(number)
        shape = self.clips.config.network_shape
        frames = torch.empty(stop - start, self.n_frames, *shape)
        mask = torch.empty(stop - start, self.n_frames, dtype=torch.bool)
        for row, place in enumerate(range(start, stop)):
            chance = np.random.Generator(np.random.PCG64([self.seed, number, place]))
            kept, real = self._clip(self.chosen[order[place]], chance)
            frames[row], mask[row] = network_input(kept), torch.from_numpy(real)
        targets = torch.tensor(
            [self.numbers[order[place]] for place in range(start, stop)]
        )
        batch = ClipBatch(frames, mask, targets)
        if self.mix_clips is None:
            return batch
        return self.mix_clips(
            batch,
            np.random.Generator(np.random.PCG64([self.seed, number, start, stop])),
        )

    def _order(self, number: int) -> list[int]:
        """The order of an epoch; that of the last one is kept."""
        if getattr(self, "_kept", (None,))[0] != number:
            self._kept = (number, self.order(number))
        return self._kept[1]

    def _clip(
        self, i: int, chance: np.random.Generator
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return a clip's frames, as they are kept, and a mask (T,).

        The network sees these frames; the mask says which of them are real.
        """
        places = None if self.draw_places is None else self.draw_places(chance)
        sampled = sample_frames(
            self.clips.times(i), self.n_frames, self.padding, places=places
        )
        frames = self.clips.frames(i, sampled.numbers)
        usual, strong = self._changes
        change = strong if strong is not None and self.clips.clips[i].strong else usual
        if change is None:
            return frames, sampled.mask
        changed = change(frames, chance)
        if changed.shape != frames.shape or changed.dtype != frames.dtype:
            raise ValueError(
                f"a change of frames must return {frames.dtype} {frames.shape}, got"
                f" {changed.dtype} {changed.shape} for {self.clips.clips[i].name}"
            )
        return changed, sampled.mask


def balanced_order(numbers: Sequence[int], draw: np.random.Generator) -> list[int]:
    """Return an order in which every class comes equally often, give or take one.

    It has as many entries as there are clips.

    A class goes through its clips in a random order and begins again when they are used
    up, so that no clip of a rare class comes a second time before all others have come
    once. Drawing with replacement, as `WeightedRandomSampler` of torch does, leaves
    some clips out of an epoch and repeats others by chance alone.

    Args:
        numbers: class of each clip.
        draw: where chance comes from.
    """
    members: dict[int, list[int]] = {}
    for place, number in enumerate(numbers):
        members.setdefault(number, []).append(place)
    names = sorted(members)
    turns, rest = divmod(len(numbers), len(names))
    more = set(draw.permutation(len(names))[:rest].tolist())
    order: list[int] = []
    for at, name in enumerate(names):
        wanted = turns + (at in more)
        queue: list[int] = []
        while len(queue) < wanted:
            queue += draw.permutation(members[name]).tolist()
        order += queue[:wanted]
    return [order[i] for i in draw.permutation(len(order))]


def _told(change: object) -> str:
    """Return the change's `config` as text, 'True' without one, '' for no change."""
    return "" if change is None else repr(getattr(change, "config", True))


def _number(clips: CachedClips, mapping: LabelMapping, i: int) -> int:
    try:
        return mapping.number(clips.clips[i].label)
    except ValueError as reason:
        raise ValueError(f"{clips.clips[i].name}: {reason}") from None
