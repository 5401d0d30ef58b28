"""Linear attention: three forms of one function, its state, its gradients and its precision."""

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.attention.linear import (
    FEATURE_MAPS,
    MODES,
    LinearState,
    favor_features,
    linear_attention,
    linear_step,
)

MAPS = {**FEATURE_MAPS, "favor+": favor_features(4, 6, seed=0)}


def tensors(n_heads=4, n_kv_heads=2, n_queries=11, n_keys=None, batch=2, dim=4, dtype=torch.float64, seed=0):
    generator = torch.Generator().manual_seed(seed)
    n_keys = n_queries if n_keys is None else n_keys
    shapes = [(n_heads, n_queries), (n_kv_heads, n_keys), (n_kv_heads, n_keys)]
    return [
        torch.randn(batch, *shape, dim, dtype=torch.float64, generator=generator).to(dtype)
        for shape in shapes
    ]


def by_loops(q, k, v, phi, causal):
    """The formula, one number after the other."""
    out = torch.zeros(*q.shape[:3], v.shape[-1], dtype=q.dtype)
    per_group = q.shape[1] // k.shape[1]
    for b, h, i in torch.cartesian_prod(*(torch.arange(n) for n in q.shape[:3])).tolist():
        keys, values = k[b, h // per_group], v[b, h // per_group]
        seen = range(i + 1 if causal else len(keys))
        weights = [phi.queries(q[b, h, i]) @ phi.keys(keys[j]) for j in seen]
        total = sum(weights)
        if total > 0:
            out[b, h, i] = sum(w * values[j] for w, j in zip(weights, seen, strict=True)) / total
    return out


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", MAPS)
def test_every_mode_is_the_formula(name, mode, causal):
    q, k, v = tensors(n_queries=7)
    out = linear_attention(q, k, v, feature_map=MAPS[name], mode=mode, causal=causal, chunk_size=3)
    torch.testing.assert_close(out, by_loops(q, k, v, MAPS[name], causal), rtol=1e-10, atol=1e-12)


def test_default_arguments_are_elu_plus_one_causal():
    q, k, v = tensors()
    torch.testing.assert_close(linear_attention(q, k, v), by_loops(q, k, v, MAPS["elu+1"], causal=True))


@given(
    n_tokens=st.integers(0, 40),
    chunk_size=st.integers(1, 50),
    n_kv_heads=st.sampled_from([1, 2, 4]),
    name=st.sampled_from(list(MAPS)),
)
@settings(max_examples=60, deadline=None)
def test_chunk_size_never_changes_the_result(n_tokens, chunk_size, n_kv_heads, name):
    q, k, v = tensors(n_kv_heads=n_kv_heads, n_queries=n_tokens)
    parallel = linear_attention(q, k, v, feature_map=MAPS[name], mode="parallel")
    chunked = linear_attention(q, k, v, feature_map=MAPS[name], chunk_size=chunk_size)
    torch.testing.assert_close(chunked, parallel, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("chunk_size", [48, 64, 1000])
def test_sequences_longer_than_a_segment(chunk_size):
    q, k, v = tensors(n_queries=1500, batch=1)
    parallel, expected = linear_attention(q, k, v, mode="parallel", return_state=True)
    chunked, state = linear_attention(q, k, v, chunk_size=chunk_size, return_state=True)
    torch.testing.assert_close(chunked, parallel, rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(state, expected, rtol=1e-9, atol=1e-11)


@given(
    n_tokens=st.integers(1, 25),
    split=st.floats(0, 1),
    first=st.sampled_from(MODES),
    second=st.sampled_from(MODES),
    name=st.sampled_from(list(MAPS)),
)
@settings(max_examples=80, deadline=None)
def test_state_is_handed_over_at_any_split_between_any_modes(n_tokens, split, first, second, name):
    q, k, v = tensors(n_queries=n_tokens)
    options = {"feature_map": MAPS[name], "chunk_size": 4, "return_state": True}
    whole, final = linear_attention(q, k, v, mode="parallel", **options)
    at = round(split * n_tokens)
    head, state = linear_attention(q[:, :, :at], k[:, :, :at], v[:, :, :at], mode=first, **options)
    tail, last = linear_attention(
        q[:, :, at:], k[:, :, at:], v[:, :, at:], mode=second, state=state, **options
    )
    torch.testing.assert_close(torch.cat([head, tail], dim=2), whole, rtol=1e-9, atol=1e-11)
    torch.testing.assert_close(last, final, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("mode", MODES)
def test_keys_may_come_in_parts_without_causality(mode):
    q, k, v = tensors(n_queries=5, n_keys=9)
    whole = linear_attention(q, k, v, causal=False, mode=mode)
    assert whole.shape == q.shape
    _, state = linear_attention(q, k[:, :, :4], v[:, :, :4], causal=False, mode=mode, return_state=True)
    rest = linear_attention(q, k[:, :, 4:], v[:, :, 4:], causal=False, mode=mode, state=state)
    torch.testing.assert_close(rest, whole)


@given(st.integers(1, 20), st.integers(0, 19), st.sampled_from(MODES), st.sampled_from(list(MAPS)))
@settings(max_examples=60, deadline=None)
def test_the_future_never_changes_the_past(n_tokens, cut, mode, name):
    cut = min(cut, n_tokens)
    q, k, v = tensors(n_queries=n_tokens)
    before = linear_attention(q, k, v, feature_map=MAPS[name], mode=mode, chunk_size=6)
    for x in (q, k, v):
        x[:, :, cut:] = 1e4  # far beyond any past key: a shift shared by all keys would show
    after = linear_attention(q, k, v, feature_map=MAPS[name], mode=mode, chunk_size=6)
    torch.testing.assert_close(after[:, :, :cut], before[:, :, :cut], rtol=1e-9, atol=1e-11)
    assert after.isfinite().all()


def test_linear_step_token_by_token_is_one_pass():
    q, k, v = tensors(n_queries=9)
    state, outputs = None, []
    for t in range(9):
        out, state = linear_step(*(x[:, :, t : t + 1] for x in (q, k, v)), state, feature_map="relu")
        outputs.append(out)
        assert state.kv.shape == (2, 2, 4, 4)
        assert state.k_sum.shape == (2, 2, 4)
    torch.testing.assert_close(torch.cat(outputs, dim=2), linear_attention(q, k, v, feature_map="relu"))


def test_state_is_the_sums_of_its_definition():
    q, k, v = tensors()
    _, state = linear_attention(q, k, v, return_state=True)
    phi_k = F.elu(k) + 1
    torch.testing.assert_close(state.kv, torch.einsum("bgsf,bgsd->bgfd", phi_k, v))
    torch.testing.assert_close(state.k_sum, phi_k.sum(dim=2))


@pytest.mark.parametrize("mode", MODES)
def test_grouped_heads_equal_repeated_heads(mode):
    q, k, v = tensors(n_heads=6, n_kv_heads=2)
    repeated = linear_attention(
        q, k.repeat_interleave(3, 1), v.repeat_interleave(3, 1), mode=mode, chunk_size=4
    )
    torch.testing.assert_close(linear_attention(q, k, v, mode=mode, chunk_size=4), repeated)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("mode", MODES)
def test_a_row_whose_normaliser_is_zero_is_zero_and_so_are_its_gradients(mode, causal):
    q, k, v = tensors(n_queries=6)
    q[:, :, 2] = -1.0  # relu features of this query are all zero
    k[:, :, :2] = -1.0  # and so are those of the first two keys
    for x in (q, k, v):
        x.requires_grad_()
    out = linear_attention(q, k, v, feature_map="relu", mode=mode, causal=causal, chunk_size=4)
    zero_rows = [0, 1, 2] if causal else [2]
    assert torch.equal(out[:, :, zero_rows], torch.zeros_like(out[:, :, zero_rows]))
    out.sum().backward()
    assert all(x.grad.isfinite().all() for x in (q, k, v))


@pytest.mark.parametrize("mode", MODES)
def test_no_keys_or_no_queries(mode):
    q, k, v = tensors(n_queries=3, n_keys=0)
    assert torch.equal(linear_attention(q, k, v, causal=False, mode=mode), torch.zeros_like(q))
    q, k, v = tensors(n_queries=0)
    assert linear_attention(q, k, v, mode=mode).shape == (2, 4, 0, 4)


def test_values_may_have_another_dimension():
    q, k, v = tensors()
    wide = torch.cat([v, v * 2, v * 3], dim=-1)
    out = linear_attention(q, k, wide)
    torch.testing.assert_close(out, torch.cat([linear_attention(q, k, x * v) for x in (1, 2, 3)], dim=-1))


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("name", ["elu+1", "exp", "favor+", "squared-relu"])
@pytest.mark.parametrize("mode", MODES)
def test_gradcheck_through_the_output_and_both_states(mode, name, causal):
    q, k, v = tensors(n_heads=2, n_kv_heads=1, n_queries=4, batch=1, dim=4)
    _, state = linear_attention(*tensors(2, 1, 3, batch=1, seed=1), feature_map=MAPS[name], return_state=True)

    def run(q, k, v, kv, k_sum):
        out, after = linear_attention(
            q, k, v, feature_map=MAPS[name], mode=mode, causal=causal, chunk_size=3,
            state=LinearState(kv, k_sum), return_state=True,
        )  # fmt: skip
        return out, after.kv, after.k_sum

    leaves = [x.detach().requires_grad_() for x in (q, k, v, *state)]
    assert torch.autograd.gradcheck(run, leaves)


def test_gradients_across_segments_equal_those_of_the_parallel_form():
    grads = []
    for mode in ("parallel", "chunked"):
        leaves = [x.requires_grad_() for x in tensors(n_queries=1100, batch=1)]
        linear_attention(*leaves, mode=mode).square().sum().backward()
        grads.append([x.grad for x in leaves])
    torch.testing.assert_close(grads[1], grads[0], rtol=1e-8, atol=1e-10)


def in_one_precision(q, k, v):
    """Linear attention with every step in the dtype of the inputs, group size 1, causal."""
    phi_q, phi_k = F.elu(q) + 1, F.elu(k) + 1
    kernel = (phi_q @ phi_k.mT).tril()
    return (kernel @ v) / kernel.sum(dim=-1, keepdim=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("mode", MODES)
def test_error_is_at_most_twice_that_of_the_plain_formula(mode, dtype):
    q, k, v = tensors(n_kv_heads=4, n_queries=200, dim=16, dtype=dtype)
    exact = in_one_precision(*(x.double() for x in (q, k, v)))
    out = linear_attention(q, k, v, mode=mode)
    assert out.dtype == dtype
    plain = (in_one_precision(q, k, v).double() - exact).abs().max()
    assert (out.double() - exact).abs().max() <= 2 * plain


def test_half_precision_sums_are_kept_in_float32():
    # 5,000 equal keys: a float16 sum would stop at 2,048, where adding 1 changes nothing any more.
    ones = torch.ones(1, 1, 5000, 2, dtype=torch.float16)
    out, state = linear_attention(ones, ones, ones, feature_map="relu", return_state=True)
    assert state.kv.dtype == torch.float32
    assert state.k_sum.eq(5000).all()
    assert out.eq(1).all()


def test_autocast_does_not_lower_the_sums():
    q, k, v = tensors(dtype=torch.float32)
    expected = linear_attention(q, k, v)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        torch.testing.assert_close(linear_attention(q, k, v), expected, rtol=0, atol=0)


def test_favor_approaches_softmax_attention():
    q, k, v = tensors(n_kv_heads=4, n_queries=30, dim=8)
    q, k = q / 2, k / 2
    exact = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    errors = [
        (linear_attention(q, k, v, feature_map=favor_features(8, n, seed=1)) - exact).square().mean().sqrt()
        for n in (8, 128, 2048)
    ]
    assert errors[0] > 2 * errors[1] > 4 * errors[2]
    assert errors[2] < 0.1


def test_large_inputs_stay_finite():
    q, k, v = tensors(n_queries=70, dtype=torch.float32)
    for name, phi in MAPS.items():
        out = linear_attention(q * 300, k * 300, v, feature_map=phi)
        assert out.isfinite().all(), name


def swap(**changes):
    """Keyword arguments of a valid call with some of them replaced."""
    q, k, v = tensors()
    return {"q": q, "k": k, "v": v, **changes}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mode": "fast"}, "^mode: got 'fast', needs one of parallel, chunked, recurrent$"),
        ({"chunk_size": 0}, "^chunk_size: got 0, needs at least 1$"),
        ({"feature_map": "gelu"}, "^feature_map: got 'gelu', needs one of"),
        (
            {"q": torch.zeros(2, 11, 4)},
            r"^q: got \(2, 11, 4\) of torch.float32, needs \(B, H, T, D\) of a float dtype$",
        ),
        (
            {"k": torch.zeros(2, 2, 11, 4, dtype=torch.int64)},
            "^k: got .* of torch.int64, needs .* of a float dtype$",
        ),
        ({"v": torch.zeros(2, 2, 11, 4)}, "^v: got torch.float32 on cpu, needs q's torch.float64 on cpu$"),
        (
            {"k": torch.zeros(2, 2, 11, 4, dtype=torch.float64, device="meta")},
            "^k: got .* on meta, needs q's",
        ),
        ({"k": torch.zeros(3, 2, 11, 4).double()}, "^k: got .*, needs q's batch 2 and head dim 4$"),
        ({"k": torch.zeros(2, 2, 11, 8).double()}, "^k: got .*, needs q's batch 2 and head dim 4$"),
        ({"v": torch.zeros(2, 2, 10, 4).double()}, r"^v: got .*, needs k's \(B, G, S\) = \(2, 2, 11\)$"),
        ({"q": torch.zeros(2, 3, 11, 4).double()}, "^k: got 2 heads, needs a divisor of q's 3 heads$"),
        (
            {"q": torch.zeros(2, 4, 5, 4).double()},
            "^causal: got 5 queries and 11 keys, needs as many of both",
        ),
        (
            {"state": LinearState(torch.zeros(2, 2, 5, 4), torch.zeros(2, 2, 5))},
            r"^state.kv: got \(2, 2, 5, 4\) on cpu, needs .* \(2, 2, 4, 4\)",
        ),
        (
            {"state": LinearState(torch.zeros(2, 2, 4, 4), torch.zeros(2, 2, 5))},
            r"^state.k_sum: got \(2, 2, 5\) on cpu, needs .* \(2, 2, 4\)",
        ),
    ],
)
def test_bad_input_is_one_line_that_says_what_is_needed(changes, message):
    with pytest.raises(ValueError, match=message) as caught:
        linear_attention(**swap(**changes))
    assert "\n" not in str(caught.value)


def test_linear_step_takes_one_token():
    with pytest.raises(ValueError, match=r"^q: got 11 tokens, needs 1"):
        linear_step(*tensors())
