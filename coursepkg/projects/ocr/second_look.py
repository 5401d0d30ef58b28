"""A second look at lines that were read with doubt: the same picture narrower, and wider.

Squeezed or stretched a little, a line says the same to us, while the network sees other numbers and makes other
mistakes. Every look gives candidates, every look scores all of them, and the mean of its scores ranks a candidate.

Source: the mean of a network's answers to variants of one picture, Krizhevsky, Sutskever and Hinton, "ImageNet
Classification with Deep Convolutional Neural Networks" (NeurIPS 2012), section 4.1.
"""

from collections.abc import Sequence

import numpy as np
import torch

from coursepkg.arguments import check_finite
from coursepkg.blocks.memory import Memory
from coursepkg.projects.ocr.data.images import resize_to_box
from coursepkg.projects.ocr.decode import encode_lines, length_limits
from coursepkg.projects.ocr.model.recognizer import LineTransformer
from coursepkg.projects.ocr.readers import (
    Candidate,
    Reader,
    candidate_of,
    ctc_log_softmax,
    mixed,
    read_encoded,
    score_ctc,
    score_decoder,
)

UNSURE = 0.9
"""Confidence below which the joint reader looks again."""
LOOKS = (1.0, 0.9, 1.25)
"""Widths of the looks, as shares of the picture's own."""
BEAMS = 4
"""Least beams of a look: candidates that one look thinks second best may win in the mean."""

Text = tuple[int, ...]


def again_below(reader: Reader, wanted: int | float | None) -> float:
    """Confidence below which a line is read again, 0 where none is: what is wanted, or None for the usual.

    Raises:
        ValueError: it is not in [0, 1], or this reader has no second look.
    """
    if wanted is None:
        return UNSURE if reader.kind == "joint" else 0.0
    check_finite("second_look", wanted)
    if not 0 <= wanted <= 1:
        raise ValueError(f"second_look must be in [0, 1], got {wanted}")
    if wanted and reader.kind != "joint":
        raise ValueError(f"second_look needs reader joint, got {reader.kind}; take joint, or second_look 0")
    return float(wanted)


@torch.inference_mode()
def look_again(
    model: LineTransformer, images: Sequence[np.ndarray], reader: Reader, n_best: int = 1
) -> list[list[Candidate]]:
    """Read some lines in several widths.

    Args:
        model: in evaluation mode.
        images: uint8 (height, width) each, of the model's height and not wider than it takes.
        reader: a joint one.
        n_best: most candidates of a line.

    Returns:
        for each line its candidates, best first. Their log_prob is the mean over the looks.

    Raises:
        ValueError: the reader is not joint.
    """
    if reader.kind != "joint":
        raise ValueError(f"a second look needs the joint reader, got {reader.kind}")
    widely = Reader("joint", max(BEAMS, reader.beam_size), reader.length_penalty, reader.ctc_share)
    memories = [encode_lines(model, [_at_width(one, share, model) for one in images]) for share in LOOKS]
    most = torch.stack([length_limits(model, memory) for memory in memories]).amin(dim=0).tolist()
    texts: list[dict[Text, None]] = [{} for _ in images]
    for memory in memories:
        found = read_encoded(model, memory, widely, widely.beam_size)
        for own, line, limit in zip(texts, found, most, strict=True):
            own |= dict.fromkeys(one.ids for one in line if len(one.ids) < limit)
    pools = [list(own) or [()] for own in texts]
    scores = [_scores(model, memory, pools, reader.ctc_share) for memory in memories]
    ranked = []
    for i, pool in enumerate(pools):
        means = [sum(look[i][j] for look in scores) / len(scores) for j in range(len(pool))]
        both = [candidate_of(ids, mean, len(ids) + 1) for ids, mean in zip(pool, means, strict=True)]
        ranked.append(sorted(both, key=lambda one: -one.score)[:n_best])
    return ranked


def _at_width(image: np.ndarray, share: float, model: LineTransformer) -> np.ndarray:
    height, width = image.shape
    wanted = min(model.config.max_width, max(1, round(width * share)))
    return image if wanted == width else resize_to_box(image, height, wanted)


def _scores(
    model: LineTransformer, memory: Memory, texts: Sequence[Sequence[Text]], share: float
) -> list[list[float]]:
    """The joint score of every text of every line in one look."""
    by_ctc = score_ctc(ctc_log_softmax(model, memory), model.n_columns(memory), texts)
    by_decoder = iter(score_decoder(model, memory, [(i, ids) for i, own in enumerate(texts) for ids in own]))
    return [[mixed(next(by_decoder), value, share) for value in own] for own in by_ctc]
