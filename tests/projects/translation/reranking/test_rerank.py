"""Reranking by a language model: the weighted sum by hand, the choice of weights, what is reported."""

import json
from dataclasses import replace
from itertools import product

import pytest
import torch

from coursepkg.blocks.language_model import LanguageModel
from coursepkg.decoding.hypothesis import Hypothesis
from coursepkg.metrics.bleu import BLEU
from coursepkg.metrics.scoring import score
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.decode import search
from coursepkg.projects.translation.halves import dev_halves
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.reranking.rerank import RerankStudy, rerank_study
from coursepkg.text.vocabulary import BOS, EOS
from coursepkg.training.seed import set_seed
from tests.projects.translation.memorised import PAIRS, memorised, translator

LM, LENGTH = (0.0, 0.5, 2.0), (0.0, 3.0)


@pytest.fixture(scope="module")
def model() -> Translator:
    return translator()


@pytest.fixture(scope="module")
def language_model(model: Translator) -> LanguageModel:
    """Fresh weights: any model of the right vocabulary will do, as long as it has preferences."""
    set_seed(3)
    return LanguageModel(replace(model.model.config, source_vocab_size=None)).eval()


@pytest.fixture(scope="module")
def parts() -> Parts:
    return memorised()[1]


@pytest.fixture(scope="module")
def study(model: Translator, language_model: LanguageModel, parts: Parts) -> RerankStudy:
    return rerank_study(
        model, language_model, parts, n_best=4, lm_weights=LM, length_weights=LENGTH, n_resamples=50
    )


def by_hand(
    model: Translator, language_model: LanguageModel, half: list, lm: float, length: float
) -> list[str]:
    """The best of each list, sentence by sentence, without the package's reranking."""
    sources = model.subwords.encode_sources([p.source for p in half], "zh", "vi")
    found = search(
        model.model,
        sources,
        max_len=model.recipe.max_len,
        beam_size=4,
        n_best=4,
        length_penalty=model.recipe.length_penalty,
    )

    def total(one: Hypothesis) -> float:
        ids = [*one.ids, EOS]
        log_probs = language_model(torch.tensor([[BOS, *one.ids]]))[0].log_softmax(dim=-1)
        fluency = sum(log_probs[t, i].item() for t, i in enumerate(ids))
        penalty = ((5 + len(ids)) / 6) ** model.recipe.length_penalty
        return (one.log_prob + lm * fluency + length * len(ids)) / penalty

    return [model.subwords.target.decode(max(one, key=total).ids) for one in found]


def bleu(texts: list[str], half: list) -> float:
    return float(score(BLEU(), texts, [p.target for p in half]).value)


def test_the_grid_is_the_weighted_sum(
    study: RerankStudy, model: Translator, language_model: LanguageModel, parts: Parts
) -> None:
    choose, _ = dev_halves(parts)
    told = {(row.lm, row.length): row.bleu for row in study.rows}
    assert told.keys() == set(product(LM, LENGTH))
    for weights, value in told.items():
        expected = bleu(by_hand(model, language_model, choose, *weights), choose)
        assert value == pytest.approx(expected), weights
    assert told[0.0, 0.0] == study.baseline_choose  # the search's own choice
    assert len(set(told.values())) > 1


def test_the_first_half_chooses_and_the_second_is_scored(
    study: RerankStudy, model: Translator, language_model: LanguageModel, parts: Parts
) -> None:
    choose, judge = dev_halves(parts)
    assert (study.n_choose, study.n_score) == (len(choose), len(judge))
    assert study.chosen.bleu == max(row.bleu for row in study.rows)
    weights = (study.chosen.lm, study.chosen.length)
    reranked = by_hand(model, language_model, judge, *weights)
    assert study.comparison.system == pytest.approx(bleu(reranked, judge))
    first = [one.n_best[0].line for one in model.translate([p.source for p in judge])]
    assert study.comparison.baseline == pytest.approx(bleu(first, judge))
    assert study.n_changed == sum(a != b for a, b in zip(first, reranked, strict=True))
    assert study.oracle >= max(study.comparison.baseline, study.comparison.system) - 1e-9


def test_of_equal_weights_the_smaller_are_chosen(
    model: Translator, language_model: LanguageModel, parts: Parts
) -> None:
    found = rerank_study(
        model, language_model, parts, n_best=2, lm_weights=(1e-9, 0.0), length_weights=(0.0,), n_resamples=50
    )
    assert len({row.bleu for row in found.rows}) == 1
    assert found.chosen.lm == 0.0
    assert found.at_edge == []


def test_a_choice_at_the_edge_of_the_grid_is_said(
    model: Translator, language_model: LanguageModel, parts: Parts
) -> None:
    # This model knows nothing of the language: the less it counts, the better.
    found = rerank_study(
        model, language_model, parts, n_best=4, lm_weights=(5.0, 1e-6), length_weights=(0.0,), n_resamples=50
    )
    assert found.at_edge == ["lm"]
    assert "the weight of lm lies at the edge of the grid" in str(found)


def test_a_limit_takes_the_first_of_each_half(
    model: Translator, language_model: LanguageModel, parts: Parts
) -> None:
    found = rerank_study(
        model,
        language_model,
        parts,
        n_best=2,
        lm_weights=(0.0,),
        length_weights=(0.0,),
        limit=2,
        n_resamples=50,
    )
    assert (found.n_choose, found.n_score) == (2, 2)
    assert found.n_changed == 0


def test_it_can_be_stored(study: RerankStudy) -> None:
    document = json.loads(json.dumps(study.as_json()))
    assert document["chosen"] == document["rows"][0]
    assert document["score"]["system"] == study.comparison.system
    assert len(document["rows"]) == len(LM) * len(LENGTH)
    assert f"on the other {study.n_score}: BLEU|" in str(study)
    assert len(PAIRS) == document["choose"]["n"] + document["score"]["n"]
