"""`train --start` beside sentence pairs of one's own: text and sizes of the first model, and what is mixed in."""

import dataclasses
import json
from pathlib import Path

import pytest

from coursepkg.app.model_folder import SHIPPED, start_folder
from coursepkg.projects.translation import Translator
from coursepkg.projects.translation.commands import Train
from coursepkg.projects.translation.corpora import load_parts, scored_keys
from coursepkg.projects.translation.corpus import pair_keys
from coursepkg.projects.translation.fine_tuning import (
    SETTINGS,
    check_start,
    mixed_in,
    recipe_to_start,
)
from coursepkg.projects.translation.predict import DEFAULT
from coursepkg.projects.translation.recipe import PRESETS
from tests.projects.translation.test_commands import QUICK
from tests.projects.translation.test_own_data import memory, unit, write_sides, write_table
from tests.projects.translation.tiny import (
    RECIPE,
    SmallBook,
    fast,
    quietly,
    sentences,
    toy_parts,
    translation,
    write_lines,
)

WAY = ["--from", "zh", "--to", "vi"]


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """100 pairs of one's own in Chinese and Vietnamese, and no corpus but the generated one."""
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path / "none"))
    return write_sides(tmp_path / "mine", sentences()[:100], languages=("zh", "vi"))


def test_the_recipe_is_that_of_the_model_but_for_how_weights_move(tiny_run: Path) -> None:
    begun = recipe_to_start(["--start", str(tiny_run), *WAY])
    # The toy model knows both directions, so both go on.
    assert begun == dataclasses.replace(RECIPE, **SETTINGS, reverse=1.0)
    assert begun.reverse == 1.0
    assert Train.defaults([f"--start={tiny_run}"]).recipe == begun
    other = Train.defaults(["--start", str(tiny_run), "--from", "en"]).recipe
    assert (other.reverse, other.d_model) == (0.0, RECIPE.d_model)


def test_versions_that_no_loss_compares_any_more_are_not_taken_over(
    monkeypatch: pytest.MonkeyPatch, tiny_run: Path
) -> None:
    compared = dataclasses.replace(RECIPE, self_contrastive=0.1, versions="dropout")
    monkeypatch.setattr("coursepkg.projects.translation.fine_tuning.recipe_from", lambda folder: compared)
    begun = recipe_to_start(["--start", str(tiny_run), *WAY])
    assert begun is not None
    assert (begun.self_contrastive, begun.versions) == (0.0, "mask")


def test_a_preset_that_is_named_is_the_recipe(tiny_run: Path) -> None:
    assert recipe_to_start(["--start", str(tiny_run), "--preset", "small"]) is None
    assert Train.defaults(["--start", str(tiny_run), "--preset=small"]).recipe == PRESETS["small"]
    assert Train.defaults([]).recipe == PRESETS["tiny"]


def test_the_shipped_model_has_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    assert start_folder(SHIPPED, DEFAULT) == DEFAULT
    assert start_folder(None, DEFAULT) is None
    assert start_folder(Path("runs/default"), DEFAULT) == Path("runs/default")
    begun = recipe_to_start(["--start", "default", "--from", "en", "--to", "vi"])
    assert begun is not None
    assert begun.vocab_size == Translator.load_default().recipe.vocab_size
    assert begun.reverse == 1.0


def test_a_direction_that_was_not_learnt_is_told(tiny_run: Path, tmp_path: Path) -> None:
    assert check_start(tiny_run, "zh", "vi") == check_start(tiny_run, "vi", "zh") == []
    (note,) = check_start(tiny_run, "en", "vi")
    assert note == "the model to begin with has learnt zh to vi, vi to zh, not en to vi"
    apart = {"joint": False, "reverse": 0.0, "architecture": "gru", "max_epochs": 1, "vocab_size": 100}
    quietly(fast(**apart), tmp_path / "gru", toy_parts())
    with pytest.raises(
        ValueError, match="gru has vocabularies for zh to vi alone; begin with a model of en to vi"
    ):
        check_start(tmp_path / "gru", "en", "vi")


def test_what_is_mixed_in_is_as_much_as_the_own_and_holds_none_of_its_test(
    mine: Path, tiny_run: Path, small_book: SmallBook
) -> None:
    own = load_parts(str(mine), "zh", "vi")
    (english,) = mixed_in(own, ["en"], tiny_run)
    assert (english.corpus, english.source, len(english.train)) == ("phrasebook", "en", len(own.train))
    assert scored_keys(own).isdisjoint(key for p in english.train for key in pair_keys(p, "en", "vi"))
    n_shared = len(
        [p for p in (*own.dev, *own.test) if p.target in {t.line("vi") for t in small_book.triples}]
    )
    assert n_shared > 0
    assert any(
        "pairs of phrasebook left out, whose sentences are in dev or test of folder mine" in n
        for n in english.notes
    )
    (whole,) = mixed_in(own, ["en"], None)
    assert len(whole.train) > 2 * len(own.train)


def test_what_the_first_model_learnt_is_mixed_in(mine: Path, tmp_path: Path, small_book: SmallBook) -> None:
    card = {
        "corpora": ["toy", "phrasebook-compositional"],
        "directions": [["zh", "vi"], ["vi", "en"], ["vi", "zh"]],
    }
    write_lines(tmp_path / "start" / "recipe.json", [json.dumps(card)])
    found = mixed_in(load_parts(str(mine), "zh", "vi"), ["en"], tmp_path / "start")
    assert [one.corpus for one in found] == ["phrasebook-compositional"]


def test_one_command_goes_on_from_a_model_and_keeps_its_other_directions(
    mine: Path, tiny_run: Path, tmp_path: Path, small_book: SmallBook
) -> None:
    out = tmp_path / "run"
    train = ["train", "--start", tiny_run, "--data", mine, *WAY, "--also", "en", "zh", "--max-epochs", "2"]
    said = translation(*train, "--out", out, "--json")
    assert said.code == 0, said.err
    card = said.document["card"]
    assert card["corpora"] == ["folder mine", "phrasebook", "phrasebook"]
    assert card["start"] == "run"
    assert str(tmp_path) not in (out / "recipe.json").read_text("utf-8")
    assert (card["recipe"]["d_model"], card["recipe"]["vocab_size"]) == (RECIPE.d_model, RECIPE.vocab_size)
    assert card["recipe"]["max_epochs"] == 2
    assert said.document["dev"]["scores"]["BLEU"]["value"] > 50
    assert "seen and unseen sources are not told apart: the model began with another one (run)" in said.out
    assert Translator.load(out).directions == [("zh", "vi"), ("en", "vi"), ("vi", "zh"), ("vi", "en")]
    scored = translation("evaluate", "--model", out, "--data", mine, *WAY, "--part", "test", "--json")
    assert (scored.code, scored.document["corpus"]) == (0, "folder mine")
    assert translation(*train, "--out", out, "--resume").code == 0


def test_own_pairs_are_audited_described_and_learnt_from_nothing(tmp_path: Path) -> None:
    table = write_table(tmp_path / "pairs.tsv", sentences()[:100] + sentences()[:5])
    way = ["--data", table, "--from", "en", "--to", "vi"]
    audit = translation("audit", *way, "--json")
    assert (audit.code, audit.document["corpus"], audit.document["raw_pairs"]) == (0, "file pairs.tsv", 105)
    assert audit.document["duplicates"]["n_exact"] == 100
    assert translation("describe", *way, "--json").document["pairs"]["train"] > 60
    said = translation("train", *way, "--out", tmp_path / "run", *QUICK, "--json")
    assert said.code == 0, said.err
    assert (
        "note: seen and unseen sources are not told apart: the model learnt from file pairs.tsv, which is none of"
        in said.out
    )
    assert str(tmp_path) not in (tmp_path / "run" / "recipe.json").read_text("utf-8")


def test_back_translations_hold_no_sentence_of_the_own_test(
    mine: Path, tiny_run: Path, tmp_path: Path, small_book: SmallBook
) -> None:
    own = load_parts(str(mine), "zh", "vi")
    mono = write_lines(tmp_path / "mono.vi", [p.target for p in own.test] + ["Tôi thích năm quả táo ."])
    make = ["back-translate", "--model", tiny_run, *WAY, "--mono", mono]
    said = translation(*make, "--data", mine, "--out", tmp_path / "bt")
    assert f"1 pairs; {len(own.test)} in dev or test" in said.out
    assert (
        "say with --mono which sentences"
        in translation(*make, "--data", "zh-vi", "--out", tmp_path / "b").mistake
    )


def test_the_contest_allows_no_own_data(mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine.rename(tmp_path / "zh-vi")
    monkeypatch.chdir(tmp_path)
    said = translation("train", "--data", "./zh-vi", "--contest-rules", "--out", "run", *QUICK)
    assert "training file alone, but folder zh-vi would be trained on" in said.mistake
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["audit", "--data", "nowhere"], "got nowhere; nor is there a folder or file of this name"),
        (["train", "--data", "mine", "--to", "fr"], "--to"),
        (["train", "--data", "one.tsv"], "at least 20 different training pairs, got 1"),
        (["train", "--data", "other.tmx"], "no unit has text in zh and vi; its languages are en"),
        (["evaluate", "--data", "mine", "--from", "en"], "train.en is missing beside train.vi"),
        (["train", "--data", "mine", "--start", "nowhere"], "nowhere: no finished model in it"),
        (["train", "--data", "mine", "--start", "default", "--d-model", "64"], "a model of other sizes"),
    ],
)
def test_a_mistake_gets_one_line(
    mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], part: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write_lines(tmp_path / "one.tsv", ["酒店\tkhách sạn"])
    write_lines(tmp_path / "other.tmx", [memory([unit(("en", "a"))])])
    said = translation(*arguments)
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert part in said.err
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())
