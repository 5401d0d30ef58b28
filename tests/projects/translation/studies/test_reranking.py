"""The reverse model's score: log p(x | y) by hand, its weight in the sum, and the command that chooses it.

Reranking by a language model: the weighted sum by hand, the choice of weights, what is reported.
"""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest
import torch

from coursepkg.blocks.language_model import LanguageModel
from coursepkg.decoding.step import Hypothesis
from coursepkg.metrics.bleu import BLEU
from coursepkg.metrics.scoring import score
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import to_scorer
from coursepkg.projects.translation.evaluate import dev_halves
from coursepkg.projects.translation.models import search
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.decoding_study import Decoder, Method
from coursepkg.projects.translation.studies.reranking import (
    NBestLists,
    RerankStudy,
    noisy_channel_scorer,
    rerank_study,
)
from coursepkg.text.vocabulary import BOS, EOS
from coursepkg.training.seed import set_seed
from tests.projects.translation.memorised import PAIRS, memorised, translator
from tests.projects.translation.tiny import quietly, recipe, run_command, toy_parts

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
    alpha, max_len = model.recipe.length_penalty, model.recipe.max_len
    found = search(model.model, sources, max_len=max_len, beam_size=4, n_best=4, length_penalty=alpha)

    def total(one: Hypothesis) -> float:
        ids = [*one.ids, EOS]
        log_probs = language_model(torch.tensor([[BOS, *one.ids]]))[0].log_softmax(dim=-1)
        fluency = sum(log_probs[t, i].item() for t, i in enumerate(ids))
        penalty = ((5 + len(ids)) / 6) ** alpha
        return (one.log_prob + lm * fluency + length * len(ids)) / penalty

    return [model.subwords.target.decode(max(one, key=total).ids) for one in found]


def bleu(texts: list[str], half: list) -> float:
    return float(score(BLEU(), texts, [p.target for p in half]).value)


def test_the_grid_is_the_weighted_sum(
    study: RerankStudy, model: Translator, language_model: LanguageModel, parts: Parts
) -> None:
    choose, _ = dev_halves(parts)
    told = {(row.lm, row.length): row.bleu for row in study.grid.rows}
    assert told.keys() == set(product(LM, LENGTH))
    for weights, value in told.items():
        expected = bleu(by_hand(model, language_model, choose, *weights), choose)
        assert value == pytest.approx(expected), weights
    assert told[0.0, 0.0] == study.grid.baseline_choose  # the search's own choice
    assert len(set(told.values())) > 1


def test_the_first_half_chooses_and_the_second_is_scored(
    study: RerankStudy, model: Translator, language_model: LanguageModel, parts: Parts
) -> None:
    choose, judge = dev_halves(parts)
    assert (study.grid.n_choose, study.grid.n_score) == (len(choose), len(judge))
    assert study.grid.chosen.bleu == max(row.bleu for row in study.grid.rows)
    weights = (study.grid.chosen.lm, study.grid.chosen.length)
    reranked = by_hand(model, language_model, judge, *weights)
    assert study.grid.comparison.system == pytest.approx(bleu(reranked, judge))
    first = [one.n_best[0].line for one in model.translate([p.source for p in judge])]
    assert study.grid.comparison.baseline == pytest.approx(bleu(first, judge))
    assert study.n_changed == sum(a != b for a, b in zip(first, reranked, strict=True))
    assert study.oracle >= max(study.grid.comparison.baseline, study.grid.comparison.system) - 1e-9


def test_of_equal_weights_the_smaller_are_chosen(
    model: Translator, language_model: LanguageModel, parts: Parts
) -> None:
    found = rerank_study(
        model, language_model, parts, n_best=2, lm_weights=(1e-9, 0.0), length_weights=(0.0,), n_resamples=50
    )
    assert len({row.bleu for row in found.grid.rows}) == 1
    assert found.grid.chosen.lm == 0.0
    assert found.grid.on_grid_boundary == []


def test_a_choice_at_the_edge_of_the_grid_is_said(
    model: Translator, language_model: LanguageModel, parts: Parts
) -> None:
    # This model knows nothing of the language: the less it counts, the better.
    found = rerank_study(
        model, language_model, parts, n_best=4, lm_weights=(5.0, 1e-6), length_weights=(0.0,), n_resamples=50
    )
    assert found.grid.on_grid_boundary == ["lm"]
    assert "the weight of lm lies at the edge of the grid" in str(found)


def test_a_limit_takes_the_first_of_each_half(
    model: Translator, language_model: LanguageModel, parts: Parts
) -> None:
    options = {"n_best": 2, "lm_weights": (0.0,), "length_weights": (0.0,), "n_resamples": 50}
    found = rerank_study(model, language_model, parts, limit=2, **options)
    assert (found.grid.n_choose, found.grid.n_score) == (2, 2)
    assert found.n_changed == 0


def test_it_can_be_stored(study: RerankStudy) -> None:
    document = json.loads(json.dumps(study.as_json()))
    assert document["chosen"] == document["rows"][0]
    assert document["score"]["system"] == study.grid.comparison.system
    assert len(document["rows"]) == len(LM) * len(LENGTH)
    assert f"on the other {study.grid.n_score}: BLEU|" in str(study)
    assert len(PAIRS) == document["choose"]["n"] + document["score"]["n"]


SOURCES = [pair.source for pair in PAIRS]


def lists(model: Translator, sources: list[str]) -> list:
    ids = model.subwords.encode_sources(sources, "zh", "vi")
    return Decoder(model).n_best(ids, Method(4, model.recipe.length_penalty), 4)


def source_log_prob(reverse: Translator, source: str, line: str) -> float:
    """log p(source | line), one token after the other."""
    (src,) = reverse.subwords.encode_sources([line], "vi", "zh")
    (wanted,) = reverse.subwords.encode_targets([source], "zh")
    target = [*wanted, EOS]
    logits = reverse.model(torch.tensor([[*src, EOS]]), torch.tensor([[BOS, *wanted]]))[0]
    return sum(logits.log_softmax(dim=-1)[t, i].item() for t, i in enumerate(target))


def test_the_score_is_the_log_probability_of_the_source_under_the_reverse_model(model: Translator) -> None:
    found = lists(model, SOURCES)
    flat = [one for own in found for one in own]
    numbers = [number for number, own in enumerate(found) for _ in own]
    scorer = noisy_channel_scorer(model, model, SOURCES, "zh", "vi")
    with torch.inference_mode():
        decode = model.subwords.target.decode
        wanted = [
            source_log_prob(model, SOURCES[i], decode(one.ids)) for i, one in zip(numbers, flat, strict=True)
        ]
        assert scorer(numbers, flat).tolist() == pytest.approx(wanted, abs=1e-3)
    # A model that knows the pairs by heart tells the source from its own translation best.
    right, wrong = scorer([0, 1], [found[0][0], found[0][0]]).tolist()
    assert right > wrong


def test_another_vocabulary_reads_the_translations_as_text(model: Translator, tmp_path: Path) -> None:
    quietly(recipe(max_epochs=1, reverse=0.0, d_model=16), tmp_path / "back", toy_parts("vi", "zh"))
    reverse = Translator.load(tmp_path / "back")
    assert reverse.subwords.fingerprints != model.subwords.fingerprints
    found = [own[0] for own in lists(model, SOURCES[:3])]
    with torch.inference_mode():
        scores = noisy_channel_scorer(reverse, model, SOURCES, "zh", "vi")(range(3), found)
        lines = [model.subwords.target.decode(one.ids) for one in found]
        wanted = [
            source_log_prob(reverse, source, line) for source, line in zip(SOURCES, lines, strict=False)
        ]
    assert scores.tolist() == pytest.approx(wanted, abs=1e-3)
    with pytest.raises(ValueError, match="does not translate Chinese into Vietnamese"):
        noisy_channel_scorer(reverse, model, SOURCES, "vi", "zh")


def test_lists_are_read_with_marks_and_told_without(model: Translator) -> None:
    masking = Translator(
        model.model, model.subwords, replace(model.recipe, placeholders="mask"), model.directions
    )
    pair = PAIRS[0]._replace(source=f"{PAIRS[0].source} 5")
    found = NBestLists(masking, [pair], memorised()[1], {}, 2, 1.0)
    assert found.masked[0].text.endswith("①")
    assert "①" not in found.first[0]


def test_without_weights_the_lists_of_an_export_keep_its_order(model: Translator) -> None:
    ids = model.subwords.encode_targets([PAIRS[0].target, PAIRS[1].target], "vi")
    long, short = (
        Hypothesis(tuple(one), (total / n,) * n, total, total / n, True)
        for one, n, total in zip(ids, (12, 2), (-6.0, -2.0), strict=True)
    )

    class Runtime:
        def search(self, sources: list[list[int]], **options: object) -> list[list[Hypothesis]]:
            return [[long, short] for _ in sources]

    exported = translator()
    exported.exported = Runtime()  # type: ignore[assignment]
    found = NBestLists(exported, PAIRS[:1], memorised()[1], {}, 2, 1.0)
    assert found.reranked({}, alpha=1.0) == found.first == [to_scorer(PAIRS[0].target, "vi")]


def test_the_weights_are_chosen_by_the_weighted_sum_on_the_first_half(model: Translator) -> None:
    parts, weights = memorised()[1], (-3.0, 0.0, 0.5)
    options = {"n_best": 4, "length_weights": (0.0, 1.0), "n_resamples": 20}
    study = rerank_study(model, None, parts, reverse=model, reverse_weights=weights, **options)
    choose, _ = dev_halves(parts)
    found = lists(model, [pair.source for pair in choose])
    decode = model.subwords.target.decode
    assert {(row.lm, row.reverse, row.length) for row in study.grid.rows} == {
        (0.0, weight, length) for weight in weights for length in (0.0, 1.0)
    }
    with torch.inference_mode():
        for row in study.grid.rows:
            totals = [
                [
                    one.log_prob
                    + row.reverse * source_log_prob(model, pair.source, decode(one.ids))
                    + row.length * len(one.token_log_probs)
                    for one in own
                ]
                for pair, own in zip(choose, found, strict=True)
            ]
            said = [decode(own[t.index(max(t))].ids) for own, t in zip(found, totals, strict=True)]
            assert row.bleu == pytest.approx(score(BLEU(), said, [p.target for p in choose]).value)
    assert len({row.bleu for row in study.grid.rows}) > 1
    assert study.grid.chosen.bleu == max(row.bleu for row in study.grid.rows)
    assert f"reverse {study.grid.chosen.reverse:g}" in str(study)


def rerank(*arguments: str) -> int:
    folder = str(memorised()[0])
    given = ["--model", folder, "--data", "phrasebook", "--n-best", "2", "--limit", "3"]
    return run_command("rerank", *given, *arguments)


def test_the_command_takes_the_same_model_both_ways(
    small_book: object, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = str(memorised()[0])
    arguments = [
        "--reverse-model",
        folder,
        "--reverse-weight",
        "0",
        "0.3",
        "--out",
        str(tmp_path / "out.json"),
    ]
    assert rerank(*arguments, "--json") == 0
    document = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert document == json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert (document["lm"], document["reverse_model"]) == (None, "run")
    assert {row["reverse"] for row in document["rows"]} == {0.0, 0.3}
    assert {row["lm"] for row in document["rows"]} == {0.0}


def test_options_that_do_not_go_together_are_named() -> None:
    with pytest.raises(ValueError, match="--lm or --reverse-model FOLDER must be given"):
        rerank()
    with pytest.raises(ValueError, match="--reverse-weight needs --reverse-model FOLDER"):
        rerank("--lm", "somewhere", "--reverse-weight", "0.5")
    with pytest.raises(ValueError, match=r"is a folder; name a file in it"):
        rerank("--lm", "somewhere", "--out", str(Path(__file__).parent))
