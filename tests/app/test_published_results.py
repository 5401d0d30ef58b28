"""Measurements come back with their machine, by name and by kind; damaged ones are refused."""

from pathlib import Path

import pytest

from coursepkg.app import published_results
from coursepkg.app.published_results import INSTALLED, PublishedResults, write_measurement

SIGNS = PublishedResults("signs", "projects/signs")


def measure(path: Path, **content: object) -> None:
    write_measurement(path, {"schema": "losses", "machine": {}, **content})


def test_measurements_come_by_name_and_kind(tmp_path: Path) -> None:
    measure(tmp_path / "tail.json", word="mẹ")
    for name in ("small-b", "tiny", "small-a"):
        measure(tmp_path / "evaluations" / f"{name}.json")
    found = SIGNS.document("tail", tmp_path)
    assert found is not None
    assert found["word"] == "mẹ"
    assert SIGNS.document("other", tmp_path) is None
    assert SIGNS.document("evaluations/tiny", tmp_path) is not None
    assert list(SIGNS.documents("evaluations", "small", tmp_path)) == ["small-a", "small-b"]
    assert list(SIGNS.documents(folder=tmp_path)) == ["tail"]


def test_what_names_no_machine_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('{"format": 1, "schema": "losses"}', "utf-8")
    with pytest.raises(ValueError, match="it has no machine"):
        SIGNS.document("bad", tmp_path)


def test_an_installed_copy_comes_before_a_checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(published_results, "PACKAGE", tmp_path / "package")
    monkeypatch.setattr(published_results, "CHECKOUT", tmp_path / "data")
    assert (SIGNS.folder(), SIGNS.document("tail"), SIGNS.documents()) == (None, None, {})
    assert SIGNS.place_of_new_rows() is None
    (tmp_path / "data" / "signs").mkdir(parents=True)
    assert SIGNS.folder() == SIGNS.place_of_new_rows() == tmp_path / "data" / "signs"
    installed = tmp_path / "package" / "projects" / "signs" / INSTALLED
    installed.mkdir(parents=True)
    assert SIGNS.folder() == installed
