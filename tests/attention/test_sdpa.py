"""What PyTorch's kernels are given: a mask no larger than the pattern needs."""

import pytest
import torch

from coursepkg.attention import sdpa
from coursepkg.attention.api import attention
from coursepkg.attention.pattern import causal, global_tokens, padding
from tests.attention.cases import make_qkv, oracle


@pytest.mark.parametrize(
    ("pattern", "rows"),
    [(padding([5, 11]), 1), (padding([0, 11]), 1), (padding([5, 11]) & causal(), 11), (global_tokens(2), 11)],
    ids=repr,
)
def test_a_mask_has_one_row_where_all_queries_see_the_same(pattern, rows, monkeypatch):
    masks = []

    def kernel(q, k, v, mask, **options):
        masks.append(mask)
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, mask, **options)

    monkeypatch.setattr(sdpa, "scaled_dot_product_attention", kernel)
    q, k, v = make_qkv()
    output = attention(q, k, v, pattern=pattern, impl="sdpa")
    assert [mask.shape[2:] for mask in masks] == [(rows, 11)]
    torch.testing.assert_close(output, oracle(q, k, v, pattern), rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("size", [1e5, -1e5, -1e9])
@pytest.mark.parametrize("pattern", [None, causal(), padding([5, 11])], ids=repr)
def test_a_bias_beyond_float16_shifts_a_row_and_changes_nothing(size, pattern, dtype):
    q, k, v = (x.to(dtype) for x in make_qkv())
    bias = torch.full((1, 1, 1, 11), size)
    found = attention(q, k, v, pattern=pattern, bias=bias, impl="sdpa")
    plain = attention(q, k, v, pattern=pattern, impl="sdpa")
    torch.testing.assert_close(found, plain, rtol=0, atol=1e-2)
