"""Windows, smoothing and events apart from any network: every frame is in a window, every word is told once."""

from collections.abc import Iterator
from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.sign_language.data.clip import Clip
from coursepkg.projects.sign_language.data.video import TimedFrame
from coursepkg.projects.sign_language.recipe import StreamConfig
from coursepkg.projects.sign_language.streams.sliding_window import (
    SignEvent,
    SignStream,
    WindowReading,
    find_events,
    sliding_windows,
)

WORDS = ("ăn", "uống", "ngủ")


def frame(seconds: float, shade: int = 0) -> TimedFrame:
    return TimedFrame(seconds, np.full((4, 4, 3), shade, dtype=np.uint8))


def even(n_frames: int, fps: float = 10.0) -> Iterator[TimedFrame]:
    return (frame(number / fps, number % 256) for number in range(n_frames))


def readings(probabilities: list[list[float]], hop: float = 1.0, window: float = 1.0) -> list[WindowReading]:
    rows = [np.array(row) for row in probabilities]
    return [WindowReading(k * hop, k * hop + window, row, row) for k, row in enumerate(rows)]


def sure(word: str, confidence: float = 0.9) -> list[float]:
    return [confidence if word == one else (1 - confidence) / 2 for one in WORDS]


UNSURE = [0.34, 0.33, 0.33]
ALONE = StreamConfig(window=1.0, hop=1.0, smoothing=0.0, refractory=0.0)


def test_windows_of_an_even_stream() -> None:
    found = list(sliding_windows(even(25), StreamConfig(window=1.0, hop=0.5)))
    assert [(one.start, round(one.stop, 6)) for one in found] == [
        (0.0, 1.0),
        (0.5, 1.5),
        (1.0, 2.0),
        (1.5, 2.5),
    ]
    assert [len(one.clip.frames) for one in found] == [10, 10, 10, 10]
    assert found[1].clip.times.tolist() == [k / 10 for k in range(5, 15)]
    assert found[1].clip.frames[:, 0, 0, 0].tolist() == list(range(5, 15))


def test_a_window_is_there_as_soon_as_the_first_frame_behind_it_is() -> None:
    asked: list[float] = []

    def watched() -> Iterator[TimedFrame]:
        for one in even(1000):
            asked.append(one.seconds)
            yield one

    found = islice(sliding_windows(watched(), StreamConfig(window=1.0, hop=0.5)), 2)
    assert next(found).stop == 1.0
    assert asked[-1] == 1.0
    assert next(found).stop == 1.5
    assert asked[-1] == 1.5


def test_what_is_shorter_than_a_window_is_one() -> None:
    for n_frames in (1, 2, 9, 10):
        (only,) = sliding_windows(even(n_frames), StreamConfig(window=1.0, hop=0.5))
        assert len(only.clip.frames) == n_frames
        assert only.stop <= n_frames / 10 + 1e-9
    assert list(sliding_windows(iter(()), StreamConfig())) == []


def test_a_stretch_without_frames_has_no_window() -> None:
    times = [0.0, 0.2, 0.4, 3600.0, 3600.3, 3601.7]
    found = list(sliding_windows((frame(t) for t in times), StreamConfig(window=1.0, hop=0.5)))
    assert [one.clip.times.tolist() for one in found] == [
        [0.0, 0.2, 0.4],
        [3600.0, 3600.3],
        [3600.0, 3600.3],
        [3601.7],
    ]


@given(
    steps=st.lists(st.floats(0.01, 2.0), min_size=1, max_size=60),
    window=st.floats(0.3, 3.0),
    share=st.floats(0.1, 1.0),
)
def test_every_frame_is_in_a_window_and_where_it_belongs(
    steps: list[float], window: float, share: float
) -> None:
    times = np.cumsum(steps)
    found = list(
        sliding_windows((frame(float(t)) for t in times), StreamConfig(window=window, hop=share * window))
    )
    assert {t for one in found for t in one.clip.times.tolist()} == set(times.tolist())
    starts = [one.start for one in found]
    assert starts == sorted(set(starts))
    for one in found:
        assert one.clip.times[0] >= one.start - 1e-5
        assert one.clip.times[-1] <= one.stop + 1e-5
        inside = (times >= one.start + 1e-5) & (times < one.stop - 1e-5)
        assert set(times[inside].tolist()) <= set(one.clip.times.tolist())


def test_times_that_do_not_rise_and_too_many_frames_are_refused() -> None:
    with pytest.raises(ValueError, match=r"times of a stream must rise, got 0\.1 s behind 0\.2 s"):
        list(sliding_windows((frame(t) for t in (0.0, 0.2, 0.1)), StreamConfig()))
    with pytest.raises(ValueError, match="more than 4,096 frames; give times in seconds"):
        list(sliding_windows((frame(k * 1e-6) for k in range(10**6)), StreamConfig()))


def test_smoothing_weighs_the_windows_before() -> None:
    own = iter([np.array(sure(word)) for word in ("ăn", "uống", "uống", "ngủ")])

    class Told:
        labels = WORDS

        def probabilities(self, clip: Clip) -> np.ndarray:
            return next(own)

    found = list(SignStream(Told(), StreamConfig(window=1.0, hop=1.0, smoothing=0.25)).readings(even(40)))
    expected = np.array(sure("ăn"))
    for one in found[1:]:
        expected = 0.25 * expected + 0.75 * one.own
    np.testing.assert_allclose(found[-1].smoothed, expected)
    assert found[0].smoothed.tolist() == found[0].own.tolist()
    assert len(found) == 4


def test_a_word_that_stays_is_one_event() -> None:
    rows = [UNSURE, sure("ăn", 0.6), sure("ăn", 0.8), sure("uống"), UNSURE]
    assert list(find_events(readings(rows), WORDS, ALONE)) == [
        SignEvent(1.0, 3.0, "ăn", 0.8),
        SignEvent(3.0, 4.0, "uống", 0.9),
    ]


def test_windows_that_overlap_speak_for_their_middles() -> None:
    rows = readings([sure("ăn"), sure("ăn"), sure("uống"), sure("uống")], hop=0.5, window=2.0)
    config = StreamConfig(window=2.0, hop=0.5, refractory=0.0)
    assert [one[:3] for one in find_events(rows, WORDS, config)] == [(0.0, 1.75, "ăn"), (1.75, 3.5, "uống")]


@pytest.mark.parametrize(("refractory", "count"), [(0.0, 2), (0.5, 2), (1.0, 1), (5.0, 1)])
def test_a_word_that_comes_back_soon_is_the_same_event(refractory: float, count: int) -> None:
    rows = readings([sure("ăn"), UNSURE, sure("ăn", 0.95), UNSURE])
    config = StreamConfig(window=1.0, hop=1.0, refractory=refractory)
    found = list(find_events(rows, WORDS, config))
    assert len(found) == count
    assert found[-1].end == 3.0
    assert max(one.confidence for one in found) == 0.95


def test_a_word_that_another_one_interrupts_is_not_told_twice() -> None:
    rows = readings([sure("ăn"), sure("uống"), sure("ăn"), UNSURE, UNSURE, UNSURE, sure("ăn")])
    config = StreamConfig(window=1.0, hop=1.0, refractory=2.0)
    assert [(one.start, one.label) for one in find_events(rows, WORDS, config)] == [
        (0.0, "ăn"),
        (1.0, "uống"),
        (6.0, "ăn"),
    ]


def test_a_word_that_stays_longer_than_its_pause_is_told_again() -> None:
    rows = readings([sure("ăn"), sure("uống"), *[sure("ăn")] * 4])
    config = StreamConfig(window=1.0, hop=1.0, refractory=2.0)
    assert [one[:3] for one in find_events(rows, WORDS, config)] == [
        (0.0, 1.0, "ăn"),
        (1.0, 2.0, "uống"),
        (3.0, 6.0, "ăn"),
    ]


@given(
    words=st.lists(st.sampled_from([*WORDS, ""]), max_size=30),
    refractory=st.sampled_from([0.0, 1.0, 2.5]),
)
def test_events_are_apart_and_in_order(words: list[str], refractory: float) -> None:
    rows = readings([sure(word) if word else UNSURE for word in words])
    found = list(find_events(rows, WORDS, StreamConfig(window=1.0, hop=1.0, refractory=refractory)))
    for before, after in pairwise(found):
        assert before.start < before.end <= after.start
    for word in WORDS:
        own = [one for one in found if one.label == word]
        assert bool(own) == (word in words)
        for before, after in pairwise(own):
            assert after.start - before.end >= refractory


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("window", 0.0),
        ("hop", 3.0),
        ("hop", 0.0),
        ("smoothing", 1.0),
        ("threshold", 0.0),
        ("refractory", -1.0),
        ("window", float("nan")),
    ],
)
def test_a_setting_out_of_range_is_named(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=f"--{name} must be"):
        StreamConfig(**{name: value})
