"""Sets of lines by name: their parts, what holds between these, and what stands in for what is missing."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.ocr.corpora import CORPORA, load_corpus
from coursepkg.projects.ocr.corpus import (
    EASY,
    FRESH,
    FULL,
    PARTS,
    Corpus,
    DrawnParts,
    line_faces,
    synthetic_lines,
)
from coursepkg.projects.ocr.synthetic.render import SyntheticLines
from tests.projects.ocr.data.tables import receipt, row, write_table
from tests.projects.ocr.drawn import drawn_lines
from tests.projects.ocr.sets import write_labelled, write_picture

TABLE = "mcocr_train_df.csv"


def groups(corpus: Corpus) -> list[set[str]]:
    return [{one.group for one in corpus.labels[part]} for part in PARTS]


def table_folder(folder: Path, count: int = 30) -> Path:
    folder.mkdir(parents=True)
    rows = [receipt(f"r{i:02}.jpg", f"Quán {i % 9}", f"{i}.000") for i in range(count)]
    write_table(folder / TABLE, rows)
    return folder


def test_generated_texts_and_fonts_of_the_test_part_are_unseen() -> None:
    corpus = load_corpus("synthetic-tiny", generate=60)
    texts = [set(corpus.texts[part]) for part in PARTS]
    assert not texts[0] & (texts[1] | texts[2])
    assert not texts[1] & texts[2]
    assert [len(corpus.labels[part]) for part in PARTS] == [60, EASY.sizes["dev"], EASY.sizes["test"]]
    families = DrawnParts(EASY.config, line_faces(EASY), EASY.sizes).lines
    seen, unseen = ({face.family for face in families[part].faces} for part in ("train", "test"))
    assert unseen == {"DejaVu Serif"}
    assert not seen & unseen
    assert seen == {face.family for face in families["dev"].faces}


def test_generated_lines_say_what_their_labels_say_and_are_always_the_same() -> None:
    corpus, again = load_corpus("synthetic-tiny", generate=20), load_corpus("synthetic-tiny", generate=20)
    lines = corpus.part("train").lines
    told = [(line.text, line.group, line.name) for line in lines]
    assert told == [tuple(one) for one in corpus.labels["train"]]
    for one, other in zip(lines, again.part("train").lines, strict=True):
        assert np.array_equal(one.image, other.image)
    assert corpus.described() == again.described()
    assert corpus.source != load_corpus("synthetic-tiny", generate=21).source


def test_the_fresh_set_differs_in_its_test_part_alone() -> None:
    sizes = {"train": 60, "dev": 20, "test": 40}
    usual, fresh = (synthetic_lines(replace(one, sizes=sizes)) for one in (FULL, FRESH))
    assert all(usual.texts[part] == fresh.texts[part] for part in ("train", "dev"))
    assert not set(fresh.texts["test"]) & (set(fresh.texts["train"]) | set(fresh.texts["dev"]))
    assert sum(one == other for one, other in zip(usual.texts["test"], fresh.texts["test"], strict=True)) <= 2
    assert usual.source != fresh.source


def test_a_text_is_known_without_drawing_its_line() -> None:
    lines = SyntheticLines(3, config=FULL.config)
    for number in (0, 7, 123):
        line = lines[number]
        assert (line.text, line.group, line.name) == (lines.text(number), *lines.place(number))


@pytest.mark.parametrize(("split", "count"), [("line", 12), ("receipt", 12), ("seller", 30)])
def test_generated_receipts_are_cut_by_their_table_and_parted(split: str, count: int) -> None:
    corpus = load_corpus("receipts", split=split, generate=count)
    assert sum(len(corpus.labels[part]) for part in PARTS) > 20
    train, dev, test = groups(corpus)
    assert all((train, dev, test))
    shared = train & (dev | test)
    assert bool(shared) == (split == "line")
    found = corpus.part("train")
    assert not found.unreadable
    assert [line.text for line in found.lines] == corpus.texts["train"]
    assert any("parted by line" in note for note in corpus.notes) == (split == "line")


def test_a_table_without_photographs_is_drawn_and_says_so(tmp_path: Path) -> None:
    table_folder(tmp_path / "mc_ocr")
    corpus = load_corpus("mc-ocr", folder=tmp_path)
    assert any("none of the 30 photographs is there" in note for note in corpus.notes)
    found = corpus.part("train")
    assert [line.text for line in found.lines] == corpus.texts["train"]
    assert min(line.image.min() for line in found.lines) < 120 < max(line.image.max() for line in found.lines)
    assert corpus.source["pictures"] == "drawn from the table"


def test_what_cannot_be_drawn_is_unreadable_and_kept(tmp_path: Path) -> None:
    folder = tmp_path / "mc_ocr"
    folder.mkdir()
    stray = row("r.jpg", [([[20, 20, 120, 20, 120, 45, 20, 45]], "Quán \u4e2d", "SELLER")])
    write_table(folder / TABLE, [stray, *(receipt(f"{i}.jpg") for i in range(30))])
    corpus = load_corpus("mc-ocr", folder=tmp_path)
    sides = [corpus.part(part) for part in PARTS if corpus.labels[part]]
    found = [one for side in sides for one in side.unreadable]
    assert [one.text for one in found] == ["Quán \u4e2d"]
    assert "no glyph for '\u4e2d'" in found[0].reason


def test_photographs_that_are_there_are_read_and_missing_ones_counted(tmp_path: Path) -> None:
    folder = table_folder(tmp_path / "own", 20)
    page = np.full((400, 300), 230, np.uint8)
    for i in range(17):
        write_picture(folder / "images" / f"r{i:02}.jpg", page)
    corpus = load_corpus(str(folder))
    assert corpus.name == "own"
    assert any("3 of 20 photographs are missing" in note for note in corpus.notes)
    assert sum(fault.kind == "missing image" for fault in corpus.faults) == 3
    sides = [corpus.part(part) for part in PARTS if corpus.labels[part]]
    assert sum(len(one.lines) for one in sides) == 17 * 3
    assert {one.group for side in sides for one in side.unreadable} == {"r17.jpg", "r18.jpg", "r19.jpg"}
    assert all("there is no such picture" in one.reason for side in sides for one in side.unreadable)


def test_an_own_table_without_any_photograph_is_refused(tmp_path: Path) -> None:
    folder = table_folder(tmp_path / "own", 3)
    with pytest.raises(ValueError, match=r"none of the 3 photographs that mcocr_train_df\.csv names"):
        load_corpus(str(folder))


def test_a_table_without_a_usable_line_says_its_first_fault(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    folder.mkdir()
    write_table(folder / TABLE, [row("a.jpg", []), row("b.jpg", [])])
    told = "no line of mcocr_train_df.csv can be used; the first fault: line 2, a.jpg: empty row"
    with pytest.raises(ValueError, match=f"^--data own: {re.escape(told)}"):
        load_corpus(str(folder))
    folder.rename(tmp_path / "mc_ocr")
    with pytest.raises(ValueError, match=f"^--data mc-ocr: {re.escape(told)}"):
        load_corpus("mc-ocr", folder=tmp_path)


def test_fonts_that_are_not_there_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COURSEPKG_FONTS", str(tmp_path / "typo"))
    with pytest.raises(ValueError, match=r"^COURSEPKG_FONTS=.*typo: there is no such folder"):
        load_corpus("synthetic", generate=5)


def test_a_labelled_folder_is_parted_by_document(labelled: Path) -> None:
    corpus = load_corpus(str(labelled))
    train, dev, test = groups(corpus)
    assert all((train, dev, test))
    assert len(train | dev | test) == len(train) + len(dev) + len(test)
    for part in PARTS:
        assert [line.text for line in corpus.part(part).lines] == corpus.texts[part]
    by_line = load_corpus(str(labelled), split="line")
    assert [len(by_line.labels[part]) for part in PARTS] == [32, 4, 4]


def test_the_folder_where_one_works_has_its_name(labelled: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(labelled)
    assert load_corpus(".").described() == load_corpus(str(labelled)).described()
    assert load_corpus(".").name == "lines"


def test_lines_of_documents_are_for_testing_alone(tmp_path: Path) -> None:
    write_labelled(tmp_path / "vi_lines", 12, groups=2)
    corpus = load_corpus("vi-lines", folder=tmp_path)
    assert [len(corpus.labels[part]) for part in PARTS] == [0, 0, 12]
    with pytest.raises(ValueError, match="--data vi-lines has no dev part under --split test"):
        corpus.part("dev")
    with pytest.raises(ValueError, match=r"its 2 documents cannot be parted .*, or take --split line$"):
        load_corpus("vi-lines", split="receipt", folder=tmp_path)
    assert len(load_corpus("vi-lines", split="line", folder=tmp_path).labels["train"]) == 10


@pytest.mark.parametrize("split", ["line", "receipt"])
@pytest.mark.parametrize(("count", "said"), [(1, "its 1 line cannot"), (5, "its 5 lines cannot")])
def test_too_few_lines_for_any_split_are_not_sent_to_another(
    count: int, said: str, split: str, tmp_path: Path
) -> None:
    folder = write_labelled(tmp_path / "few", count, groups=1)
    with pytest.raises(ValueError, match=said) as caught:
        load_corpus(str(folder), split=split)
    assert str(caught.value).endswith("add lines, or take --split test")
    assert len(load_corpus(str(folder), split="test").labels["test"]) == count


@pytest.mark.parametrize(("name", "stand_in"), [("mc-ocr", "receipts"), ("vi-lines", "synthetic-tiny")])
def test_a_generated_set_stands_in_for_a_missing_one(name: str, stand_in: str, tmp_path: Path) -> None:
    corpus = load_corpus(name, generate=12, folder=tmp_path)
    assert corpus.name == stand_in
    assert f"stands in for {name}" in corpus.notes[0]
    assert str(tmp_path) in corpus.notes[0]


def test_what_is_no_set_gets_one_line(tmp_path: Path, labelled: Path) -> None:
    for name, options, message in (
        ("coco", {}, f"--data must be one of {', '.join(CORPORA)} or a folder, got coco"),
        (str(tmp_path), {}, "no labels.tsv, no labels.csv, no single JSON"),
        (
            str(labelled),
            {"split": "seller"},
            "--split seller does not go with --data lines; use one of line, receipt, test",
        ),
        ("synthetic", {"split": "shop"}, "--split must be one of"),
        ("synthetic", {"generate": -1}, "--generate must be an integer"),
        (str(labelled), {"generate": 5}, "--generate has no use for the lines of a folder"),
    ):
        with pytest.raises(ValueError, match="--") as caught:
            load_corpus(name, **options)
        assert message in str(caught.value)
        assert "\n" not in str(caught.value)


def test_a_table_of_lines_is_parted_by_receipt_and_missing_pictures_are_faults(tmp_path: Path) -> None:
    rows = ["file,text,receipt\n"]
    for i, line in enumerate(drawn_lines(20)):
        if i < 18:
            write_picture(tmp_path / f"{i}.png", line.image)
        rows.append(f'{i}.png,"{line.text}",r{i // 2}\n')
    (tmp_path / "labels.csv").write_text("".join(rows), "utf-8")
    corpus = load_corpus(str(tmp_path))
    train, dev, test = groups(corpus)
    assert all((train, dev, test))
    assert len(train | dev | test) == len(train) + len(dev) + len(test) == 10
    assert [(fault.line, fault.image) for fault in corpus.faults] == [(20, "18.png"), (21, "19.png")]
    assert any("2 of 20 pictures are missing" in note for note in corpus.notes)
    assert sum(len(corpus.part(part).unreadable) for part in PARTS) == 2


def test_labels_without_any_picture_are_refused(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text("file,text\n1.png,một\n2.png,hai\n", "utf-8")
    with pytest.raises(ValueError, match=r"none of the 2 pictures that labels\.csv names"):
        load_corpus(str(tmp_path))


def test_one_line_alone_cannot_be_parted(tmp_path: Path) -> None:
    write_picture(tmp_path / "1.png", drawn_lines(1)[0].image)
    (tmp_path / "labels.csv").write_text("file,text\n1.png,một\n", "utf-8")
    with pytest.raises(ValueError, match=r"its 1 line cannot be parted into three, .* take --split test"):
        load_corpus(str(tmp_path))
    assert len(load_corpus(str(tmp_path), split="test").labels["test"]) == 1
