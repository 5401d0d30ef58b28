"""The checks of the chapter on the Chinese-Vietnamese data accept what is right and say what is wrong."""

import unicodedata

import torch

from tests.checks.solutions import solution_tests


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


def key(line, form="NFC"):
    return "".join(sign for sign in unicodedata.normalize(form, line).casefold() if sign.isalnum())


def share(train, test, of=key):
    known = {of(line) for line in train}
    return sum(of(line) in known for line in test) / len(test)


def of_sets(train, test):
    known, asked = {key(line) for line in train}, {key(line) for line in test}
    return len(known & asked) / len(asked)


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
    "seen_share": share,
    "groups": groups,
    "last_real_state": lambda o, n: o[torch.arange(len(o)), n - 1],
}

WRONG = {
    "drop_empty in each file for itself": (shifts, "or the lines behind it shift"),
    "drop_empty counts from zero": (from_zero, "count from 1"),
    "drop_empty does not strip": (unstripped, "the lines left out"),
    "seen_share of whole lines": (lambda train, test: share(train, test, of=str), "letters and digits only"),
    "seen_share loses the tones": (
        lambda train, test: share(train, test, of=lambda line: key(line, "NFD")),
        "NFC first",
    ),
    "seen_share of different lines": (of_sets, "not different ones"),
    "groups without chains": (direct, "through others, too"),
    "groups by the source alone": (lambda keys: groups([own[:1] for own in keys]), "the groups of"),
    "last_real_state after the padding": (lambda o, n: o[:, -1], "last real token"),
    "last_real_state one step late": (lambda o, n: o[torch.arange(len(o)), n], "last real token"),
    "last_real_state of the whole batch": (lambda o, n: o[:, n - 1], "has shape"),
}

test_right, test_wrong = solution_tests("zh_vi_baseline", RIGHT, WRONG)
