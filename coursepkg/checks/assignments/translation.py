"""Tests of the assignment on translation: a split, a test of significance, numbers."""

import itertools
import random
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from coursepkg.checks import expect
from coursepkg.checks.assignments.measure import personal, quantity, two
from coursepkg.checks.assignments.task import Task

Case = tuple[Any, ...]
Pair = tuple[str, str]


def _split_case(n_groups: int, share: float, seed: int) -> Case:
    """Pairs in groups: sources with several targets, and targets with several sources.

    Spacing and capitals differ between copies, and some pairs came twice.
    """
    draw = random.Random(seed)
    pairs: list[Pair] = []
    for group in range(n_groups):
        source, target = f"s{group} a b", f"t{group} x y"
        pairs.append((source, target))
        for copy in range(draw.choice([0, 0, 1, 2])):
            pairs.append((source.upper(), f"t{group} other {copy}"))
            pairs.append((f"s{group} more {copy}", f"  T{group} other  {copy} "))
        pairs += [(source, target)] * draw.choice([0, 0, 0, 1])
    draw.shuffle(pairs)
    return pairs, share, seed + 100


def _key(text: str) -> str:
    return " ".join(text.casefold().split())


def _judge_split(case: Case, answer: Any) -> None:
    pairs, share, seed = case
    parts, others = (
        [_counted(part) for part in two(one, "the training and the test pairs")]
        for one in two(answer, "those of two calls")
    )
    came: Counter[Pair] = Counter(pairs)
    found = parts[0] + parts[1]
    for pair in [*came, *found]:
        assert found[pair] == came[pair], (
            f"{pair} stands in the two parts {found[pair]} times together, and came"
            f" {came[pair]} times; every pair stands in one part, as often as it came,"
            " unchanged"
        )
    train, test = (list(part.elements()) for part in parts)
    for side, name in ((0, "source"), (1, "target")):
        seen = {_key(pair[side]) for pair in train}
        for pair in test:
            assert _key(pair[side]) not in seen, (
                f"the {name} {pair[side]!r} of a test pair is also in the training"
                " part; spacing and capitals do not count"
            )
    size, wanted = len(test), share * len(pairs)
    assert size > 0, "the test part is empty"
    assert size <= wanted + 1e-9, (
        f"the test part has {size} of {len(pairs)} pairs; at most {share:.0%} are"
        " allowed"
    )
    assert size >= wanted / 2, (
        f"the test part has {size} of {len(pairs)} pairs; at least half of the"
        f" allowed {share:.0%} are expected"
    )
    assert parts == others, (
        f"two calls with the seed {seed} give two splits; draw with"
        " random.Random(seed) alone"
    )


def _counted(part: Any) -> Counter[Pair]:
    is_list = isinstance(part, list | tuple) and all(
        isinstance(pair, list | tuple) and [*map(type, pair)] == [str, str]
        for pair in part
    )
    assert is_list, "a part is no list of pairs (source, target)"
    return Counter((source, target) for source, target in part)


split_pairs = Task(
    "split_pairs",
    make=_split_case,
    judge=_judge_split,
    public=[(30, 0.2, 0), (40, 0.3, 1), (24, 0.5, 2)],
    run="twice",
)


def _randomisation_case(n: int, seed: int) -> Case:
    """Matches and n-grams of two systems, whose translations differ in length."""
    draw = random.Random(seed)
    first = [(draw.randint(2, 5), draw.randint(8, 40)) for _ in range(n)]
    second = [
        (m + draw.choice([-2, -1, 0, 1, 2, 3]), t + draw.choice([0, 0, 2, 5]))
        for m, t in first
    ]
    return first, second


def _score(rows: Sequence[tuple[int, int]]) -> float:
    return sum(m for m, _ in rows) / sum(t for _, t in rows)


def _exact_p(
    first: Sequence[tuple[int, int]],
    second: Sequence[tuple[int, int]],
    *,
    strict: bool = False,
    two_sided: bool = True,
) -> float:
    """The share of all exchanges whose difference is at least the one that was seen."""
    seen = _score(second) - _score(first)
    hits, total = 0, 0
    for swaps in itertools.product((False, True), repeat=len(first)):
        rows = [
            (b, a) if swap else (a, b)
            for a, b, swap in zip(first, second, swaps, strict=True)
        ]
        found = _score([b for _, b in rows]) - _score([a for a, _ in rows])
        size, least = (abs(found), abs(seen)) if two_sided else (found, seen)
        hits += size > least + 1e-12 if strict else size >= least - 1e-12
        total += 1
    return hits / total


def _judge_randomisation(case: Case, answer: Any) -> None:
    first, second = case
    expect.attempted(answer)
    assert isinstance(answer, float), (
        f"the result is a {type(answer).__name__}; a float is expected"
    )
    right = _exact_p(first, second)
    mean = [sum(m / t for m, t in rows) / len(rows) for rows in (first, second)]
    for wrong, hint in [
        (_exact_p(first, second, strict=True), "an equal difference counts as well"),
        (
            _exact_p(first, second, two_sided=False),
            "it is two-sided: a difference the other way counts as well",
        ),
        (1 - right, "this is the probability of a smaller difference"),
        (abs(mean[1] - mean[0]), "this is a difference, not a probability"),
    ]:
        if abs(wrong - right) > 1e-9:
            assert abs(answer - wrong) > 1e-9, f"p = {answer:.4f} is wrong: {hint}"
    expect.close(
        answer,
        right,
        what=f"p for {len(first)} sentences",
        tolerance=1e-9,
        hint="the score is the sum of the matches over the sum of the n-grams",
    )


randomisation_p = Task(
    "randomisation_p",
    make=_randomisation_case,
    judge=_judge_randomisation,
    public=[(4, 0), (6, 1), (7, 2), (1, 3)],
)


def _numbers_case(*lines: tuple[str, str]) -> Case:
    return ([source for source, _ in lines], [target for _, target in lines])


def _normal(text: str) -> list[str]:
    joined = re.sub(r"(?<=\d)[.,](?=\d{3}(?!\d))", "", text)
    return sorted(re.findall(r"\d+(?:[.,]\d+)?", joined.replace(",", ".")))


def _judge_numbers(case: Case, answer: Any) -> None:
    sources, targets = case
    expect.attempted(answer)
    assert isinstance(answer, list), (
        f"the result is a {type(answer).__name__}; a list is expected"
    )
    right = [
        i
        for i, (a, b) in enumerate(zip(sources, targets, strict=True))
        if _normal(a) != _normal(b)
    ]
    for i in range(len(sources)):
        said = "reported" if i in answer else "not reported"
        assert (i in answer) == (i in right), (
            f"line {i}, {sources[i]!r} -> {targets[i]!r}, is {said}"
        )
    expect.equal(answer, right, what="the list of lines", hint="in order, each once")


numbers_lost = Task(
    "numbers_lost",
    make=_numbers_case,
    judge=_judge_numbers,
    public=[
        (("Room 12 has 3 beds.", "Phòng 12 có 3 giường."), ("At 7", "Lúc 8 giờ")),
        (("It costs 1,200 dong", "Giá 1.200 đồng"), ("3.5 km", "3,5 km")),
        (("2 and 2 is 4", "2 và 2 là 4"), ("2 and 2", "hai và 2"), ("a", "b")),
        (("12", "1 2"), ("5 of 10", "10 có 5"), ("1,200", "1,2")),
        (("Pi is 3.1416", "Pi là 3,1416"), ("3.1416", "31416")),
    ],
)


def vocabulary_of(student: Any) -> dict[str, int]:
    """The student's own model: pieces, width, sentences and tokens of a batch."""
    draw = personal(student, "logits memory")
    return {
        "n_pieces": draw.choice([8_000, 16_000, 32_000]),
        "n_sentences": draw.choice([64, 96, 128]),
        "n_tokens": draw.choice([30, 40, 50]),
        "bytes_each": draw.choice([2, 4]),
    }


def _judge_logits(case: Case, answer: Any) -> None:
    sizes = vocabulary_of(case[0])
    right = 1.0
    for size in sizes.values():
        right *= size
    right /= 2**20
    mistakes = [
        (right / sizes["n_tokens"], "every token of a sentence has logits"),
        (right / sizes["n_sentences"], "every sentence of the batch has logits"),
        (right / sizes["bytes_each"], "a number has more than one byte"),
        (2 * right, "count the logits once, without their gradient"),
    ]
    quantity(
        answer,
        right,
        "MiB",
        hint="multiply the four numbers",
        mistakes=mistakes,
    )


logits_memory = Task(
    "logits_memory",
    make=lambda student: (student,),
    judge=_judge_logits,
    arguments=lambda case: (),
)
