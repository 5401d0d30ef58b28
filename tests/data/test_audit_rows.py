"""Bad rows and near duplicates: every fault is named with file, line and side."""

import random
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.data.audit_rows import (
    Row,
    _deletions,
    _hash,
    bad_rows,
    length_ratio,
    near_duplicates,
    normalised,
    odd_lengths,
    read_rows,
    tokens,
    usual_ratio,
)

GOOD = Row("我 想 喝水 。", "Tôi muốn uống_nước .", "train.zh", 1)


def faults(**change: str) -> list[tuple[str, str]]:
    """Kind and side of what is wrong with a good row after a change."""
    found = list(bad_rows("train", [GOOD, GOOD._replace(line=2, **change)], "zh", "vi"))
    assert all((one.part, one.file, one.line) == ("train", "train.zh", 2) for one in found)
    for one in found:
        one.detail.encode()
    return [(one.kind, one.side) for one in found]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty side"),
        (" \t ", "empty side"),
        (unicodedata.normalize("NFD", "uống nước"), "not NFC"),
        ("hòa " + unicodedata.normalize("NFD", "ấm"), "not NFC"),
        ("uống\x00nước", "control character"),
        ("uống\tnước", "control character"),
        ("uống\x85nước", "control character"),
        ("uống\u2028nước", "control character"),
        ("uống\u00a0nước", "unusual space or invisible character"),
        ("\ufeffuống nước", "unusual space or invisible character"),
        ("uống\u200bnước", "unusual space or invisible character"),
        (b"u\xe1\xbbng".decode("utf-8", "surrogateescape"), "invalid UTF-8"),
        ("u\ufffdng", "invalid UTF-8"),
        ("Tôi &quot; muốn", "HTML entity"),
        ("Tôi &amp;#39; muốn", "HTML entity"),
        ("Tôi _ muốn", "stray underscore"),
        ("uống_ nước", "stray underscore"),
    ],
)
def test_every_fault_is_named_on_either_side(text: str, kind: str) -> None:
    assert (kind, "vi") in faults(target=text)
    assert (kind, "zh") in faults(source=text)
    assert len(faults(target=text)) == 1


def test_a_good_row_is_left_alone() -> None:
    assert faults() == []
    assert faults(target="AT&T và R & D ; ") == []


def test_a_row_may_have_several_faults() -> None:
    assert faults(source="", target="a&lt;b\x01_") == [
        ("empty side", "zh"),
        ("control character", "vi"),
        ("HTML entity", "vi"),
        ("stray underscore", "vi"),
    ]


def test_a_sentence_that_was_not_translated() -> None:
    assert faults(target=GOOD.source) == [("not translated", "both")]
    assert faults(source="OK .", target="OK .") == []


def test_a_side_in_another_language_is_told() -> None:
    assert faults(source="Where is the station?") == [("language mismatch", "zh")]
    assert faults(target="我 想 喝水 吗 ？") == [("language mismatch", "vi")]
    assert faults(target="Ich möchte ein Glas Wasser trinken.") == [("language mismatch", "vi")]
    assert faults(source="Windows Update", target="Windows Update") == []  # a name is no translation
    assert list(bad_rows("p", [Row("Здравствуйте", "我", "x", 1)], "ru", "zh")) == []
    (found,) = bad_rows("p", [Row("Wo ist das Hotel?", "Khách sạn ở đâu?", "x.tsv", 7)], "en", "vi")
    assert found.detail == "'Wo ist das Hotel?' does not look like English: its common words are German"


def test_the_details_say_where_to_look() -> None:
    row = Row("&quot; a &apos;", "b\x07", "x.en", 9)
    details = [one.detail for one in bad_rows("p", [row], "en", "vi")]
    assert details == ["&quot; &apos;", r"U+0007 in 'b\x07'"]


def corpus(n: int) -> list[Row]:
    """Targets about twice as long as their sources."""
    return [Row("a" * (10 + i % 7), "b" * (2 * (10 + i % 7) + i % 3), "x", i + 1) for i in range(n)]


def test_odd_lengths_are_named_and_others_are_not() -> None:
    rows = [*corpus(100), Row("a" * 12, "b", "x", 101), Row("a", "b" * 60, "x", 102), Row("", "b", "x", 103)]
    usual = usual_ratio(rows, 5.0)
    assert usual is not None
    assert usual.low < 2 < usual.high
    assert usual.median == pytest.approx(sorted(map(length_ratio, rows[:-1]))[51], rel=0.02)
    found = list(odd_lengths("train", rows, usual))
    assert [(one.kind, one.line, one.side) for one in found] == [
        ("length ratio", n, "both") for n in (101, 102)
    ]
    wide = usual_ratio(rows, 500.0)
    assert wide is not None
    assert list(odd_lengths("train", rows, wide)) == []


def test_few_rows_have_no_usual_length() -> None:
    assert usual_ratio(corpus(19), 5.0) is None
    assert usual_ratio(corpus(20), 5.0) is not None
    assert usual_ratio([Row("", "", "x", i) for i in range(50)], 5.0) is None


@given(
    st.lists(st.text(st.characters(blacklist_characters="\r\n", blacklist_categories=("Cs",))), max_size=8)
)
def test_what_is_written_is_read(tmp_path_factory, lines: list[str]) -> None:
    folder = tmp_path_factory.mktemp("rows")
    for name in ("a.zh", "a.vi"):
        (folder / name).write_bytes(b"".join(line.encode() + b"\r\n" for line in ["first", *lines]))
    rows = read_rows(folder / "a.zh", folder / "a.vi")
    assert [row.source for row in rows] == [row.target for row in rows] == ["first", *lines]
    assert [(row.file, row.line) for row in rows] == [("a.zh", i + 1) for i in range(len(lines) + 1)]


def test_broken_bytes_and_empty_lines_are_read_and_then_named(tmp_path) -> None:
    (tmp_path / "a.zh").write_bytes("\ufeff一\n\n二\n".encode())
    (tmp_path / "a.vi").write_bytes("một\nhai\nb\xed\xa0\x80\xff\n".encode("latin-1", "replace"))
    rows = read_rows(tmp_path / "a.zh", tmp_path / "a.vi")
    assert rows[0].source == "一"
    found = [(one.kind, one.line, one.side) for one in bad_rows("train", rows, "zh", "vi")]
    assert found == [("empty side", 2, "zh"), ("invalid UTF-8", 3, "vi")]


def test_files_of_different_length_and_missing_files(tmp_path) -> None:
    (tmp_path / "a.zh").write_text("one\ntwo\n")
    (tmp_path / "a.vi").write_text("one\n")
    with pytest.raises(ValueError, match=r"a\.zh has 2 lines and .*a\.vi has 1; line i"):
        read_rows(tmp_path / "a.zh", tmp_path / "a.vi")
    with pytest.raises(FileNotFoundError, match=r"a\.en"):
        read_rows(tmp_path / "a.en", tmp_path / "a.vi")


@pytest.mark.parametrize(
    ("one", "other", "language"),
    [
        ("Khách_sạn ở đâu ?", "khách sạn ở đâu", "vi"),
        ("Ho\u0300a bi\u0300nh", "Hòa bình", "vi"),
        ("我 不 知道 。", "我不知道", "zh"),
        ("It &apos;s  late .", "it's late!", "en"),
        ("ẤM", "ấm", "vi"),
    ],
)
def test_spellings_of_a_sentence_have_one_key(one: str, other: str, language: str) -> None:
    assert normalised(one, language) == normalised(other, language) != ""


@pytest.mark.parametrize(
    ("one", "other"), [("hòa", "hóa"), ("ma", "má"), ("3.5", "3.6"), ("?", "!"), ("क", "कि")]
)
def test_different_sentences_have_different_keys(one: str, other: str) -> None:
    assert normalised(one, "vi") != normalised(other, "vi")


def test_nothing_has_an_empty_key() -> None:
    assert normalised(" \t", "vi") == ""
    assert normalised(" ... ", "vi") == "..."


def test_tokens_are_words_or_chinese_characters() -> None:
    assert tokens("Khách_sạn Ở đâu ?", "vi") == ("khách_sạn", "ở", "đâu")
    assert tokens("我 不 知道 。", "zh") == ("我", "不", "知道")
    assert tokens("我不知道。", "zh") == ("我", "不", "知", "道")
    assert tokens("It &apos;s late !", "en") == ("it", "'s", "late")
    assert tokens("...", "vi") == ()


def edit_distance_is_one(one, other) -> bool:
    """By trying every edit."""
    if len(one) == len(other):
        return sum(a != b for a, b in zip(one, other, strict=True)) == 1
    short, long = sorted((one, other), key=len)
    return len(long) == len(short) + 1 and any(long[:i] + long[i + 1 :] == short for i in range(len(long)))


sentences = st.lists(
    st.lists(st.sampled_from("abc"), min_size=0, max_size=6).map(tuple), max_size=25, unique=True
)


@given(sentences, st.integers(2, 4))
def test_near_duplicates_are_what_a_comparison_of_all_pairs_finds(several, least: int) -> None:
    groups = near_duplicates(several, least=least)
    pairs = {(i, j) for group in groups for i in group for j in group if i < j}
    slow = {
        (i, j)
        for i, one in enumerate(several)
        for j, other in enumerate(several)
        if i < j and min(len(one), len(other)) >= least and edit_distance_is_one(one, other)
    }
    assert {i for pair in pairs for i in pair} == {i for pair in slow for i in pair}
    assert pairs == slow


def test_equal_sentences_form_no_group() -> None:
    one = ("a", "b", "c", "d")
    assert near_duplicates([one, one]) == []
    assert near_duplicates([]) == []
    assert near_duplicates([("a", "b", "c"), ("a", "b", "x")]) == []
    assert near_duplicates([("a", "b", "c"), ("a", "b", "x")], least=3) == [(0, 1)]


def test_a_token_that_moved_is_no_neighbour_and_hides_none() -> None:
    moved, one, other = ("b", "c", "d", "a"), ("a", "b", "c", "d"), ("x", "b", "c", "d")
    assert near_duplicates([moved, one]) == []
    assert near_duplicates([moved, one, other]) == [(1, 2)]


def test_a_planted_neighbour_is_found_among_many() -> None:
    draw = random.Random(0)
    words = [f"w{i}" for i in range(500)]
    many = [tuple(draw.choices(words, k=draw.randint(8, 12))) for _ in range(5000)]
    changed = (*many[77][:4], "other", *many[77][5:])
    longer = (*many[99], "more")
    assert near_duplicates([*many, changed, longer]) == [(77, 5000), (99, 5001)]


def test_one_token_is_too_short_to_compare() -> None:
    with pytest.raises(ValueError, match="least must be at least 2 tokens, got 1"):
        near_duplicates([], least=1)


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=12))
def test_the_hash_of_a_deletion_is_the_hash_of_what_is_left(code) -> None:
    assert list(_deletions(code)) == [_hash(code[:i] + code[i + 1 :]) for i in range(len(code))]
