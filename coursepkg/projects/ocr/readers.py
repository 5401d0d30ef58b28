"""The three ways to read encoded lines, and test-time augmentation of doubtful ones.

    ctc         the CTC head alone: no letter waits for the one before it
    attention   the decoder
    joint       both give candidates, and both score all of them:
                score = (1 - share) log p_decoder(text) + share log p_ctc(text)

The decoder knows how words are spelled and may skip or repeat; CTC goes along the line
column by column and cannot. A candidate that one of them thinks impossible loses.

Lines that were read with doubt are read again in four widths. Every width gives
candidates and scores all of them, and the mean of the scores ranks a candidate.

Source: joint scoring, Watanabe et al., "Hybrid CTC/Attention Architecture" (IEEE JSTSP
11(8), 2017), section III. Averaging over variants of a picture, Krizhevsky, Sutskever
and Hinton, "ImageNet Classification with Deep Convolutional Neural Networks" (NeurIPS
2012), section 4.1; they average probabilities of classes, here log-probabilities of
texts are averaged.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from coursepkg.blocks.cache import Memory, trimmed
from coursepkg.blocks.norm import to_float32
from coursepkg.decoding.step import Hypothesis
from coursepkg.projects.ocr.data.images import resize_to_box
from coursepkg.projects.ocr.decode import (
    encode_lines,
    length_limits,
    read_beam,
    read_greedy,
)
from coursepkg.projects.ocr.model.ctc import beam_ctc, ctc_log_probs, greedy_ctc
from coursepkg.projects.ocr.model.recognizer import LineTransformer
from coursepkg.projects.ocr.recipe import READERS, Recipe
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK, pad_batch
from coursepkg.validation import check_count, check_finite, check_share

LINES_AT_ONCE = 32
"""Most lines that are read together, all padded to the longest of them. Callers sort
them by width: of 64 sorted lines 43% of the columns were padding, of 32 a quarter."""


@dataclass(frozen=True)
class Reader:
    """How to read; the defaults are a recipe's."""

    kind: str = "joint"
    """One of `READERS`."""
    beam_size: int = 1
    """Beams; 1 is greedy."""
    length_penalty: float = 0.6
    """Exponent of the decoder's length penalty in beam search."""
    ctc_share: float = 0.3
    """Share of CTC in the joint score, in [0, 1]."""
    drafts: bool = True
    """Greedy reading checks what CTC read, all letters at once, instead of writing
    letter by letter. The result is the same; off where the CTC head was never
    trained."""

    def __post_init__(self) -> None:
        if self.kind not in READERS:
            raise ValueError(
                f"reader must be one of {', '.join(READERS)}, got {self.kind!r}"
            )
        check_count("beam_size", self.beam_size)
        for name in ("length_penalty", "ctc_share"):
            check_finite(name, getattr(self, name))
        if not 0 <= self.ctc_share <= 1:
            raise ValueError(f"ctc_share must be in [0, 1], got {self.ctc_share}")

    @classmethod
    def of(cls, recipe: Recipe) -> "Reader":
        """That of a recipe."""
        return cls(
            recipe.reader,
            recipe.beam_size,
            recipe.length_penalty,
            recipe.ctc_share,
            recipe.ctc_weight > 0,
        )


@dataclass(frozen=True)
class Candidate:
    """A text that a line may hold."""

    ids: tuple[int, ...]
    """Its characters, without special tokens."""
    log_prob: float
    """By the reader: of CTC, of the decoder with EOS, or the joint score; after a
    second look its mean."""
    score: float
    """What ranks it: log_prob, after the length penalty in a beam search of the decoder
    alone."""
    n_scored: int
    """Tokens behind log_prob: the characters, and EOS where the text ended with it.
    Nothing behind the end counts."""

    @property
    def confidence(self) -> float:
        """Geometric mean of the probabilities of its tokens, in (0, 1]."""
        return math.exp(min(0.0, self.log_prob) / max(1, self.n_scored))


@torch.inference_mode()
def read_encoded(
    model: LineTransformer, memory: Memory, reader: Reader, n_best: int = 1
) -> list[list[Candidate]]:
    """For each encoded line at most `n_best` candidates, best first."""
    found: list[list[Candidate]] = []
    for first in range(0, len(memory.outputs), LINES_AT_ONCE):
        part = trimmed(memory, first, first + LINES_AT_ONCE)
        found += _read_part(model, part, reader, n_best)
    return [line[:n_best] for line in found]


def _read_part(
    model: LineTransformer, memory: Memory, reader: Reader, n_best: int
) -> list[list[Candidate]]:
    is_drafted = reader.beam_size == 1 and reader.drafts
    n_best, columns = min(n_best, reader.beam_size), model.n_columns(memory)
    log_probs = None
    if reader.kind != "attention" or is_drafted:
        log_probs = ctc_log_softmax(model, memory)
    if reader.kind == "ctc" and log_probs is not None:
        return read_ctc(log_probs, columns, reader.beam_size, n_best)
    if reader.kind == "joint" and log_probs is not None:
        return _read_joint(model, memory, log_probs, columns, reader)
    return [
        [_candidate(h.ids, h.log_prob, len(h.token_log_probs), h.score) for h in line]
        for line in _hypotheses(model, memory, log_probs, columns, reader, n_best)
    ]


def ctc_log_softmax(model: LineTransformer, memory: Memory) -> Tensor:
    """(B, columns, V), without the special tokens that no text holds."""
    logits = to_float32(model.ctc_logits(memory))
    logits[..., [BOS, EOS, UNK]] = -torch.inf
    return logits.log_softmax(dim=-1)


def read_ctc(
    log_probs: Tensor, columns: Tensor, beam_size: int = 1, n_best: int = 1
) -> list[list[Candidate]]:
    """What CTC reads by itself: for each line at most `n_best` texts, best first.

    Args:
        log_probs: (B, columns, V), normalised; a token that no text holds is never
            probable.
        columns: (B,) columns that count.
        beam_size: beams of the search; 1 is greedy.
        n_best: at most `beam_size`.
    """
    texts = _ctc_texts(log_probs, columns, beam_size, n_best)
    scores = score_ctc(log_probs, columns, texts)
    return [ranked(own, values) for own, values in zip(texts, scores, strict=True)]


def _ctc_texts(
    log_probs: Tensor, columns: Tensor, beam_size: int, n_best: int
) -> list[list[tuple[int, ...]]]:
    if beam_size == 1:
        return [[draft.ids] for draft in greedy_ctc(log_probs, columns)]
    found = beam_ctc(log_probs.cpu(), columns, beam_size=beam_size, n_best=n_best)
    return [[draft.ids for draft in line] for line in found]


def _hypotheses(
    model: LineTransformer,
    memory: Memory,
    log_probs: Tensor | None,
    columns: Tensor,
    reader: Reader,
    n_best: int,
) -> list[list[Hypothesis]]:
    if reader.beam_size > 1:
        return read_beam(
            model,
            memory,
            beam_size=reader.beam_size,
            length_penalty=reader.length_penalty,
            n_best=n_best,
        )
    drafts = None
    if log_probs is not None:
        drafts = [draft.ids for draft in greedy_ctc(log_probs, columns)]
    return [[one] for one in read_greedy(model, memory, drafts)]


def _read_joint(
    model: LineTransformer,
    memory: Memory,
    log_probs: Tensor,
    columns: Tensor,
    reader: Reader,
) -> list[list[Candidate]]:
    written = _hypotheses(model, memory, log_probs, columns, reader, reader.beam_size)
    drafts = _ctc_texts(log_probs, columns, reader.beam_size, reader.beam_size)
    most = length_limits(model, memory).tolist()
    known = [{h.ids: h.log_prob for h in line if h.finished} for line in written]
    texts: list[list[tuple[int, ...]]] = []
    lines = zip(known, written, drafts, most, strict=True)
    for own, hypotheses, drafted, limit in lines:
        fitting = [ids for ids in drafted if len(ids) < limit]
        # Where neither has a whole text, what the limit cut off is all there is.
        cut_off = [hypotheses[0].ids[: limit - 1]]
        texts.append(list(dict.fromkeys([*own, *fitting])) or cut_off)
    missing = [
        (i, ids) for i, own in enumerate(texts) for ids in own if ids not in known[i]
    ]
    by_decoder = score_decoder(model, memory, missing)
    for (i, ids), value in zip(missing, by_decoder, strict=True):
        known[i][ids] = value
    found, by_ctc = [], score_ctc(log_probs, columns, texts)
    for candidates, own, values in zip(texts, known, by_ctc, strict=True):
        both = zip(candidates, values, strict=True)
        scores = [mixed(own[ids], value, reader.ctc_share) for ids, value in both]
        found.append(ranked(candidates, scores))
    return found


def mixed(decoder: float, ctc: float, share: float) -> float:
    """The joint score of log p by decoder and CTC, whose share is in [0, 1]."""
    # A share of 0 silences a reader, even one that thinks the text impossible.
    by_decoder = 0.0 if share == 1 else (1 - share) * decoder
    return by_decoder + (0.0 if share == 0 else share * ctc)


def score_ctc(
    log_probs: Tensor, columns: Tensor, texts: Sequence[Sequence[tuple[int, ...]]]
) -> list[list[float]]:
    """log p(text) by CTC, for several texts a line."""
    lines = [i for i, own in enumerate(texts) for _ in own]
    if lines != list(range(len(texts))):
        # Columns are copied only where a line has several texts.
        log_probs, columns = log_probs[lines], columns[lines]
    flat = [ids for own in texts for ids in own]
    values = iter(ctc_log_probs(log_probs, columns, flat).tolist())
    return [[next(values) for _ in own] for own in texts]


def score_decoder(
    model: LineTransformer,
    memory: Memory,
    wanted: Sequence[tuple[int, tuple[int, ...]]],
) -> list[float]:
    """log p(text, EOS) by the decoder, for pairs of a line's number and a text."""
    if not wanted:
        return []
    device = memory.outputs.device
    lines = torch.tensor([i for i, _ in wanted], device=device)
    inputs = pad_batch([[BOS, *ids] for _, ids in wanted])[0].to(device)
    targets = pad_batch([[*ids, EOS] for _, ids in wanted])[0].to(device)
    # Keys and values of the columns are the same for all texts of a line.
    logits = to_float32(model.decode(inputs, model.decoder.read(memory).select(lines)))
    logits[..., [PAD, BOS, UNK]] = -torch.inf
    chosen = logits.log_softmax(dim=-1).gather(-1, targets[..., None])[..., 0]
    totals: list[float] = chosen.masked_fill(targets == PAD, 0.0).sum(dim=1).tolist()
    return totals


def ranked(
    texts: Sequence[tuple[int, ...]], log_probs: Sequence[float]
) -> list[Candidate]:
    """Whole texts of a line with their log-probabilities as candidates, best first."""
    found = [
        _candidate(ids, value, len(ids) + 1)
        for ids, value in zip(texts, log_probs, strict=True)
    ]
    return sorted(found, key=lambda one: -one.score)


def _candidate(
    ids: Sequence[int], log_prob: float, n_scored: int, score: float | None = None
) -> Candidate:
    return Candidate(
        tuple(ids), log_prob, log_prob if score is None else score, n_scored
    )


TTA_BELOW = 0.92
"""Confidence below which the joint reader looks again."""
TTA_WIDTHS = (1.0, 0.85, 1.2, 1.4)
"""Widths of the looks, as shares of the picture's own."""
TTA_BEAMS = 2
"""Least beams of a look, and candidates that it puts forward: what one thinks second
best may win in the mean."""

TTA_LINES = 16
"""Lines that are looked at again together; each is several rows with several texts."""

Text = tuple[int, ...]


def tta_threshold(reader: Reader, wanted: int | float | None) -> float:
    """Confidence below which a line is read again: what is wanted, or the usual.

    Raises:
        ValueError: it is not in [0, 1], or this reader has no second look.
    """
    if wanted is None:
        return TTA_BELOW if reader.kind == "joint" else 0.0
    check_share("second_look", wanted)
    if wanted and reader.kind != "joint":
        raise ValueError(
            f"second_look needs reader joint, got {reader.kind}; take joint, or"
            " second_look 0"
        )
    return float(wanted)


@torch.inference_mode()
def read_augmented(
    model: LineTransformer,
    images: Sequence[np.ndarray],
    reader: Reader,
    n_best: int = 1,
    *,
    known: Sequence[Sequence[Text]] | None = None,
) -> list[list[Candidate]]:
    """Read some lines in several widths.

    A picture that is as wide as the model takes cannot become wider: it gets fewer
    looks.

    Args:
        model: in evaluation mode.
        images: uint8 (height, width) each, of the model's height and not wider than it
            takes.
        reader: a joint one.
        n_best: most candidates of a line.
        known: ids of texts by line that are candidates as well, those of the first
            look; they win ties.

    Returns:
        for each line its candidates, best first. Their log_prob is the mean over the
        looks; a text that one look cannot hold, because it has too few columns, has
        -inf.

    Raises:
        ValueError: the reader is not joint.
    """
    if reader.kind != "joint":
        raise ValueError(f"a second look needs the joint reader, got {reader.kind}")
    widely = replace(reader, beam_size=max(TTA_BEAMS, reader.beam_size))
    widths = [_widths(one.shape[1], model.config.max_width) for one in images]
    # All looks of all lines go through the network together: row k belongs to line
    # lines[k].
    lines = [i for i, own in enumerate(widths) for _ in own]
    looks = [
        image
        if image.shape[1] == width
        else resize_to_box(image, image.shape[0], width)
        for image, own in zip(images, widths, strict=True)
        for width in own
    ]
    memory = encode_lines(model, looks)
    pools = [dict.fromkeys(own) for own in known or [[] for _ in images]]
    readings = read_encoded(model, memory, widely, widely.beam_size)
    for i, found in zip(lines, readings, strict=True):
        pools[i] |= dict.fromkeys(one.ids for one in found)
    texts = [[ids for ids in pool if len(ids) < model.config.max_len] for pool in pools]
    totals = [[0.0] * len(own) for own in texts]
    by_look = _scores(model, memory, [texts[i] for i in lines], reader)
    for i, scores in zip(lines, by_look, strict=True):
        totals[i] = [a + b for a, b in zip(totals[i], scores, strict=True)]
    return [
        ranked(own, [total / len(widths[i]) for total in totals[i]])[:n_best]
        for i, own in enumerate(texts)
    ]


def _widths(width: int, most: int) -> list[int]:
    """In pixels, each once."""
    wanted = (min(most, max(1, round(width * share))) for share in TTA_WIDTHS)
    return list(dict.fromkeys(wanted))


def _scores(
    model: LineTransformer,
    memory: Memory,
    texts: Sequence[Sequence[Text]],
    reader: Reader,
) -> list[list[float]]:
    """The joint score of every text of every row."""
    by_ctc = score_ctc(ctc_log_softmax(model, memory), model.n_columns(memory), texts)
    wanted = [(i, ids) for i, own in enumerate(texts) for ids in own]
    by_decoder = iter(score_decoder(model, memory, wanted))
    return [
        [mixed(next(by_decoder), value, reader.ctc_share) for value in own]
        for own in by_ctc
    ]
