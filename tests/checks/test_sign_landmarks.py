"""The checks of the chapter on landmarks accept what is right and say what is wrong."""

import math

import numpy as np

from tests.checks.solutions import solution_tests


def cut(points, x, y, side, angle):
    cos, sin = np.cos(angle), np.sin(angle)
    return (points - np.array([x, y])) @ np.array([[cos, -sin], [sin, cos]]) / side + 0.5


def probabilities(distances, none):
    scores = -np.array([*distances, none])
    powers = np.exp(scores - scores.max())
    return (powers / powers.sum()).tolist()


def two_rows(distances):
    above = [0.0] + [float("inf")] * len(distances[0])
    for row in distances:
        filled = [float("inf")]
        for j, distance in enumerate(row):
            filled.append(distance + min(above[j], above[j + 1], filled[j]))
        above = filled
    return above[-1]


def whole_table(distances):
    costs = np.full((len(distances) + 1, len(distances[0]) + 1), np.inf)
    costs[0, 0] = 0
    for i, row in enumerate(distances):
        for j, distance in enumerate(row):
            costs[i + 1, j + 1] = distance + min(costs[i, j], costs[i, j + 1], costs[i + 1, j])
    return costs[-1, -1]


def in_place(distances):
    distances[0] = np.cumsum(distances[0])
    return two_rows(distances)


def straight(distances):
    return sum(float(row[min(i, len(row) - 1)]) for i, row in enumerate(distances))


STAYS = ("moved", "larger", "slower", "longer hands")


def mirrored(hands, wrists, sides=-1):
    flipped = np.array([-1.0, 1.0, 1.0])
    return hands[:, ::sides] * flipped, wrists[:, ::sides] * flipped[:2]


RIGHT = {
    "last_row": lambda: [3, 1, 2, 1],
    "last_row as floats": lambda: (3.0, 1.0, 2.0, 1.0),
    "to_cut": cut,
    "none_of_these": probabilities,
    "unchanged": lambda: list(STAYS),
    "unchanged in another order": lambda: set(STAYS),
    "two_rows": two_rows,
    "two_rows with the whole table": whole_table,
    "mirrored": mirrored,
}

WRONG = {
    "last_row of the distances": (lambda: [1, 0, 1, 0], "column 1 of the last row"),
    "last_row with the path alone": (lambda: [3, 1, 2], "has 4"),
    "to_cut turned the wrong way": (
        lambda points, x, y, side, angle: cut(points, x, y, side, -angle),
        "angle 0.6",
    ),
    "to_cut from the middle": (
        lambda points, x, y, side, angle: cut(points, x, y, side, angle) - 0.5,
        "need",
    ),
    "none_of_these without none": (lambda d, none: probabilities(d[1:], d[0]), "the last for none"),
    "none_of_these with none first": (lambda d, none: probabilities(d, none)[::-1], "none at 1.5"),
    "none_of_these that overflows": (
        lambda d, none: [math.exp(-x) / sum(math.exp(-y) for y in [*d, none]) for x in [*d, none]],
        "ZeroDivisionError",
    ),
    "unchanged without time": (
        lambda: ["moved", "larger", "longer hands"],
        "'slower': the normalised steps stay",
    ),
    "unchanged with the mirror": (
        lambda: [*STAYS, "mirrored"],
        "'mirrored': the normalised steps do not stay",
    ),
    "unchanged with an unknown change": (lambda: ["smaller"], "is no change"),
    "two_rows along the diagonal": (straight, "a table of"),
    "two_rows in place": (in_place, "changed in place"),
    "mirrored without exchange": (lambda h, w: mirrored(h, w, sides=1), "change places"),
    "mirrored without flip": (lambda h, w: (h[:, ::-1], w[:, ::-1]), "x has kept its sign"),
    "mirrored wrists forgotten": (
        lambda h, w: (mirrored(h, w)[0], mirrored(h, w, sides=1)[1]),
        "the wrists are flipped, but not exchanged",
    ),
    "mirrored upside down": (lambda h, w: (-h[:, ::-1], -w[:, ::-1]), "not those of the mirror"),
    "mirrored in place": (lambda h, w: (np.multiply(h, -1, out=h), w), "changed in place"),
}

test_right, test_wrong = solution_tests("sign_landmarks", RIGHT, WRONG)
