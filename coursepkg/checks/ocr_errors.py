"""Checks of the exercises in the chapter on what a recogniser gets wrong."""

import math
import random
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any

from coursepkg.checks import expect
from coursepkg.checks.error_lists import read_labels

Counted = tuple[float, int, int]
"""Confidence, edits and characters of a line."""


def three_rates(student: Callable[[list[tuple[int, int]]], Any]) -> None:
    """Lines of one length, a short one that is lost, a long one that is lost."""
    for lines, rates in [
        ([(1, 10), (0, 10)], (0.05, 0.05, 0.5)),
        ([(1, 1), (1, 42)], (2 / 43, (1 + 1 / 42) / 2, 0.0)),
        ([(80, 80), (0, 2), (0, 2), (0, 2)], (80 / 86, 0.25, 0.75)),
        ([(4, 1), (0, 9)], (0.4, 2.0, 0.5)),
        ([(0, 7)], (0.0, 0.0, 1.0)),
    ]:
        answer = student(list(lines))
        is_triple = isinstance(answer, tuple | list) and len(answer) == 3
        assert is_triple, (
            "the result is not three numbers; return (corpus CER, mean of the CERs,"
            " accuracy)"
        )
        hints = (
            "sum all edits and all characters, then divide once",
            "divide in each line, then take the mean; a rate may exceed 1",
            "the share of lines without any edit",
        )
        for value, rate, what, hint in zip(
            answer,
            rates,
            ("the corpus CER", "the mean of the CERs", "the accuracy"),
            hints,
            strict=True,
        ):
            expect.close(value, rate, what=f"{what} of {lines}", hint=hint)


def without_tone(student: Callable[[str], Any]) -> None:
    """Every Vietnamese letter in both Unicode forms, whole lines."""
    from coursepkg.text.vietnamese import LETTERS, TONES

    cases = [(letter, TONES.get(letter, (letter, ""))[0]) for letter in LETTERS]
    cases += [
        ("Tổng cộng: 1.250.000 Đ", "Tông công: 1.250.000 Đ"),
        ("ĐƯỜNG SỮA", "ĐƯƠNG SƯA"),
        ("Nguyễn Thị Ẵm", "Nguyên Thi Ăm"),
        ("Piñata, façade", "Piñata, façade"),
        ("", ""),
    ]
    for text, bare in cases:
        for form in ("NFC", "NFD"):
            given = unicodedata.normalize(form, text)
            answer = student(given)
            assert isinstance(answer, str), (
                f"the result is a {type(answer).__name__}; a text is expected"
            )
            assert unicodedata.is_normalized("NFC", answer), (
                f"the result {answer!r} for {text!r} given in {form} is not NFC;"
                " compose it at the end"
            )
            expect.equal(
                answer,
                bare,
                what=f"{text!r} in {form} without its tones",
                hint=(
                    "five marks are tones; circumflex, breve, horn and the bar of đ are"
                    " none, nor is a tilde on n"
                ),
            )


def what_differs(student: Callable[[str, str], Any]) -> None:
    """All pairs of letters with one base letter, and others at random."""
    from coursepkg.text.vietnamese import LETTERS

    dice = random.Random(0)
    pairs = [
        (a, b)
        for a in LETTERS
        for b in LETTERS
        if _parts(a)[0] == _parts(b)[0] and dice.random() < 0.1
    ]
    pairs += [(dice.choice(LETTERS), dice.choice(LETTERS)) for _ in range(200)]
    pairs = [
        ("ấ", "â"),
        ("ấ", "á"),
        ("ấ", "Ấ"),
        ("ấ", "a"),
        ("Đ", "d"),
        ("ộ", "o"),
        ("ơ", "ô"),
        ("m", "n"),
        *pairs,
    ]
    names = ("letter", "vowel mark", "tone", "case")
    for right, read in pairs:
        wanted = {
            name
            for name, a, b in zip(names, _parts(right), _parts(read), strict=True)
            if a != b
        }
        answer = student(right, read)
        assert isinstance(answer, set | frozenset | list | tuple), (
            f"the result is a {type(answer).__name__}; a set of names is expected"
        )
        expect.equal(
            sorted(answer),
            sorted(wanted),
            what=f"what differs between {right!r} and {read!r}",
            hint=(
                "a letter has a base letter, at most one vowel mark (or the bar of đ),"
                " at most one tone, and a case"
            ),
        )


def _parts(letter: str) -> tuple[str, str, str, bool]:
    """Base letter, vowel mark, tone and case, each by its combining marks."""
    signs = unicodedata.normalize("NFD", letter)
    base, marks = signs[0], signs[1:]
    tone = "".join(sign for sign in marks if sign in "\u0300\u0301\u0303\u0309\u0323")
    vowel = "".join(sign for sign in marks if sign not in tone)
    if base in "đĐ":
        base, vowel = {"đ": "d", "Đ": "D"}[base], "bar"
    return base.lower(), vowel, tone, base.isupper()


def calibration_error(student: Callable[[list[float], list[bool], int], Any]) -> None:
    """The chapter's ten readings, confidences on the edges of bins, a bin of few."""
    dice = random.Random(0)
    cases: list[tuple[list[float], list[bool], int]] = [
        (
            [0.95, 0.93, 0.97, 0.91, 0.94, 0.96, 0.72, 0.78, 0.75, 0.55],
            [True] * 4 + [False, True] + [True, False, False] + [False],
            10,
        ),
        ([0.5, 0.9, 1.0], [False, True, True], 2),
        ([0.0, 1.0], [False, True], 10),
        ([0.9] * 99 + [0.1], [True] * 99 + [True], 5),
        ([0.8, 0.8], [True, False], 1),
    ]
    for n_bins in (4, 10, 15):
        sure = [
            (2 * dice.randrange(1000) + 1) / 2000 for _ in range(60)
        ]  # none on an edge
        cases.append((sure, [dice.random() < value for value in sure], n_bins))
    for confidences, right, n_bins in cases:
        answer = student(list(confidences), list(right), n_bins)
        some = f"{confidences[:4]}{'...' if len(confidences) > 4 else ''}"
        expect.close(
            answer,
            _calibration_error(confidences, right, n_bins),
            what=(
                f"the calibration error of {len(confidences)} readings ({some}) in"
                f" {n_bins} bins"
            ),
            hint=(
                "a bin holds k/n < confidence <= (k+1)/n, and 0 goes into the first;"
                " its gap counts by its share of all readings; empty bins count nothing"
            ),
        )


def _calibration_error(
    confidences: Sequence[float], right: Sequence[bool], n_bins: int
) -> float:
    bins: dict[int, list[tuple[float, bool]]] = {}
    for sure, is_right in zip(confidences, right, strict=True):
        bins.setdefault(max(0, math.ceil(sure * n_bins) - 1), []).append(
            (sure, is_right)
        )
    gaps = (
        abs(sum(sure for sure, _ in own) - sum(one for _, one in own))
        for own in bins.values()
    )
    return sum(gaps) / len(confidences)


def lines_to_hand_over(student: Callable[[list[Counted], float], Any]) -> None:
    """Lines in any order, targets that are met at once or never, equal confidences."""
    dice = random.Random(0)
    ten = [(0.99, 0, 20), (0.40, 8, 20), (0.97, 1, 20), (0.60, 3, 20), (0.90, 0, 20)]
    cases: list[tuple[list[Counted], float]] = [
        (ten, 1.0),
        (ten, 0.12),
        (ten, 0.05),
        (ten, 0.04),
        (ten, 0.01),
        (ten, 0.0),
        ([(0.5, 0, 10), (0.5, 5, 10), (0.9, 0, 10)], 0.1),
        ([(0.9, 0, 10), (0.5, 0, 10), (0.5, 4, 10), (0.5, 0, 10)], 0.05),
        ([(0.2, 0, 5), (0.8, 0, 5)], 0.0),
    ]
    for _ in range(8):
        lines = [
            (
                dice.choice((0.3, 0.5, 0.7, 0.8, 0.9, 0.95)),
                dice.choice((0, 0, 0, 1, 2, 9)),
                dice.randint(9, 40),
            )
            for _ in range(12)
        ]
        cases.append((lines, dice.choice((0.02, 0.05, 0.1))))
    for lines, target in cases:
        expect.equal(
            student(list(lines), target),
            _fewest(lines, target),
            what=f"the lines to hand over from {lines} for a CER of {target}",
            hint=(
                "lowest confidence first, equal ones together; edits of the lines that"
                " are kept over the characters of all lines"
            ),
        )


def _fewest(lines: Sequence[Counted], target: float) -> int:
    total = sum(length for _, _, length in lines)
    for bound in sorted({-1.0, *(sure for sure, _, _ in lines)}):
        if sum(edits for sure, edits, _ in lines if sure > bound) <= target * total:
            return sum(sure <= bound for sure, _, _ in lines)
    return len(lines)


def costliest_step(student: Callable[[], str]) -> None:
    """The steepest part of five curves."""
    expect.choice(
        student(),
        "c",
        {
            "a": "the curve of compression is flat: it stays below 1% up to quality 5",
            "b": "the curve of noise ends near 1%, so there is little to gain",
            "d": "the curve of tilt rises to 3% at its last step, not to 26%",
        },
    )


LABELS = (
    "tone mark",
    "vowel mark",
    "similar shape",
    "case",
    "digit",
    "space",
    "missing",
    "added",
)
"""The kinds of misread characters, as the exercise names them."""


def misread_lines(student: Callable[[], Sequence[str]]) -> str:
    """Fifty labels against those of the reference."""
    return expect.labels(student(), *read_labels("ocr_misread_lines"), LABELS)
