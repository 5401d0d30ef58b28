"""The checks of the chapter on the data of receipts accept what is right and say what is wrong."""

import unicodedata
from itertools import combinations

import numpy as np

from tests.checks.solutions import solution_tests


def by_sums(points):
    """Right below 45 degrees: the ends of the two diagonals."""
    top_left = min(points, key=lambda p: p[0] + p[1])
    bottom_right = max(points, key=lambda p: p[0] + p[1])
    top_right = max(points, key=lambda p: p[0] - p[1])
    bottom_left = min(points, key=lambda p: p[0] - p[1])
    return [top_left, top_right, bottom_right, bottom_left]


def by_height(points):
    ordered = sorted(points, key=lambda p: p[1])
    top, bottom = sorted(ordered[:2]), sorted(ordered[2:])
    return [top[0], top[1], bottom[1], bottom[0]]


def counter_clockwise(points):
    a, b, c, d = by_sums(points)
    return [a, d, c, b]


def solved(source, target):
    rows, right = [], []
    for (x, y), (u, v) in zip(source, target, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        right += [u, v]
    return np.append(np.linalg.solve(rows, right), 1).reshape(3, 3)


def affine(source, target):
    found, *_ = np.linalg.lstsq(np.column_stack([source, np.ones(4)]), target, rcond=None)
    return np.vstack([found.T, [0, 0, 1]])


def shares(train, test, key=lambda text: unicodedata.normalize("NFC", text)):
    receipts, texts = {receipt for receipt, _ in train}, {key(text) for _, text in train}
    return (
        sum(receipt in receipts for receipt, _ in test) / len(test),
        sum(key(text) in texts for _, text in test) / len(test),
    )


def one_side(train, test):
    return shares(train, [(receipt, unicodedata.normalize("NFC", text)) for receipt, text in test], key=str)


def folded(train, test):
    return shares(train, test, key=lambda text: unicodedata.normalize("NFC", text).casefold())


def columns(widths, buckets):
    return sum(min(one for one in buckets if one >= width) for width in widths)


def every_choice(widths, count):
    distinct = sorted(set(widths))
    most = min(count, len(distinct))
    choices = [(*some, distinct[-1]) for some in combinations(distinct[:-1], most - 1)]
    return min(choices, key=lambda buckets: columns(widths, buckets))


def exactly(widths, count):
    choices = combinations(sorted(set(widths)), count)
    return min((one for one in choices if one[-1] == max(widths)), key=lambda one: columns(widths, one))


def even(widths, count):
    return [max(widths) * (i + 1) // count for i in range(count)]


def equal_numbers(widths, count):
    ordered = sorted(widths)
    return [ordered[-1], *(ordered[len(ordered) * (i + 1) // count - 1] for i in range(count - 1))]


RIGHT = {
    "order_corners": by_sums,
    "perspective_map": solved,
    "perspective_map of any scale": lambda source, target: -2 * solved(source, target),
    "leaks": shares,
    "best_widths": every_choice,
    "packing_plan": lambda: (40, 4),
}

WRONG = {
    "order_corners two highest first": (by_height, "two highest corners"),
    "order_corners the other way round": (counter_clockwise, "top left, top right"),
    "order_corners as given": (list, "the order of"),
    "perspective_map the way back": (lambda source, target: solved(target, source), "source first"),
    "perspective_map affine": (affine, "two equations"),
    "perspective_map without its last row": (
        lambda source, target: solved(source, target)[:2],
        "(3, 3) is expected",
    ),
    "leaks without a form": (lambda train, test: shares(train, test, key=str), "NFC"),
    "leaks with one side composed": (one_side, "NFC"),
    "leaks without the case": (folded, "keep the case"),
    "leaks of different texts": (
        lambda train, test: shares(train, list(dict.fromkeys(test))),
        "not different ones",
    ),
    "leaks as one number": (lambda train, test: shares(train, test)[1], "not a pair"),
    "best_widths at even distances": (even, "only widths that occur"),
    "best_widths with equally many lines": (equal_numbers, "the columns of"),
    "best_widths without the widest": (lambda widths, count: sorted(widths)[:count], "too narrow"),
    "best_widths of exactly so many": (exactly, "your code raised ValueError"),
    "best_widths too many": (lambda widths, count: set(widths), "at most"),
    "packing_plan too large": (lambda: (48, 4), "108 MB"),
    "packing_plan too coarse": (lambda: (40, 8), "1.3 columns"),
    "packing_plan too small": (lambda: (32, 4), "a larger one is"),
    "packing_plan too fine": (lambda: (40, 2), "fewer columns to attend"),
    "packing_plan not on offer": (lambda: (44, 4), "not on offer"),
    "packing_plan height alone": (lambda: 40, "return (height, step)"),
}

test_right, test_wrong = solution_tests("receipt_data", RIGHT, WRONG)
