"""The functions of the capstone on OCR accept what is right and say what is wrong."""

import csv
import io
import json
import random
import unicodedata
from pathlib import PurePath

from coursepkg.checks.assignments import capstone_ocr
from coursepkg.grading.leaderboard import PROJECTS, check_answers
from coursepkg.metrics import edit_distance
from tests.notebooks.assignments.sources import solution_tests


def compose(text):
    return unicodedata.normalize("NFC", text)


def shop_of(photo):
    return " ".join(compose(photo[1]).casefold().split())


def grouped(photos, bits, *, shop=shop_of, near=True, chain=True):
    groups = []
    for photo in photos:
        touched, others = [], []
        for group in groups:
            linked = [
                (bool(shop(photo)) and shop(photo) == shop(one))
                or (near and (photo[2] ^ one[2]).bit_count() <= bits)
                for one in (group if chain else group[:1])
            ]
            (touched if any(linked) else others).append(group)
        groups = [*others, [one for group in touched for one in group] + [photo]]
    return groups


def faults_of(photos, bits, *, shop=shop_of):
    kept = [photo for photo in photos if photo[3]]
    distance = [[(a[2] ^ b[2]).bit_count() for b in kept] for a in kept]
    return {
        "no line": [name for name, _, _, n in photos if n == 0],
        "copy": [a[0] for i, a in enumerate(kept) if i and min(distance[i][:i]) <= bits],
        "no seller": [a[0] for a in kept if not shop(a)],
    }


def split_photos(
    photos, share, bits, order, *, kept=lambda photo: photo[3] > 0, by=lambda photo: photo[3], **how
):
    mine = [photo for photo in photos if kept(photo)]
    groups = grouped(mine, bits, **how)
    groups.sort(key=lambda group: min(order.index(photo[0]) for photo in group))
    learn, test, room = [], [], share * sum(map(by, mine))
    for group in groups:
        size = sum(map(by, group))
        (test if size <= room else learn).append([photo[0] for photo in group])
        room -= size if size <= room else 0
    return learn, test, faults_of(photos, bits)


def split_by_numbers(photos, share, bits, order):
    mine = [photo for photo in photos if photo[3]]
    number = {photo[0]: i for i, photo in enumerate(mine)}
    changed = True
    while changed:
        changed = False
        for a in mine:
            for b in mine:
                linked = (shop_of(a) and shop_of(a) == shop_of(b)) or bin(a[2] ^ b[2]).count("1") <= bits
                if linked and number[a[0]] < number[b[0]]:
                    number[b[0]], changed = number[a[0]], True
    lines = {photo[0]: photo[3] for photo in mine}
    groups = {}
    for name in lines:
        groups.setdefault(number[name], []).append(name)
    learn, test = [], []
    for name in order:
        group = groups.pop(number.get(name), [])
        taken = sum(lines[one] for names in [*test, group] for one in names)
        (test if taken / sum(lines.values()) <= share else learn).append(group)
    return [one for one in learn if one], [one for one in test if one], faults_of(photos, bits)


def split_reordered(sort):
    def split(photos, share, bits, order):
        return split_photos(photos, share, bits, sort(photos, order))

    return split


def shuffled(photos, order):
    return random.Random(0).sample(order, len(order))


def split_until_full(photos, share, bits, order):
    """Ends at the first group that does not fit."""
    _, test, faults = split_photos(photos, 1, bits, order)
    size = {photo[0]: photo[3] for photo in photos}
    room = share * sum(size.values())
    for number, group in enumerate(test):
        room -= sum(size[name] for name in group)
        if room < 0:
            return test[number:], test[:number], faults
    raise AssertionError


def split_by_photo(photos, share, bits, order):
    return split_photos(photos, share, bits, order, shop=lambda photo: "", near=False)


def split_of_one_group(photos, share, bits, order):
    learn, test, faults = split_photos(photos, share, bits, order)
    return [[name for group in learn for name in group]], test, faults


def split_with(**how):
    return lambda *case: split_photos(*case, **how)


def faults_without(kind):
    def split(*case):
        learn, test, faults = split_photos(*case)
        return learn, test, {name: files for name, files in faults.items() if name != kind}

    return split


def copies_twice(photos, share, bits, order):
    learn, test, faults = split_photos(photos, share, bits, order)
    kept = [photo for photo in photos if photo[3]]
    near = [a[0] for a in kept if sum((a[2] ^ b[2]).bit_count() <= bits for b in kept) > 1]
    return learn, test, {**faults, "copy": near}


def table_of(first, second, printed, receipts, form=compose, label=compose):
    table = {}
    for a, b, line, receipt in zip(first, second, printed, receipts, strict=True):
        true = label(line)
        row = (edit_distance(form(a or ""), true), edit_distance(form(b or ""), true), len(true))
        table.setdefault(receipt, []).append(row)
    return table


def corpus_rate(rows, side):
    return sum(row[side] for row in rows) / sum(row[2] for row in rows)


def mean_rate(rows, side):
    return sum(row[side] / row[2] for row in rows) / len(rows)


def capped_rate(rows, side):
    return sum(min(row[side], row[2]) for row in rows) / sum(row[2] for row in rows)


def cer_gain(
    first,
    second,
    printed,
    receipts,
    draws,
    *,
    rate=corpus_rate,
    drawn=list,
    out=40,
    form=compose,
    label=compose,
    sign=1,
):
    table = table_of(first, second, printed, receipts, form, label)

    def gain(names):
        rows = [row for name in names for row in table[name]]
        return sign * (rate(rows, 0) - rate(rows, 1))

    gains = sorted(gain(drawn(names)) for names in draws)
    cut = len(gains) // out
    return gain(table), gains[cut], gains[len(gains) - 1 - cut]


def gain_by_counts(first, second, printed, receipts, draws):
    """Every line with the number of times that its receipt was drawn."""
    lines = list(zip(first, second, printed, receipts, strict=True))

    def gain(names):
        edits = [0, 0]
        length = 0
        for a, b, line, receipt in lines:
            weight, true = names.count(receipt), compose(line)
            length += weight * len(true)
            for side, text in enumerate((a, b)):
                edits[side] += weight * edit_distance(compose(text) if text else "", true)
        return (edits[0] - edits[1]) / length

    gains = sorted(map(gain, draws))
    while len(gains) > len(draws) - 2 * (len(draws) // 40):
        del gains[0], gains[-1]
    return gain(sorted(set(receipts))), gains[0], gains[-1]


def gain_unpaired(first, second, printed, receipts, draws):
    table = table_of(first, second, printed, receipts)
    rates = [
        sorted(corpus_rate([row for name in names for row in table[name]], side) for names in draws)
        for side in (0, 1)
    ]
    cut = len(draws) // 40
    low, high = rates[0][cut] - rates[1][-1 - cut], rates[0][-1 - cut] - rates[1][cut]
    return cer_gain(first, second, printed, receipts, draws)[0], low, high


def gain_of_what_was_read(first, second, printed, receipts, draws):
    rows = [row for row in zip(first, second, printed, receipts, strict=True) if None not in row]
    left = {row[3] for row in rows}
    drawn = [kept for names in draws if (kept := [name for name in names if name in left])]
    return cer_gain(*map(list, zip(*rows, strict=True)), drawn)


def gain_with(**how):
    return lambda *case: cer_gain(*case, **how)


def records(run, form=compose):
    return [(form(PurePath(one["file"]).name), one) for one in map(json.loads, run.strip().split("\n"))]


def clean(text):
    return " ".join(compose(text).split())


def contest_file(files, improved, baseline, *, form=compose, tidy=clean, first=False, step_in=True):
    ours, theirs = ({}, {})
    for found, run in ((ours, improved), (theirs, baseline)):
        for name, one in records(run, form):
            text = tidy(one["text"])
            if not first or name not in found:
                found[name] = text
    rows, lacking = [["file", "text"]], []
    for name in files:
        text = ours.get(name, "")
        if not text:
            lacking.append(name)
            text = theirs.get(name, "") if step_in else ""
        rows.append([name, text])
    out = io.StringIO()
    csv.writer(out).writerows(rows)
    return out.getvalue(), lacking


def contest_without_errors(files, improved, baseline):
    """Takes what was read before an error for what was read."""
    return contest_file(
        files,
        "\n".join(line for line in improved.strip().split("\n") if not json.loads(line)["error"]),
        baseline,
    )


def contest_by_hand(files, improved, baseline):
    """Every cell in quotes, without the module csv."""
    texts = {}
    for run in (baseline, improved):
        own = {name: clean(one["text"]) for name, one in records(run)}
        for name, text in own.items():
            texts[name] = text or texts.get(name, "")
    read = {name for name, text in {n: clean(one["text"]) for n, one in records(improved)}.items() if text}
    cells = [("file", "text"), *((name, texts.get(name, "")) for name in files)]
    quoted = ["{},{}".format(*('"' + cell.replace('"', '""') + '"' for cell in row)) for row in cells]
    return "\n".join(quoted) + "\n", [name for name in files if name not in read]


def contest_without_quotes(files, improved, baseline):
    text, lacking = contest_file(files, improved, baseline)
    return "\n".join(",".join(row) for row in csv.reader(io.StringIO(text))), lacking


def contest_of_all(files, improved, baseline):
    names = [*files, *{name for name, _ in records(improved)} - set(files)]
    return contest_file(names, improved, baseline)


def contest_by_path(files, improved, baseline):
    names = {name: one["file"] for name, one in records(improved)}
    text, lacking = contest_file(files, improved, baseline)
    for name, path in names.items():
        text = text.replace(name, path)
    return text, lacking


def contest_without_header(files, improved, baseline):
    text, lacking = contest_file(files, improved, baseline)
    return text.partition("\n")[2], lacking


RIGHT = {
    "split_photos": split_photos,
    "split_photos by numbers": split_by_numbers,
    "cer_gain": cer_gain,
    "cer_gain by counts": gain_by_counts,
    "contest_file": contest_file,
    "contest_file by hand": contest_by_hand,
}
WRONG = {
    "split_photos by photo": (split_by_photo, "one is in the test part alone"),
    "split_photos by seller": (split_with(near=False), "bits, "),
    "split_photos by picture": (split_with(shop=lambda photo: ""), "have the seller"),
    "split_photos as spelt": (split_with(shop=lambda photo: photo[1].strip()), "have the seller"),
    "split_photos decomposed": (
        split_with(shop=lambda photo: " ".join(photo[1].casefold().split())),
        "have the seller",
    ),
    "split_photos without a chain": (split_with(chain=False), "one is in the test part alone"),
    "split_photos nobody's shop": (
        split_with(shop=lambda photo: shop_of(photo) or "nobody"),
        "no chain of photographs links them",
    ),
    "split_photos one bit more": (
        lambda photos, share, bits, order: split_photos(photos, share, bits + 1, order),
        "no chain of photographs links them",
    ),
    "split_photos with empty ones": (split_with(kept=lambda photo: True), "without a line stands in none"),
    "split_photos of one group": (split_of_one_group, "stand in one group"),
    "split_photos all to learn": (
        lambda photos, share, *rest: split_photos(photos, 0, *rest),
        "belongs into the test part",
    ),
    "split_photos large": (
        lambda photos, share, *rest: split_photos(photos, 1 - share, *rest),
        "are allowed",
    ),
    "split_photos as listed": (split_reordered(lambda photos, _: [one[0] for one in photos]), "in the order"),
    "split_photos shuffled": (split_reordered(shuffled), "in the order"),
    "split_photos backwards": (split_reordered(lambda _, order: order[::-1]), "in the order"),
    "split_photos until full": (split_until_full, "each that fits"),
    "split_photos no faults": (lambda *case: (*split_photos(*case)[:2], {}), "the faults have no 'no line'"),
    "split_photos no copies": (faults_without("copy"), "the faults have no 'copy'"),
    "split_photos copies twice": (copies_twice, "under 'copy'"),
    "split_photos pair": (lambda *case: split_photos(*case)[:2], "three results are expected"),
    "cer_gain sign": (gain_with(sign=-1), "how much lower the second CER is"),
    "cer_gain once": (gain_with(drawn=lambda names: sorted(set(names))), "counts twice"),
    "cer_gain unpaired": (gain_unpaired, "each draw is one gain"),
    "cer_gain whole range": (gain_with(out=10**9), "leave out a fortieth"),
    "cer_gain ninety percent": (gain_with(out=20), "leave out a fortieth"),
    "cer_gain mean": (gain_with(rate=mean_rate), "the sum of the edits over the sum"),
    "cer_gain capped": (gain_with(rate=capped_rate), "the sum of the edits over the sum"),
    "cer_gain as it came": (gain_with(form=str), "compose the readings first"),
    "cer_gain readings alone": (gain_with(label=str), "compose the printed lines, too"),
    "cer_gain both as they came": (gain_with(form=str, label=str), "compose both sides"),
    "cer_gain of what was read": (gain_of_what_was_read, "counts with all errors"),
    "cer_gain percent": (lambda *case: tuple(100 * one for one in cer_gain(*case)), "not percent"),
    "cer_gain alone": (lambda *case: cer_gain(*case)[0], "three floats are expected"),
    "contest_file without quotes": (contest_without_quotes, "quoted where a cell has a comma"),
    "contest_file of all": (contest_of_all, "as it is listed, and no other"),
    "contest_file with paths": (contest_by_path, "as it is listed, and no other"),
    "contest_file by bytes": (
        lambda *case: contest_file(*case, form=str),
        "compare the names without folders, in NFC",
    ),
    "contest_file as it came": (lambda *case: contest_file(*case, tidy=str), "the text of"),
    "contest_file decomposed": (
        lambda *case: contest_file(*case, tidy=lambda text: unicodedata.normalize("NFD", clean(text))),
        "it is composed",
    ),
    "contest_file first record": (lambda *case: contest_file(*case, first=True), "the later of two records"),
    "contest_file without errors": (contest_without_errors, "so the baseline stands there"),
    "contest_file alone": (lambda *case: contest_file(*case, step_in=False), "so the baseline stands there"),
    "contest_file without a list": (lambda *case: (contest_file(*case)[0], []), "that the baseline read"),
    "contest_file no header": (contest_without_header, "the header"),
    "contest_file text": (lambda *case: contest_file(*case)[0], "two results are expected"),
    "contest_file JSON": (lambda files, improved, baseline: (improved, []), "the header"),
}

test_right, test_wrong = solution_tests("capstone_ocr", capstone_ocr, RIGHT, WRONG)


def test_the_leaderboard_takes_the_file() -> None:
    for files, improved, baseline in capstone_ocr.contest_file.cases((9, 5)):
        for solution in (contest_file, contest_by_hand):
            answers = PROJECTS["ocr"].read(solution(files, improved, baseline)[0])
            check_answers(answers, dict.fromkeys(files, ""))
            assert list(answers) == files
