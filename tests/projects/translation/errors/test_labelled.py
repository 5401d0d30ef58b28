"""The fifty labelled errors: each is of the test part, attributed, and no reference."""

import re
from collections import Counter

from coursepkg.projects.translation.errors.labelled import ERROR_KINDS, error_table, labelled_errors
from coursepkg.projects.translation.readers.open_corpus import read_embedded

ERRORS = labelled_errors()


def test_fifty_errors_of_every_kind_and_at_most_eight_of_one() -> None:
    counts = Counter(one.label for one in ERRORS)
    assert counts.total() == 50
    assert set(counts) == set(ERROR_KINDS)
    assert max(counts.values()) == 8


def test_each_is_a_sentence_of_the_test_part_with_its_attribution() -> None:
    known = [(pair.target, pair.source) for pair in read_embedded()["test"]]
    pairs = [(one.source, one.reference) for one in ERRORS]
    assert set(pairs) <= set(known)
    assert len({one.source for one in ERRORS}) == 50
    assert [known.index(pair) for pair in pairs] == sorted(known.index(pair) for pair in pairs)
    for one in ERRORS:
        assert re.fullmatch(r"#\d+ \(.+\) & #\d+ \(.+\)", one.attribution)


def test_the_copied_word_of_an_untranslated_one_stands_in_the_source() -> None:
    for one in ERRORS:
        words = set(re.findall(r"\w+", one.output)) - set(re.findall(r"\w+", one.reference))
        copied = [word for word in words & set(one.source.rstrip(".").split()) if not word.isascii()]
        assert bool(copied) == (one.label == "untranslated"), one


def test_no_output_is_one_of_its_references() -> None:
    known: dict[str, set[str]] = {}
    for pair in read_embedded()["test"]:
        known.setdefault(pair.target, set()).add(pair.source)
    assert not [one.output for one in ERRORS if one.output in known[one.source]]


def test_the_table_has_a_row_for_each() -> None:
    rows = error_table().splitlines()[2:]
    assert rows[1].startswith("| 2 | Tôi chắc chắn là Tom đồng ý với tôi. | I'm sure Tom agree to me. |")
    assert len(rows) == 50
