"""What rows do to their data, and how a model is decoded: leaks, hard examples, and choices made on the other half."""

import dataclasses
import lzma
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch

from coursepkg.decoding.step import Hypothesis
from coursepkg.metrics.bleu import BLEU
from coursepkg.metrics.scoring import sentence_scores
from coursepkg.projects.translation.corpora import Parts, load_parts, random_split
from coursepkg.projects.translation.corpus import SentencePair, pair_keys, to_scorer
from coursepkg.projects.translation.errors.dictionary import Dictionary
from coursepkg.projects.translation.ladder.decoding import (
    N_BEST,
    repaired,
    reranked,
    reranked_by,
    sampled,
    translated_back,
)
from coursepkg.projects.translation.ladder.rows import LADDER
from coursepkg.projects.translation.ladder.run import (
    HARD_SHARE,
    back_translations,
    hard_examples,
    prepare,
    round_trips_of,
)
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.readers.open_corpus import WIKIPEDIA
from coursepkg.projects.translation.studies.decoding_study import Method
from coursepkg.projects.translation.studies.language_model import LanguageRecipe
from coursepkg.projects.translation.studies.reranking import NBestLists, scorers_of
from tests.projects.translation.test_corpora import write_en_vi
from tests.projects.translation.tiny import toy_parts, write_zh_vi


def test_a_random_split_keeps_every_raw_line_and_leaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(write_zh_vi(tmp_path, n=200, repeated=100)))
    for source, target in (("zh", "vi"), ("vi", "zh")):
        clean = load_parts("zh-vi", source, target)
        leaky = random_split(clean)
        assert len(leaky.train) + len(leaky.dev) + len(leaky.test) == 300
        assert len(leaky.dev) == round(0.03 * 300)

        def keys(pairs: tuple[SentencePair, ...], parts: Parts) -> set[str]:
            return {key for pair in pairs for key in pair_keys(pair, parts.source, parts.target)}

        assert keys(leaky.dev, leaky) & keys(leaky.train, leaky)
        assert not keys(clean.dev, clean) & keys(clean.train, clean)
        assert leaky.corpus == "zh-vi-random"
        assert leaky == random_split(clean)


def test_a_plain_row_trains_on_the_corpus_as_it_is() -> None:
    parts = toy_parts()
    found = prepare(LADDER.row("modern"), parts, None)
    assert (found.parts, found.extra, found.round_trips) == (parts, (), ())


def test_hard_examples_are_the_pairs_of_lowest_sentence_bleu(translator: Translator) -> None:
    parts = toy_parts()
    found = prepare(LADDER.row("hard-examples"), parts, None)
    assert found.extra == ()  # without a model to begin with nothing is hard
    found = hard_examples(parts, translator)
    outputs = translator.translate([pair.source for pair in parts.train], beam_size=1)
    said = [to_scorer(one.n_best[0].line, "vi") for one in outputs]
    true = [to_scorer(pair.target, "vi") for pair in parts.train]
    bleu = sentence_scores(BLEU(effective_order=True), said, true).tolist()
    by_pair = dict(zip(parts.train, bleu, strict=True))
    assert len(found.extra) == round(HARD_SHARE * len(parts.train))
    assert len(set(found.extra)) == len(found.extra)
    left = set(parts.train) - set(found.extra)
    assert max(by_pair[pair] for pair in found.extra) <= min(by_pair[pair] for pair in left)


def test_back_translations_keep_dev_and_test_out(
    translator: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(write_en_vi(write_zh_vi(tmp_path), full=True)))
    parts = dataclasses.replace(toy_parts(), corpus="zh-vi")
    found = back_translations(parts, translator)
    assert found.extra
    held = {key for pair in (*parts.dev, *parts.test) for key in pair_keys(pair, "zh", "vi")}
    assert held.isdisjoint(key for pair in found.extra for key in pair_keys(pair, "zh", "vi"))
    real = {
        line for path in (tmp_path / "en_vi").glob("*.vi") for line in path.read_text("utf-8").splitlines()
    }
    assert {pair.target for pair in found.extra} <= real
    assert "en-vi" in found.notes[-1]


def test_vietnamese_to_translate_back_is_that_of_the_wikipedia_where_it_is(
    translator: Translator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(write_en_vi(write_zh_vi(tmp_path), full=True)))
    parts = dataclasses.replace(toy_parts(), corpus="zh-vi")
    lines = [f"{pair.target[0].upper()}{pair.target[1:]}" for pair in parts.train[:60]]
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / WIKIPEDIA).write_bytes(lzma.compress("\n".join(lines).encode()))
    found = back_translations(parts, translator)
    assert found.extra
    assert {pair.target for pair in found.extra} <= set(lines)
    assert "wikipedia" in found.notes[-1]


def test_round_trips_are_one_for_each_pair(translator: Translator) -> None:
    found = round_trips_of(toy_parts(), translator)
    assert len(found.round_trips) == len(toy_parts().train)


def test_draws_repairs_and_reranking_score_the_whole_dev_part(translator: Translator, tmp_path: Path) -> None:
    parts = toy_parts()
    recipe = LanguageRecipe(d_model=16, n_heads=2, n_layers=1, d_ff=32, max_epochs=1)
    greedy, _ = sampled(translator, parts, Method(sample=True, top_k=1))
    found = {
        "sample": sampled(translator, parts, Method(sample=True, top_k=10)),
        "repaired": repaired(translator, parts),
        "reranked": reranked(translator, parts, tmp_path / "lm", recipe=recipe),
    }
    searched = [
        one.n_best[0].line for one in translator.translate([p.source for p in parts.dev], beam_size=1)
    ]
    assert greedy.hypotheses == tuple(to_scorer(line, "vi") for line in searched)
    for name, (result, _) in found.items():
        assert result.references == tuple(to_scorer(p.target, "vi") for p in parts.dev)
        assert name in result.scores["BLEU"].signature
    assert "each chosen on the other half of dev" in found["reranked"][1][0]
    assert "for up to 900 seconds more than the other rows have" in found["reranked"][1][0]
    assert "repairs in" in found["repaired"][1][-1]


def test_repairs_know_the_words_of_text_that_is_not_cut_into_words(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = toy_parts()
    joined = tuple(
        pair._replace(source=pair.source.replace(" ", ""), target=pair.target.replace(" .", "."))
        for pair in parts.train
    )
    learnt: list[Sequence[tuple[Sequence[str], Sequence[str]]]] = []

    def learn(pairs: Sequence[tuple[Sequence[str], Sequence[str]]], limits: object) -> Dictionary:
        learnt.append(pairs)
        return Dictionary(())

    monkeypatch.setattr(Dictionary, "learn", learn)
    repaired(translator, dataclasses.replace(parts, train=joined))
    for (source, target), pair in zip(learnt[0], parts.train, strict=True):
        assert source == list(pair.source.replace(" ", ""))
        assert target == pair.target.split()


def test_translating_back_chooses_among_the_list_and_needs_both_directions(translator: Translator) -> None:
    parts = toy_parts()
    result, notes = translated_back(translator, parts)
    lists = translator.translate([p.source for p in parts.dev], beam_size=N_BEST, n_best=N_BEST)
    for said, one in zip(result.hypotheses, lists, strict=True):
        assert said in {to_scorer(alternative.line, "vi") for alternative in one.n_best}
    assert "scored by the same model, translating back" in notes[0]
    one_way = Translator(translator.model, translator.subwords, translator.recipe, [("zh", "vi")])
    with pytest.raises(ValueError, match="does not translate Vietnamese into Chinese"):
        translated_back(one_way, parts)


def test_what_another_model_prefers_is_taken_where_that_helps(translator: Translator) -> None:
    parts = toy_parts()

    def last(sentences: object, hypotheses: Sequence[Hypothesis]) -> torch.Tensor:
        return torch.arange(len(hypotheses)).remainder(N_BEST) * 1e3

    # The further down the list, the better by that score: worse translations, so its weight must come out as 0.
    result, notes = reranked_by("other", {"other": last}, translator, parts, "a note")
    best = translator.translate([p.source for p in parts.dev], beam_size=N_BEST)
    assert result.hypotheses == tuple(to_scorer(one.line, "vi") for one in best)
    assert notes == [f"{N_BEST} best; weights 0 and 0, each chosen on the other half of dev; a note"]
    # The other way round it agrees with the search, and any weight gives the same.
    scorers = {"other": lambda numbers, found: -last(numbers, found)}
    again, _ = reranked_by("other", scorers, translator, parts, "")
    assert again.hypotheses == result.hypotheses


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 3.0])
def test_without_weights_the_ladder_s_reranking_is_the_search_itself(
    translator: Translator, alpha: float
) -> None:
    parts = toy_parts()
    scorers = scorers_of(translator, None, translator, parts.dev, parts)
    lists = NBestLists(translator, parts.test, parts, {}, N_BEST, alpha)
    assert lists.reranked({}, alpha=alpha) == lists.first
    # A weight counts before the length penalty, with the search's own norm.
    lists = NBestLists(translator, parts.dev, parts, scorers, N_BEST, alpha)
    told = scorers["reverse"](
        [i for i, found in enumerate(lists.found) for _ in found], [one for f in lists.found for one in f]
    ).tolist()
    given = iter(told)
    wanted = []
    for found in lists.found:
        scores = [
            (one.log_prob + 0.5 * next(given)) / ((5 + len(one.token_log_probs)) / 6) ** alpha
            for one in found
        ]
        finished = [i for i, one in enumerate(found) if one.finished] or [*range(len(found))]
        best = found[max(finished, key=scores.__getitem__)]
        wanted.append(to_scorer(translator.subwords.target.decode(best.ids), "vi"))
    assert lists.reranked({"reverse": 0.5}, alpha=alpha) == wanted
