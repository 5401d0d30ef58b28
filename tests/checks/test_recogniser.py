"""The checks of the chapter on the recogniser accept what is right and say what is wrong."""

from itertools import groupby, pairwise

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


def distance(a, b):
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


def by_group(lines, rate):
    return {name: rate([one[1:] for one in lines if one[0] == name]) for name in {one[0] for one in lines}}


def corpus_rate(pairs):
    return sum(distance(*pair) for pair in pairs) / sum(len(right) for _, right in pairs)


def mean(pairs):
    return sum(distance(*pair) / len(pair[1]) for pair in pairs) / len(pairs)


def of_readings(pairs):
    return sum(distance(*pair) for pair in pairs) / max(1, sum(len(read) for read, _ in pairs))


def by_place(pairs):
    wrong = sum(a != b for pair in pairs for a, b in zip(*pair, strict=False))
    return wrong / sum(len(right) for _, right in pairs)


RIGHT = {
    "collapse": merged,
    "collapse as tuple": lambda path: tuple(merged(path)),
    "columns_needed": lambda text: len(text) + repeats(text),
    "text_probability": forward,
    "text_probability as tensor": of_tensor,
    "stack_shape": arithmetic,
    "grouped_cer": lambda lines: by_group(lines, corpus_rate),
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
    "grouped_cer mean of lines": (lambda lines: by_group(lines, mean), "divide once"),
    "grouped_cer by what was read": (lambda lines: by_group(lines, of_readings), "references"),
    "grouped_cer by place": (lambda lines: by_group(lines, by_place), "the CER of group"),
    "grouped_cer all together": (lambda lines: corpus_rate([one[1:] for one in lines]), "a dict is expected"),
}

test_right, test_wrong = solution_tests("recogniser", RIGHT, WRONG)
