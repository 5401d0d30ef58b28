"""Rotary position embedding: parity with independent code, relative scores, both layouts, exact angles."""

import copy
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from transformers import LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

from coursepkg.attention.rope import (
    LinearScaling,
    NTKScaling,
    RotaryEmbedding,
    YaRNScaling,
    convert_projection,
    layout_permutation,
)

LAYOUTS = ("interleaved", "half")


def normal(*shape, dtype=torch.float64, seed=0):
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed)).to(dtype)


@pytest.mark.parametrize(("head_dim", "base"), [(8, 10000.0), (64, 500000.0)])
def test_half_layout_is_llama(head_dim, base):
    config = LlamaConfig(
        hidden_size=4 * head_dim,
        num_attention_heads=4,
        rope_parameters={"rope_type": "default", "rope_theta": base},
    )
    q, k = (
        normal(2, 4, 30, head_dim, dtype=torch.float32),
        normal(2, 2, 30, head_dim, dtype=torch.float32, seed=1),
    )
    cos, sin = LlamaRotaryEmbedding(config)(q, torch.arange(30)[None])
    expected = apply_rotary_pos_emb(q, k, cos, sin)
    rope = RotaryEmbedding(head_dim, base, layout="half")
    # Llama takes its angles in float32: up to 30 * 2^-24 rad of difference, on components of a few units.
    torch.testing.assert_close((rope.rotate(q), rope.rotate(k)), expected, rtol=0, atol=3e-5)


@pytest.mark.parametrize("scaling", [None, LinearScaling(4.0)])
def test_interleaved_layout_is_multiplication_by_a_complex_number(scaling):
    x = normal(2, 3, 20, 8)
    positions = torch.arange(20, dtype=torch.float64) / (scaling.factor if scaling else 1)
    angles = positions[:, None] * torch.tensor([10000 ** (-2 * i / 8) for i in range(4)], dtype=torch.float64)
    turned = torch.view_as_complex(x.unflatten(-1, (4, 2))) * torch.polar(torch.ones_like(angles), angles)
    torch.testing.assert_close(
        RotaryEmbedding(8, scaling=scaling).rotate(x),
        torch.view_as_real(turned).flatten(-2),
        rtol=1e-12,
        atol=1e-12,
    )


def test_worked_numbers():
    x = torch.tensor([1.0, 0.0, 0.0, 2.0], dtype=torch.float64).expand(1, 1, 2, 4)
    turned = RotaryEmbedding(4, base=100.0).rotate(x)[0, 0]
    assert turned[0].tolist() == [1, 0, 0, 2]
    expected = [math.cos(1), math.sin(1), -2 * math.sin(0.1), 2 * math.cos(0.1)]
    assert turned[1].tolist() == pytest.approx(expected, abs=1e-14)


@given(
    m=st.integers(0, 3000),
    n=st.integers(0, 3000),
    shift=st.integers(0, 100_000),
    layout=st.sampled_from(LAYOUTS),
    scaling=st.sampled_from([None, LinearScaling(2.5), NTKScaling(8.0), YaRNScaling(8.0, 64)]),
)
@settings(max_examples=80, deadline=None)
def test_scores_depend_only_on_the_relative_position(m, n, shift, layout, scaling):
    rope = RotaryEmbedding(8, layout=layout, scaling=scaling)
    q, k = normal(1, 2, 1, 8), normal(1, 2, 1, 8, seed=1)

    def score(i, j):
        return (
            rope.rotate(q, positions=torch.tensor([i])) * rope.rotate(k, positions=torch.tensor([j]))
        ).sum(-1)

    torch.testing.assert_close(score(m + shift, n + shift), score(m, n), rtol=0, atol=1e-9)


@given(st.integers(0, 10**6), st.sampled_from(LAYOUTS), st.sampled_from([2, 6, 64]))
@settings(max_examples=40, deadline=None)
def test_norm_is_preserved(position, layout, head_dim):
    x = normal(2, 3, 1, head_dim)
    turned = RotaryEmbedding(head_dim, layout=layout).rotate(x, positions=torch.tensor([position]))
    torch.testing.assert_close(turned.norm(dim=-1), x.norm(dim=-1), rtol=1e-12, atol=0)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_permutation_of_components_leads_from_one_layout_to_the_other(layout):
    x = normal(2, 3, 9, 8)
    order = layout_permutation(8)
    half, interleaved = RotaryEmbedding(8, layout="half"), RotaryEmbedding(8, layout="interleaved")
    torch.testing.assert_close(half.rotate(x[..., order]), interleaved.rotate(x)[..., order], rtol=0, atol=0)
    torch.testing.assert_close(
        half.rotate(x)[..., order.argsort()], interleaved.rotate(x[..., order.argsort()])
    )
    assert order.tolist() == [0, 2, 4, 6, 1, 3, 5, 7]


def test_the_layouts_are_not_interchangeable():
    x = normal(1, 1, 4, 8)
    assert not torch.allclose(RotaryEmbedding(8, layout="half").rotate(x), RotaryEmbedding(8).rotate(x))


def scores(x, w_q, w_k, layout, n_heads, n_kv_heads):
    rope = RotaryEmbedding(w_q.shape[0] // n_heads, layout=layout)
    q = rope.rotate((x @ w_q.T).unflatten(-1, (n_heads, -1)).transpose(1, 2))
    k = rope.rotate((x @ w_k.T).unflatten(-1, (n_kv_heads, -1)).transpose(1, 2))
    return q @ k.repeat_interleave(n_heads // n_kv_heads, dim=1).mT


@pytest.mark.parametrize(("source", "target"), [("interleaved", "half"), ("half", "interleaved")])
def test_converted_projections_give_the_same_scores(source, target):
    x, w_q, w_k = normal(2, 7, 12), normal(4 * 6, 12, seed=1), normal(2 * 6, 12, seed=2)
    before = scores(x, w_q, w_k, source, 4, 2)
    after = scores(
        x, convert_projection(w_q, 4, to=target), convert_projection(w_k, 2, to=target), target, 4, 2
    )
    torch.testing.assert_close(after, before)
    assert not torch.allclose(scores(x, w_q, w_k, target, 4, 2), before)


def test_conversion_back_and_forth_is_the_identity_for_weights_and_biases():
    for tensor in (normal(4 * 6, 5), normal(4 * 6)):
        there = convert_projection(tensor, 4, to="half")
        assert not torch.equal(there, tensor)
        assert torch.equal(convert_projection(there, 4, to="interleaved"), tensor)


def test_conversion_is_the_one_of_llama_checkpoints():
    weight = normal(4 * 6, 5)
    expected = weight.view(4, 3, 2, 5).transpose(1, 2).reshape(24, 5)
    assert torch.equal(convert_projection(weight, 4, to="half"), expected)


@given(st.integers(1, 200), st.floats(0, 1))
@settings(max_examples=30, deadline=None)
def test_offset_continues_where_a_cache_ends(length, share):
    x = normal(1, 2, length, 8)
    whole = RotaryEmbedding(8).rotate(x)
    at = round(share * length)
    rope = RotaryEmbedding(8)
    parts = torch.cat([rope.rotate(x[:, :, :at]), rope.rotate(x[:, :, at:], offset=at)], dim=2)
    assert torch.equal(parts, whole)


def test_positions_for_all_rows_or_row_by_row():
    x = normal(2, 3, 4, 8)
    rope = RotaryEmbedding(8)
    assert torch.equal(rope.rotate(x, positions=torch.arange(5, 9)), rope.rotate(x, offset=5))
    left_padded = torch.tensor([[0, 1, 2, 3], [0, 0, 0, 1]])
    turned = rope.rotate(x, positions=left_padded)
    assert torch.equal(turned[0], rope.rotate(x[:1])[0])
    assert torch.equal(turned[1:, :, 3:], rope.rotate(x[1:, :, 3:], offset=1))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
@pytest.mark.parametrize("by", ["offset", "positions"])
def test_angles_at_position_100_000_are_the_same_in_every_dtype(dtype, by):
    x = normal(1, 2, 3, 64, dtype=dtype)
    exact_angles = torch.arange(100_000, 100_003, dtype=torch.float64)[:, None] * 10000 ** (
        -torch.arange(32, dtype=torch.float64) / 32
    )
    a, b = x.double().unflatten(-1, (32, 2)).unbind(-1)
    cos, sin = exact_angles.cos(), exact_angles.sin()
    exact = torch.stack((a * cos - b * sin, a * sin + b * cos), dim=-1).flatten(-2)
    where = {"offset": 100_000} if by == "offset" else {"positions": torch.arange(100_000, 100_003)}
    turned = RotaryEmbedding(64).to(dtype).rotate(x, **where)
    assert turned.dtype == dtype
    # One rounding to dtype, and a few in float32 before it: 4 units for float32, well under 1 for the others.
    rounding = exact.abs() * torch.finfo(dtype).eps + 4 * 2**-23 * (a.abs() + b.abs()).repeat_interleave(
        2, -1
    )
    assert ((turned.double() - exact).abs() <= rounding).all()


def test_casting_the_module_leaves_the_frequencies_alone():
    rope = RotaryEmbedding(64).half()
    assert rope.theta.dtype == torch.float64


def test_tables_grow_on_demand_and_are_no_state():
    rope = RotaryEmbedding(8)
    x = normal(1, 1, 10, 8)
    first = rope.rotate(x)
    rope.rotate(normal(1, 1, 1, 8), offset=5000)
    assert torch.equal(rope.rotate(x), first)
    assert not rope.state_dict()
    assert not list(rope.parameters())
    assert torch.equal(copy.deepcopy(rope).rotate(x), first)


def test_a_table_made_in_inference_mode_serves_training():
    rope = RotaryEmbedding(8)
    with torch.inference_mode():
        rope.rotate(normal(1, 1, 5, 8))
    x = normal(1, 1, 5, 8).requires_grad_()
    rope.rotate(x).sum().backward()
    assert x.grad is not None


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradcheck(layout):
    rope = RotaryEmbedding(6, layout=layout)
    assert torch.autograd.gradcheck(rope, normal(1, 2, 3, 6).requires_grad_())


def test_linear_scaling_interpolates_positions():
    x = normal(1, 1, 1, 8)
    scaled = RotaryEmbedding(8, scaling=LinearScaling(4.0))
    torch.testing.assert_close(scaled.rotate(x, offset=12), RotaryEmbedding(8).rotate(x, offset=3))


def test_ntk_scaling_keeps_the_fastest_pair_and_slows_the_slowest_by_the_factor():
    plain, scaled = RotaryEmbedding(64).theta, RotaryEmbedding(64, scaling=NTKScaling(8.0)).theta
    ratio = plain / scaled
    assert ratio[0] == 1
    assert ratio[-1].item() == pytest.approx(8)
    assert (ratio.diff() > 0).all()


@pytest.mark.parametrize(("factor", "trained_len", "base"), [(4.0, 2048, 10000.0), (16.0, 4096, 500000.0)])
def test_yarn_is_the_formula_of_the_paper(factor, trained_len, base):
    rope = RotaryEmbedding(64, base, scaling=YaRNScaling(factor, trained_len))
    for i, found in enumerate(rope.theta.tolist()):
        theta = base ** (-2 * i / 64)
        wavelength = 2 * math.pi / theta
        turns = trained_len / wavelength
        ramp = 0.0 if turns < 1 else 1.0 if turns > 32 else (turns - 1) / 31
        assert found == pytest.approx((1 - ramp) * theta / factor + ramp * theta, rel=1e-12)
    x = normal(1, 1, 9, 64)
    longer = rope.rotate(x, offset=5).norm(dim=-1) / x.norm(dim=-1)
    torch.testing.assert_close(longer, torch.full_like(longer, 0.1 * math.log(factor) + 1))


def test_yarn_agrees_with_transformers_where_the_ramp_is_zero_or_one():
    """In between transformers draws the ramp over the pair's number, the paper over its turns."""
    config = LlamaConfig(
        hidden_size=256,
        num_attention_heads=4,
        rope_parameters={
            "rope_type": "yarn",
            "rope_theta": 10000.0,
            "factor": 8.0,
            "original_max_position_embeddings": 2048,
        },
    )
    theirs, factor = ROPE_INIT_FUNCTIONS["yarn"](config)
    scaling = YaRNScaling(8.0, 2048)
    plain, ours = RotaryEmbedding(64).theta, RotaryEmbedding(64, scaling=scaling).theta
    assert scaling.magnitude == pytest.approx(factor, rel=1e-12)
    kept = theirs.double() / plain
    ends = (kept > 1 - 1e-6) | (kept < 1 / 8 + 1e-6)
    assert ends.sum() > 16
    torch.testing.assert_close(ours[ends], theirs.double()[ends], rtol=1e-5, atol=0)
    assert ((ours / plain >= 1 / 8 - 1e-12) & (ours <= plain)).all()


def test_yarn_without_a_factor_changes_nothing():
    x = normal(1, 2, 7, 16)
    torch.testing.assert_close(
        RotaryEmbedding(16, scaling=YaRNScaling(1.0, 32)).rotate(x), RotaryEmbedding(16).rotate(x)
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: YaRNScaling(2.0, 0), "^trained_len: got 0, needs at least 1$"),
        (lambda: YaRNScaling(0.5, 32), "^factor: got 0.5, needs a number of at least 1$"),
        (
            lambda: YaRNScaling(2.0, 32, alpha=4.0, beta=4.0),
            "^alpha and beta: got 4.0 and 4.0, needs 0 <= alpha",
        ),
        (lambda: RotaryEmbedding(7), "^head_dim: got 7, needs a positive even number"),
        (lambda: RotaryEmbedding(0), "^head_dim: got 0, needs"),
        (lambda: layout_permutation(5), "^head_dim: got 5, needs"),
        (lambda: RotaryEmbedding(8, layout="split"), "^layout: got 'split', needs one of interleaved, half$"),
        (lambda: RotaryEmbedding(8, base=0.0), "^base: got 0.0, needs a positive number$"),
        (lambda: LinearScaling(0.5), "^factor: got 0.5, needs a number of at least 1$"),
        (lambda: NTKScaling(math.nan), "^factor: got nan, needs"),
        (
            lambda: RotaryEmbedding(2, scaling=NTKScaling(2.0)),
            "^head_dim: got 2, needs at least 4 for NTKScaling$",
        ),
        (
            lambda: RotaryEmbedding(8).rotate(torch.zeros(1, 2, 3, 6)),
            r"^x: got \(1, 2, 3, 6\) of .*\(B, H, T, 8\)",
        ),
        (lambda: RotaryEmbedding(8).rotate(torch.zeros(2, 3, 8)), r"^x: got \(2, 3, 8\)"),
        (lambda: RotaryEmbedding(8).rotate(torch.zeros(1, 1, 2, 8).long()), "^x: got .* of torch.int64"),
        (
            lambda: RotaryEmbedding(8).rotate(torch.zeros(1, 1, 2, 8), offset=-1),
            "^offset: got -1, needs 0 or more$",
        ),
        (
            lambda: RotaryEmbedding(8).rotate(torch.zeros(3, 1, 2, 8), positions=torch.arange(3)),
            r"^positions: got \(3,\) of torch.int64, needs integers \(2,\) or \(3, 2\)$",
        ),
        (
            lambda: RotaryEmbedding(8).rotate(torch.zeros(3, 1, 2, 8), positions=torch.rand(2)),
            r"^positions: got \(2,\) of torch.float32, needs integers",
        ),
        (
            lambda: RotaryEmbedding(8).rotate(torch.zeros(3, 1, 2, 8), 4, positions=torch.arange(2)),
            "^offset: got 4 beside positions, needs one of the two$",
        ),
        (lambda: convert_projection(torch.zeros(12, 3), 5, to="half"), r"^weight: got \(12, 3\), needs"),
        (lambda: convert_projection(torch.zeros(15, 3), 5, to="half"), "^head_dim: got 3, needs"),
        (lambda: convert_projection(torch.zeros(12, 3), 2, to="Half"), "^to: got 'Half', needs one of"),
    ],
)
def test_bad_input_is_one_line_that_says_what_is_needed(call, message):
    with pytest.raises(ValueError, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)
