"""The checks of the chapter on the Chinese-Vietnamese data accept what is right and say what is wrong."""

import random

import torch

from tests.checks.solutions import solution_tests

HIDDEN = random.Random(0)
"""Chance that no seed of a check sets."""


def drop_empty(sources, targets):
    numbered = list(enumerate(zip(sources, targets, strict=True), start=1))
    full = {number for number, (s, t) in numbered if s.strip() and t.strip()}
    pairs = [(s.strip(), t.strip()) for number, (s, t) in numbered if number in full]
    return pairs, [number for number, _ in numbered if number not in full]


def shifts(sources, targets):
    kept = [[line.strip() for line in lines if line.strip()] for lines in (sources, targets)]
    return list(zip(*kept, strict=False)), drop_empty(sources, targets)[1]


def from_zero(sources, targets):
    pairs, left_out = drop_empty(sources, targets)
    return pairs, [number - 1 for number in left_out]


def unstripped(sources, targets):
    return [(s, t) for s, t in zip(sources, targets, strict=True) if s and t], []


def seen(lines, share, seed):
    numbers = list(range(len(lines)))
    random.Random(seed).shuffle(numbers)
    n = round(share * len(lines))
    rest = [lines[i] for i in numbers[n:]]
    return sum(lines[i] in rest for i in numbers[:n]) / n


def in_place(lines, share, seed):
    random.Random(seed).shuffle(lines)
    n = round(share * len(lines))
    return sum(line in lines[n:] for line in lines[:n]) / n


def with_itself(lines, share, seed):
    n = round(share * len(lines))
    held = random.Random(seed).sample(lines, len(lines))[:n]
    return sum(lines.count(line) > 1 for line in held) / n


def by_groups(pairs, share, seed):
    found = groups([[("zh", zh), ("vi", vi)] for zh, vi in pairs])
    return by_key(found, share, seed)


def by_key(keys, share, seed):
    kinds = sorted(set(keys))
    random.Random(seed).shuffle(kinds)
    held = set(kinds[: round(share * len(kinds))])
    return [[i for i, key in enumerate(keys) if (key in held) == side] for side in (False, True)]


def of_the_task(pairs, share, seed):
    sources = sorted({source for source, _ in pairs})
    random.Random(seed).shuffle(sources)
    held = set(sources[: round(share * len(sources))])
    train = [i for i, (source, _) in enumerate(pairs) if source not in held]
    return train, [i for i, (source, _) in enumerate(pairs) if source in held]


def drops(pairs, share, seed):
    train, test = of_the_task(pairs, share, seed)
    known = {pairs[i][1] for i in train}
    return train, [i for i in test if pairs[i][1] not in known]


def groups(keys):
    """By spreading the smallest number until nothing changes."""
    found = list(range(len(keys)))
    for _ in keys:
        for i, own in enumerate(keys):
            for j, other in enumerate(keys):
                if set(own) & set(other):
                    found[i] = found[j] = min(found[i], found[j])
    return found


def direct(keys):
    return [next(j for j, other in enumerate(keys) if set(own) & set(other)) for own in keys]


RIGHT = {
    "drop_empty": drop_empty,
    "copies_held_out": ("36 %", seen),
    "copies_held_out in a rough prediction": ("35%", seen),
    "split_pairs": by_groups,
    "groups": groups,
    "last_real_state": lambda o, n: o[torch.arange(len(o)), n - 1],
}

WRONG = {
    "drop_empty in each file for itself": (shifts, "or the lines behind it shift"),
    "drop_empty counts from zero": (from_zero, "count from 1"),
    "drop_empty does not strip": (unstripped, "the lines left out"),
    "copies_held_out forgets that copies leave together": (("40 %", seen), "may be held out as well"),
    "copies_held_out counts sentences": (("20 %", seen), "are 400 lines"),
    "copies_held_out of a line with a copy": (("90 %", seen), "lines that have a copy"),
    "copies_held_out of the whole file": (("36 %", with_itself), "stand among the others"),
    "copies_held_out in place": (("36 %", in_place), "shuffle a copy"),
    "copies_held_out without a unit": (("0.36", seen), "without a unit"),
    "split_pairs of the task": (of_the_task, "the Vietnamese sentence"),
    "split_pairs by the target alone": (
        lambda pairs, *rest: by_key([vi for _, vi in pairs], *rest),
        "the Chinese sentence",
    ),
    "split_pairs by the whole pair": (by_key, "the Chinese sentence"),
    "split_pairs drops what leaks": (drops, "each line goes to one part"),
    "split_pairs leaves the test empty": (
        lambda pairs, share, seed: (list(range(len(pairs))), []),
        "0% of the lines",
    ),
    "split_pairs that forgets the seed": (
        lambda pairs, share, seed: by_groups(pairs, share, 0),
        "ten seeds gave one",
    ),
    "split_pairs by other chance": (
        lambda pairs, share, seed: by_groups(pairs, share, HIDDEN.random()),
        "two calls with seed 0",
    ),
    "groups without chains": (direct, "through others, too"),
    "groups by the source alone": (lambda keys: groups([own[:1] for own in keys]), "the groups of"),
    "last_real_state after the padding": (lambda o, n: o[:, -1], "last real token"),
    "last_real_state one step late": (lambda o, n: o[torch.arange(len(o)), n], "last real token"),
    "last_real_state of the whole batch": (lambda o, n: o[:, n - 1], "has shape"),
}

test_right, test_wrong = solution_tests("zh_vi_baseline", RIGHT, WRONG)
