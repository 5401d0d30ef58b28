"""Sentence pairs of one's own: every form gives the same pairs, and a bad one is told in one line."""

import re
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from xml.sax.saxutils import escape

import pytest

from coursepkg.data.split import grouped_split
from coursepkg.projects.translation.corpora import (
    CORPORA,
    LEAST_OWN_PAIRS,
    SHARES,
    SPLIT_SEED,
    Parts,
    load_parts,
    random_split,
    scored_keys,
)
from coursepkg.projects.translation.corpus import SentencePair, pair_keys
from coursepkg.projects.translation.handlers.data import raw_rows
from coursepkg.projects.translation.readers.own_data import own_rows, read_own
from tests.projects.translation.tiny import COLUMN, sentences, write_lines

Rows = tuple[tuple[str, str, str], ...]
Write = Callable[[Path, Rows], Path]


def side(rows: Rows, language: str) -> list[str]:
    return [row[COLUMN[language]] for row in rows]


def write_sides(
    folder: Path, rows: Rows, name: str = "train", languages: tuple[str, ...] = ("en", "vi")
) -> Path:
    for language in languages:
        write_lines(folder / f"{name}.{language}", side(rows, language))
    return folder


def write_table(path: Path, rows: Rows) -> Path:
    return write_lines(path, [f"{en}\t{vi}" for _, vi, en in rows])


def write_named_table(path: Path, rows: Rows) -> Path:
    return write_lines(
        path, ["id\tvi\tEN-us\tzh", *(f"{i}\t{vi}\t{en}\t{zh}" for i, (zh, vi, en) in enumerate(rows))]
    )


def memory(units: list[str], head: str = '<?xml version="1.0" encoding="UTF-8"?>') -> str:
    body = "\n".join(units)
    return f'{head}\n<tmx version="1.4"><header srclang="en"/><body>\n{body}\n</body></tmx>\n'


def unit(*sides: tuple[str, str]) -> str:
    found = (
        f'<tuv xml:lang="{language}"><prop type="x">p</prop><seg>{text}</seg></tuv>'
        for language, text in sides
    )
    return f"<tu><note>a note</note>{''.join(found)}</tu>"


def write_memory(path: Path, rows: Rows) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    units = [unit(("vi-VN", escape(vi)), ("de", "Wort"), ("en_GB", escape(en))) for _, vi, en in rows]
    path.write_text(memory(units, '<?xml version="1.0"?>\n<!DOCTYPE tmx SYSTEM "tmx14.dtd">'), "utf-8")
    return path


FORMS: dict[str, Write] = {
    "two files": lambda folder, rows: write_sides(folder / "mine", rows),
    "a table in a folder": lambda folder, rows: write_table(folder / "mine" / "train.tsv", rows).parent,
    "a table": lambda folder, rows: write_table(folder / "mine.tsv", rows),
    "a table of named columns": lambda folder, rows: write_named_table(folder / "mine.TSV", rows),
    "a memory": lambda folder, rows: write_memory(folder / "mine.tmx", rows),
}


def keys(part: tuple[SentencePair, ...], parts: Parts) -> set[str]:
    return {key for pair in part for key in pair_keys(pair, parts.source, parts.target)}


def texts(parts: Parts) -> set[tuple[str, str]]:
    return {pair[:2] for part in (parts.train, parts.dev, parts.test) for pair in part}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_pairs_split_without_a_shared_sentence(form: str, tmp_path: Path) -> None:
    rows = sentences()[:100]
    path = FORMS[form](tmp_path, rows + rows[:3])
    parts = load_parts(str(path), "en", "vi")
    assert (parts.source, parts.target) == ("en", "vi")
    assert parts.corpus == f"{'folder' if path.is_dir() else 'file'} {path.name}"
    assert texts(parts) == {(en, vi) for _, vi, en in rows}
    for one, other in combinations((parts.train, parts.dev, parts.test), 2):
        assert keys(one, parts).isdisjoint(keys(other, parts))
    assert len(parts.train) > 60
    assert min(len(parts.dev), len(parts.test)) > 2
    assert "3 training pairs left out as duplicates" in parts.notes
    assert (
        f"{len(parts.dev)} pairs for dev and {len(parts.test)} pairs for test are cut off the"
        in parts.notes[-1]
    )
    assert not any(str(tmp_path) in note for note in parts.notes)
    first = {"a table of named columns": 2, "a memory": 4}.get(form, 1)
    lines = [p.line for part in (parts.train, parts.dev, parts.test) for p in part]
    assert sorted(lines) == list(range(first, first + 100))


def test_both_directions_and_any_order_of_lines_are_one_split(tmp_path: Path) -> None:
    rows = sentences()[:100]
    there = load_parts(str(write_sides(tmp_path / "a", rows)), "en", "vi")
    back = load_parts(str(tmp_path / "a"), "vi", "en")
    turned = load_parts(str(write_sides(tmp_path / "b", rows[::-1])), "en", "vi")
    for name in ("train", "dev", "test"):
        assert {p[:2] for p in getattr(back, name)} == {p[1::-1] for p in getattr(there, name)}
        assert {p[:2] for p in getattr(turned, name)} == {p[:2] for p in getattr(there, name)}


def test_given_parts_stay_whole_and_training_pairs_with_their_sentences_are_left_out(tmp_path: Path) -> None:
    rows = sentences()
    folder = write_sides(tmp_path / "mine", rows[:60])
    write_sides(folder, rows[50:70], "dev")
    write_table(folder / "test.tsv", rows[65:80])
    parts = load_parts(str(folder), "en", "vi")
    assert (len(parts.train), len(parts.dev), len(parts.test)) == (50, 15, 15)
    assert "5 dev pairs left out, whose sentences are in test" in parts.notes
    assert "10 training pairs left out, whose sentences are in dev or test" in parts.notes
    assert scored_keys(parts) == keys(parts.dev, parts) | keys(parts.test, parts)
    assert "cut off" not in " ".join(parts.notes)


def test_only_what_is_missing_is_cut_off(tmp_path: Path) -> None:
    rows = sentences()
    folder = write_sides(tmp_path / "mine", rows[:200])
    write_sides(folder, rows[200:210], "test")
    parts = load_parts(str(folder), "en", "vi")
    assert len(parts.test) == 10
    assert len(parts.train) + len(parts.dev) == 200
    assert len(parts.dev) > 5
    assert parts.notes[-1] == f"{len(parts.dev)} pairs for dev are cut off the training pairs"


@pytest.mark.parametrize("n", [40, 600, 4000])
def test_the_training_part_of_a_split_is_split_again(n: int, tmp_path: Path) -> None:
    """As many pairs as wished go to dev and test, though the first split has taken its own from them."""
    pairs = [(f"number {i}", f"số {i}") for i in range(n)]
    keys_ = [pair_keys(SentencePair(*pair), "en", "vi") for pair in pairs]
    train = [pairs[i] for i in grouped_split(keys_, SHARES, seed=SPLIT_SEED)["train"]]
    path = write_lines(tmp_path / "mine.tsv", ["\t".join(pair) for pair in train])
    parts = load_parts(str(path), "en", "vi")
    wished = max(0.03 * len(train), min(0.1 * len(train), 50))
    assert [len(parts.dev), len(parts.test)] == pytest.approx([wished, wished], rel=0.3)


def test_sides_of_another_script_are_noted(tmp_path: Path) -> None:
    rows = list(sentences()[:40])
    rows[6:9] = [(zh, "Это не по-вьетнамски.", zh) for zh, _, _ in rows[6:9]]
    rows[8] = (rows[8][0], sentences()[8][1], rows[8][2])
    notes = load_parts(str(write_sides(tmp_path / "mine", tuple(rows))), "en", "vi").notes
    noted = [note for note in notes if "look like" in note]
    assert noted == [
        "3 of 40 English sides do not look like English, the first in line 7 of train.en",
        "2 of 40 Vietnamese sides do not look like Vietnamese, the first in line 7 of train.en",
    ]


def test_sides_in_a_third_language_of_the_same_letters_are_noted(tmp_path: Path) -> None:
    rows = list(sentences()[:40])
    rows[2] = (*rows[2][:2], "Wir haben die Bücher in der Stadt gesehen.")
    notes = load_parts(str(write_sides(tmp_path / "mine", tuple(rows))), "en", "vi").notes
    assert "1 of 40 English sides do not look like English, the first in line 3 of train.en" in notes


def test_a_first_line_of_short_words_is_text(tmp_path: Path) -> None:
    rows = ["Dad\tBố", "Go!\tĐi!", *(f"{en}\t{vi}" for _, vi, en in sentences()[:40])]
    path = write_lines(tmp_path / "mine.tsv", rows)
    assert len(read_own(path, "en", "vi").parts["train"]) == 42


def test_twenty_pairs_are_enough_and_no_part_is_empty(tmp_path: Path) -> None:
    for first in range(0, 280, LEAST_OWN_PAIRS):
        rows = sentences()[first : first + LEAST_OWN_PAIRS]
        if len(rows) == LEAST_OWN_PAIRS:
            parts = load_parts(str(write_sides(tmp_path / str(first), rows)), "en", "vi")
            assert min(map(len, (parts.train, parts.dev, parts.test))) >= 1


def test_a_folder_serves_any_two_of_its_languages(tmp_path: Path) -> None:
    folder = write_sides(tmp_path / "mine", sentences()[:40], languages=("zh", "vi", "en"))
    parts = load_parts(str(folder), "zh", "en")
    assert texts(parts) == {(zh, en) for zh, _, en in sentences()[:40]}


def test_a_folder_with_the_name_of_a_corpus_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_sides(tmp_path / "zh-vi", sentences()[:40], languages=("zh", "vi"))
    monkeypatch.chdir(tmp_path)
    assert load_parts("./zh-vi", "zh", "vi").corpus == "folder zh-vi"
    monkeypatch.chdir(tmp_path / "zh-vi")
    assert load_parts(".", "zh", "vi").corpus == "folder zh-vi"
    assert "folder zh-vi" not in CORPORA


def test_own_pairs_are_split_at_random_too(tmp_path: Path) -> None:
    parts = load_parts(str(write_sides(tmp_path / "mine", sentences()[:100])), "en", "vi")
    mixed = random_split(parts)
    assert (mixed.corpus, len(mixed.train)) == ("folder mine-random", 94)
    assert texts(mixed) == texts(parts)


def test_text_inside_codes_is_left_out_and_highlighted_text_kept(tmp_path: Path) -> None:
    english = (
        'Press <bpt i="1">&lt;b&gt;<sub>no <hi>no</hi></sub></bpt><hi type="x">the <ph>x</ph>red</hi>'
        '<ept i="1"/>\n  key &amp; wait.'
    )
    path = tmp_path / "mine.tmx"
    path.write_text(
        memory([unit(("en-US", english), ("EN", "second"), ("VI", "Nhấn <it>x</it>phím đỏ."))]), "utf-8"
    )
    ((found,),) = read_own(path, "en", "vi").parts.values()
    assert found == SentencePair("Press the red key & wait.", "Nhấn phím đỏ.", "mine.tmx", 3)


def test_units_without_one_of_the_languages_are_counted(tmp_path: Path) -> None:
    units = [
        unit(("en", "a"), ("vi", "b")),
        unit(("en", "a")),
        unit(("vi", "b"), ("fr", "c")),
        unit(("en", "a"), ("vi", "<ph/>")),
    ]
    path = tmp_path / "mine.tmx"
    path.write_text(memory(units), "utf-8")
    own = read_own(path, "en", "vi")
    assert len(own.parts["train"]) == 1
    assert own.notes == ["3 of 4 units of mine.tmx left out, which have no English or Vietnamese text"]


def test_a_memory_in_utf_16_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.tmx"
    path.write_text(
        memory([unit(("en", "tea"), ("vi", "trà"))], '<?xml version="1.0" encoding="UTF-16"?>'), "utf-16"
    )
    assert read_own(path, "en", "vi").parts["train"][0][:2] == ("tea", "trà")


def test_a_large_memory_is_read_in_pieces(tmp_path: Path) -> None:
    path = write_memory(tmp_path / "mine.tmx", sentences() * 20)
    assert len(read_own(path, "en", "vi").parts["train"]) == len(sentences()) * 20


@pytest.mark.parametrize("form", FORMS)
def test_an_audit_reads_all_rows(form: str, tmp_path: Path) -> None:
    rows = sentences()[:30]
    found = raw_rows(str(FORMS[form](tmp_path, rows)), "en", "vi")
    assert found is not None
    assert [(row.source, row.target) for row in found] == [(en, vi) for _, vi, en in rows]


def test_an_audit_keeps_bad_rows_of_a_table(tmp_path: Path) -> None:
    path = tmp_path / "mine.tsv"
    path.write_bytes(b"one\nt\xe9a\ttr\xc3\xa0\na\tb\tc\n")
    rows = [(row.source, row.target, row.line) for row in own_rows(path, "en", "vi")]
    assert rows == [("one", "", 1), ("t\udce9a", "trà", 2), ("a", "b\tc", 3)]
    write_lines(path, ["en\tid\tvi", "a\t1\tb", "c"])
    assert [(row.source, row.target) for row in own_rows(path, "en", "vi")] == [("a", "b"), ("c", "")]


BOMB = '<?xml version="1.0"?>\n<!DOCTYPE tmx [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>'
NO_PAIR = "holds no sentence pair; write one a line, a tab between its two sides"
BAD_FILES: dict[str, tuple[str, bytes, str]] = {
    "columns": (
        "x.tsv",
        b"a\tb\nc\n",
        "x.tsv, line 2: columns between tabs are 1 and must be 2; mend the line",
    ),
    "columns of a named table": (
        "x.tsv",
        b"en\tvi\tid\na\tb\n",
        "x.tsv, line 2: columns between tabs are 2 and must be 3",
    ),
    "no such column": (
        "x.tsv",
        b"en\tzh\na\tb\n",
        "x.tsv, line 1: the columns are en, zh, and there is no vi",
    ),
    "languages of which none is known": (
        "x.tsv",
        b"fr\tvi2\na\tb\n",
        "x.tsv, line 1: fr, vi2 look like codes of languages, and only zh, vi, en are known",
    ),
    "unknown languages with regions": (
        "x.tsv",
        b"id\tFR_fr\tde-CH\na\tb\tc\n",
        "x.tsv, line 1: id, FR_fr, de-CH look like codes of languages",
    ),
    "an empty side": ("x.tsv", b"a\tb\nc\t \n", "x.tsv, line 2: the Vietnamese side is empty"),
    "a mark": (
        "x.tsv",
        "a\tb\nc\u2581\td\n".encode(),
        "x.tsv, line 2: the English side holds \u2581 (U+2581)",
    ),
    "a table of a head": ("x.tsv", b"en\tvi\n", f"x.tsv: {NO_PAIR}"),
    "an empty table": ("x.tsv", b"", f"x.tsv: {NO_PAIR}"),
    "blank lines": ("x.TSV", b"\xef\xbb\xbf\n  \n\t\r\n", f"x.TSV: {NO_PAIR}"),
    "bytes of a table": ("x.tsv", b"a\tb\nc\xe9\td\n", "x.tsv, line 2: not UTF-8"),
    "exchanged columns": (
        "x.tsv",
        "trà\ttea\n".encode() * 30,
        "x.tsv: the English and the Vietnamese side look exchanged",
    ),
    "one pair": (
        "x.tsv",
        b"a\tb\n",
        "x.tsv must have at least 20 different training pairs, got 1; give more",
    ),
    "one pair again": (
        "x.tsv",
        b"a\tb\n" * 50,
        "x.tsv must have at least 20 different training pairs, got 1",
    ),
    "pairs of one sentence": (
        "x.tsv",
        b"".join(b"same\t%d\n" % i for i in range(40)),
        "its pairs share too many sentences to cut off dev and test",
    ),
    "few pairs beside those of one sentence": (
        "x.tsv",
        b"".join(b"same\t%d\n" % i for i in range(400)) + b"".join(b"a%d\tb%d\n" % (i, i) for i in range(20)),
        "its pairs share too many sentences to cut off dev and test",
    ),
    "other languages": (
        "x.tmx",
        memory([unit(("fr", "a"), ("de", "b"))]).encode(),
        "x.tmx: no unit has text in en and vi; its languages are de, fr; --from and --to take two of zh, vi, en",
    ),
    "no memory": ("x.tmx", b"<html/>", "x.tmx: no unit has text in en and vi; its languages are none"),
    "broken XML": (
        "x.tmx",
        b"<tmx>\n<body>\n<tu></body></tmx>",
        "x.tmx, line 3: broken XML (mismatched tag)",
    ),
    "an XML that ends": ("x.tmx", b"<tmx>\n<body>\n", "x.tmx, line 3: broken XML (no element found)"),
    "bytes of a memory": (
        "x.tmx",
        b"<tmx>\n\xe9 </tmx>",
        "x.tmx, line 2: broken XML (not well-formed (invalid token))",
    ),
    "another encoding": (
        "x.tmx",
        b'<?xml version="1.0" encoding="gb2312"?><tmx/>',
        "x.tmx, line 1: the encoding is gb2312; save the file as UTF-8",
    ),
    "entities": (
        "x.tmx",
        memory([unit(("en", "&b;"), ("vi", "x"))], BOMB).encode(),
        "x.tmx, line 2: uses an entity of its own (a), which is not read",
    ),
    "an entity from elsewhere": (
        "x.tmx",
        memory([unit(("en", "&b;"), ("vi", "x"))], '<!DOCTYPE tmx SYSTEM "tmx14.dtd">').encode(),
        "x.tmx, line 3: uses an entity of its own (b)",
    ),
    "another kind of file": (
        "x.csv",
        b"a,b\n",
        "x.csv: a file of sentence pairs must be a .tsv or a .tmx file",
    ),
}


@pytest.mark.parametrize("fault", BAD_FILES)
def test_a_bad_file_is_one_line(fault: str, tmp_path: Path) -> None:
    name, content, message = BAD_FILES[fault]
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=re.escape(message)) as caught:
        load_parts(str(path), "en", "vi")
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("content", ["", "\n \n", "en\tvi\n"])
def test_an_audit_too_refuses_a_file_without_a_pair(content: str, tmp_path: Path) -> None:
    folder = write_sides(tmp_path / "mine", sentences()[:30])
    (folder / "dev.tsv").write_text(content, "utf-8")
    with pytest.raises(ValueError, match=re.escape(f"{folder / 'dev.tsv'}: {NO_PAIR}")):
        own_rows(folder, "en", "vi")


def spoil(folder: Path, fault: str) -> None:
    rows = sentences()[:30]
    write_sides(folder, rows)
    if fault == "one side":
        (folder / "train.en").unlink()
    elif fault == "one side of dev":
        write_lines(folder / "dev.vi", ["a"])
    elif fault == "another language":
        (folder / "train.en").rename(folder / "train.fr")
    elif fault == "unequal":
        write_lines(folder / "train.vi", side(rows[1:], "vi"))
    elif fault == "empty side":
        write_lines(folder / "train.vi", [*side(rows[1:], "vi"), ""])
    elif fault == "blank":
        write_lines(folder / "train.vi", [" "] * 30)
    elif fault == "nothing":
        for path in folder.iterdir():
            path.rename(path.with_suffix(".txt"))
    elif fault == "twice":
        write_table(folder / "train.tsv", rows)
    elif fault == "dev in test":
        write_sides(folder, rows[:2], "dev")
        write_sides(folder, rows[:2], "test")
    elif fault == "train in test":
        write_sides(folder, rows, "test")


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            "one side",
            r"train\.en is missing beside train\.vi; line i of one must translate line i of the other",
        ),
        ("one side of dev", r"dev\.en is missing beside dev\.vi; line i"),
        (
            "another language",
            r"train\.en is missing beside train\.vi \(fr: --from and --to take zh, vi, en\)",
        ),
        ("unequal", r"train\.en has 30 lines and .*train\.vi has 29"),
        (
            "blank",
            r"train\.vi: holds no sentence; write one a line, line i translating line i of the other file",
        ),
        ("empty side", r"train\.vi, line 30: empty; remove the line from both files"),
        (
            "nothing",
            r"mine holds neither train\.en and train\.vi nor train\.tsv; put the text into one of them",
        ),
        ("twice", r"mine holds train\.en and train\.tsv; remove one of the two"),
        ("dev in test", "every pair of dev has a sentence that is in test; give other sentences"),
        ("train in test", "mine must have at least 20 different training pairs, got 0"),
    ],
)
def test_a_bad_folder_is_one_line(fault: str, message: str, tmp_path: Path) -> None:
    spoil(tmp_path / "mine", fault)
    with pytest.raises(ValueError, match=message) as caught:
        load_parts(str(tmp_path / "mine"), "en", "vi")
    assert "\n" not in str(caught.value)


def test_what_is_neither_corpus_nor_path_is_refused_with_the_names(tmp_path: Path) -> None:
    message = (
        f"--data must be auto or one of {', '.join(CORPORA)}, got nowhere; nor is there a folder or file"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        load_parts("nowhere", "en", "vi")
    with pytest.raises(ValueError, match="--to must be one of zh, vi, en, got fr"):
        load_parts(str(tmp_path), "en", "fr")
