"""The checks of the chapter on the recogniser accept what is right and say what is wrong."""

from itertools import groupby, pairwise

import torch


def merged(path):
    return [symbol for symbol, _ in groupby(path) if symbol]


def test_collapse_right(assert_accepts):
    assert_accepts("recogniser.collapse", merged)


def test_collapse_as_tuple(assert_accepts):
    assert_accepts("recogniser.collapse", lambda path: tuple(merged(path)))


def test_collapse_blanks_first(assert_rejects):
    def dropped(path):
        return [symbol for symbol, _ in groupby(one for one in path if one)]

    assert_rejects("recogniser.collapse", dropped, "keeps both")


def test_collapse_without_merging(assert_rejects):
    assert_rejects("recogniser.collapse", lambda path: [one for one in path if one], "merge equal")


def test_collapse_each_symbol_once(assert_rejects):
    assert_rejects("recogniser.collapse", lambda path: list(dict.fromkeys(merged(path))), "the text of")


def repeats(text):
    return sum(a == b for a, b in pairwise(text))


def test_columns_needed_right(assert_accepts):
    assert_accepts("recogniser.columns_needed", lambda text: len(text) + repeats(text))


def test_columns_needed_without_repeats(assert_rejects):
    assert_rejects("recogniser.columns_needed", len, "one for the blank")


def test_columns_needed_a_blank_everywhere(assert_rejects):
    assert_rejects("recogniser.columns_needed", lambda text: max(0, 2 * len(text) - 1), "'phở'")


def test_columns_needed_letters_anywhere_equal(assert_rejects):
    def anywhere(text):
        return len(text) + len(text) - len(set(text))

    assert_rejects("recogniser.columns_needed", anywhere, "equal neighbours")


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


def test_text_probability_right(assert_accepts):
    assert_accepts("recogniser.text_probability", forward)


def test_text_probability_as_tensor(assert_accepts):
    def of_tensor(probabilities, text):
        return torch.tensor(forward(probabilities, text), dtype=torch.float64)

    assert_accepts("recogniser.text_probability", of_tensor)


def test_text_probability_jumps_between_equal_letters(assert_rejects):
    assert_rejects(
        "recogniser.text_probability",
        lambda table, text: forward(table, text, jumps_over_equal=True),
        "different characters",
    )


def test_text_probability_must_end_in_a_blank(assert_rejects):
    assert_rejects(
        "recogniser.text_probability", lambda table, text: forward(table, text, ends=1), "last two"
    )


def test_text_probability_must_begin_with_a_blank(assert_rejects):
    assert_rejects(
        "recogniser.text_probability", lambda table, text: forward(table, text, starts=1), "the probability"
    )


def test_text_probability_of_the_best_path(assert_rejects):
    def best(table, text):
        path = [max(range(len(row)), key=row.__getitem__) for row in table]
        found = 1.0
        for row, symbol in zip(table, path, strict=True):
            found *= row[symbol]
        return found if merged(path) == text else 0.0

    assert_rejects("recogniser.text_probability", best, "the probability of [1, 2] in 3 columns")


def arithmetic(layers, width, floor=True):
    columns, step, field = width, 1, 1
    for kernel, stride, padding in layers:
        room = columns + 2 * padding - kernel
        columns = room // stride + 1 if floor else -(-room // stride) + 1
        field += (kernel - 1) * step
        step *= stride
    return columns, step, field


def test_stack_shape_right(assert_accepts):
    assert_accepts("recogniser.stack_shape", arithmetic)


def test_stack_shape_rounded_up(assert_rejects):
    assert_rejects("recogniser.stack_shape", lambda *given: arithmetic(*given, floor=False), "floor")


def test_stack_shape_strides_added(assert_rejects):
    def added(layers, width):
        columns, _, field = arithmetic(layers, width)
        return columns, sum(stride for _, stride, _ in layers), field

    assert_rejects("recogniser.stack_shape", added, "strides multiply")


def test_stack_shape_field_with_its_own_stride(assert_rejects):
    def behind(layers, width):
        columns, step, _ = arithmetic(layers, width)
        field = so_far = 1
        for kernel, stride, _ in layers:
            so_far *= stride
            field += (kernel - 1) * so_far
        return columns, step, field

    assert_rejects("recogniser.stack_shape", behind, "before it")


def test_stack_shape_two_numbers(assert_rejects):
    assert_rejects("recogniser.stack_shape", lambda *given: arithmetic(*given)[:2], "not three numbers")


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


def test_grouped_cer_right(assert_accepts):
    assert_accepts("recogniser.grouped_cer", lambda lines: by_group(lines, corpus_rate))


def test_grouped_cer_mean_of_lines(assert_rejects):
    def mean(pairs):
        return sum(distance(*pair) / len(pair[1]) for pair in pairs) / len(pairs)

    assert_rejects("recogniser.grouped_cer", lambda lines: by_group(lines, mean), "divide once")


def test_grouped_cer_by_what_was_read(assert_rejects):
    def of_readings(pairs):
        return sum(distance(*pair) for pair in pairs) / max(1, sum(len(read) for read, _ in pairs))

    assert_rejects("recogniser.grouped_cer", lambda lines: by_group(lines, of_readings), "references")


def test_grouped_cer_by_place(assert_rejects):
    def by_place(pairs):
        wrong = sum(a != b for pair in pairs for a, b in zip(*pair, strict=False))
        return wrong / sum(len(right) for _, right in pairs)

    assert_rejects("recogniser.grouped_cer", lambda lines: by_group(lines, by_place), "the CER of group")


def test_grouped_cer_all_together(assert_rejects):
    assert_rejects(
        "recogniser.grouped_cer", lambda lines: corpus_rate([one[1:] for one in lines]), "a dict is expected"
    )
