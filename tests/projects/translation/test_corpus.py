"""Parallel files: what is read, what is refused and by which line; the forms that models, readers and scorers see."""

import re
import unicodedata
from pathlib import Path

import pytest

from coursepkg.projects.translation.corpus import (
    SentencePair,
    cut_text,
    not_composed,
    numbered_lines,
    pair_keys,
    read_parallel,
    run_ons,
    sentence_key,
    split_sentences,
    to_model,
    to_reader,
    to_scorer,
    without_duplicates,
)

VIETNAMESE = "Các_bạn nhìn thấy ba con mèo ."


def write(folder: Path, source: bytes, target: bytes) -> tuple[Path, Path]:
    paths = folder / "part.zh", folder / "part.vi"
    for path, content in zip(paths, (source, target), strict=True):
        path.write_bytes(content)
    return paths


def test_lines_are_paired_and_numbered(tmp_path: Path) -> None:
    found = read_parallel(*write(tmp_path, "你 好\n再见\n".encode(), "Xin chào\nTạm_biệt\n".encode()))
    assert found == [
        SentencePair("你 好", "Xin chào", "part.zh", 1),
        SentencePair("再见", "Tạm_biệt", "part.zh", 2),
    ]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_byte_order_mark_and_line_ends_are_no_text(tmp_path: Path, end: bytes) -> None:
    source = "\ufeff你好".encode() + end + "再见".encode()
    found = read_parallel(*write(tmp_path, source, b"a" + end + b"b" + end))
    assert [p.source for p in found] == ["你好", "再见"]
    assert [p.target for p in found] == ["a", "b"]


def test_spaces_and_unicode_form_are_left_as_they_are(tmp_path: Path) -> None:
    raw = unicodedata.normalize("NFD", "  Các_bạn  ơi ")
    found = read_parallel(*write(tmp_path, "你们\n".encode(), f"{raw}\n".encode()))
    assert found[0].target == raw


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (b"a\nb\n", b"x\n", r"part\.zh has 2 lines and \S+part\.vi has 1; line i of one must translate"),
        (b"a\n\nb\n", b"x\ny\nz\n", r"part\.zh, line 2: empty; remove the line from both files$"),
        (b"a\nb\n", b"x\n \t\n", r"part\.vi, line 2: empty"),
        (
            b"a\nb\n",
            b"x\nxy\xff\n",
            r"part\.vi, line 2: not UTF-8 \(invalid start byte at byte 2 of the line\)",
        ),
        (b"\xfe\xff\n", b"x\n", r"part\.zh, line 1: not UTF-8"),
        (b"", b"", r"part\.zh: empty; a corpus holds at least one pair$"),
    ],
)
def test_bad_files_are_named_with_their_line(
    tmp_path: Path, source: bytes, target: bytes, message: str
) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        read_parallel(*write(tmp_path, source, target))
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        read_parallel(tmp_path / "nowhere.zh", tmp_path / "nowhere.vi")


def test_lines_come_one_at_a_time(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"good\nbad \xff\n")
    lines = numbered_lines(path)
    assert next(lines) == (1, "good")
    with pytest.raises(ValueError, match=r"line 2: not UTF-8"):
        next(lines)


def test_lines_that_are_not_composed_are_numbered() -> None:
    lines = ["Tôi", unicodedata.normalize("NFD", "Tôi"), "abc", unicodedata.normalize("NFD", "mèo")]
    assert not_composed(lines) == [2, 4]


def test_models_see_one_form_whatever_the_spelling() -> None:
    spellings = [VIETNAMESE, "Các bạn nhìn thấy ba con mèo.", unicodedata.normalize("NFD", VIETNAMESE)]
    assert {to_model(s, "vi") for s in spellings} == {"Các bạn nhìn thấy ba con mèo ."}
    assert {to_model(s, "zh") for s in ("你们 看见 三 只 猫 。", "你们看见三只猫。")} == {"你们看见三只猫。"}
    assert to_model("Rock &amp; roll, please.", "en") == "Rock & roll , please ."


def test_a_model_may_keep_underscores_of_vietnamese_alone() -> None:
    assert to_model(VIETNAMESE, "vi", underscores="keep") == VIETNAMESE
    assert to_model("snake_case .", "en") == "snake_case ."


def test_nothing_is_lower_cased_and_no_character_replaced() -> None:
    assert to_model("（ＡＢＣ），Tôi", "zh") == "（ＡＢＣ），Tôi"
    assert to_reader(VIETNAMESE, "vi") == "Các bạn nhìn thấy ba con mèo."
    assert to_reader("你们 好 。", "zh") == "你们好。"


def test_two_conventions_differ_by_the_underscores_alone() -> None:
    kept = to_scorer(VIETNAMESE, "vi", underscores="keep")
    removed = to_scorer(VIETNAMESE, "vi")
    assert kept == VIETNAMESE
    assert removed == kept.replace("_", " ")
    # Spacing of a reference stays: SacreBLEU's own tokenizer decides about it.
    assert to_scorer("mèo.", "vi") == "mèo."
    assert to_scorer("snake_case", "en") == "snake_case"


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("vi", VIETNAMESE, "các bạn nhìn thấy ba con mèo"),
        ("vi", VIETNAMESE, unicodedata.normalize("NFD", VIETNAMESE.upper())),
        ("zh", "你们 看见 三 只 猫 。", "你们看见三只猫！"),
        ("zh", "ＡＢＣ １２", "abc12"),
        ("en", "It's here.", "its  HERE !"),
    ],
)
def test_spellings_of_one_sentence_share_a_key(language: str, one: str, other: str) -> None:
    assert sentence_key(one, language) == sentence_key(other, language)


def test_different_sentences_have_different_keys() -> None:
    texts = ["mèo", "meo", "mẹo", "...", "?!", "con mèo"]
    keys = {sentence_key(text, "vi") for text in texts}
    assert len(keys) == len(texts)
    assert sentence_key("ABC", "vi") != sentence_key("ABC", "en")


def test_duplicates_are_equal_on_both_sides_and_the_first_stays() -> None:
    first = SentencePair("你 好", "Xin chào .", "f", 1)
    again = SentencePair("你好", "xin chào", "f", 2)
    other = SentencePair("你 好", "Chào anh .", "f", 3)
    once_more = SentencePair("你 好 。", "Xin chào", "f", 4)
    pairs = [first, again, other, once_more]
    kept, left_out = without_duplicates(pairs, lambda p: pair_keys(p, "zh", "vi"))
    assert kept == [first, other]
    assert left_out == [again, once_more]


def test_a_pair_swaps_its_sides_and_keeps_its_place() -> None:
    pair = SentencePair("a", "b", "f", 7)
    assert pair.swapped() == ("b", "a", "f", 7)
    assert pair.swapped().swapped() == pair


def test_the_mark_of_words_is_named_with_its_line(tmp_path: Path) -> None:
    (tmp_path / "a.zh").write_text("一\n二\n", "utf-8")
    (tmp_path / "a.vi").write_text("một\nhai▁ba\n", "utf-8")
    with pytest.raises(ValueError, match=r"a\.vi, line 2: holds ▁ \(U\+2581\)"):
        read_parallel(tmp_path / "a.zh", tmp_path / "a.vi")


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("我不知道……我们走吧！！你呢？！", ["我不知道……", "我们走吧！！", "你呢？！"]),
        ("他说：“走吧！”我们走了。（真的？）好。", ["他说：“走吧！”", "我们走了。", "（真的？）", "好。"]),
        ("他说“走吧！”，我们走了。", ["他说“走吧！”，", "我们走了。"]),
        (
            '"Come in!" He sat. "Go." (Why?) Er... Yes?!',
            ['"Come in!"', "He sat.", '"Go."', "(Why?)", "Er...", "Yes?!"],
        ),
    ],
)
def test_a_text_is_cut_behind_all_marks_that_end_a_sentence(text: str, parts: list[str]) -> None:
    assert cut_text(text, lambda part: part != text, 1000, "") == parts


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (" Hello.  How are you? ", ["Hello.", "How are you?"]),
        ("他说“走吧！”，我们走了。再见！", ["他说“走吧！”，我们走了。", "再见！"]),
        (
            "Dr. Lee of the U.S. met Mr. An at 5 p.m. today; e.g. here.",
            ["Dr. Lee of the U.S. met Mr. An at 5 p.m. today;", "e.g. here."],
        ),
        ("TP. HCM. Đúng.", ["TP. HCM.", "Đúng."]),
        (
            "Prof. Lan, PGS. TS. An: Fig. 3, No. 5. No. Yes.",
            ["Prof. Lan, PGS. TS. An: Fig. 3, No. 5.", "No.", "Yes."],
        ),
        ("Tom &amp; Jerry run.", ["Tom & Jerry run."]),
        ("“ why ? ” he said .", ["“ why ? ” he said ."]),
        ("if a != b then", ["if a != b then"]),
        (
            "Use !important here! See https://a.b/?q=1 now.",
            ["Use !important here!", "See https://a.b/?q=1 now."],
        ),
        ("", []),
    ],
)
def test_a_point_behind_an_abbreviation_ends_no_sentence(text: str, sentences: list[str]) -> None:
    assert split_sentences(text) == sentences


def test_sentences_run_on_without_marks_and_capitals() -> None:
    long = SentencePair("A long one. " * 9, "Một câu dài. " * 9)
    pairs = [SentencePair(f"Is “{i}” Mr. Lee’s (too)?", f"“{i}”是李先生的吗？") for i in range(12)]
    found = run_ons([*pairs, long], 40, "en", "zh")
    assert found == run_ons([*pairs, long], 40, "en", "zh")
    counts = set()
    for pair in found:
        numbers = re.findall(r"\d+", pair.source)
        counts.add(len(numbers))
        assert len(set(numbers)) == len(numbers)
        parts = [f"is “{i}” Mr. Lee’s (too)" for i in numbers]
        assert pair.source == " ".join(parts).replace("is", "Is", 1)
        assert pair.target == "".join(f"“{i}”是李先生的吗" for i in numbers)
    assert counts == {2, 3, 4, 5}
    assert run_ons([*pairs[:4], long], 40, "en", "zh") == []


def test_both_directions_have_run_on_sentences_of_the_same_length() -> None:
    dev = [SentencePair("很短。" * 12, "Một câu dài. " * n) for n in (1, 2, 3, 4, 5, 6, 7, 8) * 3]
    there, back = run_ons(dev, 6, "zh", "vi"), run_ons([pair.swapped() for pair in dev], 6, "vi", "zh")
    assert len(there) == 6
    assert back == [pair.swapped() for pair in there]
