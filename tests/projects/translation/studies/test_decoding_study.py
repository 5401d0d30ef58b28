"""The study of decoding: each column computed again, and the counts of beams against greedy.

Greedy, beams and samples through one object, against the functions underneath.
"""

import json
from dataclasses import replace

import pytest
import sacrebleu

from coursepkg.decoding.filters import RepetitionPenalty
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.models import search
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.decoding_study import (
    Decoder,
    DecodingStudy,
    Method,
    MethodRow,
    study_decoding,
    study_methods,
)
from tests.projects.translation.memorised import PAIRS, RECIPE, memorised, translator

# Strangers to the model, so that searches differ and references are not met.
STRANGE = tuple(
    pair._replace(source=a.source[:2] + b.source[2:], target=pair.target)
    for pair, a, b in zip(PAIRS, PAIRS, PAIRS[3:] + PAIRS[:3], strict=True)
)
HOT = Method(sample=True, temperature=4.0)
METHODS = [
    Method(),
    Method(4, 0.0),
    Method(8, 2.0),
    Method(repetition_penalty=1.5),
    HOT,
    replace(HOT, seed=1),
]


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


def test_an_export_is_refused_before_the_work(parts: Parts) -> None:
    exported = translator()
    exported.exported = object()  # type: ignore[assignment]
    with pytest.raises(ValueError, match="an exported model cannot be studied; give the folder that `train`"):
        study_decoding(exported, parts, methods=METHODS)


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
    again = study_decoding(model, parts, methods=[replace(HOT, seed=1), HOT], batch_size=3)

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


@pytest.fixture(scope="module")
def decoder() -> Decoder:
    return Decoder(translator())


@pytest.fixture(scope="module")
def sources(decoder: Decoder) -> list[list[int]]:
    return decoder.translator.subwords.encode_sources([p.source for p in PAIRS], "zh", "vi")


@pytest.mark.parametrize("method", [Method(), Method(3, 0.6)])
def test_a_search_is_that_of_the_translator(
    decoder: Decoder, sources: list[list[int]], method: Method
) -> None:
    found = decoder.decode(sources, method)
    theirs = decoder.translator.translate(
        [p.source for p in PAIRS], beam_size=method.beam_size, length_penalty=method.length_penalty
    )
    assert [decoder.translator.subwords.target.decode(one.ids) for one in found] == [
        one.n_best[0].line for one in theirs
    ]


def test_scores_of_a_plain_search_are_those_of_the_model(decoder: Decoder, sources: list[list[int]]) -> None:
    lists = search(decoder.translator.model, sources, max_len=RECIPE.max_len, beam_size=4, n_best=4)
    for place in range(4):
        found = [one[place] for one in lists]
        expected = [one.log_prob for one in found]
        assert decoder.log_probs(sources, found) == pytest.approx(expected, abs=2e-4)
        assert Decoder(decoder.translator, 3).log_probs(sources, found) == pytest.approx(expected, abs=2e-4)


def test_scores_of_a_draw_are_before_its_filters(decoder: Decoder, sources: list[list[int]]) -> None:
    found = decoder.decode(sources, Method(sample=True, top_k=1))
    assert [one.log_prob for one in found] == pytest.approx([0.0] * len(found), abs=1e-9)
    assert all(value < -1e-6 for value in decoder.log_probs(sources, found))


def test_top_1_draws_are_greedy(decoder: Decoder, sources: list[list[int]]) -> None:
    greedy = decoder.decode(sources, Method())
    for seed in (0, 1):
        drawn = decoder.decode(sources, Method(sample=True, top_k=1, seed=seed))
        assert [one.ids for one in drawn] == [one.ids for one in greedy]


def test_a_draw_depends_on_seed_and_sentence_alone(decoder: Decoder, sources: list[list[int]]) -> None:
    method = Method(sample=True, temperature=3.0)
    whole = [one.ids for one in decoder.decode(sources, method)]
    assert [one.ids for one in Decoder(decoder.translator, 3).decode(sources, method)] == whole
    assert [one.ids for one in decoder.decode(sources[4:], method, first=4)] == whole[4:]
    assert [one.ids for one in decoder.decode(sources, replace(method, seed=1))] != whole


def test_tokens_without_text_are_never_drawn(decoder: Decoder, sources: list[list[int]]) -> None:
    hot = Method(sample=True, temperature=50.0)
    drawn = [one.ids for seed in range(3) for one in decoder.decode(sources, replace(hot, seed=seed))]
    tags = decoder.translator.subwords.target.tags
    assert len(tags) == 3
    # At such heat about one token in twenty would be one of PAD, BOS, UNK and the tags.
    assert sum(map(len, drawn)) > 200
    assert min(i for ids in drawn for i in ids) > 3 + len(tags)


def test_a_repetition_penalty_reaches_searches(decoder: Decoder, sources: list[list[int]]) -> None:
    found = decoder.decode(sources, Method(3, repetition_penalty=0.2))
    filters = (RepetitionPenalty(0.2),)
    theirs = search(decoder.model, sources, max_len=RECIPE.max_len, beam_size=3, filters=filters)
    assert found == [one[0] for one in theirs]
    assert [one.ids for one in found] != [one.ids for one in decoder.decode(sources, Method(3))]


def test_methods_name_themselves() -> None:
    assert str(Method()) == "greedy"
    assert str(Method(5, 0.6)) == "beam 5, length penalty 0.6"
    assert str(Method(sample=True, temperature=0.7, top_k=10, top_p=0.9)) == (
        "sample, temperature 0.7, top-k 10, top-p 0.9"
    )
    assert str(Method(repetition_penalty=1.2)) == "greedy, repetition penalty 1.2"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"beam_size": 0}, "beam_size must be an integer of at least 1"),
        ({"beam_size": 2, "sample": True}, "beam_size must be 1 where sentences are sampled"),
        ({"top_k": 5}, "top_k needs sampling"),
        ({"temperature": 0.5}, "temperature needs sampling"),
        ({"seed": -1}, "seed must be an integer of at least 0"),
        ({"length_penalty": float("nan")}, "length_penalty must be a finite number"),
        ({"sample": True, "temperature": 0.0}, "temperature must be above 0"),
        ({"sample": True, "top_k": -1}, "top_k must be an integer of at least 1"),
        ({"sample": True, "top_p": 1.5}, "top_p must be above 0 and at most 1"),
        ({"repetition_penalty": 0.0}, "repetition_penalty must be above 0"),
    ],
)
def test_contradictions_are_refused(change: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Method(**change)  # type: ignore[arg-type]
