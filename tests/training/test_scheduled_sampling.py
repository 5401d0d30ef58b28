"""Decay functions against their formulas, and which tokens a mixture holds."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from coursepkg.text.vocabulary import BOS, EOS, PAD
from coursepkg.training.scheduled_sampling import (
    exponential_decay,
    inverse_sigmoid_decay,
    linear_decay,
    mix_in_parallel,
    mix_step_by_step,
    mix_tokens,
)

V = 50


def gold(n_rows: int = 400) -> Tensor:
    """Decoder inputs: BOS, seven tokens, of which the last two are padding in every second row."""
    generator = torch.Generator().manual_seed(0)
    ids = torch.randint(4, V, (n_rows, 8), generator=generator)
    ids[:, 0] = BOS
    ids[::2, 6:] = PAD
    return ids


@given(step=st.integers(1, 10**6), k=st.floats(1.0, 1e4), base=st.floats(0, 1), slope=st.floats(0, 0.01))
def test_decays_follow_their_formulas_and_stay_probabilities(
    step: int, k: float, base: float, slope: float
) -> None:
    assert linear_decay(1.0, slope, 0.1)(step) == pytest.approx(max(0.1, 1 - slope * step))
    assert exponential_decay(base)(step) == base**step
    found = inverse_sigmoid_decay(k)(step)
    if step / k < 700:
        assert found == pytest.approx(k / (k + math.exp(step / k)))
    for decay in (linear_decay(1.0, slope), exponential_decay(base), inverse_sigmoid_decay(k)):
        assert 0 <= decay(step + 1) <= decay(step) <= 1


def test_inverse_sigmoid_is_a_half_at_k_ln_k() -> None:
    k = 1000.0
    assert inverse_sigmoid_decay(k)(round(k * math.log(k))) == pytest.approx(0.5, abs=1e-3)
    assert repr(inverse_sigmoid_decay(k)) == "inverse_sigmoid_decay(k=1000.0)"


def test_p_0_is_teacher_forcing_and_draws_nothing() -> None:
    ids = gold()
    before = torch.get_rng_state()
    assert mix_tokens(ids, torch.full_like(ids, 9), 0.0) is ids
    assert mix_in_parallel(torch.randn(*ids.shape, V, generator=torch.Generator()), ids, 0.0) is ids
    assert torch.equal(torch.get_rng_state(), before)


def test_p_1_is_all_predictions_but_bos_and_padding() -> None:
    ids = gold()
    mixed = mix_tokens(ids, torch.full_like(ids, 3), 1.0)
    special = (ids == BOS) | (ids == PAD)
    assert torch.equal(mixed[special], ids[special])
    assert bool((mixed[~special] == 3).all())


def test_share_of_predictions_is_p() -> None:
    torch.manual_seed(0)
    ids = gold()
    real = (ids != BOS) & (ids != PAD)
    for p in (0.1, 0.5, 0.9):
        replaced = (mix_tokens(ids, torch.full_like(ids, 3), p) == 3)[real]
        spread = 5 * (p * (1 - p) / len(replaced)) ** 0.5
        assert replaced.float().mean().item() == pytest.approx(p, abs=spread)


def test_a_seed_repeats_the_mixture() -> None:
    ids = gold()
    mixtures = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        mixtures.append(mix_tokens(ids, torch.full_like(ids, 3), 0.5))
    assert torch.equal(mixtures[0], mixtures[1])
    assert not torch.equal(mixtures[0], mixtures[2])


def test_parallel_mixture_reads_the_logits_of_the_place_before() -> None:
    ids = torch.tensor([[BOS, 10, 11, 12]])
    logits = torch.zeros(1, 4, V)
    for place, token in enumerate([20, 21, 22, EOS]):
        logits[0, place, token] = 1.0
    assert mix_in_parallel(logits.requires_grad_(), ids, 1.0).tolist() == [[BOS, 20, 21, 22]]


def test_step_by_step_predictions_follow_the_mixed_prefix() -> None:
    # A "decoder" whose most probable next token is the last one plus 1: predictions count on from what was read.
    read = []

    def step(tokens: Tensor) -> Tensor:
        read.append(tokens[:, 0].tolist())
        return torch.nn.functional.one_hot(tokens[:, 0] + 1, V).float()

    ids = torch.tensor([[BOS, 10, 20, 30], [BOS, 15, PAD, PAD]])
    assert mix_step_by_step(step, ids, 1.0).tolist() == [[BOS, 2, 3, 4], [BOS, 2, PAD, PAD]]
    assert read == [[BOS, BOS], [2, 2], [3, PAD]]
    assert torch.equal(mix_step_by_step(step, ids, 0.0), ids)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: linear_decay(1.5, 0.1), "start must lie between 0 and 1, got 1.5"),
        (lambda: linear_decay(1.0, -0.1), "slope must be at least 0, got -0.1"),
        (lambda: linear_decay(1.0, 0.1, -1.0), "floor must lie between 0 and 1, got -1.0"),
        (lambda: exponential_decay(1.1), "base must lie between 0 and 1, got 1.1"),
        (lambda: inverse_sigmoid_decay(0.5), "k must be at least 1, got 0.5"),
        (lambda: mix_tokens(gold(2), gold(2), math.nan), "p must lie between 0 and 1, got nan"),
        (
            lambda: mix_tokens(gold(2), gold(3), 0.5),
            r"predicted must have the shape of tgt_in \(2, 8\), got \(3, 8\)",
        ),
        (lambda: mix_step_by_step(lambda t: t, gold(2), 2.0), "p must lie between 0 and 1, got 2.0"),
    ],
)
def test_bad_input_is_named(call, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        call()
