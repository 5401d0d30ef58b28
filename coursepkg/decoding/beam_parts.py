"""The parts of beam search: the rows that grow, their candidates, and the hypotheses that have ended."""

from dataclasses import dataclass

import torch
from torch import Tensor

from coursepkg.decoding.hypothesis import Harvest
from coursepkg.decoding.stepper import Stepper
from coursepkg.decoding.top import top_continuations


def length_penalty_of(length: Tensor, alpha: int | float) -> Tensor:
    """Lengths in tokens, EOS included, of any shape -> lp = ((5 + length) / 6)^alpha, float64."""
    return ((5.0 + length.double()) / 6.0) ** alpha


@dataclass
class Candidates:
    """The best continuations of each sentence, by falling probability: C of them."""

    parent: Tensor
    """(B, C) row that it continues."""
    token: Tensor
    """(B, C) by which token."""
    total: Tensor
    """(B, C) log-probability of the whole path; -inf where fewer continuations are possible."""
    log_prob: Tensor
    """(B, C) log-probability of the token."""
    n_possible: int
    """Continuations by another token than EOS that a sentence has."""

    def best_others(self, is_eos: Tensor, count: int) -> Tensor:
        """The best candidates that do not end, is_eos (B, C) -> places (B, R), R = count or all that there are."""
        # Stable: the order of the candidates stays, the ends move behind the others.
        return is_eos.to(torch.int8).sort(dim=1, stable=True).indices[:, : min(count, self.n_possible)]


@dataclass
class Beams:
    """The unfinished rows, R for each of the B sentences still in the batch, best first."""

    sentence: Tensor
    """(B,) numbers of the sentences in the whole batch."""
    total: Tensor
    """(B, R) log-probability of each row; -inf where a row only fills up its sentence."""
    history: Tensor
    """(B, R, t) tokens, forced ones included."""
    log_probs: Tensor
    """(B, R, t) of these tokens."""

    @classmethod
    def start(cls, history: Tensor) -> "Beams":
        """One row a sentence: history (B, t) is what is fed at once after BOS."""
        zeros = torch.zeros(history.shape, device=history.device)
        total = torch.zeros(len(history), 1, device=history.device)
        return cls(torch.arange(len(history), device=history.device), total, history[:, None], zeros[:, None])

    def grow(self, found: Candidates, kept: Tensor) -> Tensor:
        """Go on with the candidates at kept (B, R') -> the rows (B, R') that they continue."""
        self.total = found.total.gather(1, kept)
        # What is impossible repeats the best row, so that no filter meets a past that cannot be.
        kept = torch.where(self.total > -torch.inf, kept, kept[:, :1])
        parents = found.parent.gather(1, kept)
        at = (torch.arange(len(kept), device=kept.device)[:, None], parents)
        gained = found.log_prob.gather(1, kept)[..., None]
        self.history = torch.cat([self.history[at], found.token.gather(1, kept)[..., None]], dim=-1)
        self.log_probs = torch.cat([self.log_probs[at].to(gained), gained], dim=-1)
        return parents

    def take(self, stay: Tensor) -> None:
        """Keep the sentences at stay (B',)."""
        if len(stay) == len(self.sentence):
            return
        self.sentence, self.total = self.sentence[stay], self.total[stay]
        self.history, self.log_probs = self.history[stay], self.log_probs[stay]


def expand(stepper: Stepper, beams: Beams, count: int) -> Candidates:
    """The `count` best continuations of each sentence, or all where there are fewer.

    Raises:
        ValueError: the logits of a row leave no token to choose from.
    """
    n_sentences, n_rows, t = beams.history.shape
    log_probs = stepper.log_probs(beams.history.flatten(0, 1), beams.sentence.repeat_interleave(n_rows))
    total, parent, token = top_continuations(log_probs, beams.total.to(log_probs), count)
    # NaN counts as largest, thus one bad row shows among the best.
    if total.isnan().any():
        raise stepper.explain(total.isnan().any(dim=1), beams.sentence, t)
    n_tokens = log_probs.shape[1]
    place = parent * n_tokens + token.clamp(max=n_tokens - 1)
    return Candidates(
        parent=parent,
        token=token,
        total=total,
        log_prob=log_probs.view(n_sentences, -1).gather(1, place),
        n_possible=n_rows * (n_tokens - (stepper.eos is not None)),
    )


class Ends:
    """Which hypotheses have ended, and which sentences still need searching.

    Args:
        limits: (B,) most tokens of each sentence, the prefix not counted.
        prefix_lengths: (B,) forced tokens.
        beam_size: a sentence is done when so many hypotheses have finished.
        n_best: hypotheses asked for.
        alpha: exponent of the length penalty.
    """

    def __init__(
        self, limits: Tensor, prefix_lengths: Tensor, beam_size: int, n_best: int, alpha: int | float
    ) -> None:
        self.limits, self.prefix_lengths, self.beam_size, self.alpha = (
            limits,
            prefix_lengths,
            beam_size,
            alpha,
        )
        self.harvest = Harvest(len(limits), prefix_lengths)
        self.n_finished = torch.zeros_like(limits)
        self.best = torch.full((len(limits), n_best), -torch.inf, dtype=torch.float64, device=limits.device)
        self.limit_penalty = length_penalty_of(limits, alpha)

    def finish(self, beams: Beams, found: Candidates, ended: Tensor) -> None:
        """Keep the candidates at ended, bool (B, C), as finished hypotheses."""
        length = beams.history.shape[-1] + 1 - self.prefix_lengths[beams.sentence]
        score = found.total.double() / length_penalty_of(length, self.alpha)[:, None]
        row, place = ended.nonzero(as_tuple=True)
        parent = found.parent[row, place]
        ids = torch.cat([beams.history[row, parent], found.token[row, place, None]], dim=1)
        gained = found.log_prob[row, place, None]
        log_probs = torch.cat([beams.log_probs[row, parent].to(gained), gained], dim=1)
        sentence, reached = beams.sentence[row], score[row, place]
        total = found.total[row, place]
        self.harvest.add(
            sentence, -reached, ids, log_probs, total, reached, torch.ones_like(row, dtype=torch.bool)
        )
        self.n_finished[beams.sentence] += ended.sum(dim=1)
        scores = torch.cat([self.best[beams.sentence], score.masked_fill(~ended, -torch.inf)], dim=1)
        self.best[beams.sentence] = scores.topk(self.best.shape[1], dim=1).values

    def still_open(self, beams: Beams, early_stop: bool) -> Tensor:
        """Places (B',) of the sentences to search on; of those cut off by their limit the rows are kept."""
        length = beams.history.shape[-1] - self.prefix_lengths[beams.sentence]
        is_full = self.n_finished[beams.sentence] >= self.beam_size
        is_cut = ~is_full & (length == self.limits[beams.sentence])
        if is_cut.any():
            self._cut(beams, is_cut)
        best_row = beams.total[:, 0]
        is_done = is_full | is_cut | (best_row == -torch.inf)
        if early_stop:
            soonest = length_penalty_of(length.clamp(min=0) + 1, self.alpha)
            bound = best_row.double() / torch.maximum(soonest, self.limit_penalty[beams.sentence])
            is_done |= self.best[beams.sentence, -1] >= bound
        return (~is_done).nonzero()[:, 0]

    def _cut(self, beams: Beams, is_cut: Tensor) -> None:
        row, place = (is_cut[:, None] & (beams.total > -torch.inf)).nonzero(as_tuple=True)
        sentence, total = beams.sentence[row], beams.total[row, place]
        score = total.double() / self.limit_penalty[sentence]
        # Behind all that finished; among themselves they come best first already.
        last = torch.full_like(score, torch.inf)
        is_finished = torch.zeros_like(row, dtype=torch.bool)
        ids, log_probs = beams.history[row, place], beams.log_probs[row, place]
        self.harvest.add(sentence, last, ids, log_probs, total, score, is_finished)
