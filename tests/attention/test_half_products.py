"""bfloat16 by two products on the CPU: as exact as the reference, for every mask it takes, and only where it suits."""

import pytest
import torch

from coursepkg.attention import half_products, sdpa
from coursepkg.attention.api import attention
from coursepkg.attention.patterns import causal, padding, per_head, sliding_window
from tests.attention.cases import make_qkv, oracle

HALF = torch.bfloat16
PATTERNS = [None, padding([5, 11]), padding([0, 11])]


def draw(**sizes):
    return [x.detach() for x in make_qkv(head_dim=32, dtype=HALF, **sizes)]


@pytest.fixture
def can_multiply(monkeypatch):
    monkeypatch.setattr(half_products, "multiplies_bfloat16", lambda: True)


@pytest.fixture
def no_kernel(monkeypatch):
    def refuse(*args, **options):
        raise AssertionError("PyTorch's kernel was called")

    monkeypatch.setattr(sdpa, "scaled_dot_product_attention", refuse)


@pytest.mark.parametrize("most", [4 * 11 * 11, 2**21], ids=["four heads", "all heads"])
@pytest.mark.parametrize("n_kv_heads", [4, 1])
@pytest.mark.parametrize("pattern", PATTERNS, ids=repr)
def test_it_is_as_exact_as_the_reference(pattern, n_kv_heads, most, can_multiply, no_kernel, monkeypatch):
    monkeypatch.setattr(half_products, "MOST_SCORES", most)
    q, k, v = draw(n_kv_heads=n_kv_heads)
    if n_kv_heads == 1 and pattern is not None:
        k, v = (x.expand(-1, 4, -1, -1) for x in (k, v))
    exact = oracle(q, k, v, pattern)
    errors = [
        (attention(q, k, v, pattern=pattern, impl=impl).double() - exact).abs().max()
        for impl in ("sdpa", "reference")
    ]
    assert errors[0] <= 2 * errors[1] + torch.finfo(HALF).eps


@pytest.mark.parametrize("most", [11 * 11, 3 * 11 * 11 + 5, 2**21])
def test_what_is_stored_at_once_changes_no_digit(most, monkeypatch):
    q, k, v = draw(n_kv_heads=4)
    visible = torch.arange(11) < torch.tensor([3, 11])[:, None, None, None]
    whole = half_products.run(q, k, v, visible, 0.2)
    monkeypatch.setattr(half_products, "MOST_SCORES", most)
    assert torch.equal(half_products.run(q, k, v, visible, 0.2), whole)


def test_each_head_may_have_a_mask_of_its_own():
    q, k, v = draw(n_kv_heads=4)
    lengths = [2, 5, 11, 1]
    visible = torch.arange(11) < torch.tensor(lengths)[None, :, None, None]
    found = half_products.run(q, k, v, visible, 32**-0.5)
    for head, length in enumerate(lengths):
        exact = oracle(*(x[:, head : head + 1] for x in (q, k[:, :, :length], v[:, :, :length])))
        torch.testing.assert_close(found[:, head : head + 1].double(), exact, rtol=0.02, atol=0.02)
    # What is hidden is hidden: other keys and values behind the mask change nothing.
    k[:, 0, 2:], v[:, 0, 2:] = 100.0, -50.0
    assert torch.equal(half_products.run(q, k, v, visible, 32**-0.5), found)


def test_it_suits_bfloat16_on_a_cpu_with_one_row_of_mask_and_no_gradient(can_multiply, monkeypatch):
    q, k, v = draw(n_kv_heads=4)
    row = torch.ones(2, 1, 1, 11, dtype=torch.bool)
    assert half_products.suits(q, k, v, None)
    assert half_products.suits(q, k, v, row)
    assert not half_products.suits(q, k, v, row.expand(-1, -1, 11, -1))
    assert not half_products.suits(q, k, v, row.to(HALF))
    assert not half_products.suits(q, k[:, :2], v[:, :2], None)
    assert not half_products.suits(*(x.float() for x in (q, k, v)), None)
    assert not half_products.suits(*(x[..., :16] for x in (q, k, v)), None)
    learning = q.clone().requires_grad_()
    assert not half_products.suits(learning, k, v, None)
    with torch.no_grad():
        assert half_products.suits(learning, k, v, None)
    monkeypatch.setattr(half_products, "MOST_SCORES", 11 * 11 - 1)
    assert not half_products.suits(q, k, v, None)


def test_without_the_instruction_the_kernel_is_called(monkeypatch):
    monkeypatch.setattr(half_products, "multiplies_bfloat16", lambda: False)
    assert not half_products.suits(*draw(n_kv_heads=4), None)


@pytest.mark.parametrize(
    "pattern", [causal(), sliding_window(3), per_head([causal(), padding([5, 5])] * 2)], ids=repr
)
def test_other_masks_go_to_the_kernel(pattern, can_multiply, no_kernel):
    with pytest.raises(AssertionError, match="kernel was called"):
        attention(*draw(n_kv_heads=4), pattern=pattern, impl="sdpa")
