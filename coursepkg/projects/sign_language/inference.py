"""What networks say of clips: probabilities of the words, and what each frame weighed.

    views       a clip is looked at several times, shifted in time and cropped;
                probabilities are averaged
    ensemble    several networks look at it; probabilities are averaged
    adjustment  log p - tau log prior, for a network that has learnt that rare words are
    rare

in this order. One view of one network without adjustment is a plain pass.

Source of the adjustment: Menon et al., "Long-tail learning via logit adjustment" (arXiv
2007.07314), section 4.1.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from coursepkg.blocks.norm import to_float32
from coursepkg.projects.sign_language.data.clip import (
    Clip,
    LandmarkClip,
    Places,
    network_input,
    sample_frames,
)
from coursepkg.projects.sign_language.recipe import Recipe, architecture_of
from coursepkg.validation import check_count

if TYPE_CHECKING:
    from coursepkg.projects.sign_language.data.cache import CachedClips


@dataclass(frozen=True, eq=False)
class Predicted:
    """What was said of some clips, in their order."""

    probabilities: np.ndarray
    """Of the words, float32 (N, V)."""
    weights: np.ndarray | None
    """What each sampled frame weighed in attention pooling, float32 (N, T), 0 at
    padding; None without such pooling."""

    @property
    def numbers(self) -> np.ndarray:
        """Class number of the likeliest word, int64 (N,)."""
        return self.probabilities.argmax(axis=1)

    def words(self, labels: Sequence[str]) -> list[str]:
        """The likeliest word of each clip."""
        return [labels[number] for number in self.numbers.tolist()]


@dataclass(frozen=True, eq=False)
class Recognition:
    """A clip and the word that is signed in it."""

    name: str
    """Of its file."""
    candidates: tuple[tuple[str, float], ...]
    """Words with their probabilities, the likeliest first; empty where the clip could
    not be read."""
    weights: np.ndarray | None
    """What each sampled frame weighed in the decision, float32 (T,), 0 at padding; None
    where the network has no attention pooling, and for a clip that could not be
    read."""
    times: np.ndarray
    """When the frames that were looked at are shown, in seconds from the start of the
    clip, float64 (T,): the sampled ones, or with enrolled words all of them."""
    flaw: str = ""
    """What is wrong with the clip although it was read, in one line."""
    error: str = ""
    """Why it could not be read, in one line."""
    none: float = 0.0
    """The probability that it is none of the words; 0 where the network knows no such
    answer."""

    @property
    def is_none(self) -> bool:
        """Whether the clip is likelier none of the words than any of them."""
        return bool(self.candidates) and self.none > self.candidates[0][1]

    @property
    def label(self) -> str:
        """The likeliest word; empty for none of them, and where nothing was read."""
        return self.candidates[0][0] if self.candidates and not self.is_none else ""

    @property
    def confidence(self) -> float:
        """The probability of that answer; 0 where the clip could not be read."""
        if self.is_none:
            return self.none
        return self.candidates[0][1] if self.candidates else 0.0


class View(NamedTuple):
    """One way to look at a clip."""

    offset: float
    """By what share of the distance between two sampled moments all of them are moved,
    in [-1, 1]."""
    crop: float
    """Share of height and width that is kept of the middle and enlarged to the old
    size, in (0, 1]."""


def views_of(count: int) -> tuple[View, ...]:
    """The views to average: the clip, then other frames of it and closer crops.

    A view takes its frames a third of their distance later or earlier. None is
    mirrored: a mirrored sign may be another sign.
    """
    check_count("--views", count)
    return tuple(
        View((0.0, 1 / 3, -1 / 3)[k % 3], max(0.8, 1 - 0.05 * k)) for k in range(count)
    )


def predict_clips(
    model: nn.Module,
    clips: "CachedClips | Sequence[Clip | LandmarkClip]",
    recipe: Recipe,
    *,
    batch_size: int = 32,
    limit: int = 0,
    models: Sequence[nn.Module] = (),
    counts: Sequence[int] = (),
) -> Predicted:
    """Predict the words of clips with one network or an ensemble.

    The networks' modes stay as they were.

    Args:
        model: `ClipClassifier`.
        clips: what to look at; clips in memory have frames of the size that the
            network reads, or are landmarks where it reads these.
        recipe: frames, padding, `views` and `adjust`.
        batch_size: clips at once; it changes the result by rounding alone.
        limit: so many clips, the first ones; 0 takes all.
        models: further networks for the same words and frames, for an ensemble.
        counts: training clips of each word, at least 1; needed where `recipe.adjust` is
            above 0.

    Raises:
        ValueError: there is no clip, frames have another size than the network reads,
            the networks do not go together, or counts are needed and missing.
    """
    check_count("--batch-size", batch_size)
    together = (model, *models)
    _check_together(together)
    source = _InMemory(clips) if isinstance(clips, Sequence) else clips
    if not len(source):
        raise ValueError("clips must hold at least one clip, got none")
    _check_kind(source, recipe)
    if recipe.adjust and not counts:
        raise ValueError(
            f"--adjust {recipe.adjust:g} needs the number of training clips of each"
            " word"
        )
    said: list[Tensor] = []
    weighed: list[Tensor | None] = []
    chosen = range(len(source))[: limit or None]
    for start in range(0, len(chosen), batch_size):
        numbers = chosen[start : start + batch_size]
        probabilities, weights = _of_batch(together, source, numbers, recipe)
        said.append(probabilities)
        weighed.append(weights)
    probabilities = torch.cat(said)
    if recipe.adjust:
        probabilities = adjust_probabilities(probabilities, counts, recipe.adjust)
    kept = [weights for weights in weighed if weights is not None]
    return Predicted(probabilities.numpy(), torch.cat(kept).numpy() if kept else None)


def _check_kind(source: "CachedClips | _InMemory", recipe: Recipe) -> None:
    """Raise a ValueError unless clips are what a network by the recipe reads."""
    wanted = architecture_of(recipe.backbone).n_features
    if source.n_features != wanted:
        kinds = ("pictures", "landmarks")
        raise ValueError(
            f"the clips are {kinds[source.n_features > 0]} and the model reads"
            f" {kinds[wanted > 0]}; load them by the recipe of the model"
        )
    if not wanted and source.size != recipe.size:
        raise ValueError(
            f"the clips have {source.size} pixels and the model reads {recipe.size};"
            f" prepare them with --size {recipe.size}"
        )


def log_prior(counts: Sequence[int]) -> Tensor:
    """log of each word's share of the training clips, float32 (V,)."""
    shares = np.asarray(counts, dtype=np.float64)
    return torch.tensor(np.log(shares / shares.sum()), dtype=torch.float32)


def adjusted(logits: Tensor, counts: Sequence[int], tau: float = 1.0) -> Tensor:
    """Adjust logits (B, V) of a plain cross-entropy network to equal word frequencies.

        logits_v - tau log(prior_v)

    With tau = 1 this is Bayes' rule: it divides the posterior by the prior. It asks for
    a network that has learnt the prior; after training with a balanced sampler there is
    none to take out. Source: Menon et al., "Long-tail learning via logit adjustment"
    (arXiv 2007.07314), sections 4.1 and 5.

    Raises:
        ValueError: counts do not fit the logits, or tau is negative.
    """
    if not 0 <= tau < float("inf"):
        raise ValueError(f"tau must be at least 0 and finite, got {tau}")
    if len(counts) != logits.shape[-1] or min(counts) < 1:
        raise ValueError(
            f"counts must be {logits.shape[-1]} numbers of at least 1, one a word, got"
            f" {list(counts)}"
        )
    return logits - tau * log_prior(counts).to(logits)


def adjust_probabilities(
    probabilities: Tensor, counts: Sequence[int], tau: float
) -> Tensor:
    """Adjust p (N, V) to equal word frequencies as softmax(log p - tau log prior).

    Raises:
        ValueError: counts do not fit, one of them is 0, or tau is negative.
    """
    # What is too small for float32 counts as the smallest number that is not.
    logs = probabilities.clamp_min(torch.finfo(torch.float32).tiny).log()
    return adjusted(logs, counts, tau).softmax(dim=1)


def view_of(
    source: "CachedClips | _InMemory", number: int, recipe: Recipe, view: View
) -> tuple[Tensor, Tensor]:
    """A clip as a network takes it: float32 (T, 3, size, size), mask bool (T,).

    One of landmarks is float32 (T, F), and no view crops it.
    """
    places = _moved(view.offset) if view.offset else None
    sampled = sample_frames(
        source.times(number), recipe.n_frames, recipe.padding, places=places
    )
    frames = network_input(source.frames(number, sampled.numbers))
    if view.crop < 1 and frames.dim() == 4:
        side = round(view.crop * recipe.size)
        at = (recipe.size - side) // 2
        inside = frames[..., at : at + side, at : at + side]
        frames = F.interpolate(
            inside, size=(recipe.size, recipe.size), mode="bilinear", antialias=True
        )
    return frames, torch.from_numpy(sampled.mask)


class _InMemory:
    """Clips in memory as `CachedClips` gives those in a file."""

    def __init__(self, clips: "Sequence[Clip | LandmarkClip]") -> None:
        self.clips = clips
        for clip in clips:
            shape = clip.frames.shape[1:3]
            if not self.n_features and shape != (self.size, self.size):
                height, width = clip.frames.shape[1:3]
                raise ValueError(
                    f"{clip.name}: frames must be squares of one size, {self.size}, got"
                    f" {width} x {height}"
                )

    def __len__(self) -> int:
        return len(self.clips)

    @property
    def size(self) -> int:
        """Height and width of the frames, in pixels."""
        return int(self.clips[0].frames.shape[1]) if self.clips else 0

    @property
    def n_features(self) -> int:
        """Numbers of a step where the clips are landmarks, 0 of pictures."""
        first = self.clips[0].frames if self.clips else np.zeros(0)
        return int(first.shape[1]) if first.ndim == 2 else 0

    def times(self, number: int) -> np.ndarray:
        """When the frames of a clip are shown, in seconds (N,)."""
        return self.clips[number].times

    def frames(self, number: int, chosen: np.ndarray) -> np.ndarray:
        """Frames of a clip that are chosen by their numbers."""
        return self.clips[number].frames[chosen]


@torch.no_grad()
def _of_batch(
    models: Sequence[nn.Module],
    source: "CachedClips | _InMemory",
    numbers: range,
    recipe: Recipe,
) -> tuple[Tensor, Tensor | None]:
    """Return a batch's mean probabilities (B, V) and first-view mean weights (B, T).

    The weights are None where no model has any.
    """
    views = views_of(recipe.views)
    total: Tensor | None = None
    weighed: list[Tensor] = []
    was_training = [model.training for model in models]
    try:
        for model in models:
            model.eval()
        for place, view in enumerate(views):
            frames, mask = (
                torch.stack(one)
                for one in zip(
                    *(view_of(source, i, recipe, view) for i in numbers), strict=True
                )
            )
            for model in models:
                device = next(model.parameters()).device
                found = model(frames.to(device), mask.to(device))
                p = to_float32(found.logits).softmax(dim=1).cpu()
                total = p if total is None else total + p
                if not place and _attends(model):
                    weighed.append(to_float32(found.weights).cpu())
    finally:
        for model, mode in zip(models, was_training, strict=True):
            model.train(mode)
    assert total is not None
    mean = total / (len(models) * len(views))
    return mean, torch.stack(weighed).mean(dim=0) if weighed else None


def _attends(model: nn.Module) -> bool:
    return (
        getattr(getattr(model, "config", None), "pooling", "attention") == "attention"
    )


def _moved(offset: float) -> Places:
    """Evenly spaced places, moved by a share of the distance between two of them."""

    def places(count: int) -> np.ndarray:
        return np.linspace(0, 1, count) + offset / max(1, count - 1)

    return places


def _check_together(models: Sequence[nn.Module]) -> None:
    """Raise a ValueError unless networks share the number of words and frame size."""
    configs = [getattr(model, "config", None) for model in models]
    for field, what in (("n_classes", "words"), ("size", "pixels")):
        values = [getattr(config, field, None) for config in configs]
        if len(set(values)) > 1:
            told = " and ".join(str(value) for value in dict.fromkeys(values))
            raise ValueError(
                f"models of an ensemble must have the same number of {what}, got {told}"
            )
