"""Tests of the assignment on OCR: the CTC loss, padding, the CER of a page, memory."""

import random
import unicodedata
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from coursepkg.checks import expect
from coursepkg.checks.assignments.measure import (
    Observed,
    gradients_close,
    personal,
    quantity,
    same_dtype,
    tensor_of,
    two,
    with_gradients,
)
from coursepkg.checks.assignments.task import Task
from coursepkg.metrics.edit import edit_distance

Case = tuple[Any, ...]
BLANK = 0
BANNED = (
    "ctc_loss",
    "_ctc_loss",
    "torch.nn.functional.ctc_loss",
    "coursepkg.projects.",
)
PADDING = 50.0
"""What stands in padding: large, so that it shows wherever it is read."""


def _ctc_case(
    batch: int, n_columns: int, n_letters: int, n_symbols: int, seed: int, dtype: str
) -> Case:
    """Lines of a padded batch: the first is full, the others are shorter.

    The second has a double letter in three columns, the third the same one in two, the
    fourth no letter.
    """
    generator = torch.Generator().manual_seed(seed)
    logits = 2 * torch.randn(batch, n_columns, n_symbols, generator=generator)
    targets = torch.randint(1, n_symbols, (batch, n_letters), generator=generator)
    letters = torch.randint(1, n_letters + 1, (batch,), generator=generator)
    columns = torch.randint(2 * n_letters, n_columns + 1, (batch,), generator=generator)
    letters[0], columns[0] = n_letters, n_columns
    for row, (width, count) in enumerate([(3, 2), (2, 2), (4, 0)], start=1):
        if row < batch:
            columns[row], letters[row] = width, count
            targets[row, 1] = targets[row, 0]
    logits[torch.arange(n_columns) >= columns[:, None]] = torch.full(
        (n_symbols,), -PADDING
    ).index_fill(0, torch.tensor([n_symbols - 1]), PADDING)
    return logits.to(getattr(torch, dtype)), targets, columns, letters


def _ctc_by_torch(
    logits: Tensor, targets: Tensor, n_columns: Tensor, n_letters: Tensor
) -> Tensor:
    return F.ctc_loss(
        logits.double().log_softmax(-1).transpose(0, 1),
        targets,
        n_columns,
        n_letters,
        blank=BLANK,
        reduction="none",
        zero_infinity=True,
    )


def _columns_needed(letters: Sequence[int]) -> int:
    return len(letters) + sum(a == b for a, b in pairwise(letters))


def _judge_ctc(case: Case, answer: Any) -> None:
    logits, targets, n_columns, n_letters = case
    observed = Observed(*answer)
    losses, gradients = observed.result
    observed.must_not_call(BANNED, "write the recursion yourself")
    tensor_of(losses, (len(logits),), what="the tensor of losses")
    same_dtype(logits, losses)
    right, exact = with_gradients(_ctc_by_torch, *case)
    whole = torch.full_like(n_columns, logits.shape[1])
    every = torch.full_like(n_letters, targets.shape[1])
    for columns, letters in ((whole, n_letters), (n_columns, every)):
        wrong = _ctc_by_torch(logits, targets, columns, letters)
        if not torch.allclose(wrong, right):
            assert not torch.allclose(losses.double(), wrong, rtol=1e-3), (
                "columns and letters behind the counts of a line are padding; they have"
                " no part in its loss"
            )
    for row, loss in enumerate(losses.tolist()):
        text = targets[row, : n_letters[row]].tolist()
        width, needed = int(n_columns[row]), _columns_needed(text)
        what = f"the loss of line {row}, {text} in {width} columns,"
        if needed > width:
            assert loss == 0, (
                f"{what} is {loss:g}; the text does not fit, so it is 0 and adds"
                " nothing to the gradient"
            )
            continue
        hint = "the sum is over every path, and a path ends in one of two places"
        if needed > len(text):
            hint = "equal neighbours have a blank between them"
        if not text:
            hint = "the only path of the empty text is all blanks"
        assert torch.isfinite(losses[row]), (
            f"{what} is {loss:g}; it is finite, and stays so with logarithms"
        )
        expect.close(losses[row], float(right[row]), what=what, hint=hint)
    gradients_close(gradients, exact, ("logits", "targets", "n_columns", "n_letters"))


ctc_losses = Task(
    "ctc_losses",
    make=_ctc_case,
    judge=_judge_ctc,
    public=[
        (1, 4, 2, 3, 0, "float64"),
        (5, 9, 3, 4, 1, "float64"),
        (4, 7, 2, 5, 2, "float32"),
        (2, 60, 4, 12, 3, "float32"),
    ],
    run="observe",
)


def _columns_case(
    widths: Sequence[int], padded: int, kernels: Sequence[int], seed: int, dtype: str
) -> Case:
    """Pictures with large numbers in their padding, and two convolutions."""
    generator = torch.Generator().manual_seed(seed)
    height, channels = 4 + seed % 3, (3, 2 + seed % 2)
    shapes: list[tuple[int, ...]] = [(len(widths), height, padded)]
    for before, after, kernel in zip((1, channels[0]), channels, kernels, strict=True):
        shapes += [(after, before, kernel, kernel), (after,)]
    pixels, *layers = (
        torch.randn(shape, generator=generator, dtype=getattr(torch, dtype))
        for shape in shapes
    )
    counts = torch.tensor(widths)
    pixels[(torch.arange(padded) >= counts[:, None])[:, None].expand_as(pixels)] = 50.0
    layers[1] = layers[1].abs() + 0.5
    return pixels, counts, *layers, (2, 1 + seed % 2)


def _columns_alone(
    pixels: Tensor, widths: Tensor, w1: Tensor, b1: Tensor, *rest: Any
) -> tuple[Tensor, Tensor]:
    """Each line on its own, cut to its width."""
    w2, b2, strides = rest
    lines = []
    for line, width in zip(pixels, widths.tolist(), strict=True):
        x = line[None, None, :, :width]
        for weight, bias, stride in ((w1, b1, strides[0]), (w2, b2, strides[1])):
            side = weight.shape[-1] // 2
            x = F.conv2d(x, weight, bias, stride=stride, padding=side).relu()
        columns = x[0].mean(dim=1).T
        lines.append(columns - columns.mean(dim=0))
    counts = [len(one) for one in lines]
    longest = pixels.shape[2]
    for stride in strides:
        longest = -(-longest // stride)
    padded = [F.pad(one, (0, 0, 0, longest - len(one))) for one in lines]
    return torch.stack(padded), torch.tensor(counts)


def _judge_columns(case: Case, answer: Any) -> None:
    pixels, widths = case[:2]
    result, gradients = answer
    columns, counts = two(result, "the columns and how many of each line are real")
    (right, right_counts), exact = with_gradients(_columns_alone, *case)
    tensor_of(columns, right.shape, what="the tensor of columns")
    same_dtype(pixels, columns)
    tensor_of(counts, widths.shape, what="the tensor of counts")
    expect.equal(
        counts.tolist(),
        right_counts.tolist(),
        what=f"the columns of lines of {widths.tolist()} pixels, strides {case[-1]},",
        hint="a stride rounds up: the last pixels have a column, too",
    )
    for row, (count, width) in enumerate(
        zip(right_counts.tolist(), widths.tolist(), strict=True)
    ):
        expect.close(
            columns[row, count:],
            right[row, count:],
            what=f"line {row}: a column behind its end",
            hint="it is zero",
        )
        own = columns[row, :count]
        sums = own.detach().double().mean(dim=0)
        expect.close(
            sums,
            torch.zeros_like(sums),
            what=f"line {row}: the mean of its own columns",
            hint="subtract the mean of the real columns alone",
        )
        expect.close(
            own,
            right[row, :count],
            what=f"line {row}, {width} pixels wide: a column",
            hint=(
                "alone, without padding, the line gives the other number: what stands"
                " behind its end is zero before every convolution"
            ),
        )
    names = ("pixels", "widths", "w1", "b1", "w2", "b2", "strides")
    gradients_close(gradients, exact, names)


line_columns = Task(
    "line_columns",
    make=_columns_case,
    judge=_judge_columns,
    public=[
        ([9], 9, (3, 3), 0, "float64"),
        ([12, 7, 5], 12, (3, 3), 1, "float64"),
        ([11, 1, 6], 16, (3, 5), 2, "float32"),
    ],
    run="gradients",
)

GOODS = (
    *("Cà phê sữa đá", "Bánh mì thịt", "Phở bò tái", "Trà đào", "Nước suối"),
    *("Tổng cộng", "Tiền mặt", "Thối lại", "Giảm giá", "Ngày bán"),
)
"""What the lines of the task on pages say, with a price behind."""


def _page_case(n_lines: int, n_lost: int, n_added: int, seed: int) -> Case:
    """Lines of a receipt, and how they were read: elsewhere, wrong, lost, invented.

    Two lines that begin alike were cut short, so that the nearest pair is no part of
    the best pairing. Some texts came in Unicode's decomposed form.
    """
    draw = random.Random(seed)
    whole = draw.choice(["Tổng tiền thanh toán", "Thuế giá trị gia tăng"])
    price = [f"{draw.randint(1, 99)}.{draw.randint(0, 9)}00" for _ in range(n_lines)]
    goods = draw.sample(GOODS, n_lines)
    lines = [f"{name} {cost}" for name, cost in zip(goods, price, strict=True)]
    read = [_misread(line, draw) for line in lines[n_lost:]]
    read += [draw.choice("|.-~") * draw.randint(2, 9) for _ in range(n_added)]
    lines += [whole[:6], whole[:12]]
    read += [whole[:8], whole[:2]]
    draw.shuffle(lines)
    draw.shuffle(read)
    return tuple(
        [unicodedata.normalize(draw.choice(["NFC", "NFD"]), line) for line in side]
        for side in (read, lines)
    )


def _misread(line: str, draw: random.Random) -> str:
    at = draw.randrange(len(line))
    return line[:at] + draw.choice(["", "?", line[at], line[at] * 2]) + line[at + 1 :]


def _composed(lines: Sequence[str]) -> list[str]:
    return [unicodedata.normalize("NFC", line) for line in lines]


def _least_edits(read: Sequence[str], printed: Sequence[str]) -> int:
    """Of the best pairing, by the printed lines so far and the set of lines used."""

    @cache
    def least(done: int, used: int) -> int:
        if done == len(printed):
            rest = [one for i, one in enumerate(read) if not used >> i & 1]
            return sum(len(one) for one in rest)
        own = printed[done]
        found = len(own) + least(done + 1, used)
        for i, one in enumerate(read):
            if not used >> i & 1:
                cost = edit_distance(one, own) + least(done + 1, used | 1 << i)
                found = min(found, cost)
        return found

    return least(0, 0)


def _judge_page(case: Case, answer: Any) -> None:
    read, printed = _composed(case[0]), _composed(case[1])
    expect.attempted(answer)
    assert isinstance(answer, float), (
        f"the result is a {type(answer).__name__}; a float is expected"
    )
    edits, length = _least_edits(read, printed), sum(map(len, printed))
    right = edits / length
    row = [*read, *[""] * len(printed)][: max(len(read), len(printed))]
    by_row = sum(map(edit_distance, row, [*printed, *[""] * len(row)][: len(row)]))
    for wrong, hint in [
        (by_row / length, "lines are paired as fits best in all, not where they stand"),
        (min(1.0, right), "a rate may be above 1"),
        (_least_edits(*case) / sum(map(len, case[1])), "compose both sides (NFC)"),
        (edits / max(1, sum(map(len, read))), "divide by the printed characters"),
        (edits / len(printed), "divide by characters, not by lines"),
        (1 - right, "this is a share of right characters; return the errors"),
    ]:
        if abs(wrong - right) > 1e-9:
            assert abs(answer - wrong) > 1e-9, f"{answer:.4f} is wrong: {hint}"
    expect.close(
        answer,
        right,
        what=f"the CER of a page of {len(printed)} lines, {len(read)} read,",
        tolerance=1e-9,
        hint=(
            "the pairing with the fewest edits in all; a line without a partner costs"
            " its characters, on either side"
        ),
    )


page_cer = Task(
    "page_cer",
    make=_page_case,
    judge=_judge_page,
    public=[(1, 0, 0, 0), (2, 1, 0, 1), (3, 0, 1, 2), (2, 2, 2, 3), (0, 0, 5, 4)],
)


def batch_of(student: Any) -> dict[str, int]:
    """The student's own batch of lines, and the first stage that it goes through."""
    draw = personal(student, "feature map memory")
    return {
        "n_lines": draw.choice([32, 48, 64]),
        "height": draw.choice([32, 40, 48]),
        "widest": draw.choice([297, 410, 455]),
        "channels": draw.choice([16, 24, 40]),
        "bytes_each": draw.choice([2, 4]),
    }


WIDTH_STEP = 64
"""Pixels; widths of batches are multiples of it."""


def _judge_map(case: Case, answer: Any) -> None:
    sizes = batch_of(case[0])
    padded = -(-sizes["widest"] // WIDTH_STEP) * WIDTH_STEP
    count = sizes["n_lines"] * sizes["channels"] * (sizes["height"] // 2) * padded // 2
    right = count * sizes["bytes_each"] / 2**20
    mistakes = [
        (
            right * sizes["widest"] / padded,
            "the batch has the width that it is padded to",
        ),
        (2 * right, "the stride halves the height and the width"),
        (4 * right, "the stride halves the height and the width"),
        (right / sizes["channels"], "each place has a number for every channel"),
        (right / sizes["n_lines"], "every line of the batch has a feature map"),
        (right / sizes["bytes_each"], "a number has more than one byte"),
    ]
    quantity(
        answer,
        right,
        "MiB",
        hint="lines, channels, rows, columns, bytes",
        mistakes=mistakes,
    )


map_memory = Task(
    "map_memory",
    make=lambda student: (student,),
    judge=_judge_map,
    arguments=lambda case: (),
)
