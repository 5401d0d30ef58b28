"""The tiled implementation: any tile size, gradients by finite differences, the saved log-sum-exp, its memory."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.attention import tiled
from coursepkg.attention.pattern import causal, padding, sliding_window
from coursepkg.attention.tiled import TileGrid
from tests.attention.cases import PATTERNS, gradients, make_qkv, oracle

PLAIN = {"scale": 8**-0.5, "bias": None, "dropout_p": 0.0, "dropout_seed": 0}


@settings(deadline=None, max_examples=80)
@given(
    st.sampled_from(sorted(PATTERNS)),
    st.integers(1, 13),
    st.integers(1, 13),
    st.sampled_from([1, 2, 4]),
    st.integers(0, 10**6),
)
def test_any_tile_size_equals_the_oracle(name, tile_q, tile_k, n_kv_heads, seed):
    q, k, v = make_qkv(n_kv_heads=n_kv_heads, seed=seed)
    output = tiled.run(q, k, v, PATTERNS[name], tile_q=tile_q, tile_k=tile_k, **PLAIN)
    exact = oracle(q, k, v, PATTERNS[name])
    torch.testing.assert_close(output, exact, rtol=0, atol=1e-12)
    torch.testing.assert_close(gradients(output, (q, k, v)), gradients(exact, (q, k, v)), rtol=0, atol=1e-11)


@pytest.mark.parametrize("pattern", [None, causal(), causal() & sliding_window(3), padding([0, 4])], ids=str)
@pytest.mark.parametrize("dropout_p", [0.0, 0.4])
def test_gradcheck(pattern, dropout_p):
    q, k, v = make_qkv(n_queries=5, n_keys=5, head_dim=3)
    bias = torch.randn(
        4, 5, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(2), requires_grad=True
    )

    def function(q, k, v, bias):
        options = {"scale": 0.5, "bias": bias[None], "dropout_p": dropout_p, "dropout_seed": 7}
        return tiled.run(q, k, v, pattern, tile_q=2, tile_k=3, **options)

    assert torch.autograd.gradcheck(function, (q, k, v, bias))


def test_log_sum_exp_is_saved_for_each_row():
    q, k, v = (x.detach() for x in make_qkv(n_kv_heads=4))
    grid = TileGrid.of(q, k, padding([0, 11]) & causal(), 4, 3, 0.0, 0)
    _, log_sum_exp = tiled.forward_pass(q, k, v, None, 0.3, grid)
    scores = (q @ k.transpose(2, 3) * 0.3).masked_fill(~causal().mask(11, 11), -torch.inf)
    torch.testing.assert_close(log_sum_exp[1, :, :, 0], scores[1].logsumexp(-1), rtol=0, atol=1e-12)
    assert (log_sum_exp[0] == torch.inf).all(), "a row that sees nothing has +inf, so that exp(s - L) is zero"


def test_huge_scores_do_not_overflow():
    q, k, v = make_qkv(dtype=torch.float32)
    output = tiled.run(q * 1e4, k * 1e4, v, causal(), tile_q=4, tile_k=4, **PLAIN)
    assert torch.isfinite(output).all()


def test_half_precision_is_accumulated_in_single():
    q, k, _ = make_qkv(dtype=torch.bfloat16)
    grid = TileGrid.of(q, k, None, 4, 4, 0.0, 0)
    assert grid.dtype == torch.float32
    assert grid.scratch(next(grid.key_tiles(slice(0, 4)))).dtype == torch.float32


def test_empty_tiles_are_not_visited():
    """NaN planted where only hidden pairs look reaches neither the output nor the gradients."""
    q, k, v = (x.detach() for x in make_qkv(batch=1, n_kv_heads=4, n_queries=16, n_keys=16))
    k[:, :, :4], v[:, :, :4] = torch.nan, torch.nan
    q, k, v = (x.requires_grad_() for x in (q, k, v))
    output = tiled.run(q, k, v, causal() & sliding_window(4), tile_q=4, tile_k=4, **PLAIN)
    assert torch.isfinite(output[:, :, 8:]).all()
    grads = torch.autograd.grad(output[:, :, 8:].sum(), (q, k, v), retain_graph=True)
    assert torch.isfinite(grads[0][:, :, 8:]).all()
