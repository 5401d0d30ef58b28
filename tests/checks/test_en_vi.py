"""The checks of the chapter on English-Vietnamese translation accept what is right and say what is wrong."""

import html
import re
import unicodedata

from coursepkg.projects.translation.corpus import sentence_key
from coursepkg.text.cleaning import unescape
from coursepkg.text.spacing import detokenize
from tests.checks.solutions import solution_tests


def nfc(text):
    return unicodedata.normalize("NFC", text)


WHOLE = "unescape until nothing changes"
IGNORED = ("bs", "seed", "version", "protocol")


def fields_of(signature):
    name, *fields = signature.split("|")
    return {"name": name} | dict(field.split(":", 1) for field in fields)


def forbids(a, b, ignored=IGNORED, whole=True):
    one, two = fields_of(a), fields_of(b)
    found = [key for key in {*one, *two} if key not in ignored and one.get(key) != two.get(key)]
    cut = whole and any(not re.fullmatch(r"(\d+)/\1", fields["n"]) for fields in (one, two))
    return sorted({*found, "n"} if cut else found)


def common(a, b):
    shared = fields_of(a).keys() & fields_of(b).keys()
    return [key for key in forbids(a, b) if key in shared]


def leaks(train, test, key=sentence_key):
    sides = [{key(pair[side], language) for pair in train} for side, language in enumerate(("en", "vi"))]
    found = [(key(en, "en") in sides[0], key(vi, "vi") in sides[1]) for en, vi in test]
    return sum(a for a, _ in found), sum(b for _, b in found), sum(any(row) for row in found)


def added(train, test):
    english, vietnamese, _ = leaks(train, test)
    return english, vietnamese, english + vietnamese


def read_alignment(links, n_target, crosses=lambda s, t, u, v: (s - u) * (t - v) < 0):
    alone = [t for t in range(n_target) if t not in {target for _, target in links}]
    return alone, sorted({s for s, t in links if any(crosses(s, t, u, v) for u, v in links)})


def touching(links, n_target):
    return read_alignment(links, n_target, lambda s, t, u, v: (s, t) != (u, v) and (s - u) * (t - v) <= 0)


def later(links, n_target):
    return read_alignment(links, n_target, lambda s, t, u, v: s > u and t < v)


def short(links, n_target):
    return read_alignment(links, max((t for _, t in links), default=-1) + 1)


def swapped(links, n_target):
    return read_alignment({(t, s) for s, t in links}, n_target)


def both_ways(pairs, source, target):
    there = [(f"<2{target}> {a}", b) for a, b in pairs]
    return there + [(f"<2{source}> {b}", a) for a, b in pairs]


def of_the_task(pairs, source, target):
    there = [(f"<2{target}> {a}", b) for a, b in pairs]
    return there + [(text, tagged) for tagged, text in there]


RIGHT = {
    "plain_text": lambda line: detokenize(nfc(unescape(line).text)),
    "forbids": forbids,
    "leaks": leaks,
    "read_alignment": read_alignment,
    "both_ways": both_ways,
    "both_ways in another order": lambda *given: both_ways(*given)[::-1],
    "lines_that_cross": "6 lines",
}

WRONG = {
    "plain_text attached first": (lambda line: unescape(detokenize(nfc(line))).text, WHOLE),
    "plain_text unescaped once": (lambda line: detokenize(nfc(html.unescape(line))), WHOLE),
    "plain_text that stays NFD": (lambda line: detokenize(unescape(line).text), WHOLE),
    "plain_text not attached": (lambda line: nfc(unescape(line).text), WHOLE),
    "plain_text where entities stay": (lambda line: detokenize(nfc(line)), WHOLE),
    "forbids counts the version": (
        lambda a, b: forbids(a, b, ignored=("bs", "seed")),
        "without bs, seed, version",
    ),
    "forbids takes half a test": (lambda a, b: forbids(a, b, whole=False), "a test must be whole"),
    "forbids looks at common fields alone": (common, "missing ones too"),
    "forbids compares the texts": (lambda a, b: [] if a == b else ["data"], "what forbids comparing"),
    "leaks of whole lines": (lambda train, test: leaks(train, test, key=lambda t, _: t), "the leaks"),
    "leaks adds both sides": (added, "each once in the third number"),
    "leaks of different sentences": (
        lambda train, test: leaks(train, list({t[0]: t for t in test}.values())),
        "the leaks",
    ),
    "leaks across languages": (
        lambda train, test: leaks([*train, *((vi, en) for en, vi in train)], test),
        "within one language",
    ),
    "read_alignment counts touching links": (touching, "strictly opposite"),
    "read_alignment names one word of a crossing": (later, "both of its words moved"),
    "read_alignment forgets the end": (short, "the last ones may be alone"),
    "read_alignment mixes the sides": (swapped, "the second of each pair"),
    "both_ways of the task": (of_the_task, "the tag stands on the side that is read"),
    "both_ways without a tag": (
        lambda p, s, t: [*both_ways(p, s, t)[: len(p)], *((b, a) for a, b in p)],
        "does not say what is wanted",
    ),
    "both_ways with the tag of the source": (
        lambda p, s, t: both_ways(p, s, t)[: len(p)] + [(f"<2{t}> {b}", a) for a, b in p],
        "the language that the model is to write",
    ),
    "both_ways in one direction": (lambda p, s, t: both_ways(p, s, t)[: len(p)], "number of examples"),
    "lines_that_cross counts words": ("3 lines", "each of them has two lines"),
    "lines_that_cross with What": ("7 lines", "runs beside it"),
    "lines_that_cross counts all": ("8 lines", "nor that of the question mark"),
    "lines_that_cross without a unit": ("6", "without a unit"),
}

test_right, test_wrong = solution_tests("en_vi", RIGHT, WRONG)
