"""The switch --contest-rules refuses whatever does not come from the contest's own file.

The contest's rules and the direction of further pairs on the command line.
"""

import json
from pathlib import Path

import pytest

from coursepkg.projects.translation.commands import Train
from coursepkg.projects.translation.competition_rules import check_contest_rules, check_t5_rules
from coursepkg.projects.translation.corpora import Parts, load_parts
from tests.projects.translation.test_commands import QUICK
from tests.projects.translation.tiny import SmallBook, fast, quietly, toy_parts, translation, write_lines


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


def test_a_t5_of_the_contest_is_built_afresh_and_reads_the_own_file(
    zh_vi: Path, small_book: SmallBook, tmp_path: Path
) -> None:
    check_t5_rules("tiny", "zh", "vi", "auto")
    check_t5_rules("tiny", "vi", "zh", "zh-vi")
    with pytest.raises(ValueError, match="no pretrained model, got google/mt5-small; give --model tiny"):
        check_t5_rules("google/mt5-small", "zh", "vi", "zh-vi")
    for languages, corpus, found in (
        (("en", "vi"), "auto", "phrasebook"),
        (("nom", "vi"), "auto", "nom-vi"),
        (("zh", "vi"), "phrasebook", "phrasebook"),
    ):
        with pytest.raises(ValueError, match=f"training file alone, but {found} would be trained on"):
            check_t5_rules("tiny", *languages, corpus)
    train = ["t5-train", "--out", tmp_path / "t5", "--from", "zh", "--contest-rules", "--preset", "report"]
    assert "--contest-rules allow no pretrained model" in translation(*train).mistake
    assert not (tmp_path / "t5").exists()


def test_a_contest_file_of_a_model_without_the_rules_is_noted(zh_vi: Path, tmp_path: Path) -> None:
    parts = load_parts("zh-vi", "zh", "vi")
    source = write_lines(tmp_path / "in.zh", ["我 看见 两 只 猫 。"])
    note = "was not trained with --contest-rules"
    for rules in (False, True):
        out = tmp_path / f"run{rules}"
        quietly(fast(max_epochs=1), out, parts, contest_rules=rules)
        predict = ["predict", "--model", out, "--file", source, "--beam-size", "1"]
        said = translation(*predict, "--form", "contest", "--out", tmp_path / f"contest{rules}")
        assert said.code == 0
        assert (note in said.err) is not rules
        assert note not in translation(*predict, "--out", tmp_path / f"reader{rules}").err


@pytest.mark.parametrize("flag", ["--extra", "--round-trips"])
def test_pairs_for_another_direction_are_refused(zh_vi: Path, tmp_path: Path, flag: str) -> None:
    for language, line in (("zh", "我 买了 两 本 书 ！"), ("vi", "Tôi đã mua hai quyển sách này .")):
        write_lines(tmp_path / f"more.{language}", [line])
    train = ["train", "--data", "zh-vi", *QUICK, flag, tmp_path / "more", "--out"]
    card = tmp_path / "more.json"
    write_lines(card, [json.dumps({"from": "vi", "to": "zh"})])
    mistake = translation(*train, tmp_path / "a").mistake
    assert f"{flag} {tmp_path / 'more'} was made for vi to zh, and this run learns zh to vi" in mistake
    assert not (tmp_path / "a").exists()
    note = f"note: {card} does not say for which direction the pairs of {flag} were made"
    write_lines(card, [json.dumps({"from": "zh", "to": "vi"})])
    assert note not in translation(*train, tmp_path / "b").out
    card.unlink()
    said = translation(*train, tmp_path / "c")
    assert note in said.out
    assert said.code == (0 if flag == "--extra" else 2)  # no loss of this run compares round trips
