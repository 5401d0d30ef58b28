"""The switch --contest-rules refuses whatever does not come from the contest's own file."""

import json
from pathlib import Path

import pytest

from coursepkg.projects.translation.commands import Train
from coursepkg.projects.translation.contest import check_contest_rules
from coursepkg.projects.translation.corpora import Parts, load_parts
from tests.projects.translation.tiny import toy_parts, write_lines


@pytest.fixture
def own(zh_vi: Path) -> Parts:
    return load_parts("zh-vi", "zh", "vi")


def card(path: Path, **content: object) -> Path:
    write_lines(path, [json.dumps(content)])
    return path


def test_the_own_file_is_allowed_both_ways(own: Parts) -> None:
    check_contest_rules(Train(), [own])
    check_contest_rules(Train(), [own.swapped()])


def test_any_other_corpus_is_refused_by_name(own: Parts) -> None:
    for corpora in ([toy_parts()], [own, toy_parts("en", "vi")]):
        with pytest.raises(ValueError, match="training file alone, but toy would be trained on") as caught:
            check_contest_rules(Train(), corpora)
        assert "\n" not in str(caught.value)


def test_data_that_stand_in_for_the_file_are_refused(tmp_path: Path, small_book: object) -> None:
    parts = load_parts("zh-vi", "zh", "vi", folder=tmp_path / "none")
    with pytest.raises(ValueError, match="but phrasebook would be trained on"):
        check_contest_rules(Train(), [parts])


def test_a_pretrained_model_is_refused(own: Parts, tmp_path: Path) -> None:
    start = tmp_path / "start"
    with pytest.raises(ValueError, match=r"recipe\.json is missing, so nothing says what --start was made"):
        check_contest_rules(Train(start=start), [own])
    card(start / "recipe.json", corpora=["zh-vi", "phrasebook"])
    with pytest.raises(ValueError, match="--start was made from phrasebook, zh-vi"):
        check_contest_rules(Train(start=start), [own])
    card(start / "recipe.json", corpora=["zh-vi"])
    check_contest_rules(Train(start=start), [own])


@pytest.mark.parametrize("flag", ["extra", "round_trips"])
def test_synthetic_pairs_are_allowed_where_they_come_from_the_own_file(
    own: Parts, tmp_path: Path, flag: str
) -> None:
    options = Train(**{flag: tmp_path / "more"})
    name = f"--{flag.replace('_', '-')}"
    with pytest.raises(ValueError, match=f"more.json is missing, so nothing says what {name} was made from"):
        check_contest_rules(options, [own])
    card(tmp_path / "more.json", corpora=["en-vi"])
    with pytest.raises(ValueError, match=f"but {name} was made from en-vi"):
        check_contest_rules(options, [own])
    card(tmp_path / "more.json", pairs=3)
    with pytest.raises(ValueError, match=f"but {name} was made from unknown"):
        check_contest_rules(options, [own])
    card(tmp_path / "more.json", corpora=["zh-vi"])
    check_contest_rules(options, [own])


@pytest.mark.parametrize("history", [{"start": "downloaded"}, {"n_extra": 100}])
def test_a_start_with_a_history_from_outside_is_refused(
    own: Parts, tmp_path: Path, history: dict[str, object]
) -> None:
    card(tmp_path / "start" / "recipe.json", corpora=["zh-vi"], **history)
    with pytest.raises(ValueError, match="--start"):
        check_contest_rules(Train(start=tmp_path / "start"), [own])
    card(tmp_path / "start" / "recipe.json", corpora=["zh-vi"], contest_rules=True, **history)
    check_contest_rules(Train(start=tmp_path / "start"), [own])
