"""Pooling: each kind against its formula, padding, and what it can and cannot leave out."""

import pytest
import torch

from coursepkg.projects.sign_language.model.classifier import AttentionPooling, make_pooling


def case() -> tuple[torch.Tensor, torch.Tensor]:
    torch.manual_seed(0)
    return torch.randn(3, 5, 8, dtype=torch.float64), torch.arange(5) < torch.tensor([5, 3, 1])[:, None]


def test_last_and_mean_are_what_they_say() -> None:
    x, mask = case()
    for i, n in enumerate([5, 3, 1]):
        assert make_pooling("last", 8)(x, mask).vector[i].equal(x[i, n - 1])
        torch.testing.assert_close(make_pooling("mean", 8)(x, mask).vector[i], x[i, :n].mean(dim=0))


def test_attention_is_the_formula_of_the_source() -> None:
    x, mask = case()
    pooling = AttentionPooling(8).double()
    found = pooling(x, mask)
    for i, n in enumerate([5, 3, 1]):
        hidden = torch.tanh(x[i, :n] @ pooling.hidden.weight.T + pooling.hidden.bias)
        a = (hidden @ pooling.score.weight[0] + pooling.score.bias).exp()
        a = a / a.sum()
        torch.testing.assert_close(found.weights[i, :n], a)
        torch.testing.assert_close(found.vector[i], (a[:, None] * x[i, :n]).sum(dim=0))


@pytest.mark.parametrize("kind", ["last", "mean", "attention"])
def test_weights_make_the_vector_and_padding_has_none(kind: str) -> None:
    x, mask = case()
    found = make_pooling(kind, 8).double()(x, mask)
    torch.testing.assert_close((found.weights[..., None] * x).sum(dim=1), found.vector)
    torch.testing.assert_close(found.weights.sum(dim=1), torch.ones(3, dtype=torch.float64))
    assert not found.weights[~mask].any()


def test_attention_can_leave_the_rest_at_the_end_out() -> None:
    torch.manual_seed(0)
    rest, sign = torch.zeros(4, dtype=torch.float64), torch.ones(4, dtype=torch.float64)
    x = torch.stack([sign, rest, rest, rest])[None]
    mask = torch.ones(1, 4, dtype=torch.bool)
    pooling = AttentionPooling(4).double()
    optimizer = torch.optim.Adam(pooling.parameters(), lr=0.1)
    for _ in range(60):
        optimizer.zero_grad()
        (pooling(x, mask).vector - sign).square().sum().backward()
        optimizer.step()
    assert pooling(x, mask).weights[0, 0] > 0.9
    assert make_pooling("mean", 4)(x, mask).vector.tolist() == [[0.25] * 4]
    assert make_pooling("last", 4)(x, mask).vector.tolist() == [[0.0] * 4]
