"""An installation without a checkpoint of its own says what to give instead."""

from pathlib import Path

import pytest

from coursepkg.projects.sign_language import recognizer
from tests.projects.sign_language.signed import write_film
from tests.said import said


def test_without_a_model_of_its_own_it_asks_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recognizer, "DEFAULT", tmp_path / "checkpoint")
    told = "this installation has no model of its own; give --model FOLDER or --preset"
    with pytest.raises(FileNotFoundError, match=f"^{told}$"):
        recognizer.SignRecognizer.load_default()
    film = write_film(tmp_path / "film.mp4", "lên")
    assert said("sign-language", "predict", film).mistake == f"error: {told}\n"
