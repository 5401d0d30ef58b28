"""attend_cached against MultiHeadAttention.attend with the keys copied out to every row."""

import pytest
import torch
from torch import Tensor

from coursepkg.attention.multihead import MultiHeadAttention, attend_cached
from coursepkg.attention.pattern import from_predicate

B, S, E = 2, 7, 24


def tensors(rows: int, n_tokens: int, layer: MultiHeadAttention) -> tuple[Tensor, Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, layer.head_dim, dtype=torch.float64, generator=generator)

    keys = (B, layer.n_kv_heads, S)
    return normal(B * rows, layer.n_heads, n_tokens), normal(*keys), normal(*keys)


@pytest.mark.parametrize("options", [{}, {"impl": "reference"}, {"impl": "tiled"}, {"scale": 1.0}], ids=str)
@pytest.mark.parametrize("masked", ["no", "by sentence", "by query"])
@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize("n_kv_heads", [1, 2, 6])
@pytest.mark.parametrize(("rows", "n_tokens"), [(1, 1), (1, 3), (4, 1), (3, 2)])
def test_equals_attention_with_copied_keys(
    rows: int, n_tokens: int, n_kv_heads: int, biased: bool, masked: str, options: dict
) -> None:
    torch.manual_seed(0)
    layer = MultiHeadAttention(E, 6, n_kv_heads=n_kv_heads, bias=True, **options).double()
    q, k, v = tensors(rows, n_tokens, layer)
    visible = {
        "no": None,
        "by sentence": torch.rand(B, 1, 1, S) < 0.5,
        "by query": torch.rand(B, 1, rows * n_tokens, S) < 0.5,
    }[masked]
    pattern = bias = row_bias = None
    if visible is not None:
        visible[..., 2] = True
        by_row = visible.expand(-1, -1, rows * n_tokens, -1).reshape(B * rows, n_tokens, S)
        pattern = from_predicate(lambda b, h, i, j: by_row[b, i - (S - n_tokens), j], "by row")
    if biased:
        bias = torch.randn(1, 6, rows * n_tokens, S, dtype=torch.float64)
        row_bias = bias.view(6, rows, n_tokens, S).transpose(0, 1).repeat(B, 1, 1, 1)
    copied = (k.repeat_interleave(rows, dim=0), v.repeat_interleave(rows, dim=0))
    expected = layer.attend(q, *copied, pattern=pattern, score_bias=row_bias)
    torch.testing.assert_close(attend_cached(layer, q, k, v, visible=visible, score_bias=bias), expected)


def test_dropout_that_acts_is_not_passed_over() -> None:
    layer = MultiHeadAttention(E, 6, dropout_p=0.5).double()
    q, k, v = tensors(2, 1, layer)
    torch.manual_seed(0)
    first, second = attend_cached(layer, q, k, v), attend_cached(layer, q, k, v)
    assert not torch.allclose(first, second)
    layer.eval()
    torch.testing.assert_close(attend_cached(layer, q, k, v), attend_cached(layer, q, k, v), rtol=0, atol=0)


def test_autocast_computes_in_half_precision_as_attend_does() -> None:
    layer = MultiHeadAttention(E, 6)
    q, k, v = (x.float() for x in tensors(1, 2, layer))
    with torch.autocast("cpu", torch.bfloat16):
        found, expected = attend_cached(layer, q, k, v), layer.attend(q, k, v)
    assert found.dtype == expected.dtype == torch.bfloat16
    torch.testing.assert_close(found, expected)
