"""Attention to the top scores against a sort of the dense scores."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.attention.pattern import causal, from_predicate, padding, random_blocks, sliding_window
from coursepkg.attention.topk import top_scores_attention, topk_mask
from tests.attention.cases import PATTERNS, gradients, make_qkv, oracle
from tests.refusals import assert_refused


def kept_pairs(q, k, n_keep, pattern):
    """bool (B, H, T, S): a stable sort of each row's visible scores, the first `n_keep` of it."""
    batch, n_heads, n_queries, head_dim = q.shape
    n_keys = k.shape[2]
    keys = k.repeat_interleave(n_heads // k.shape[1], dim=1)
    scores = (q @ keys.transpose(-2, -1) * head_dim**-0.5).detach()
    visible = torch.ones(batch, n_heads, n_queries, n_keys, dtype=torch.bool)
    if pattern is not None:
        visible = pattern.mask(n_queries, n_keys, batch=batch, heads=n_heads).expand_as(visible)
    order = scores.masked_fill(~visible, -torch.inf).sort(dim=-1, descending=True, stable=True).indices
    first = torch.zeros_like(visible).scatter_(-1, order[..., :n_keep], True)
    return first & visible


def expected(q, k, v, n_keep, pattern):
    kept = kept_pairs(q, k, n_keep, pattern)
    return oracle(
        q, k, v, from_predicate(lambda b, h, i, j: kept[b, h, i - k.shape[2] + q.shape[2], j], "kept")
    )


def assert_same(inputs, output, exact):
    torch.testing.assert_close(output, exact, rtol=0, atol=1e-12)
    torch.testing.assert_close(gradients(output, inputs), gradients(exact, inputs), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n_keep", [1, 3, 10])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_equals_a_sort_of_the_dense_scores(pattern, n_keep):
    inputs = make_qkv()
    output = top_scores_attention(*inputs, n_keep, pattern=PATTERNS[pattern], block=4)
    assert_same(inputs, output, expected(*inputs, n_keep, PATTERNS[pattern]))


@settings(max_examples=40, deadline=None)
@given(
    n_queries=st.integers(1, 15),
    n_keys=st.integers(1, 15),
    n_kv_heads=st.sampled_from([1, 2, 4]),
    n_keep=st.integers(1, 20),
    window=st.integers(1, 15),
    block=st.integers(1, 16),
)
def test_any_sizes(n_queries, n_keys, n_kv_heads, n_keep, window, block):
    inputs = make_qkv(n_queries=n_queries, n_keys=n_keys, n_kv_heads=n_kv_heads, head_dim=3)
    pattern = sliding_window(window)
    output = top_scores_attention(*inputs, n_keep, pattern=pattern, block=block)
    assert_same(inputs, output, expected(*inputs, n_keep, pattern))


@pytest.mark.parametrize("pattern", ["none", "causal", "bigbird", "padded causal"])
def test_keeping_every_key_is_plain_attention(pattern):
    inputs = make_qkv()
    output = top_scores_attention(*inputs, 11, pattern=PATTERNS[pattern], block=4)
    assert_same(inputs, output, oracle(*inputs, PATTERNS[pattern]))


def test_equal_scores_are_kept_from_the_first_key_on():
    scores = torch.tensor(
        [[1.0, 2.0, 1.0, 2.0, 1.0], [0.0, 0.0, 0.0, 0.0, 0.0], [3.0, 1.0, -torch.inf, 1.0, 1.0]]
    )
    topk_mask(scores, n_keep=3)
    kept = [
        [True, True, False, True, False],
        [True, True, True, False, False],
        [True, True, False, True, False],
    ]
    assert (scores > -torch.inf).tolist() == kept


def test_a_row_with_fewer_visible_keys_keeps_them_all():
    scores = torch.tensor([[-torch.inf, 2.0, -torch.inf, 1.0], [-torch.inf] * 4])
    before = scores.clone()
    topk_mask(scores, n_keep=3)
    assert torch.equal(scores, before)


def test_ties_across_blocks_give_the_first_values():
    """All keys equal: the output is the mean of the first two visible values, in any block size."""
    _, _, v = make_qkv(batch=1, n_heads=1, n_kv_heads=1)
    q, k = torch.ones_like(v), torch.ones_like(v)
    for block in (1, 4, 11, 64):
        output = top_scores_attention(q, k, v, 2, pattern=sliding_window(4), block=block)
        first = torch.arange(11).sub(3).clamp(min=0)
        torch.testing.assert_close(
            output[0, 0], (v[0, 0, first] + v[0, 0, first + 1]) / 2, rtol=0, atol=1e-12
        )


def test_gradcheck():
    q, k, v = make_qkv(batch=1, n_heads=2, n_kv_heads=1, n_queries=4, n_keys=5, head_dim=2)
    assert torch.autograd.gradcheck(
        lambda *x: top_scores_attention(*x, 2, pattern=causal(), block=3), (q, k, v), eps=1e-7
    )


def test_no_gradient_reaches_a_key_that_nobody_kept():
    q, k, v = make_qkv(batch=1, n_heads=1, n_kv_heads=1)
    kept = kept_pairs(q, k, 1, None).any(dim=2)[0, 0]
    assert not kept.all()
    _, _, dv = gradients(top_scores_attention(q, k, v, 1), (q, k, v))
    assert torch.equal(dv[0, 0].any(dim=-1), kept)


def test_blocks_outside_the_pattern_are_never_read():
    pattern = random_blocks(1, 4)
    q, k, v = make_qkv(n_queries=4, n_keys=16)
    hidden = ~pattern.mask(4, 16)[0, 0].any(dim=0)
    exact = top_scores_attention(q, k, v, 2, pattern=pattern, block=4)
    k, v = (x.detach().clone() for x in (k, v))
    k[:, :, hidden] = v[:, :, hidden] = float("nan")
    assert torch.equal(top_scores_attention(q, k, v, 2, pattern=pattern, block=4), exact)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
def test_half_precision_chooses_in_float32(dtype):
    """Against float64 on the same inputs: no more than the rounding of the output and of float32 sums."""
    inputs = make_qkv(dtype=dtype)
    wide = [x.detach().double() for x in inputs]
    output = top_scores_attention(*inputs, 3, pattern=causal(), block=4)
    assert output.dtype == dtype
    exact = expected(*wide, 3, causal())
    room = 2 * torch.finfo(dtype).eps * exact.abs().max() + 2e-6
    assert (output.double() - exact).abs().max() <= room


def test_rows_without_keys_are_zero():
    q, k, v = make_qkv()
    output = top_scores_attention(q, k, v, 2, pattern=padding([0, 11]))
    assert not output[0].any()
    assert all(not grad[0].any() for grad in gradients(output, (q, k, v)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_keep": 0}, "n_keep must be an integer of at least 1, got 0"),
        ({"block": 0}, "block must be an integer of at least 1, got 0"),
        ({"k": torch.zeros(2, 4, 8)}, r"k must have 4 dimensions .* got \(2, 4, 8\)"),
        ({"v": torch.zeros(2, 2, 9, 8)}, r"v must have the shape of k \(2, 2, 11, 8\), got \(2, 2, 9, 8\)"),
        (
            {"k": torch.zeros(2, 2, 11, 8).half()},
            "k must be floating point in the dtype .* got torch.float16",
        ),
        ({"q": torch.zeros(2, 3, 11, 8)}, "k must have a divisor of the 3 query heads, got 2 heads"),
        ({"q": torch.zeros(1, 4, 11, 8)}, "k must share batch 1 and head dim 8"),
        ({"q": torch.zeros(2, 4, 0, 8)}, "must not be empty"),
        ({"pattern": padding([3])}, "pattern padding has 1 lengths, but the batch has 2"),
    ],
    ids=str,
)
def test_mistakes_are_named(change, message):
    q, k, v = make_qkv(dtype=torch.float32)
    arguments = {"q": q, "k": k, "v": v, "n_keep": 2, **change}
    with pytest.raises(ValueError, match=message) as error:
        top_scores_attention(**arguments)
    assert "\n" not in str(error.value)


def test_wrong_types_are_named_too():
    preparation = """
import torch
from coursepkg.attention import top_scores_attention
q = torch.zeros(1, 1, 2, 2)
"""
    assert_refused(
        preparation,
        {
            "top_scores_attention([1.0], q, q, 2)": (
                "q must have 4 dimensions (batch, heads, length, head dim), got list"
            ),
            "top_scores_attention(q, q, q, 2.0)": "n_keep must be an integer of at least 1, got 2.0",
            "top_scores_attention(q, q, q, 2, pattern='causal')": (
                "pattern must be a Pattern such as sliding_window(4), got str"
            ),
        },
    )
