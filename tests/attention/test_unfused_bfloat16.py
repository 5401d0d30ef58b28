"""bfloat16 by two products on the CPU: as exact as the reference, and only where it is supported."""

import pytest
import torch

from coursepkg.attention import sdpa
from coursepkg.attention import sdpa as unfused_bfloat16
from coursepkg.attention.api import attention
from coursepkg.attention.pattern import causal, padding, per_head, sliding_window
from tests.attention.cases import make_qkv, oracle

N = 40
"""Queries and keys."""
PATTERNS = [None, padding([17, N]), padding([0, N])]


def draw(n_kv_heads=4):
    drawn = make_qkv(n_queries=N, n_keys=N, head_dim=32, n_kv_heads=n_kv_heads, dtype=torch.bfloat16)
    return [x.detach() for x in drawn]


def largest_error(found, exact):
    return (found.double() - exact).abs().max().item()


@pytest.fixture
def can_multiply(monkeypatch):
    monkeypatch.setattr(unfused_bfloat16, "multiplies_bfloat16", lambda: True)


@pytest.fixture
def no_kernel(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("PyTorch's kernel was called")

    monkeypatch.setattr(sdpa, "scaled_dot_product_attention", refuse)


@pytest.mark.parametrize("most", [4 * N * N, 2**21], ids=["four heads", "all heads"])
@pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
def test_it_is_as_exact_as_the_reference(pattern, most, can_multiply, no_kernel, monkeypatch):
    monkeypatch.setattr(unfused_bfloat16, "MOST_SCORES", most)
    q, k, v = draw()
    exact = oracle(q, k, v, pattern)
    ours, plain = (attention(q, k, v, pattern=pattern, impl=impl) for impl in ("sdpa", "reference"))
    assert ours.dtype == torch.bfloat16
    assert largest_error(ours, exact) <= 2 * largest_error(plain, exact)


def test_the_heads_of_a_group_are_rows_of_one(can_multiply, no_kernel):
    q, k, v = draw(n_kv_heads=1)
    exact = oracle(q, k, v)
    ours, plain = (attention(q, k, v, impl=impl) for impl in ("sdpa", "reference"))
    assert largest_error(ours, exact) <= 2 * largest_error(plain, exact)


@pytest.mark.parametrize("most", [N * N, 3 * N * N + 5])
def test_how_many_scores_are_stored_changes_nothing_but_rounding(most, monkeypatch):
    q, k, v = draw()
    visible = torch.arange(N) < torch.tensor([3, N])[:, None, None, None]
    whole = unfused_bfloat16.attend(q, k, v, visible, 0.2)
    monkeypatch.setattr(unfused_bfloat16, "MOST_SCORES", most)
    parts = unfused_bfloat16.attend(q, k, v, visible, 0.2)
    torch.testing.assert_close(parts, whole, rtol=2**-6, atol=2**-7)


def test_each_head_may_have_a_mask_of_its_own():
    q, k, v = draw()
    lengths = [2, 5, N, 1]
    visible = torch.arange(N) < torch.tensor(lengths)[None, :, None, None]
    found = unfused_bfloat16.attend(q, k, v, visible, 32**-0.5)
    for head, length in enumerate(lengths):
        exact = oracle(*(x[:, head : head + 1] for x in (q, k[:, :, :length], v[:, :, :length])))
        torch.testing.assert_close(found[:, head : head + 1].double(), exact, rtol=0.02, atol=0.02)
    # What is hidden is hidden: other keys and values behind the mask change nothing.
    k[:, 0, 2:], v[:, 0, 2:] = 100.0, -50.0
    assert torch.equal(unfused_bfloat16.attend(q, k, v, visible, 32**-0.5), found)


def test_it_can_be_mapped_over_many_queries(can_multiply, no_kernel):
    q, k, v = draw()
    scales = (1.0, 2.0)
    visible = torch.arange(N) < torch.tensor([3, N])[:, None, None, None]
    found = torch.vmap(lambda x: unfused_bfloat16.attend(x, k, v, visible, 0.2))(
        torch.stack([scale * q for scale in scales])
    )
    for one, scale in zip(found, scales, strict=True):
        alone = unfused_bfloat16.attend(scale * q, k, v, visible, 0.2)
        torch.testing.assert_close(one, alone, rtol=2**-5, atol=2**-5)


def test_it_suits_bfloat16_on_a_cpu_with_one_row_of_mask_and_no_gradient(can_multiply, monkeypatch):
    q, k, v = draw()
    row = torch.ones(2, 1, 1, N, dtype=torch.bool)
    is_supported = unfused_bfloat16.is_supported
    assert is_supported(q, k, v, None)
    assert is_supported(q, k, v, row)
    assert not is_supported(q, k, v, row.expand(-1, -1, N, -1))
    assert not is_supported(q, k, v, row.to(q.dtype))
    assert not is_supported(q, k[:, :2], v[:, :2], None)
    assert not is_supported(q[:, :, :31], k, v, None)
    assert not is_supported(*(x.float() for x in (q, k, v)), None)
    assert not is_supported(*(x[..., :16] for x in (q, k, v)), None)
    learning = q.clone().requires_grad_()
    assert not is_supported(learning, k, v, None)
    with torch.no_grad():
        assert is_supported(learning, k, v, None)
    monkeypatch.setattr(unfused_bfloat16, "MOST_SCORES", N * N - 1)
    assert not is_supported(q, k, v, None)


def test_without_the_instruction_the_kernel_is_called(monkeypatch):
    monkeypatch.setattr(unfused_bfloat16, "multiplies_bfloat16", lambda: False)
    assert not unfused_bfloat16.is_supported(*draw(), None)


@pytest.mark.parametrize(
    "pattern", [causal(), sliding_window(3), per_head([causal(), padding([5, 6])] * 2)], ids=repr
)
def test_other_masks_go_to_the_kernel(pattern, can_multiply, no_kernel):
    with pytest.raises(AssertionError, match="kernel was called"):
        attention(*draw(), pattern=pattern, impl="sdpa")
