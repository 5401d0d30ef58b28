"""Every generator is seeded, stored and put back."""

import random

import numpy as np
import pytest
import torch

from coursepkg.training.seed import load_rng_state, preserved_rng, rng_state, set_seed


def draw() -> list[float]:
    """Numbers from all generators; the normal ones leave a second one waiting inside the generator."""
    return [
        random.random(),
        random.gauss(0, 1),
        np.random.rand(),
        np.random.randn(),
        *torch.randn(3).tolist(),
    ]


def test_a_seed_repeats_every_generator() -> None:
    set_seed(5)
    first = draw()
    assert draw() != first
    set_seed(5)
    assert draw() == first


@pytest.mark.parametrize("before", range(3))
def test_a_state_is_put_back_in_the_middle_of_anything(before: int) -> None:
    set_seed(1)
    for _ in range(before):
        draw()
    random.gauss(0, 1)
    np.random.randn()
    state = rng_state()
    wanted = [draw(), draw()]
    set_seed(99)
    load_rng_state(state)
    assert [draw(), draw()] == wanted


def test_preserved_rng_leaves_no_trace() -> None:
    set_seed(2)
    with preserved_rng():
        draw()
    after = draw()
    set_seed(2)
    assert draw() == after


@pytest.mark.parametrize("seed", [-1, 2**32])
def test_a_seed_out_of_range_is_refused(seed: int) -> None:
    with pytest.raises(ValueError, match=rf"^seed must be an integer in 0\.\.4294967295, got {seed}$"):
        set_seed(seed)
