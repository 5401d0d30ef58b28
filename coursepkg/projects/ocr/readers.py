"""The three ways to read encoded lines, and what they have in common: candidates with a score and a confidence.

    ctc         the CTC head alone: no letter waits for the one before it
    attention   the decoder
    joint       both give candidates, and both score all of them:
                score = (1 - share) log p_decoder(text) + share log p_ctc(text)

The decoder knows how words are spelled and may skip or repeat where it loses its place; CTC goes along the line column
by column and cannot. A candidate that one of them thinks impossible loses.

Source: joint scoring, Watanabe et al., "Hybrid CTC/Attention Architecture" (IEEE JSTSP 11(8), 2017), section III.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from coursepkg.arguments import check_count, check_finite
from coursepkg.blocks.memory import Memory, trimmed
from coursepkg.decoding.hypothesis import Hypothesis
from coursepkg.projects.ocr.decode import length_limits, read_beam, read_greedy
from coursepkg.projects.ocr.model.ctc import beam_ctc, ctc_log_probs, greedy_ctc
from coursepkg.projects.ocr.model.recognizer import LineTransformer
from coursepkg.projects.ocr.recipe import READERS, Recipe
from coursepkg.text.vocabulary import BOS, EOS, PAD, UNK, pad_batch
from coursepkg.training.losses import to_float32

LINES_AT_ONCE = 32
"""Most lines that are read together, all padded to the longest of them. Callers sort them by width: of 64 sorted lines
43% of the columns were padding, of 32 a quarter."""


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
    """Greedy reading checks what CTC read, all letters at once, instead of writing letter by letter. The result is the
    same; off where the CTC head was never trained."""

    def __post_init__(self) -> None:
        if self.kind not in READERS:
            raise ValueError(f"reader must be one of {', '.join(READERS)}, got {self.kind!r}")
        check_count("beam_size", self.beam_size)
        for name in ("length_penalty", "ctc_share"):
            check_finite(name, getattr(self, name))
        if not 0 <= self.ctc_share <= 1:
            raise ValueError(f"ctc_share must be in [0, 1], got {self.ctc_share}")

    @classmethod
    def of(cls, recipe: Recipe) -> "Reader":
        """That of a recipe."""
        return cls(
            recipe.reader, recipe.beam_size, recipe.length_penalty, recipe.ctc_share, recipe.ctc_weight > 0
        )


@dataclass(frozen=True)
class Candidate:
    """A text that a line may hold."""

    ids: tuple[int, ...]
    """Its characters, without special tokens."""
    log_prob: float
    """By the reader: of CTC, of the decoder with EOS, or the joint score; after a second look its mean."""
    score: float
    """What ranks it: log_prob, after the length penalty in a beam search of the decoder alone."""
    n_scored: int
    """Tokens behind log_prob: the characters, and EOS where the text ended with it. Nothing behind the end counts."""

    @property
    def confidence(self) -> float:
        """Geometric mean of the probabilities of its tokens, in (0, 1]."""
        return math.exp(min(0.0, self.log_prob) / max(1, self.n_scored))


@torch.inference_mode()
def read_encoded(
    model: LineTransformer, memory: Memory, reader: Reader, n_best: int = 1
) -> list[list[Candidate]]:
    """For each encoded line its candidates, best first, at most `n_best` and fewer where fewer were found."""
    parts = [
        trimmed(memory, first, first + LINES_AT_ONCE)
        for first in range(0, len(memory.outputs), LINES_AT_ONCE)
    ]
    return [line[:n_best] for part in parts for line in _read_part(model, part, reader, n_best)]


def _read_part(model: LineTransformer, memory: Memory, reader: Reader, n_best: int) -> list[list[Candidate]]:
    is_drafted = reader.beam_size == 1 and reader.drafts
    log_probs = ctc_log_softmax(model, memory) if reader.kind != "attention" or is_drafted else None
    columns = model.n_columns(memory)
    if reader.kind == "ctc" and log_probs is not None:
        return _read_ctc(log_probs, columns, reader, n_best)
    if reader.kind == "joint" and log_probs is not None:
        return _read_joint(model, memory, log_probs, columns, reader)
    return _read_attention(model, memory, log_probs, columns, reader, n_best)


def ctc_log_softmax(model: LineTransformer, memory: Memory) -> Tensor:
    """(B, columns, V), without the special tokens that no text holds."""
    logits = to_float32(model.ctc_logits(memory))
    logits[..., [BOS, EOS, UNK]] = -torch.inf
    return logits.log_softmax(dim=-1)


def _read_ctc(log_probs: Tensor, columns: Tensor, reader: Reader, n_best: int = 1) -> list[list[Candidate]]:
    texts = _ctc_texts(log_probs, columns, reader.beam_size, min(n_best, reader.beam_size))
    scores = score_ctc(log_probs, columns, texts)
    return [ranked(own, values) for own, values in zip(texts, scores, strict=True)]


def _ctc_texts(
    log_probs: Tensor, columns: Tensor, beam_size: int, n_best: int
) -> list[list[tuple[int, ...]]]:
    if beam_size == 1:
        return [[draft.ids] for draft in greedy_ctc(log_probs, columns)]
    found = beam_ctc(log_probs.cpu(), columns, beam_size=beam_size, n_best=n_best)
    return [[draft.ids for draft in line] for line in found]


def _read_attention(
    model: LineTransformer,
    memory: Memory,
    log_probs: Tensor | None,
    columns: Tensor,
    reader: Reader,
    n_best: int,
) -> list[list[Candidate]]:
    hypotheses = _hypotheses(model, memory, log_probs, columns, reader, min(n_best, reader.beam_size))
    return [
        [_candidate(h.ids, h.log_prob, len(h.token_log_probs), h.score) for h in line] for line in hypotheses
    ]


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
            model, memory, beam_size=reader.beam_size, length_penalty=reader.length_penalty, n_best=n_best
        )
    drafts = None if log_probs is None else [draft.ids for draft in greedy_ctc(log_probs, columns)]
    return [[one] for one in read_greedy(model, memory, drafts)]


def _read_joint(
    model: LineTransformer, memory: Memory, log_probs: Tensor, columns: Tensor, reader: Reader
) -> list[list[Candidate]]:
    written = _hypotheses(model, memory, log_probs, columns, reader, reader.beam_size)
    drafts = _ctc_texts(log_probs, columns, reader.beam_size, reader.beam_size)
    most = length_limits(model, memory).tolist()
    known = [{h.ids: h.log_prob for h in line if h.finished} for line in written]
    texts: list[list[tuple[int, ...]]] = []
    for own, hypotheses, drafted, limit in zip(known, written, drafts, most, strict=True):
        fitting = [ids for ids in drafted if len(ids) < limit]
        # Where neither has a whole text, what the limit cut off is all there is.
        texts.append(list(dict.fromkeys([*own, *fitting])) or [hypotheses[0].ids[: limit - 1]])
    missing = [(i, ids) for i, own in enumerate(texts) for ids in own if ids not in known[i]]
    for (i, ids), value in zip(missing, score_decoder(model, memory, missing), strict=True):
        known[i][ids] = value
    found = []
    for candidates, by_decoder, by_ctc in zip(
        texts, known, score_ctc(log_probs, columns, texts), strict=True
    ):
        scores = [
            mixed(by_decoder[ids], c, reader.ctc_share) for ids, c in zip(candidates, by_ctc, strict=True)
        ]
        found.append(ranked(candidates, scores))
    return found


def mixed(decoder: float, ctc: float, share: float) -> float:
    """The joint score of log p by the decoder and log p by CTC, whose share is in [0, 1]."""
    # A share of 0 silences a reader, even one that thinks the text impossible.
    return (0.0 if share == 1 else (1 - share) * decoder) + (0.0 if share == 0 else share * ctc)


def score_ctc(
    log_probs: Tensor, columns: Tensor, texts: Sequence[Sequence[tuple[int, ...]]]
) -> list[list[float]]:
    """log p(text) by CTC, for several texts a line."""
    lines = [i for i, own in enumerate(texts) for _ in own]
    if lines != list(range(len(texts))):  # columns are copied only where a line has several texts
        log_probs, columns = log_probs[lines], columns[lines]
    values = iter(ctc_log_probs(log_probs, columns, [ids for own in texts for ids in own]).tolist())
    return [[next(values) for _ in own] for own in texts]


def score_decoder(
    model: LineTransformer, memory: Memory, wanted: Sequence[tuple[int, tuple[int, ...]]]
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


def ranked(texts: Sequence[tuple[int, ...]], log_probs: Sequence[float]) -> list[Candidate]:
    """Whole texts of a line with their log-probabilities, EOS included, as candidates, best first."""
    found = [_candidate(ids, value, len(ids) + 1) for ids, value in zip(texts, log_probs, strict=True)]
    return sorted(found, key=lambda one: -one.score)


def _candidate(ids: Sequence[int], log_prob: float, n_scored: int, score: float | None = None) -> Candidate:
    return Candidate(tuple(ids), log_prob, log_prob if score is None else score, n_scored)
