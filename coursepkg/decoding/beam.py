"""Beam search: keep the K best unfinished sequences at every step.

    score(y) = log p(y | x) / lp(y),    lp(y) = ((5 + |y|) / 6)^alpha

The length penalty lp is that of Wu et al. (arXiv 1609.08144, section 7, without their coverage term); |y| counts EOS.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from coursepkg.arguments import check_count, check_finite
from coursepkg.decoding.arguments import check_limits
from coursepkg.decoding.beam_parts import Beams, Ends, expand
from coursepkg.decoding.filters import Filter
from coursepkg.decoding.hypothesis import Hypothesis
from coursepkg.decoding.state import DecoderState
from coursepkg.decoding.stepper import Stepper
from coursepkg.decoding.trace import SearchTrace
from coursepkg.text.vocabulary import BOS, EOS


@torch.no_grad()
def beam_search(
    state: DecoderState,
    *,
    beam_size: int,
    max_len: int | Tensor,
    length_penalty: int | float = 0.6,
    n_best: int = 1,
    early_stop: bool = True,
    bos: int = BOS,
    eos: int | None = EOS,
    prefix: Sequence[Sequence[int]] | None = None,
    filters: Sequence[Filter] = (),
    trace: SearchTrace | None = None,
) -> list[list[Hypothesis]]:
    """Find sequences of high score; K = beam_size.

    Every step takes the 2K best of all continuations of the K rows. A continuation by EOS ends a hypothesis if it is
    among the best K; the best K others go on. A sentence is done when K hypotheses have finished, when its limit is
    reached, or by `early_stop`. With K = 1 it is greedy decoding; with K as large as the number of all sequences it
    is exhaustive search.

    Early stop is safe. Let a row with log-probability s <= 0 go on to any hypothesis of length l <= limit:
    1. more tokens only lower its log-probability to s' <= s, so its score s' / lp(l) <= s / lp(l), as lp > 0;
    2. lp is monotone in l, thus lp(l) <= M = max(lp(now + 1), lp(limit)), and s / lp(l) <= s / M, as s <= 0;
    3. so once n hypotheses have scores of at least s / M for the best row, no later one enters the n best.

    Args:
        state: a fresh state, one row a sentence; `model.start(...)`, of a model in eval mode.
        beam_size: K, rows a sentence.
        max_len: most tokens to produce, EOS included and the prefix not: one number, or (B,) one a sentence
            (see `source_limits`).
        length_penalty: alpha; 0 compares log-probabilities, larger values favour long results, negative ones short.
        n_best: hypotheses to return for each sentence, at most K.
        early_stop: stop where the n best can no longer change; it changes the time, never the result.
        bos: id that starts every target.
        eos: id that ends one; None never ends before the limit.
        prefix: for each sentence the ids it must begin with; they are given, not scored and not returned.
        filters: functions (logits, history) -> logits, applied in this order; log-probabilities are those after them.
        trace: records every candidate of every step.

    Returns:
        For each sentence its n best hypotheses, best first, all different: finished ones by falling score, and
        behind them, where fewer than n have finished, those that the limit cut off. There are fewer than n only
        where fewer sequences exist.

    Raises:
        ValueError: an argument is malformed, or the logits leave no token to choose from.
    """
    check_count("beam_size", beam_size)
    check_count("n_best", n_best, most=beam_size)
    check_finite("length_penalty", length_penalty)
    stepper = Stepper(state, bos=bos, eos=eos, prefix=prefix, filters=filters)
    limits = check_limits(max_len, state.n_rows, state.device)
    ends = Ends(limits, stepper.prefix_lengths, beam_size, n_best, length_penalty)
    beams = Beams.start(stepper.first_history())
    while len(beams.sentence):
        found = expand(stepper, beams, 2 * beam_size)
        is_eos = found.token == (-1 if eos is None else eos)
        ended = is_eos & (found.total > -torch.inf)
        ended[:, beam_size:] = False
        if ended.any():
            ends.finish(beams, found, ended)
        kept = found.best_others(is_eos, beam_size)
        if trace is not None:
            step = beams.history.shape[-1] + 1
            trace.record(step, beams.sentence, found.parent, found.token, found.total, ended, kept)
        n_rows, parents = beams.total.shape[1], beams.grow(found, kept)
        stay = ends.still_open(beams, early_stop)
        if len(stay):
            _select(state, parents, n_rows, stay)
        beams.take(stay)
    return [hypotheses[:n_best] for hypotheses in ends.harvest.by_sentence()]


def _select(state: DecoderState, parents: Tensor, n_rows: int, stay: Tensor) -> None:
    """parents (B, R) among the `n_rows` rows of each sentence; stay (B',) the sentences that go on."""
    rows = (stay[:, None] * n_rows + parents[stay]).flatten()
    all_stay = len(stay) == len(parents)
    # A step in which every row continues itself is common with few beams; it moves nothing.
    if not (all_stay and torch.equal(rows, torch.arange(state.n_rows, device=rows.device))):
        state.select(rows, None if all_stay else stay)
