"""Beam search: keep the K best unfinished sequences at every step.

    score(y) = log p(y | x) / lp(y),    lp(y) = ((5 + |y|) / 6)^alpha

The length penalty lp is that of Wu et al. (arXiv 1609.08144, section 7, without their
coverage term); |y| counts EOS. `SearchTrace` keeps what a search looked at, step by
step, so that its tree can be drawn.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from coursepkg.decoding.filters import Filter
from coursepkg.decoding.step import (
    DecoderState,
    DecodingStep,
    FinishedHypotheses,
    Hypothesis,
    check_limits,
)
from coursepkg.text.vocabulary import BOS, EOS
from coursepkg.validation import check_count, check_finite

BLOCK = 64
"""Neighbouring tokens that are compared by their maximum first."""


def top_continuations(
    log_probs: Tensor, totals: Tensor, count: int
) -> tuple[Tensor, Tensor, Tensor]:
    """The most probable continuations of each sentence's rows.

    Equal to `(totals[..., None] + log_probs).flatten(1).topk(count)`, in two passes:
    the maxima of blocks of tokens, then the tokens of the best `count` blocks. No other
    block is needed: each of these holds a number at least as large as all of it. The
    maxima are one vectorised pass; `topk` itself, which on a CPU moves
    every number that it looks at, sees few.

    Args:
        log_probs: (B * R, V).
        totals: (B, R), added to the rows.
        count: continuations of a sentence; fewer come back where fewer exist.

    Returns:
        Their sums (B, C) in falling order, NaN first; their rows (B, C) in 0..R-1;
        their tokens (B, C). A place that exists only to fill up has the sum -inf and a
        token beyond the vocabulary.
    """
    (n_sentences, n_rows), n_tokens = totals.shape, log_probs.shape[1]
    maxima = _block_maxima(log_probs)
    n_blocks = maxima.shape[1]
    sums = (maxima + totals.reshape(-1, 1)).view(n_sentences, n_rows * n_blocks)
    best = sums.topk(min(count, sums.shape[1]), dim=1).indices
    row, block = best // n_blocks, best % n_blocks
    # (B, C, BLOCK)
    token = block[..., None] * BLOCK + torch.arange(BLOCK, device=best.device)
    place = row[..., None] * n_tokens + token.clamp(max=n_tokens - 1)
    found = log_probs.view(n_sentences, -1).gather(1, place.flatten(1)).view_as(place)
    found = found + totals.gather(1, row)[..., None]
    found = found.masked_fill(token >= n_tokens, -torch.inf).flatten(1)
    total, at = found.topk(min(count, n_rows * n_tokens), dim=1)
    return total, row.gather(1, at // BLOCK), token.flatten(1).gather(1, at)


def _block_maxima(log_probs: Tensor) -> Tensor:
    """(N, V) -> (N, blocks); the last block may be short."""
    whole = log_probs.shape[1] // BLOCK * BLOCK
    parts = []
    if whole:
        parts.append(log_probs[:, :whole].unflatten(1, (-1, BLOCK)).amax(dim=-1))
    if whole < log_probs.shape[1]:
        parts.append(log_probs[:, whole:].amax(dim=-1, keepdim=True))
    return torch.cat(parts, dim=1) if len(parts) > 1 else parts[0]


@dataclass(frozen=True)
class Node:
    """One candidate: a token after a parent."""

    step: int
    """Tokens up to and with this one, forced ones included; 1 for the first."""
    token: int
    """Its id."""
    parent: int | None
    """Place of its parent in the list of nodes; None after the start."""
    log_prob: float
    """Natural logarithm of the probability of the whole path to here."""
    fate: str
    """`kept`: it went on; `ended`: it is a hypothesis; `dropped`: others are better."""


@dataclass
class SearchTrace:
    """Pass one to `beam_search`; afterwards `tree` tells what it looked at last.

    Nodes of a sentence's first step have no parent.
    """

    nodes: dict[int, list[Node]] = field(default_factory=dict)
    """For each sentence its candidates, in the order of the search."""
    alive: dict[int, list[int | None]] = field(default_factory=dict)
    """For each sentence the node of each row that goes on."""
    _beams: "Beams | None" = field(default=None, init=False, repr=False, compare=False)
    """The rows of the search that is written down."""

    def tree(self, sentence: int = 0) -> list[Node]:
        """The candidates of one sentence; a parent stands before its children.

        Raises:
            ValueError: no such sentence was traced.
        """
        if sentence not in self.nodes:
            known = ", ".join(map(str, sorted(self.nodes))) or "none"
            raise ValueError(
                f"sentence must be one that was traced ({known}), got {sentence}"
            )
        return self.nodes[sentence]

    def record(
        self, beams: "Beams", found: "Candidates", ended: Tensor, kept: Tensor
    ) -> None:
        """Write one step down; candidates at -inf are left out.

        Args:
            beams: the rows before the step.
            found: their continuations, C a sentence.
            ended: bool (B, C), which became hypotheses.
            kept: (B, R) the candidates that go on, by their place among the C.
        """
        if beams is not self._beams:
            self.nodes, self.alive, self._beams = {}, {}, beams
        step = beams.history.shape[-1] + 1
        columns = (beams.sentence, found.parent, found.token, found.total, ended, kept)
        for number, *lists in zip(*(c.tolist() for c in columns), strict=True):
            self._record_one(step, number, *lists)

    def _record_one(
        self,
        step: int,
        sentence: int,
        parents: list[int],
        tokens: list[int],
        log_probs: list[float],
        ended: list[bool],
        kept: list[int],
    ) -> None:
        nodes = self.nodes.setdefault(sentence, [])
        alive = self.alive.get(sentence, [None])
        place: dict[int, int] = {}
        for c, (parent, token, log_prob) in enumerate(
            zip(parents, tokens, log_probs, strict=True)
        ):
            if log_prob == -float("inf"):
                continue
            fate = "ended" if ended[c] else "kept" if c in kept else "dropped"
            place[c] = len(nodes)
            nodes.append(Node(step, token, alive[parent], log_prob, fate))
        self.alive[sentence] = [place.get(c) for c in kept]


def length_penalty_of(length: Tensor, alpha: int | float) -> Tensor:
    """lp = ((5 + length) / 6)^alpha of lengths with EOS, in float64."""
    return ((5.0 + length.double()) / 6.0) ** alpha


@dataclass
class Candidates:
    """The best continuations of each sentence, by falling probability: C of them."""

    parent: Tensor
    """(B, C) row that it continues."""
    token: Tensor
    """(B, C) by which token."""
    total: Tensor
    """(B, C) log-probability of the whole path; -inf where fewer continuations are
    possible.
    """
    log_prob: Tensor
    """(B, C) log-probability of the token."""
    n_possible: int
    """Continuations by another token than EOS that a sentence has."""

    def best_others(self, is_eos: Tensor, count: int) -> Tensor:
        """Places (B, R) of the best candidates that do not end, is_eos (B, C)."""
        # Stable: the order of the candidates stays, the ends move behind the others.
        order = is_eos.to(torch.int8).sort(dim=1, stable=True).indices
        return order[:, : min(count, self.n_possible)]


@dataclass
class Beams:
    """The unfinished rows, R for each of the B sentences, best first."""

    sentence: Tensor
    """(B,) numbers of the sentences in the whole batch."""
    total: Tensor
    """(B, R) log-probability of each row; -inf where a row only fills up its sentence.
    """
    history: Tensor
    """(B, R, t) tokens, forced ones included."""
    log_probs: Tensor
    """(B, R, t) of these tokens."""

    @classmethod
    def start(cls, history: Tensor) -> "Beams":
        """One row a sentence: history (B, t) is what is fed at once after BOS."""
        zeros = torch.zeros(history.shape, device=history.device)
        total = torch.zeros(len(history), 1, device=history.device)
        numbers = torch.arange(len(history), device=history.device)
        return cls(numbers, total, history[:, None], zeros[:, None])

    def grow(self, found: Candidates, kept: Tensor) -> Tensor:
        """Go on with candidates at kept (B, R') -> rows (B, R') that they continue."""
        self.total = found.total.gather(1, kept)
        # What is impossible repeats the best row, so that no filter meets a past that
        # cannot be.
        kept = torch.where(self.total > -torch.inf, kept, kept[:, :1])
        parents = found.parent.gather(1, kept)
        at = (torch.arange(len(kept), device=kept.device)[:, None], parents)
        gained = found.log_prob.gather(1, kept)[..., None]
        token = found.token.gather(1, kept)[..., None]
        self.history = torch.cat([self.history[at], token], dim=-1)
        self.log_probs = torch.cat([self.log_probs[at].to(gained), gained], dim=-1)
        return parents

    def take(self, stay: Tensor) -> None:
        """Keep the sentences at stay (B',)."""
        if len(stay) == len(self.sentence):
            return
        self.sentence, self.total = self.sentence[stay], self.total[stay]
        self.history, self.log_probs = self.history[stay], self.log_probs[stay]


def expand(decoder: DecodingStep, beams: Beams, count: int) -> Candidates:
    """The `count` best continuations of each sentence, or all where there are fewer.

    Raises:
        ValueError: the logits of a row leave no token to choose from.
    """
    n_sentences, n_rows, t = beams.history.shape
    owner = beams.sentence.repeat_interleave(n_rows)
    log_probs = decoder.log_probs(beams.history.flatten(0, 1), owner)
    totals = beams.total.to(log_probs)
    total, parent, token = top_continuations(log_probs, totals, count)
    # NaN counts as largest, thus one bad row shows among the best.
    if total.isnan().any():
        raise decoder.explain(total.isnan().any(dim=1), beams.sentence, t)
    n_tokens = log_probs.shape[1]
    place = parent * n_tokens + token.clamp(max=n_tokens - 1)
    return Candidates(
        parent=parent,
        token=token,
        total=total,
        log_prob=log_probs.view(n_sentences, -1).gather(1, place),
        n_possible=n_rows * (n_tokens - (decoder.eos is not None)),
    )


class BeamScorer:
    """Which hypotheses have ended, and which sentences still need searching.

    Args:
        limits: (B,) most tokens of each sentence, the prefix not counted.
        prefix_lengths: (B,) forced tokens.
        beam_size: a sentence is done when so many hypotheses have finished.
        n_best: hypotheses asked for.
        alpha: exponent of the length penalty.
    """

    def __init__(
        self,
        limits: Tensor,
        prefix_lengths: Tensor,
        beam_size: int,
        n_best: int,
        alpha: int | float,
    ) -> None:
        self.limits, self.prefix_lengths = limits, prefix_lengths
        self.beam_size, self.alpha = beam_size, alpha
        self.finished = FinishedHypotheses(len(limits), prefix_lengths)
        self.n_finished = torch.zeros_like(limits)
        self.best = torch.full(
            (len(limits), n_best), -torch.inf, dtype=torch.float64, device=limits.device
        )
        self.limit_penalty = length_penalty_of(limits, alpha)

    def finish(self, beams: Beams, found: Candidates, ended: Tensor) -> None:
        """Keep the candidates at ended, bool (B, C), as finished hypotheses."""
        length = beams.history.shape[-1] + 1 - self.prefix_lengths[beams.sentence]
        score = found.total.double() / length_penalty_of(length, self.alpha)[:, None]
        row, place = ended.nonzero(as_tuple=True)
        parent = found.parent[row, place]
        ids = torch.cat(
            [beams.history[row, parent], found.token[row, place, None]], dim=1
        )
        gained = found.log_prob[row, place, None]
        log_probs = torch.cat([beams.log_probs[row, parent].to(gained), gained], dim=1)
        sentence, reached = beams.sentence[row], score[row, place]
        total = found.total[row, place]
        is_finished = torch.ones_like(row, dtype=torch.bool)
        # Sorted by rank, the lowest first: a high score has to come out low.
        self.finished.add(
            sentence, -reached, ids, log_probs, total, reached, is_finished
        )
        self.n_finished[beams.sentence] += ended.sum(dim=1)
        # Early stop asks for the n-th best score alone; so many are kept and no more.
        new = score.masked_fill(~ended, -torch.inf)
        scores = torch.cat([self.best[beams.sentence], new], dim=1)
        self.best[beams.sentence] = scores.topk(self.best.shape[1], dim=1).values

    def still_open(self, beams: Beams, early_stop: bool) -> Tensor:
        """Places (B',) of the sentences to search on; rows at their limit are kept."""
        length = beams.history.shape[-1] - self.prefix_lengths[beams.sentence]
        is_full = self.n_finished[beams.sentence] >= self.beam_size
        is_cut = ~is_full & (length == self.limits[beams.sentence])
        if is_cut.any():
            self._cut(beams, is_cut)
        best_row = beams.total[:, 0]
        is_done = is_full | is_cut | (best_row == -torch.inf)
        if early_stop:
            soonest = length_penalty_of(length.clamp(min=0) + 1, self.alpha)
            penalty = torch.maximum(soonest, self.limit_penalty[beams.sentence])
            bound = best_row.double() / penalty
            is_done |= self.best[beams.sentence, -1] >= bound
        return (~is_done).nonzero()[:, 0]

    def _cut(self, beams: Beams, is_cut: Tensor) -> None:
        is_row = is_cut[:, None] & (beams.total > -torch.inf)
        row, place = is_row.nonzero(as_tuple=True)
        sentence, total = beams.sentence[row], beams.total[row, place]
        score = total.double() / self.limit_penalty[sentence]
        # Behind all that finished; among themselves they come best first already.
        last = torch.full_like(score, torch.inf)
        is_finished = torch.zeros_like(row, dtype=torch.bool)
        ids, log_probs = beams.history[row, place], beams.log_probs[row, place]
        self.finished.add(sentence, last, ids, log_probs, total, score, is_finished)


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

    Every step takes the 2K best of all continuations of the K rows. A continuation by
    EOS ends a hypothesis if it is among the best K; the best K others go on. A sentence
    is done when K hypotheses have finished, when its limit is reached, or by
    `early_stop`. With K = 1 it is greedy decoding; with K as large as the number of all
    sequences it is exhaustive search.

    Early stop is safe. Let a row with log-probability s <= 0 go on to any hypothesis of
    length l <= limit:
    1. more tokens only lower its log-probability to s' <= s, so its score s' / lp(l) <=
       s / lp(l), as lp > 0;
    2. lp is monotone in l, thus lp(l) <= M = max(lp(now + 1), lp(limit)), and s / lp(l)
       <= s / M, as s <= 0;
    3. so once n hypotheses have scores of at least s / M for the best row, no later one
       enters the n best.

    Args:
        state, max_len, bos, eos, prefix, filters: as in `greedy`.
        beam_size: K, rows a sentence.
        length_penalty: alpha; 0 compares log-probabilities, larger values favour long
            results, negative ones short.
        n_best: hypotheses to return for each sentence, at most K.
        early_stop: stop where the n best can no longer change; it changes the time,
            never the result.
        trace: records every candidate of every step.

    Returns:
        For each sentence its n best hypotheses, best first, all different: finished
        ones by falling score, and behind them, where fewer than n have finished, those
        that the limit cut off. There are fewer than n only where fewer sequences exist.

    Raises:
        ValueError: an argument is malformed, or the logits leave no token to choose
            from.
    """
    check_count("beam_size", beam_size)
    check_count("n_best", n_best, most=beam_size)
    check_finite("length_penalty", length_penalty)
    decoder = DecodingStep(state, bos=bos, eos=eos, prefix=prefix, filters=filters)
    limits = check_limits(max_len, state.n_rows, state.device)
    scorer = BeamScorer(
        limits, decoder.prefix_lengths, beam_size, n_best, length_penalty
    )
    beams = Beams.start(decoder.first_history())
    while len(beams.sentence):
        found = expand(decoder, beams, 2 * beam_size)
        is_eos = found.token == (-1 if eos is None else eos)
        ended = is_eos & (found.total > -torch.inf)
        # An end worse than `beam_size` other continuations would have left the beam.
        ended[:, beam_size:] = False
        if ended.any():
            scorer.finish(beams, found, ended)
        kept = found.best_others(is_eos, beam_size)
        if trace is not None:
            trace.record(beams, found, ended, kept)
        n_rows, parents = beams.total.shape[1], beams.grow(found, kept)
        stay = scorer.still_open(beams, early_stop)
        if len(stay):
            _select(state, parents, n_rows, stay)
        beams.take(stay)
    return [hypotheses[:n_best] for hypotheses in scorer.finished.by_sentence()]


def _select(state: DecoderState, parents: Tensor, n_rows: int, stay: Tensor) -> None:
    """Reorder by parents (B, R); only the sentences at stay (B',) go on."""
    rows = (stay[:, None] * n_rows + parents[stay]).flatten()
    all_stay = len(stay) == len(parents)
    # A step in which every row continues itself is common with few beams.
    itself = torch.arange(state.n_rows, device=rows.device)
    if not (all_stay and torch.equal(rows, itself)):
        state.select(rows, None if all_stay else stay)
