"""Several trained translators as one: in Python, on the command line, in a row of the ladder."""

import dataclasses
from pathlib import Path

import pytest

from coursepkg.projects.translation.corpora import Parts, load_parts, random_split
from coursepkg.projects.translation.ensemble import (
    cards_of,
    members_of,
    system_note,
    system_settings,
    together,
)
from coursepkg.projects.translation.evaluate import seen_by
from coursepkg.projects.translation.knn_mt import build_datastore, with_neighbours
from coursepkg.projects.translation.ladder.decoding import ensembled
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.published_results import evaluation_table
from coursepkg.training.run_card import read_calls
from tests.projects.translation.tiny import SmallBook, fast, pairs, quietly, toy_parts, translation


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two runs that differ in their seed, and one of another vocabulary."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (0, 1):
        quietly(fast(max_epochs=1), folder / f"seed{seed}", seed=seed)
    quietly(fast(max_epochs=1, vocab_size=150), folder / "other")
    return [folder / "seed0", folder / "seed1", folder / "other"]


@pytest.fixture(scope="module")
def both(runs: list[Path]) -> list[Translator]:
    return [Translator.load(folder) for folder in runs[:2]]


def few() -> list[str]:
    return [p.source for p in pairs("zh", "vi", 0, 12)]


def test_a_model_twice_says_what_it_says_alone(both: list[Translator]) -> None:
    alone, twice = both[0], together([both[0], both[0]])
    assert [one.line for one in twice.translate(few())] == [one.line for one in alone.translate(few())]
    assert twice.fingerprint != alone.fingerprint
    assert alone.translate(few())[0].n_best[0].confidence == pytest.approx(
        twice.translate(few())[0].n_best[0].confidence, rel=1e-4
    )


def test_the_order_of_the_members_changes_no_translation(both: list[Translator]) -> None:
    found = [[one.line for one in together(order).translate(few())] for order in (both, both[::-1])]
    assert found[0] == found[1]


def test_each_member_keeps_its_neighbours(both: list[Translator]) -> None:
    parts = dataclasses.replace(toy_parts(), train=pairs("zh", "vi", 0, 40))
    helped = [with_neighbours(one, build_datastore(one, parts), 0.95, 0.01, 4) for one in both]
    system = together(helped)
    right = [
        one.line == p.target
        for one, p in zip(
            system.translate([p.source for p in parts.train], beam_size=4), parts.train, strict=True
        )
    ]
    assert sum(right) >= 36
    assert system.directions == [("zh", "vi")]
    assert system_note(system) == ", ensemble of 2, neighbours 0.95"
    settings = system_settings(system)
    assert [one["seed"] for one in settings["ensemble"]] == [0, 1]
    assert settings["ensemble"][1]["neighbours"]["weight"] == 0.95


def test_a_model_alone_is_its_only_member(both: list[Translator]) -> None:
    assert members_of(both[0]) == (both[0],)
    assert system_note(both[0]) == ""
    assert system_settings(both[0]) == {"neighbours": None}


def test_what_does_not_go_together_is_refused(runs: list[Path], both: list[Translator]) -> None:
    with pytest.raises(ValueError, match="two or more translators"):
        together(both[:1])
    with pytest.raises(ValueError, match="model 2 of the ensemble has another vocabulary"):
        together([both[0], Translator.load(runs[2])])
    short = Translator(
        both[1].model, both[1].subwords, dataclasses.replace(both[1].recipe, max_len=20), both[1].directions
    )
    with pytest.raises(ValueError, match="takes 19 tokens, and the first 23"):
        together([both[0], short])
    back = Translator(both[1].model, both[1].subwords, both[1].recipe, [("vi", "zh")])
    forward = Translator(both[0].model, both[0].subwords, both[0].recipe, [("zh", "vi")])
    with pytest.raises(ValueError, match="no direction in common"):
        together([forward, back])


def test_the_verbs_take_further_models(runs: list[Path], small_book: SmallBook) -> None:
    chosen = ["--model", runs[0], "--ensemble", runs[1], "--data", "phrasebook"]
    document = translation("evaluate", *chosen, "--json").document
    assert "ensemble of 2" in document["scores"]["BLEU"]["signature"]
    assert [one["seed"] for one in document["search"]["ensemble"]] == [0, 1]
    text = translation("predict", "--model", runs[0], "--ensemble", runs[1], "--text", "我 买了 两 本 书 。")
    # After a few steps the models still write some Chinese, which is noted.
    assert (text.code, text.err.count("\n")) == (0, text.err.count("does not look like Vietnamese"))
    wrong = ["predict", "--model", runs[0], "--ensemble", runs[2], "--text", "我 买了 两 本 书 。"]
    assert "has another vocabulary than the first" in translation(*wrong).mistake
    assert "no finished model in it" in translation(*wrong[:4], "nowhere", *wrong[5:]).mistake


def test_a_row_of_the_ladder_trains_a_second_model(both: list[Translator], tmp_path: Path) -> None:
    parts: Parts = toy_parts()
    result, notes = ensembled(both[0], parts, both[0].recipe, tmp_path / "second", seed=7)
    assert len(result.hypotheses) == len(parts.dev)
    assert "ensemble of 2" in result.scores["BLEU"].signature
    assert "the second model, of seed 7" in notes[-1]
    assert Translator.load(tmp_path / "second").card["seed"] == 7


def test_what_any_member_saw_is_seen(runs: list[Path], zh_vi: Path, tmp_path: Path) -> None:
    parts = load_parts("zh-vi", "zh", "vi")
    leaky = random_split(parts)
    for name, corpus in (("clean", parts), ("leaky", leaky)):
        quietly(fast(max_epochs=1), tmp_path / name, corpus)
    system = together([Translator.load(tmp_path / "clean"), Translator.load(tmp_path / "clean")])
    system.members[1].card = Translator.load(tmp_path / "leaky").card
    learnt, notes = seen_by(cards_of(system), "zh")
    assert notes == []
    sources = {pair.source for pair in learnt or ()}
    assert {pair.source for pair in leaky.train} <= sources
    assert {pair.source for pair in parts.train} <= sources


def test_the_log_of_each_member_is_kept(runs: list[Path]) -> None:
    said = translation("evaluate", "--model", runs[0], "--ensemble", runs[1], "--limit", "3", "--json")
    told = said.document["search"]["ensemble"]
    assert [one["calls"] for one in told] == [read_calls(run) for run in runs[:2]]
    assert all(one["calls"][0]["from_step"] == 0 for one in told)
    assert "over" not in evaluation_table({"pair": said.document})
