"""Checks of what all decoders take. A mistake becomes a ValueError of one line that names the argument."""

from collections.abc import Sequence

import torch
from torch import Tensor

from coursepkg.arguments import check_count


def source_limits(
    src: Tensor, extra_decode_length: int = 10, *, pad: int = 0, most: int | None = None
) -> Tensor:
    """A limit for the target of each source: its own length plus some tokens.

    The padding of a batch does not count, so that a sentence has one limit in every batch. The option and its value
    of 10 come from the text recognition notes (`extra_decode_length: 10`), which took them from Tensor2Tensor.

    Args:
        src: source ids (B, S), padded behind their ends.
        extra_decode_length: tokens by which a target may be longer than its source.
        pad: id of padding.
        most: largest limit, such as the target tokens that the model can take; None sets none.

    Returns:
        (B,) int64: most tokens to produce, the end token included; for the argument `max_len` of the decoders.

    Raises:
        ValueError: src is no matrix, or extra_decode_length is negative.
    """
    check_count("extra_decode_length", extra_decode_length, least=0)
    if src.dim() != 2:
        raise ValueError(f"src must be ids (B, S), got shape {tuple(src.shape)}")
    limits = (src != pad).sum(dim=1) + extra_decode_length
    if most is None:
        return limits
    check_count("most", most)
    return limits.clamp(max=most)


def check_limits(max_len: int | Tensor, n_sentences: int, device: torch.device) -> Tensor:
    """max_len, one for all or one a sentence (B,) -> (B,) int64.

    Raises:
        ValueError: it is below 1, or not one integer a sentence.
    """
    if not isinstance(max_len, Tensor):
        check_count("max_len", max_len)
        return torch.full((n_sentences,), max_len, device=device)
    if max_len.shape != (n_sentences,) or max_len.is_floating_point() or max_len.dtype == torch.bool:
        raise ValueError(
            f"max_len must be an integer or integers ({n_sentences},), one a sentence, "
            f"got {max_len.dtype} {tuple(max_len.shape)}"
        )
    if n_sentences and int(max_len.min()) < 1:
        raise ValueError(f"max_len must be at least 1 for every sentence, got {int(max_len.min())}")
    return max_len.to(device=device, dtype=torch.int64)


def check_prefix(
    prefix: Sequence[Sequence[int]] | None, n_sentences: int, eos: int | None
) -> list[list[int]]:
    """The tokens that each sentence must begin with, as lists.

    Raises:
        ValueError: there is not one list a sentence, or a list holds a negative id or the end token.
    """
    if prefix is None:
        return [[] for _ in range(n_sentences)]
    lists = [list(ids) for ids in prefix]
    if len(lists) != n_sentences:
        raise ValueError(f"prefix must hold one list of ids a sentence ({n_sentences}), got {len(lists)}")
    for row, ids in enumerate(lists):
        for i in ids:
            check_count(f"prefix[{row}]'s id", i, least=0)
            if i == eos:
                raise ValueError(f"prefix[{row}] must not hold the end token {eos}: nothing would follow it")
    return lists
