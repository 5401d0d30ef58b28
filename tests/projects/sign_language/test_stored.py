"""Stored measurements name their machine, and come back as they were written."""

from pathlib import Path

import pytest

from coursepkg.projects.sign_language.stored import store_document, stored_document, stored_evaluations


def test_a_measurement_comes_back_with_its_machine(tmp_path: Path) -> None:
    store_document(tmp_path / "tail.json", "losses", {"word": "mẹ", "macro_f1": 0.5})
    found = stored_document("tail", tmp_path)
    assert found is not None
    assert (found["schema"], found["word"], found["macro_f1"]) == ("losses", "mẹ", 0.5)
    assert {"machine", "versions", "commit"} <= found.keys()
    assert found["machine"]["name"]
    assert stored_document("other", tmp_path) is None


def test_evaluations_come_by_name(tmp_path: Path) -> None:
    for name in ("small-b", "tiny", "small-a"):
        store_document(tmp_path / "evaluations" / f"{name}.json", "evaluation", {"n": 1})
    assert list(stored_evaluations("small", tmp_path)) == ["small-a", "small-b"]
    assert list(stored_evaluations(folder=tmp_path)) == ["small-a", "small-b", "tiny"]


def test_what_names_no_machine_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"format": 1, "schema": "losses"}', "utf-8")
    with pytest.raises(ValueError, match="it has no machine"):
        stored_document("bad", tmp_path)
