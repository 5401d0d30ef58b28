"""The Phrasebook as a data set: its size, order, parts, alignments and files."""

import hashlib
import os
import subprocess
import sys
import unicodedata
from itertools import permutations
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.projects.translation.phrasebook.interlinear import LANGUAGES
from coursepkg.projects.translation.synthetic import Phrasebook, Split, Triple

BOOK = Phrasebook()
GOLDEN = Path(__file__).with_name("phrasebook_golden.tsv")

# Changes only when the grammar or the lexicon does.
DIGEST = "8118a9b1de3a016a56ab6a4b9d50a426a2967629a9d5e4df8984649b6a8dbe26"

# Words that Chinese says and another language leaves out; all others are aligned on both sides.
UNALIGNED = set("的，在了把是就得点分号来给边去往里租喝会离用有路一要都") | {"一下", "喜欢"}
MEASURES = set("个本辆条张件双台支只间碗顶家部盘杯块份幅盏套束根副座封所瓶把片面")

SCRIPT = """
import hashlib, sys
from coursepkg.projects.translation import synthetic
book = synthetic.Phrasebook()
assert synthetic._all_triples.cache_info().currsize == 0, "generated before it was asked for"
lines = sorted(f"{t.zh}\\t{t.en}\\t{t.vi}" for t in book.triples)
assert "torch" not in sys.modules
ordered = "\\n".join(t.en for t in book.triples)
print(*(hashlib.sha256(text.encode()).hexdigest() for text in ("\\n".join(lines), ordered)))
"""


def lines_of(book: Phrasebook) -> str:
    return "\n".join(sorted(f"{t.zh}\t{t.en}\t{t.vi}" for t in book.triples))


def test_at_least_twenty_thousand_triples_and_no_sentence_twice_in_any_language():
    assert len(BOOK.triples) >= 20_000
    for language in LANGUAGES:
        assert len({t.text(language) for t in BOOK.triples}) == len(BOOK.triples)


def test_the_set_is_the_one_that_was_checked():
    assert hashlib.sha256(lines_of(BOOK).encode()).hexdigest() == DIGEST


@pytest.mark.parametrize("hash_seed", ["0", "4711"])
def test_every_process_makes_the_same_book_lazily_and_without_torch(hash_seed):
    made = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        check=True,
    )
    order = hashlib.sha256("\n".join(t.en for t in BOOK.triples).encode()).hexdigest()
    assert made.stdout.split() == [DIGEST, order]


def test_the_seed_shuffles_and_changes_nothing_else():
    other = Phrasebook(seed=3)
    assert other.triples != BOOK.triples
    assert lines_of(other) == lines_of(BOOK)
    assert Phrasebook(seed=3).triples == other.triples


def test_topics_divide_the_book():
    topics = BOOK.by_topic()
    assert len(topics) == 16
    assert min(len(triples) for triples in topics.values()) >= 500
    assert sum(len(triples) for triples in topics.values()) == len(BOOK.triples)
    assert all(t.pattern.startswith(f"{topic}.") for topic, triples in topics.items() for t in triples)


def test_hand_checked_sentences_are_in_the_book():
    checked = GOLDEN.read_text(encoding="utf-8").splitlines()
    made = {f"{t.topic}\t{t.zh}\t{t.en}\t{t.vi}" for t in BOOK.triples}
    assert len(checked) >= 40
    assert {line.partition("\t")[0] for line in checked} == set(BOOK.by_topic())
    assert [line for line in checked if line not in made] == []


def test_forms_of_a_sentence():
    triple = next(t for t in BOOK.triples if t.en == "We would like a double room with a balcony.")
    assert triple.line("zh") == "我们 想 要 一 间 带 阳台 的 双人间 。"
    assert triple.line("vi") == "Chúng_tôi muốn một phòng_đôi có ban_công ."
    assert triple.line("vi", compounds=False) == "Chúng tôi muốn một phòng đôi có ban công ."
    assert triple.zh == "我们想要一间带阳台的双人间。"
    assert triple.vi == "Chúng tôi muốn một phòng đôi có ban công."
    zh, vi = triple.tokens("zh"), triple.tokens("vi")
    assert {(zh[i], vi[j]) for i, j in triple.alignment("zh", "vi")} == {
        *(("我们", "Chúng_tôi"), ("想", "muốn"), ("要", "muốn"), ("一", "một"), ("带", "có")),
        *(("阳台", "ban_công"), ("双人间", "phòng_đôi"), ("。", ".")),
    }


def test_unicode_is_composed_and_spaces_are_single():
    for triple in BOOK.triples:
        for language in LANGUAGES:
            line = triple.line(language)
            assert unicodedata.is_normalized("NFC", line)
            assert line == " ".join(line.split())
            assert not set(line) & set("{}/@"), line


def test_alignments_are_in_range_and_mirror_one_another():
    for triple in BOOK.triples[::101]:
        for source, target in permutations(LANGUAGES, 2):
            for compounds in (True, False):
                links = triple.alignment(source, target, compounds=compounds)
                assert list(links) == sorted(set(links))
                assert all(i < len(triple.tokens(source, compounds=compounds)) for i, _ in links)
                assert all(j < len(triple.tokens(target, compounds=compounds)) for _, j in links)
                mirrored = triple.alignment(target, source, compounds=compounds)
                assert {(j, i) for i, j in links} == set(mirrored)


def test_every_content_word_is_aligned():
    for triple in BOOK.triples[::7]:
        for target in ("en", "vi"):
            aligned = {i for i, _ in triple.alignment("zh", target)}
            left = {word for i, word in enumerate(triple.tokens("zh")) if i not in aligned}
            assert left <= UNALIGNED | MEASURES, (target, triple.line("zh"))


def test_syllables_of_a_compound_keep_its_links():
    triple = next(t for t in BOOK.triples if "Chúng_tôi" in t.line("vi"))
    words, syllables = triple.tokens("vi"), triple.tokens("vi", compounds=False)
    assert [s for w in words for s in w.split("_")] == syllables
    start = syllables.index("Chúng")
    linked = {j for _, j in triple.alignment("zh", "vi", compounds=False)}
    assert {start, start + 1} <= linked


def words_of(triples: tuple[Triple, ...], side: int) -> set[str]:
    return {word.text for t in triples for word in t.words[side]}


def check_parts(parts: Split) -> None:
    """A sentence stands in one part only: in each language the parts have as many sentences as the book."""
    for language in LANGUAGES:
        assert len(set().union(*({t.text(language) for t in part} for part in parts))) == len(BOOK.triples)
    assert sum(len(part) for part in parts) == len(BOOK.triples)


@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_the_compositional_split_holds_out_combinations_of_known_words(seed):
    parts = BOOK.split("compositional", seed)
    check_parts(parts)
    known = {t.combination for t in parts.train}
    for part in (parts.valid, parts.test):
        assert len(part) == pytest.approx(0.05 * len(BOOK.triples), abs=1)
        assert not known & {t.combination for t in part}
        assert all(len(t.combination) == 3 for t in part)
        assert all(words_of(part, side) <= words_of(parts.train, side) for side in range(3))
    assert not {t.combination for t in parts.valid} & {t.combination for t in parts.test}


def test_the_random_split_cuts_the_sentences():
    parts = BOOK.split("random", seed=1, valid=0.1, test=0.2)
    check_parts(parts)
    assert [len(part) for part in parts[1:]] == [round(s * len(BOOK.triples)) for s in (0.1, 0.2)]
    assert BOOK.split("random", seed=2, valid=0.1, test=0.2) != parts
    assert BOOK.split("random", seed=1, valid=0.1, test=0.2) == parts


def test_written_files_are_parallel_and_complete(tmp_path):
    paths = BOOK.write(tmp_path / "book")
    names = [f"{part}.{language}" for part in Split._fields for language in LANGUAGES]
    assert [path.name for path in paths] == names
    assert sorted(path.name for path in (tmp_path / "book").iterdir()) == sorted(names)
    parts = BOOK.split()._asdict()
    for path in paths:
        part, _, language = path.name.partition(".")
        text = path.read_text(encoding="utf-8")
        assert text.endswith("\n")
        assert text.splitlines() == [t.line(language) for t in parts[part]]
    BOOK.write(tmp_path / "book", compounds=False)
    assert "_" not in (tmp_path / "book" / "train.vi").read_text(encoding="utf-8")


def test_a_failed_write_leaves_the_old_files(tmp_path, monkeypatch):
    (tmp_path / "train.zh").write_text("old\n", encoding="utf-8")

    def fail(self, language, *, compounds=True):
        raise RuntimeError("disk full")

    monkeypatch.setattr(Triple, "line", fail)
    with pytest.raises(RuntimeError, match="disk full"):
        BOOK.write(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["train.zh"]
    assert (tmp_path / "train.zh").read_text(encoding="utf-8") == "old\n"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: BOOK.split("composition"), "kind: got 'composition', needs 'compositional' or 'random'"),
        (lambda: BOOK.split(test=0.9), r"test: got 0\.9, needs a share of the triples in \(0, 0\.25\]"),
        (lambda: BOOK.split(valid=0.0), r"valid: got 0\.0, needs a share"),
        (lambda: BOOK.triples[0].tokens("fr"), "language: got 'fr', needs one of zh, en, vi"),
        (lambda: BOOK.triples[0].alignment("zh", "jp"), "language: got 'jp', needs one of zh, en, vi"),
    ],
)
def test_mistakes_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
