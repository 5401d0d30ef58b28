"""Batches of clips: what an epoch holds depends on its seed and number alone; rare words come as often as others."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.sign_language.data.batches import ClipBatch, ClipBatches, balanced_order
from coursepkg.projects.sign_language.data.cache import CachedClips, cache_clips
from coursepkg.projects.sign_language.data.clip import ClipFile, normalise, sample_frames, to_pixels
from coursepkg.projects.sign_language.data.label_mapping import LabelMapping
from coursepkg.projects.sign_language.data.video import CacheConfig
from coursepkg.training.task import Batches
from tests.projects.sign_language.data.films import number_of
from tests.projects.sign_language.data.sets import LENGTHS, write_clips

MAPPING = LabelMapping(("uống", "ăn", "xin lỗi", "nghỉ"))
CLASSES = [MAPPING.number(word) for word, lengths in LENGTHS.items() for _ in lengths]


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> CachedClips:
    files: list[ClipFile] = write_clips(tmp_path_factory.mktemp("clips"))
    folder = tmp_path_factory.mktemp("cache")
    strong = [False, True] + [False] * 5
    return cache_clips(files, folder, CacheConfig(size=24, frames=24, fit="stretch"), strong=strong)


def all_of(batches: Sequence[ClipBatch]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    return tuple(torch.cat([getattr(b, name) for b in batches]) for name in ("frames", "mask", "targets"))


def test_in_order_a_batch_is_what_sampling_and_normalising_give(clips: CachedClips) -> None:
    batches = ClipBatches(clips, MAPPING, n_frames=12, batch_clips=3, shuffle=False)
    assert isinstance(batches, Batches)
    epoch = batches.epoch(0)
    assert [len(batch) for batch in epoch] == [3, 3, 1]
    frames, mask, targets = all_of(list(epoch))
    assert targets.tolist() == CLASSES
    assert (frames.shape, frames.dtype) == ((7, 12, 3, 24, 24), torch.float32)
    for number in range(7):
        sampled = sample_frames(clips.times(number), 12, "mask")
        assert torch.equal(frames[number], normalise(clips.frames(number)[sampled.numbers]))
        assert mask[number].tolist() == sampled.mask.tolist()
    assert mask.sum(dim=1).tolist() == [12, 12, 12, 12, 12, 9, 12]
    assert [number_of(frame) for frame in to_pixels(frames[5])] == [*range(9), 8, 8, 8]


def test_every_clip_comes_once_an_epoch_and_in_another_order(clips: CachedClips) -> None:
    batches = ClipBatches(clips, MAPPING, batch_clips=2, seed=3)
    orders = [batches.order(number) for number in range(6)]
    assert all(sorted(order) == list(range(7)) for order in orders)
    assert len({tuple(order) for order in orders}) > 3
    _, _, targets = all_of(list(batches.epoch(4)))
    assert targets.tolist() == [CLASSES[i] for i in orders[4]]


def test_an_epoch_depends_on_its_seed_and_number_alone(clips: CachedClips) -> None:
    def noise(frames: np.ndarray, chance: np.random.Generator) -> np.ndarray:
        return chance.integers(0, 256, frames.shape, dtype=np.uint8)

    def swap(batch: ClipBatch, chance: np.random.Generator) -> ClipBatch:
        order = torch.from_numpy(chance.permutation(len(batch)))
        return ClipBatch(batch.frames[order], batch.mask[order], batch.targets[order])

    def made(seed: int) -> ClipBatches:
        return ClipBatches(
            clips, MAPPING, seed=seed, batch_clips=2, balanced=True, change_frames=noise, mix_clips=swap
        )

    first, second = made(1), made(1)
    straight = [batch for number in range(3) for batch in first.epoch(number)]
    resumed = second.epoch(2)[3]
    assert torch.equal(resumed.frames, straight[-1].frames)
    assert torch.equal(second.epoch(1)[0].frames, straight[4].frames)
    assert torch.equal(second.epoch(1)[1:][0].targets, straight[5].targets)
    assert not torch.equal(straight[0].frames, straight[4].frames)
    assert first.fingerprint == second.fingerprint != made(2).fingerprint


def test_chosen_clips_are_those_of_a_part(clips: CachedClips) -> None:
    batches = ClipBatches(clips, MAPPING, chosen=[5, 0, 3], shuffle=False)
    (batch,) = batches.epoch(0)
    assert batch.targets.tolist() == [CLASSES[5], CLASSES[0], CLASSES[3]]
    assert batches.counts == [1, 1, 1, 0]
    assert ClipBatches(clips, MAPPING).counts == [2, 3, 2, 0]


@given(st.lists(st.integers(0, 5), min_size=1, max_size=60), st.integers(0, 9))
def test_balanced_every_class_comes_equally_often(numbers: list[int], seed: int) -> None:
    order = balanced_order(numbers, np.random.Generator(np.random.PCG64(seed)))
    assert len(order) == len(numbers)
    classes = Counter(numbers[i] for i in order)
    assert set(classes) == set(numbers)
    assert max(classes.values()) - min(classes.values()) <= 1
    # Within a class no clip comes a second time before all others have come.
    for name, wanted in classes.items():
        drawn = Counter(i for i in order if numbers[i] == name)
        size = numbers.count(name)
        assert len(drawn) == min(size, wanted)
        assert max(drawn.values()) - min(drawn.values(), default=0) <= 1


def test_balanced_batches_draw_rare_words_several_times(clips: CachedClips) -> None:
    batches = ClipBatches(clips, MAPPING, chosen=[0, 1, 2, 3, 5, 6], balanced=True)
    drawn = Counter(batches.numbers[i] for number in range(30) for i in batches.order(number))
    assert set(drawn.values()) == {60}


def test_places_are_drawn_for_every_clip_and_epoch_anew(clips: CachedClips) -> None:
    drawn: list[float] = []

    def late(chance: np.random.Generator) -> object:
        start = float(chance.uniform(0.3, 0.6))
        drawn.append(start)
        return lambda n: np.linspace(start, 1, n)

    batches = ClipBatches(clips, MAPPING, n_frames=4, shuffle=False, draw_places=late)  # type: ignore[arg-type]
    (batch,) = batches.epoch(0)
    (again,) = batches.epoch(1)
    assert len(set(drawn)) == 14
    assert not torch.equal(batch.frames, again.frames)
    firsts = [number_of(frames[0]) for frames in to_pixels(batch.frames)]
    lengths = [length for word in LENGTHS.values() for length in word]
    assert all(first >= 0.3 * (length - 1) - 1 for first, length in zip(firsts, lengths, strict=True))


def test_repetitions_are_changed_more_strongly(clips: CachedClips) -> None:
    batches = ClipBatches(
        clips,
        MAPPING,
        shuffle=False,
        change_frames=lambda frames, chance: np.full_like(frames, 10),
        change_strong=lambda frames, chance: np.full_like(frames, 200),
    )
    (batch,) = batches.epoch(0)
    assert [int(frames[0, 0, 0, 0]) for frames in to_pixels(batch.frames)] == [10, 200, 10, 10, 10, 10, 10]


def test_the_fingerprint_tells_how_strong_changes_are(clips: CachedClips) -> None:
    class Change:
        def __init__(self, config: int) -> None:
            self.config = config

        def __call__(self, frames: np.ndarray, chance: np.random.Generator) -> np.ndarray:
            return frames

    changes = (None, Change(1), Change(2), lambda frames, chance: frames)
    prints = [ClipBatches(clips, MAPPING, change_frames=change).fingerprint for change in changes]
    assert len(set(prints)) == 4
    assert ClipBatches(clips, MAPPING, change_frames=Change(1)).fingerprint == prints[1]
    others = [{"n_frames": 8}, {"seed": 1}, {"balanced": True}, {"padding": "loop"}, {"chosen": [0, 1]}]
    assert len({prints[0], *(ClipBatches(clips, MAPPING, **other).fingerprint for other in others)}) == 6  # type: ignore[arg-type]


def test_bad_data_and_changes_are_named(clips: CachedClips) -> None:
    with pytest.raises(ValueError, match=r"uống/0\.mp4: 'uống' is none of the 1 words"):
        ClipBatches(clips, LabelMapping(("ăn",)))
    with pytest.raises(ValueError, match="chosen must hold at least one clip, got none"):
        ClipBatches(clips, MAPPING, chosen=[])
    with pytest.raises(ValueError, match="batch_clips must be an integer of at least 1, got 0"):
        ClipBatches(clips, MAPPING, batch_clips=0)
    batches = ClipBatches(clips, MAPPING, shuffle=False, change_frames=lambda frames, chance: frames[:3])
    with pytest.raises(ValueError, match=r"a change of frames must return uint8 .* for ăn/0\.mp4"):
        batches.build(0, 0, 3)


def test_a_batch_moves_as_a_whole(clips: CachedClips) -> None:
    (batch,) = ClipBatches(clips, MAPPING).epoch(0)
    moved = batch.to("meta")
    assert {one.device.type for one in (moved.frames, moved.mask, moved.targets)} == {"meta"}
