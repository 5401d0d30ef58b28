"""The checks of the chapter on the data of signs accept what is right and say what is wrong."""

import unicodedata
from collections import Counter
from itertools import combinations

import numpy as np

from tests.checks.solutions import solution_tests


def by_time(times, count):
    moments = times[0] + (times[-1] - times[0]) * np.linspace(0, 1, count)
    return [max(i for i, time in enumerate(times) if time <= moment) for moment in moments]


def by_number(times, count):
    return np.linspace(0, len(times) - 1, count).astype(int)


def nearest(times, count):
    return [int(np.abs(times - moment).argmin()) for moment in np.linspace(times[0], times[-1], count)]


def from_zero(times, count):
    return np.searchsorted(times, np.linspace(0, times[-1], count), side="right") - 1


def of_one_colour(frames, spread):
    values = frames.astype(int)
    apart = np.abs(values - np.median(values, axis=(1, 2), keepdims=True))
    return [i for i in range(len(frames)) if apart[i].max() <= spread]


def gray(frames, spread):
    apart = np.abs(frames.astype(int) - np.median(frames, axis=(1, 2, 3), keepdims=True))
    return [i for i in range(len(frames)) if apart[i].max() <= spread]


def on_average(frames, spread):
    values = frames.astype(int)
    apart = np.abs(values - np.median(values, axis=(1, 2), keepdims=True))
    return [i for i in range(len(frames)) if apart[i].mean() <= spread]


def by_the_mean(frames, spread):
    values = frames.astype(float)
    apart = np.abs(values - values.mean(axis=(1, 2), keepdims=True))
    return [i for i in range(len(frames)) if apart[i].max() <= spread]


def in_bytes(frames, spread):
    return [i for i in range(len(frames)) if (frames[i] - frames[i, 0, 0]).max() <= spread]


def greedy(frames, spread):
    found = of_one_colour(frames, spread)
    frames[:] = 0
    return found


def folded(names):
    return Counter(unicodedata.normalize("NFC", name).casefold() for name in names)


def bare(names):
    plain = (unicodedata.normalize("NFD", name) for name in names)
    return Counter("".join(c for c in name if not unicodedata.combining(c)) for name in plain)


def every_choice(words_of, count):
    everything = set().union(*words_of.values())
    for held in combinations(words_of, count):
        inside = set().union(*(words_of[signer] for signer in held))
        outside = set().union(*(words_of[signer] for signer in words_of if signer not in held))
        if inside == outside == everything:
            return set(held)
    return set()


def richest(words_of, count):
    return sorted(words_of, key=lambda signer: -len(words_of[signer]))[:count]


def anybody(words_of, count):
    return every_choice(words_of, count) or {next(iter(words_of))}


def one(words_of, count):
    return set(list(every_choice(words_of, count))[:1])


RIGHT = {
    "even_frames": by_time,
    "even_frames by searching": lambda times, count: (
        np.searchsorted(times, np.linspace(times[0], times[-1], count), side="right") - 1
    ),
    "solid_frames": of_one_colour,
    "count_words": lambda names: Counter(unicodedata.normalize("NFC", name) for name in names),
    "held_out": every_choice,
    "cache_bytes": lambda: "1.54 GiB",
    "cache_bytes to one place": lambda: "1.5 GiB",
    "cache_bytes in bytes": lambda: "1,658,880,000 bytes",
}

WRONG = {
    "even_frames by number": (by_number, "moments go by time"),
    "even_frames the nearest": (nearest, "on the screen"),
    "even_frames from zero": (from_zero, "2, 3, 4, 6"),
    "solid_frames with one median for all channels": (gray, "each channel"),
    "solid_frames by the mean distance": (on_average, "furthest off"),
    "solid_frames about the mean": (by_the_mean, "its own median"),
    "solid_frames in bytes": (in_bytes, "wrap round"),
    "solid_frames changed in place": (greedy, "changed in place"),
    "count_words as they are": (lambda names: dict(Counter(names)), "NFC"),
    "count_words without capitals": (folded, "capitals"),
    "count_words without marks": (bare, "marks"),
    "count_words as a list": (lambda names: sorted(set(names)), "a dictionary is expected"),
    "held_out the first": (lambda words_of, count: set(list(words_of)[:count]), "missing on one side"),
    "held_out those with most words": (richest, "missing on one side"),
    "held_out where nobody can go": (anybody, "an empty set"),
    "held_out too few": (one, "number of signers"),
    "cache_bytes as float32": (lambda: "6.18 GiB", "float32 comes only"),
    "cache_bytes in grey": (lambda: "0.515 GiB", "three colours"),
    "cache_bytes of sixteen frames": (lambda: "1.03 GiB", "24 frames"),
    "cache_bytes decimal": (lambda: "1.66 GiB", "but 1.66 GB"),
}

test_right, test_wrong = solution_tests("sign_data", RIGHT, WRONG)
