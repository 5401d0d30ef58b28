"""Tests of the capstone on OCR: a split of photographs, a gain, a contest's file."""

import csv
import io
import json
import random
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import PurePath
from typing import Any, Literal

from coursepkg.checks import expect
from coursepkg.checks.assignments.measure import same_numbers
from coursepkg.checks.assignments.task import Task
from coursepkg.metrics.edit import edit_distance

Case = tuple[Any, ...]
Photo = tuple[str, str, int, int]
"""Name, seller, fingerprint and number of labelled lines."""
FAULTS = ("no line", "copy", "no seller")
N_BITS = 64
"""Of a fingerprint."""
Form = Literal["NFC", "NFD"]
FORMS: Sequence[Form] = ("NFC", "NFD")


def _flipped(fingerprint: int, places: Iterable[int]) -> int:
    for place in places:
        fingerprint ^= 1 << place
    return fingerprint


def _spelt(seller: str, draw: random.Random) -> str:
    """The seller as another receipt or another person writes it."""
    seller = draw.choice([seller.upper(), seller.title(), seller])
    seller = draw.choice([" ", "  "]).join(seller.split(" "))
    return unicodedata.normalize(draw.choice(FORMS), seller)


def _photos_case(n_shops: int, share: float, bits: int, seed: int) -> Case:
    """Receipts of shops, some photographed again and again without the seller.

    One photograph without a labelled line would join two shops, and one is just too
    far from another to be a copy.
    """
    draw = random.Random(seed)
    prints = [draw.getrandbits(N_BITS) for _ in range(4 * n_shops)]
    found: list[tuple[str, int, int]] = []
    for shop in range(n_shops):
        name = f"quán phở số {shop}"
        for _ in range(draw.choice([1, 1, 2, 3]) if shop else 2):
            found.append((_spelt(name, draw), prints.pop(), draw.randint(3, 20)))
        if draw.random() < 0.3 or not shop:
            places = draw.sample(range(N_BITS), 2 * bits)
            once = _flipped(found[-1][1], places[:bits])
            found.append((draw.choice(["", "  "]), once, draw.randint(3, 20)))
            found.append(("", _flipped(once, places[bits:]), draw.randint(3, 20)))
    near = _flipped(found[0][1], draw.sample(range(N_BITS), bits + 1))
    found.append(("quán lạ", near, draw.randint(3, 20)))
    found.append((_spelt("quán phở số 1", draw), found[0][1], 0))
    found.append(("", prints.pop(), draw.randint(3, 20)))
    draw.shuffle(found)
    photos = [(f"{i:03}.jpg", *one) for i, one in enumerate(found)]
    order = [photo[0] for photo in photos]
    draw.shuffle(order)
    return photos, share, bits, order


def _shop(photo: Photo) -> str:
    return " ".join(unicodedata.normalize("NFC", photo[1]).casefold().split())


def _link(one: Photo, other: Photo, bits: int) -> str:
    """Why two photographs belong together; empty where nothing says so."""
    if _shop(one) and _shop(one) == _shop(other):
        return f"have the seller {one[1]!r}"
    distance = (one[2] ^ other[2]).bit_count()
    return f"differ in {distance} bits" if distance <= bits else ""


def _groups(photos: Sequence[Photo], bits: int) -> dict[str, int]:
    group = {photo[0]: number for number, photo in enumerate(photos)}
    for one, other in combinations(photos, 2):
        old, new = group[other[0]], group[one[0]]
        if old != new and _link(one, other, bits):
            for name in group:
                if group[name] == old:
                    group[name] = new
    return group


def _faults(photos: Sequence[Photo], bits: int) -> dict[str, list[str]]:
    kept = [photo for photo in photos if photo[3]]
    copies = [
        photo[0]
        for i, photo in enumerate(kept)
        if any((photo[2] ^ other[2]).bit_count() <= bits for other in kept[:i])
    ]
    return {
        "no line": [photo[0] for photo in photos if not photo[3]],
        "copy": copies,
        "no seller": [photo[0] for photo in kept if not _shop(photo)],
    }


def _judge_split(case: Case, answer: Any) -> None:
    photos, _, bits, _ = case
    expect.attempted(answer)
    is_triple = isinstance(answer, tuple | list) and len(answer) == 3
    assert is_triple, (
        "three results are expected: the groups to learn from, those of the test, and"
        " the faults"
    )
    learn, test, faults = answer
    parts = {"learn": learn, "test": test}
    for part, groups in parts.items():
        is_nested = isinstance(groups, tuple | list) and all(
            isinstance(group, tuple | list) for group in groups
        )
        assert is_nested, f"the {part} part is no list of groups, each a list of names"
    where = {
        name: (part, number)
        for part, groups in parts.items()
        for number, group in enumerate(groups)
        for name in group
    }
    kept = [photo for photo in photos if photo[3]]
    expect.equal(
        sorted(name for groups in parts.values() for group in groups for name in group),
        sorted(photo[0] for photo in kept),
        what="the sorted list of all photographs in the groups",
        hint="each stands in one group, once; one without a line stands in none",
    )
    right = _groups(kept, bits)
    for one, other in combinations(kept, 2):
        a, b = where[one[0]], where[other[0]]
        pair, why = f"{one[0]} and {other[0]}", _link(one, other, bits)
        assert not why or a[0] == b[0], (
            f"{pair} {why}, and one is in the test part alone"
        )
        assert not why or a == b, f"{pair} {why}, but stand in two groups"
        assert a != b or right[one[0]] == right[other[0]], (
            f"{pair} stand in one group, and no chain of photographs links them"
        )
    _judge_drawn(kept, right, {name for group in test for name in group}, case)
    for kind, names in _faults(photos, bits).items():
        has_kind = isinstance(faults, Mapping) and faults.get(kind) is not None
        assert has_kind, f"the faults have no {kind!r}; need " + ", ".join(FAULTS)
        expect.equal(
            faults[kind],
            names,
            what=f"the list of photographs under {kind!r}",
            hint="in the order of the photographs",
        )


def _drawn(kept: Sequence[Photo], group: Mapping[str, int], case: Case) -> set[str]:
    """The photographs of the test part."""
    _, share, _, order = case
    lines = {photo[0]: photo[3] for photo in kept}
    room, test = share * sum(lines.values()), set[str]()
    for number in dict.fromkeys(group[name] for name in order if name in group):
        names = [name for name in group if group[name] == number]
        size = sum(lines[name] for name in names)
        if size <= room:
            room -= size
            test.update(names)
    return test


def _judge_drawn(
    kept: Sequence[Photo], group: Mapping[str, int], test: set[str], case: Case
) -> None:
    _, share, _, order = case
    total = sum(photo[3] for photo in kept)
    size = sum(photo[3] for photo in kept if photo[0] in test)
    assert size <= share * total, (
        f"the test part has {size} of {total} lines; at most {share:.1%} are allowed"
    )
    right = _drawn(kept, group, case)
    for name in order:
        assert (name in test) == (name in right), (
            f"{name} belongs into the {'test' if name in right else 'learn'} part: take"
            " the groups as their first photographs stand in the order, each that fits"
        )


split_photos = Task(
    "split_photos",
    make=_photos_case,
    judge=_judge_split,
    public=[(10, 0.301, 6, 0), (14, 0.203, 4, 1), (18, 0.399, 0, 2)],
)

LINES = ("Cà phê sữa", "Bánh mì", "Tổng cộng", "Phở tái", "Trà đá", "Tiền thối", "VAT")


def _gain_case(n_receipts: int, n_draws: int, seed: int) -> Case:
    """Readings of two systems: receipts are hard or easy, and a few were not read.

    Readings and labels stand in either form of Unicode.
    """
    draw = random.Random(seed)
    rows: list[tuple[str | None, str | None, str, str]] = []
    for number in range(n_receipts):
        hard = draw.choice([0.02, 0.1, 0.5])
        for _ in range(draw.randint(1, 4)):
            line = f"{draw.choice(LINES)} {draw.randint(1, 99)}.000"
            read = [_read(line, rate, draw) for rate in (hard, hard * draw.random())]
            label = unicodedata.normalize(draw.choice(FORMS), line)
            rows.append((read[0], read[1], label, f"r{number}"))
    draw.shuffle(rows)
    first, second, printed, receipts = (list(side) for side in zip(*rows, strict=True))
    names = sorted(set(receipts))
    draws = [draw.choices(names, k=n_receipts) for _ in range(n_draws)]
    return first, second, printed, receipts, draws


def _read(line: str, rate: float, draw: random.Random) -> str | None:
    """A line with wrong and invented signs; None for a picture that is not read."""
    if draw.random() < 0.04:
        return None
    signs = [
        draw.choice("?#|") * draw.randint(0, 4) if draw.random() < rate else sign
        for sign in line
    ]
    return unicodedata.normalize(draw.choice(FORMS), "".join(signs))


def _sums(
    case: Case,
    *,
    form: Form | None = "NFC",
    form_of_label: Form | None = "NFC",
    skip: bool = False,
) -> dict[str, list[int]]:
    """Of each receipt the edits of both systems, and the printed characters."""
    sums: dict[str, list[int]] = {}
    for *read, line, receipt in zip(*case[:4], strict=True):
        own = sums.setdefault(receipt, [0, 0, 0])
        if skip and None in read:
            continue
        true = unicodedata.normalize(form_of_label, line) if form_of_label else line
        for side, text in enumerate(read):
            shown = text or ""
            shown = unicodedata.normalize(form, shown) if form else shown
            own[side] += edit_distance(shown, true)
        own[2] += len(true)
    return sums


def _rates(sums: Mapping[str, Sequence[int]], names: Iterable[str]) -> list[float]:
    total = [sum(parts) for parts in zip(*(sums[name] for name in names), strict=True)]
    return [total[0] / max(1, total[2]), total[1] / max(1, total[2])]


def _gain(
    case: Case, *, once: bool = False, left_out: int = 40, **sums_of: Any
) -> tuple[float, float, float]:
    """The gain on all receipts, and the ends of its interval."""
    sums, draws = _sums(case, **sums_of), case[4]
    gains = []
    for names in draws:
        before, after = _rates(sums, set(names) if once else names)
        gains.append(before - after)
    gains.sort()
    out = len(gains) // left_out if left_out else 0
    before, after = _rates(sums, sums)
    return before - after, gains[out], gains[-1 - out]


def _unpaired(case: Case) -> tuple[float, float, float]:
    sums, draws = _sums(case), case[4]
    rates = [_rates(sums, names) for names in draws]
    out = len(rates) // 40
    before, after = (sorted(side) for side in zip(*rates, strict=True))
    low, high = before[out] - after[-1 - out], before[-1 - out] - after[out]
    return _gain(case)[0], low, high


def _judge_gain(case: Case, answer: Any) -> None:
    expect.attempted(answer)
    is_triple = isinstance(answer, tuple | list) and len(answer) == 3
    are_floats = is_triple and all(isinstance(one, float) for one in answer)
    assert are_floats, (
        f"the result is {answer!r}; three floats are expected: the gain and both ends"
    )
    right = _gain(case)
    gain, low, high = right
    for wrong, hint in [
        ((-gain, -high, -low), "the gain is how much lower the second CER is"),
        (_gain(case, once=True), "a receipt that is drawn twice counts twice"),
        (_unpaired(case), "each draw is one gain: both systems on the same receipts"),
        (_gain(case, left_out=0), "leave out a fortieth of the draws at each end"),
        (_gain(case, left_out=20), "leave out a fortieth of the draws at each end"),
        (_gain(case, form=None), "compose the readings first (NFC)"),
        (_gain(case, form_of_label=None), "compose the printed lines, too (NFC)"),
        (_gain(case, form=None, form_of_label=None), "compose both sides (NFC)"),
        (_gain(case, skip=True), "a picture that was not read counts with all errors"),
        (tuple(100 * one for one in right), "a share is expected, not percent"),
    ]:
        if not same_numbers(wrong, right):
            assert not same_numbers(answer, wrong), f"{tuple(answer)} is wrong: {hint}"
    hints = (
        "the CER is the sum of the edits over the sum of the printed characters",
        "the smallest gain that is left",
        "the largest gain that is left",
    )
    for value, wanted, what, hint in zip(
        answer,
        right,
        ("the gain", "the lower end", "the upper end"),
        hints,
        strict=True,
    ):
        about = f"{what} for {len(case[0])} lines and {len(case[4])} draws"
        expect.close(value, wanted, what=about, tolerance=1e-9, hint=hint)


cer_gain = Task(
    "cer_gain",
    make=_gain_case,
    judge=_judge_gain,
    public=[(8, 80, 0), (5, 40, 1), (12, 120, 2), (2, 3, 3)],
)


def _contest_case(n_files: int, seed: int) -> Case:
    """Files, and what two runs of `predict --lines --out` said about them.

    The first run lacks a file, read one and then could not read it any more, read
    nothing on one, read one twice and knows one that nobody asked for. A system of
    files decomposed the names.
    """
    draw = random.Random(seed)
    names = [f"hoá đơn {i}, dòng {draw.randint(1, 9)}.png" for i in range(n_files)]
    texts = [
        *('Trà "đá", 2 ly', "Tổng  cộng\t45.000 ", "Phở, bún", "", " Cà phê", "a;b"),
        *(f"{line} {draw.randint(1, 99)}.000" for line in LINES),
    ]
    runs = []
    for number in range(2):
        rows: list[tuple[str, str, str | None]]
        rows = [(name, draw.choice(texts), None) for name in names]
        fixed = [*texts[:3], ""] if number == 0 else ["Cộng  1", "bù, 2", "3", "bù 4"]
        rows[:4] = [
            (name, text, None) for name, text in zip(names, fixed, strict=False)
        ]
        if number == 0 and n_files > 5:
            rows[4] = (names[4], "", "the picture cannot be read")
            del rows[5]
            rows[:0] = [(names[2], "read before", None), (names[4], "once read", None)]
            rows.append(("another.png", "nobody asked", None))
        runs.append("".join(_record(*row, draw) for row in rows))
    return names, *runs


def _record(name: str, text: str, error: str | None, draw: random.Random) -> str:
    form = draw.choice(FORMS)
    record = {
        "schema": "coursepkg.ocr.page/1",
        "file": unicodedata.normalize(form, f"scans/{draw.randint(1, 9)}/{name}"),
        "page": 1,
        "text": unicodedata.normalize(draw.choice(FORMS), text),
        "error": error,
    }
    return json.dumps(record, ensure_ascii=draw.random() < 0.5) + "\n"


def _texts(run: str) -> dict[str, str]:
    """What a run said, by the file's composed name; nothing for what is unread."""
    found = {}
    for line in run.split("\n"):
        if line.strip():
            record = json.loads(line)
            name = unicodedata.normalize("NFC", PurePath(record["file"]).name)
            text = unicodedata.normalize("NFC", record["text"] or "")
            found[name] = "" if record["error"] else " ".join(text.split())
    return found


def _judge_contest(case: Case, answer: Any) -> None:
    names, improved, baseline = case
    expect.attempted(answer)
    is_pair = isinstance(answer, tuple | list) and len(answer) == 2
    is_fit = is_pair and isinstance(answer[0], str)
    assert is_fit, "two results are expected: the text of the file, and a list of files"
    ours, theirs = _texts(improved), _texts(baseline)
    try:
        rows = [*csv.reader(io.StringIO(answer[0], newline=""), strict=True)]
    except csv.Error as reason:
        raise AssertionError(f"the text is no CSV: {reason}") from reason
    expect.equal(rows[:1], [["file", "text"]], what="the header")
    for number, row in enumerate(rows[1:], start=1):
        assert len(row) == 2, (
            f"row {number}, {row}, has {len(row)} cells; two are expected, quoted where"
            " a cell has a comma"
        )
    expect.equal(
        [row[0] for row in rows[1:]],
        list(names),
        what="the first column",
        hint="every file once, in order, as it is listed, and no other",
    )
    for name, text in rows[1:]:
        wanted = ours.get(name) or theirs.get(name, "")
        hint = "the later of two records counts"
        if not ours.get(name):
            hint = "nothing was read at last, so the baseline stands there"
        elif text in ("", theirs.get(name)):
            hint = "it was read: compare the names without folders, in NFC"
        elif text.split() == wanted.split():
            hint = "no white space at the ends, one space for every other run"
        elif unicodedata.normalize("NFC", " ".join(text.split())) == wanted:
            hint = "it is composed (NFC)"
        expect.equal(text, wanted, what=f"the text of {name!r}", hint=hint)
    expect.equal(
        answer[1],
        [name for name in names if not ours.get(name)],
        what="the list of files that the baseline read",
        hint="as they are listed, in order",
    )


contest_file = Task(
    "contest_file",
    make=_contest_case,
    judge=_judge_contest,
    public=[(8, 0), (6, 1), (1, 2)],
)
