"""The checks of the chapter on the recogniser accept what is right and say what is wrong."""

from collections import Counter
from itertools import groupby, pairwise, product

import numpy as np
import torch

from tests.checks.solutions import solution_tests


def merged(path):
    return [symbol for symbol, _ in groupby(path) if symbol]


def dropped(path):
    return [symbol for symbol, _ in groupby(one for one in path if one)]


def repeats(text):
    return sum(a == b for a, b in pairwise(text))


def anywhere(text):
    return len(text) + len(text) - len(set(text))


def forward(probabilities, text, jumps_over_equal=False, ends=2, starts=2):
    extended = [0, *(one for symbol in text for one in (symbol, 0))]
    alpha = [row if i < starts else 0.0 for i, row in enumerate(probabilities[0][one] for one in extended)]
    for row in probabilities[1:]:
        before = alpha
        alpha = []
        for s, symbol in enumerate(extended):
            ways = before[s] + (before[s - 1] if s else 0.0)
            if s > 1 and symbol and (jumps_over_equal or symbol != extended[s - 2]):
                ways += before[s - 2]
            alpha.append(row[symbol] * ways)
    return sum(alpha[-ends:])


def of_tensor(probabilities, text):
    return torch.tensor(forward(probabilities, text), dtype=torch.float64)


def best(table, text):
    path = [max(range(len(row)), key=row.__getitem__) for row in table]
    found = 1.0
    for row, symbol in zip(table, path, strict=True):
        found *= row[symbol]
    return found if merged(path) == text else 0.0


def arithmetic(layers, width, floor=True):
    columns, step, field = width, 1, 1
    for kernel, stride, padding in layers:
        room = columns + 2 * padding - kernel
        columns = room // stride + 1 if floor else -(-room // stride) + 1
        field += (kernel - 1) * step
        step *= stride
    return columns, step, field


def added(layers, width):
    columns, _, field = arithmetic(layers, width)
    return columns, sum(stride for _, stride, _ in layers), field


def behind(layers, width):
    columns, step, _ = arithmetic(layers, width)
    field = so_far = 1
    for kernel, stride, _ in layers:
        so_far *= stride
        field += (kernel - 1) * so_far
    return columns, step, field


def unmerged(path):
    return [symbol for symbol in path if symbol]


def most_paths(n_columns, guess=4, read=merged):
    texts = Counter(tuple(read(path)) for path in product(range(3), repeat=n_columns))
    return guess, [texts[((1, 2) * n_columns)[:n]] for n in range(n_columns + 1)]


RIGHT = {
    "collapse": merged,
    "collapse as tuple": lambda path: tuple(merged(path)),
    "columns_needed": lambda text: len(text) + repeats(text),
    "text_probability": forward,
    "text_probability as tensor": of_tensor,
    "text_probability in float32": lambda table, text: forward(torch.tensor(table), text),
    "stack_shape": arithmetic,
    "paths_by_hand": lambda: "66 paths",
    "most_paths": most_paths,
    "most_paths near guess": lambda n: most_paths(n, guess=5),
    "most_paths a guess of NumPy's": lambda n: most_paths(n, guess=np.int64(4)),
}

WRONG = {
    "collapse blanks first": (dropped, "keeps both"),
    "collapse without merging": (lambda path: [one for one in path if one], "merge equal"),
    "collapse each symbol once": (lambda path: list(dict.fromkeys(merged(path))), "the text of"),
    "columns_needed without repeats": (len, "one for the blank"),
    "columns_needed a blank everywhere": (lambda text: max(0, 2 * len(text) - 1), "'phở'"),
    "columns_needed letters anywhere equal": (anywhere, "equal neighbours"),
    "text_probability jumps between equal letters": (
        lambda table, text: forward(table, text, jumps_over_equal=True),
        "different characters",
    ),
    "text_probability must end in a blank": (lambda table, text: forward(table, text, ends=1), "last two"),
    "text_probability must begin with a blank": (
        lambda table, text: forward(table, text, starts=1),
        "the probability",
    ),
    "text_probability of the best path": (best, "the probability of [1, 2] in 3 columns"),
    "stack_shape rounded up": (lambda *given: arithmetic(*given, floor=False), "floor"),
    "stack_shape strides added": (added, "strides multiply"),
    "stack_shape field with its own stride": (behind, "before it"),
    "stack_shape two numbers": (lambda *given: arithmetic(*given)[:2], "not three numbers"),
    "paths_by_hand without the repeat": (lambda: "286 paths", "equal neighbours"),
    "paths_by_hand with n below": (lambda: "792 paths", "2n = 10"),
    "paths_by_hand one column a letter": (lambda: "56 paths", "several columns"),
    "paths_by_hand without unit": (lambda: "66", "without a unit"),
    "most_paths long texts": (lambda n: most_paths(n, guess=8), "no room to move"),
    "most_paths without merging": (lambda n: most_paths(n, read=unmerged), "collapse each"),
    "most_paths counts alone": (lambda n: most_paths(n)[1], "return (guess, counts)"),
    "most_paths a guess in words": (lambda n: most_paths(n, guess="half"), "whole number"),
}

test_right, test_wrong = solution_tests("recogniser", RIGHT, WRONG)
