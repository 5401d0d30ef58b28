"""A regression small enough to train in a blink, with batches of uneven size, for the tests of the loop."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from coursepkg.training.seed import set_seed

Batch = tuple[Tensor, Tensor]


@dataclass(frozen=True)
class NetConfig:
    width: int = 8
    dropout_p: float = 0.0


class Layer(nn.Module):
    """x + dropout(tanh(W x + b))."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.linear = nn.Linear(config.width, config.width)
        self.dropout = nn.Dropout(config.dropout_p)

    def forward(self, x: Tensor) -> Tensor:
        return x + self.dropout(torch.tanh(self.linear(x)))


class Net(nn.Module):
    """Two layers in a stack, a shared weight, a buffer that training changes, and dropout."""

    def __init__(self, config: NetConfig) -> None:
        super().__init__()
        self.config = config
        self.inner = nn.Linear(3, config.width)
        self.layers = nn.ModuleList([Layer(config) for _ in range(2)])
        self.outer = nn.Linear(config.width, 3, bias=False)
        self.again = self.outer
        self.register_buffer("n_calls", torch.tensor(0.0))

    def forward(self, x: Tensor) -> Tensor:
        self.n_calls += 1
        x = self.inner(x)
        for layer in self.layers:
            x = layer(x)
        return self.again(x)


class SquareTask:
    """Summed squared error; a unit is a row."""

    def count(self, batch: Batch) -> int:
        return len(batch[0])

    def loss(self, model: nn.Module, batch: Batch) -> Tensor:
        return (model(batch[0]) - batch[1]).square().sum()


class RandomBatches:
    """`n` batches an epoch with 1 to 5 rows each, the same for the same number; `joined` puts groups into one."""

    def __init__(self, n: int = 5, joined: int = 1, dtype: torch.dtype = torch.float32) -> None:
        self.n, self.joined, self.dtype = n, joined, dtype

    def epoch(self, number: int) -> Sequence[Batch]:
        draw = torch.Generator().manual_seed(number)
        batches = [self._batch(1 + (3 * i + number) % 5, draw) for i in range(self.n)]
        groups = [batches[i : i + self.joined] for i in range(0, self.n, self.joined)]
        return [(torch.cat([x for x, _ in g]), torch.cat([y for _, y in g])) for g in groups]

    def _batch(self, n_rows: int, draw: torch.Generator) -> Batch:
        x = torch.randn(n_rows, 3, generator=draw, dtype=self.dtype)
        return x, x.flip(1)


class Poisoned(RandomBatches):
    """Batch 3 of epoch 1 holds a value that is not finite."""

    def epoch(self, number: int):
        batches = list(super().epoch(number))
        if number == 1:
            batches[3] = (batches[3][0] * math.inf, batches[3][1])
        return batches


def make_net(dropout_p: float = 0.0, width: int = 8) -> Net:
    set_seed(3)
    return Net(NetConfig(width, dropout_p))


def mean_error(network: nn.Module) -> dict[str, float]:
    """Validation on rows that training never sees."""
    batches = RandomBatches().epoch(10**6)
    task = SquareTask()
    with torch.no_grad():
        return {"loss": float(sum(task.loss(network, b) for b in batches)) / sum(map(task.count, batches))}


def same(one: nn.Module, other: nn.Module, tolerance: float = 0.0) -> bool:
    """Whether all weights and buffers agree, but for counters of calls."""
    pairs = zip(one.state_dict().items(), other.state_dict().values(), strict=True)
    return all(torch.allclose(a, b, rtol=0, atol=tolerance) for (name, a), b in pairs if name != "n_calls")
