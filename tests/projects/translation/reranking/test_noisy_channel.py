"""The reverse model's score: log p(x | y) by hand, its weight in the sum, and the command that chooses it."""

import json
from pathlib import Path

import pytest
import torch
import tyro

from coursepkg.metrics.bleu import BLEU
from coursepkg.metrics.scoring import score
from coursepkg.projects.translation.halves import dev_halves
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.reranking.noisy_channel import noisy_channel_scorer
from coursepkg.projects.translation.reranking.rerank import rerank_study
from coursepkg.projects.translation.studies.decoding_commands import Rerank
from coursepkg.projects.translation.studies.decoding_methods import Decoder, Method
from coursepkg.text.vocabulary import BOS, EOS
from tests.projects.translation.memorised import PAIRS, memorised, translator
from tests.projects.translation.tiny import quietly, recipe, toy_parts

SOURCES = [pair.source for pair in PAIRS]


@pytest.fixture(scope="module")
def model() -> Translator:
    return translator()


def lists(model: Translator, sources: list[str]) -> list:
    ids = model.subwords.encode_sources(sources, "zh", "vi")
    return Decoder(model).n_best(ids, Method(4, model.recipe.length_penalty), 4)


def by_hand(reverse: Translator, source: str, line: str) -> float:
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
    scorer = noisy_channel_scorer(model, model.subwords, SOURCES, "zh", "vi", batch_size=7)
    with torch.inference_mode():
        decode = model.subwords.target.decode
        wanted = [by_hand(model, SOURCES[i], decode(one.ids)) for i, one in zip(numbers, flat, strict=True)]
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
        scores = noisy_channel_scorer(reverse, model.subwords, SOURCES, "zh", "vi")(range(3), found)
        lines = [model.subwords.target.decode(one.ids) for one in found]
        wanted = [by_hand(reverse, source, line) for source, line in zip(SOURCES, lines, strict=False)]
    assert scores.tolist() == pytest.approx(wanted, abs=1e-3)
    with pytest.raises(ValueError, match="does not translate Chinese into Vietnamese"):
        noisy_channel_scorer(reverse, model.subwords, SOURCES, "vi", "zh")


def test_the_weights_are_chosen_by_the_weighted_sum_on_the_first_half(model: Translator) -> None:
    parts, weights = memorised()[1], (-3.0, 0.0, 0.5)
    options = {"n_best": 4, "length_weights": (0.0, 1.0), "n_resamples": 20}
    study = rerank_study(model, None, parts, reverse=model, reverse_weights=weights, **options)
    choose, _ = dev_halves(parts)
    found = lists(model, [pair.source for pair in choose])
    decode = model.subwords.target.decode
    assert {(row.lm, row.reverse, row.length) for row in study.rows} == {
        (0.0, weight, length) for weight in weights for length in (0.0, 1.0)
    }
    with torch.inference_mode():
        for row in study.rows:
            totals = [
                [
                    one.log_prob
                    + row.reverse * by_hand(model, pair.source, decode(one.ids))
                    + row.length * len(one.token_log_probs)
                    for one in own
                ]
                for pair, own in zip(choose, found, strict=True)
            ]
            said = [decode(own[t.index(max(t))].ids) for own, t in zip(found, totals, strict=True)]
            assert row.bleu == pytest.approx(score(BLEU(), said, [p.target for p in choose]).value)
    assert len({row.bleu for row in study.rows}) > 1
    assert study.chosen.bleu == max(row.bleu for row in study.rows)
    assert f"reverse {study.chosen.reverse:g}" in str(study)


def rerank(*arguments: str) -> int:
    folder = str(memorised()[0])
    given = ["--model", folder, "--data", "phrasebook", "--n-best", "2", "--limit", "3"]
    return tyro.cli(Rerank, args=[*given, *arguments]).run()


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
