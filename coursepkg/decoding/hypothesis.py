"""What decoding returns, and where results are kept while others of the batch still grow."""

from dataclasses import dataclass, field

from torch import Tensor


@dataclass(frozen=True)
class Hypothesis:
    """One decoded sequence."""

    ids: tuple[int, ...]
    """The tokens that were chosen: without BOS, without the forced prefix, without EOS."""
    token_log_probs: tuple[float, ...]
    """Natural logarithm of each chosen token's probability; that of EOS comes last where `finished`."""
    log_prob: float
    """Sum of `token_log_probs`, as the search added it up."""
    score: float
    """What ranks it: log_prob after the length penalty (beam search), or log_prob itself."""
    finished: bool
    """True if it ended with EOS, False if the limit cut it off."""


@dataclass
class Harvest:
    """Hypotheses that have ended, as tensors: Python lists are built once, when the whole batch is done."""

    n_sentences: int
    """Sentences of the batch (B)."""
    prefix_lengths: Tensor
    """(B,) forced tokens at the head of each sentence, which are no part of a hypothesis."""
    parts: list[tuple[Tensor, ...]] = field(default_factory=list)
    """Of each `add` its arguments."""

    def add(
        self,
        sentence: Tensor,
        order: Tensor,
        ids: Tensor,
        log_probs: Tensor,
        total: Tensor,
        score: Tensor,
        finished: Tensor,
    ) -> None:
        """Keep M hypotheses of t tokens each.

        Args:
            sentence: (M,) number of the sentence in the batch.
            order: (M,) place among the hypotheses of the sentence, ascending; need not be without gaps.
            ids: (M, t) tokens, forced ones and EOS included.
            log_probs: (M, t) of these tokens.
            total: (M,) sum of the log-probabilities.
            score: (M,) what ranks.
            finished: bool (M,), whether the last token is EOS.
        """
        start = self.prefix_lengths[sentence]
        self.parts.append((sentence, order, start, ids, log_probs, total, score, finished))

    def by_sentence(self) -> list[list[Hypothesis]]:
        """For each sentence its hypotheses, in ascending order; equal places in the order of `add`."""
        found: list[list[tuple[float, Hypothesis]]] = [[] for _ in range(self.n_sentences)]
        for part in self.parts:
            for sentence, order, *values in zip(*(column.tolist() for column in part), strict=True):
                found[sentence].append((order, _hypothesis(*values)))
        return [[h for _, h in sorted(hs, key=lambda pair: pair[0])] for hs in found]


def _hypothesis(
    start: int, ids: list[int], log_probs: list[float], total: float, score: float, finished: bool
) -> Hypothesis:
    chosen = tuple(ids[start:-1] if finished else ids[start:])
    return Hypothesis(chosen, tuple(log_probs[start:]), total, score, finished)
