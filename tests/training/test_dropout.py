"""Bytewise dropout: the share, the mean and the mask are dropout's; elsewhere it is `nn.Dropout` itself."""

import pytest
import torch
from torch import nn

from coursepkg.training.dropout import ByteDropout, draw_bytewise


@pytest.mark.parametrize("p", [0.001, 0.1, 0.3, 0.5, 0.9, 0.999])
def test_share_and_scale_are_those_of_the_rounded_probability(p: float) -> None:
    torch.manual_seed(0)
    rounded = max(1, min(255, round(p * 256))) / 256
    found = ByteDropout(p)(torch.ones(1000, 1001))
    assert float((found == 0).float().mean()) == pytest.approx(rounded, abs=2e-3)
    assert torch.equal(found.unique(), torch.tensor([0.0, 1 / (1 - rounded)]))


def test_bytes_of_one_word_are_independent() -> None:
    torch.manual_seed(0)
    kept = (ByteDropout(0.5)(torch.ones(100_000, 8)) > 0).float()
    assert torch.allclose(torch.corrcoef(kept.T), torch.eye(8), atol=0.02)


def test_the_gradient_goes_through_what_was_kept() -> None:
    x = torch.randn(7, 5, 3, requires_grad=True)
    torch.manual_seed(3)
    found = ByteDropout(0.3)(x)
    found.sum().backward()
    assert x.grad is not None
    assert torch.allclose(found, x * x.grad)
    torch.manual_seed(3)
    assert torch.equal(ByteDropout(0.3)(x), found)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float64])
def test_keeps_type_and_shape(dtype: torch.dtype) -> None:
    found = ByteDropout(0.2)(torch.ones(3, 0, 5, dtype=dtype)), ByteDropout(0.2)(torch.ones((), dtype=dtype))
    assert [(f.dtype, tuple(f.shape)) for f in found] == [(dtype, (3, 0, 5)), (dtype, ())]


def test_is_nothing_in_evaluation_and_everything_at_one() -> None:
    x = torch.randn(50)
    assert torch.equal(ByteDropout(0.5).eval()(x), x)
    assert torch.equal(ByteDropout(0.0)(x), x)
    assert not ByteDropout(1.0)(x).any()


def test_every_dropout_of_a_model_is_replaced_and_nothing_else() -> None:
    class Own(nn.Dropout):
        pass

    model = nn.Sequential(nn.Dropout(0.25), nn.Sequential(nn.Linear(2, 2), nn.Dropout(0.5), Own(0.1)))
    weights = model.state_dict()
    draw_bytewise(model)
    assert [type(m) for m in model.modules() if isinstance(m, nn.Dropout)] == [ByteDropout, ByteDropout, Own]
    assert [m.p for m in model.modules() if isinstance(m, nn.Dropout)] == [0.25, 0.5, 0.1]
    assert model.state_dict().keys() == weights.keys()
