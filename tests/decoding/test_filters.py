"""Filters against Hugging Face's logits processors, and the properties that make them safe."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.generation import logits_process as hf

from coursepkg.decoding import (
    Forbid,
    RecomputedState,
    RepetitionPenalty,
    Temperature,
    TopK,
    TopP,
    greedy,
)

seeds = st.integers(0, 10_000)


def draw(seed: int, n_tokens: int = 11) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    logits = 3 * torch.randn(4, n_tokens, generator=generator, dtype=torch.float64)
    return logits, torch.randint(0, n_tokens, (4, 6), generator=generator)


@given(seeds, st.floats(0.05, 5.0), st.integers(1, 11), st.floats(0.01, 0.99), st.floats(0.3, 3.0))
def test_equal_hugging_face(seed, temperature, k, p, penalty) -> None:
    logits, history = draw(seed)
    pairs = [
        (Temperature(temperature), hf.TemperatureLogitsWarper(temperature)),
        (TopK(k), hf.TopKLogitsWarper(k)),
        (TopP(p), hf.TopPLogitsWarper(p)),
        (RepetitionPenalty(penalty), hf.RepetitionPenaltyLogitsProcessor(penalty)),
    ]
    for ours, theirs in pairs:
        torch.testing.assert_close(ours(logits, history), theirs(history, logits.clone()))
    chain = RepetitionPenalty(penalty), Temperature(temperature), TopK(k), TopP(p)
    found, wanted = logits, logits.clone()
    for ours, theirs in zip(chain, (pairs[3][1], pairs[0][1], pairs[1][1], pairs[2][1]), strict=True):
        found, wanted = ours(found, history), theirs(history, wanted)
    torch.testing.assert_close(found, wanted)


@given(seeds)
def test_neutral_values_change_nothing(seed) -> None:
    logits, history = draw(seed)
    for keep in (Temperature(1.0), TopK(11), TopK(99), TopP(1.0), TopP(1), RepetitionPenalty(1.0)):
        torch.testing.assert_close(keep(logits, history), logits, rtol=0, atol=0)


@given(seeds, st.floats(1e-12, 1.0))
def test_top_p_keeps_the_smallest_set_that_holds_p(seed, p) -> None:
    logits, history = draw(seed)
    for row, kept in zip(logits.softmax(-1), TopP(p)(logits, history), strict=True):
        chosen = kept > -torch.inf
        assert chosen.any()
        assert chosen[row.argmax()]
        assert row[chosen].sum() >= p - 1e-12
        assert row[chosen].sum() - row[chosen].min() < p + 1e-12
        assert not (~chosen).any() or row[chosen].min() >= row[~chosen].max()


@given(seeds, st.integers(1, 11))
def test_top_k_keeps_the_k_best(seed, k) -> None:
    logits, history = draw(seed)
    kept = TopK(k)(logits, history)
    assert ((kept > -torch.inf).sum(-1) == k).all()
    torch.testing.assert_close(kept.topk(k).values, logits.topk(k).values)


def test_ties() -> None:
    logits, history = torch.tensor([[1.0, 2.0, 2.0, 2.0]]), torch.zeros(1, 0, dtype=torch.int64)
    assert (TopK(1)(logits, history) > -torch.inf).tolist() == [[False, True, True, True]]
    assert (TopP(0.01)(logits, history) > -torch.inf).tolist() == [[False, True, False, False]]


def test_what_is_forbidden_stays_forbidden() -> None:
    logits = torch.tensor([[0.3, -torch.inf, 1.0, -torch.inf]])
    history = torch.tensor([[0, 1]])
    for keep in (Temperature(0.5), TopK(3), TopP(0.999), RepetitionPenalty(1.3)):
        assert keep(logits, history)[0, 1] == -torch.inf
        assert keep(logits, history)[0, 3] == -torch.inf


def test_repetition_penalty_by_hand() -> None:
    """Seen tokens 0 (twice), 1 and 2 with penalty 1.2: 2 / 1.2, -1 * 1.2, 0; token 3 was not seen."""
    found = RepetitionPenalty(1.2)(torch.tensor([[2.0, -1.0, 0.0, 0.5]]), torch.tensor([[0, 1, 0, 2]]))
    torch.testing.assert_close(found, torch.tensor([[2 / 1.2, -1.2, 0.0, 0.5]]))
    nothing_seen = torch.zeros(1, 0, dtype=torch.int64)
    torch.testing.assert_close(RepetitionPenalty(9.0)(found, nothing_seen), found, rtol=0, atol=0)


@given(seeds, st.sets(st.integers(0, 10), max_size=5))
def test_forbid(seed, ids) -> None:
    logits, history = draw(seed)
    wanted = logits.clone()
    for i in ids:
        wanted[:, i] = -torch.inf
    torch.testing.assert_close(Forbid(tuple(ids))(logits, history), wanted)
    with pytest.raises(ValueError, match=r"^forbidden id must be below V = 11, got 11$"):
        Forbid((3, 11))(logits, history)


def test_filters_leave_their_input_alone() -> None:
    logits, history = draw(0)
    before = logits.clone()
    for keep in (Temperature(0.5), TopK(2), TopP(0.5), RepetitionPenalty(2.0), Forbid((1,))):
        keep(logits, history)
        torch.testing.assert_close(logits, before, rtol=0, atol=0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Temperature(0.0), "temperature must be above 0, got 0.0; for the limit at 0 use greedy"),
        (lambda: Temperature(-1), "temperature must be above 0, got -1"),
        (lambda: Temperature(float("nan")), "temperature must be a finite number, got nan"),
        (lambda: TopK(0), "top_k must be an integer of at least 1, got 0"),
        (lambda: TopP(0.0), "top_p must be above 0 and at most 1, got 0.0"),
        (lambda: TopP(1.1), "top_p must be above 0 and at most 1, got 1.1"),
        (lambda: TopP(float("inf")), "top_p must be a finite number, got inf"),
        (lambda: Forbid((4, -1)), "forbidden id must be an integer of at least 0, got -1"),
        (lambda: RepetitionPenalty(0), "repetition_penalty must be above 0, got 0"),
    ],
)
def test_bad_values_are_named(make, message) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        make()


def test_filters_see_half_precision_in_float32() -> None:
    logits = torch.randn(1, 4000, generator=torch.Generator().manual_seed(0)).bfloat16()
    seen = []

    def look(scores: torch.Tensor, history: torch.Tensor) -> torch.Tensor:
        seen.append(TopP(0.9)(scores, history))
        return seen[-1]

    greedy(RecomputedState(lambda tokens, sentence: logits, 1), max_len=1, filters=[look])
    assert torch.equal(seen[0], TopP(0.9)(logits.float(), torch.zeros(1, 0)))
