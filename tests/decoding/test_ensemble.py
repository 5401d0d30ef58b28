"""An ensemble: the mean of the members' probabilities, through every step and every beam."""

import pytest
import torch

from coursepkg.blocks.cache import RecomputedState
from coursepkg.decoding.beam import beam_search
from coursepkg.decoding.ensemble import Ensemble
from coursepkg.decoding.generate import greedy
from coursepkg.decoding.step import DecoderState
from coursepkg.text.vocabulary import BOS
from tests.blocks.models import TARGETS, V, make, source


def members() -> list[torch.nn.Module]:
    other = make("modern", d_model=24, n_encoder_layers=1)
    with torch.no_grad():
        for parameter in other.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return [make("2017"), other]


def mean_of_recomputed(models: list, src: torch.Tensor) -> RecomputedState:
    """The same by another way: every step runs all models over all tokens again, and probabilities are averaged."""
    memories = [model.encode(src) for model in models]

    def predict(tokens: torch.Tensor, sentence: torch.Tensor) -> torch.Tensor:
        found = []
        for model, memory in zip(models, memories, strict=True):
            seen = type(memory)(memory.outputs[sentence], memory.is_real[sentence])
            found.append(model.decode(tokens, seen)[:, -1].float().softmax(dim=-1))
        return (sum(found) / len(found)).log()

    return RecomputedState(predict, len(src))


@torch.no_grad()
def test_each_step_is_the_mean_of_the_probabilities() -> None:
    models = members()
    state = Ensemble(models).start(source(), max_len=12)
    assert isinstance(state, DecoderState)
    plain = mean_of_recomputed(models, source())
    for column in torch.tensor([t[:5] for t in TARGETS]).T:
        found = state.step(column[:, None])
        assert torch.allclose(found, plain.step(column[:, None]), atol=1e-5)
        assert torch.allclose(found.exp().sum(dim=-1), torch.ones(3), atol=1e-5)


@pytest.mark.parametrize("beams", [1, 4])
@torch.no_grad()
def test_search_finds_what_the_plain_mean_finds(beams: int) -> None:
    models = members()
    states = Ensemble(models).start(source(), max_len=10), mean_of_recomputed(models, source())
    if beams == 1:
        found, wanted = ([one.ids for one in greedy(state, max_len=9)] for state in states)
    else:
        found, wanted = (
            [[h.ids for h in line] for line in beam_search(state, beam_size=beams, max_len=9, n_best=beams)]
            for state in states
        )
    assert found == wanted


@torch.no_grad()
def test_twins_vote_as_one() -> None:
    model = make("modern")
    alone = model.start(source(), max_len=5)
    both = Ensemble([model, model]).start(source(), max_len=5)
    first = torch.full((3, 1), BOS)
    assert torch.allclose(both.step(first), alone.step(first).float().log_softmax(dim=-1), atol=1e-6)
    assert (both.n_rows, both.device) == (3, torch.device("cpu"))
    rows = torch.tensor([0, 0, 2, 2])
    for state in (alone, both):
        state.select(rows, torch.tensor([0, 2]))
    tokens = torch.tensor([[4], [5], [6], [7]])
    assert both.n_rows == 4
    assert torch.allclose(both.step(tokens), alone.step(tokens).float().log_softmax(dim=-1), atol=1e-6)
    assert both.step(tokens).shape == (4, V)


def test_a_state_that_was_used_is_refused() -> None:
    state = Ensemble(members()).start(source(), max_len=10)
    greedy(state, max_len=3)
    with pytest.raises(ValueError, match="state must be fresh, got one with 3 tokens"):
        greedy(state, max_len=3)


def test_nobody_is_no_ensemble() -> None:
    with pytest.raises(ValueError, match="at least one model"):
        Ensemble([])
