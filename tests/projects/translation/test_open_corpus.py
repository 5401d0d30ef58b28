"""The open corpus: split over three languages, scored by domain, its embedded part, its audit, the Wikipedia."""

import lzma
import re
from collections.abc import Sequence
from importlib import resources
from itertools import combinations
from pathlib import Path

import pytest

from coursepkg.data.registry import data_folder
from coursepkg.projects.translation import corpora
from coursepkg.projects.translation.corpora import load_parts
from coursepkg.projects.translation.corpus import sentence_key
from coursepkg.projects.translation.readers.open_corpus import (
    DOMAINS,
    EMBEDDED,
    HEAD,
    MACHINE_MADE,
    SCORED_DOMAINS,
    OpenRow,
    count_by_file,
    domain_of,
    raw_open_rows,
    read_embedded,
    read_open,
    read_parts,
    read_wikipedia,
    sentences_of,
    split_open,
    wikipedia_sentences,
)
from tests.projects.translation.tiny import SmallBook, sentences, translation, write_lines

OPEN = data_folder() / "open"
needs_corpus = pytest.mark.skipif(
    not (OPEN / "tatoeba.tsv").is_file(), reason=f"no open corpus in {OPEN}; set COURSEPKG_DATA"
)


def write_open(folder: Path, n: int = 280) -> Path:
    """Six files of n sentences each; every second one has Chinese, and some sentences stand in several files."""
    for number, name in enumerate(DOMAINS):
        rows = []
        for i, (zh, vi, en) in enumerate(sentences()[:n]):
            # The first ten are the same in the first three files, in Vietnamese alone.
            own = name if i >= 10 or number > 2 else "chung"
            chinese = f"{name}{zh}" if i % 2 else ""
            rows.append((f"{name} {en}", f"{own} {vi}", chinese, f"owner of {i}"))
        if name == "ms_mt":  # what a machine made of a sentence that a human translated, too
            rows += [(f"tatoeba {row[2]}", f"máy {row[1]}", "", "") for row in sentences()[20:60]]
        write_lines(folder / "open" / f"{name}.tsv", ["\t".join(row) for row in (HEAD, *rows)])
    return folder


@pytest.fixture
def open_data(tmp_path: Path, small_book: SmallBook, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = write_open(tmp_path / "data")
    monkeypatch.setenv("COURSEPKG_DATA", str(folder))
    return folder


def keys(rows: Sequence[OpenRow]) -> set[str]:
    return {key for row in rows for key in row.keys}


def assert_apart(parts: dict[str, list[OpenRow]]) -> None:
    assert all(parts.values())
    for one, other in combinations(parts, 2):
        assert keys(parts[one]).isdisjoint(keys(parts[other])), (one, other)
    assert all(row.domain != MACHINE_MADE for part in ("dev", "test") for row in parts[part])


def test_no_sentence_of_any_language_is_in_two_parts(open_data: Path) -> None:
    rows = read_open(open_data / "open")
    assert len(rows) == 6 * 280 + 40
    parts = split_open(rows)
    assert_apart(parts)
    left_out = {(row.file, row.line) for row in rows}
    left_out -= {(row.file, row.line) for own in parts.values() for row in own}
    # Only what a machine made of scored sentences is nowhere.
    assert left_out
    assert {file for file, _ in left_out} == {"ms_mt"}


def test_the_split_is_the_same_every_time_and_mixed(open_data: Path) -> None:
    rows = read_open(open_data / "open")
    assert split_open(rows) == split_open(rows)
    lines = [row.line for row in split_open(rows)["train"]]
    assert lines != sorted(lines)


@pytest.mark.parametrize(("source", "target"), [("en", "vi"), ("vi", "zh")])
def test_each_domain_is_scored_alone_and_trained_alike(open_data: Path, source: str, target: str) -> None:
    found = {name: load_parts(name, source, target) for name in SCORED_DOMAINS}
    assert {name: parts.corpus for name, parts in found.items()} == {name: name for name in SCORED_DOMAINS}
    whole = found.pop("open")
    for part in ("dev", "test"):
        assert sum((getattr(one, part) for one in found.values()), start=()) != ()
        assert {pair for one in found.values() for pair in getattr(one, part)} == {*getattr(whole, part)}
    for name, one in found.items():
        assert one.train == whole.train
        assert {domain_of(pair) for pair in (*one.dev, *one.test)} <= {SCORED_DOMAINS[name]}
    assert {domain_of(pair) for pair in whole.train} == {*DOMAINS.values(), "phrasebook"}


def test_what_the_phrasebook_trains_on_is_not_scored(open_data: Path, small_book: SmallBook) -> None:
    with (open_data / "open" / "docs_react.tsv").open("a", encoding="utf-8") as file:
        # The Vietnamese is another one than the phrasebook's, the English is not.
        file.writelines(f"{en}\tkhác {vi}\t\t\n" for _, vi, en in sentences())
    trained = {sentence_key(triple.line("en"), "en") for triple in small_book.split("random")[0]}
    parts = load_parts("open", "en", "vi")
    scored = {sentence_key(pair.source, "en") for pair in (*parts.dev, *parts.test)}
    assert scored.isdisjoint(trained)
    rows = split_open(read_open(open_data / "open"))
    n_left_out = sum(row.sentence_keys["en"] in trained for part in ("dev", "test") for row in rows[part])
    assert n_left_out > 0
    assert f"{n_left_out} dev and test pairs left out, which the phrasebook has" in parts.notes


def test_the_files_are_read_again_only_where_one_has_changed(open_data: Path) -> None:
    first = read_parts(open_data / "open")
    assert read_parts(open_data / "open") is first
    with (open_data / "open" / "ms_ht.tsv").open("a", encoding="utf-8") as file:
        file.write("One more line.\tThêm một dòng.\t\t\n")
    assert sum(map(len, read_parts(open_data / "open").values())) == sum(map(len, first.values())) + 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            b"Hello.\tXin ch\xc3\xa0o.\n",
            r"ms_ht\.tsv, line 282: 2 columns, and there must be 4: en, vi, zh, from",
        ),
        (b"a\tb\tc\td\te\n", r"ms_ht\.tsv, line 282: 5 columns"),
        (b"th\xe9\ta\tb\tc\n", r"ms_ht\.tsv, line 282: not UTF-8"),
    ],
)
def test_a_bad_line_is_named(open_data: Path, line: bytes, message: str) -> None:
    with (open_data / "open" / "ms_ht.tsv").open("ab") as file:
        file.write(line)
    with pytest.raises(ValueError, match=message):
        load_parts("open", "en", "vi")
    said = translation("audit", "--data", "open", "--from", "en")
    assert said.code == 2
    assert "ms_ht.tsv, line 282" in said.err


def test_a_missing_file_is_named(open_data: Path) -> None:
    (open_data / "open" / "l10n_mpl.tsv").unlink()
    with pytest.raises(FileNotFoundError, match=r"l10n_mpl\.tsv"):
        load_parts("open", "en", "vi")


@pytest.mark.parametrize("corpus", ["open", "open-everyday"])
def test_the_embedded_sentences_stand_in(corpus: str, tmp_path: Path) -> None:
    parts = load_parts(corpus, "vi", "en", folder=tmp_path)
    assert (parts.corpus, parts.source, parts.target) == ("tatoeba", "vi", "en")
    assert (
        f"is missing, so its everyday sentences, which ship with the package, stand in for {corpus};"
        in parts.notes[0]
    )
    assert str(tmp_path / "open" / "tatoeba.tsv") in parts.notes[0]
    assert (parts.dev, parts.test) == (
        *(load_parts("tatoeba", "vi", "en").__dict__[x] for x in ("dev", "test")),
    )


@pytest.mark.parametrize(
    ("corpus", "source"),
    [("open", "zh"), ("open-everyday", "zh"), ("open-documentation", "en"), ("open-interface", "en")],
)
def test_the_phrasebook_stands_in_for_the_rest(
    corpus: str, source: str, tmp_path: Path, small_book: SmallBook
) -> None:
    parts = load_parts(corpus, source, "vi", folder=tmp_path)
    assert parts.corpus == "phrasebook"
    assert f"the generated phrasebook stands in for {corpus};" in parts.notes[0]


def test_the_embedded_sentences_are_in_english_and_vietnamese() -> None:
    with pytest.raises(ValueError, match=r"^--data tatoeba has no zh to vi; it has en and vi$"):
        load_parts("tatoeba", "zh", "vi")


def test_the_embedded_file_is_small_and_attributed() -> None:
    folder = resources.files("coursepkg.projects.translation.readers")
    content = (folder / EMBEDDED).read_bytes()
    assert len(content) < 1_000_000
    head, *lines = content.decode().rstrip("\n").split("\n")
    assert head == "en\tvi\tpart\tattribution"
    for line in lines:
        assert re.fullmatch(r"[^\t]+\t[^\t]+\t(train|dev|test)\t#\d+ \([^\t]+\) & #\d+ \([^\t]+\)", line), (
            line
        )
    licence = (folder / "tatoeba.LICENCE").read_text("utf-8")
    assert "CC BY 2.0 FR" in licence
    assert "Attribution: tatoeba.org #906328 (papabear) & #1541945 (Aomori)" in licence
    parts = read_embedded()
    assert sum(map(len, parts.values())) == len(lines) == 6924
    assert min(map(len, parts.values())) > 300


@needs_corpus
def test_the_embedded_parts_are_those_of_the_whole_corpus() -> None:
    parts = split_open(read_open(OPEN))
    assert_apart(parts)
    embedded = {part: [pair[:2] for pair in pairs] for part, pairs in read_embedded().items()}
    own = {part: [(row.en, row.vi) for row in rows if row.file == "tatoeba"] for part, rows in parts.items()}
    assert embedded == own


def test_the_audit_counts_by_file(open_data: Path) -> None:
    path = open_data / "open" / "docs_react.tsv"
    added = ("Save\tLưu lại ngay\t保存\t", "Call <b>%s</b>\tGọi %s đi nào\t\t", "Save.\tLưu lại, ngay\t\t")
    with path.open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in added)
    said = translation("audit", "--data", "open", "--from", "en", "--json")
    assert said.code == 0
    assert "leaks: none, no sentence stands in two parts" in said.out
    assert (
        "docs_react.tsv: 283 pairs, documentation; 3 with a side of at most 2 words, 1 repeated, 1 with other links,"
        " codes, tags or numbers in their translation"
    ) in said.out
    assert "ms_mt.tsv: 320 pairs, support, its Vietnamese made by a machine;" in said.out
    files = said.document["files"]
    assert said.document["raw_pairs"] == sum(one["n_pairs"] for one in files.values()) == 6 * 280 + 40 + 3
    assert [file for file, one in files.items() if one["machine_made"]] == ["ms_mt.tsv"]


def test_chinese_sides_have_no_words_to_count(open_data: Path) -> None:
    rows = raw_open_rows(open_data / "open", "zh", "vi")
    counts = count_by_file(rows, "zh", "vi")
    assert {one.n_pairs for one in counts.values()} == {140}
    assert {one.n_short for one in counts.values()} == {0}


PARAGRAPHS = (
    "Hà Nội là thủ đô của cả nước. Thành phố nằm bên sông Hồng! Ở đó có TP. Hồ nào không? (1990)",
    "Hà Nội là thủ đô của cả nước.",
    "Tiểu hành tinh này do S. Shirai phát hiện vào năm 1993. Tên của nó là 1993 TQ, 12, 13, 14 và 15.",
    "không có chữ hoa ở đầu câu này. Ngắn quá. Câu này không có dấu ở cuối",
)


def write_wikipedia(folder: Path, paragraphs: Sequence[str] = PARAGRAPHS) -> Path:
    (folder / "open").mkdir(parents=True, exist_ok=True)
    with lzma.open(folder / "open" / "vi_wikipedia.txt.xz", "wt", encoding="utf-8") as file:
        file.writelines(f"{paragraph}\n" for paragraph in paragraphs)
    return folder / "open"


def test_paragraphs_are_cut_behind_sentences_not_behind_initials() -> None:
    assert [*sentences_of(PARAGRAPHS[0])] == [
        "Hà Nội là thủ đô của cả nước.",
        "Thành phố nằm bên sông Hồng!",
        "Ở đó có TP. Hồ nào không? (1990)",
    ]
    assert len([*sentences_of(PARAGRAPHS[2])]) == 2


def test_the_wikipedia_gives_plain_sentences_once(tmp_path: Path) -> None:
    folder = write_wikipedia(tmp_path)
    assert tuple(read_wikipedia(folder)) == PARAGRAPHS
    found = wikipedia_sentences(folder)
    assert sorted(found) == [
        "Hà Nội là thủ đô của cả nước.",
        "Thành phố nằm bên sông Hồng!",
        "Tiểu hành tinh này do S. Shirai phát hiện vào năm 1993.",
    ]
    assert wikipedia_sentences(folder) == found
    assert wikipedia_sentences(folder, 2) == found[:2]


def test_a_damaged_or_missing_wikipedia_is_named(tmp_path: Path) -> None:
    with pytest.raises(
        FileNotFoundError, match=r"vi_wikipedia\.txt\.xz is missing; coursepkg data list says"
    ):
        wikipedia_sentences(tmp_path)
    path = write_wikipedia(tmp_path) / "vi_wikipedia.txt.xz"
    for content in (path.read_bytes()[:-20], b"plain text\n"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"vi_wikipedia\.txt\.xz is damaged \(.*\); copy it again"):
            wikipedia_sentences(tmp_path / "open")


def test_the_corpora_of_the_open_data_have_their_names() -> None:
    assert {*SCORED_DOMAINS, "tatoeba"} <= corpora.CORPORA.keys()
    assert {*SCORED_DOMAINS.values()} - {""} <= {*DOMAINS.values()} - {MACHINE_MADE}
