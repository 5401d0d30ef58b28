"""What the commands of all projects have in common."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Annotated, TypeVar

import tyro

T = TypeVar("T")

RUNS = Path("runs")
"""Where training puts a run that gets no --out, and where the other verbs look for it."""

Flag = Annotated[bool, tyro.conf.FlagCreatePairsOff]
"""A switch that is off, without its opposite."""


def preset_in(arguments: Sequence[str], presets: Mapping[str, T], usual: str = "tiny") -> T:
    """What the preset that the arguments name stands for; the usual one where they name none, or none that is known.

    It is looked for before the arguments are parsed, because it gives the other flags their defaults.
    """
    named = [value for flag, value in pairwise(arguments) if flag == "--preset"]
    named += [a.partition("=")[2] for a in arguments if a.startswith("--preset=")]
    return presets.get(named[-1] if named else usual, presets[usual])


@contextmanager
def with_threads(threads: int) -> Iterator[None]:
    """So many CPU threads; 0 leaves torch's own choice."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(threads or before)
    try:
        yield
    finally:
        torch.set_num_threads(before)
