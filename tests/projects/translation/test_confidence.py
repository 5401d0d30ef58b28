"""The confidence of translations: its features, its fit, what it is worth, what a reader is told."""

import math
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from coursepkg.files import write_json
from coursepkg.projects.translation.confidence import FEATURES, Calibration, features_of, tokens_per_letter
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.models import build_model
from coursepkg.projects.translation.placeholders import Masked
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.calibration import calibrate, fit, reliability
from tests.projects.translation.tiny import fast, pairs, subwords

GOOD, ODD = "你们 看见 三 只 猫 。", "只 只 了 本 五 五 我 。"


def features(translator: Translator, texts: list[str]) -> dict[str, list[float]]:
    found = translator.translate(texts)
    table = features_of(translator, [Masked(text, {}) for text in texts], found, "zh", "vi")
    assert table.shape == (len(texts), len(FEATURES))
    return dict(zip(FEATURES, table.T.tolist(), strict=True))


def test_features_tell_a_known_sentence_from_nonsense(translator: Translator) -> None:
    found = features(translator, [GOOD, ODD, "你们 看见 三 只 鱷 。"])
    assert found["log_prob"][0] > found["log_prob"][1]
    assert found["reverse"][0] > found["reverse"][1]
    assert found["known"][0] == 1.0 > found["known"][2]
    assert all(x <= 0 for x in found["log_prob"] + found["reverse"])
    assert found["ratio_squared"] == pytest.approx([x * x for x in found["ratio"]])


def test_targets_that_share_a_source_have_the_probabilities_that_each_has_alone(
    translator: Translator,
) -> None:
    good, odd = translator.encode([GOOD, ODD], "zh", "vi")
    sources, targets = [good, odd, good, good], [(20, 21), (22,), (23, 24, 25), ()]
    alone = [translator.log_probs([src], [tgt])[0] for src, tgt in zip(sources, targets, strict=True)]
    assert translator.log_probs(sources, targets) == pytest.approx(alone, abs=1e-4)
    assert translator.log_probs([good, odd], [(20,), (20,)])[0] != pytest.approx(alone[1], abs=1e-2)


def test_a_decoder_only_model_has_probabilities_too() -> None:
    torch.manual_seed(0)
    settings = fast(architecture="decoder-only", max_len=12)
    model = Translator(build_model(settings, 170, 170), subwords(), settings, [("zh", "vi")])
    (ids,) = model.encode(["我 看见"], "zh", "vi")
    together = model.log_probs([ids, ids], [(20,), (20, 21)])
    assert together == pytest.approx(
        [model.log_probs([ids], [one])[0] for one in ((20,), (20, 21))], abs=1e-4
    )


def test_a_rare_word_has_more_tokens_for_each_letter_and_marks_count_for_nothing() -> None:
    common, rare = ["▁He", "▁ate", "▁vegetables", "▁."], ["▁He", "▁ate", "▁z", "uc", "ch", "ini", "s", "▁."]
    assert tokens_per_letter(rare) > tokens_per_letter(common)
    assert tokens_per_letter(["▁It", "▁is", "▁①", "▁."]) == tokens_per_letter(["▁It", "▁is"])
    assert tokens_per_letter(["▁①"]) == tokens_per_letter([]) == pytest.approx(math.log(1 / 4))
    # The three bytes of a character that is no piece are three tokens for a letter each.
    assert tokens_per_letter(["<0xE9>", "<0xB1>", "<0xB7>"]) == pytest.approx(math.log(8 / 23))


def test_a_feature_does_not_depend_on_the_other_sentences(translator: Translator) -> None:
    together, alone = features(translator, [GOOD, ODD]), features(translator, [GOOD])
    for name in FEATURES:
        assert together[name][0] == pytest.approx(alone[name][0], abs=1e-4)


def test_a_model_that_does_not_translate_back_has_no_reverse(translator: Translator) -> None:
    one_way = Translator(
        translator.model, translator.subwords, translator.recipe, [("zh", "vi")], translator.card
    )
    assert features(one_way, [GOOD, ODD])["reverse"] == [0.0, 0.0]


def test_a_regression_finds_the_weights_that_made_the_truth() -> None:
    torch.manual_seed(0)
    inputs = torch.randn(20_000, 2, dtype=torch.float64) * torch.tensor([1.0, 5.0]) + 3.0
    logits = 0.5 + inputs @ torch.tensor([1.5, -0.4], dtype=torch.float64)
    truth = (torch.rand(len(logits)) < torch.sigmoid(logits)).tolist()
    assert fit(inputs, truth) == pytest.approx([0.5, 1.5, -0.4], abs=0.12)


def test_a_fit_needs_both_kinds() -> None:
    for truth in ([True] * 4, [False] * 4):
        with pytest.raises(ValueError, match=f"{sum(truth)} of 4 translations are usable"):
            fit(torch.randn(4, 2), truth)


def test_few_sentences_that_a_line_parts_do_not_give_endless_weights() -> None:
    weights = fit(torch.tensor([[0.0], [1.0], [2.0], [3.0]]), [False, False, True, True])
    assert all(map(math.isfinite, weights))
    assert 0 < weights[1] < 50


def test_reliability_of_a_perfect_and_of_a_blind_confidence() -> None:
    chrf = [20.0] * 50 + [80.0] * 50
    perfect = reliability([0.0] * 50 + [1.0] * 50, chrf)
    assert (perfect.auc, perfect.calibration_error, perfect.n_doubtful) == (1.0, 0.0, 50)
    assert (perfect.risk["50"], perfect.risk["100"]) == (0.0, 0.5)
    assert perfect.chrf == {"sure": 80.0, "doubtful": 20.0}
    blind = reliability([0.5] * 100, chrf)
    assert (blind.auc, blind.n_doubtful) == (0.5, 0)
    assert math.isnan(blind.chrf["doubtful"])
    sure_and_wrong = reliability([0.9] * 50 + [0.1] * 50, chrf)
    assert sure_and_wrong.auc == 0.0
    assert sure_and_wrong.calibration_error == pytest.approx(0.9)
    with pytest.raises(ValueError, match="equally many, got 1 and 2"):
        reliability([0.5], [1.0, 2.0])


def test_a_calibration_is_stored_beside_the_model_and_damage_is_named(tmp_path: Path) -> None:
    assert Calibration.load(tmp_path) is None
    one = Calibration({"zh-vi": [0.5] * len(FEATURES)}, "toy dev")
    one.save(tmp_path)
    assert Calibration.load(tmp_path) == one
    assert one.knows("zh", "vi")
    assert not one.knows("vi", "zh")
    seven = len(FEATURES)
    for damaged in ([0.5], 0.5, ["0.5"] * seven, [math.nan] * seven):
        write_json(tmp_path / "confidence.json", {"weights": {"zh-vi": damaged}, "fitted_on": "toy dev"})
        with pytest.raises(
            ValueError, match=r"confidence\.json must hold 7 weights for each direction; remove it"
        ):
            Calibration.load(tmp_path)


def test_doubtful_translations_are_marked_and_the_others_are_not(translator: Translator) -> None:
    by_length = [-1.0, 0.0, 0.0, 0.0, 0.0, 1.2, 0.0]  # the longer, the likelier
    judged = Translator(
        translator.model, translator.subwords, translator.recipe, translator.directions, translator.card
    )
    judged.calibration = Calibration({"zh-vi": by_length}, "toy dev")
    long, short = judged.translate([GOOD, "猫"])
    assert long.usable is not None
    assert short.usable is not None
    assert not long.doubtful
    assert long.confidence == long.usable > 0.5 > short.usable
    assert short.doubtful
    assert short.note == f"doubtful: {short.usable:.2f} likely to be usable"
    (back,) = judged.translate([long.text], source="vi", target="zh")
    assert back.usable is None
    assert back.confidence == back.n_best[0].confidence
    (whole,) = judged.translate([GOOD * 6])
    assert whole.usable is not None
    assert "translated in" in whole.note


def test_what_the_model_cannot_spell_takes_its_share_of_the_confidence() -> None:
    sure = Calibration({"zh-vi": [50.0] + [0.0] * (len(FEATURES) - 1)}, "toy dev")
    rows = torch.zeros(3, len(FEATURES), dtype=torch.float64)
    rows[:, -1] = torch.tensor([1.0, 0.25, 0.0])
    assert sure.probabilities(rows, "zh", "vi") == pytest.approx([1.0, 0.25, 0.0])


def test_a_dev_part_calibrates_a_model(translator: Translator) -> None:
    dev = [*pairs("zh", "vi")[:40]]
    # Of two pairs in three the reference is another sentence: its translation is unusable.
    dev = [replace_target(one, dev[i - 7].target) if i % 3 else one for i, one in enumerate(dev)]
    parts = Parts("toy", "zh", "vi", (), tuple(dev), (), ())
    fitted = calibrate(translator, parts)
    assert len(fitted.weights) == len(FEATURES)
    assert fitted.dev.reliability.n == 40
    assert fitted.dev.signature.startswith("chrF2|")
    assert "n:40/40" in fitted.dev.signature
    assert "protocol:toy dev, beam " in fitted.dev.signature
    assert fitted.run_ons is not None
    assert 0 < fitted.run_ons.reliability.n <= 10
    assert f"n:{fitted.run_ons.reliability.n}/10|" in fitted.run_ons.signature
    assert "protocol:run-on sentences of toy dev, beam " in fitted.run_ons.signature
    text = " ".join([dev[0].source] * 12)
    longer = replace(parts, dev=(*dev, dev[0]._replace(source=text)))
    assert len(translator.parts_of(text, "zh", "vi")) > 1
    assert "n:40/41" in calibrate(translator, longer).dev.signature
    with pytest.raises(ValueError, match="to learn to tell them apart"):
        calibrate(translator, replace(parts, dev=tuple(pairs("zh", "vi")[:4])))


def replace_target(pair: SentencePair, target: str) -> SentencePair:
    return pair._replace(target=target)
