"""The recomputed state, the specification of what a state is."""

import pytest
import torch

from coursepkg.decoding import DecoderState, RecomputedState, beam_search, greedy
from tests.decoding.models import make, sources


def sums(tokens: torch.Tensor, sentence: torch.Tensor) -> torch.Tensor:
    """As logits (N, 2): the sum of the tokens and the number of the sentence."""
    return torch.stack([tokens.sum(dim=1), sentence], dim=1).double()


def test_rows_carry_their_tokens_and_their_sentence() -> None:
    state = RecomputedState(sums, 3)
    assert isinstance(state, DecoderState)
    assert state.step(torch.tensor([[1, 1], [10, 10], [50, 50]])).tolist() == [[2, 0], [20, 1], [100, 2]]
    state.select(torch.tensor([0, 0, 2, 2]), torch.tensor([0, 2]))
    assert state.n_rows == 4
    assert state.step(torch.tensor([[1], [2], [3], [4]])).tolist() == [[3, 0], [4, 0], [103, 2], [104, 2]]
    state.select(torch.tensor([1, 2]))
    assert state.step(torch.tensor([[0], [0]])).tolist() == [[4, 0], [103, 2]]


def test_real_states_meet_the_protocol() -> None:
    for kind in ("2017", "gru"):
        assert isinstance(make(kind, 0).start(sources(0), max_len=4), DecoderState)
    assert isinstance(make("lm-2017", 0).start(2, max_len=4), DecoderState)


@pytest.mark.parametrize("shape", [(2,), (2, 0), (3, 1)])
def test_tokens_of_another_shape_are_named(shape) -> None:
    with pytest.raises(ValueError, match=r"^tokens must be \(2, T >= 1\), got \("):
        RecomputedState(sums, 2).step(torch.zeros(shape, dtype=torch.int64))


@pytest.mark.parametrize(
    "search", [lambda s: greedy(s, max_len=3), lambda s: beam_search(s, beam_size=2, max_len=3)]
)
def test_a_state_that_was_used_is_refused(search) -> None:
    state = RecomputedState(lambda tokens, sentence: torch.zeros(len(tokens), 7), 2)
    search(state)
    with pytest.raises(ValueError, match="state must be fresh, got one with 3 tokens"):
        search(state)
