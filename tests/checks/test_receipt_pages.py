"""The checks of the chapter on pages accept what is right and say what is wrong."""

import math
import unicodedata
from collections import Counter

import numpy as np

from tests.checks.solutions import solution_tests


def iou(a, b):
    wide = max(0, min(a[2], b[2]) - max(a[0], b[0]))
    high = max(0, min(a[3], b[3]) - max(a[1], b[1]))
    total = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return wide * high / (total - wide * high)


def signed(a, b):
    common = (min(a[2], b[2]) - max(a[0], b[0])) * (min(a[3], b[3]) - max(a[1], b[1]))
    total = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return common / (total - common)


def over_the_sum(a, b):
    common = iou(a, b)
    return common / (1 + common)


def boxes(given, pixel, least, unclip, *, corners=False, edge=1, in_box=True, grow=True, full=True):
    """Right as it stands; each option is a mistake."""
    label = np.where(given >= pixel, np.arange(given.size).reshape(given.shape), -1)
    while True:
        before = label.copy()
        padded = np.pad(label, 1, constant_values=-1)
        steps = [(0, 1), (2, 1), (1, 0), (1, 2)] + ([(0, 0), (0, 2), (2, 0), (2, 2)] if corners else [])
        for y, x in steps:
            near = padded[y : y + label.shape[0], x : x + label.shape[1]]
            label = np.where(label >= 0, np.maximum(label, near), -1)
        if np.array_equal(before, label):
            break
    found = []
    for one in set(label[label >= 0].tolist()):
        rows, columns = np.nonzero(label == one)
        left, top = columns.min(), rows.min()
        right, bottom = columns.max() + 1, rows.max() + 1
        mean = given[top:bottom, left:right].mean() if in_box else given[label == one].mean()
        if mean >= least:
            wide, high = right - left, bottom - top
            area = wide * high if full else (label == one).sum()
            out = area * unclip / (2 * (wide + high)) if grow else 0
            found.append((left - out, top - out, right + out - 1 + edge, bottom + out - 1 + edge))
    return found


def merged(words, gap, lower=min, order=sorted, keep="last"):
    lines, before = [], 0
    for left, right, height in order(words):
        if lines and left - lines[-1][1] <= gap * lower(before, height):
            lines[-1] = (lines[-1][0], right)
            before = {"last": height, "first": before, "least": min(before, height)}[keep]
        else:
            lines.append((left, right))
            before = height
    return lines


def from_the_first(words, gap):
    lines = []
    for left, right, height in sorted(words):
        if lines and left - lines[-1][0] - 50 <= gap * height:
            lines[-1] = (lines[-1][0], right)
        else:
            lines.append((left, right))
    return lines


def in_order(words, degrees, sign=-1, rows=True):
    angle = sign * math.radians(degrees)
    cos, sin = math.cos(angle), math.sin(angle)
    flat = [(cos * x - sin * y, sin * x + cos * y, high) for x, y, high in words]
    order = sorted(range(len(flat)), key=lambda i: flat[i][1])
    if not rows:
        return order
    found = []
    for i in order:
        near = found and flat[i][1] - flat[found[-1][-1]][1] < 0.5 * min(flat[i][2], flat[found[-1][-1]][2])
        if near:
            found[-1].append(i)
        else:
            found.append([i])
    return [i for row in found for i in sorted(row, key=lambda i: flat[i][0])]


def f1(read, printed, key=lambda text: Counter(unicodedata.normalize("NFC", text).split())):
    a, b = key(read), key(printed)
    both = sum(a.values()) + sum(b.values())
    return 2 * sum((a & b).values()) / both if both else 1.0


def sets(text):
    return Counter(set(unicodedata.normalize("NFC", text).split()))


def folded(text):
    return Counter(unicodedata.normalize("NFC", text).casefold().split())


def recall(read, printed):
    a, b = (Counter(unicodedata.normalize("NFC", t).split()) for t in (read, printed))
    return (a & b).total() / max(1, b.total())


RIGHT = {
    "overlap": iou,
    "map_boxes": boxes,
    "merge_words": merged,
    "reading_order": in_order,
    "bag_of_words": f1,
    "unclipped_height": lambda: "24.5 pixels",
    "unclipped_height to three places": lambda: "24.545 pixel",
}

WRONG = {
    "overlap of boxes apart": (signed, "where that is negative"),
    "overlap counted twice": (over_the_sum, "counts once"),
    "overlap as a pair": (lambda a, b: (iou(a, b),), "one number"),
    "map_boxes joined by a corner": (lambda *a: boxes(*a, corners=True), "share a side"),
    "map_boxes a pixel too small": (lambda *a: boxes(*a, edge=0), "c to c + 1"),
    "map_boxes mean of the region": (lambda *a: boxes(*a, in_box=False), "all of its pixels"),
    "map_boxes area of the region": (lambda *a: boxes(*a, full=False), "both of the rectangle"),
    "map_boxes without unclip": (lambda *a: boxes(*a, grow=False), "area times unclip"),
    "merge_words by the higher": (lambda w, g: merged(w, g, lower=max), "lower of the two"),
    "merge_words by the line's first word": (lambda w, g: merged(w, g, keep="first"), "two neighbours"),
    "merge_words by the line's lowest word": (lambda w, g: merged(w, g, keep="least"), "two neighbours"),
    "merge_words as given": (lambda w, g: merged(w, g, order=list), "left to right"),
    "merge_words from the first": (from_the_first, "end of the last word"),
    "reading_order without the angle": (lambda w, d: in_order(w, 0), "turn the page back"),
    "reading_order turned the wrong way": (lambda w, d: in_order(w, d, sign=1), "minus that angle"),
    "reading_order from top to bottom alone": (lambda w, d: in_order(w, d, rows=False), "in one row"),
    "bag_of_words as sets": (lambda r, p: f1(r, p, key=sets), "as often as"),
    "bag_of_words without a form": (lambda r, p: f1(r, p, key=lambda t: Counter(t.split())), "NFC"),
    "bag_of_words without case": (lambda r, p: f1(r, p, key=folded), "keep case"),
    "bag_of_words recall alone": (recall, "words of both"),
    "unclipped_height one side": (lambda: "17.3 pixels", "both move"),
    "unclipped_height without the ratio": (lambda: "19.1 pixels", "ratio is left out"),
    "unclipped_height half a perimeter": (lambda: "39.1 pixels", "all four sides"),
    "unclipped_height distance": (lambda: "7.27 pixels", "height of the box"),
    "unclipped_height without unit": (lambda: "24.5", "without a unit"),
}

test_right, test_wrong = solution_tests("receipt_pages", RIGHT, WRONG)
