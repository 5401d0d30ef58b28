"""What `fit` is given: sums over clips, plain cross-entropy in validation, mixtures; and a network that learns."""

from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn import functional as F

from coursepkg.projects.sign_language.losses import ClipLoss
from coursepkg.projects.sign_language.model.classifier import ClipClassifier
from coursepkg.projects.sign_language.training import ClipTask, mean_loss
from coursepkg.training.config import TrainConfig
from coursepkg.training.loop import fit
from coursepkg.training.task import Task
from tests.projects.sign_language.networks import clips, config, network


@dataclass(frozen=True)
class Batch:
    """Clips with their words."""

    frames: Tensor
    mask: Tensor
    targets: Tensor

    def to(self, device: Any) -> "Batch":
        return Batch(self.frames.to(device), self.mask.to(device), self.targets.to(device))


def batch_of(targets: Tensor, seed: int = 0) -> Batch:
    frames, mask = clips([6, 4, 5, 2], seed=seed)
    return Batch(frames[: len(targets)], mask[: len(targets)], targets)


def part(batch: Batch, chosen: slice) -> Batch:
    return Batch(batch.frames[chosen], batch.mask[chosen], batch.targets[chosen])


def test_training_has_the_loss_that_was_asked_for_and_validation_the_plain_one() -> None:
    model, batch = network(), batch_of(torch.tensor([0, 1, 4, 1]))
    task = ClipTask("weighted-focal", label_smoothing=0.1, gamma=1.0, counts=(9, 7, 5, 3, 1))
    assert isinstance(task, Task)
    logits = model(batch.frames, batch.mask).logits
    assert task.loss(model, batch).item() == pytest.approx(
        F.cross_entropy(logits, batch.targets, reduction="sum").item()
    )
    model.train()
    model.freeze(3)  # so that batch statistics stay as they were
    expected = ClipLoss("weighted-focal", (9, 7, 5, 3, 1), 0.1, 1.0)(logits, batch.targets)
    assert task.loss(model, batch).item() == pytest.approx(expected.item())


def test_the_loss_of_a_batch_is_the_sum_over_its_clips() -> None:
    model, task = network(), ClipTask()
    for targets in (torch.tensor([0, 1, 4, 1]), torch.full((4, 5), 0.2, dtype=torch.float64)):
        batch = batch_of(targets)
        parts = [task.loss(model, part(batch, slice(i, i + 1))).item() for i in range(4)]
        assert task.loss(model, batch).item() == pytest.approx(sum(parts))
        assert task.count(batch) == 4


def test_mean_loss_is_per_clip_and_leaves_the_mode() -> None:
    model, batch = network(), batch_of(torch.tensor([0, 1, 4, 1]))
    model.train()
    found = mean_loss(model, [part(batch, slice(0, 3)), part(batch, slice(3, 4))])
    assert model.training
    model.eval()
    assert found == pytest.approx(ClipTask().loss(model, batch).item() / 4)
    with pytest.raises(ValueError, match="at least one batch, got none"):
        mean_loss(model, [])


def test_a_loss_that_lacks_its_counts_is_refused_at_once() -> None:
    with pytest.raises(ValueError, match="counts must be given for the loss logit-adjusted"):
        ClipTask("logit-adjusted")


class Walks:
    """A bright square that walks to one of four sides and comes back to rest: the first and last frame say nothing."""

    STEPS = ((0, 1), (0, -1), (1, 0), (-1, 0))

    def epoch(self, number: int) -> list[Batch]:
        return [self.batch(number)]

    def batch(self, seed: int, n_clips: int = 16) -> Batch:
        draw = torch.Generator().manual_seed(seed)
        frames = 0.1 * torch.randn(n_clips, 6, 3, 16, 16, generator=draw)
        targets = torch.randint(0, 4, (n_clips,), generator=draw)
        for i, target in enumerate(targets.tolist()):
            for t, far in enumerate((0, 2, 4, 4, 2, 0)):
                row, column = (6 + far * step for step in self.STEPS[target])
                frames[i, t, :, row : row + 4, column : column + 4] += 2.0
        return Batch(frames, torch.ones(n_clips, 6, dtype=torch.bool), targets)


def test_a_network_learns_where_a_hand_went() -> None:
    torch.manual_seed(0)
    model = ClipClassifier(config(n_classes=4))
    unseen = Walks().batch(10**6, 64)
    before = mean_loss(model, [unseen])
    settings = TrainConfig(max_steps=60, learning_rate=1e-2, precision="32-true", progress=False)
    fit(model, ClipTask(label_smoothing=0.0), Walks(), config=settings)
    model.eval()
    found = model(unseen.frames, unseen.mask)
    right = (found.logits.argmax(dim=1) == unseen.targets).float().mean().item()
    assert right > 0.9
    assert mean_loss(model, [unseen]) < before / 2
