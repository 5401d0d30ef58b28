"""Checks of the exercises in the chapter on the three ways to translate."""

import itertools
import math
import random
from collections import defaultdict
from collections.abc import Callable, Sequence

from coursepkg.checks import expect

Pairs = list[tuple[list[str], list[str]]]
Links = set[tuple[int, int]]
PhraseTable = dict[tuple[str, str], float]


def vietnamese_order(
    student: Callable[[list[str], list[str]], Sequence[str]],
) -> None:
    """Noun phrases with and without each part, several adjectives, and 的."""
    for words, kinds, wanted in [
        ("này quyển sách", "det cl noun", "quyển sách này"),
        ("ba quyển mới sách", "num cl adj noun", "ba quyển sách mới"),
        ("kia đôi đắt - giày", "det cl adj de noun", "đôi giày đắt kia"),
        ("mới sách", "adj noun", "sách mới"),
        ("đỏ đắt to váy", "adj adj adj noun", "váy đỏ đắt to"),
        (
            "này hai cái to đỏ - váy",
            "det num cl adj adj de noun",
            "hai cái váy to đỏ này",
        ),
        ("chó", "noun", "chó"),
    ]:
        given, roles = words.split(), kinds.split()
        answer = student(list(given), list(roles))
        expect.equal(
            list(answer) if isinstance(answer, tuple) else answer,
            wanted.split(),
            what=f"the order of {given} ({kinds})",
            hint=(
                "number, classifier, noun, adjectives in their order, det last; what is"
                " de disappears"
            ),
        )


def em_round(student: Callable[[Pairs, PhraseTable], PhraseTable]) -> None:
    """Two rounds from a uniform start and one from another."""
    toy: Pairs = [(["新", "书"], ["sách", "mới"]), (["旧", "书"], ["sách", "cũ"])]
    repeated: Pairs = [
        (["a", "a", "b"], ["x", "y"]),
        (["b"], ["y", "y"]),
        (["a", "c"], ["x", "z"]),
    ]
    for pairs in (toy, repeated):
        n_words = len({word for _, target in pairs for word in target})
        table = {
            (s, t): 1 / n_words
            for source, target in pairs
            for s in source
            for t in target
        }
        for n_rounds in (1, 2):
            wanted = _round(pairs, table)
            table = dict(student(pairs, dict(table)))
            expect.equal(
                set(table), set(wanted), what="the set of word pairs in the new table"
            )
            for (s, t), p in sorted(table.items()):
                expect.close(
                    p,
                    wanted[s, t],
                    what=f"p({t} | {s}) after round {n_rounds}",
                    hint=(
                        "share each target word among the source words of its own"
                        " sentence, add the shares up, then divide by the sum of the"
                        " source word"
                    ),
                )


def lead_of_two_words(answer: str) -> None:
    """The option of two words against that of one, both weights 1."""
    expect.quantity(
        answer,
        math.log(0.4 * 0.6 * 0.2 / (0.8 * 0.04)),
        "nats",
        what="the lead",
        tolerance=0.02,
        mistakes={
            math.log(0.6 * 0.2 / 0.04): (
                "the second word explains nothing, and an option of two words has the"
                " mean of both channel probabilities: half of 0.8"
            ),
            math.log(0.4 * 0.2 / (0.8 * 0.04)): (
                "the language model also pays for này after váy"
            ),
            math.log2(1.5): "that is in bits; nats take the natural logarithm",
            math.log(1.5)
            * -1: "that is the lead of váy; the question is about váy này",
            1.5: "that is the ratio of the probabilities; its logarithm is the lead",
        },
    )


def gain_of_twenty_rules(answer: str) -> None:
    """Read off the curve: 36.2 BLEU without a rule, 55.9 with 20, 71.1 with all."""
    start, middle, end = 36.2, 55.9, 71.1
    expect.quantity(
        answer,
        100 * (middle - start) / (end - start),
        "%",
        what="the share",
        tolerance=0.05,
        mistakes={
            100 * middle / end: (
                "the gain begins at the score without any rule, not at 0; the axis"
                " does not begin at 0 either"
            ),
            100 * 20 / 38: "that is the share of the rules; the question is about BLEU",
            100 * (end - middle) / (end - start): (
                "that is what the other rules bring"
            ),
            middle - start: "those are BLEU points; divide by the whole gain",
        },
    )


def _round(pairs: Pairs, table: PhraseTable) -> PhraseTable:
    counts: dict[tuple[str, str], float] = defaultdict(float)
    totals: dict[str, float] = defaultdict(float)
    for source, target in pairs:
        for t in target:
            together = sum(table[s, t] for s in source)
            for s in source:
                counts[s, t] += table[s, t] / together
                totals[s] += table[s, t] / together
    return {(s, t): count / totals[s] for (s, t), count in counts.items()}


def error_rate(student: Callable[[Links, Links, Links], float]) -> None:
    """Perfect, empty, half right, and with links that are only possible."""
    sure, possible = {(0, 0), (1, 1)}, {(0, 0), (1, 1), (2, 1), (2, 2)}
    for found in (sure, possible, set(), {(0, 0), (2, 1), (3, 3)}, {(3, 3)}, {(0, 0)}):
        for allowed in (possible, sure):
            expect.close(
                student(set(found), set(sure), set(allowed)),
                1
                - (len(found & sure) + len(found & allowed)) / (len(found) + len(sure)),
                what=(
                    f"AER of {sorted(found)} with the sure links {sorted(sure)} and"
                    f" possible {sorted(allowed)}"
                ),
                hint=(
                    "sure links count for recall, possible ones for precision: "
                    "1 - (|A and S| + |A and P|) / (|A| + |S|)"
                ),
            )


def best_path(
    student: Callable[
        [list[list[tuple[str, float]]], Callable[[str, str], float]], list[str]
    ],
) -> None:
    """Small lattices against every path; greedy choices lose in some of them."""
    draw = random.Random(0)
    for n_places in (1, 2, 4, 6):
        for _ in range(6):
            options = [
                [(word, -draw.expovariate(0.7)) for word in "abc"]
                for _ in range(n_places)
            ]
            bigrams = {
                (u, w): -draw.expovariate(0.5)
                for u in ("<s>", *"abc")
                for w in ("</s>", *"abc")
            }

            def log_p(before: str, word: str, bigrams: PhraseTable = bigrams) -> float:
                return bigrams[before, word]

            def total(
                path: tuple[tuple[str, float], ...], bigrams: PhraseTable = bigrams
            ) -> float:
                words = ["<s>", *(word for word, _ in path), "</s>"]
                return sum(p for _, p in path) + sum(
                    bigrams[pair] for pair in itertools.pairwise(words)
                )

            best = max(itertools.product(*options), key=total)
            expect.equal(
                list(student(options, log_p)),
                [word for word, _ in best],
                what=f"the best path through {n_places} places",
                hint=(
                    "for each word of a place keep the best way to reach it; the first"
                    " word follows <s>, and </s> follows the last one"
                ),
            )
