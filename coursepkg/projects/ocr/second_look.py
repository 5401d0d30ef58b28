"""A second look at lines that were read with doubt, also called test-time augmentation: the picture in three widths.

A line that is squeezed or stretched a little says the same, but the network gets other numbers and makes other
mistakes. Every look gives candidates, every look scores all of them, and the mean of the scores, which are logarithms,
ranks a candidate.

Source: averaging a network's answers over variants of one picture, Krizhevsky, Sutskever and Hinton, "ImageNet
Classification with Deep Convolutional Neural Networks" (NeurIPS 2012), section 4.1; they average probabilities of
classes, and here log-probabilities of whole texts are averaged.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch

from coursepkg.arguments import check_share
from coursepkg.blocks.memory import Memory
from coursepkg.projects.ocr.data.images import resize_to_box
from coursepkg.projects.ocr.decode import encode_lines
from coursepkg.projects.ocr.model.recognizer import LineTransformer
from coursepkg.projects.ocr.readers import (
    Candidate,
    Reader,
    ctc_log_softmax,
    mixed,
    ranked,
    read_encoded,
    score_ctc,
    score_decoder,
)

UNSURE = 0.9
"""Confidence below which the joint reader looks again."""
LOOKS = (1.0, 0.9, 1.25)
"""Widths of the looks, as shares of the picture's own."""
BEAMS = 2
"""Least beams of a look, and candidates that it puts forward: what one thinks second best may win in the mean."""

AT_ONCE = 16
"""Lines that are looked at again together; each is several rows with several texts."""

Text = tuple[int, ...]


def again_below(reader: Reader, wanted: int | float | None) -> float:
    """Confidence below which a line is read again, 0 where none is: what is wanted, or None for the usual.

    Raises:
        ValueError: it is not in [0, 1], or this reader has no second look.
    """
    if wanted is None:
        return UNSURE if reader.kind == "joint" else 0.0
    check_share("second_look", wanted)
    if wanted and reader.kind != "joint":
        raise ValueError(f"second_look needs reader joint, got {reader.kind}; take joint, or second_look 0")
    return float(wanted)


@torch.inference_mode()
def look_again(
    model: LineTransformer,
    images: Sequence[np.ndarray],
    reader: Reader,
    n_best: int = 1,
    *,
    known: Sequence[Sequence[Text]] | None = None,
) -> list[list[Candidate]]:
    """Read some lines in several widths.

    A picture that is as wide as the model takes cannot become wider: it gets fewer looks.

    Args:
        model: in evaluation mode.
        images: uint8 (height, width) each, of the model's height and not wider than it takes.
        reader: a joint one.
        n_best: most candidates of a line.
        known: ids of texts by line that are candidates as well, those of the first look; they win ties.

    Returns:
        for each line its candidates, best first. Their log_prob is the mean over the looks; a text that one look
        cannot hold, because it has too few columns, has -inf.

    Raises:
        ValueError: the reader is not joint.
    """
    if reader.kind != "joint":
        raise ValueError(f"a second look needs the joint reader, got {reader.kind}")
    widely = replace(reader, beam_size=max(BEAMS, reader.beam_size))
    widths = [_widths(one.shape[1], model.config.max_width) for one in images]
    # All looks of all lines go through the network together: row k belongs to line lines[k].
    lines = [i for i, own in enumerate(widths) for _ in own]
    looks = [_at_width(image, width) for image, own in zip(images, widths, strict=True) for width in own]
    memory = encode_lines(model, looks)
    pools = [dict.fromkeys(own) for own in known or [[] for _ in images]]
    for i, found in zip(lines, read_encoded(model, memory, widely, widely.beam_size), strict=True):
        pools[i] |= dict.fromkeys(one.ids for one in found)
    texts = [[ids for ids in pool if len(ids) < model.config.max_len] for pool in pools]
    totals = [[0.0] * len(own) for own in texts]
    for i, scores in zip(lines, _scores(model, memory, [texts[i] for i in lines], reader), strict=True):
        totals[i] = [total + score for total, score in zip(totals[i], scores, strict=True)]
    return [
        ranked(own, [total / len(widths[i]) for total in totals[i]])[:n_best] for i, own in enumerate(texts)
    ]


def _widths(width: int, most: int) -> list[int]:
    """In pixels, each once."""
    return list(dict.fromkeys(min(most, max(1, round(width * share))) for share in LOOKS))


def _at_width(image: np.ndarray, width: int) -> np.ndarray:
    return image if image.shape[1] == width else resize_to_box(image, image.shape[0], width)


def _scores(
    model: LineTransformer, memory: Memory, texts: Sequence[Sequence[Text]], reader: Reader
) -> list[list[float]]:
    """The joint score of every text of every row."""
    by_ctc = score_ctc(ctc_log_softmax(model, memory), model.n_columns(memory), texts)
    by_decoder = iter(score_decoder(model, memory, [(i, ids) for i, own in enumerate(texts) for ids in own]))
    return [[mixed(next(by_decoder), value, reader.ctc_share) for value in own] for own in by_ctc]
