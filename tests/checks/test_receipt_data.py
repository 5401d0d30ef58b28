"""The checks of the chapter on the data of receipts accept what is right and say what is wrong."""

import unicodedata
from itertools import combinations

import numpy as np


def by_sums(points):
    """Right below 45 degrees: the ends of the two diagonals."""
    top_left = min(points, key=lambda p: p[0] + p[1])
    bottom_right = max(points, key=lambda p: p[0] + p[1])
    top_right = max(points, key=lambda p: p[0] - p[1])
    bottom_left = min(points, key=lambda p: p[0] - p[1])
    return [top_left, top_right, bottom_right, bottom_left]


def test_order_corners_right(assert_accepts):
    assert_accepts("receipt_data.order_corners", by_sums)


def test_order_corners_two_highest_first(assert_rejects):
    def by_height(points):
        ordered = sorted(points, key=lambda p: p[1])
        top, bottom = sorted(ordered[:2]), sorted(ordered[2:])
        return [top[0], top[1], bottom[1], bottom[0]]

    assert_rejects("receipt_data.order_corners", by_height, "two highest corners")


def test_order_corners_the_other_way_round(assert_rejects):
    def counter_clockwise(points):
        a, b, c, d = by_sums(points)
        return [a, d, c, b]

    assert_rejects("receipt_data.order_corners", counter_clockwise, "top left, top right")


def test_order_corners_as_given(assert_rejects):
    assert_rejects("receipt_data.order_corners", list, "the order of")


def solved(source, target):
    rows, right = [], []
    for (x, y), (u, v) in zip(source, target, strict=True):
        rows += [[x, y, 1, 0, 0, 0, -u * x, -u * y], [0, 0, 0, x, y, 1, -v * x, -v * y]]
        right += [u, v]
    return np.append(np.linalg.solve(rows, right), 1).reshape(3, 3)


def test_perspective_map_right(assert_accepts):
    assert_accepts("receipt_data.perspective_map", solved)


def test_perspective_map_of_any_scale(assert_accepts):
    assert_accepts("receipt_data.perspective_map", lambda source, target: -2 * solved(source, target))


def test_perspective_map_the_way_back(assert_rejects):
    assert_rejects(
        "receipt_data.perspective_map", lambda source, target: solved(target, source), "source first"
    )


def test_perspective_map_affine(assert_rejects):
    def affine(source, target):
        found, *_ = np.linalg.lstsq(np.column_stack([source, np.ones(4)]), target, rcond=None)
        return np.vstack([found.T, [0, 0, 1]])

    assert_rejects("receipt_data.perspective_map", affine, "two equations")


def test_perspective_map_without_its_last_row(assert_rejects):
    assert_rejects(
        "receipt_data.perspective_map",
        lambda source, target: solved(source, target)[:2],
        "(3, 3) is expected",
    )


def shares(train, test, key=lambda text: unicodedata.normalize("NFC", text)):
    receipts, texts = {receipt for receipt, _ in train}, {key(text) for _, text in train}
    return (
        sum(receipt in receipts for receipt, _ in test) / len(test),
        sum(key(text) in texts for _, text in test) / len(test),
    )


def test_leaks_right(assert_accepts):
    assert_accepts("receipt_data.leaks", shares)


def test_leaks_without_a_form(assert_rejects):
    assert_rejects("receipt_data.leaks", lambda train, test: shares(train, test, key=str), "NFC")


def test_leaks_without_the_case(assert_rejects):
    def folded(train, test):
        return shares(train, test, key=lambda text: unicodedata.normalize("NFC", text).casefold())

    assert_rejects("receipt_data.leaks", folded, "keep the case")


def test_leaks_of_different_texts(assert_rejects):
    assert_rejects(
        "receipt_data.leaks",
        lambda train, test: shares(train, list(dict.fromkeys(test))),
        "not different ones",
    )


def test_leaks_as_one_number(assert_rejects):
    assert_rejects("receipt_data.leaks", lambda train, test: shares(train, test)[1], "not a pair")


def columns(widths, buckets):
    return sum(min(one for one in buckets if one >= width) for width in widths)


def every_choice(widths, count):
    distinct = sorted(set(widths))
    most = min(count, len(distinct))
    choices = [(*some, distinct[-1]) for some in combinations(distinct[:-1], most - 1)]
    return min(choices, key=lambda buckets: columns(widths, buckets))


def test_best_widths_right(assert_accepts):
    assert_accepts("receipt_data.best_widths", every_choice)


def test_best_widths_at_even_distances(assert_rejects):
    def even(widths, count):
        return [max(widths) * (i + 1) // count for i in range(count)]

    assert_rejects("receipt_data.best_widths", even, "only widths that occur")


def test_best_widths_with_equally_many_lines(assert_rejects):
    def equal_numbers(widths, count):
        ordered = sorted(widths)
        return [ordered[-1], *(ordered[len(ordered) * (i + 1) // count - 1] for i in range(count - 1))]

    assert_rejects("receipt_data.best_widths", equal_numbers, "the columns of")


def test_best_widths_without_the_widest(assert_rejects):
    assert_rejects("receipt_data.best_widths", lambda widths, count: sorted(widths)[:count], "too narrow")


def test_best_widths_too_many(assert_rejects):
    assert_rejects("receipt_data.best_widths", lambda widths, count: set(widths), "at most")
