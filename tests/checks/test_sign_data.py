"""The checks of the chapter on the data of signs accept what is right and say what is wrong."""

import unicodedata
from collections import Counter
from itertools import combinations

import numpy as np


def by_time(times, count):
    moments = times[0] + (times[-1] - times[0]) * np.linspace(0, 1, count)
    return [max(i for i, time in enumerate(times) if time <= moment) for moment in moments]


def test_even_frames_right(assert_accepts):
    assert_accepts("sign_data.even_frames", by_time)


def test_even_frames_by_searching(assert_accepts):
    assert_accepts(
        "sign_data.even_frames",
        lambda times, count: (
            np.searchsorted(times, np.linspace(times[0], times[-1], count), side="right") - 1
        ),
    )


def test_even_frames_by_number(assert_rejects):
    def by_number(times, count):
        return np.linspace(0, len(times) - 1, count).astype(int)

    assert_rejects("sign_data.even_frames", by_number, "moments go by time")


def test_even_frames_the_nearest(assert_rejects):
    def nearest(times, count):
        return [int(np.abs(times - moment).argmin()) for moment in np.linspace(times[0], times[-1], count)]

    assert_rejects("sign_data.even_frames", nearest, "on the screen")


def test_even_frames_from_zero(assert_rejects):
    def from_zero(times, count):
        return np.searchsorted(times, np.linspace(0, times[-1], count), side="right") - 1

    assert_rejects("sign_data.even_frames", from_zero, "2, 3, 4, 6")


def of_one_colour(frames, spread):
    values = frames.astype(int)
    apart = np.abs(values - np.median(values, axis=(1, 2), keepdims=True))
    return [i for i in range(len(frames)) if apart[i].max() <= spread]


def test_solid_frames_right(assert_accepts):
    assert_accepts("sign_data.solid_frames", of_one_colour)


def test_solid_frames_with_one_median_for_all_channels(assert_rejects):
    def gray(frames, spread):
        apart = np.abs(frames.astype(int) - np.median(frames, axis=(1, 2, 3), keepdims=True))
        return [i for i in range(len(frames)) if apart[i].max() <= spread]

    assert_rejects("sign_data.solid_frames", gray, "each channel")


def test_solid_frames_by_the_mean(assert_rejects):
    def on_average(frames, spread):
        values = frames.astype(int)
        apart = np.abs(values - np.median(values, axis=(1, 2), keepdims=True))
        return [i for i in range(len(frames)) if apart[i].mean() <= spread]

    assert_rejects("sign_data.solid_frames", on_average, "furthest off")


def test_solid_frames_in_bytes(assert_rejects):
    def in_bytes(frames, spread):
        return [i for i in range(len(frames)) if (frames[i] - frames[i, 0, 0]).max() <= spread]

    assert_rejects("sign_data.solid_frames", in_bytes, "wrap round")


def test_solid_frames_changed_in_place(assert_rejects):
    def greedy(frames, spread):
        found = of_one_colour(frames, spread)
        frames[:] = 0
        return found

    assert_rejects("sign_data.solid_frames", greedy, "changed in place")


def test_count_words_right(assert_accepts):
    assert_accepts(
        "sign_data.count_words", lambda names: Counter(unicodedata.normalize("NFC", name) for name in names)
    )


def test_count_words_as_they_are(assert_rejects):
    assert_rejects("sign_data.count_words", lambda names: dict(Counter(names)), "NFC")


def test_count_words_without_capitals(assert_rejects):
    def folded(names):
        return Counter(unicodedata.normalize("NFC", name).casefold() for name in names)

    assert_rejects("sign_data.count_words", folded, "capitals")


def test_count_words_without_marks(assert_rejects):
    def bare(names):
        plain = (unicodedata.normalize("NFD", name) for name in names)
        return Counter("".join(c for c in name if not unicodedata.combining(c)) for name in plain)

    assert_rejects("sign_data.count_words", bare, "marks")


def test_count_words_as_a_list(assert_rejects):
    assert_rejects("sign_data.count_words", lambda names: sorted(set(names)), "a dictionary is expected")


def every_choice(words_of, count):
    everything = set().union(*words_of.values())
    for held in combinations(words_of, count):
        inside = set().union(*(words_of[signer] for signer in held))
        outside = set().union(*(words_of[signer] for signer in words_of if signer not in held))
        if inside == outside == everything:
            return set(held)
    return set()


def test_held_out_right(assert_accepts):
    assert_accepts("sign_data.held_out", every_choice)


def test_held_out_the_first(assert_rejects):
    assert_rejects(
        "sign_data.held_out", lambda words_of, count: set(list(words_of)[:count]), "missing on one side"
    )


def test_held_out_those_with_most_words(assert_rejects):
    def richest(words_of, count):
        return sorted(words_of, key=lambda signer: -len(words_of[signer]))[:count]

    assert_rejects("sign_data.held_out", richest, "missing on one side")


def test_held_out_where_nobody_can_go(assert_rejects):
    def anybody(words_of, count):
        return every_choice(words_of, count) or {next(iter(words_of))}

    assert_rejects("sign_data.held_out", anybody, "an empty set")


def test_held_out_too_few(assert_rejects):
    def one(words_of, count):
        return set(list(every_choice(words_of, count))[:1])

    assert_rejects("sign_data.held_out", one, "number of signers")
