"""A user's own texts: drawn beside the others, known by what their file says, refused where nothing is drawn."""

from pathlib import Path
from unittest.mock import Mock

import pytest

from coursepkg.files import file_sha256
from coursepkg.projects.ocr import corpus
from coursepkg.projects.ocr.corpora import load_corpus
from coursepkg.projects.ocr.evaluation import training_texts
from coursepkg.projects.ocr.synthetic import texts
from tests.projects.ocr.sets import QUICK, ocr

OWN = ("Chè Bưởi", "Nem Lụi", "Bún Riêu")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "own.txt"
    path.write_text("\n".join(OWN), "utf-8")
    return path


def test_about_half_of_the_lines_say_them(own: Path) -> None:
    corpus = load_corpus("synthetic-tiny", generate=200, texts=own)
    known = {text.casefold() for text in OWN}
    share = sum(text.casefold() in known for text in corpus.texts["train"]) / 200
    assert 0.4 < share < 0.6
    assert not set(corpus.texts["test"]) & set(corpus.texts["train"])
    plain = load_corpus("synthetic-tiny", generate=200)
    assert corpus.source["own texts"] == file_sha256(own)
    assert "own texts" not in plain.source
    assert corpus.source["generator"] != plain.source["generator"]
    assert {line.text for line in corpus.lines("train", 5)} <= set(corpus.texts["train"])


def test_their_file_is_read_once(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read, hashed = Mock(wraps=texts.read_own_texts), Mock(wraps=file_sha256)
    monkeypatch.setattr(texts, "read_own_texts", read)
    monkeypatch.setattr(corpus, "file_sha256", hashed)
    load_corpus("synthetic-tiny", generate=5, texts=own)
    read.assert_called_once_with(str(own))
    hashed.assert_called_once_with(str(own))


def test_what_is_not_drawn_as_it_stands_is_counted(own: Path) -> None:
    plain = load_corpus("synthetic-tiny", generate=5, texts=own).notes
    assert not any("own text" in note for note in plain)
    own.write_text("Chè Bưởi\nChè đậu xanh nước cốt dừa\nCơm 漢\n漢字\n", "utf-8")
    notes = load_corpus("synthetic-tiny", generate=5, texts=own).notes
    assert [note for note in notes if "own text" in note] == [
        "1 own text cut to 14 characters",
        "2 own texts without the characters that not every font has: U+6F22 CJK UNIFIED IDEOGRAPH-6F22, U+5B57"
        " CJK UNIFIED IDEOGRAPH-5B57",
    ]


def test_what_the_file_says_counts_and_not_where_it_lies(own: Path, tmp_path: Path) -> None:
    there = load_corpus("synthetic-tiny", generate=30, texts=own)
    moved = tmp_path / "elsewhere.txt"
    moved.write_bytes(own.read_bytes())
    assert load_corpus("synthetic-tiny", generate=30, texts=moved).source == there.source
    moved.write_bytes(own.read_bytes() + b"\nmore")
    assert load_corpus("synthetic-tiny", generate=30, texts=moved).source != there.source


def test_a_model_says_that_it_learnt_them(own: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = ocr("train", "--generate", "24", "--texts", own, "--out", run, *QUICK, "--json")
    assert done.code == 0, done.err
    card = {"data": done.document["card"]["data"]}
    assert card["data"]["source"]["own texts"] == file_sha256(own)
    texts, notes = training_texts(card, load_corpus("synthetic-tiny", generate=24))
    assert texts is None
    assert "own texts, too; give that file with --texts" in notes[0]
    same = load_corpus("synthetic-tiny", generate=24, texts=own)
    assert training_texts(card, same) == (same.texts["train"], [])


def test_only_drawn_lines_can_say_them(own: Path, tmp_path: Path) -> None:
    with pytest.raises(
        ValueError, match="--texts goes with --data synthetic or synthetic-tiny, got --data receipts"
    ):
        load_corpus("receipts", texts=own)
    with pytest.raises(ValueError, match=r"--texts .*none\.txt: there is no such file"):
        load_corpus("synthetic-tiny", texts=tmp_path / "none.txt")
    own.write_bytes(b"\n \n")
    with pytest.raises(ValueError, match="has no text; give a file with one text a line"):
        load_corpus("synthetic-tiny", texts=own)


@pytest.mark.parametrize("split", ["seller", "line"])
def test_a_split_that_changes_nothing_is_said(split: str) -> None:
    notes = load_corpus("synthetic-tiny", split=split, generate=5).notes
    assert (
        f"--split {split} changes nothing: these lines are parted already, fonts and texts held out" in notes
    )
    assert not any("--split" in note for note in load_corpus("synthetic-tiny", generate=5).notes)
