"""LayerNorm and RMSNorm against torch's, the written-out formula, finite differences; what they look at."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from coursepkg.blocks.norm import LayerNorm, RMSNorm, layer_norm

E = 6


def rows(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, E, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def shaken(norm: nn.Module) -> nn.Module:
    """The module in float64, with a scale and a shift that are not the ones it starts from."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in norm.double().parameters():
            parameter.add_(torch.randn(E, dtype=torch.float64, generator=generator))
    return norm


@pytest.mark.parametrize("bias", [True, False])
def test_layer_norm_equals_torch(bias: bool) -> None:
    ours = shaken(LayerNorm(E, eps=1e-3, bias=bias))
    theirs = nn.LayerNorm(E, eps=1e-3, bias=bias).double()
    theirs.load_state_dict(ours.state_dict())
    torch.testing.assert_close(ours(rows(2, 3)), theirs(rows(2, 3)))


@pytest.mark.parametrize("bias", [True, False])
def test_layer_norm_equals_its_formula_in_value_and_gradients(bias: bool) -> None:
    norm, x = shaken(LayerNorm(E, eps=1e-3, bias=bias)), rows(2, 3).requires_grad_()
    inputs = [x, norm.weight, *([norm.bias] if bias else [])]
    fused, written = norm(x), layer_norm(x, norm.weight, norm.bias, 1e-3)
    torch.testing.assert_close(fused, written)
    grads = [torch.autograd.grad(y.pow(3).sum(), inputs) for y in (fused, written)]
    torch.testing.assert_close(grads[0], grads[1])


def test_rms_norm_equals_torch() -> None:
    ours = shaken(RMSNorm(E, eps=1e-3))
    theirs = nn.RMSNorm(E, eps=1e-3).double()
    theirs.load_state_dict(ours.state_dict())
    torch.testing.assert_close(ours(rows(2, 3)), theirs(rows(2, 3)))


@pytest.mark.parametrize("family", ["llama", "t5"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rms_norm_equals_that_of_published_models_bit_by_bit(family: str, dtype: torch.dtype) -> None:
    from transformers.models.llama.modeling_llama import LlamaRMSNorm
    from transformers.models.t5.modeling_t5 import T5LayerNorm

    theirs = (LlamaRMSNorm if family == "llama" else T5LayerNorm)(E, eps=1e-6).to(dtype)
    ours = RMSNorm(E).to(dtype)
    with torch.no_grad():
        theirs.weight.copy_(rows()[:E])
    ours.load_state_dict(theirs.state_dict())
    x = (100 * rows(40)).to(dtype)
    torch.testing.assert_close(ours(x), theirs(x), rtol=0, atol=0)


@pytest.mark.parametrize("norm", [LayerNorm(E), LayerNorm(E, bias=False), RMSNorm(E)], ids=repr)
def test_gradients_are_those_of_finite_differences(norm: nn.Module) -> None:
    norm = shaken(norm)
    assert torch.autograd.gradcheck(norm, rows(3).requires_grad_())


@given(st.integers(0, 5), st.floats(-50, 50), st.floats(0.1, 50))
def test_layer_norm_ignores_shift_and_scale_and_rms_norm_the_scale(
    seed: int, shift: float, scale: float
) -> None:
    x = rows(4, seed=seed)
    by_layer, by_rms = LayerNorm(E, eps=1e-12).double(), RMSNorm(E, eps=1e-12).double()
    torch.testing.assert_close(by_layer(scale * x + shift), by_layer(x), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(by_rms(scale * x), by_rms(x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("norm", [LayerNorm(E), RMSNorm(E)], ids=repr)
def test_statistics_are_over_the_features_of_one_position(norm: nn.Module) -> None:
    """Neither the other positions nor the other sequences of the batch change a position's result."""
    norm, x = norm.double(), rows(2, 3)
    y = norm(x)
    torch.testing.assert_close(norm(x[1:, 2:]), y[1:, 2:], rtol=0, atol=0)
    torch.testing.assert_close(y.square().mean(-1), torch.ones(2, 3, dtype=torch.float64), rtol=1e-3, atol=0)
    if isinstance(norm, LayerNorm):
        torch.testing.assert_close(y.mean(-1), torch.zeros(2, 3, dtype=torch.float64))


@pytest.mark.parametrize("norm", [LayerNorm(E), RMSNorm(E)], ids=repr)
def test_zeros_stay_zeros_and_large_half_precision_does_not_overflow(norm: nn.Module) -> None:
    assert (norm.float()(torch.zeros(2, E)) == 0).all()
    large = torch.tensor([[60000.0, -60000.0, 0.0, 100.0, 5.0, -3.0]], dtype=torch.float16)
    y = norm.half()(large)
    assert y.dtype == torch.float16
    assert y.isfinite().all()
    assert y.abs().max() > 1


@pytest.mark.parametrize("kind", [LayerNorm, RMSNorm])
def test_bad_settings_are_named(kind: type) -> None:
    with pytest.raises(ValueError, match=r"^d_model must be a positive integer, got 0$"):
        kind(0)
    with pytest.raises(ValueError, match=r"^eps must be above 0 and below 1, got 0.0$"):
        kind(E, eps=0.0)
