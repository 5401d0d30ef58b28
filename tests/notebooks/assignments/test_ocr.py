"""The tasks of the assignment on OCR accept what is right and say what is wrong."""

import itertools
import unicodedata

import torch
import torch.nn.functional as F

from coursepkg.checks.assignments import ocr
from coursepkg.metrics import edit_distance
from tests.notebooks.assignments.sources import solution_tests

NEVER = -1e30
"""Stands for the logarithm of zero, and keeps gradients finite."""


def places_of(targets):
    places = torch.zeros(len(targets), 2 * targets.shape[1] + 1, dtype=torch.long)
    places[:, 1::2] = targets
    return places


def ctc_losses(
    logits,
    targets,
    n_columns,
    n_letters,
    *,
    blank_needed=True,
    ends=(0, 1),
    hold=True,
    never=NEVER,
    drop=True,
):
    """All lines at once, with a number for what cannot be."""
    log_p, places = logits.log_softmax(-1), places_of(targets)
    at = log_p.gather(2, places[:, None].expand(-1, logits.shape[1], -1))
    number = torch.arange(places.shape[1])
    may_jump = (places != 0) & (number >= 2)
    if blank_needed:
        may_jump &= places != places.roll(2, dims=1)
    alpha = at[:, 0].masked_fill(number >= 2, never)
    for t in range(1, logits.shape[1]):
        one, two = F.pad(alpha, (1, 0), value=never)[:, :-1], F.pad(alpha, (2, 0), value=never)[:, :-2]
        ways = torch.stack([alpha, one, two.masked_fill(~may_jump, never)])
        new = at[:, t] + ways.logsumexp(0)
        alpha = torch.where((t < n_columns)[:, None], new, alpha) if hold else new
    last = [alpha.gather(1, (2 * n_letters - back).clamp(min=0)[:, None])[:, 0] for back in ends]
    last = [one.masked_fill(2 * n_letters - back < 0, never) for one, back in zip(last, ends, strict=True)]
    loss = -torch.stack(last).logsumexp(0)
    return torch.where(loss < 1e20, loss, torch.zeros_like(loss)) if drop else loss


def ctc_line_by_line(logits, targets, n_columns, n_letters):
    """Places as lists, one line after the other."""
    losses = []
    for line, ids, width, count in zip(
        logits, targets.tolist(), n_columns.tolist(), n_letters.tolist(), strict=True
    ):
        places = [0]
        for letter in ids[:count]:
            places += [letter, 0]
        log_p = line[:width].log_softmax(-1)
        alpha = {i: log_p[0, z] for i, z in enumerate(places[:2])}
        for column in log_p[1:]:
            before, alpha = alpha, {}
            for i, z in enumerate(places):
                came = [i, i - 1] + ([i - 2] if z and i > 1 and z != places[i - 2] else [])
                ways = [before[j] for j in came if j in before]
                if ways:
                    alpha[i] = column[z] + torch.stack(ways).logsumexp(0)
        ends = [alpha[i] for i in (len(places) - 1, len(places) - 2) if i in alpha]
        losses.append(-torch.stack(ends).logsumexp(0) if ends else 0 * line.sum())
    return torch.stack(losses)


def ctc_in_probabilities(logits, targets, n_columns, n_letters):
    """The chapter's recursion as it stands; it underflows in a long line."""
    losses = []
    for line, ids, width, count in zip(
        logits, targets.tolist(), n_columns.tolist(), n_letters.tolist(), strict=True
    ):
        places = [0]
        for letter in ids[:count]:
            places += [letter, 0]
        p = line[:width].softmax(-1)
        alpha = [p[0, z] if i < 2 else p.new_zeros(()) for i, z in enumerate(places)]
        for column in p[1:]:
            before, alpha = alpha, []
            for i, z in enumerate(places):
                ways = before[i] + (before[i - 1] if i else 0)
                if i > 1 and z and z != places[i - 2]:
                    ways = ways + before[i - 2]
                alpha.append(column[z] * ways)
        total = sum(alpha[-2:])
        losses.append(-total.log() if total > 0 or width > 20 else 0 * total)
    return torch.stack(losses)


def ctc_of_best_path(logits, targets, n_columns, n_letters):
    return -(logits.log_softmax(-1).amax(-1) * (torch.arange(logits.shape[1]) < n_columns[:, None])).sum(1)


def ctc_of_torch(logits, targets, n_columns, n_letters):
    log_p = logits.log_softmax(-1).transpose(0, 1)
    return F.ctc_loss(log_p, targets, n_columns, n_letters, reduction="none", zero_infinity=True)


def line_columns(
    pixels, widths, w1, b1, w2, b2, strides, *, first=True, between=True, up=True, own=True, zero=True
):
    """Padding is set to zero before every convolution, unless told otherwise."""

    def real(x, counts):
        return (torch.arange(x.shape[3]) < counts[:, None])[:, None, None]

    x, counts = pixels[:, None], widths
    for number, (weight, bias, stride) in enumerate([(w1, b1, strides[0]), (w2, b2, strides[1])]):
        if (first, between)[number]:
            x = x * real(x, counts)
        x = F.conv2d(x, weight, bias, stride=stride, padding=weight.shape[-1] // 2).relu()
        counts = -(-counts // stride) if up else (counts // stride).clamp(min=1)
    is_real = real(x, counts)[:, 0, 0][..., None]
    columns = x.mean(2).transpose(1, 2)
    total = (columns * is_real).sum(1, keepdim=True)
    mean = total / counts[:, None, None] if own else columns.mean(1, keepdim=True)
    return (columns - mean) * (is_real if zero else 1), counts


def columns_alone(pixels, widths, w1, b1, w2, b2, strides):
    """Every line through the network on its own."""
    lines, counts = [], []
    for line, width in zip(pixels, widths.tolist(), strict=True):
        x = line[None, None, :, :width]
        for weight, bias, stride in ((w1, b1, strides[0]), (w2, b2, strides[1])):
            x = F.relu(F.conv2d(x, weight, bias, stride, weight.shape[-1] // 2))
        column = x[0].mean(1).T
        counts.append(len(column))
        lines.append(column - column.mean(0))
    longest = pixels.shape[2]
    for stride in strides:
        longest = (longest + stride - 1) // stride
    return torch.stack([F.pad(one, (0, 0, 0, longest - len(one))) for one in lines]), torch.tensor(counts)


def columns_with(**options):
    return lambda *case: line_columns(*case, **options)


def columns_detached(pixels, *rest):
    return line_columns(pixels.detach(), *rest)


def columns_cut(*case):
    columns, counts = line_columns(*case)
    return columns[:, : int(counts.max())], counts


def compose(lines):
    return [unicodedata.normalize("NFC", line) for line in lines]


def page_cer(read, printed, *, form=compose, most=None):
    """The least edits for every set of read lines that the printed lines so far have used."""
    read, printed = form(read), form(printed)
    costs = {frozenset(): 0}
    for line in printed:
        grown = {}
        for used, cost in costs.items():
            for i in [None, *(set(range(len(read))) - used)]:
                more = len(line) if i is None else edit_distance(read[i], line)
                key = used if i is None else used | {i}
                grown[key] = min(grown.get(key, 10**9), cost + more)
        costs = grown
    edits = min(
        cost + sum(len(one) for i, one in enumerate(read) if i not in used) for used, cost in costs.items()
    )
    rate = edits / sum(map(len, printed))
    return rate if most is None else min(most, rate)


def page_by_permutations(read, printed):
    read, printed = compose(read), compose(printed)
    n = max(len(read), len(printed))
    read, printed = read + [""] * (n - len(read)), printed + [""] * (n - len(printed))
    costs = [[edit_distance(a, b) for b in printed] for a in read]
    orders = itertools.permutations(range(n))
    best = min(sum(costs[i][j] for i, j in enumerate(order)) for order in orders)
    return best / sum(map(len, printed))


def page_in_order(read, printed):
    pairs = itertools.zip_longest(compose(read), compose(printed), fillvalue="")
    return sum(edit_distance(a, b) for a, b in pairs) / sum(map(len, compose(printed)))


def page_greedily(read, printed):
    read, printed = compose(read), compose(printed)
    length, edits = sum(map(len, printed)), 0
    while read and printed:
        cost, i, j = min(
            (edit_distance(a, b), i, j) for i, a in enumerate(read) for j, b in enumerate(printed)
        )
        edits += cost
        del read[i], printed[j]
    return (edits + sum(map(len, [*read, *printed]))) / length


def page_nearest(read, printed):
    """Each printed line takes the nearest, also one that another has taken."""
    printed, read = compose(printed), compose(read)
    return sum(min(edit_distance(a, b) for a in read) for b in printed) / sum(map(len, printed))


def page_by_line(read, printed):
    return page_cer(read, printed) * sum(map(len, compose(printed))) / len(printed)


SIZES = ocr.batch_of("an-id")
PADDED = -(-SIZES["widest"] // 64) * 64
MIB = SIZES["n_lines"] * SIZES["channels"] * SIZES["height"] * PADDED * SIZES["bytes_each"] / 4 / 2**20

RIGHT = {
    "ctc_losses": ctc_losses,
    "ctc_losses line by line": ctc_line_by_line,
    "line_columns": line_columns,
    "line_columns alone": columns_alone,
    "page_cer": page_cer,
    "page_cer by permutations": page_by_permutations,
    "map_memory": lambda: f"{MIB} MiB",
    "map_memory in KiB": lambda: f"{MIB * 1024} KiB",
}
WRONG = {
    "ctc_losses of torch": (ctc_of_torch, "ctc_loss was called"),
    "ctc_losses without blanks": (
        lambda *case: ctc_losses(*case, blank_needed=False),
        "equal neighbours have a blank between them",
    ),
    "ctc_losses to the last blank": (lambda *case: ctc_losses(*case, ends=(0,)), "is expected"),
    "ctc_losses to the last letter": (lambda *case: ctc_losses(*case, ends=(1,)), "the loss of line"),
    "ctc_losses through padding": (lambda *case: ctc_losses(*case, hold=False), "are padding"),
    "ctc_losses of all letters": (
        lambda logits, targets, columns, letters: ctc_losses(
            logits, targets, columns, torch.full_like(letters, targets.shape[1])
        ),
        "are padding",
    ),
    "ctc_losses that do not fit": (lambda *case: ctc_losses(*case, drop=False), "the text does not fit"),
    "ctc_losses with NaN": (
        lambda *case: ctc_losses(*case, never=-torch.inf),
        "the gradient of logits is NaN",
    ),
    "ctc_losses in probabilities": (ctc_in_probabilities, "stays so with logarithms"),
    "ctc_losses by letter": (
        lambda logits, targets, columns, letters: (
            ctc_losses(logits, targets, columns, letters) / letters.clamp(min=1)
        ),
        "is expected",
    ),
    "ctc_losses averaged": (lambda *case: ctc_losses(*case).mean(), "a tensor of shape"),
    "ctc_losses of the best path": (ctc_of_best_path, "the loss of line"),
    "ctc_losses detached": (
        lambda *case: ctc_losses(case[0].detach(), *case[1:]),
        "no gradient reaches logits",
    ),
    "ctc_losses in float32": (
        lambda logits, *rest: ctc_losses(logits.float(), *rest),
        "torch.float64 is expected",
    ),
    "line_columns over padding": (columns_with(first=False), "zero before every convolution"),
    "line_columns with bias": (columns_with(between=False), "zero before every convolution"),
    "line_columns rounded down": (columns_with(up=False), "a stride rounds up"),
    "line_columns mean": (columns_with(own=False), "the mean of the real columns alone"),
    "line_columns not zero": (columns_with(zero=False), "a column behind its end"),
    "line_columns detached": (columns_detached, "no gradient reaches pixels"),
    "line_columns cut": (columns_cut, "the tensor of columns is"),
    "line_columns pixels": (
        lambda *case: (line_columns(*case)[0], case[1]),
        "a stride rounds up",
    ),
    "line_columns alone": (lambda *case: line_columns(*case)[0], "two results are expected"),
    "page_cer in order": (page_in_order, "not where they stand"),
    "page_cer greedily": (page_greedily, "as fits best in all"),
    "page_cer nearest": (page_nearest, "is expected"),
    "page_cer at most 1": (lambda a, b: page_cer(a, b, most=1.0), "may be above 1"),
    "page_cer as it came": (lambda a, b: page_cer(a, b, form=list), "compose both sides"),
    "page_cer of one side": (lambda a, b: page_cer(compose(a), b, form=list), "is expected"),
    "page_cer by lines": (page_by_line, "divide by characters"),
    "page_cer of what was read": (
        lambda a, b: page_cer(a, b) * sum(map(len, compose(b))) / max(1, sum(map(len, compose(a)))),
        "divide by the printed characters",
    ),
    "page_cer right": (lambda a, b: 1 - page_cer(a, b), "return the errors"),
    "page_cer text": (lambda a, b: "0.5", "a float is expected"),
    "map_memory unpadded": (lambda: f"{MIB * SIZES['widest'] / PADDED} MiB", "that it is padded to"),
    "map_memory rows alone": (lambda: f"{2 * MIB} MiB", "halves the height and the width"),
    "map_memory of pixels": (lambda: f"{4 * MIB} MiB", "halves the height and the width"),
    "map_memory channel": (lambda: f"{MIB / SIZES['channels']} MiB", "a number for every channel"),
    "map_memory line": (lambda: f"{MIB / SIZES['n_lines']} MiB", "every line of the batch"),
    "map_memory elements": (lambda: f"{MIB / SIZES['bytes_each']} MiB", "more than one byte"),
    "map_memory MB": (lambda: f"{MIB} MB", "would be right in MiB"),
    "map_memory bare": (lambda: f"{MIB}", "has no unit"),
}

test_right, test_wrong = solution_tests("ocr", ocr, RIGHT, WRONG)
