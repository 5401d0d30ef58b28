"""Corpora by name: no sentence in two parts, duplicates counted, the phrasebook where data are missing."""

import re
import unicodedata
from itertools import combinations
from pathlib import Path

import pytest

from coursepkg.projects.translation.corpora import CORPORA, Parts, load_parts, random_split
from coursepkg.projects.translation.corpus import SentencePair, sentence_key
from tests.projects.translation.tiny import SmallBook, sentences, write_lines, write_zh_vi

TALKS = ("dev2010", "tst2010", "tst2011")


def keys(part: tuple[SentencePair, ...], parts: Parts) -> set[str]:
    sources = {sentence_key(p.source, parts.source) for p in part}
    return sources | {sentence_key(p.target, parts.target) for p in part}


def assert_nothing_shared(parts: Parts) -> None:
    for one, other in combinations((parts.train, parts.dev, parts.test), 2):
        assert keys(one, parts).isdisjoint(keys(other, parts))


def write_en_vi(folder: Path, *, full: bool = False) -> Path:
    """Talks that say "thank you" again and again, and repeat sentences of one another."""
    names = (*TALKS, "tst2012", *(("train", "tst2013") if full else ()))
    for number, name in enumerate(names):
        rows = sentences()[30 * number : 30 * number + 40]
        english = [*(row[2] for row in rows), "Thank you."]
        vietnamese = [*(row[1] for row in rows), f"Cảm_ơn {number} ."]
        write_lines(folder / "en_vi" / f"{name}.en", english)
        write_lines(folder / "en_vi" / f"{name}.vi", vietnamese)
    return folder


def test_zh_vi_is_split_without_a_shared_sentence(zh_vi: Path) -> None:
    # One Chinese sentence with two translations, one of which translates another sentence, too: one group of four.
    more = (("甲 好", "Một_giáp"), ("甲好 。", "Hai_giáp"), ("乙 好", "hai giáp !"), ("乙 好 ！", "Ba"))
    for column, language in enumerate(("zh", "vi")):
        with (zh_vi / "zh_vi" / f"train.{language}").open("a", encoding="utf-8") as file:
            file.writelines(row[column] + "\n" for row in more)
    parts = load_parts("zh-vi", "zh", "vi")
    assert_nothing_shared(parts)
    assert (parts.corpus, parts.source, parts.target) == ("zh-vi", "zh", "vi")
    whole = [*parts.train, *parts.dev, *parts.test]
    assert len(whole) == 240 + len(more)
    assert min(map(len, (parts.train, parts.dev, parts.test))) >= 2
    assert len(parts.train) > 0.85 * len(whole)


def test_duplicates_are_dropped_and_counted(zh_vi: Path) -> None:
    parts = load_parts("zh-vi", "zh", "vi")
    assert "10 of 250 pairs left out as duplicates" in parts.notes
    lines = [p.line for part in (parts.train, parts.dev, parts.test) for p in part]
    assert sorted(lines) == list(range(1, 241))


def test_a_random_split_does_not_say_that_duplicates_are_left_out(zh_vi: Path) -> None:
    mixed = random_split(load_parts("zh-vi", "zh", "vi"))
    assert len([*mixed.train, *mixed.dev, *mixed.test]) == 250
    assert mixed.notes == ("raw lines split at random: sentences of dev are in train, too",)


def test_references_are_the_lines_of_the_file(zh_vi: Path) -> None:
    raw = (zh_vi / "zh_vi" / "train.vi").read_text("utf-8").splitlines()
    raw[0] = "  " + unicodedata.normalize("NFD", raw[0]) + "  "
    write_lines(zh_vi / "zh_vi" / "train.vi", raw)
    parts = load_parts("zh-vi", "zh", "vi")
    assert all(p.target == raw[p.line - 1] for part in (parts.train, parts.dev, parts.test) for p in part)
    noted = [note for note in parts.notes if "NFC" in note]
    assert noted == [
        "1 target lines, the first in line 1 of train.zh, are not in Unicode form NFC; they are composed when read"
    ]


def test_the_other_direction_is_the_same_split(zh_vi: Path) -> None:
    there, back = load_parts("zh-vi", "zh", "vi"), load_parts("zh-vi", "vi", "zh")
    assert (back.source, back.target) == ("vi", "zh")
    assert back == there.swapped()
    assert [(p.source, p.target) for p in back.test] == [(p.target, p.source) for p in there.test]


def test_the_order_of_the_file_decides_nothing(tmp_path: Path) -> None:
    there = load_parts("zh-vi", "zh", "vi", folder=write_zh_vi(tmp_path / "a"))
    for language in ("zh", "vi"):
        lines = (tmp_path / "a" / "zh_vi" / f"train.{language}").read_text("utf-8").splitlines()
        write_lines(tmp_path / "b" / "zh_vi" / f"train.{language}", lines[::-1])
    turned = load_parts("zh-vi", "zh", "vi", folder=tmp_path / "b")
    for name in ("train", "dev", "test"):
        assert keys(getattr(there, name), there) == keys(getattr(turned, name), turned)


@pytest.mark.parametrize("full", [False, True])
def test_en_vi_shares_no_sentence_between_parts(tmp_path: Path, full: bool, small_book: SmallBook) -> None:
    parts = load_parts("auto", "en", "vi", folder=write_en_vi(tmp_path, full=full))
    assert parts.corpus == "en-vi"
    assert_nothing_shared(parts)
    assert min(map(len, (parts.train, parts.dev, parts.test))) >= 1
    assert {p.file for p in parts.test} == {"tst2013.en" if full else "tst2012.en"}
    assert any(re.match(r"[1-9]\d* training pairs left out, whose sentences are in", n) for n in parts.notes)


def test_en_vi_without_the_full_set_takes_talks_and_phrasebook(tmp_path: Path, small_book: SmallBook) -> None:
    parts = load_parts("en-vi", "vi", "en", folder=write_en_vi(tmp_path))
    assert {p.file for p in parts.train} == {*(f"{name}.en" for name in TALKS), "phrasebook"}
    assert {p.file for p in parts.dev} <= {f"{name}.en" for name in TALKS}
    assert parts.source == "vi"
    assert any(p.target.startswith("The teacher") for p in parts.train)


@pytest.mark.parametrize("full", [False, True])
def test_pairs_of_a_published_set_with_an_empty_side_are_left_out_counted_and_named(
    tmp_path: Path, full: bool, small_book: SmallBook
) -> None:
    write_en_vi(tmp_path, full=full)
    name = "train" if full else "tst2010"
    before = load_parts("en-vi", "en", "vi", folder=tmp_path)
    for language, number in (("en", 3), ("vi", 7)):
        path = tmp_path / "en_vi" / f"{name}.{language}"
        lines = path.read_text("utf-8").splitlines()
        lines[number - 1] = " "
        write_lines(path, lines)
    parts = load_parts("en-vi", "en", "vi", folder=tmp_path)
    note = f"2 pairs of {name}.en and {name}.vi left out, which have an empty side: line 3, 7"
    assert [one for one in parts.notes if "empty" in one] == [note]
    everything = [*parts.train, *parts.dev, *parts.test]
    assert all(p.source.strip() and p.target.strip() for p in everything)
    assert not [p for p in everything if p.file == f"{name}.en" and p.line in (3, 7)]
    assert not [one for one in before.notes if "empty" in one]
    # The numbers of the lines behind are still those of the file.
    raw = (tmp_path / "en_vi" / f"{name}.en").read_text("utf-8").splitlines()
    assert all(p.source == raw[p.line - 1] for p in everything if p.file == f"{name}.en")


def test_an_empty_line_of_an_own_file_stays_a_mistake(zh_vi: Path) -> None:
    path = zh_vi / "zh_vi" / "train.vi"
    write_lines(path, ["", *path.read_text("utf-8").splitlines()[1:]])
    with pytest.raises(ValueError, match=r"train\.vi, line 1: empty; remove the line from both files"):
        load_parts("zh-vi", "zh", "vi")


def test_a_missing_file_of_the_talks_is_named(tmp_path: Path) -> None:
    (write_en_vi(tmp_path) / "en_vi" / "tst2011.vi").unlink()
    with pytest.raises(FileNotFoundError, match=r"tst2011\.vi"):
        load_parts("en-vi", "en", "vi", folder=tmp_path)


@pytest.mark.parametrize("corpus", ["zh-vi", "en-vi"])
def test_missing_data_give_the_phrasebook_and_say_so(
    corpus: str, tmp_path: Path, small_book: SmallBook
) -> None:
    source = corpus[:2]
    parts = load_parts("auto", source, "vi", folder=tmp_path / "none")
    (note,) = parts.notes
    assert parts.corpus == "phrasebook"
    assert str(tmp_path / "none") in note
    assert f"phrasebook stands in for {corpus}" in note
    assert "coursepkg data list" in note
    assert {*parts.train} == {*load_parts("phrasebook", source, "vi").train}


@pytest.mark.parametrize("corpus", ["phrasebook", "phrasebook-compositional"])
def test_phrasebook_shares_no_sentence_between_parts(corpus: str, small_book: SmallBook) -> None:
    parts = load_parts(corpus, "zh", "vi")
    assert parts.corpus == corpus
    assert_nothing_shared(parts)
    assert sum(map(len, (parts.train, parts.dev, parts.test))) == len(small_book.triples)
    assert {*load_parts(corpus, "vi", "zh").test} == {p.swapped() for p in parts.test}


def test_chinese_and_english_meet_in_the_phrasebook(tmp_path: Path, small_book: SmallBook) -> None:
    parts = load_parts("auto", "zh", "en", folder=tmp_path)
    note = "no corpus here has zh and en, so the generated phrasebook serves"
    assert (parts.corpus, parts.notes) == ("phrasebook", (note,))
    assert load_parts("phrasebook", "zh", "en").notes == ()


@pytest.mark.parametrize(
    ("corpus", "source", "target", "message"),
    [
        ("auto", "fr", "vi", "--from must be one of zh, vi, en, got fr"),
        ("auto", "zh", "xx", "--to must be one of zh, vi, en, got xx"),
        ("auto", "vi", "vi", "--from and --to must differ, got vi twice"),
        ("wmt", "zh", "vi", f"--data must be auto or one of {', '.join(CORPORA)}, got wmt"),
        ("zh-vi", "en", "vi", "--data zh-vi has no en to vi; use --data phrasebook, or other languages"),
        ("en-vi", "zh", "en", "--data en-vi has no zh to en"),
    ],
)
def test_what_no_corpus_has_is_refused(corpus: str, source: str, target: str, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        load_parts(corpus, source, target)


def test_a_bad_line_of_a_corpus_is_named(zh_vi: Path) -> None:
    path = zh_vi / "zh_vi" / "train.vi"
    path.write_bytes(path.read_bytes() + b"caf\xe9\n")
    with pytest.raises(ValueError, match=r"train\.vi, line 251: not UTF-8"):
        load_parts("zh-vi", "zh", "vi")
