"""Training that begins with a finished model: whose settings it takes, and what it says of unknown characters."""

import dataclasses
from pathlib import Path

import pytest

from coursepkg.app.model_folder import SHIPPED, start_folder
from coursepkg.projects.ocr.fine_tuning import SETTINGS, recipe_to_start
from coursepkg.projects.ocr.options import Train
from coursepkg.projects.ocr.predict import DEFAULT, Recognizer
from coursepkg.projects.ocr.recipe import PRESETS, Recipe
from tests.projects.ocr.drawn import drawn_lines
from tests.projects.ocr.sets import ocr, write_picture

needs_model = pytest.mark.skipif(not (DEFAULT / "model").is_dir(), reason="the model does not ship here")


def without_settings(recipe: Recipe) -> dict[str, object]:
    return {name: value for name, value in dataclasses.asdict(recipe).items() if name not in SETTINGS}


@needs_model
def test_default_is_the_model_that_ships_with_its_sizes_and_small_steps() -> None:
    assert start_folder(SHIPPED, DEFAULT) == DEFAULT
    assert start_folder(None, DEFAULT) is None
    assert start_folder(Path("runs/mine"), DEFAULT) == Path("runs/mine")
    own = Recognizer.load_default().recipe
    begun = Train.defaults(["--data", "mine", "--start=default"]).recipe
    assert without_settings(begun) == without_settings(own)
    assert {name: getattr(begun, name) for name in SETTINGS} == dict(SETTINGS)
    assert begun.learning_rate < own.learning_rate


def test_a_preset_beside_it_is_the_whole_recipe() -> None:
    assert recipe_to_start(["--start", "default", "--preset", "tiny"]) is None
    assert recipe_to_start(["--out", "x"]) is None
    assert Train.defaults(["--start", "default", "--preset", "small"]).recipe == PRESETS["small"]


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    found = ocr("train", "--start", tmp_path, "--data", tmp_path, "--out", tmp_path / "run")
    assert found.code == 2
    assert f"{tmp_path}: no finished model in it" in found.err
    assert not (tmp_path / "run").exists()
    with_preset = ("--preset", "tiny", "--data", tmp_path, "--out", tmp_path / "run")
    assert f"{tmp_path}: no finished model in it" in ocr("train", "--start", tmp_path, *with_preset).mistake


def test_a_run_goes_on_with_the_sizes_of_the_model_and_names_what_it_cannot_write(
    quick_run: Path, tmp_path: Path
) -> None:
    folder, rows = tmp_path / "mine", ["file,text,receipt"]
    for i, line in enumerate(drawn_lines(12)):
        write_picture(folder / f"{i}.png", line.image)
        rows.append(f'{i}.png,"{"漢" if i < 3 else ""}{line.text}",r{i}')
    (folder / "labels.csv").write_text("\n".join(rows), "utf-8")
    common = ("--data", folder, "--split", "line", "--start", quick_run, "--max-epochs", "1")
    found = ocr("train", *common, "--out", tmp_path / "run")
    assert found.code == 0, found.err
    n = sum(text.startswith("漢") for text in rows_of(tmp_path / "run", folder))
    assert f"note: {n} lines of train and dev with characters that the model does not have" in found.out
    assert f"U+6F22 CJK UNIFIED IDEOGRAPH-6F22 x {n}" in found.out
    begun, before = (Recognizer.load(one) for one in (tmp_path / "run", quick_run))
    assert begun.vocabulary == before.vocabulary
    assert without_settings(begun.recipe) == without_settings(before.recipe)
    assert begun.recipe.learning_rate == SETTINGS["learning_rate"]


def rows_of(run: Path, folder: Path) -> list[str]:
    """What the lines say that a run learnt from and chose by."""
    from coursepkg.projects.ocr.corpora import load_corpus

    texts = load_corpus(str(folder), split="line").texts
    return texts["train"] + texts["dev"]
