"""Scores: what counts, what the kinds of errors are, and the page of worst crops."""

from pathlib import Path

import jiwer
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.metrics.edit import Edit
from coursepkg.projects.ocr.error_gallery import (
    Reading,
    rank_by_confidence,
    rank_by_error,
    write_error_gallery,
)
from coursepkg.projects.ocr.evaluation import (
    KINDS,
    commonest_confusions,
    edit_kind,
    error_kinds,
    evaluate,
    letter_parts,
    macro_cer,
    marked_html,
)
from coursepkg.text.vietnamese import LETTERS

TEXT = st.text(alphabet="aăâáạẤấĐđdD oơớ09O.,₫", max_size=12)


@pytest.mark.parametrize(
    ("right", "read", "kind"),
    [
        ("ấ", "â", "tone"),
        ("ấ", "ậ", "tone"),
        ("Ế", "Ệ", "tone"),
        ("ấ", "á", "vowel mark"),
        ("ơ", "ô", "vowel mark"),
        ("đ", "d", "vowel mark"),
        ("Đ", "D", "vowel mark"),
        ("ấ", "Ấ", "case"),
        ("x", "X", "case"),
        ("Đ", "đ", "case"),
        ("ấ", "ạ", "vowel mark"),  # both marks: the vowel's first
        ("á", "À", "tone"),  # tone and case
        ("0", "O", "digit"),
        ("l", "1", "digit"),
        ("8", None, "digit"),
        (".", ",", "punctuation"),
        (None, "-", "punctuation"),
        ("₫", "đ", "punctuation"),
        ("a", "o", "other"),
        ("â", "o", "other"),
        (" ", None, "other"),
        (None, "n", "other"),
    ],
)
def test_kinds_of_edits(right: str | None, read: str | None, kind: str) -> None:
    name = "delete" if read is None else "insert" if right is None else "substitute"
    assert edit_kind(Edit(name, right, read)) == kind


def test_letters_are_told_apart_by_their_parts() -> None:
    assert len({letter_parts(letter) for letter in LETTERS}) == len(LETTERS) == 186
    assert letter_parts("Ấ") == ("a", "\u0302", "sắc", True)
    assert {letter_parts(letter)[0] for letter in LETTERS} == set("abcdefghijklmnopqrstuvwxyz")


@given(pairs=st.lists(st.tuples(TEXT, TEXT.filter(str.strip)), min_size=1, max_size=6))
def test_kinds_add_up_to_the_edits_of_the_cer(pairs: list[tuple[str, str]]) -> None:
    said, true = [a for a, _ in pairs], [b for _, b in pairs]
    found = evaluate(said, true, n_resamples=0)
    counts = found.cer.details
    assert sum(found.kinds.values()) == counts["substitutions"] + counts["deletions"] + counts["insertions"]
    assert set(found.kinds) == set(KINDS)
    assert found.cer.value == pytest.approx(jiwer.cer([t.strip() for t in true], [s.strip() for s in said]))


def test_corpus_mean_and_macro_differ_as_they_should() -> None:
    true = ["ab", "ab", "abcdefgh", "xyz"]
    said = ["ax", "ab", "abcdefgh", "x"]
    found = evaluate(said, true, n_resamples=0)
    assert found.cer.value == pytest.approx(3 / 15)
    assert found.mean_cer == pytest.approx((1 / 2 + 0 + 0 + 2 / 3) / 4)
    assert found.macro_cer == pytest.approx((1 / 4 + 0 + 2 / 3) / 3)
    assert found.accuracy == 0.5
    assert macro_cer(said, true) == found.macro_cer


def test_an_unreadable_picture_is_scored_as_read_wrong() -> None:
    found = evaluate([None, "đá"], ["phở", "đá"], protocol="two lines", n_resamples=10)
    assert "n:2/2" in found.cer.signature
    assert found.cer.value == pytest.approx(3 / 5)
    assert (found.n_unreadable, found.accuracy) == (1, 0.5)
    assert "could not be read, each counted as CER 1: 1" in str(found)
    assert found.cer.interval is not None


def test_seen_and_unseen_texts_are_scored_apart() -> None:
    found = evaluate(["aa", "b", "cx"], ["aa", "bb", "cc"], seen=[True, False, False], n_resamples=0)
    values = {name: one.value for name, one in found.parts.items()}
    assert values == {"texts seen in training": 0.0, "texts not seen in training": pytest.approx(2 / 4)}
    assert "n:2/3" in found.parts["texts not seen in training"].signature
    assert found.as_json()["parts"]["texts seen in training"]["value"] == 0.0


def test_a_few_groups_are_too_few_to_draw() -> None:
    true = ["abcd"] * 40
    few = evaluate(true, true, groups=[f"folder {i // 20}" for i in range(40)])
    assert "bsgroups" not in few.cer.signature


def test_intervals_draw_whole_groups_where_there_are_several() -> None:
    true = ["abcd"] * 40
    # Of ten photographs three are lost as a whole.
    groups = [f"photo {i // 4}" for i in range(40)]
    said = ["wxyz" if i // 4 in (1, 5, 8) else "abcd" for i in range(40)]
    known = [i % 2 == 0 for i in range(40)]
    by_line = evaluate(said, true, seen=known)
    by_photo = evaluate(said, true, seen=known, groups=groups)
    assert "bsgroups" not in by_line.cer.signature
    for one, other in (
        (by_line.cer, by_photo.cer),
        (by_line.wer, by_photo.wer),
        (by_line.right, by_photo.right),
    ):
        assert one.value == other.value
        assert "|bsgroups:10|" in other.signature
        assert one.interval is not None
        assert other.interval is not None
        assert other.interval.upper - other.interval.lower > 1.3 * (one.interval.upper - one.interval.lower)
    assert all("|bsgroups:10|" in one.signature for one in by_photo.parts.values())
    # One group would be in every draw, and groups of one line are lines.
    for alike in (["one"] * 40, [str(i) for i in range(40)]):
        assert evaluate(said, true, groups=alike).cer == by_line.cer
    with pytest.raises(ValueError, match="groups must be 40, one for each line, got 39"):
        evaluate(said, true, groups=groups[1:])


def test_forms_of_unicode_and_spaces_at_the_ends_do_not_count() -> None:
    found = evaluate([" pho\u031b\u0309 "], ["phở"], n_resamples=0)
    assert (found.cer.value, found.accuracy) == (0.0, 1.0)
    assert not sum(error_kinds(["pho\u031b\u0309"], ["phở"]).values())


def test_confusions() -> None:
    assert commonest_confusions(["xa", "xa", "a"], ["ya", "ya", "b"]) == [("y", "x", 2), ("b", "a", 1)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], []), "at least one line"),
        ((["a"], ["a", "b"]), "hypotheses must be 2, one for each line, got 1"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        evaluate(*arguments)
    with pytest.raises(ValueError, match="seen must be 1"):
        evaluate(["a"], ["a"], seen=[])


def test_the_page_shows_the_worst_first_and_escapes(tmp_path: Path) -> None:
    crop = np.full((8, 20), 255, dtype=np.uint8)
    readings = [
        Reading(crop, "right", "right", 0.9, "a"),
        Reading(crop, "<b>&", "<i>&", 0.5, "b"),
        Reading(None, "phở", "", 0.0, "c.png"),
        Reading(crop, "phở bò", "phở bo", 0.7, "d"),
    ]
    assert [one.name for _, one in rank_by_error(readings)] == ["c.png", "b", "d"]
    assert write_error_gallery(tmp_path / "worst.html", readings, most=2, title="A & B") == 2
    page = (tmp_path / "worst.html").read_text("utf-8")
    assert "3 of 4 lines have an error; 2 are shown" in page
    assert "could not be read" in page
    assert "&lt;<ins>i</ins>&gt;&amp;" in page
    assert page.count("data:image/png;base64,") == 1
    assert "<title>A &amp; B</title>" in page
    assert "http" not in page.replace("http-equiv", "")
    assert "default-src 'none'" in page


def test_without_the_truth_the_least_sure_come_first(tmp_path: Path) -> None:
    crop = np.full((8, 20), 255, dtype=np.uint8)
    readings = [
        Reading(crop, None, "sure", 0.9, "a"),
        Reading(crop, "right", "right", 0.6, "b"),
        Reading(crop, None, "doubtful", 0.2, "c"),
        Reading(crop, "phở", "phơ", 0.4, "d"),
    ]
    ranked = rank_by_confidence(readings)
    assert [(rate, one.name) for rate, one in ranked] == [
        (None, "c"),
        (pytest.approx(1 / 3), "d"),
        (0.0, "b"),
        (None, "a"),
    ]
    assert write_error_gallery(tmp_path / "worst.html", readings, most=3, order="confidence") == 3
    page = (tmp_path / "worst.html").read_text("utf-8")
    assert "4 of 4 lines were read; 3 are shown, least sure first" in page
    assert page.index("read doubtful") < page.index("ph<ins>ơ</ins>") < page.index("read right")
    assert page.count(">right ") == 2
    assert "read sure" not in page
    with pytest.raises(ValueError, match="a: nobody has said what is right; take the order by confidence"):
        write_error_gallery(tmp_path / "worst.html", readings)
    with pytest.raises(ValueError, match="order must be one of error, confidence, got 'length'"):
        write_error_gallery(tmp_path / "worst.html", readings, order="length")


def test_marks_that_have_no_shape_are_written_out() -> None:
    assert marked_html("22 .000", "22.000") == ("22<ins>␣</ins>.000", "22.000")
    assert marked_html("trà đá", "tràđá") == ("trà<ins>␣</ins>đá", "tràđá")
    assert marked_html("trà\u00a0đá", "trà đá") == ("trà<ins>U+00A0</ins>đá", "trà<del>␣</del>đá")
    assert marked_html("1\u200b2", "12") == ("1<ins>U+200B</ins>2", "12")
    assert marked_html("trà đá", "trà đá") == ("trà đá", "trà đá")


def test_differences_are_marked() -> None:
    assert marked_html("phơ", "phở") == ("ph<ins>ơ</ins>", "ph<del>ở</del>")
    assert marked_html("ab", "ab") == ("ab", "ab")
    assert marked_html("", "a") == ("", "<del>a</del>")
