"""Pictures of one fixed size, as the OCR report wants them: the same pixels in training, validation and reading."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import torch

from coursepkg.projects.ocr.data.batches import LineBatches, character_vocabulary
from coursepkg.projects.ocr.data.images import resize_to_box, resize_to_height
from coursepkg.projects.ocr.line import decode_text
from coursepkg.projects.ocr.model.recognizer import build_model
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.projects.ocr.recipe import PRESETS, Recipe
from coursepkg.projects.ocr.training import Trained, Validation, picture_options, train
from tests.projects.ocr.drawn import SMALL, drawn_lines

LINES, DEV = drawn_lines(9), drawn_lines(3, seed=1)
FAST = dataclasses.replace(PRESETS["tiny"], **SMALL, max_epochs=1, batch_columns=512, warmup=2)


def fixed(width: int) -> Recipe:
    return dataclasses.replace(FAST, box_width=width)


def trained(recipe: Recipe, out: Path, **options: object) -> Trained:
    settings = {"log": lambda line: None, "progress": False} | options
    return train(recipe, LINES, DEV, out, **settings)


def in_training(recipe: Recipe) -> dict[str, np.ndarray]:
    """The pixels of each line as training batches hold them, by its text."""
    vocabulary = character_vocabulary(line.text for line in LINES)
    found = {}
    for batch in LineBatches(LINES, vocabulary, **picture_options(recipe)).epoch(0):
        for image, width, ids in zip(batch.images, batch.widths, batch.tgt_out, strict=True):
            pixels = ((image[0, :, : int(width)] + 1) * 127.5).round().to(torch.uint8).numpy()
            found[decode_text(ids.tolist(), vocabulary)] = pixels
    return found


@pytest.mark.parametrize("width", [0, 100])
def test_training_validation_and_reading_see_the_same_pixels(width: int) -> None:
    recipe = fixed(width)
    vocabulary = character_vocabulary(line.text for line in LINES)
    recognizer = Recognizer(build_model(recipe, len(vocabulary)), vocabulary, recipe)
    batches, validation = in_training(recipe), Validation(recipe, LINES, vocabulary)
    for line, validated in zip(LINES, validation.images, strict=True):
        if width:
            wanted = resize_to_box(line.image, recipe.height, width)
        else:
            wanted = resize_to_height(line.image, recipe.height)
        for found in (batches[line.text], validated, recognizer.prepare(line.image)):
            assert np.array_equal(found, wanted)
    shapes = {image.shape for image in validation.images}
    assert shapes == {(32, 100)} if width else len(shapes) > 1


def test_a_model_of_a_fixed_width_reads_at_that_width(tmp_path: Path) -> None:
    trained(fixed(96), tmp_path / "run")
    recognizer = Recognizer.load(tmp_path / "run")
    assert recognizer.recipe.box_width == 96
    stretched = [resize_to_box(line.image, 32, 96) for line in DEV]
    read = recognizer.read_lines([line.image for line in DEV])
    assert read == recognizer.read_lines(stretched)
    wide = np.full((32, 4000), 255, np.uint8)
    assert recognizer.prepare(wide).shape == (32, 96)


def test_the_width_belongs_to_what_tells_models_apart() -> None:
    vocabulary = character_vocabulary([])
    model = build_model(FAST, len(vocabulary))
    prints = {Recognizer(model, vocabulary, fixed(width)).fingerprint for width in (0, 96, 100)}
    assert len(prints) == 3


def test_a_long_line_fits_where_it_is_squeezed(tmp_path: Path) -> None:
    said: list[str] = []
    narrow = {"max_width": 128, "max_len": 40}
    with_box = dataclasses.replace(FAST, **narrow, box_width=96)
    trained(with_box, tmp_path / "box", log=said.append)
    assert "train: 9 lines; 0 of 9 left out as too long, too wide or empty" in said
    trained(dataclasses.replace(FAST, **narrow), tmp_path / "kept", log=said.append)
    assert "train: 9 lines; 0 of 9 left out as too long, too wide or empty" not in said[3:]


def test_a_run_of_before_the_setting_goes_on(tmp_path: Path) -> None:
    trained(FAST, tmp_path / "run")
    path = tmp_path / "run" / "recipe.json"
    card = json.loads(path.read_text("utf-8"))
    del card["recipe"]["box_width"]
    path.write_text(json.dumps(card), "utf-8")
    trained(FAST, tmp_path / "run", resume=True)
    with pytest.raises(ValueError, match="differs in box_width"):
        trained(fixed(96), tmp_path / "run", resume=True)


def test_the_report_says_its_width_and_a_bad_one_is_refused() -> None:
    assert (PRESETS["report"].height, PRESETS["report"].box_width) == (32, 300)
    assert PRESETS["small"].box_width == PRESETS["tiny"].box_width == 0
    with pytest.raises(ValueError, match="--box-width 500 needs --max-width of at least 532"):
        dataclasses.replace(FAST, box_width=500)
    with pytest.raises(ValueError, match="--box-width"):
        dataclasses.replace(FAST, box_width=-1)
