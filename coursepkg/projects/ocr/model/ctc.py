"""Connectionist temporal classification: a text from one distribution a column.

    columns   - h h - e - l l - l o o      a path: one symbol a column, - is the blank
    text        h     e   l     l o        repeats are merged, then blanks are dropped

p(text) is the sum over all paths that read as the text. `path_log_prob` adds it up by
the forward algorithm in its plainest form; training uses PyTorch's `ctc_loss`, which
computes the same with its gradient.

Source: Graves et al., "Connectionist Temporal Classification" (ICML 2006), sections 3
and 4.1; the prefix search is that of Hannun et al. (arXiv 1408.2873), algorithm 1,
without a language model.
"""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional as F

from coursepkg.validation import check_count

BLANK = 0
"""Class of the blank: PAD, which no text holds."""


class Draft(NamedTuple):
    """A text that CTC read."""

    ids: tuple[int, ...]
    """Its characters."""
    log_prob: float
    """Natural logarithm of what its paths have together, as far as the search saw them;
    of the one best path where nothing was searched."""


def greedy_ctc(log_probs: Tensor, lengths: Tensor) -> list[Draft]:
    """The best symbol of every column; repeats merged, blanks dropped.

    Args:
        log_probs: (B, columns, V); tokens that no text holds, such as EOS, are the
            caller's to mask.
        lengths: (B,) columns that count.
    """
    best, symbols = log_probs.max(dim=-1)  # (B, columns)
    counts = torch.arange(symbols.shape[1], device=symbols.device) < lengths[:, None]
    repeats = F.pad(symbols[:, 1:] == symbols[:, :-1], (1, 0))
    kept = counts & ~repeats & (symbols != BLANK)
    totals = best.masked_fill(~counts, 0.0).sum(dim=1).tolist()
    return [
        Draft(tuple(row[keep].tolist()), total)
        for row, keep, total in zip(symbols, kept, totals, strict=True)
    ]


def beam_ctc(
    log_probs: Tensor,
    lengths: Tensor,
    *,
    beam_size: int = 8,
    n_best: int = 1,
    n_symbols: int = 12,
) -> list[list[Draft]]:
    """Prefix beam search: the texts whose paths together are most probable.

    A prefix keeps two sums: of its paths that end in a blank, and of those that end in
    its last character. Only behind a blank does the same character begin anew.

    Args:
        log_probs: (B, columns, V), normalised.
        lengths: (B,) columns that count.
        beam_size: prefixes that go on from column to column.
        n_best: texts of each line, at most `beam_size`.
        n_symbols: most probable symbols of a column that are looked at, the blank
            besides.

    Returns:
        for each line its texts, best first.

    Raises:
        ValueError: a number is out of range.
    """
    check_count("beam_size", beam_size)
    check_count("n_best", n_best, most=beam_size)
    check_count("n_symbols", n_symbols)
    tops = log_probs.topk(min(n_symbols, log_probs.shape[-1]), dim=-1)
    values, symbols = tops.values.tolist(), tops.indices.tolist()
    blanks = log_probs[..., BLANK].tolist()
    return [
        _search(values[b][:n], symbols[b][:n], blanks[b][:n], beam_size)[:n_best]
        for b, n in enumerate(lengths.tolist())
    ]


def _search(
    values: list[list[float]],
    symbols: list[list[int]],
    blanks: list[float],
    beam_size: int,
) -> list[Draft]:
    """One line: (columns, n_symbols) log-probabilities, and (columns,) of the blank."""
    beams: dict[tuple[int, ...], tuple[float, float]] = {(): (0.0, -math.inf)}
    for column, names, blank in zip(values, symbols, blanks, strict=True):
        ends_blank: dict[tuple[int, ...], float] = defaultdict(lambda: -math.inf)
        ends_char: dict[tuple[int, ...], float] = defaultdict(lambda: -math.inf)
        for prefix, (by_blank, by_char) in beams.items():
            both = _add(by_blank, by_char)
            ends_blank[prefix] = _add(ends_blank[prefix], both + blank)
            for value, name in zip(column, names, strict=True):
                if name == BLANK:
                    continue
                longer = (*prefix, name)
                if prefix and prefix[-1] == name:
                    ends_char[prefix] = _add(ends_char[prefix], by_char + value)
                    ends_char[longer] = _add(ends_char[longer], by_blank + value)
                else:
                    ends_char[longer] = _add(ends_char[longer], both + value)
        found = {
            prefix: (ends_blank[prefix], ends_char[prefix])
            for prefix in {**ends_blank, **ends_char}
        }
        ranked = sorted(found.items(), key=lambda item: (-_add(*item[1]), item[0]))
        beams = dict(ranked[:beam_size])
    return [Draft(prefix, _add(*sums)) for prefix, sums in beams.items()]


def _add(a: float, b: float) -> float:
    """log(exp(a) + exp(b))."""
    if a < b:
        a, b = b, a
    return a if b == -math.inf else a + math.log1p(math.exp(b - a))


def path_log_prob(log_probs: Tensor, text: Sequence[int]) -> Tensor:
    """log p(text): the forward algorithm on one line, written to be read.

        extended   - h - e - l - l - o -         the text with blanks: 2 n + 1 places
        alpha_t(s) = p_t(extended_s) * (alpha_{t-1}(s) + alpha_{t-1}(s - 1) +
        alpha_{t-1}(s - 2))

    The last term jumps over a blank, which is allowed between two different characters
    only.

    Args:
        log_probs: (columns, V).
        text: ids, none of them the blank.

    Returns:
        a tensor of no dimension; -inf where the text does not fit into the columns. It
        can be differentiated.
    """
    extended = torch.tensor(
        [BLANK, *(i for character in text for i in (character, BLANK))]
    )
    jumps = torch.zeros(len(extended), dtype=torch.bool)
    jumps[2:] = (extended[2:] != BLANK) & (extended[2:] != extended[:-2])
    nothing = log_probs.new_tensor(-math.inf)
    alpha = torch.where(
        torch.arange(len(extended)) < 2, log_probs[0, extended], nothing
    )
    for column in log_probs[1:]:
        one_back = torch.cat([nothing[None], alpha[:-1]])
        two_back = torch.cat([nothing[None], nothing[None], alpha])[: len(extended)]
        ways = torch.stack([alpha, one_back, torch.where(jumps, two_back, nothing)])
        alpha = _log_sum(ways) + column[extended]
    return _log_sum(alpha[-2:, None])[0] if len(text) else alpha[0]


def _log_sum(x: Tensor) -> Tensor:
    """logsumexp over the first dimension; -inf without NaN where no way leads."""
    none = (x == -math.inf).all(dim=0)
    return torch.where(none, -math.inf, x.masked_fill(none, 0.0).logsumexp(dim=0))


def ctc_log_probs(
    log_probs: Tensor, lengths: Tensor, texts: Sequence[Sequence[int]]
) -> Tensor:
    """log p(text) of one text a line (B,); -inf where it does not fit.

    Args:
        log_probs: (B, columns, V), normalised.
        lengths: (B,) columns that count.
        texts: B lists of ids, none of them the blank.
    """
    device, ids = log_probs.device, [i for text in texts for i in text]
    flat = torch.tensor(ids, dtype=torch.int64, device=device)
    sizes = torch.tensor([len(text) for text in texts], device=device)
    return -F.ctc_loss(
        log_probs.transpose(0, 1), flat, lengths, sizes, blank=BLANK, reduction="none"
    )
