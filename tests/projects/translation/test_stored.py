"""The stored numbers: found beside the checkout, chosen by name, shown as a table; no sentence among them."""

import json
from pathlib import Path

import pytest

from coursepkg.projects.translation import stored
from coursepkg.projects.translation.stored import (
    evaluation_table,
    stored_documents,
    stored_folder,
    stored_rows,
)
from tests.projects.translation.tiny import SmallBook, fast, quietly, translation


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one row of the ladder and nothing else."""
    here = tmp_path / "checkout" / "coursepkg" / "projects" / "translation"
    here.mkdir(parents=True)
    monkeypatch.setattr(stored, "__file__", str(here / "stored.py"))
    results = tmp_path / "checkout" / "book" / "_data" / "translation"
    results.mkdir(parents=True)
    monkeypatch.setattr("coursepkg.stored.CHECKOUT", results.parent)
    return results


def test_where_nothing_is_stored_nothing_is_found(folder: Path) -> None:
    folder.rmdir()
    assert stored_folder() is None
    assert stored_rows() == []
    assert stored_documents("t5") == {}


def test_rows_are_chosen_by_name_and_conditions(folder: Path) -> None:
    row = {"seed": 0, "changes": {}, "recipe": {}, "machine": {}}
    for conditions, name, scores in (
        ("zh-vi_zh2vi_plain_1s_cpu", "modern", {"BLEU": {"value": 3.0}}),
        ("zh-vi_zh2vi_plain_1s_cpu", "sam", {}),
        ("en-vi_en2vi_plain_1s_cpu", "modern", {"BLEU": {"value": 4.0}}),
    ):
        (folder / conditions).mkdir(exist_ok=True)
        document = row | {"format": 1, "row": name, "conditions": conditions, "scores": scores}
        (folder / conditions / f"{name}.seed0.json").write_text(json.dumps(document))
    assert [one["row"] for one in stored_rows()] == ["modern"]
    assert stored_rows("sam") == []
    assert [one["scores"]["BLEU"]["value"] for one in stored_rows("modern", conditions="en-vi")] == [4.0]


def test_an_evaluation_is_a_row_of_the_table(folder: Path, small_book: SmallBook, tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "evaluated"
    quietly(fast(max_epochs=1), run)
    assert translation("evaluate", "--model", run, "--data", "phrasebook", "--out", out).code == 0
    (folder / "evaluations").mkdir()
    document = (out / "evaluation.json").read_bytes()
    (folder / "evaluations" / "zh-vi_one.json").write_bytes(document)
    found = stored_documents("evaluations", "zh-vi")
    assert stored_documents("evaluations", "en-vi") == {}
    table = evaluation_table(found).splitlines()
    assert len(table) == 3
    value = json.loads(document)["scores"]["BLEU"]["value"]
    assert "zh-vi_one" in table[2]
    assert f"{value:.2f}" in table[2]
    assert "beam 4" in table[2]
    assert found["zh-vi_one"]["training"]["calls"][0]["stopped"] == "max_epochs"


def test_the_files_that_ship_hold_numbers_and_no_sentence() -> None:
    for kind in ("evaluations", "t5"):
        for name, document in stored_documents(kind).items():
            texts = [text for text in _texts(document) if len(text.split()) > 12]
            assert not [text for text in texts if not text.isascii()], name


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    return [text for one in value for text in _texts(one)] if isinstance(value, list) else []
