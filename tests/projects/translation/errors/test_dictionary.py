"""A dictionary learnt from pairs, its file, and its words in a sentence."""

from itertools import islice
from pathlib import Path

import pytest

from coursepkg.projects.translation.errors.dictionary import Dictionary, Entry, TermLimits, true_cased
from coursepkg.projects.translation.phrasebook.interlinear import Words
from coursepkg.projects.translation.phrasebook.patterns import sentences
from tests.projects.translation.tiny import translation

ENTRIES = [("酒店", "khách_sạn", 0.75), ("日本", "Nhật_Bản", 0.9), ("日本人", "người Nhật", 0.8)]
ENTRIES += [("机场", "phi_trường", 0.2), ("机场", "sân_bay", 0.7)]
SMALL = Dictionary(tuple(Entry(*entry) for entry in ENTRIES))


# Shopping, hotel and restaurant: Chinese and Vietnamese words, with marks that say which belong together.
LESSONS: list[tuple[Words, Words]] = [(s.words[0], s.words[2]) for _, s in islice(sentences(), 4000)]


@pytest.fixture(scope="module")
def learnt() -> Dictionary:
    return Dictionary.learn([([w.text for w in zh], [w.text for w in vi]) for zh, vi in LESSONS])


@pytest.mark.parametrize(("zh", "vi"), [("房间", "phòng"), ("鸡蛋", "trứng"), ("裙子", "váy")])
def test_words_of_the_phrasebook_are_learnt(learnt: Dictionary, zh: str, vi: str) -> None:
    assert learnt.translations(zh)[0] == vi


def test_grammar_and_punctuation_are_no_terms(learnt: Dictionary) -> None:
    sources = {entry.source for entry in learnt.entries}
    assert len(sources) > 50
    assert not sources & {"我", "的", "。", "？"}


def test_entries_agree_with_the_marks(learnt: Dictionary) -> None:
    """Only a classifier and its noun, which always come together, are taken for one another now and then."""
    true = {
        (a.text, b.text.lower()) for zh, vi in LESSONS for a in zh for b in vi if set(a.marks) & set(b.marks)
    }
    right = [entry for entry in learnt.entries if (entry.source, entry.target.lower()) in true]
    assert len(right) > 0.8 * len(learnt)
    sure = [entry for entry in learnt.entries if entry.probability > 0.6]
    assert len(sure) > 80
    assert set(sure) <= set(right)


def test_limits_hold() -> None:
    pairs = [(["x", "a"], ["U", "v"])] * 4 + [(["y", "b"], ["w", "v"])] * 2 + [(["z"], ["q"])] * 20
    every = TermLimits(min_count=1, max_share=1.0)
    sources = {entry.source for entry in Dictionary.learn(pairs, every).entries}
    assert {"x", "y", "z"} <= sources
    assert "z" not in {e.source for e in Dictionary.learn(pairs, TermLimits(max_share=0.5)).entries}
    assert "y" not in {
        e.source for e in Dictionary.learn(pairs, TermLimits(min_count=3, max_share=1.0)).entries
    }
    sure = Dictionary.learn(pairs, TermLimits(min_count=1, max_share=1.0, min_probability=0.9))
    assert {e.source for e in sure.entries} < sources
    assert all(0.9 <= e.probability <= 1 for e in sure.entries)


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"n_best": 0}, "n_best must be an integer of at least 1"),
        ({"min_count": 0}, "min_count must be"),
        ({"min_probability": 1.5}, r"min_probability must be in \[0, 1\], got 1.5"),
        ({"max_share": float("nan")}, "max_share must be a finite number"),
    ],
)
def test_bad_limits_are_named(limits: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        TermLimits(**limits)  # type: ignore[arg-type]


def test_a_saved_dictionary_comes_back(tmp_path: Path) -> None:
    path = tmp_path / "words.tsv"
    SMALL.save(path)
    assert path.read_text(encoding="utf-8").splitlines()[0] == "酒店\tkhách_sạn\t0.75"
    assert Dictionary.load(path) == SMALL
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert Dictionary.load(path) == SMALL


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"a\tb", r"words.tsv, line 2: needs source TAB target TAB probability, got 2 fields"),
        (b"", r"line 2: needs source TAB"),
        (b"a\tb\tmuch", r"line 2: needs a probability .* got 'much'"),
        (b"a\tb\t1.5", r"line 2: needs a probability in \(0, 1\], got 1.5"),
        (b"a\tb\tnan", r"line 2: needs a probability in \(0, 1\], got nan"),
        (b"a\t \t0.5", r"line 2: needs a target word"),
        (b"\xff\tb\t0.5", r"words.tsv, line 2: not UTF-8"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: bytes, message: str) -> None:
    path = tmp_path / "words.tsv"
    path.write_bytes("酒店\tkhách_sạn\t0.75\n".encode() + line + b"\n")
    with pytest.raises(ValueError, match=message) as caught:
        Dictionary.load(path)
    assert "\n" not in str(caught.value)


def test_the_command_refuses_a_folder_before_the_work_and_makes_a_missing_one(
    tmp_path: Path, small_book: object
) -> None:
    dictionary = ["dictionary", "--data", "phrasebook"]
    said = translation(*dictionary, "--out", tmp_path)
    assert "is a folder; name a file in it, such as" in said.mistake
    assert said.out == ""
    out = tmp_path / "terms" / "words.tsv"
    assert translation(*dictionary, "--out", out).code == 0
    assert out.is_file()


def test_translations_are_ranked_and_found_in_any_spelling() -> None:
    assert SMALL.translations("机场") == ("sân_bay", "phi_trường")
    assert Dictionary((Entry("Hotel", "khách_sạn", 1.0),)).translations("hotel") == ("khách_sạn",)
    assert SMALL.translations("猫") == ()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("日本人去机场", ["日本人", "机场"]),
        ("日本 人口 去 机场", ["日本", "机场"]),
        ("日本人去日本", ["日本人", "日本"]),
        ("日本人爱日本人", ["日本人"]),
        ("", []),
    ],
)
def test_words_of_a_sentence(line: str, expected: list[str]) -> None:
    assert SMALL.found_in(line) == expected


def test_the_usual_case() -> None:
    sentences = [line.split() for line in ("Bạn ở Hà_Nội", "Tôi thích bạn", "Chào", "hà_nội đẹp")]
    expected = ["bạn ở Hà_Nội", "Tôi thích bạn", "Chào", "Hà_Nội đẹp"]
    assert [" ".join(line) for line in true_cased(sentences)] == expected
