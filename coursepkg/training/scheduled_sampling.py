"""Scheduled sampling: the decoder sometimes reads its own prediction while it trains.

Under teacher forcing a decoder only ever reads true tokens; when it translates, it
reads its own, mistakes included. Scheduled sampling trains it on a mixture: each token
of the decoder's input is the true one with probability epsilon, which falls from 1 as
training goes on, and else what the model itself predicts at that place.

Recurrent decoders mix token by token (Bengio et al., arXiv 1506.03099). A Transformer
predicts all places in a first pass over the true tokens and is trained in a second one
over the mixture (Mihaylova and Martins, arXiv 1906.07651).
"""

import math
from collections.abc import Callable

import torch
from torch import Tensor

from coursepkg.text.vocabulary import BOS, PAD
from coursepkg.training.schedules import Formula
from coursepkg.validation import check_at_least, check_probability


def linear_decay(
    start: int | float, slope: int | float, floor: int | float = 0.0
) -> Formula:
    """epsilon(step) = max(floor, start - slope * step), never above 1.

    Raises:
        ValueError: start or floor is not a probability, or the slope is negative.
    """
    check_probability("start", start)
    check_probability("floor", floor)
    check_at_least("slope", slope, 0)
    parameters = {"start": start, "slope": slope, "floor": floor}
    return Formula(
        "linear_decay", parameters, lambda step: max(floor, start - slope * step)
    )


def exponential_decay(base: int | float) -> Formula:
    """epsilon(step) = base^step.

    Raises:
        ValueError: the base is not a probability.
    """
    check_probability("base", base)
    return Formula("exponential_decay", {"base": base}, lambda step: base**step)


def inverse_sigmoid_decay(k: int | float) -> Formula:
    """epsilon(step) = k / (k + exp(step / k)), which is 1/2 at step k ln k.

    Raises:
        ValueError: k is below 1.
    """
    check_at_least("k", k, 1)

    def epsilon(step: int) -> float:
        exponent = step / k - math.log(k)
        return 1 / (1 + math.exp(exponent)) if exponent < 700 else 0.0

    return Formula("inverse_sigmoid_decay", {"k": k}, epsilon)


def mix_tokens(tgt_in: Tensor, predicted: Tensor, p: float) -> Tensor:
    """Replace each token by its prediction with probability `p`, independently.

    BOS and padding stay. The draws come from torch's global generator; p = 0 draws
    nothing and returns `tgt_in`.

    Args:
        tgt_in: true decoder input (B, T), beginning with BOS.
        predicted: ids (B, T): predicted[:, t] stands for tgt_in[:, t].
        p: probability of a prediction, 1 - epsilon.

    Raises:
        ValueError: shapes do not fit, or p is no probability.
    """
    check_probability("p", p)
    if predicted.shape != tgt_in.shape:
        raise ValueError(
            f"predicted must have the shape of tgt_in {tuple(tgt_in.shape)}, got"
            f" {tuple(predicted.shape)}"
        )
    if p == 0:
        return tgt_in
    chosen = torch.rand(tgt_in.shape, device=tgt_in.device) < p
    return torch.where(chosen & (tgt_in != BOS) & (tgt_in != PAD), predicted, tgt_in)


@torch.no_grad()
def mix_in_parallel(logits: Tensor, tgt_in: Tensor, p: float) -> Tensor:
    """The mixture for a Transformer, from the logits of a pass over true tokens.

    The prediction for place t is the most probable token after tgt_in[:, :t], that is
    by logits[:, t - 1]. No gradient flows through it.

    Raises:
        ValueError: shapes do not fit, or p is no probability.
    """
    predicted = torch.cat([tgt_in[:, :1], logits.argmax(dim=-1)[:, :-1]], dim=1)
    return mix_tokens(tgt_in, predicted, p)


@torch.no_grad()
def mix_step_by_step(
    step: Callable[[Tensor], Tensor], tgt_in: Tensor, p: float
) -> Tensor:
    """The mixture for a recurrent decoder: each prediction follows the mixed prefix.

    Args:
        step: tokens (B, 1) -> logits (B, V) of what follows, and the decoder's state
            moves on: `DecoderState.step`.
        tgt_in: true decoder input (B, T).
        p: probability of a prediction.

    Raises:
        ValueError: p is no probability.
    """
    check_probability("p", p)
    mixed = [tgt_in[:, :1]]
    for t in range(1, tgt_in.shape[1]):
        predicted = step(mixed[-1]).argmax(dim=-1, keepdim=True)
        mixed.append(mix_tokens(tgt_in[:, t : t + 1], predicted, p))
    return torch.cat(mixed, dim=1)
