"""Broken recordings: where, how much and in which colour."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.sign_language.synthetic.clips import (
    COLOURS,
    LEAST_SIGNED,
    Fault,
    Gap,
    draw_gap,
    fill_gap,
)


def _rng(number: int) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(number))


def _frames(count: int) -> np.ndarray:
    return _rng(0).integers(0, 255, (count, 4, 4, 3), np.uint8)


@given(fault=st.sampled_from(("solid", "frozen")), n_frames=st.integers(12, 60), number=st.integers(0, 9999))
def test_a_gap_lies_within_its_clip(fault: Fault, n_frames: int, number: int) -> None:
    gap = draw_gap(fault, n_frames, _rng(number))
    assert 0 < gap.length <= n_frames - LEAST_SIGNED
    assert 0 <= gap.begin <= n_frames - gap.length
    assert (gap.colour in COLOURS) == (fault == "solid")
    whole = fill_gap(_frames(n_frames - gap.length), gap)
    assert len(whole) == n_frames
    if fault == "frozen":
        # The frame that stands comes first.
        assert gap.begin >= 1


def test_runs_in_one_colour_make_two_heaps() -> None:
    shares = np.array([draw_gap("solid", 100, _rng(n)).length for n in range(600)]) / 100
    heavy = shares >= 0.6
    assert heavy.mean() == pytest.approx(1 / 3, abs=0.06)
    assert shares[heavy].max() <= 0.75
    assert shares[~heavy].min() >= 0.25
    assert shares[~heavy].max() <= 0.42


def test_a_frame_stands_for_a_quarter_to_a_half() -> None:
    shares = np.array([draw_gap("frozen", 100, _rng(n)).length for n in range(200)]) / 100
    assert shares.min() >= 0.25
    assert shares.max() <= 0.5


def test_nothing_of_the_word_is_lost() -> None:
    frames = _frames(10)
    filled = fill_gap(frames, Gap(4, 3, (250, 214, 20)))
    np.testing.assert_array_equal(np.delete(filled, [4, 5, 6], axis=0), frames)
    assert (filled[4:7] == np.array([250, 214, 20], np.uint8)).all()
    frozen = fill_gap(frames, Gap(4, 3, None))
    np.testing.assert_array_equal(np.delete(frozen, [4, 5, 6], axis=0), frames)
    assert (frozen[4:7] == frames[3]).all()
    assert fill_gap(frames, Gap(0, 0, None)) is frames
