"""What the loop refuses, and how it gives up: one line each."""

import subprocess
import sys

import pytest
import torch
from lightning_fabric import Fabric

import coursepkg.training
from coursepkg.training.loop import fit
from coursepkg.training.plateau import Plateau
from coursepkg.training.step import TrainingError
from tests.training.jobs import Poisoned, RandomBatches, SquareTask, make_net, same
from tests.training.test_loop import settings, train


def test_a_loss_that_is_not_finite_ends_training_before_the_update() -> None:
    net, before = make_net(), make_net()
    with pytest.raises(
        TrainingError, match=r"^the loss is nan at step 5 \(epoch 1, batch 3\); training stopped"
    ) as told:
        train(net, Poisoned(), accumulate=2)
    assert "\n" not in str(told.value)
    train(before, accumulate=2, max_steps=4)
    assert same(net, before)


def test_a_gradient_that_is_not_finite_ends_training_before_the_update() -> None:
    class Steep(SquareTask):
        def loss(self, model, batch):
            return super().loss(model, batch).sub(super().loss(model, batch)).sqrt()

    net = make_net()
    with pytest.raises(
        TrainingError, match=r"the gradient's norm is nan at step 1 \(epoch 0, the step that begins at"
    ):
        fit(net, Steep(), RandomBatches(), config=settings())
    assert same(net, make_net())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"resume": True}, "resume needs out"),
        ({"config": settings(patience=1)}, "validate must be given, because patience goes by its scores"),
        ({"config": settings(learning_rate=Plateau(1.0))}, "validate must be given, because a Plateau"),
        ({"config": settings(precision="16-mixed")}, "precision 16-mixed needs a GPU"),
        ({"config": settings(strategy="fsdp")}, "strategy fsdp needs several GPUs under torchrun"),
        ({"batches": RandomBatches(0)}, r"batches.epoch\(0\) must have more than 0 batches, got 0$"),
        ({"model": torch.nn.Flatten()}, "model must have a parameter that requires a gradient"),
        ({"validate": lambda network: {"bleu": 1.0}}, r"select_by must be one of validate's scores \(bleu\)"),
    ],
)
def test_what_cannot_be_trained_is_refused_in_one_line(arguments, message) -> None:
    usual = {"model": make_net(), "task": SquareTask(), "batches": RandomBatches(), "config": settings()}
    with pytest.raises(ValueError, match=message) as told:
        fit(**(usual | arguments))
    assert "\n" not in str(told.value)


class Odd(SquareTask):
    def __init__(self, units: int = 1, change=lambda loss: loss) -> None:
        self.units, self.change = units, change

    def count(self, batch) -> int:
        return self.units

    def loss(self, model, batch):
        return self.change(super().loss(model, batch))


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Odd(units=0), "task.count must be at least 1 over a step, got 0 at step 1"),
        (Odd(change=lambda loss: loss.expand(2)), r"got a tensor of shape \(2,\)$"),
        (Odd(change=lambda loss: loss.detach()), r"got a tensor of shape \(\) without gradient$"),
    ],
)
def test_a_task_that_returns_something_else_is_named(task, message) -> None:
    with pytest.raises(ValueError, match=message):
        fit(make_net(), task, RandomBatches(), config=settings())


def test_a_fabric_of_ones_own_must_agree_with_the_configuration() -> None:
    fabric = Fabric(accelerator="cpu", devices=1)
    with pytest.raises(ValueError, match="precision must be the fabric's 32-true, got bf16-mixed"):
        fit(make_net(), SquareTask(), RandomBatches(), config=settings(precision="bf16-mixed"), fabric=fabric)
    with pytest.raises(ValueError, match="strategy must be that of the fabric, got fsdp"):
        fit(make_net(), SquareTask(), RandomBatches(), config=settings(strategy="fsdp"), fabric=fabric)


WRONG_TYPES = """
from coursepkg.training import TrainConfig, fit
from tests.training.jobs import RandomBatches, SquareTask, make_net

usual = {"model": make_net(), "task": SquareTask(), "batches": RandomBatches(), "config": TrainConfig(max_steps=1)}
for changes in ({"task": object()}, {"batches": [1, 2]}, {"model": make_net}, {"config": {"max_steps": 1}}):
    try:
        fit(**(usual | changes))
    except ValueError as told:
        print(told)
"""


def test_arguments_of_a_wrong_type_are_refused_in_one_line() -> None:
    """In a process of its own, because here the type checks of the tests would come first."""
    done = subprocess.run([sys.executable, "-c", WRONG_TYPES], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "task must have the methods count and loss, got object",
        "batches must have the method epoch, got list",
        "model must be a torch.nn.Module, got function",
        "config must be a TrainConfig, got dict",
    ]
    assert done.stderr == ""


def test_every_lazy_name_leads_somewhere() -> None:
    for name in coursepkg.training.__all__:
        assert getattr(coursepkg.training, name) is not None
