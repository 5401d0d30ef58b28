"""Beam search against its definition, against listing all sequences, and against itself in other circumstances."""

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.decoding import RecomputedState, Temperature, TopK, beam_search, greedy
from tests.decoding.tables import Table, all_sequences, same, slow_beam

EOS = 2
tables = st.builds(
    Table,
    st.integers(3, 7),
    st.integers(0, 10_000),
    spread=st.sampled_from([0.3, 1.5, 4.0]),
    eos_bias=st.sampled_from([-3.0, 0.0, 2.0]),
)
alphas = st.floats(-0.5, 2.0)
ends = st.sampled_from([EOS, None])


@settings(max_examples=100)
@given(tables, st.integers(1, 5), st.integers(1, 7), alphas, ends, st.data())
def test_equals_its_definition(table, size, limit, alpha, eos, data) -> None:
    n_best = data.draw(st.integers(1, size))
    options = {"max_len": limit, "length_penalty": alpha, "eos": eos, "early_stop": data.draw(st.booleans())}
    found = beam_search(table.start(3), beam_size=size, n_best=n_best, **options)
    for sentence, hypotheses in enumerate(found):
        wanted = slow_beam(table, sentence, limit, eos, size, alpha, n_best)
        assert len(hypotheses) == len(wanted)
        for a, b in zip(hypotheses, wanted, strict=True):
            same(a, b)


@settings(max_examples=40)
@given(st.integers(2, 4), st.integers(0, 10_000), st.integers(1, 4), alphas, ends)
def test_a_huge_beam_is_exhaustive_search(n_tokens, seed, limit, alpha, eos) -> None:
    table = Table(n_tokens, seed, eos=0)
    eos = None if eos is None else 0
    wanted = all_sequences(table, 0, limit, eos, alpha)
    size = len(wanted) + 1
    options = {"max_len": limit, "length_penalty": alpha, "eos": eos, "early_stop": False}
    found = beam_search(table.start(1), beam_size=size, n_best=size, **options)[0]
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted, strict=True):
        same(a, b)


@settings(max_examples=60)
@given(tables, st.integers(1, 5), st.integers(1, 12), alphas, st.data())
def test_early_stop_changes_no_result(table, size, limit, alpha, data) -> None:
    options = {
        "beam_size": size,
        "max_len": limit,
        "length_penalty": alpha,
        "n_best": data.draw(st.integers(1, size)),
    }
    assert beam_search(table.start(2), early_stop=True, **options) == beam_search(
        table.start(2), early_stop=False, **options
    )


def test_early_stop_saves_steps() -> None:
    steps = {}
    for early_stop in (True, False):
        table = Table(6, 11, eos_bias=2.0)
        beam_search(table.start(4), beam_size=4, max_len=40, length_penalty=0.6, early_stop=early_stop)
        steps[early_stop] = sum(table.largest_batch)
    assert steps[True] < steps[False]


@settings(max_examples=60)
@given(tables, st.integers(1, 9), ends)
def test_a_beam_of_one_is_greedy(table, limit, eos) -> None:
    found = beam_search(table.start(4), beam_size=1, max_len=limit, length_penalty=0.0, eos=eos)
    assert [hypotheses[0] for hypotheses in found] == greedy(table.start(4), max_len=limit, eos=eos)


@settings(max_examples=40)
@given(tables, st.integers(1, 4), st.lists(st.integers(1, 9), min_size=1, max_size=5), alphas)
def test_batched_equals_single(table, size, limits, alpha) -> None:
    options = {"beam_size": size, "length_penalty": alpha, "n_best": size}
    together = beam_search(table.start(len(limits)), max_len=torch.tensor(limits), **options)
    alone = [
        beam_search(table.start(1, first), max_len=limit, **options)[0] for first, limit in enumerate(limits)
    ]
    assert together == alone


@settings(max_examples=40)
@given(tables, st.integers(1, 5), st.integers(1, 6), alphas)
def test_the_n_best_are_sorted_distinct_and_add_up(table, size, limit, alpha) -> None:
    for found in beam_search(
        table.start(2), beam_size=size, max_len=limit, length_penalty=alpha, n_best=size
    ):
        assert len({(h.ids, h.finished) for h in found}) == len(found)
        keys = [(not h.finished, -h.score) for h in found]
        assert keys == sorted(keys)
        for h in found:
            assert len(h.token_log_probs) == len(h.ids) + h.finished
            assert math.isclose(sum(h.token_log_probs), h.log_prob, abs_tol=1e-9)
            assert math.isclose(
                h.score, h.log_prob / ((5 + len(h.token_log_probs)) / 6) ** alpha, abs_tol=1e-9
            )


@settings(max_examples=30)
@given(tables, st.integers(1, 3), st.integers(1, 5), st.data())
def test_a_forced_prefix_only_restricts_the_search(table, size, limit, data) -> None:
    """The rest equals a search in the table below the prefix, whatever the others of the batch are forced to."""
    token = st.integers(0, table.n_tokens - 1).filter(lambda i: i != EOS)
    prefixes = data.draw(st.lists(st.lists(token, max_size=3), min_size=1, max_size=4))
    options = {"beam_size": size, "max_len": limit, "n_best": size, "length_penalty": 0.6}
    found = beam_search(table.start(len(prefixes)), prefix=prefixes, **options)
    for sentence, prefix in enumerate(prefixes):
        below = Table(table.n_tokens, 0)
        below.logits = lambda _, ids, s=sentence, p=tuple(prefix): table.logits(s, p + ids)
        wanted = slow_beam(below, 0, limit, EOS, size, 0.6, size)
        for a, b in zip(found[sentence], wanted, strict=True):
            same(a, b)


def test_filters_act_and_may_cut_the_beam_short() -> None:
    table = Table(7, 3)
    cold = beam_search(table.start(2), beam_size=3, max_len=5, n_best=3, filters=[Temperature(0.5)])
    sharp = Table(7, 3, spread=3.0)
    for a, b in zip(cold, beam_search(sharp.start(2), beam_size=3, max_len=5, n_best=3), strict=True):
        for x, y in zip(a, b, strict=True):
            same(x, y)
    one = beam_search(table.start(2), beam_size=3, max_len=5, n_best=3, filters=[TopK(1)])
    greedily = greedy(table.start(2), max_len=5, filters=[TopK(1)])
    assert [[(h.ids, h.log_prob) for h in found] for found in one] == [[(h.ids, 0.0)] for h in greedily]


def test_filters_see_the_history_of_their_row() -> None:
    table = Table(6, 5, eos_bias=-2.0)
    seen = []

    def spy(logits: torch.Tensor, history: torch.Tensor) -> torch.Tensor:
        seen.extend(tuple(row) for row in history.tolist())
        return logits

    options = {"beam_size": 3, "max_len": 4, "n_best": 3, "early_stop": False}
    found = beam_search(table.start(1), filters=[spy], **options)[0]
    assert {h.ids[:t] for h in found for t in range(4) if t < len(h.ids) + h.finished} <= set(seen)


def test_a_filter_may_forbid_what_a_row_holds() -> None:
    def never_twice(logits: torch.Tensor, history: torch.Tensor) -> torch.Tensor:
        return logits.scatter(1, history, -torch.inf)

    # Five tokens besides EOS: after five of them only EOS is left.
    options = {"beam_size": 5, "max_len": 8, "n_best": 5, "early_stop": False}
    found = beam_search(Table(6, 5, eos_bias=-9.0).start(2), filters=[never_twice], **options)
    assert all(len(set(h.ids)) == len(h.ids) and h.finished for hypotheses in found for h in hypotheses)
    assert len(found[0][0].ids) == 5


def test_finished_sentences_leave_the_batch() -> None:
    table = Table(5, 1, eos_bias=-30.0)
    limits = torch.tensor([1, 2, 3, 6])
    beam_search(table.start(4), beam_size=2, max_len=limits)
    assert table.largest_batch == [4, 6, 4, 2, 2, 2]


def test_an_empty_batch_gives_an_empty_list() -> None:
    assert beam_search(Table(5, 0).start(0), beam_size=2, max_len=3) == []


def test_half_precision_logits_are_summed_in_single_precision() -> None:
    table = Table(6, 4)

    def predict(tokens: torch.Tensor, sentence: torch.Tensor) -> torch.Tensor:
        return torch.stack([torch.tensor(table.logits(0, tuple(r[1:]))) for r in tokens.tolist()]).bfloat16()

    found = beam_search(RecomputedState(predict, 1), beam_size=3, max_len=4, length_penalty=0.0)[0][0]
    exact = sum(
        torch.tensor(table.logits(0, found.ids[:i])).bfloat16().double().log_softmax(0)[token].item()
        for i, token in enumerate((*found.ids, EOS)[: len(found.token_log_probs)])
    )
    assert math.isclose(found.log_prob, exact, abs_tol=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 0.6, -0.5, 2.0])
def test_scores_by_hand(alpha) -> None:
    """Two tokens and EOS: p(a) = 0.5, p(b) = 0.3, p(EOS) = 0.2 at every step, limit 2."""
    logits = torch.tensor([0.5, 0.3, 0.2], dtype=torch.float64).log()
    state = RecomputedState(lambda tokens, sentence: logits.expand(len(tokens), -1), 1)
    found = beam_search(state, beam_size=4, max_len=2, length_penalty=alpha, n_best=4, early_stop=False)[0]
    by_ids = {h.ids: h.score for h in found if h.finished}
    assert math.isclose(by_ids[()], math.log(0.2))
    assert math.isclose(by_ids[(0,)], math.log(0.1) / (7 / 6) ** alpha)
