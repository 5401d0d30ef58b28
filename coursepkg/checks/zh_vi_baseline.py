"""Checks of the exercises in the chapter on Chinese-Vietnamese data."""

import random
import statistics
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from coursepkg.checks import expect
from coursepkg.data.split import group_records

Pairs = list[tuple[str, str]]


def drop_empty(
    student: Callable[[list[str], list[str]], tuple[list[tuple[str, str]], list[int]]],
) -> None:
    """Holes on either side, on both, and nowhere; white space alone is empty."""
    for sources, targets, pairs, left_out in [
        (["a", "", "c", "d"], ["x", "y", "z", ""], [("a", "x"), ("c", "z")], [2, 4]),
        (["a ", "  ", " c"], [" x", " ", "z"], [("a", "x"), ("c", "z")], [2]),
        (["a"], ["x"], [("a", "x")], []),
        (["", "b"], ["x", "\t"], [], [1, 2]),
    ]:
        answer = student(list(sources), list(targets))
        got, numbers = answer
        said = f"of {sources} and {targets}"
        expect.equal(
            [tuple(pair) for pair in got],
            pairs,
            what=f"the pairs {said}",
            hint=(
                "a line goes from both files, or the lines behind it shift; strip both"
                " sides"
            ),
        )
        expect.equal(
            list(numbers),
            left_out,
            what=f"the lines left out {said}",
            hint="numbers count from 1, in the files as they were",
        )


def copies_held_out(
    answer: tuple[Any, Callable[[list[str], float, int], float]],
) -> None:
    """The measuring function first, then the prediction against its mean."""
    prediction, student = answer
    expect.attempted(prediction)
    draw = random.Random(0)
    doubled = [f"once {i}" for i in range(600)] + [
        f"twice {i // 2}" for i in range(400)
    ]
    cases = [
        ("ten different lines", [f"{i}" for i in range(10)]),
        ("ten equal lines", ["a"] * 10),
        ("lines in threes", [f"{i // 3}" for i in range(60)]),
        ("the file of 1,000 lines", draw.sample(doubled, len(doubled))),
    ]
    for name, lines in cases:
        found = []
        for seed in range(20):
            given = list(lines)
            found.append(expect.attempted(student(given, 0.1, seed)))
            assert given == lines, f"{name} were shuffled in place; shuffle a copy"
            expect.close(
                found[-1],
                _seen_share(lines, 0.1, seed),
                what=f"the share for {name} and seed {seed}",
                hint=(
                    "shuffle all lines, hold out the first of them, and count those"
                    " that stand among the others"
                ),
            )
    measured = 100 * statistics.mean(found)
    expect.quantity(
        prediction,
        measured,
        "%",
        what="the prediction",
        tolerance=0.07,
        mistakes={
            40.0: (
                "40% of the lines have a copy, but the copy may be held out as well;"
                f" your function measures {measured:.1f} %"
            ),
            20.0: "200 sentences that stand twice are 400 lines",
            90.0: "that is the share among the lines that have a copy",
            10.0: "that is what is held out, not what of it has been seen",
        },
    )


def split_pairs(student: Callable[[Pairs, float, int], Any]) -> None:
    """No sentence of either language in both parts; all lines once; seeds matter."""
    draw = random.Random(1)
    pairs = [(f"zh {i}", f"vi {i}") for i in range(40)]
    pairs += [(f"zh {i}", f"another vi {i}") for i in range(0, 12)]
    pairs += [(f"another zh {i}", f"vi {i}") for i in range(8, 20)]
    pairs += [(f"zh {i}", f"vi {i}") for i in range(30, 36)]
    draw.shuffle(pairs)
    held: set[tuple[int, ...]] = set()
    for seed in range(10):
        parts = [list(part) for part in student(list(pairs), 0.3, seed)]
        assert len(parts) == 2, f"{len(parts)} parts; return (train, test)"
        train, test = parts
        again = [list(part) for part in student(list(pairs), 0.3, seed)]
        assert [sorted(part) for part in again] == [sorted(train), sorted(test)], (
            f"two calls with seed {seed} gave two splits; shuffle by"
            " random.Random(seed)"
        )
        numbers = sorted([*train, *test])
        assert numbers == list(range(len(pairs))), (
            f"seed {seed}: {len(numbers)} numbers of lines for {len(pairs)} lines; each"
            " line goes to one part"
        )
        for side, language in enumerate(("Chinese", "Vietnamese")):
            known = {pairs[i][side] for i in train}
            both = sorted(pairs[i][side] for i in test if pairs[i][side] in known)
            assert not both, (
                f"seed {seed}: the {language} sentence {both[0]!r} stands in both"
                " parts; pairs belong together that share a sentence on either side,"
                " also through others"
            )
        share = len(test) / len(pairs)
        assert 0.1 <= share <= 0.5, (
            f"seed {seed}: {share:.0%} of the lines are in the test part; about 30% are"
            " asked for"
        )
        held.add(tuple(sorted(test)))
    assert len(held) > 1, (
        "ten seeds gave one and the same test part; shuffle the groups by the seed"
    )


def groups(student: Callable[[list[list[str]]], Sequence[int]]) -> None:
    """The chapter's six records, chains that close late."""
    draw = random.Random(0)
    cases = [
        [["A", "a"], ["B", "b"], ["C", "a"], ["D", "d"], ["B", "c"], ["C", "c"]],
        [["a"], ["b"], ["c"]],
        [["a", "b"], ["c", "d"], ["e", "f"], ["d", "e"], ["f", "a"]],
        *(
            [[f"{draw.randrange(30)}" for _ in range(2)] for _ in range(25)]
            for _ in range(8)
        ),
    ]
    for keys in cases:
        answer = student([list(own) for own in keys])
        expect.equal(
            list(answer),
            group_records(keys),
            what=f"the groups of {keys}",
            hint=(
                "records are linked through others, too: join the roots, and follow"
                " parents up to the root"
            ),
        )


def last_real_state(student: Callable[[Tensor, Tensor], Tensor]) -> None:
    """Against each sentence read alone; lengths from 1 to the whole width."""
    generator = torch.Generator().manual_seed(0)
    gru = nn.GRU(3, 5, batch_first=True)
    with torch.no_grad():
        for parameter in gru.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
        for lengths in ([4, 1, 6], [2], [3, 3, 1, 2, 7]):
            inputs = torch.randn(len(lengths), max(lengths) + 2, 3, generator=generator)
            outputs, _ = gru(inputs)
            alone = torch.cat(
                [gru(inputs[i : i + 1, :n])[1][0] for i, n in enumerate(lengths)]
            )
            expect.close(
                student(outputs.clone(), torch.tensor(lengths)),
                alone,
                what=f"the states for lengths {lengths}",
                hint=(
                    "the state after the last real token is outputs[b, lengths[b] - 1]"
                ),
            )


def _seen_share(lines: Sequence[str], share: float, seed: int) -> float:
    shuffled = list(lines)
    random.Random(seed).shuffle(shuffled)
    n_held = round(share * len(lines))
    known = set(shuffled[n_held:])
    return sum(line in known for line in shuffled[:n_held]) / n_held
