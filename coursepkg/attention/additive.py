"""Attention between two recurrent networks: Bahdanau's and Luong's scores.

Each query is scored against each key, a softmax over the keys turns scores into
weights, and the context is the weighted sum of the values:

    weights = softmax over s of score(query_t, key_s)
    context = sum over s of weights[t, s] * value_s

The scores differ:

    additive    v^T tanh(W query + U key)
    dot         query^T key
    general     query^T W key
    concat      v^T tanh(W [query; key])     `additive` with [W U] as one matrix

Sources: Bahdanau et al. (arXiv 1409.0473), appendix A.1.2, for the first; Luong et al.
(arXiv 1508.04025), section 3.1, for the others.
"""

import math

import torch
from torch import Tensor, nn

from coursepkg.validation import check_counts

SCORES = ("dot", "general", "concat")


class AdditiveAttention(nn.Module):
    """Bahdanau's score v^T tanh(W query + U key): a small network compares each pair.

    Queries and keys may have different widths. The hidden layer is computed for every
    pair, so memory grows with T * S * d_hidden, where a dot product needs T * S.

    Args:
        d_query: width of a query (Eq).
        d_key: width of a key (Ek).
        d_hidden: width of the layer that compares them.

    Raises:
        ValueError: a width is not a positive integer.

    Source: Bahdanau et al. (arXiv 1409.0473), section 3.1 and appendix A.1.2.
    """

    def __init__(self, d_query: int, d_key: int, d_hidden: int) -> None:
        super().__init__()
        check_counts(d_query=d_query, d_key=d_key, d_hidden=d_hidden)
        self.query_proj = nn.Linear(d_query, d_hidden, bias=False)
        self.key_proj = nn.Linear(d_key, d_hidden, bias=False)
        self.score_proj = nn.Linear(d_hidden, 1, bias=False)

    def scores(self, query: Tensor, keys: Tensor) -> Tensor:
        """query (B, T, Eq), keys (B, S, Ek) -> scores (B, T, S), before masking."""
        _check_inputs(
            query, keys, self.query_proj.in_features, self.key_proj.in_features
        )
        # (B, T, 1, d_hidden) + (B, 1, S, d_hidden) -> (B, T, S, d_hidden)
        pairs = self.query_proj(query)[:, :, None] + self.key_proj(keys)[:, None]
        return self.score_proj(torch.tanh(pairs)).squeeze(-1)

    def forward(
        self,
        query: Tensor,
        keys: Tensor,
        values: Tensor | None = None,
        key_padding_mask: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Attend to the keys.

        Args:
            query: (B, T, Eq).
            keys: (B, S, Ek).
            values: (B, S, Ev); None takes the keys as values.
            key_padding_mask: bool (B, S), True at a real key. A sequence without one
                gets zeros.

        Returns:
            context (B, T, Ev) and weights (B, T, S).

        Raises:
            ValueError: shapes, dtypes or batch sizes do not fit.
        """
        return _attend(self.scores(query, keys), keys, values, key_padding_mask)


class MultiplicativeAttention(nn.Module):
    """Luong's three scores: `dot`, `general` and `concat`.

    `dot` has no parameters and needs equal widths; `general` puts one matrix between
    query and key; `concat` is the additive score with query and key in one vector. No
    score is divided by sqrt(E), as in the paper.

    Args:
        d_query: width of a query (Eq).
        d_key: width of a key (Ek).
        score: "dot", "general" or "concat".
        d_hidden: width of the hidden layer of `concat`; None takes d_query. The others
            have no such layer.

    Raises:
        ValueError: unknown score, a width that is not positive, or `dot` with unequal
            widths.

    Source: Luong et al. (arXiv 1508.04025), section 3.1.
    """

    def __init__(
        self,
        d_query: int,
        d_key: int,
        score: str = "general",
        *,
        d_hidden: int | None = None,
    ) -> None:
        super().__init__()
        check_counts(d_query=d_query, d_key=d_key)
        if score not in SCORES:
            raise ValueError(f"score must be one of {', '.join(SCORES)}, got {score!r}")
        if score == "dot" and d_query != d_key:
            raise ValueError(
                f"score 'dot' needs d_query equal to d_key, got {d_query} and {d_key}"
            )
        if d_hidden is not None and score != "concat":
            raise ValueError(
                f"d_hidden belongs to score 'concat', but score is {score!r}"
            )
        self.score, self.d_query, self.d_key = score, d_query, d_key
        if score == "general":
            self.key_proj = nn.Linear(d_key, d_query, bias=False)
        elif score == "concat":
            self.compare = AdditiveAttention(
                d_query, d_key, d_query if d_hidden is None else d_hidden
            )

    def scores(self, query: Tensor, keys: Tensor) -> Tensor:
        """query (B, T, Eq), keys (B, S, Ek) -> scores (B, T, S), before masking."""
        _check_inputs(query, keys, self.d_query, self.d_key)
        if self.score == "concat":
            return self.compare.scores(query, keys)
        projected = self.key_proj(keys) if self.score == "general" else keys
        return query @ projected.transpose(1, 2)

    # Mask, softmax and sum are the same, whatever the score.
    forward = AdditiveAttention.forward


def _attend(
    scores: Tensor, keys: Tensor, values: Tensor | None, key_padding_mask: Tensor | None
) -> tuple[Tensor, Tensor]:
    """Mask, softmax, sum: scores (B, T, S) -> context (B, T, Ev), weights (B, T, S)."""
    values = keys if values is None else values
    if values.dim() != 3 or values.shape[:2] != keys.shape[:2]:
        raise ValueError(
            f"values must be (B, S, Ev) with (B, S) = {tuple(keys.shape[:2])} as the"
            f" keys, got {tuple(values.shape)}"
        )
    if key_padding_mask is not None:
        _check_mask(key_padding_mask, keys)
        scores = scores.masked_fill(~key_padding_mask[:, None], -math.inf)
        # A row of -inf would make NaN of the softmax and of its gradient; with zeros
        # there it stays finite.
        scores = scores.masked_fill(~key_padding_mask.any(dim=1)[:, None, None], 0.0)
    weights = scores.softmax(dim=-1)
    if key_padding_mask is not None:
        weights = weights * key_padding_mask[:, None]
    return weights @ values, weights


def _check_inputs(query: Tensor, keys: Tensor, d_query: int, d_key: int) -> None:
    for name, tensor, letters, width in (
        ("query", query, "(B, T, Eq)", d_query),
        ("keys", keys, "(B, S, Ek)", d_key),
    ):
        if tensor.dim() != 3 or tensor.shape[-1] != width:
            raise ValueError(
                f"{name} must be {letters} with width {width}, got shape"
                f" {tuple(tensor.shape)}"
            )
    if query.shape[0] != keys.shape[0]:
        raise ValueError(
            f"query and keys must have one batch size, got {query.shape[0]} and"
            f" {keys.shape[0]}"
        )


def _check_mask(key_padding_mask: Tensor, keys: Tensor) -> None:
    if key_padding_mask.dtype != torch.bool or key_padding_mask.shape != keys.shape[:2]:
        raise ValueError(
            f"key_padding_mask must be bool {tuple(keys.shape[:2])}, True at a real"
            f" key, got {key_padding_mask.dtype} {tuple(key_padding_mask.shape)}"
        )
