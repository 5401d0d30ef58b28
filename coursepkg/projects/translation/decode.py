"""Sources to hypotheses: sorted by length, in batches, back in order."""

from collections.abc import Sequence
from typing import Any

import torch
from torch import nn

from coursepkg.decoding.arguments import source_limits
from coursepkg.decoding.beam import beam_search
from coursepkg.decoding.filters import Filter
from coursepkg.decoding.generate import greedy
from coursepkg.decoding.hypothesis import Hypothesis
from coursepkg.text.vocabulary import EOS, pad_batch

EXTRA_LENGTH = 30
"""Tokens by which a translation may be longer than its source."""


@torch.inference_mode()
def search(
    model: nn.Module,
    sources: Sequence[Sequence[int]],
    *,
    max_len: int,
    beam_size: int = 5,
    length_penalty: float = 1.0,
    n_best: int = 1,
    batch_size: int = 64,
    filters: Sequence[Filter] = (),
) -> list[list[Hypothesis]]:
    """Translate ids by beam search, or greedily with one beam.

    Args:
        model: `Transformer` or `GRUSeq2Seq`; it decodes in evaluation mode and goes back to the mode it came in.
        sources: ids of each source, its tag in front, EOS not yet behind.
        max_len: most tokens of a target, EOS included, that the model takes.
        beam_size: beams; 1 is greedy.
        length_penalty: exponent of the length penalty.
        n_best: hypotheses of each source, at most `beam_size`.
        batch_size: sources at once.
        filters: applied to the logits of every step.

    Returns:
        for each source its hypotheses, best first.
    """
    order = sorted(range(len(sources)), key=lambda i: len(sources[i]))
    device, was_training = next(model.parameters()).device, model.training
    found: list[list[Hypothesis]] = [[] for _ in sources]
    model.eval()
    try:
        for first in range(0, len(order), batch_size):
            chosen = order[first : first + batch_size]
            src, _ = pad_batch([[*sources[i], EOS] for i in chosen])
            results = _one_batch(model, src.to(device), max_len, beam_size, length_penalty, n_best, filters)
            for i, result in zip(chosen, results, strict=True):
                found[i] = result
    finally:
        model.train(was_training)
    return found


def _one_batch(
    model: Any,
    src: torch.Tensor,
    most: int,
    beam_size: int,
    alpha: float,
    n_best: int,
    filters: Sequence[Filter],
) -> list[list[Hypothesis]]:
    limits = source_limits(src, EXTRA_LENGTH, most=most - 1)
    state = model.start(src, max_len=int(limits.max()) + 1)
    if beam_size == 1:
        return [[one] for one in greedy(state, max_len=limits, filters=filters)]
    return beam_search(
        state, beam_size=beam_size, max_len=limits, length_penalty=alpha, n_best=n_best, filters=filters
    )
