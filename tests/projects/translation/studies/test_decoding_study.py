"""The study of decoding: each column computed again, and the counts of beams against greedy."""

import json
from dataclasses import replace

import pytest
import sacrebleu

from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.decode import search
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.decoding_methods import Method
from coursepkg.projects.translation.studies.decoding_rows import MethodRow
from coursepkg.projects.translation.studies.decoding_study import DecodingStudy, study_decoding, study_methods
from tests.projects.translation.memorised import PAIRS, memorised, translator

# Strangers to the model, so that searches differ and references are not met.
STRANGE = tuple(
    pair._replace(source=a.source[:2] + b.source[2:], target=pair.target)
    for pair, a, b in zip(PAIRS, PAIRS, PAIRS[3:] + PAIRS[:3], strict=True)
)
HOT = Method(sample=True, temperature=4.0)
METHODS = [Method(), Method(4, 0.0), Method(8, 2.0), Method(repetition_penalty=1.5), HOT, HOT.seeded(1)]


@pytest.fixture(scope="module")
def model() -> Translator:
    return translator()


@pytest.fixture(scope="module")
def parts() -> Parts:
    return replace(memorised()[1], dev=(*PAIRS, *STRANGE))


@pytest.fixture(scope="module")
def study(model: Translator, parts: Parts) -> DecodingStudy:
    return study_decoding(model, parts, methods=METHODS)


def greedy(model: Translator, parts: Parts) -> list[str]:
    return [one.n_best[0].line for one in model.translate([p.source for p in parts.dev], beam_size=1)]


def test_the_scores_are_those_of_sacrebleu(study: DecodingStudy, model: Translator, parts: Parts) -> None:
    said, true = greedy(model, parts), [p.target for p in parts.dev]
    row = study.rows[0]
    assert row.method == "greedy"
    assert row.bleu == pytest.approx(sacrebleu.corpus_bleu(said, [true]).score)
    assert row.chrf == pytest.approx(sacrebleu.corpus_chrf(said, [true]).score)
    assert 0 < row.bleu < 100


def test_lengths_and_variety(study: DecodingStudy, model: Translator, parts: Parts) -> None:
    said = greedy(model, parts)
    ratios = [len(a.split()) / len(p.target.split()) for a, p in zip(said, parts.dev, strict=True)]
    assert study.rows[0].length_ratio == pytest.approx(sum(ratios) / len(ratios))
    assert study.rows[0].n_distinct == len(set(said))
    sources = model.subwords.encode_sources([p.source for p in parts.dev], "zh", "vi")
    found = search(model.model, sources, max_len=model.recipe.max_len, beam_size=1)
    assert study.rows[0].n_cut == sum(not one[0].finished for one in found)


def test_log_probabilities_compare_all_methods(study: DecodingStudy, model: Translator, parts: Parts) -> None:
    sources = model.subwords.encode_sources([p.source for p in parts.dev], "zh", "vi")
    for row, beams in ((study.rows[0], 1), (study.rows[1], 4)):
        found = search(
            model.model, sources, max_len=model.recipe.max_len, beam_size=beams, length_penalty=0.0
        )
        expected = sum(one[0].log_prob for one in found) / len(found)
        assert row.log_prob == pytest.approx(expected, abs=1e-3)
    # What is drawn at random from a flattened distribution is less probable than what is searched.
    assert study.rows[4].log_prob < study.rows[0].log_prob <= study.rows[1].log_prob + 1e-6


def test_draws_repeat_by_seed(study: DecodingStudy, model: Translator, parts: Parts) -> None:
    again = study_decoding(model, parts, methods=[HOT.seeded(1), HOT], batch_size=3)

    def lasting(row: MethodRow) -> MethodRow:
        return replace(row, seconds=0.0, sentences_per_second=0.0, log_prob=round(row.log_prob, 3))

    assert [lasting(row) for row in again.rows] == [lasting(study.rows[5]), lasting(study.rows[4])]
    assert (again.rows[0].seed, again.rows[1].seed) == (1, 0)
    assert study.rows[4].bleu != study.rows[5].bleu
    assert again.beams == ()


def test_beams_are_counted_against_greedy(study: DecodingStudy, model: Translator, parts: Parts) -> None:
    assert [one.method for one in study.beams] == ["beam 4, length penalty 0", "beam 8, length penalty 2"]
    sources = model.subwords.encode_sources([p.source for p in parts.dev], "zh", "vi")
    options = {"max_len": model.recipe.max_len, "length_penalty": 0.0}
    before = [one[0] for one in search(model.model, sources, beam_size=1, **options)]
    after = [one[0] for one in search(model.model, sources, beam_size=4, **options)]
    metric = sacrebleu.BLEU(effective_order=True)
    counts = {"more": 0, "better": 0, "worse": 0, "less": 0}
    for a, b, pair in zip(before, after, parts.dev, strict=True):
        if a.ids == b.ids:
            continue
        x, y = (
            metric.sentence_score(model.subwords.target.decode(one.ids), [pair.target]).score
            for one in (a, b)
        )
        counts["more" if b.log_prob > a.log_prob else "less"] += 1
        counts["better"] += b.log_prob > a.log_prob and y > x
        counts["worse"] += b.log_prob > a.log_prob and y < x
    told = study.beams[0]
    assert (told.n_more_probable, told.n_better, told.n_worse, told.n_less_probable) == tuple(counts.values())
    assert counts["more"] > 0
    assert told.n == len(parts.dev)


def test_the_table_is_aligned_and_the_document_whole(study: DecodingStudy) -> None:
    lines = str(study).splitlines()
    table = lines[: len(METHODS) + 1]
    assert len({len(line) for line in table}) == 1
    assert table[0].split()[:4] == ["method", "BLEU", "chrF", "length"]
    assert table[6].startswith("sample, temperature 4, seed 1 ")
    document = json.loads(json.dumps(study.as_json()))
    assert [row["method"] for row in document["rows"]] == [str(method) for method in METHODS]
    assert "n:20/20" in document["signature"]
    assert "protocol:phrasebook dev" in document["signature"]


def test_a_limit_and_cut_sources_are_said(model: Translator, parts: Parts) -> None:
    long = replace(parts, dev=(PAIRS[0]._replace(source="我们去学校。" * 20), *PAIRS))
    found = study_decoding(model, long, methods=[Method()], limit=3)
    assert (found.n, found.n_source_cut) == (3, 1)
    assert "protocol:phrasebook dev, first 3" in found.signature
    assert "1 sources were cut" in str(found)


def test_all_methods_are_different() -> None:
    methods = study_methods((0, 1))
    assert len(set(methods)) == len(methods)
    assert {method.beam_size for method in methods} == {1, 2, 4, 5, 6, 8}
    drawn = [method for method in methods if method.sample]
    assert {method.seed for method in drawn} == {0, 1}
    assert any(method.top_k for method in drawn)
    assert any(method.top_p for method in drawn)


def test_nothing_to_study_is_refused(model: Translator, parts: Parts) -> None:
    with pytest.raises(ValueError, match="needs methods and sentences, got 0 and 20"):
        study_decoding(model, parts, methods=[])
    with pytest.raises(ValueError, match="needs methods and sentences, got 1 and 0"):
        study_decoding(model, replace(parts, dev=()), methods=[Method()])
