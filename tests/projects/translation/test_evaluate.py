"""Scores: raw references, both conventions, seen and unseen sources, signatures, comparisons, sources that are cut.

Halves of dev: what is chosen on one says nothing yet about the other.
"""

import json
from dataclasses import replace

import pytest
import sacrebleu

from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.evaluate import (
    compare_systems,
    dev_cross_validation,
    dev_halves,
    evaluate,
    translate_pairs,
)
from coursepkg.projects.translation.predict import Translator
from tests.projects.translation.tiny import pairs, toy_parts

TEST = toy_parts().test
TARGETS = [p.target for p in TEST]
WORSE = [target.replace("ba", "hai").replace("mèo", "bàn") for target in TARGETS]


def bleu(hypotheses: list[str], references: list[str], **options: str) -> float:
    return sacrebleu.corpus_bleu(hypotheses, [references], **options).score


def test_the_references_themselves_score_everything() -> None:
    found = evaluate(TARGETS, TEST, "zh", "vi", n_resamples=0)
    assert [found.scores[name].value for name in ("BLEU", "chrF", "TER")] == pytest.approx([100, 100, 0])


def test_both_conventions_are_those_of_sacrebleu_on_the_raw_lines() -> None:
    found = evaluate(WORSE, TEST, "zh", "vi", n_resamples=0)
    plain = [[line.replace("_", " ") for line in lines] for lines in (WORSE, TARGETS)]
    assert found.scores["BLEU"].value == pytest.approx(bleu(*plain))
    assert found.scores["BLEU, underscores kept"].value == pytest.approx(bleu(WORSE, TARGETS))
    assert found.scores["BLEU"].value != pytest.approx(found.scores["BLEU, underscores kept"].value)
    assert next(iter(found.scores)) == "BLEU"


def test_a_reference_is_never_respaced_by_a_model_s_eyes() -> None:
    # A model would see punctuation spaced and the rare sign as unknown; the score sees the line as it stands.
    pair = SentencePair("我", "Ông ⿰ nói:chào , bạn", "f", 1)
    found = evaluate(["Ông nói : chào, bạn"], [pair], "zh", "vi", n_resamples=0)
    assert found.references == (pair.target,)
    assert found.scores["chrF"].value < 100


def test_chinese_is_scored_by_character_whatever_its_spaces() -> None:
    test = toy_parts("vi", "zh").test
    joined = [p.target.replace(" ", "") for p in test]
    found = evaluate(joined, test, "vi", "zh", n_resamples=0)
    assert found.scores["BLEU"].value == pytest.approx(100)
    assert "tok:zh" in found.scores["BLEU"].signature
    assert "BLEU, underscores kept" not in found.scores


def test_hypotheses_without_underscores_against_references_with_them_are_noted() -> None:
    plain = [target.replace("_", " ") for target in TARGETS]
    found = evaluate(plain, TEST, "zh", "vi", n_resamples=0)
    assert found.scores["BLEU"].value == pytest.approx(100)
    assert found.scores["BLEU, underscores kept"].value < 100
    assert found.notes == ("the references have word-segmentation underscores and the hypotheses have none",)
    assert evaluate(TARGETS, TEST, "zh", "vi", n_resamples=0).notes == ()


def test_what_was_to_be_kept_is_counted_over_all_sentences() -> None:
    two = [SentencePair("Tom has 3 cats.", "Tom có 3 mèo."), SentencePair("Mary has 4.", "Mary có 4.")]
    found = evaluate(["Tom có mèo.", "Bà ấy có 4."], two, "en", "vi", n_resamples=0)
    assert (found.copied, found.capitalised) == ((1, 2), (1, 2))
    found = evaluate(["Tom có mèo.", "Mary có bốn."], two, "en", "vi", n_resamples=0)
    assert (found.copied, found.capitalised) == ((0, 2), (2, 2))
    assert found.as_json()["copied"] == {"kept": 0, "of": 2}
    assert found.as_json()["capitalised"] == {"kept": 2, "of": 2}
    assert "numbers and placeholders kept: 0 of 2 (0.0%)" in str(found)
    assert "words with a capital kept: 2 of 2 (100.0%)" in str(found)


def test_seen_and_unseen_sources_part_the_set() -> None:
    # Seen is a matter of the sentence, not of its spelling.
    seen = [SentencePair(p.source.replace(" ", "").replace("。", "！"), "x") for p in TEST[:15]]
    found = evaluate(WORSE, TEST, "zh", "vi", seen=seen, n_resamples=0)
    assert found.n_seen == 15
    for name, part in (("", slice(0, 15)), ("not ", slice(15, None))):
        one = found.scores[f"BLEU, sources {name}seen in training"]
        alone = evaluate(WORSE[part], TEST[part], "zh", "vi", n_resamples=0).scores["BLEU"]
        assert one.value == pytest.approx(alone.value)
        assert f"n:{len(TEST[part])}/{len(TEST)}" in one.signature


@pytest.mark.parametrize(("seen", "n_seen"), [(None, None), ((), 0), (TEST, len(TEST))])
def test_no_part_of_its_own_where_all_or_none_was_seen(seen: tuple | None, n_seen: int | None) -> None:
    found = evaluate(WORSE, TEST, "zh", "vi", seen=seen, n_resamples=0)
    assert found.n_seen == n_seen
    assert not [name for name in found.scores if "seen" in name]


def test_every_score_carries_its_signature_and_the_headline_an_interval() -> None:
    found = evaluate(WORSE, TEST, "zh", "vi", protocol="toy test, beam 4", n_resamples=50)
    document = json.loads(json.dumps(found.as_json()))
    for name, one in document["scores"].items():
        for part in ("refs:1", "data:", "protocol:toy test, beam 4", "version:", "n:40/40"):
            assert part in one["signature"], name
    low, high = document["scores"]["BLEU"]["interval"]
    assert low <= document["scores"]["BLEU"]["value"] <= high
    assert (document["from"], document["to"], document["n"]) == ("zh", "vi", 40)
    assert str(found).startswith("BLEU: ")


def test_other_references_have_another_signature() -> None:
    one = evaluate(TARGETS, TEST, "zh", "vi", n_resamples=0).scores["BLEU"]
    changed = [*TEST[:-1], SentencePair(TEST[-1].source, "khác")]
    other = evaluate(TARGETS, changed, "zh", "vi", n_resamples=0).scores["BLEU"]
    assert one.signature != other.signature


def test_the_better_system_is_found_and_equal_ones_are_not_told_apart() -> None:
    ours, theirs = (evaluate(lines, TEST, "zh", "vi", n_resamples=0) for lines in (TARGETS, WORSE))
    found = compare_systems(ours, theirs, n_resamples=200)
    assert {found.baseline, found.system} == {ours.scores["BLEU"].value, theirs.scores["BLEU"].value}
    assert found.p_value < 0.05
    same = compare_systems(ours, ours, n_resamples=50)
    assert (same.difference.lower, same.difference.upper) == (0, 0)


def test_systems_on_different_references_are_not_compared() -> None:
    ours = evaluate(TARGETS, TEST, "zh", "vi", n_resamples=0)
    theirs = evaluate(TARGETS[:-1], TEST[:-1], "zh", "vi", n_resamples=0)
    with pytest.raises(ValueError, match="same test set; their references differ"):
        compare_systems(ours, theirs)


def test_every_pair_needs_a_hypothesis() -> None:
    with pytest.raises(ValueError, match="hypotheses must be 40, one for each reference, got 39"):
        evaluate(TARGETS[:-1], TEST, "zh", "vi")


def test_a_source_that_is_too_long_is_cut_counted_and_named(translator: Translator) -> None:
    long = SentencePair("三 五 " * 40, "ba năm", "part.zh", 12)
    chosen = [*pairs("zh", "vi", 0, 2), long]
    found, notes = translate_pairs(translator, chosen, "zh", "vi", beam_size=1)
    assert len(found) == 3
    assert notes == ["1 of 3 sources are longer than the model's 23 tokens and were cut: part.zh:12"]
    assert len(found[2].source_tokens) <= 23
    assert long.source.startswith(found[2].source)
    assert translate_pairs(translator, chosen[:2], "zh", "vi", beam_size=1)[1] == []


def test_what_is_masked_does_not_make_a_source_too_long(translator: Translator) -> None:
    recipe = replace(translator.recipe, placeholders="mask")
    masking = Translator(translator.model, translator.subwords, recipe, translator.directions)
    pair = SentencePair(f"我 喜欢 <b {'三五' * 15}>", "Tôi thích", "part.zh", 1)
    (found,), notes = translate_pairs(masking, [pair], "zh", "vi", beam_size=1)
    assert (found.source, notes) == (pair.source, [])


def parts_of(pairs: tuple[SentencePair, ...]) -> Parts:
    return Parts("toy", "zh", "vi", pairs, pairs, pairs, ())


def test_each_half_is_chosen_by_the_other() -> None:
    pairs = tuple(SentencePair(f"句 {i}", f"câu số {i} ở đây .", "toy", i) for i in range(12))
    parts = parts_of(pairs)
    first = set(dev_halves(parts)[0])
    right = [pair.target for pair in pairs]
    wrong = ["sai hoàn toàn rồi nhé"] * 12
    # One weight is right on the first half, the other one on the second.
    one = [r if pair in first else w for pair, r, w in zip(pairs, right, wrong, strict=True)]
    two = [w if pair in first else r for pair, r, w in zip(pairs, right, wrong, strict=True)]
    lines, weights = dev_cross_validation({0.0: one, 0.5: two}, parts)
    assert weights == (0.5, 0.0)
    assert lines == wrong
    assert dev_cross_validation({0.0: wrong, 0.5: right}, parts) == (right, (0.5, 0.5))


def test_too_few_pairs_are_named() -> None:
    for count in (0, 1):
        with pytest.raises(ValueError, match=f"has {count} pairs, too few for two halves"):
            dev_cross_validation({0.0: []}, parts_of((SentencePair("句", "câu", "toy", 1),) * count))
