"""From the tokens so far to the log-probabilities of the next one: what all decoders do at every step."""

from collections.abc import Sequence

import torch
from torch import Tensor

from coursepkg.arguments import check_count
from coursepkg.decoding.arguments import check_prefix
from coursepkg.decoding.filters import Filter
from coursepkg.decoding.state import DecoderState


class Stepper:
    """Feeds a state, filters its logits, forces the prefix and refuses what no token can be chosen from.

    What all prefixes have in length is fed at once, together with BOS. Where one prefix is longer than another, its
    rest is forced step by step: the forced token gets probability 1, so that choosing costs nothing there.

    Args:
        state: a fresh state, one row a sentence.
        bos: the token that starts every target.
        eos: the token that ends one, or None.
        prefix: for each sentence the tokens it must begin with, or None.
        filters: applied to the logits, in this order.

    Raises:
        ValueError: an argument is malformed.
    """

    def __init__(
        self,
        state: DecoderState,
        *,
        bos: int,
        eos: int | None,
        prefix: Sequence[Sequence[int]] | None,
        filters: Sequence[Filter],
    ) -> None:
        n_taken = getattr(state, "n_taken", 0)  # a state of one's own need not count
        if n_taken:
            raise ValueError(f"state must be fresh, got one with {n_taken} tokens; start another one")
        check_count("bos", bos, least=0)
        if eos is not None:
            check_count("eos", eos, least=0)
        self.state, self.bos, self.eos, self.filters = state, bos, eos, tuple(filters)
        forced = check_prefix(prefix, state.n_rows, eos)
        longest = max((len(ids) for ids in forced), default=0)
        self._largest_id = max((i for ids in forced for i in ids), default=0)
        self._common = min((len(ids) for ids in forced), default=0)
        device = state.device
        self.prefix_lengths = torch.tensor([len(ids) for ids in forced], dtype=torch.int64, device=device)
        # (longest, B), -1 where a prefix has ended: column t forces token t.
        padded = [ids + [-1] * (longest - len(ids)) for ids in forced]
        self._forced = torch.tensor(padded, dtype=torch.int64, device=device).reshape(len(forced), longest).T

    def first_history(self) -> Tensor:
        """(B, t) the tokens that are fed at once after BOS."""
        return self._forced[: self._common].T

    def log_probs(self, history: Tensor, sentence: Tensor) -> Tensor:
        """Move the state on.

        Args:
            history: (N, t) tokens of the rows so far, without BOS; all but the last are known to the state.
            sentence: (N,) the number of each row's sentence in the batch.

        Returns:
            (N, V) log-probabilities of token t. A row is NaN where the logits were unusable; see `explain`.
        """
        t = history.shape[1]
        new = history[:, -1:]
        if t == self._common:
            new = torch.nn.functional.pad(history, (1, 0), value=self.bos)
        logits = self.state.step(new)
        if t == self._common:
            self._check_logits(logits)
        for keep in self.filters:
            logits = keep(logits, history)
        half = logits.dtype in (torch.float16, torch.bfloat16)
        log_probs = logits.float().log_softmax(dim=-1) if half else logits.log_softmax(dim=-1)
        return self._force(log_probs, t, sentence) if t < len(self._forced) else log_probs

    def explain(self, is_bad: Tensor, sentence: Tensor, t: int) -> ValueError:
        """The error for sentences, numbered `sentence` (B,), of which `is_bad` (B,) have no usable token t."""
        number = int(sentence[is_bad][0])
        where = f"sentence {number} at token {t - int(self.prefix_lengths[number])}"
        hint = ", or let the filters leave a token" if self.filters else ""
        return ValueError(
            f"logits must hold finite numbers for at least one token and no NaN, got none for {where}{hint}"
        )

    def _force(self, log_probs: Tensor, t: int, sentence: Tensor) -> Tensor:
        token = self._forced[t][sentence]
        is_forced = token >= 0
        certain = torch.full_like(log_probs, -torch.inf).scatter_(1, token.clamp(min=0)[:, None], 0.0)
        return torch.where(is_forced[:, None], certain, log_probs)

    def _check_logits(self, logits: Tensor) -> None:
        if logits.dim() != 2 or logits.shape[0] != self.state.n_rows or not logits.is_floating_point():
            raise ValueError(
                f"state.step must return logits ({self.state.n_rows}, V), "
                f"got {logits.dtype} {tuple(logits.shape)}"
            )
        n_tokens = logits.shape[1]
        for name, largest in (("eos", self.eos or 0), ("prefix ids", self._largest_id)):
            if largest >= n_tokens:
                raise ValueError(f"{name} must be below the vocabulary size {n_tokens}, got {largest}")
        if self.eos is not None and n_tokens < 2:
            raise ValueError("the vocabulary must hold a token besides eos, got 1 token")
