"""What `fit` asks of a task and of its data. Any object with these methods will do."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn


@runtime_checkable
class Task(Protocol):
    """What is learnt from a batch.

    The loss is a sum and its divisor is counted apart, because a step may spread over
    micro-batches and processes: `fit` adds both up and divides once, so that every unit
    weighs the same wherever it lies.
    """

    def count(self, batch: Any) -> int:
        """Units that the loss of this batch sums over: target tokens, images, clips."""

    def loss(self, model: nn.Module, batch: Any) -> Tensor:
        """The loss of a batch, SUMMED over its units: a tensor of no dimension.

        Reach the network by calling `model(...)`: under DDP and FSDP the
        synchronisation hangs on that call.
        """


@runtime_checkable
class StepAware(Protocol):
    """A task whose loss changes as training goes on, as scheduled sampling's does."""

    def start_step(self, step: int) -> None:
        """The batches that come next belong to this step, counted from 1."""


@runtime_checkable
class InputChecker(Protocol):
    """A task that looks at what is to be learnt before a network reads it."""

    def check_inputs(self, model: nn.Module, epoch: Sequence[Any]) -> None:
        """Raises a ValueError unless the network can read every batch of an epoch.

        It stands outside the forward pass, where a GPU would have to be waited for.
        """


@runtime_checkable
class Batches(Protocol):
    """The training data, epoch by epoch."""

    def epoch(self, number: int) -> Sequence[Any]:
        """The batches of epoch `number`, counted from 0.

        The same number must give the same batches in the same order, whatever was asked
        before: this is how a run that is resumed finds its place. A batch may be built
        only when it is asked for by its index.
        """


@contextmanager
def eval_mode(model: nn.Module) -> Iterator[None]:
    """Inside `with`, a model is in evaluation mode; afterwards in its own again."""
    was_training = model.training
    model.eval()
    try:
        yield
    finally:
        model.train(was_training)


@torch.no_grad()
def mean_loss(model: nn.Module, task: Task, batches: Iterable[Any]) -> float:
    """The mean loss per unit over some batches, in evaluation mode.

    Raises:
        ValueError: there is no batch.
    """
    device = next(model.parameters()).device
    total, n_units = 0.0, 0
    with eval_mode(model):
        for batch in batches:
            total += float(task.loss(model, batch.to(device)))
            n_units += task.count(batch)
    if not n_units:
        raise ValueError("batches must hold at least one batch, got none")
    return total / n_units
