"""What an evaluation writes, and by what texts it tells seen from unseen."""

import json
from pathlib import Path

import pytest

from coursepkg.projects.ocr.corpora import load_corpus
from coursepkg.projects.ocr.data.alphabet import seen_texts
from coursepkg.projects.ocr.evaluate_command import read_part
from coursepkg.projects.ocr.learnt import learnt_texts
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.training.run_card import stored_card
from tests.projects.ocr.sets import ocr


@pytest.fixture(scope="module")
def evaluated(labelled: Path, quick_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evaluated") / "eval"
    done = ocr(
        "evaluate", "--model", quick_run, "--data", labelled, "--part", "test", "--out", out, "--worst", "2",
        "--worst-by", "confidence",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "CER|nrefs:1|bs:1000|" in done.out
    assert "WER|nrefs:1|bs:1000|" in done.out
    assert "accuracy|nrefs:1|bs:1000|" in done.out
    return out


def test_the_folder_holds_readings_scores_and_a_page(evaluated: Path, labelled: Path) -> None:
    document = json.loads((evaluated / "evaluation.json").read_text("utf-8"))
    corpus = load_corpus(str(labelled))
    assert (evaluated / "references.txt").read_text("utf-8").splitlines() == corpus.texts["test"]
    assert len((evaluated / "hypotheses.txt").read_text("utf-8").split("\n")) == document["n"] + 1
    rows = [row.split("\t") for row in (evaluated / "readings.tsv").read_text("utf-8").splitlines()]
    assert [row[0] for row in rows[1:]] == [one.name for one in corpus.labels["test"]]
    for name in ("cer", "wer", "accuracy"):
        low, high = document[name]["interval"]
        assert low <= document[name]["value"] <= high
        assert "split receipt, ctc beam 1" in document[name]["signature"]
        n_documents = len({one.group for one in corpus.labels["test"]})
        assert f"|bsgroups:{n_documents}|" in document[name]["signature"]
    assert sum(document["errors"].values()) > 0
    assert document["errors"].keys() == {"tone", "vowel mark", "case", "digit", "punctuation", "other"}
    assert document["machine"]["name"]
    page = (evaluated / "worst.html").read_text("utf-8")
    assert page.count("<img ") == 2
    assert "least sure first" in page
    assert "Worst readings of run: lines, test" in page


def test_seen_and_unseen_texts_are_those_of_the_training_part(evaluated: Path, labelled: Path) -> None:
    corpus = load_corpus(str(labelled))
    seen = sum(seen_texts(corpus.texts["train"], corpus.texts["test"]))
    parts = json.loads((evaluated / "evaluation.json").read_text("utf-8"))["parts"]
    counts = {
        name: int(one["signature"].partition("|n:")[2].partition("/")[0]) for name, one in parts.items()
    }
    wanted = {"texts seen in training": seen, "texts not seen in training": len(corpus.texts["test"]) - seen}
    assert counts == {name: n for name, n in wanted.items() if n}


def test_learnt_texts_come_from_the_card(labelled: Path, quick_run: Path) -> None:
    card, corpus = stored_card(quick_run), load_corpus(str(labelled))
    texts, notes = learnt_texts(card, corpus)
    assert (texts, notes) == (corpus.texts["train"], [])
    drawn = load_corpus("synthetic-tiny", generate=5)
    made = {"data": drawn.described()}
    assert learnt_texts(made, corpus) == (drawn.texts["train"], [])
    for changed, reason in (
        ({}, "names no training data"),
        (card | {"start": "other"}, "began with another one (other)"),
        ({"data": card["data"] | {"source": {}}}, "learnt from lines, which --data does not name"),
        ({"data": made["data"] | {"source": {"generator": "0"}}}, "another version of synthetic-tiny"),
    ):
        texts, notes = learnt_texts(changed, corpus)
        assert texts is None
        assert reason in notes[0]


def test_a_limit_is_said_in_the_signature(labelled: Path, quick_run: Path) -> None:
    recognizer, corpus = Recognizer.load(quick_run), load_corpus(str(labelled))
    found = read_part(recognizer, {}, corpus, "train", limit=3, reader="joint", beam_size=2)
    assert [one.reference for one in found.readings] == corpus.texts["train"][:3]
    assert "lines train, first 3, split receipt, joint beam 2" in found.result.cer.signature
    assert found.result.parts == {}
    whole = read_part(recognizer, {}, corpus, "dev", limit=99)
    assert "first" not in whole.result.cer.signature
