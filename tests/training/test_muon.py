"""Muon: its orthogonal step, which weights it moves, what it shares with AdamW, a run that resumes."""

from typing import Any

import pytest
import torch
from torch import nn

from coursepkg.training.config import TrainConfig
from coursepkg.training.muon import Muon, hidden_matrices, orthogonalise
from coursepkg.training.state import load_optimizer, make_optimizer, optimizer_tensors


class Net(nn.Module):
    """An embedding, a hidden layer with a bias, an output layer of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 6)
        self.hidden = nn.Linear(6, 6)
        self.output = nn.Linear(6, 3)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.output(self.hidden(self.embedding(ids)).relu())


def config(**options: Any) -> TrainConfig:
    return TrainConfig(max_steps=1, optimizer="muon", **options)


@pytest.mark.parametrize("shape", [(8, 8), (4, 20), (20, 4)])
def test_singular_values_come_near_one_and_singular_vectors_stay(shape: tuple[int, int]) -> None:
    torch.manual_seed(0)
    u, _, v = torch.linalg.svd(torch.randn(shape), full_matrices=False)
    matrix = u @ torch.diag(torch.linspace(1, 5, len(v))) @ v
    found = orthogonalise(matrix).float()
    assert found.shape == matrix.shape
    values = torch.linalg.svdvals(found)
    assert values.min() > 0.6
    assert values.max() < 1.3
    inner = u.T @ found @ v.T
    assert (inner - torch.diag(inner.diagonal())).abs().max() < 0.05


def test_on_a_cpu_the_iterations_keep_single_precision() -> None:
    assert orthogonalise(torch.randn(4, 6).bfloat16()).dtype == torch.float32


def test_it_moves_hidden_matrices_alone() -> None:
    net = Net()
    assert hidden_matrices(net) == {net.hidden.weight}


def test_other_weights_move_as_by_adamw() -> None:
    torch.manual_seed(0)
    nets = [Net(), Net()]
    nets[1].load_state_dict(nets[0].state_dict())
    kinds = (config(), TrainConfig(max_steps=1))
    optimizers = [make_optimizer(n, set(), c) for n, c in zip(nets, kinds, strict=True)]
    for _ in range(3):
        for net, optimizer in zip(nets, optimizers, strict=True):
            optimizer.zero_grad()
            net(torch.arange(7)).square().sum().backward()
            for group in optimizer.param_groups:
                group["lr"] = 0.01
            # The same gradients: only the step may differ.
            with torch.no_grad():
                for p, q in zip(net.parameters(), nets[0].parameters(), strict=True):
                    p.grad = q.grad.clone()
            optimizer.step()
    for (name, mine), theirs in zip(nets[0].named_parameters(), nets[1].parameters(), strict=True):
        assert torch.equal(mine, theirs) == (name != "hidden.weight")


def test_a_step_has_the_size_of_its_rate() -> None:
    torch.manual_seed(0)
    weights = nn.Parameter(torch.randn(16, 16))
    optimizer = Muon([{"params": [weights], "muon": True, "weight_decay": 0.0}], lr=0.1)
    before = weights.detach().clone()
    weights.grad = torch.randn(16, 16)
    optimizer.step()
    moved = (weights - before).detach()
    # An orthogonal matrix of 16 by 16 has a root mean square of 1/4; 0.2 sqrt(16) brings it to 0.2.
    assert moved.square().mean().sqrt().item() == pytest.approx(0.1 * 0.2, rel=0.15)
    assert weights.grad is not None


def test_its_state_is_stored_and_read_back() -> None:
    torch.manual_seed(0)
    net = Net()
    optimizer = make_optimizer(net, {"hidden.weight"}, config(weight_decay=0.1))

    def step(model: nn.Module, by: torch.optim.Optimizer) -> None:
        by.zero_grad()
        model(torch.arange(7)).square().sum().backward()
        for group in by.param_groups:
            group["lr"] = 0.01
        by.step()

    step(net, optimizer)
    other = Net()
    other.load_state_dict(net.state_dict())
    again = make_optimizer(other, {"hidden.weight"}, config(weight_decay=0.1))
    stored = {name: tensor.clone() for name, tensor in optimizer_tensors(net, optimizer).items()}
    load_optimizer(other, again, stored)
    for _ in range(2):
        step(net, optimizer)
        step(other, again)
    for mine, theirs in zip(net.parameters(), other.parameters(), strict=True):
        assert torch.equal(mine, theirs)


def test_it_needs_whole_matrices() -> None:
    with pytest.raises(ValueError, match="optimizer must be adamw with strategy fsdp"):
        config(strategy="fsdp")
