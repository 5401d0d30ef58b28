"""What an encoder hands to a decoder, and which ids of a batch are real tokens."""

from dataclasses import dataclass

import torch
from torch import Tensor

from coursepkg.text.vocabulary import PAD


@dataclass(frozen=True)
class Memory:
    """What the decoder may look at: the encoded source."""

    outputs: Tensor
    """Encoder outputs (B, S, E). What stands at padding is never looked at."""
    is_real: Tensor
    """bool (B, S), False at padding."""


def trimmed(memory: Memory, first: int, last: int) -> Memory:
    """Rows `first` .. `last` - 1 without the columns that are padding in all of them; padding stands behind."""
    is_real = memory.is_real[first:last]
    longest = int(is_real.sum(dim=1).max())
    return Memory(memory.outputs[first:last, :longest], is_real[:, :longest])


def check_ids(name: str, ids: Tensor, vocab_size: int, max_len: int) -> None:
    """Raises a ValueError unless `ids` is an integer matrix (B, length) that a model can embed.

    Args:
        name: what the message calls the ids.
        ids: token ids.
        vocab_size: ids lie in 0 .. vocab_size - 1.
        max_len: most tokens in a row, padding included.
    """
    countable = isinstance(ids, Tensor) and ids.dtype in (torch.int64, torch.int32)
    if not countable or ids.dim() != 2 or not ids.numel():
        what = f"{ids.dtype} {tuple(ids.shape)}" if isinstance(ids, Tensor) else type(ids).__name__
        raise ValueError(f"{name} must be integer ids (B, length), got {what}")
    if ids.shape[1] > max_len:
        raise ValueError(f"{name} must have at most max_len = {max_len} tokens a row, got {ids.shape[1]}")
    low, high = (int(end) for end in ids.aminmax())
    if low < 0 or high >= vocab_size:
        raise ValueError(f"{name} must hold ids in 0..{vocab_size - 1}, got {low}..{high}")


def real_tokens(name: str, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Tell real tokens from the padding behind them.

    Args:
        name: what a message calls the ids.
        ids: (B, length), PAD behind the end of each row and nowhere else.

    Returns:
        is_real, bool (B, length), and lengths (B,).

    Raises:
        ValueError: a row has padding only, or padding before its last token.
    """
    is_real = ids != PAD
    lengths = is_real.sum(dim=1)
    if int(lengths.min()) == 0:
        raise ValueError(
            f"{name} must have a token in every row, got only padding in row {_first(lengths == 0)}"
        )
    gaps = (is_real != (torch.arange(ids.shape[1], device=ids.device) < lengths[:, None])).any(dim=1)
    if bool(gaps.any()):
        raise ValueError(
            f"{name} must be padded behind its last token only, got padding before it in row {_first(gaps)}"
        )
    return is_real, lengths


def _first(found: Tensor) -> int:
    return int(found.nonzero()[0])
