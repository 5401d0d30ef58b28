"""`coursepkg ocr predict --fields`: a model that was trained on lines finds the fields of a photograph."""

import json
from pathlib import Path
from typing import Any

import pytest

from coursepkg.projects.ocr.fields.line_tagger import LineTagger
from coursepkg.projects.ocr.fields.rules import extract_fields
from coursepkg.projects.ocr.page.output import record_page
from coursepkg.projects.ocr.predict import DEFAULT
from tests.projects.ocr.page.world import World, save
from tests.projects.ocr.sets import ocr


@pytest.fixture(scope="module")
def tagger(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("fields") / "run"
    assert ocr("train-fields", "--generate", "40", "--epochs", "2", "--out", out).code == 0
    return out


def record(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


@pytest.mark.skipif(not (DEFAULT / "model").is_dir(), reason="the recogniser does not ship here")
def test_the_model_finds_the_fields_in_place_of_the_rules(world: World, tagger: Path) -> None:
    photo = save(world.folder / "photo.png")
    assert world.predict(photo, "--out", "rules.json", trained=False).code == 0
    assert world.predict(photo, "--out", "model.json", "--fields", tagger, trained=False).code == 0
    rules, model = (record(world.folder / name) for name in ("rules.json", "model.json"))
    assert rules["lines"] == model["lines"]
    lines = record_page(model).lines
    assert rules["fields"]["total"]["value"] == extract_fields(lines).total.value == 165_500
    expected = LineTagger.load(tagger).extract_fields(lines).as_json()
    for name, field in model["fields"].items():
        if isinstance(field, dict):
            assert field["lines"] == expected[name]["lines"]
            assert field["value"] == expected[name]["value"]
    assert model["fields"] != rules["fields"]


def test_a_page_that_cannot_be_read_has_no_fields(world: World, tagger: Path) -> None:
    save(world.folder / "in" / "1.png")
    (world.folder / "in" / "2.png").write_text("no picture")
    assert world.predict("in", "--out", "o.jsonl", "--fields", tagger).code == 1
    last = json.loads((world.folder / "o.jsonl").read_text("utf-8").splitlines()[-1])
    assert last["fields"]["total"]["reason"] == "the page could not be read"


def test_a_run_with_another_model_does_not_go_on(world: World, tagger: Path) -> None:
    save(world.folder / "1.png")
    assert world.predict("1.png", "--out", "o.json", "--fields", tagger).code == 0
    (world.folder / "o.json").rename(world.folder / "o.json.part")
    assert world.predict("1.png", "--out", "o.json").code == 2


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--fields", "."], "--fields needs --out or --json"),
        (["--fields", ".", "--json", "--lines"], "--fields is for pages"),
        (["--fields", ".", "--json"], ".: no finished model in it"),
        (["--fields", DEFAULT, "--json"], "labels no lines of receipts"),
    ],
)
def test_a_mistake_is_one_line(world: World, arguments: list[str], told: str) -> None:
    save(world.folder / "1.png")
    assert told in world.predict("1.png", *arguments).mistake
    assert world.detector.seen == 0
