import json
from pathlib import Path

import pytest

from coursepkg.cli import main
from coursepkg.projects.ocr.corpora import load_corpus
from coursepkg.projects.ocr.data.mc_ocr import read_table
from coursepkg.projects.ocr.data.splits import split_lines
from coursepkg.projects.ocr.data.table_row import LABELS
from coursepkg.projects.ocr.fields.rules import Field, Fields, extract_fields
from coursepkg.projects.ocr.fields.table import (
    generated_fields,
    labelled_receipts,
    read_field_table,
    score_fields,
    split_receipts,
)
from coursepkg.projects.ocr.fields.values import parse_amount, parse_timestamp
from coursepkg.projects.ocr.synthetic.receipt_config import receipt_config
from coursepkg.projects.ocr.synthetic.receipts import write_receipts
from tests.projects.ocr.data.exported import rectangle, region, task, write_export

N = 12
SHOPS = ("Quán Phở", "Tạp hóa Lan", "Siêu thị Mai")


def export(folder: Path, count: int = 9, *, labels: bool = True) -> Path:
    """Receipts of four lines as an export of Label Studio; returns the folder."""
    tasks = []
    for number in range(count):
        lines = [
            (SHOPS[number % 3], "SELLER"),
            (f"{number + 1:02}/08/2020 10:15", "TIMESTAMP"),
            ("Bún chả 45.000", "Text"),
            (f"Tổng cộng {45 + number}.000", "TOTAL_COST"),
        ]
        regions = [
            region(f"r{i}", rectangle(20, 20 + 60 * i, 300, 30), text, label=label if labels else "Text")
            for i, (text, label) in enumerate(lines)
        ]
        tasks.append(task(f"/data/upload/1/0a1b2c3d-{number}.png", *regions))
    write_export(folder, *tasks)
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("receipts")
    write_receipts(path, N, seed=3)
    return path


def test_lines_lose_their_labels_and_their_order(folder: Path) -> None:
    table = read_table(folder)
    for receipt, labelled in zip(table.receipts, labelled_receipts(table), strict=True):
        assert sorted(line.text for line in labelled.lines) == sorted(
            one.text.strip() for one in receipt.instances
        )
        assert [line.row for line in labelled.lines] == sorted(line.row for line in labelled.lines)
        for label, text in zip(LABELS, labelled.true_texts, strict=True):
            own = sum(len(one.text.strip()) + 1 for one in receipt.instances if one.label == label)
            assert len(text) == max(0, own - 1)


def test_a_split_by_shop_keeps_a_shop_on_one_side(folder: Path) -> None:
    table = read_table(folder)
    split = split_receipts(table, "seller")
    assert sorted(i for part in split.parts.values() for i in part) == list(range(len(table.receipts)))
    images = [one.image for one in table.receipts]
    assert split.parts == split_lines(images, "seller", sellers=table.sellers).parts
    part_of = {i: name for name, part in split.parts.items() for i in part}
    shops: dict[str, set[str]] = {}
    for i, image in enumerate(images):
        for text in table.sellers[image]:
            shops.setdefault(text.casefold(), set()).add(part_of[i])
    assert all(len(parts) == 1 for parts in shops.values())


def test_an_export_is_read_with_its_lines_without_a_field(tmp_path: Path) -> None:
    first, *_ = labelled_receipts(read_field_table(export(tmp_path)))
    assert first.labels == ("SELLER", "TIMESTAMP", "", "TOTAL_COST")
    assert first.true_texts == (SHOPS[0], "", "01/08/2020 10:15", "Tổng cộng 45.000")


def test_by_receipt_fields_are_parted_as_lines_are(tmp_path: Path) -> None:
    # Lines cannot be learnt without a photograph.
    (tmp_path / "0.png").write_bytes(b"")
    table = read_field_table(export(tmp_path))
    corpus = load_corpus(str(tmp_path), split="receipt")
    for part, numbers in split_receipts(table, "receipt").parts.items():
        names = {table.receipts[i].image for i in numbers}
        assert names
        assert names == {one.group for one in corpus.labels[part]}


def test_true_fields_score_one_against_themselves() -> None:
    receipts = list(generated_fields(5))
    true = []
    for one in receipts:
        seller, address, when, total = one.true_texts
        typed = (seller, address, parse_timestamp(when).value, parse_amount(total).value)
        true.append(Fields(*map(Field, typed, one.true_texts)))
    scores = score_fields(true, receipts, n_resamples=0)
    assert scores.macro.value == 1
    assert scores.cer.value == 0
    assert scores.cer.details["receipts"] == 5
    wrong = score_fields([true[-1], *true[:-1]], receipts, n_resamples=0)
    assert wrong.macro.value < 1
    assert wrong.cer.value > 0


def test_fields_of_generated_receipts_are_found() -> None:
    receipts = list(generated_fields(30, seed=9))
    found = [extract_fields(one.lines) for one in receipts]
    scores = score_fields(found, receipts, n_resamples=0)
    by_label = dict(zip(LABELS, (one.value for one in scores.fields), strict=True))
    assert min(by_label["SELLER"], by_label["ADDRESS"], by_label["TIMESTAMP"]) > 0.85
    # Sums below the total are drawn at random; the goods say which one is right.
    assert by_label["TOTAL_COST"] > 0.9


def test_the_verb_scores_a_table(folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "fields.json"
    arguments = ["ocr", "evaluate-fields", "--data", str(folder), "--part", "train", "--out", str(out)]
    assert main([*arguments, "--json"]) == 0
    said = capsys.readouterr().out
    document = json.loads(said.splitlines()[-1])
    assert json.loads(out.read_text(encoding="utf-8")) == document
    assert "split seller" in document["protocol"]
    assert "lines with a field alone" in document["notes"][0]


def test_the_verbs_take_an_export(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder, out = export(tmp_path / "own"), tmp_path / "run"
    train = ["ocr", "train-fields", "--data", str(folder), "--epochs", "1", "--out", str(out)]
    assert main([*train, "--json"]) == 0
    data = json.loads(capsys.readouterr().out.splitlines()[-1])["card"]["data"]
    assert (data["table"], data["split"].split()[0]) == ("own", "receipt")
    assert "notes" not in data
    score = ["ocr", "evaluate-fields", "--data", str(folder), "--part", "test", "--json"]
    assert main([*score, "--model", str(out)]) == 0
    document = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert document["protocol"].startswith("own test, split receipt ")
    # Its lines without a field stand in the way, as they do on a whole receipt.
    assert document["notes"] == []
    assert list(document["ways"]) == ["rules", "model"]


def test_what_an_export_leaves_out_is_counted(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = export(tmp_path) / "project-1.json"
    tasks = json.loads(path.read_text("utf-8"))
    tasks[0]["annotations"] = []
    path.write_text(json.dumps(tasks), "utf-8")
    assert main(["ocr", "evaluate-fields", "--data", str(tmp_path)]) == 0
    assert "note: left out of project-1.json: 1 receipt, 0 texts; " in capsys.readouterr().out


@pytest.mark.parametrize("verb", ["evaluate-fields", "train-fields"])
def test_receipts_that_teach_nothing_are_one_line(
    verb: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    missing = " in it; add one" if verb == "train-fields" else " and no fields.csv in it; add one"
    (tmp_path / "lines").mkdir()
    (tmp_path / "lines" / "labels.csv").write_text("file,text\n1.png,Quán\n", "utf-8")
    for folder, told in (
        (tmp_path / "none", "error: --data must be one of mc-ocr, receipts"),
        (tmp_path, "no single JSON export of Label Studio" + missing),
        (tmp_path / "lines", "pictures of single lines do not say where"),
        (
            export(tmp_path / "bare", labels=False),
            "no line in it is labelled SELLER, ADDRESS, TIMESTAMP or TOTAL",
        ),
        (export(tmp_path / "one", 1), "1 receipt in it; label 3 at least"),
    ):
        assert main(["ocr", verb, "--data", str(folder), *out_of(verb, tmp_path)]) == 2
        (said,) = capsys.readouterr().err.splitlines()
        assert told in said
    assert not (tmp_path / "run").exists()


def out_of(verb: str, folder: Path) -> list[str]:
    return ["--out", str(folder / "run")] if verb == "train-fields" else []


@pytest.mark.parametrize(
    ("verb", "given", "flag"),
    [
        ("evaluate-fields", ["--data", "OWN", "--generate", "3"], "--generate"),
        ("evaluate-fields", ["--data", "receipts", "--part", "test"], "--part"),
        ("evaluate-fields", ["--data", "photographs", "--split", "receipt"], "--split"),
        ("train-fields", ["--data", "OWN", "--generate", "3"], "--generate"),
        ("train-fields", ["--data", "receipts", "--split", "seller"], "--split"),
        ("train-fields", ["--data", "varied-receipts", "--split", "seller"], "--split"),
    ],
)
def test_an_option_without_a_use_is_refused(
    verb: str, given: list[str], flag: str, folder: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    own = [str(folder) if one == "OWN" else one for one in given]
    assert main(["ocr", verb, *own, *out_of(verb, tmp_path)]) == 2
    assert capsys.readouterr().err.startswith(f"error: {flag} has no use, since --data ")


def test_varied_receipts_train_and_score(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("coursepkg.projects.ocr.fields.command.N_DEV", 2)
    drawn = ["--data", "varied-receipts", "--generate", "3"]
    train = ["ocr", "train-fields", *drawn, "--epochs", "1", "--out", str(tmp_path / "run")]
    assert main([*train, "--json"]) == 0
    card = json.loads(capsys.readouterr().out.splitlines()[-1])["card"]
    assert card["data"] == {"varied-receipts": 3, "seed": 1}
    assert main(["ocr", "evaluate-fields", *drawn, "--json"]) == 0
    document = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert document["protocol"] == "varied-receipts, 3 generated receipts with all lines"
    assert document["notes"] == []
    assert main(["ocr", "evaluate-fields", "--data", "receipts", "--generate", "3", "--json"]) == 0
    usual = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert usual["ways"] != document["ways"]


def test_fields_of_varied_receipts_are_found() -> None:
    receipts = list(generated_fields(30, config=receipt_config("varied-receipts")))
    found = [extract_fields(one.lines) for one in receipts]
    assert score_fields(found, receipts, n_resamples=0).macro.value > 0.98


def test_generated_receipts_stand_in(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path))
    assert main(["ocr", "evaluate-fields", "--generate", "3"]) == 0
    assert "stand in" in capsys.readouterr().out
    train = ["ocr", "train-fields", "--data", "mc-ocr", "--generate", "3", "--epochs", "1"]
    assert main([*train, "--out", str(tmp_path / "run"), "--json"]) == 0
    said = capsys.readouterr().out
    (note,) = json.loads(said.splitlines()[-1])["card"]["data"]["notes"]
    assert "stand in" in note
    assert said.startswith(f"note: {note}\n")
