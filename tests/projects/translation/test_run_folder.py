"""The cards of a run: what they must hold, and one line about the file where they do not."""

import json
import shutil
from pathlib import Path

import pytest

from coursepkg.part_file import PartFile
from coursepkg.projects.translation.commands import Train
from coursepkg.projects.translation.contest import check_contest_rules
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.reranking.language_recipe import LanguageRecipe
from tests.projects.translation.tiny import fast, quietly, toy_parts, translation, write_lines


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("cards") / "run"
    quietly(fast(max_epochs=1), out)
    return out


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"recipe": LanguageRecipe().described()}, r"it does not know .*n_layers"),
        ({"recipe": None}, "its card has no recipe"),
        ({"directions": None}, "its card has no recipe and directions"),
        ({"recipe": {"tomorrow": 1}}, r"it does not know tomorrow\); .* or update coursepkg"),
        ({"recipe": {"n_heads": 0}}, "holds no translator .its recipe is damaged: --n-heads"),
    ],
)
def test_a_folder_without_a_translator_is_one_line(
    run: Path, tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(run, folder)
    path = folder / "model" / "model.json"
    card = json.loads(path.read_text("utf-8"))
    card["meta"] = {name: value for name, value in (card["meta"] | change).items() if value is not None}
    path.write_text(json.dumps(card), "utf-8")
    with pytest.raises(ValueError, match=reason):
        Translator.load(folder)
    assert translation("predict", "--model", folder, "--text", "我").mistake


@pytest.mark.parametrize("content", ["{", "[]", "7"])
def test_a_damaged_card_is_named(tmp_path: Path, content: str) -> None:
    own = Parts("zh-vi", "zh", "vi", toy_parts().train, (), (), ())
    write_lines(tmp_path / "start" / "recipe.json", [content])
    with pytest.raises(ValueError, match=r"start/recipe\.json is damaged"):
        check_contest_rules(Train(start=tmp_path / "start"), [own])
    write_lines(tmp_path / "out.part", ["one"])
    write_lines(tmp_path / "out.part.json", [content])
    with pytest.raises(ValueError, match=r"out\.part\.json is damaged"):
        PartFile(tmp_path / "out", {"input": "x"})
    with pytest.raises(ValueError, match=r"start/recipe\.json is damaged"):
        quietly(fast(), tmp_path / "start", resume=True)
