"""What an evaluation writes, and by what texts it tells seen from unseen."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch.nn import functional as F

from coursepkg.projects.ocr import evaluation
from coursepkg.projects.ocr.corpora import load_corpus
from coursepkg.projects.ocr.data.batches import encode_text, seen_texts
from coursepkg.projects.ocr.evaluation import training_texts
from coursepkg.projects.ocr.handlers import part_loss, read_part
from coursepkg.projects.ocr.line import TextLine, bucket_width, pad_images
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.projects.ocr.recipe import PRESETS
from coursepkg.text.vocabulary import BOS, EOS
from coursepkg.training.run_card import stored_card
from tests.projects.ocr.sets import ocr


@pytest.fixture(scope="module")
def evaluated(labelled: Path, quick_run: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("evaluated") / "eval"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(evaluation, "LEAST_GROUPS", 2)
        done = ocr(
            "evaluate", "--model", quick_run, "--data", labelled, "--part", "test", "--out", out, "--worst", "2",
            "--worst-by", "confidence",
        )  # fmt: skip
    assert done.code == 0, done.err
    assert "CER|nrefs:1|bs:1000|" in done.out
    assert "WER|nrefs:1|bs:1000|" in done.out
    assert "loss of the decoder: " in done.out
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
    assert document["loss"]["n_lines"] == document["n"]
    assert document["loss"]["value"] > 0
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
    texts, notes = training_texts(card, corpus)
    assert (texts, notes) == (corpus.texts["train"], [])
    drawn = load_corpus("synthetic-tiny", generate=5)
    made = {"data": drawn.described()}
    assert training_texts(made, corpus) == (drawn.texts["train"], [])
    for changed, reason in (
        ({}, "names no training data"),
        (card | {"start": "other"}, "began with another one (other)"),
        ({"data": card["data"] | {"source": {}}}, "learnt from lines, which --data does not name"),
        (
            {"data": made["data"] | {"source": {"own texts": "0"}}},
            "own texts, too; give that file with --texts",
        ),
        ({"data": made["data"] | {"source": {"generator": "0"}}}, "another version of synthetic-tiny"),
    ):
        texts, notes = training_texts(changed, corpus)
        assert texts is None
        assert reason in notes[0]


def test_a_limit_keeps_the_order_of_the_file(labelled: Path, quick_run: Path, tmp_path: Path) -> None:
    rows = (labelled / "labels.tsv").read_text("utf-8").splitlines()[:6]
    names = [row.split("\t")[0] for row in rows]
    (tmp_path / "labels.tsv").write_text("\n".join(rows), "utf-8")
    for i, name in enumerate(names):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"" if i in (0, 2, 5) else (labelled / name).read_bytes())
    corpus = load_corpus(str(tmp_path), split="test")
    found = read_part(Recognizer.load(quick_run), {}, corpus, "test", limit=4)
    assert [one.name for one in found.readings] == names[:4]
    assert [one.image is None for one in found.readings] == [True, False, True, False]
    assert list(found.result.references) == corpus.texts["test"][:4]
    assert found.result.n_unreadable == 2
    assert "first 4" in found.result.cer.signature
    assert any("2 lines read, 2 not" in note for note in found.notes)
    assert found.loss is not None
    assert found.loss.n_lines == 2


def test_the_loss_is_the_cross_entropy_of_the_decoder(labelled: Path, quick_run: Path) -> None:
    recognizer, corpus = Recognizer.load(quick_run), load_corpus(str(labelled))
    lines = corpus.part("dev").lines
    total, n_characters = 0.0, 0
    for line in lines:
        pixels, widths = pad_images([recognizer.prepare(line.image)], bucket_width(prepared_width(line)))
        ids = [*encode_text(line.text, recognizer.vocabulary), EOS]
        with torch.no_grad():
            logits = recognizer.model(pixels, widths, torch.tensor([[BOS, *ids[:-1]]])).attention[0]
        total += float(F.cross_entropy(logits, torch.tensor(ids), reduction="sum"))
        n_characters += len(ids)
    found = part_loss(recognizer, lines)
    assert found is not None
    assert found.value == pytest.approx(total / n_characters, rel=1e-5)
    assert (found.n_lines, found.head) == (len(lines), "decoder")
    too_long = replace(lines[0], text="a" * recognizer.recipe.max_len)
    assert part_loss(recognizer, [too_long]) is None
    assert part_loss(recognizer, [too_long, *lines]) == found
    by_ctc = replace(recognizer.recipe, learns="ctc")
    alone = part_loss(Recognizer(recognizer.model, recognizer.vocabulary, by_ctc), lines)
    assert alone is not None
    assert alone.head == "CTC head"
    assert alone.value != found.value


def prepared_width(line: TextLine) -> int:
    return round(line.width * PRESETS["tiny"].height / line.height)


def test_a_limit_is_said_in_the_signature(labelled: Path, quick_run: Path) -> None:
    recognizer, corpus = Recognizer.load(quick_run), load_corpus(str(labelled))
    found = read_part(recognizer, {}, corpus, "train", limit=3, reader="joint", beam_size=2)
    assert [one.reference for one in found.readings] == corpus.texts["train"][:3]
    assert "lines train, first 3, split receipt, joint beam 2" in found.result.cer.signature
    assert found.result.parts == {}
    whole = read_part(recognizer, {}, corpus, "dev", limit=99)
    assert "first" not in whole.result.cer.signature
