"""The order of a search's hypotheses: marks first, then what the model reads back."""

import dataclasses
from pathlib import Path

import pytest
import torch

from coursepkg.decoding.rerank import reverse_scorer
from coursepkg.projects.translation.confidence import rank
from coursepkg.projects.translation.ensemble import together
from coursepkg.projects.translation.evaluate import search_note
from coursepkg.projects.translation.models import build_model
from coursepkg.projects.translation.placeholders import MARKS, Masked, keep_marks
from coursepkg.projects.translation.predict import Translator
from tests.projects.translation.tiny import fast, subwords, translation

TEXTS = ["你们 看见 三 只 猫 。", "他 买了 两 本 书 。", "只 只 了 本 五 五 我 。"]


def hypotheses(translator: Translator, texts: list[str], alpha: float = 1.0) -> list:
    ids = translator.encode(texts, "zh", "vi")
    return translator.search(ids, beam_size=4, length_penalty=alpha, n_best=4, batch_size=8)


def ordered(translator: Translator, texts: list[str], weight: float, alpha: float = 1.0) -> list:
    parts = [Masked(text, {}) for text in texts]
    return rank(translator, parts, hypotheses(translator, texts, alpha), "zh", "vi", weight, alpha)


def with_weight(translator: Translator, weight: float, **changes: object) -> Translator:
    recipe = dataclasses.replace(translator.recipe, reverse_weight=weight, **changes)
    made = Translator(translator.model, translator.subwords, recipe, translator.directions)
    made.calibration = translator.calibration
    return made


@pytest.mark.parametrize(("weight", "alpha"), [(0.4, 1.0), (2.0, 0.5), (30.0, 0.0)])
def test_scores_are_those_of_both_directions(translator: Translator, weight: float, alpha: float) -> None:
    found = hypotheses(translator, TEXTS, alpha)
    own = translator.subwords.encode_targets(TEXTS, "zh")
    score_back = reverse_scorer(translator.model, own)
    for number, (ranked, searched) in enumerate(
        zip(ordered(translator, TEXTS, weight, alpha), found, strict=True)
    ):
        lines = [translator.subwords.target.decode(one.ids) for one in searched]
        read = translator.subwords.encode_sources(lines, "vi", "zh")
        told = [dataclasses.replace(h, ids=tuple(ids)) for h, ids in zip(searched, read, strict=True)]
        back = score_back([number] * len(told), told)
        n = len(own[number]) + 1
        wanted = [h.score + weight * b / ((5 + n) / 6) ** alpha for h, b in zip(searched, back, strict=True)]
        assert [one.score for one in ranked] == pytest.approx(
            sorted(map(float, wanted), reverse=True), rel=1e-5
        )
        by_ids = {h.ids: float(b) / n for h, b in zip(searched, back, strict=True)}
        assert [one.reverse for one in ranked] == pytest.approx(
            [by_ids[one.hypothesis.ids] for one in ranked], abs=1e-4
        )


def test_reading_back_changes_what_is_said_and_no_weight_changes_nothing(translator: Translator) -> None:
    plain = [[one.hypothesis.ids for one in own] for own in ordered(translator, TEXTS, 0.0)]
    assert plain == [[one.ids for one in own] for own in hypotheses(translator, TEXTS)]
    strong = [[one.hypothesis.ids for one in own] for own in ordered(translator, TEXTS, 50.0)]
    assert [sorted(own) for own in strong] == [sorted(own) for own in plain]
    assert strong != plain
    backs = [[one.reverse for one in own] for own in ordered(translator, TEXTS, 1e6)]
    assert backs == [sorted(own, reverse=True) for own in backs]
    assert all(one.reverse is None for own in ordered(translator, TEXTS, 0.0) for one in own)


def test_what_the_limit_cut_off_stands_behind_what_ended(translator: Translator) -> None:
    (found,) = hypotheses(translator, TEXTS[:1])
    cut = [dataclasses.replace(found[0], finished=False), *found[1:]]
    for weight in (0.1, 50.0):
        (own,) = rank(translator, [Masked(TEXTS[0], {})], [cut], "zh", "vi", weight, 1.0)
        assert [one.hypothesis.finished for one in own] == [True] * (len(cut) - 1) + [False]


def test_a_lost_mark_weighs_more_than_any_score(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    masking = with_weight(translator, 0.0, placeholders="mask")
    (found,) = hypotheses(masking, TEXTS[:1])
    (plain,) = rank(masking, [Masked(TEXTS[0], {})], [found], "zh", "vi", 50.0, 1.0)
    last, line_of = plain[-1].hypothesis, masking.line_of
    monkeypatch.setattr(
        masking, "line_of", lambda one, part: (MARKS[0] if one is last else "") + line_of(one, part)
    )
    (own,) = rank(masking, [Masked(TEXTS[0], {MARKS[0]: "7"})], [found], "zh", "vi", 50.0, 1.0)
    others = [one.hypothesis.ids for one in plain[:-1]]
    assert [one.hypothesis.ids for one in own] == [last.ids, *others]


def test_the_wider_search_adds_what_is_new_and_then_a_mark_is_put_in() -> None:
    torch.manual_seed(0)
    settings = fast(max_len=64, placeholders="mask", reverse=1.0)
    both = [("zh", "vi"), ("vi", "zh")]
    model = Translator(build_model(settings, 170, 170), subwords(), settings, both)
    part = Masked("我 ①", {"①": "5"})
    (ids,) = model.encode([part.text], "zh", "vi")
    found = model.search([ids], beam_size=2, length_penalty=1.0, n_best=2, batch_size=4)
    first = [one.ids for one in found[0]]
    put_in = keep_marks(model, [part], [ids], found, "vi", 1.0, 4)
    assert put_in == {0: ["5"]}
    assert [one.ids for one in found[0]][:2] == first
    searched = [one.ids for one in found[0][:-1]]
    assert len(set(searched)) == len(searched) > 2


def test_the_recipe_decides_where_the_model_reads_back(translator: Translator) -> None:
    weighing = with_weight(translator, 50.0)
    plain = translator.translate(TEXTS, n_best=4)
    found = weighing.translate(TEXTS, n_best=4)
    assert [one.n_best for one in weighing.translate(TEXTS, n_best=4, reverse_weight=0.0)] == [
        one.n_best for one in plain
    ]
    assert [one.text for one in found] == [
        one.text for one in translator.translate(TEXTS, reverse_weight=50.0)
    ]
    assert [[a.text for a in one.n_best] for one in found] != [[a.text for a in one.n_best] for one in plain]
    assert all(alternative.reverse < 0 for one in found for alternative in one.n_best)
    assert search_note(weighing, "zh", "vi") == f"beam {weighing.recipe.beam_size}, reverse 50"
    assert search_note(weighing, "zh", "vi", 3, 0.0) == "beam 3"
    assert search_note(weighing, "zh", "vi", 1) == "beam 1"  # which leaves nothing to rank
    assert weighing.translate(TEXTS, beam_size=1)[0].n_best[0].reverse is None
    one_way = with_weight(translator, 50.0)
    one_way.directions = [("zh", "vi")]
    assert [one.text for one in one_way.translate(TEXTS)] == [one.text for one in plain]
    assert search_note(one_way, "zh", "vi") == f"beam {one_way.recipe.beam_size}"


@pytest.mark.parametrize(("weight", "said"), [(-0.5, "at least 0"), (float("nan"), "reverse_weight")])
def test_a_wrong_weight_is_one_line(translator: Translator, weight: float, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        translator.translate(TEXTS, reverse_weight=weight)


def test_a_model_that_cannot_read_back_says_so(translator: Translator) -> None:
    one_way = with_weight(translator, 0.0)
    one_way.directions = [("zh", "vi")]
    for model in (one_way, together([translator, translator])):
        assert model.reverse_weight_of("zh", "vi") == 0.0
        with pytest.raises(ValueError, match="also translates Vietnamese into Chinese; leave it out"):
            model.translate(TEXTS, reverse_weight=0.4)


def test_the_command_takes_a_weight(tiny_run: Path, tmp_path: Path) -> None:
    common = ("--model", tiny_run, "--text", TEXTS[2], "--n-best", "4")
    plain, weighed = (translation("predict", *common, "--reverse-weight", w).out for w in ("0", "50"))
    assert sorted(plain.splitlines()) == sorted(weighed.splitlines())
    assert plain != weighed
    refused = translation(
        "back-translate", "--model", tiny_run, "--reverse-weight", "1", "--out", tmp_path / "x"
    )
    assert refused.code == 2
    assert "--reverse-weight is for predict and evaluate" in refused.err
