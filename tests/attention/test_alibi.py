"""ALiBi: slopes of the paper and of the authors' rule, and the bias as attention uses it."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from transformers.models.bloom.modeling_bloom import build_alibi_tensor

from coursepkg.attention import attention, causal
from coursepkg.attention.position_bias import alibi_bias, alibi_slopes


def test_slopes_of_the_paper():
    assert alibi_slopes(8).tolist() == [2.0**-h for h in range(1, 9)]
    assert alibi_slopes(16).tolist() == pytest.approx([2 ** (-h / 2) for h in range(1, 17)], rel=1e-7)


@pytest.mark.parametrize("n_heads", [1, 2, 3, 5, 6, 7, 8, 12, 20, 31, 32, 71, 112])
def test_slopes_are_those_of_bloom(n_heads):
    slope_times_position = build_alibi_tensor(torch.ones(1, 2, dtype=torch.long), n_heads, torch.float32)
    torch.testing.assert_close(alibi_slopes(n_heads), slope_times_position[:, 0, 1], rtol=1e-5, atol=0)


@given(st.integers(1, 300))
def test_slopes_are_positive_and_distinct(n_heads):
    slopes = alibi_slopes(n_heads)
    assert len(slopes.unique()) == n_heads
    assert slopes.min() > 0
    assert slopes.max() < 1


def test_bias_is_minus_slope_times_distance():
    bias = alibi_bias(2, 3, 3)
    distance = torch.tensor([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert bias.shape == (1, 2, 3, 3)
    assert torch.equal(bias[0], -torch.stack([distance / 16, distance / 256]))


@given(st.integers(1, 9), st.integers(0, 12), st.integers(0, 12))
def test_fewer_queries_than_keys_are_the_last_rows(n_heads, n_queries, more):
    n_keys = n_queries + more
    assert torch.equal(
        alibi_bias(n_heads, n_queries, n_keys), alibi_bias(n_heads, n_keys, n_keys)[:, :, more:]
    )


def test_attention_with_the_bias_equals_the_shifted_bias_of_bloom():
    q, k, v = torch.randn(3, 2, 6, 10, 8, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    # Bloom adds slope * j, which differs from -slope * (i - j) by a constant in each row: softmax ignores it.
    bloom = build_alibi_tensor(torch.ones(1, 10, dtype=torch.long), 6, torch.float64).unsqueeze(0)
    hidden = torch.ones(10, 10, dtype=torch.bool).triu(1)
    scores = (q @ k.mT / 8**0.5 + bloom).masked_fill(hidden, -torch.inf)
    out = attention(q, k, v, pattern=causal(), impl="reference", bias=alibi_bias(6, 10, 10).double())
    torch.testing.assert_close(out, scores.softmax(-1) @ v, rtol=1e-6, atol=1e-7)


def test_bad_input_is_one_line_that_says_what_is_needed():
    with pytest.raises(ValueError, match=r"^n_heads: got 0, needs at least 1$"):
        alibi_slopes(0)
    with pytest.raises(ValueError, match=r"^n_heads: got -2, needs at least 1$"):
        alibi_bias(-2, 3, 3)
    with pytest.raises(ValueError, match=r"^n_keys: got -1, needs 0 or more$"):
        alibi_bias(2, 3, -1)
