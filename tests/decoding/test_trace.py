"""The trace of a beam search tells the same story as its result."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.decoding import SearchTrace, beam_search
from tests.decoding.tables import Table

EOS = 2


def path(nodes, node) -> tuple[int, ...]:
    """The tokens from the start to a node."""
    before = () if node.parent is None else path(nodes, nodes[node.parent])
    return (*before, node.token)


@settings(max_examples=30)
@given(st.integers(3, 6), st.integers(0, 999), st.integers(1, 4), st.integers(1, 5))
def test_every_candidate_is_there_with_its_fate(n_tokens, seed, size, limit) -> None:
    table, trace = Table(n_tokens, seed), SearchTrace()
    options = {"beam_size": size, "max_len": limit, "n_best": size, "length_penalty": 0.0}
    found = beam_search(table.start(2), trace=trace, **options)
    assert found == beam_search(table.start(2), **options)
    for sentence, hypotheses in enumerate(found):
        nodes = trace.tree(sentence)
        for place, node in enumerate(nodes):
            assert node.parent is None or (node.parent < place and nodes[node.parent].fate == "kept")
            tokens = path(nodes, node)
            assert len(tokens) == node.step
            wanted = sum(table.log_probs(sentence, tokens[:t])[i] for t, i in enumerate(tokens))
            assert node.log_prob == pytest.approx(wanted)
            assert node.fate in ("kept", "ended", "dropped")
            assert (node.fate == "ended") <= (node.token == EOS)
        for step in range(1, nodes[-1].step + 1):
            row = [n for n in nodes if n.step == step]
            assert len(row) <= 2 * size
            assert sum(n.fate == "kept" for n in row) <= size
            assert [n.log_prob for n in row] == sorted((n.log_prob for n in row), reverse=True)
        ended = {path(nodes, n)[:-1]: n.log_prob for n in nodes if n.fate == "ended"}
        last = {path(nodes, n): n.log_prob for n in nodes if n.fate == "kept" and n.step == limit}
        for h in hypotheses:
            assert (ended if h.finished else last)[h.ids] == pytest.approx(h.log_prob)


def test_the_parent_of_the_first_token_is_the_start() -> None:
    trace = SearchTrace()
    beam_search(Table(5, 0).start(1), beam_size=2, max_len=1, trace=trace)
    assert [(n.step, n.parent) for n in trace.tree()] == [(1, None)] * 4


def test_a_second_search_begins_a_new_trace() -> None:
    again, fresh = SearchTrace(), SearchTrace()
    options = {"beam_size": 3, "max_len": 4}
    beam_search(Table(6, 1).start(2), trace=again, **options)
    for trace in (again, fresh):
        beam_search(Table(5, 0).start(1), trace=trace, **options)
    assert again.nodes == fresh.nodes
    assert again.alive == fresh.alive


def test_a_sentence_that_was_not_traced() -> None:
    with pytest.raises(ValueError, match=r"sentence must be one that was traced \(none\), got 0"):
        SearchTrace().tree()
