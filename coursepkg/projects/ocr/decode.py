"""From pictures to texts: encode by width, then search with the decoder.

Greedy search need not go letter by letter (speculative decoding). CTC drafts the whole
text; one pass of the decoder over the draft says at every place what it would have
written there. Where both agree, greedy decoding is done; else the draft is corrected at
the first difference and checked again. The result is that of greedy decoding, token for
token.

Source: Leviathan et al., "Fast Inference from Transformers via Speculative Decoding"
(arXiv 2211.17192), section 2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from coursepkg.blocks.cache import CrossCache, Memory
from coursepkg.blocks.norm import to_float32
from coursepkg.decoding.beam import beam_search
from coursepkg.decoding.filters import Forbid
from coursepkg.decoding.generate import greedy
from coursepkg.decoding.step import Hypothesis
from coursepkg.projects.ocr.line import bucket_width, pad_images
from coursepkg.projects.ocr.model.recognizer import LineTransformer
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK, pad_batch

NEVER = Forbid((PAD, BOS, UNK))
"""What the decoder must not write."""
READING_STEP = 64
"""Widths are rounded up to a multiple of this before reading. It is wider than in
training, since new lines bring new widths, and a CPU builds its kernels anew for each
size of a batch: with 32 unseen lines took a quarter longer to read, lines of known
sizes a tenth."""
EXTRA_LENGTH = 8
"""Characters by which a text may be longer than its line has columns."""
ROUNDS = 4
"""Times that a draft is mended before the rest is decoded letter by letter."""


@torch.inference_mode()
def encode_lines(
    model: LineTransformer, images: Sequence[np.ndarray], max_columns: int = 16384
) -> Memory:
    """Encode pictures, each padded to a width that it chooses alone.

    Args:
        model: in evaluation mode.
        images: uint8 (height, width) each, of the model's height.
        max_columns: most columns of pixels that go through the network at once.

    Returns:
        outputs (B, S, E), a row for each picture in order and S the length of the
        longest, and which steps of it are real (B, S).
    """
    device = next(model.parameters()).device
    buckets: dict[int, list[int]] = {}
    for i, image in enumerate(images):
        width = bucket_width(image.shape[1], READING_STEP)
        buckets.setdefault(min(width, model.config.max_width), []).append(i)
    parts, order = [], []
    for width, members in sorted(buckets.items()):
        size = max(1, max_columns // width)
        for first in range(0, len(members), size):
            chosen = members[first : first + size]
            pixels, widths = pad_images([images[i] for i in chosen], width)
            parts.append(model.encode(pixels.to(device), widths.to(device)))
            order += chosen
    return _in_order(parts, order)


def _in_order(parts: Sequence[Memory], order: Sequence[int]) -> Memory:
    """Encoded batches of several lengths as one, in the order of the lines."""
    longest = max(part.is_real.shape[1] for part in parts)
    first = parts[0].outputs
    outputs = first.new_zeros(len(order), longest, first.shape[2])
    is_real = torch.zeros(len(order), longest, dtype=torch.bool, device=first.device)
    places = torch.tensor(order, device=first.device)
    start = 0
    for part in parts:
        rows, n_steps = places[start : start + len(part.outputs)], part.is_real.shape[1]
        outputs[rows, :n_steps], is_real[rows, :n_steps] = part.outputs, part.is_real
        start += len(rows)
    return Memory(outputs, is_real)


def length_limits(model: LineTransformer, memory: Memory) -> Tensor:
    """Most ids of each line (B,), EOS included, by its own columns."""
    return (model.n_columns(memory) + EXTRA_LENGTH).clamp(max=model.config.max_len - 1)


@torch.inference_mode()
def read_greedy(
    model: LineTransformer,
    memory: Memory,
    drafts: Sequence[Sequence[int]] | None = None,
) -> list[Hypothesis]:
    """The decoder's greedy reading.

    Args:
        model: in evaluation mode.
        memory: from `encode_lines`.
        drafts: a guess of each line's ids; None decodes letter by letter.
    """
    limits = length_limits(model, memory)
    if drafts is None:
        state = model.start(memory, max_len=int(limits.max()) + 1)
        return greedy(state, max_len=limits, filters=[NEVER])
    source, most = model.decoder.read(memory), limits.tolist()
    rows = [
        _Row(i, [], [], list(draft[: n - 1]))
        for i, (draft, n) in enumerate(zip(drafts, most, strict=True))
    ]
    found: list[Hypothesis | None] = [None] * len(rows)
    for _ in range(ROUNDS):
        if rows:
            rows = _verify_drafts(model, source, rows, most, found)
    if rows:
        _write_on(model, memory, rows, most, found)
    return [one for one in found if one is not None]


def read_beam(
    model: LineTransformer,
    memory: Memory,
    *,
    beam_size: int,
    length_penalty: float = 0.6,
    n_best: int = 1,
) -> list[list[Hypothesis]]:
    """The decoder's beam search: for each line its readings, best first."""
    limits = length_limits(model, memory)
    state = model.start(memory, max_len=int(limits.max()) + 1)
    return beam_search(
        state,
        beam_size=beam_size,
        max_len=limits,
        length_penalty=length_penalty,
        n_best=n_best,
        filters=[NEVER],
    )


@dataclass
class _Row:
    """A line whose draft is being checked."""

    line: int
    """Its number."""
    ids: list[int]
    """What the decoder is known to write."""
    log_probs: list[float]
    """Of these ids."""
    tail: list[int]
    """What the draft says behind them."""


def _verify_drafts(
    model: LineTransformer,
    source: CrossCache,
    rows: Sequence[_Row],
    most: Sequence[int],
    found: list[Hypothesis | None],
) -> list[_Row]:
    """One decoder pass over all drafts; the accepted go to `found`."""
    inputs, _ = pad_batch([[BOS, *row.ids, *row.tail] for row in rows])
    device = source.keys[0].device
    if len(rows) < len(source.keys[0]):
        source = source.select(torch.tensor([row.line for row in rows], device=device))
    logits = to_float32(model.decode(inputs.to(device), source))
    logits[..., list(NEVER.ids)] = -torch.inf
    best, choices = logits.log_softmax(dim=-1).max(dim=-1)
    open_rows = []
    found_ids = zip(rows, best.tolist(), choices.tolist(), strict=True)
    for row, log_probs, chosen in found_ids:
        ended = _take(row, log_probs, chosen, most[row.line])
        if ended is None:
            open_rows.append(row)
        else:
            found[row.line] = ended
    return open_rows


def _take(
    row: _Row, log_probs: Sequence[float], chosen: Sequence[int], most: int
) -> Hypothesis | None:
    """Accept ids up to the first difference from the draft; the result if it ends."""
    for place in range(len(row.ids), len(row.ids) + len(row.tail) + 1):
        token = chosen[place]
        row.log_probs.append(log_probs[place])
        if token == EOS:
            return _ended(row, finished=True)
        row.ids.append(token)
        if len(row.ids) == most:
            return _ended(row, finished=False)
        drafted = row.tail.pop(0) if row.tail else None
        if token != drafted:
            if row.tail and row.tail[0] == token:  # the draft had a character too many
                row.tail.pop(0)
            row.tail = row.tail[: most - 1 - len(row.ids)]
            return None
    raise AssertionError("a draft ends with EOS or with another choice")


def _write_on(
    model: LineTransformer,
    memory: Memory,
    rows: Sequence[_Row],
    most: Sequence[int],
    found: list[Hypothesis | None],
) -> None:
    """Decode the rest of some lines letter by letter."""
    lines = [row.line for row in rows]
    mine = Memory(memory.outputs[lines], memory.is_real[lines])
    state = model.start(mine, max_len=max(most) + 1)
    left = [most[row.line] - len(row.ids) for row in rows]
    room, known = torch.tensor(left, device=state.device), [row.ids for row in rows]
    rests = greedy(state, max_len=room, prefix=known, filters=[NEVER])
    for row, rest in zip(rows, rests, strict=True):
        row.ids += rest.ids
        row.log_probs += rest.token_log_probs
        found[row.line] = _ended(row, finished=rest.finished)


def _ended(row: _Row, finished: bool) -> Hypothesis:
    total = sum(row.log_probs)
    return Hypothesis(tuple(row.ids), tuple(row.log_probs), total, total, finished)
