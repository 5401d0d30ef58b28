"""Randomness: one seed for every generator, and their states as tensors."""

import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor

from coursepkg.validation import check_count


def set_seed(seed: int) -> None:
    """Seed the generators of Python, NumPy and torch, those of all GPUs included.

    Raises:
        ValueError: the seed is no integer, negative or above 2^32 - 1, NumPy's largest.
    """
    check_count("seed", seed, least=0, most=2**32 - 1)
    seed = int(seed)
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def rng_state(device: torch.device | None = None) -> dict[str, Tensor]:
    """The states of all generators as tensors of fixed shapes."""
    version, words, gauss = random.getstate()
    _, keys, place, has_gauss, cached = np.random.get_state(legacy=True)
    state = {
        "torch": torch.get_rng_state(),
        "python": torch.tensor([version, *words]),
        "python_gauss": torch.tensor(
            [gauss is not None, gauss or 0.0], dtype=torch.float64
        ),
        "numpy": torch.from_numpy(np.asarray(keys).astype(np.int64)),
        "numpy_place": torch.tensor([place, has_gauss, cached], dtype=torch.float64),
    }
    if device is not None and device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    return state


def load_rng_state(
    state: Mapping[str, Tensor], device: torch.device | None = None
) -> None:
    """Restore what `rng_state` returned; a GPU's state is skipped without a GPU."""
    version, *words = state["python"].tolist()
    has_gauss, gauss = state["python_gauss"].tolist()
    random.setstate((version, tuple(words), gauss if has_gauss else None))
    place, has_cached, cached = state["numpy_place"].tolist()
    keys = state["numpy"].numpy().astype(np.uint32)
    np.random.set_state(("MT19937", keys, int(place), int(has_cached), cached))
    # torch reads a state from the start of its storage, whatever row of it a view
    # shows.
    torch.set_rng_state(state["torch"].clone())
    if "cuda" in state and device is not None and device.type == "cuda":
        torch.cuda.set_rng_state(state["cuda"].clone(), device)


@contextmanager
def preserved_rng(device: torch.device | None = None) -> Iterator[None]:
    """Inside `with`, drawing random numbers does not move any generator."""
    state = rng_state(device)
    try:
        yield
    finally:
        load_rng_state(state, device)
