"""Checks of the exercises in the chapter on the data of signs."""

import unicodedata
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import combinations

import numpy as np

from coursepkg.checks import expect


def even_frames(student: Callable[[np.ndarray, int], Iterable[int]]) -> None:
    """An even frame rate as the contest has it, a pause in the middle, a late begin."""
    for times, count, expected in [
        (
            np.arange(30.0),
            16,
            [0, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29],
        ),
        (np.array([0.0, 1.0, 2.0, 3.0, 4.0, 8.0]), 5, [0, 2, 4, 4, 5]),
        (np.array([2.0, 3.0, 4.0, 6.0]), 3, [0, 2, 3]),
        (np.array([0.0, 1.0]), 4, [0, 0, 0, 1]),
        (np.array([0.0, 0.25, 0.5, 4.0]), 5, [0, 2, 2, 2, 3]),
    ]:
        answer = student(times.copy(), count)
        expect.equal(
            [int(one) for one in answer],
            expected,
            what=f"{count} frames of a clip with the times {_short(times)}",
            hint=(
                "a frame is on the screen from its own time until that of the next;"
                " moments go by time, from the first frame's to the last frame's"
            ),
        )


def _short(times: np.ndarray) -> str:
    told = [f"{time:g}" for time in times]
    return ", ".join(told if len(told) <= 8 else [*told[:3], "...", told[-1]])


def solid_frames(student: Callable[[np.ndarray, int], Iterable[int]]) -> None:
    """Black and white with noise, yellow, a slope, a small hand, two grays."""
    dice = np.random.Generator(np.random.PCG64(0))
    noise = dice.integers(-2, 3, (24, 24, 3))
    yellow = np.broadcast_to(np.array([250, 214, 20]), (24, 24, 3))
    hand = yellow + noise
    hand[3:6, 4:7] = (196, 148, 112)
    slope = np.broadcast_to(np.linspace(90, 130, 24)[:, None, None], (24, 24, 3))
    grays = np.full_like(noise, 100)
    grays[14:] = 112  # 12 from the median and 7 from the mean
    flat = np.full_like(noise, 7)
    frames = np.stack(
        [2 + noise, slope, yellow + noise, hand, 253 + noise, flat, grays]
    )
    pixels = frames.round().clip(0, 255).astype(np.uint8)
    names = "black, a slope, yellow, yellow with a hand, white, one value, two grays"
    for spread, expected in ((8, [0, 2, 4, 5]), (0, [5]), (60, [0, 1, 2, 4, 5, 6])):
        before = pixels.copy()
        answer = student(pixels, spread)
        assert np.array_equal(pixels, before), (
            "frames were changed in place; work on a new array"
        )
        expect.equal(
            [int(one) for one in answer],
            expected,
            what=f"the frames in one colour of ({names}) at a spread of {spread}",
            hint=(
                "compare each channel with its own median in that frame; bytes below 0"
                " wrap round to 255, so compute in larger numbers; the pixel that is"
                " furthest off decides"
            ),
        )


def count_words(student: Callable[[list[str]], Mapping[str, int]]) -> None:
    """One word in two Unicode forms."""
    apart = unicodedata.normalize("NFD", "Ăn")
    for names, expected in [
        (["Ăn", apart, "Ăn"], {"Ăn": 3}),
        (
            [unicodedata.normalize("NFD", "Cảm ơn"), "Bố", "Bò", "bố"],
            {"Cảm ơn": 1, "Bố": 1, "Bò": 1, "bố": 1},
        ),
        (["Mẹ", unicodedata.normalize("NFD", "Mẹ"), "Me"], {"Mẹ": 2, "Me": 1}),
        ([], {}),
    ]:
        answer = student(list(names))
        assert isinstance(answer, Mapping), (
            f"the result is a {type(answer).__name__}; a dictionary is expected"
        )
        expect.equal(
            {word: answer[word] for word in sorted(answer)},
            {word: expected[word] for word in sorted(expected)},
            what=f"the words of {names}",
            hint=(
                "compose every name to NFC; marks and capitals tell words apart and"
                " stay"
            ),
        )


def held_out(student: Callable[[dict[str, set[str]], int], Collection[str]]) -> None:
    """Signers who may go, one that must stay, a pair that only works together."""
    for words_of, count in [
        ({"Chi": {"Mẹ"}, "An": {"Mẹ", "Bố"}, "Bình": {"Mẹ", "Bố"}}, 1),
        ({"An": {"Mẹ", "Bố"}, "Bình": {"Bố"}, "Chi": {"Mẹ"}, "Dũng": {"Mẹ", "Bố"}}, 2),
        (
            {
                "Dũng": {"a"},
                "Chi": {"c"},
                "An": {"a", "b", "c"},
                "Bình": {"a", "b"},
                "Em": {"b", "c"},
            },
            2,
        ),
        (
            {
                "An": {"a", "b"},
                "Chi": {"a", "c"},
                "Bình": {"c", "d"},
                "Dũng": {"b", "d"},
                "Em": {"a"},
            },
            2,
        ),
        ({"An": {"Mẹ", "Bố"}, "Bình": {"Mẹ"}, "Chi": {"Mẹ"}}, 1),
    ]:
        given = {signer: set(words) for signer, words in words_of.items()}
        answer = set(student(given, count))
        possible = [
            set(some)
            for some in combinations(words_of, count)
            if _covers(words_of, some)
        ]
        if not possible:
            expect.equal(
                answer,
                set(),
                what=f"{count} signers of {words_of}",
                hint="some word has one signer only: return an empty set",
            )
            continue
        assert answer <= set(words_of), (
            f"{sorted(answer - set(words_of))} are none of the signers"
        )
        expect.equal(
            len(answer), count, what=f"the number of signers held out of {words_of}"
        )
        assert answer in possible, (
            f"with {sorted(answer)} held out of {words_of}, a word is missing on one"
            " side; every word must have a signer who is held out and one who is not"
        )


def _covers(words_of: Mapping[str, set[str]], held: Sequence[str]) -> bool:
    """Whether every word stands on both sides."""
    everything = set().union(*words_of.values())
    inside = set().union(*(words_of[signer] for signer in held))
    outside = set().union(
        *(words for signer, words in words_of.items() if signer not in held)
    )
    return inside == outside == everything


def cache_bytes(student: Callable[[], str]) -> None:
    """2,500 clips of 24 frames of 96 x 96 pixels, one byte a colour."""
    expect.quantity(
        student(),
        2500 * 24 * 96**2 * 3 / 2**30,
        "GiB",
        what="the size of the cache",
        tolerance=0.03,
        mistakes={
            4 * 1.545: "the cache holds bytes; float32 comes only with the batch",
            1.545 / 3: "a pixel has three colours",
            2 / 3 * 1.545: "the cache keeps 24 frames a clip, not the 16 that are seen",
        },
    )
