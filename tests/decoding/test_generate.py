"""Greedy decoding and sampling on a table whose every sequence is known."""

import math
from collections import Counter

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.decoding import (
    RecomputedState,
    RepetitionPenalty,
    Temperature,
    TopK,
    TopP,
    greedy,
    sample,
)
from tests.decoding.tables import Table, all_sequences, path, same, slow_greedy

EOS = 2
tables = st.builds(
    Table,
    st.integers(3, 7),
    st.integers(0, 10_000),
    spread=st.sampled_from([0.3, 1.5]),
    eos_bias=st.floats(-3, 2),
)
limit_lists = st.lists(st.integers(1, 9), min_size=1, max_size=5)


@given(tables, limit_lists, st.sampled_from([EOS, None]))
def test_greedy_equals_its_definition(table, limits, eos) -> None:
    found = greedy(table.start(len(limits)), max_len=torch.tensor(limits), eos=eos)
    for sentence, (hypothesis, limit) in enumerate(zip(found, limits, strict=True)):
        same(hypothesis, slow_greedy(table, sentence, limit, eos))


@given(tables, limit_lists)
def test_greedy_batched_equals_single(table, limits) -> None:
    together = greedy(table.start(len(limits)), max_len=torch.tensor(limits))
    alone = [greedy(table.start(1, first), max_len=limit)[0] for first, limit in enumerate(limits)]
    assert together == alone


@settings(max_examples=60)
@given(tables, limit_lists, st.integers(0, 99), st.integers(1, 4), st.data())
def test_sampling_batched_equals_single(table, limits, seed, n_samples, data) -> None:
    options = {"seed": seed, "temperature": 1.3, "top_p": 0.95, "repetition_penalty": 1.2}
    prefixes = data.draw(
        st.lists(st.lists(st.sampled_from([0, 1]), max_size=2), min_size=len(limits), max_size=len(limits))
    )
    together = sample(
        table.start(len(limits)),
        max_len=torch.tensor(limits),
        n_samples=n_samples,
        prefix=prefixes,
        **options,
    )
    for number, limit in enumerate(limits):
        alone = sample(
            table.start(1, number),
            max_len=limit,
            n_samples=n_samples + 1,
            prefix=[prefixes[number]],
            sentence_numbers=[number],
            **options,
        )[0]
        assert together[number] == alone[:n_samples]


def test_another_seed_sentence_or_sample_draws_otherwise() -> None:
    logits = torch.zeros(50, dtype=torch.float64)
    drawn = set()
    for seed in range(2):
        state = RecomputedState(lambda tokens, sentence: logits.expand(len(tokens), -1), 2)
        found = sample(state, max_len=8, seed=seed, n_samples=2, eos=None)
        drawn |= {h.ids for samples in found for h in samples}
    assert len(drawn) == 8


@pytest.mark.parametrize(
    ("options", "filters"),
    [
        ({}, []),
        ({"temperature": 0.7}, [Temperature(0.7)]),
        ({"top_k": 3}, [TopK(3)]),
        ({"top_p": 0.7}, [TopP(0.7)]),
        ({"repetition_penalty": 1.5, "temperature": 2.0}, [RepetitionPenalty(1.5), Temperature(2.0)]),
    ],
)
def test_frequencies_follow_the_distribution(options, filters) -> None:
    """Of 3,000 draws of whole sequences each is as frequent as its probability says (chi-square, fixed seed)."""
    table, n_draws, limit = Table(4, 3, eos=0), 3000, 3
    found = sample(table.start(1), max_len=limit, seed=0, n_samples=n_draws, eos=0, **options)[0]
    expected = {h.ids: probability(table, h, filters) for h in all_sequences(table, 0, limit, 0)}
    assert math.isclose(sum(expected.values()), 1.0, abs_tol=1e-9)
    counts = Counter(h.ids for h in found)
    assert all(expected[ids] > 0 for ids in counts)
    likely = {ids: n_draws * p for ids, p in expected.items() if n_draws * p >= 5}
    chi_square = sum((counts[ids] - wanted) ** 2 / wanted for ids, wanted in likely.items())
    freedom = len(likely) - 1
    assert chi_square < freedom + 4 * math.sqrt(2 * freedom) + 4
    for h in found[:50]:
        assert math.isclose(math.exp(h.log_prob), expected[h.ids], rel_tol=1e-6)


def probability(table: Table, hypothesis, filters) -> float:
    tokens = (*hypothesis.ids, 0)[: len(hypothesis.token_log_probs)]
    p = 1.0
    for i, token in enumerate(tokens):
        logits = torch.from_numpy(table.logits(0, tokens[:i]))[None]
        for keep in filters:
            logits = keep(logits, torch.tensor(tokens[:i], dtype=torch.int64)[None])
        p *= logits.softmax(-1)[0, token].item()
    return p


@given(tables, st.integers(0, 9))
def test_neutral_settings_change_nothing(table, seed) -> None:
    plain = sample(table.start(2), max_len=5, seed=seed, n_samples=2)
    neutral = sample(
        table.start(2),
        max_len=5,
        seed=seed,
        n_samples=2,
        temperature=1.0,
        top_k=table.n_tokens,
        top_p=1.0,
        repetition_penalty=1.0,
    )
    assert plain == neutral


@given(tables, st.integers(0, 9))
def test_top_1_sampling_is_greedy(table, seed) -> None:
    drawn = sample(table.start(3), max_len=6, seed=seed, top_k=1)
    assert [h[0].ids for h in drawn] == [h.ids for h in greedy(table.start(3), max_len=6)]


@given(tables, st.integers(1, 4))
def test_samples_end_where_they_should_and_add_up(table, n_samples) -> None:
    for sentence, found in enumerate(sample(table.start(3), max_len=5, seed=4, n_samples=n_samples)):
        assert len(found) == n_samples
        for h in found:
            assert EOS not in h.ids
            assert h.finished or len(h.ids) == 5
            same(h, path(table, sentence, (*h.ids, EOS) if h.finished else h.ids, EOS, 0.0))


@given(tables, st.lists(st.lists(st.sampled_from([0, 1]), max_size=3), min_size=1, max_size=4))
def test_a_forced_prefix_is_given_not_scored(table, prefixes) -> None:
    found = greedy(table.start(len(prefixes)), max_len=4, prefix=prefixes)
    for sentence, (h, prefix) in enumerate(zip(found, prefixes, strict=True)):
        below = Table(table.n_tokens, 0)
        below.logits = lambda _, ids, s=sentence, p=tuple(prefix): table.logits(s, p + ids)
        same(h, slow_greedy(below, 0, 4, EOS))


def test_rows_that_have_ended_leave_the_batch() -> None:
    table = Table(5, 1, eos_bias=-30.0)
    greedy(table.start(3), max_len=torch.tensor([1, 2, 4]))
    assert table.largest_batch == [3, 2, 1, 1]
    table = Table(5, 7, eos_bias=1.0)
    found = sample(table.start(2), max_len=9, seed=0, n_samples=6)
    lengths = [[len(h.token_log_probs) for h in hypotheses] for hypotheses in found]
    open_rows = [
        [sum(n > t for n in one) for one in lengths] for t in range(max(max(one) for one in lengths))
    ]
    wanted = [2] + [max(counts) * sum(c > 0 for c in counts) for counts in open_rows[1:]]
    assert table.largest_batch == wanted


def test_a_limit_of_one_token() -> None:
    table = Table(4, 0)
    for h in greedy(table.start(5), max_len=1):
        assert len(h.token_log_probs) == 1
        assert h.finished == (h.ids == ())


def test_an_empty_batch_gives_an_empty_list() -> None:
    assert greedy(Table(5, 0).start(0), max_len=3) == []
    assert sample(Table(5, 0).start(0), max_len=3, seed=0) == []


def test_a_token_of_probability_zero_is_never_drawn() -> None:
    logits = torch.full((6,), -torch.inf, dtype=torch.float64)
    logits[[1, 4]] = 0.0
    state = RecomputedState(lambda tokens, sentence: logits.expand(len(tokens), -1), 1)
    found = sample(state, max_len=20, seed=0, n_samples=200, eos=None)[0]
    assert {i for h in found for i in h.ids} == {1, 4}
