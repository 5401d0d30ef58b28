"""Greedy, beams and samples through one object, against the functions underneath."""

import pytest

from coursepkg.decoding.filters import RepetitionPenalty
from coursepkg.projects.translation.decode import search
from coursepkg.projects.translation.studies.decoding_methods import Decoder, Method
from tests.projects.translation.memorised import PAIRS, RECIPE, translator


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
    assert [one.ids for one in decoder.decode(sources, method.seeded(1))] != whole


def test_tokens_without_text_are_never_drawn(decoder: Decoder, sources: list[list[int]]) -> None:
    hot = Method(sample=True, temperature=50.0)
    drawn = [one.ids for seed in range(3) for one in decoder.decode(sources, hot.seeded(seed))]
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
    ],
)
def test_contradictions_are_refused(change: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Method(**change)  # type: ignore[arg-type]
