"""The checks of the chapter on fields accept what is right and say what is wrong."""

import re

from coursepkg.metrics import edit_distance
from tests.checks.solutions import solution_tests


def cer(found, true, joint="|||"):
    ours, theirs = joint.join(found), joint.join(true)
    return edit_distance(ours, theirs) / len(theirs)


def mean_of_fields(found, true):
    return sum(edit_distance(a, b) / max(1, len(b)) for a, b in zip(found, true, strict=True)) / 4


def without_joints(found, true):
    wrong = sum(edit_distance(a, b) for a, b in zip(found, true, strict=True))
    return wrong / max(1, sum(map(len, true)))


def amount(text, *, hundredths=True, foreign=True):
    if foreign and re.search(r"[$€£¥]|usd", text, re.I):
        return -1
    number = re.search(r"\d[\d., ]*", text)
    if number is None:
        return -1
    digits = number[0].strip()
    if hundredths:
        digits = re.sub(r"[.,]\d\d$", "", digits)
    return int(re.sub(r"\D", "", digits))


def first_number(text):
    found = re.search(r"\d+", text)
    return -1 if found is None or "$" in text else int(found[0])


def beside(name, amounts, *, choose=max, right=True, share=0.5):
    _, top, end, bottom = name
    found = []
    for number, (left, above, _, below) in enumerate(amounts):
        common = min(bottom, below) - max(top, above)
        if common >= share * min(bottom - top, below - above) and (left >= end or not right):
            found.append((left, number))
    return choose(found)[1] if found else -1


def last_given(name, amounts):
    alone = [i for i, one in enumerate(amounts) if beside(name, [one]) == 0]
    return alone[-1] if alone else -1


def by_own_height(name, amounts):
    least = (name[3] - name[1]) / 2
    near = [min(name[3], one[3]) - max(name[1], one[1]) >= least for one in amounts]
    found = [(one[0], i) for i, one in enumerate(amounts) if near[i] and one[0] >= name[2]]
    return max(found)[1] if found else -1


def corrected(total, goods, paid, change, *, witnesses=2, most=1):
    expected = {goods, paid - change} if witnesses == 2 else {goods}
    if len(expected) > 1:
        return total
    value = expected.pop()
    wrong = sum(a != b for a, b in zip(str(total), str(value), strict=False))
    return value if len(str(total)) == len(str(value)) and wrong <= most else total


def held_out(receipts, share, *, whole=True):
    chosen, most = set(), share * len(receipts)
    shops = {}
    for name, shop in receipts:
        shops.setdefault(shop if whole else name, []).append(name)
    for names in sorted(shops.values(), key=len):
        if len(chosen) + len(names) <= most:
            chosen.update(names)
    return chosen


def by_number(receipts, share):
    return {name for name, _ in receipts[: int(share * len(receipts))]}


def largest_first(receipts, share):
    shops = {}
    for name, shop in receipts:
        shops.setdefault(shop, []).append(name)
    return set(max(shops.values(), key=len))


RIGHT = {
    "challenge_cer": cer,
    "amount": amount,
    "amount_beside": beside,
    "corrected": corrected,
    "held_out": held_out,
}

WRONG = {
    "challenge_cer field by field": (mean_of_fields, "joints included"),
    "challenge_cer without joints": (without_joints, "joints included"),
    "challenge_cer with a short joint": (lambda f, t: cer(f, t, "|"), "joints included"),
    "amount with hundredths": (lambda t: amount(t, hundredths=False), "hundredths"),
    "amount in dollars": (lambda t: amount(t, foreign=False), "another currency"),
    "amount up to the first point": (first_number, "points set thousands apart"),
    "amount_beside the first": (lambda n, a: beside(n, a, choose=min), "the last one is the sum"),
    "amount_beside the last of the list": (last_given, "furthest to the right"),
    "amount_beside by the name's height": (by_own_height, "7 of 13 pixels"),
    "amount_beside more than half": (lambda n, a: beside(n, a, share=0.51), "10 of 20 pixels"),
    "amount_beside on both sides": (lambda n, a: beside(n, a, right=False), "left of the name"),
    "amount_beside touching rows": (lambda n, a: beside(n, a, share=0.4), "less than half"),
    "amount_beside in the same row alone": (lambda n, a: beside(n, a, share=0.9), "share a row"),
    "corrected by one witness": (lambda *n: corrected(*n, witnesses=1), "contradict each other"),
    "corrected in two digits": (lambda *n: corrected(*n, most=2), "two digits differ"),
    "corrected never": (lambda total, *_: total, "one digit differs"),
    "held_out by number": (by_number, "all of a shop's receipts or none"),
    "held_out one by one": (lambda r, s: held_out(r, s, whole=False), "all of a shop's receipts or none"),
    "held_out too many": (largest_first, "more than the share"),
    "held_out none": (lambda r, s: set(), "more than the share"),
}

test_right, test_wrong = solution_tests("receipt_fields", RIGHT, WRONG)
