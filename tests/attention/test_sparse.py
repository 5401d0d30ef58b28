"""Block-sparse attention: exact under any pattern, and blind to every block outside the pattern."""

import operator

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.attention import block_sparse, reference
from coursepkg.attention.dropout import full_keep_mask
from coursepkg.attention.pattern import (
    causal,
    dilated_window,
    from_predicate,
    full,
    global_tokens,
    padding,
    per_head,
    random_blocks,
    sliding_window,
)
from tests.attention.cases import PATTERNS, gradients, make_qkv, oracle

BLOCK = 4
"""Small enough that a case of 11 positions has full, partial, empty and ragged blocks."""


def run(q, k, v, pattern, *, bias=None, dropout_p=0.0, seed=0, block=BLOCK):
    scale = q.shape[-1] ** -0.5
    return block_sparse.run(
        q, k, v, pattern, scale=scale, bias=bias, dropout_p=dropout_p, dropout_seed=seed, block=block
    )


def assert_same(inputs, output, exact, atol=1e-12):
    """Equal outputs, and equal gradients of every input."""
    torch.testing.assert_close(output, exact, rtol=0, atol=atol)
    torch.testing.assert_close(gradients(output, inputs), gradients(exact, inputs), rtol=0, atol=atol)


@pytest.mark.parametrize("n_kv_heads", [1, 2, 4])
@pytest.mark.parametrize("pattern", PATTERNS)
def test_equals_the_oracle(pattern, n_kv_heads):
    inputs = make_qkv(n_kv_heads=n_kv_heads)
    assert_same(inputs, run(*inputs, PATTERNS[pattern]), oracle(*inputs, PATTERNS[pattern]))


def heads(*patterns):
    return per_head(patterns)


def every(n):
    return from_predicate(lambda b, h, i, j: (i + j + h + b) % n == 0, f"every({n})")


# A strategy draws a description; the pattern is made from it in the test, where code may use what it likes.
atoms = st.one_of(
    st.tuples(st.just(full)),
    st.tuples(st.just(causal)),
    st.tuples(st.just(sliding_window), st.integers(1, 12)),
    st.tuples(st.just(dilated_window), st.integers(1, 4), st.integers(1, 5)),
    st.tuples(st.just(global_tokens), st.integers(1, 4)),
    st.tuples(st.just(random_blocks), st.just(1), st.integers(1, 6), st.integers(0, 9)),
    st.tuples(st.just(padding), st.lists(st.integers(0, 4), min_size=2, max_size=2)),
    st.tuples(st.just(every), st.integers(2, 5)),
)
compositions = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.tuples(st.just(operator.and_), inner, inner),
        st.tuples(st.just(operator.or_), inner, inner),
        st.tuples(st.just(heads), inner, inner, inner, inner),
    ),
    max_leaves=5,
)


def build(description):
    make, *arguments = description
    return make(*(build(x) if isinstance(x, tuple) else x for x in arguments))


@settings(max_examples=80, deadline=None)
@given(
    description=compositions,
    n_queries=st.integers(1, 19),
    n_keys=st.integers(4, 19),
    n_kv_heads=st.sampled_from([1, 2, 4]),
    block=st.integers(1, 20),
)
def test_any_composition_any_sizes_any_block(description, n_queries, n_keys, n_kv_heads, block):
    inputs = make_qkv(n_queries=n_queries, n_keys=n_keys, n_kv_heads=n_kv_heads, head_dim=3)
    pattern = build(description)
    assert_same(inputs, run(*inputs, pattern, block=block), oracle(*inputs, pattern))


@pytest.mark.parametrize(
    "bias_shape", [(2, 4, 11, 11), (1, 4, 11, 11), (2, 1, 1, 11), (1, 1, 11, 1)], ids=str
)
@pytest.mark.parametrize("pattern", ["none", "bigbird", "causal dilated", "padding", "per head"])
def test_bias_and_its_gradient(pattern, bias_shape):
    generator = torch.Generator().manual_seed(3)
    bias = torch.randn(bias_shape, dtype=torch.float64, generator=generator, requires_grad=True)
    q, k, v = make_qkv()
    output = run(q, k, v, PATTERNS[pattern], bias=bias)
    assert_same((q, k, v, bias), output, oracle(q, k, v, PATTERNS[pattern], bias=bias))


@pytest.mark.parametrize("n_kv_heads", [1, 4])
@pytest.mark.parametrize(
    "pattern", ["none", "causal window", "causal dilated", "bigbird", "padding", "per head"]
)
def test_dropout_drops_the_entries_of_the_shared_mask(pattern, n_kv_heads):
    inputs = make_qkv(n_kv_heads=n_kv_heads)
    keep = full_keep_mask(0.3, 17, (2, 4, 11, 11), torch.device("cpu"))
    exact = oracle(*inputs, PATTERNS[pattern], keep=keep, dropout_p=0.3)
    assert_same(inputs, run(*inputs, PATTERNS[pattern], dropout_p=0.3, seed=17), exact)


@pytest.mark.parametrize("n_queries", [2, 7])
def test_gradcheck(n_queries):
    """Finite differences know nothing of the formula for the backward pass."""
    pattern = (sliding_window(3) | global_tokens(1)) & padding([4])
    q, k, v = make_qkv(batch=1, n_heads=2, n_kv_heads=1, n_queries=n_queries, n_keys=5, head_dim=2)
    bias = torch.zeros(1, 2, n_queries, 1, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda *x: run(*x[:3], pattern, bias=x[3]), (q, k, v, bias))
    assert torch.autograd.gradcheck(lambda *x: run(*x, pattern, dropout_p=0.2, seed=5), (q, k, v))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("name", ["window", "bigbird", "per head"])
def test_rounding_is_at_most_twice_that_of_the_plain_formula(name, dtype):
    inputs = make_qkv(n_queries=11, head_dim=32, dtype=dtype)
    wide = [x.detach().double().requires_grad_() for x in inputs]
    pattern = PATTERNS[name]
    plain = reference.run(*inputs, pattern, scale=32**-0.5, bias=None, dropout_p=0.0, dropout_seed=0)
    output, exact = run(*inputs, pattern), oracle(*wide, pattern)
    exact = (exact, *gradients(exact, wide))

    def worst(result):
        values = (result, *gradients(result, inputs))
        return torch.stack([(x.double() - y).abs().max() for x, y in zip(values, exact, strict=True)])

    ours, limit = worst(output), 2 * worst(plain) + torch.finfo(dtype).eps
    assert output.dtype == dtype
    assert (ours <= limit).all(), (ours, limit)


def planted(x, hidden, value=float("nan")):
    """A copy of x (B, H, S, D) with `value` at the positions where hidden (B, H, S) is True."""
    return x.detach().masked_fill(hidden[..., None], value).requires_grad_()


VISITING = {
    "causal window": causal() & sliding_window(6),
    "global": sliding_window(3) | global_tokens(2),
    "random": random_blocks(2, BLOCK),
    "bigbird": (sliding_window(2) | global_tokens(1) | random_blocks(1, BLOCK)) & causal(),
    "padding": padding([7, 30]) & causal(),
    "per head": per_head([causal(), sliding_window(2), random_blocks(1, BLOCK), global_tokens(1)]),
}


@pytest.mark.parametrize("pattern", VISITING)
def test_a_block_outside_the_map_is_never_read(pattern):
    """For each block of rows: NaN in every key and value that the map calls empty leaves those rows untouched."""
    pattern, size = VISITING[pattern], 32
    q, k, v = make_qkv(n_queries=size, n_keys=size, n_kv_heads=4)
    exact = oracle(q, k, v, pattern)
    may, _ = pattern.block_map(size, size, BLOCK, BLOCK, batch=2, heads=4)
    assert not may.all()
    for row, visited in enumerate(may.expand(2, 4, -1, -1).unbind(2)):
        hidden = ~visited.repeat_interleave(BLOCK, dim=-1)
        rows = slice(row * BLOCK, (row + 1) * BLOCK)
        output = run(q, planted(k, hidden), planted(v, hidden), pattern)
        torch.testing.assert_close(output[:, :, rows], exact[:, :, rows], rtol=0, atol=1e-12)


@pytest.mark.parametrize("pattern", VISITING)
def test_the_backward_pass_never_reads_it_either(pattern):
    """Four queries at the end of 32 keys: NaN in the keys they cannot see reaches no gradient."""
    pattern, size = VISITING[pattern], 32
    q, k, v = make_qkv(n_queries=BLOCK, n_keys=size, n_kv_heads=4)
    may, _ = pattern.block_map(BLOCK, size, BLOCK, BLOCK, batch=2, heads=4)
    hidden = ~may.expand(2, 4, -1, -1)[:, :, 0].repeat_interleave(BLOCK, dim=-1)
    assert hidden.any()
    output = run(q, *(inputs := (planted(k, hidden), planted(v, hidden))), pattern)
    exact = oracle(q, k, v, pattern)
    got, wanted = gradients(output, (q, *inputs)), gradients(exact, (q, k, v))
    torch.testing.assert_close(got, wanted, rtol=0, atol=1e-12)
    assert not got[1][hidden].any()
    assert not got[2][hidden].any()


@pytest.mark.parametrize("sizes", [(48, 48), (47, 50), (50, 37)], ids=str)
@pytest.mark.parametrize(
    "pattern",
    [
        dilated_window(3, 4),
        dilated_window(9, 4) & causal(),
        dilated_window(2, 4) | dilated_window(3, 6),
        dilated_window(4, 2) & padding([9, 30]),
        per_head([dilated_window(2, 3), dilated_window(3, 3), dilated_window(2, 6), dilated_window(9, 9)]),
    ],
    ids=repr,
)
def test_a_pattern_with_a_stride_reads_one_residue_class(pattern, sizes):
    """NaN in every key of another class than the last query's leaves the rows of its class untouched."""
    n_queries, n_keys = sizes
    q, k, v = make_qkv(n_queries=n_queries, n_keys=n_keys)
    others = (torch.arange(n_keys) - n_keys + 1) % pattern.stride != 0
    hidden = others.expand(2, 2, -1)
    rows = slice((n_queries - 1) % pattern.stride, None, pattern.stride)
    output = run(q, *(inputs := (planted(k, hidden), planted(v, hidden))), pattern)[:, :, rows]
    exact = oracle(q, k, v, pattern)[:, :, rows]
    torch.testing.assert_close(output, exact, rtol=0, atol=1e-12)
    assert run(q, *inputs, pattern).isnan().any()


def test_a_dilated_window_visits_as_much_as_a_window():
    fraction = [
        block_sparse.visited_fraction(dilated_window(16, d) & causal(), 960, 960, block=16) for d in (1, 4, 5)
    ]
    assert fraction[0] >= fraction[1] >= fraction[2] > 0
    assert block_sparse.visited_fraction(dilated_window(16, 4) | causal(), 960, 960, block=16) > 0.5


def test_rows_that_see_nothing_are_zero_with_zero_gradients():
    q, k, v = make_qkv()
    output = run(q, k, v, padding([0, 11]) & causal())
    dq, dk, dv = gradients(output, (q, k, v))
    for x in (output, dq, dk, dv):
        assert not x[0].any()
        assert x[1].any()


@pytest.mark.parametrize("pattern", ["causal dilated", "bigbird", "padding", "per head"])
def test_cutting_into_parts_changes_nothing(monkeypatch, pattern):
    """A limit of one block of scores makes one part for each sequence and kv head."""
    inputs = make_qkv()
    exact = oracle(*inputs, PATTERNS[pattern])
    monkeypatch.setattr(block_sparse, "MAX_SCORES", 1)
    assert_same(inputs, run(*inputs, PATTERNS[pattern]), exact)


def test_inputs_need_not_be_contiguous():
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(2, 11, 3, 4, 8, dtype=torch.float64, generator=generator)
    q, k, v = (x.transpose(1, 2).requires_grad_() for x in rows.unbind(2))
    assert not q.is_contiguous()
    assert_same((q, k, v), run(q, k, v, causal()), oracle(q, k, v, causal()))
    shared = k[:1].expand(2, -1, -1, -1)
    assert_same((q, k, v), run(q, shared, v, causal()), oracle(q, shared, v, causal()))


def test_a_window_as_long_as_the_sequence_is_causal_attention():
    inputs = make_qkv()
    assert_same(inputs, run(*inputs, sliding_window(11) & causal()), run(*inputs, causal()))


def test_heads_with_equal_maps_share_a_part():
    mixed = per_head([causal(), sliding_window(2), causal(), sliding_window(2)])
    parts = block_sparse.plan(mixed, (3, 4, 4, 64, 64), 8)
    assert sorted(part.heads.flatten().tolist() for part in parts) == [[0, 2], [1, 3]]


@pytest.mark.parametrize("n_heads", [1, 3])
def test_visited_blocks_are_counted(n_heads):
    options = {"block": 64, "heads": n_heads}
    assert block_sparse.visited_fraction(causal(), 256, 256, **options) == 10 / 16
    assert block_sparse.visited_fraction(full(), 200, 256, **options) == 1
    assert block_sparse.visited_fraction(sliding_window(65) & causal(), 256, 256, **options) == 7 / 16


def test_visited_fraction_follows_the_window_and_not_the_length():
    short, long = (block_sparse.visited_fraction(sliding_window(256), n, n) * n for n in (4096, 8192))
    assert block_sparse.visited_fraction(full(), 100, 90) == 1.0
    assert 511 < short <= long < 511 + 2 * 64
    heads = per_head([full(), sliding_window(1)])
    assert block_sparse.visited_fraction(heads, 64, 64, block=16, heads=2) == (1 + 1 / 4) / 2
