"""What a network learns from clips: the loss that `fit` minimises, and the plain one that validation reads."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from torch import Tensor, nn

from coursepkg.projects.sign_language.losses import ClipLoss
from coursepkg.training import task as training_task


@runtime_checkable
class LabelledClips(Protocol):
    """What a batch of clips must have."""

    @property
    def frames(self) -> Tensor:
        """(B, T, 3, H, W), ImageNet-normalised."""

    @property
    def mask(self) -> Tensor:
        """Bool (B, T), True at a real frame."""

    @property
    def targets(self) -> Tensor:
        """Class numbers (B,), or where clips were mixed shares of the classes (B, V)."""


@dataclass
class ClipTask:
    """Name the word of every clip.

    Losses are sums over the clips of a batch. Smoothing, focus, weights and prior hold in training mode only, so that
    a validation loss is plain cross-entropy, whatever the training minimises.
    """

    loss_kind: str = "cross-entropy"
    """One of `losses.LOSSES`."""
    label_smoothing: float = 0.1
    """Share of the target that goes to all words alike, in [0, 1)."""
    gamma: float = 2.0
    """Exponent of the focal losses, at least 0."""
    tau: float = 1.0
    """Strength of logit adjustment, at least 0."""
    counts: tuple[int, ...] = ()
    """Training clips of each word; needed by the losses that go by them."""

    def __post_init__(self) -> None:
        self._training_loss = ClipLoss(
            self.loss_kind, self.counts, self.label_smoothing, self.gamma, self.tau
        )

    def count(self, batch: LabelledClips) -> int:
        """Clips of the batch."""
        return len(batch.targets)

    def loss(self, model: Any, batch: LabelledClips) -> Tensor:
        """Summed loss of a batch.

        Args:
            model: `ClipClassifier`, bare or wrapped by Fabric.
            batch: on the device of the model.
        """
        judge = self._training_loss if model.training else ClipLoss()
        return judge(model(batch.frames, batch.mask).logits, batch.targets)


def mean_loss(model: nn.Module, batches: Iterable[Any]) -> float:
    """Plain cross-entropy a clip over some batches, in nats; the network's mode stays as it was.

    Raises:
        ValueError: there is no batch.
    """
    return training_task.mean_loss(model, ClipTask(), batches)
