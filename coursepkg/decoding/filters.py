"""Filters: what stands between a model's logits and the choice of a token.

A filter is any function (logits (N, V), history (N, t)) -> logits (N, V); history holds
the tokens of each row so far, without BOS. Setting a logit to -inf forbids a token.
Filters are applied in the order given, and work alike in greedy decoding, sampling and
beam search.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from coursepkg.validation import check_count, check_finite, describe

Filter = Callable[[Tensor, Tensor], Tensor]
"""(logits (N, V), history (N, t)) -> logits (N, V)."""


@dataclass(frozen=True)
class Temperature:
    """Divide all logits by a temperature: p_i ~ exp(z_i / temperature).

    Below 1 likely tokens gain, above 1 the distribution flattens; the order of tokens
    stays. Near 0 it is greedy.
    """

    temperature: int | float
    """Above 0, without unit."""

    def __post_init__(self) -> None:
        hint = "; for the limit at 0 use greedy()"
        _check_positive("temperature", self.temperature, hint)

    def __call__(self, logits: Tensor, history: Tensor) -> Tensor:
        """Logits (N, V) -> logits (N, V)."""
        return logits / self.temperature


@dataclass(frozen=True)
class TopK:
    """Keep the k most likely tokens; tokens that tie with the k-th stay too.

    Source: Fan et al. (arXiv 1805.04833).
    """

    k: int
    """Tokens, at least 1; the whole vocabulary or more changes nothing."""

    def __post_init__(self) -> None:
        check_count("top_k", self.k)

    def __call__(self, logits: Tensor, history: Tensor) -> Tensor:
        """Logits (N, V) -> logits (N, V), -inf at what is cut off."""
        if self.k >= logits.shape[-1]:
            return logits
        least = logits.topk(self.k, dim=-1).values[:, -1:]
        return logits.masked_fill(logits < least, -torch.inf)


@dataclass(frozen=True)
class TopP:
    """Nucleus: the smallest set of most likely tokens that holds probability p.

    The most likely token always stays. Source: Holtzman et al. (arXiv 1904.09751),
    section 3.1.
    """

    p: int | float
    """Probability above 0, at most 1; 1 changes nothing."""

    def __post_init__(self) -> None:
        check_finite("top_p", self.p)
        if not 0 < self.p <= 1:
            raise ValueError(f"top_p must be above 0 and at most 1, got {self.p}")

    def __call__(self, logits: Tensor, history: Tensor) -> Tensor:
        """Logits (N, V) -> logits (N, V), -inf outside the nucleus."""
        if self.p == 1:
            return logits
        ordered, order = logits.sort(dim=-1, descending=True, stable=True)
        held = ordered.softmax(dim=-1).cumsum(dim=-1)
        # A token goes when those before it already hold p; before the first stands
        # nothing.
        goes = torch.nn.functional.pad(held[:, :-1] >= self.p, (1, 0), value=False)
        return logits.masked_fill(goes.scatter(1, order, goes), -torch.inf)


@dataclass(frozen=True)
class RepetitionPenalty:
    """Make tokens that the row already holds less likely: z / penalty, z * penalty.

    A token counts once, however often it occurred. It acts on raw logits: on
    log-probabilities, which are never positive, it would only ever multiply. Source:
    Keskar et al. (arXiv 1909.05858), section 4.1, whose formula divides in both cases,
    which would make a token of negative logit more likely; the two cases are those of
    Hugging Face.
    """

    penalty: int | float
    """Above 0: 1 changes nothing, the paper takes 1.2, below 1 rewards repetition."""

    def __post_init__(self) -> None:
        _check_positive("repetition_penalty", self.penalty)

    def __call__(self, logits: Tensor, history: Tensor) -> Tensor:
        """Logits (N, V), history (N, t) -> logits (N, V)."""
        seen = logits.gather(1, history)
        penalised = torch.where(seen > 0, seen / self.penalty, seen * self.penalty)
        return logits.scatter(1, history, penalised)


@dataclass(frozen=True)
class Forbid:
    """Never choose these tokens, such as PAD, BOS or UNK."""

    ids: tuple[int, ...]
    """Ids of the vocabulary."""

    def __post_init__(self) -> None:
        for i in self.ids:
            check_count("forbidden id", i, least=0)

    def __call__(self, logits: Tensor, history: Tensor) -> Tensor:
        """Logits (N, V) -> logits (N, V), -inf at these tokens.

        Raises:
            ValueError: an id is outside the vocabulary.
        """
        if self.ids and max(self.ids) >= logits.shape[-1]:
            raise ValueError(
                f"forbidden id must be below V = {logits.shape[-1]}, got"
                f" {max(self.ids)}"
            )
        places = torch.tensor(self.ids, dtype=torch.int64, device=logits.device)
        return logits.index_fill(1, places, -torch.inf)


def _check_positive(name: str, value: int | float, hint: str = "") -> None:
    check_finite(name, value)
    if value <= 0:
        raise ValueError(f"{name} must be above 0, got {describe(value)}{hint}")
