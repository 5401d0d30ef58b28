"""Checks of the exercises in the chapter on subwords."""

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from coursepkg.checks import expect
from coursepkg.text.subword import best_segmentation

PAPER = {"low▁": 5, "lower▁": 2, "newest▁": 6, "widest▁": 3}


def best_pair(
    student: Callable[[Mapping[tuple[str, ...], int]], tuple[tuple[str, str], int]],
) -> None:
    """The most frequent pair of words as tuples of tokens."""
    cases: list[tuple[dict[tuple[str, ...], int], tuple[tuple[str, str], int], str]] = [
        (
            {tuple(word): count for word, count in PAPER.items()},
            (("e", "s"), 9),
            (
                "a pair counts as often as its word occurs, and of equally frequent"
                " pairs the smaller one wins"
            ),
        ),
        (
            {("a", "b"): 1, ("c", "d"): 3},
            (("c", "d"), 3),
            "a pair counts as often as its word occurs",
        ),
        (
            {("a", "a", "a"): 2, ("b", "c"): 3},
            (("a", "a"), 4),
            "a a a holds the pair a a twice",
        ),
        (
            {("z", "b"): 2, ("a", "y"): 2},
            (("a", "y"), 2),
            "of equally frequent pairs the smaller one wins",
        ),
        (
            {("lo", "w"): 1, ("lo", "s"): 1},
            (("lo", "s"), 1),
            "of equally frequent pairs the smaller one wins",
        ),
    ]
    for words, best, hint in cases:
        found = student(dict(words))
        expect.equal(found, best, what=f"the best pair of {words}", hint=hint)


def cheapest_cut(student: str) -> None:
    """The cost of the best segmentation of "slowest" under the chapter's pieces."""
    expect.quantity(
        student,
        18.0,
        "bits",
        what="the cost",
        mistakes={
            19.0: "s lo west costs that; est at the end is cheaper",
            31.0: "those are single letters; longer pieces are cheaper",
            14.0: "the first letter, s, is missing",
            21.0: "look for one piece that ends the word in place of two",
        },
    )


def encode_word(student: Callable[[str, Sequence[tuple[str, str]]], list[str]]) -> None:
    """Applying merges in the order of learning, at all places, from the left."""
    learned = [("e", "s"), ("t", "▁"), ("es", "t▁"), ("l", "o"), ("lo", "w")]
    for word, merges, tokens, hint in [
        (
            "lowest▁",
            learned,
            ["low", "est▁"],
            "go through the merges in the order of learning",
        ),
        (
            "abc",
            [("b", "c"), ("a", "b")],
            ["a", "bc"],
            "the merge learned first goes first, wherever it stands",
        ),
        (
            "aaaaa",
            [("a", "a"), ("aa", "aa")],
            ["aaaa", "a"],
            "merge from left to right, at every place",
        ),
        (
            "anan",
            [("a", "n")],
            ["an", "an"],
            "a merge applies at every place, not only at the first",
        ),
        (
            "abab",
            [("a", "b"), ("ab", "ab")],
            ["abab"],
            "a merge may use the token that an earlier one made",
        ),
        (
            "xyz",
            [("a", "b")],
            ["x", "y", "z"],
            "a word that no merge fits stays characters",
        ),
        ("", [("a", "b")], [], "an empty word has no tokens"),
    ]:
        expect.equal(
            student(word, list(merges)),
            tokens,
            what=f"the tokens of {word!r} with {merges}",
            hint=hint,
        )


def cut(student: Callable[[list[int], int], list[int]]) -> None:
    """Ids cut to a length, EOS kept at the end."""
    for ids, max_len, kept, hint in [
        ([7, 8, 9], 10, [7, 8, 9, 2], "EOS closes a short sentence, too"),
        ([7, 8, 9], 4, [7, 8, 9, 2], "three ids and EOS fit into four places"),
        ([7, 8, 9], 3, [7, 8, 2], "cut first, then add EOS"),
        ([7, 8, 9], 1, [2], "EOS must be there even where nothing else is"),
        ([], 5, [2], "an empty text is EOS alone"),
    ]:
        expect.equal(
            student(list(ids), max_len), kept, what=f"cut({ids}, {max_len})", hint=hint
        )


def byte_counts(
    student: tuple[Mapping[str, Any], Callable[[str, str], int]],
) -> None:
    """The bytes of four texts, predicted and counted, in two Unicode forms."""
    prediction, n_bytes = student
    cases: list[tuple[str, Literal["NFC", "NFD"], str, str]] = [
        ("phở", "NFC", "phở in NFC", "p and h take one byte each, U+1EDF three"),
        ("phở", "NFD", "phở in NFD", "p, h, o take one byte each, a mark two"),
        ("感冒", "NFC", "感冒", "a Chinese character takes three bytes"),
        ("🙂", "NFC", "🙂", "an emoji beyond U+FFFF takes four bytes"),
    ]
    for text, form, name, reason in cases:
        guess = expect.attempted(prediction.get(name))
        expect.equal(
            n_bytes(
                unicodedata.normalize("NFD" if form == "NFC" else "NFC", text), form
            ),
            len(unicodedata.normalize(form, text).encode()),
            what=f"n_bytes of {text!r} in {form}",
            hint="normalise to the form first, then count bytes, not characters",
        )
        expect.equal(
            guess,
            len(unicodedata.normalize(form, text).encode()),
            what=f"your prediction for {name}",
            hint=reason,
        )


def viterbi(student: Callable[[str, Mapping[str, float]], list[str]]) -> None:
    """The most probable segmentation, also where greedy choices fail."""
    for text, log_probs in [
        ("ab", {"a": -1.0, "b": -1.0, "ab": -1.5}),
        ("ab", {"a": -1.0, "b": -1.0, "ab": -2.5}),
        (
            "abcd",
            {
                "a": -3.0,
                "b": -3.0,
                "c": -3.0,
                "d": -3.0,
                "abc": -2.0,
                "ab": -2.5,
                "cd": -1.0,
            },
        ),
        ("aaaaa", {"a": -2.0, "aa": -3.0, "aaa": -4.1}),
        (
            "lowest",
            {
                **dict.fromkeys("lowest", -5.0),
                "lo": -6.0,
                "low": -7.0,
                "est": -7.0,
                "west": -9.0,
            },
        ),
        ("", {"a": -1.0}),
    ]:
        best, log_prob = best_segmentation(
            text, log_probs, longest=4, unknown=float("-inf")
        )
        found = student(text, dict(log_probs))
        case = f"the segmentation of {text!r} with {log_probs}"
        expect.equal(
            "".join(found),
            text,
            what=f"{case}, joined",
            hint="the pieces must spell the text",
        )
        unknown = [piece for piece in found if piece not in log_probs]
        expect.equal(unknown, [], what=f"pieces that are not in the table ({case})")
        expect.close(
            sum(log_probs[piece] for piece in found),
            log_prob,
            what=f"the log-probability of {found} ({case})",
            hint=(
                f"{best} is better: the longest or the likeliest first piece need not"
                " be part of the best whole"
            ),
        )
