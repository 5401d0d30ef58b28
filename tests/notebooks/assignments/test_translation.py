"""The tasks of the assignment on translation accept what is right and say what is wrong."""

import itertools
import random
import re

from coursepkg.checks.assignments import translation
from tests.notebooks.assignments.sources import solution_tests


def key(text):
    return " ".join(text.casefold().split())


def groups_of(pairs, normal=key, sides=(0, 1)):
    groups = []
    for pair in pairs:
        keys = {(side, normal(pair[side])) for side in sides}
        touched = [group for group in groups if group[0] & keys]
        groups = [group for group in groups if not group[0] & keys]
        groups.append(
            (keys.union(*(g[0] for g in touched)), [pair, *itertools.chain(*(g[1] for g in touched))])
        )
    return [members for _, members in groups]


def fill(groups, n_pairs, share, seed):
    random.Random(seed).shuffle(groups)
    train, test = [], []
    for group in groups:
        (test if len(test) + len(group) <= share * n_pairs else train).extend(group)
    return train, test


def split_pairs(pairs, share, seed):
    return fill(groups_of(pairs), len(pairs), share, seed)


def split_smallest_first(pairs, share, seed):
    train, test = [], []
    for group in sorted(groups_of(pairs), key=lambda group: (len(group), group)):
        (test if len(test) + len(group) <= share * len(pairs) else train).extend(group)
    return train, test


def split_in_place(pairs, share, seed):
    """Takes the pairs out of the list that it was given."""
    taken = []
    while pairs:
        taken.append(pairs.pop())
    return split_pairs(taken, share, seed)


def split_of_set(pairs, share, seed):
    unique = sorted(set(pairs))
    return fill(groups_of(unique), len(unique), share, seed)


def split_at_random(pairs, share, seed):
    order = random.Random(seed).sample(pairs, len(pairs))
    n = int(share * len(pairs))
    return order[n:], order[:n]


def split_by_source(pairs, share, seed):
    return fill(groups_of(pairs, sides=(0,)), len(pairs), share, seed)


def split_by_target(pairs, share, seed):
    return fill(groups_of(pairs, sides=(1,)), len(pairs), share, seed)


def split_as_spelt(pairs, share, seed):
    return fill(groups_of(pairs, normal=str), len(pairs), share, seed)


def split_with_dropping(pairs, share, seed):
    train, test = split_at_random(pairs, share, seed)
    seen = [{key(pair[side]) for pair in train} for side in (0, 1)]
    return train, [p for p in test if key(p[0]) not in seen[0] and key(p[1]) not in seen[1]]


def split_normalised(pairs, share, seed):
    return split_pairs([(key(a), key(b)) for a, b in pairs], share, seed)


def split_too_large(pairs, share, seed):
    train, test = split_pairs(pairs, share, seed)
    return test, train


def score(rows):
    return sum(m for m, _ in rows) / sum(n for _, n in rows)


def randomisation_p(first, second, *, measure=score, strict=False, size=abs, skip=0):
    seen = size(measure(second) - measure(first))
    found = []
    for swaps in itertools.product((False, True), repeat=len(first)):
        rows = list(zip(first, second, swaps, strict=True))
        one = [b if swap else a for a, b, swap in rows]
        other = [a if swap else b for a, b, swap in rows]
        found.append(size(measure(other) - measure(one)))
    hits = [x > seen + 1e-12 if strict else x >= seen - 1e-12 for x in found[skip:]]
    return sum(hits) / max(1, len(hits))


def p_by_bits(first, second):
    n, total = len(first), 0
    for bits in range(2**n):
        sums = [0, 0, 0, 0]
        for i in range(n):
            a, b = (second[i], first[i]) if bits >> i & 1 else (first[i], second[i])
            sums = [x + y for x, y in zip(sums, (*a, *b), strict=True)]
        difference = abs(sums[2] / sums[3] - sums[0] / sums[1])
        total += difference >= abs(score(second) - score(first)) - 1e-12
    return total / 2**n


def p_of_equal_lengths(first, second):
    """Exchanges the matches, and leaves each system its n-grams."""
    sizes = [sum(n for _, n in rows) for rows in (first, second)]
    seen, hits = abs(score(second) - score(first)), 0
    for swaps in itertools.product((False, True), repeat=len(first)):
        rows = list(zip(first, second, swaps, strict=True))
        one = sum((b if swap else a)[0] for a, b, swap in rows)
        other = sum((a if swap else b)[0] for a, b, swap in rows)
        hits += abs(other / sizes[1] - one / sizes[0]) >= seen - 1e-12
    return hits / 2 ** len(first)


def p_drawn(first, second):
    draw = random.Random(0)
    seen, hits = abs(score(second) - score(first)), 0
    for _ in range(333):
        rows = [(b, a) if draw.random() < 0.5 else (a, b) for a, b in zip(first, second, strict=True)]
        hits += abs(score([b for _, b in rows]) - score([a for a, _ in rows])) >= seen - 1e-12
    return hits / 333


def numbers(text, thousands=True, decimal=True):
    if thousands:
        text = re.sub(r"(?<=\d)[.,](?=\d{3}(?!\d))", "", text)
    return re.findall(r"\d+(?:\.\d+)?" if decimal else r"\d+", text.replace(",", "."))


def lost(sources, targets, find=numbers, form=sorted):
    rows = enumerate(zip(sources, targets, strict=True))
    return [i for i, (a, b) in rows if form(find(a)) != form(find(b))]


def numbers_lost(sources, targets):
    return lost(sources, targets)


def numbers_as_values(sources, targets):
    def find(text):
        found = re.findall(r"\d+(?:[.,]\d+)*", text)
        plain = [re.sub(r"[.,](?=\d{3}(?!\d))", "", one).replace(",", ".") for one in found]
        return sorted(plain)

    return [i for i in range(len(sources)) if find(sources[i]) != find(targets[i])]


BATCH = translation.vocabulary_of("an-id")
MIB = BATCH["n_pieces"] * BATCH["n_sentences"] * BATCH["n_tokens"] * BATCH["bytes_each"] / 2**20

RIGHT = {
    "split_pairs": split_pairs,
    "split_pairs smallest first": split_smallest_first,
    "split_pairs in place": split_in_place,
    "randomisation_p": randomisation_p,
    "randomisation_p by bits": p_by_bits,
    "numbers_lost": numbers_lost,
    "numbers_lost values": numbers_as_values,
    "logits_memory": lambda: f"{MIB} MiB",
    "logits_memory in KiB": lambda: f"{MIB * 1024} KiB",
}
WRONG = {
    "split_pairs at random": (split_at_random, "of a test pair is also in the training part"),
    "split_pairs by source": (split_by_source, "the target"),
    "split_pairs by target": (split_by_target, "the source"),
    "split_pairs as spelt": (split_as_spelt, "spacing and capitals do not count"),
    "split_pairs dropping": (split_with_dropping, "every pair stands in one part"),
    "split_pairs normalised": (split_normalised, "as it came"),
    "split_pairs of a set": (split_of_set, "1 times together, and came 2 times"),
    "split_pairs without the seed": (
        lambda pairs, share, seed: split_pairs(pairs, share, None),
        "give two splits",
    ),
    "split_pairs numbers": (
        lambda pairs, share, seed: ([*range(9, len(pairs))], [*range(9)]),
        "is no list of pairs",
    ),
    "split_pairs large": (split_too_large, "are allowed"),
    "split_pairs empty": (lambda pairs, share, seed: (pairs, []), "the test part is empty"),
    "split_pairs unique": (
        lambda pairs, share, seed: split_pairs(pairs[:1] + pairs[2:], share, seed),
        "every pair stands in one part",
    ),
    "randomisation_p strict": (lambda a, b: randomisation_p(a, b, strict=True), "an equal difference counts"),
    "randomisation_p one side": (lambda a, b: randomisation_p(a, b, size=float), "is wrong: "),
    "randomisation_p rest": (lambda a, b: 1 - randomisation_p(a, b), "of a smaller difference"),
    "randomisation_p without the first": (lambda a, b: randomisation_p(a, b, skip=1), "is expected"),
    "randomisation_p drawn": (p_drawn, "is expected"),
    "randomisation_p mean": (
        lambda a, b: randomisation_p(a, b, measure=lambda rows: sum(m / n for m, n in rows) / len(rows)),
        "the sum of the matches over the sum",
    ),
    "randomisation_p equal lengths": (p_of_equal_lengths, "is expected"),
    "randomisation_p difference": (lambda a, b: score(b) - score(a), "is expected"),
    "randomisation_p text": (lambda a, b: "0.5", "a float is expected"),
    "numbers_lost in order": (lambda a, b: lost(a, b, form=list), "'5 of 10' -> '10 có 5', is reported"),
    "numbers_lost as a set": (lambda a, b: lost(a, b, form=set), "'2 and 2' -> 'hai và 2', is not reported"),
    "numbers_lost thousands": (lambda a, b: lost(a, b, lambda t: re.findall(r"[\d.,]+", t)), "is reported"),
    "numbers_lost decimals": (
        lambda a, b: lost(a, b, lambda t: re.findall(r"\d+", re.sub(r"(?<=\d)[.,](?=\d)", "", t))),
        "is not reported",
    ),
    "numbers_lost digits": (
        lambda a, b: lost(a, b, lambda t: re.findall(r"\d", t)),
        "'12' -> '1 2', is not reported",
    ),
    "numbers_lost three digits or more": (
        lambda a, b: lost(a, b, lambda t: numbers(re.sub(r"(?<=\d)[.,](?=\d{3})", "", t))),
        "'3.1416' -> '31416', is not reported",
    ),
    "numbers_lost count": (lambda a, b: lost(a, b, form=len), "is not reported"),
    "numbers_lost from one": (lambda a, b: [i + 1 for i in lost(a, b)], "reported"),
    "numbers_lost lines": (lambda a, b: tuple(lost(a, b)), "a list is expected"),
    "logits_memory sentence": (lambda: f"{MIB / BATCH['n_sentences']} MiB", "every sentence of the batch"),
    "logits_memory token": (lambda: f"{MIB / BATCH['n_tokens']} MiB", "every token of a sentence"),
    "logits_memory elements": (lambda: f"{MIB / BATCH['bytes_each']} MiB", "more than one byte"),
    "logits_memory twice": (lambda: f"{2 * MIB} MiB", "without their gradient"),
    "logits_memory MB": (lambda: f"{MIB} MB", "would be right in MiB"),
    "logits_memory bare": (lambda: f"{MIB}", "has no unit"),
}

test_right, test_wrong = solution_tests("translation", translation, RIGHT, WRONG)
