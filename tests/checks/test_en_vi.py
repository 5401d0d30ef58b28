"""The checks of the chapter on English-Vietnamese translation accept what is right and say what is wrong."""

import html
import re
import unicodedata

import pytest

from coursepkg.projects.translation.corpus import sentence_key
from coursepkg.text.cleaning import unescape
from coursepkg.text.spacing import detokenize


def nfc(text):
    return unicodedata.normalize("NFC", text)


def test_plain_text_right(assert_accepts):
    assert_accepts("en_vi.plain_text", lambda line: detokenize(nfc(unescape(line).text)))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda line: unescape(detokenize(nfc(line))).text,
        lambda line: detokenize(nfc(html.unescape(line))),
        lambda line: detokenize(unescape(line).text),
        lambda line: nfc(unescape(line).text),
        lambda line: detokenize(nfc(line)),
    ],
    ids=["attached first", "unescaped once", "NFD stays", "not attached", "entities stay"],
)
def test_plain_text_wrong(assert_rejects, wrong):
    assert_rejects("en_vi.plain_text", wrong, "unescape until nothing changes")


IGNORED = ("bs", "seed", "version", "protocol")


def fields_of(signature):
    name, *fields = signature.split("|")
    return {"name": name} | dict(field.split(":", 1) for field in fields)


def forbids(a, b, ignored=IGNORED, whole=True):
    one, two = fields_of(a), fields_of(b)
    found = [key for key in {*one, *two} if key not in ignored and one.get(key) != two.get(key)]
    cut = whole and any(not re.fullmatch(r"(\d+)/\1", fields["n"]) for fields in (one, two))
    return sorted({*found, "n"} if cut else found)


def test_forbids_right(assert_accepts):
    assert_accepts("en_vi.forbids", forbids)


def test_forbids_counts_the_version(assert_rejects):
    assert_rejects(
        "en_vi.forbids", lambda a, b: forbids(a, b, ignored=("bs", "seed")), "without bs, seed, version"
    )


def test_forbids_takes_half_a_test(assert_rejects):
    assert_rejects("en_vi.forbids", lambda a, b: forbids(a, b, whole=False), "a test must be whole")


def test_forbids_looks_at_common_fields_alone(assert_rejects):
    def common(a, b):
        shared = fields_of(a).keys() & fields_of(b).keys()
        return [key for key in forbids(a, b) if key in shared]

    assert_rejects("en_vi.forbids", common, "missing ones too")


def test_forbids_compares_the_texts(assert_rejects):
    assert_rejects("en_vi.forbids", lambda a, b: [] if a == b else ["data"], "what forbids comparing")


def leaks(train, test, key=sentence_key):
    sides = [{key(pair[side], language) for pair in train} for side, language in enumerate(("en", "vi"))]
    found = [(key(en, "en") in sides[0], key(vi, "vi") in sides[1]) for en, vi in test]
    return sum(a for a, _ in found), sum(b for _, b in found), sum(any(row) for row in found)


def test_leaks_right(assert_accepts):
    assert_accepts("en_vi.leaks", leaks)


def test_leaks_of_whole_lines(assert_rejects):
    assert_rejects("en_vi.leaks", lambda train, test: leaks(train, test, key=lambda t, _: t), "the leaks")


def test_leaks_adds_both_sides(assert_rejects):
    def added(train, test):
        english, vietnamese, _ = leaks(train, test)
        return english, vietnamese, english + vietnamese

    assert_rejects("en_vi.leaks", added, "each once in the third number")


def test_leaks_of_different_sentences(assert_rejects):
    assert_rejects(
        "en_vi.leaks", lambda train, test: leaks(train, list({t[0]: t for t in test}.values())), "the leaks"
    )


def test_leaks_across_languages(assert_rejects):
    assert_rejects(
        "en_vi.leaks",
        lambda train, test: leaks([*train, *((vi, en) for en, vi in train)], test),
        "within one language",
    )


def read_alignment(links, n_target, crosses=lambda s, t, u, v: (s - u) * (t - v) < 0):
    alone = [t for t in range(n_target) if t not in {target for _, target in links}]
    return alone, sorted({s for s, t in links if any(crosses(s, t, u, v) for u, v in links)})


def test_read_alignment_right(assert_accepts):
    assert_accepts("en_vi.read_alignment", read_alignment)


def test_read_alignment_counts_touching_links(assert_rejects):
    def touching(links, n_target):
        return read_alignment(links, n_target, lambda s, t, u, v: (s, t) != (u, v) and (s - u) * (t - v) <= 0)

    assert_rejects("en_vi.read_alignment", touching, "strictly opposite")


def test_read_alignment_names_one_word_of_a_crossing(assert_rejects):
    def later(links, n_target):
        return read_alignment(links, n_target, lambda s, t, u, v: s > u and t < v)

    assert_rejects("en_vi.read_alignment", later, "both of its words moved")


def test_read_alignment_forgets_the_end(assert_rejects):
    def short(links, n_target):
        return read_alignment(links, max((t for _, t in links), default=-1) + 1)

    assert_rejects("en_vi.read_alignment", short, "the last ones may be alone")


def test_read_alignment_mixes_the_sides(assert_rejects):
    def swapped(links, n_target):
        return read_alignment({(t, s) for s, t in links}, n_target)

    assert_rejects("en_vi.read_alignment", swapped, "the second of each pair")
