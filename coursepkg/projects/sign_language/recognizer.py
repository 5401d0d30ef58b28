"""Name the signed word of clips: the class that an application imports.

>>> recognizer = SignRecognizer.load_default()
>>> [one.label for one in recognizer.recognize(["first.mp4", "second.mp4"])]
['Cảm ơn', 'Xin lỗi']
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from coursepkg.app.model_folder import (
    check_finished,
    default_device,
    read_trained,
    weights_sha256,
)
from coursepkg.projects.sign_language.data.clip import (
    Clip,
    LandmarkClip,
    sample_frames,
)
from coursepkg.projects.sign_language.data.label_mapping import LabelMapping
from coursepkg.projects.sign_language.data.video import (
    cache_config,
    made_small,
    read_small,
)
from coursepkg.projects.sign_language.inference import (
    Predicted,
    Recognition,
    predict_clips,
)
from coursepkg.projects.sign_language.model.classifier import ClipClassifier, rebuild
from coursepkg.projects.sign_language.options import Common, Use
from coursepkg.projects.sign_language.recipe import Recipe, architecture_of
from coursepkg.training.saved_model import CARD
from coursepkg.validation import as_list, check_count, one_line

if TYPE_CHECKING:
    from coursepkg.projects.sign_language.few_shot.recognizer import WordRecognizer


@dataclass(frozen=True, eq=False)
class TrainedModel:
    """What a folder holds."""

    model: ClipClassifier
    """In evaluation mode, in float32."""
    labels: tuple[str, ...]
    """Its words in the order of their class numbers (V)."""
    recipe: Recipe
    counts: tuple[int, ...]
    """Training clips of each word (V); empty where the card does not tell them."""
    card: dict[str, Any]
    """What is stored beside the weights."""


def read_model(folder: str | Path) -> TrainedModel:
    """Read the folder that `coursepkg sign-language train --out` wrote.

    Raises:
        FileNotFoundError: there is no finished model in it.
        ValueError: a file is damaged, or the model is one of another project.
    """
    folder = check_finished(folder)
    needs, lacks = {"labels": list}, "names no signed words"
    model, recipe, meta = read_trained(
        folder, rebuild, Recipe, needs=needs, lacks=lacks
    )
    labels = tuple(meta["labels"])
    if not isinstance(model, ClipClassifier) or model.config.n_classes != len(labels):
        raise ValueError(
            f"{folder / 'model' / CARD} is damaged: it has {len(labels)} words, and the"
            " weights have another number"
        )
    LabelMapping(labels)  # which checks the words
    counts = meta.get("counts", [])
    if not isinstance(counts, list) or not all(type(one) is int for one in counts):
        raise ValueError(
            f"{folder / 'model' / CARD} is damaged: its counts are no list of integers"
        )
    return TrainedModel(model, labels, recipe, tuple(counts), meta)


def check_ensemble(names: Sequence[str], read: Sequence[TrainedModel]) -> None:
    """Check that models have the same words and read the same frames.

    Raises:
        ValueError: they do not; the first one that differs is named.
    """
    first = read[0]
    for name, one in zip(names[1:], read[1:], strict=True):
        if one.labels != first.labels:
            raise ValueError(
                f"{name} has other words than {names[0]}; an ensemble must know the"
                " same ones"
            )
        kinds = [architecture_of(each.recipe.backbone) for each in (first, one)]
        if kinds[0].n_features != kinds[1].n_features:
            raise ValueError(
                f"of {names[0]} and {name} one reads pictures and the other landmarks;"
                " the models of an ensemble must agree"
            )
        for field in ("size", "n_frames", "padding"):
            ours, theirs = getattr(first.recipe, field), getattr(one.recipe, field)
            if ours != theirs:
                raise ValueError(
                    f"{name} reads {field} {theirs}, and {names[0]} {ours}; the models"
                    " of an ensemble must agree"
                )


ReadableClip = Clip | LandmarkClip
"""A clip as a network reads it: small pictures, or steps of landmarks."""
DEFAULT = Path(__file__).parent / "checkpoint"
"""The model that ships with the package: small, trained on generated signers."""


class SignRecognizer:
    """A recogniser names words by one trained network or by several together.

    Args:
        model: the network.
        labels: its words in the order of their class numbers (V).
        recipe: what it was trained by; `views` and `adjust` are the defaults here.
        counts: training clips of each word (V); needed where `recipe.adjust` is above
            0.
        others: further networks for the same words and frames; probabilities are
            averaged.
        card: what is stored beside the weights.

    Raises:
        ValueError: the networks do not go together.
    """

    def __init__(
        self,
        model: ClipClassifier,
        labels: Sequence[str],
        recipe: Recipe,
        *,
        counts: Sequence[int] = (),
        others: Sequence[ClipClassifier] = (),
        card: Mapping[str, Any] | None = None,
    ) -> None:
        for one in (model, *others):
            if one.config.n_classes != len(labels):
                raise ValueError(
                    f"labels must be the model's {one.config.n_classes} words, got"
                    f" {len(labels)}"
                )
        self.models = tuple(one.eval() for one in (model, *others))
        self.labels, self.recipe = tuple(labels), recipe
        self.counts, self.card = tuple(counts), dict(card or {})
        self.cache_config = cache_config(recipe)
        """How clips are read, as those were that the network learnt from."""

    @property
    def model(self) -> ClipClassifier:
        """The network; of several the first."""
        return self.models[0]

    @classmethod
    def load(cls, *folders: str | Path) -> "SignRecognizer":
        """Read folders that `coursepkg sign-language train --out` wrote.

        Several folders become an ensemble.

        Raises:
            FileNotFoundError: there is no finished model in it.
            ValueError: a file is damaged, the model is one of another project, or the
                models do not go together.
        """
        if not folders:
            raise ValueError("folders must hold at least one model, got none")
        read = [read_model(folder) for folder in folders]
        check_ensemble([str(folder) for folder in folders], read)
        device = default_device()
        first, *others = read
        return cls(
            first.model.to(device),
            first.labels,
            first.recipe,
            counts=first.counts,
            others=[one.model.to(device) for one in others],
            card=first.card,
        )

    @classmethod
    def load_default(cls) -> "SignRecognizer":
        """Read the model that ships with the package.

        Raises:
            FileNotFoundError: this installation has no model.
        """
        if not (DEFAULT / "model").is_dir():
            raise FileNotFoundError(
                "this installation has no model of its own; give --model FOLDER or"
                " --preset"
            )
        return cls.load(DEFAULT)

    @staticmethod
    def enroll(
        clips: str | Path, *, words: str | Path | None = None
    ) -> "WordRecognizer":
        """Learn words from a few clips each, without training.

        Args:
            clips: folder of videos, a folder a word.
            words: folder of words that are enrolled already, see `few_shot.words`; None
                begins with none.

        Raises:
            FileNotFoundError: there is no such folder.
            ValueError: a clip cannot be enrolled; the first one is named.
            ImportError: av, ai-edge-litert or OpenCV is not installed.
        """
        from coursepkg.projects.sign_language.data.scan import scan_clips
        from coursepkg.projects.sign_language.few_shot import recognizer
        from coursepkg.projects.sign_language.few_shot.words import Words

        known = None if words is None else Words.load(words)
        found = recognizer.enroll(scan_clips(clips).files, known)
        if found.left_out:
            raise ValueError(found.left_out[0])
        return recognizer.WordRecognizer(found.words)

    def with_settings(
        self, *, views: int | None = None, adjust: float | None = None
    ) -> "SignRecognizer":
        """Return the same networks with other settings; None keeps the recipe's.

        Raises:
            ValueError: a setting is out of range, or the model's card has no counts to
                adjust by.
        """
        changes: dict[str, Any] = {
            name: v
            for name, v in (("views", views), ("adjust", adjust))
            if v is not None
        }
        recipe = replace(self.recipe, **changes)
        if recipe.adjust and not self.counts:
            raise ValueError(
                f"--adjust {recipe.adjust:g} needs the training clips of each word,"
                " which the card lacks"
            )
        first, *others = self.models
        return SignRecognizer(
            first,
            self.labels,
            recipe,
            counts=self.counts,
            others=others,
            card=self.card,
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of weights, words, and all settings that change an answer."""
        names = ("size", "n_frames", "padding", "views", "adjust")
        told = [self.labels, [getattr(self.recipe, name) for name in names]]
        if self.recipe.adjust:
            told.append(self.counts)
        return weights_sha256(json.dumps(told), self.models)

    def recognize(
        self,
        paths: Sequence[str | Path],
        *,
        n_best: int = 5,
        batch_size: int = 32,
        keep_going: bool = False,
    ) -> list[Recognition]:
        """Name the words of video files in order, as `recognize_each` does.

        The list has one recognition for each file.
        """
        paths = as_list("paths", paths, str | Path, "videos")
        return list(
            self.recognize_each(
                paths, n_best=n_best, batch_size=batch_size, keep_going=keep_going
            )
        )

    def recognize_each(
        self,
        paths: Iterable[str | Path],
        *,
        n_best: int = 5,
        batch_size: int = 32,
        keep_going: bool = False,
    ) -> Iterator[Recognition]:
        """Yield one recognition for each file, in order.

        Memory holds the clips of one batch only, however many files there are.

        What else is in a batch changes nothing but the last digits.

        Args:
            paths: of videos.
            n_best: words of each clip; never more than there are.
            batch_size: clips at once.
            keep_going: a clip that cannot be read gives a recognition with its `error`
                instead of stopping all.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: a file cannot be read, or an option is out of range.
            ImportError: av is not installed.
        """
        check_count("n_best", n_best)
        check_count("batch_size", batch_size)
        rest = iter(paths)
        while chunk := list(islice(rest, batch_size)):
            read = [self._read(Path(path), keep_going) for path in chunk]
            clips = [one for one, _ in read if not isinstance(one, str)]
            found = iter(self._name(clips, n_best))
            for path, (one, flaw) in zip(chunk, read, strict=True):
                if isinstance(one, str):
                    yield Recognition(str(path), (), None, np.zeros(0), error=one)
                else:
                    yield replace(next(found), flaw=flaw)

    def recognize_clips(
        self, clips: Sequence[Clip], *, n_best: int = 5
    ) -> list[Recognition]:
        """Name the words of clips in memory, of any size and length, all at once."""
        clips = as_list("clips", clips, Clip, "clips")
        check_count("n_best", n_best)
        return self._name([self._prepared(clip) for clip in clips], n_best)

    def probabilities(self, clip: Clip) -> np.ndarray:
        """The probability of each word for one clip in memory, float32 (V,)."""
        return self._look([self._prepared(clip)]).probabilities[0]

    def _prepared(self, clip: Clip) -> ReadableClip:
        """A clip in memory as the network reads it."""
        config = self.cache_config
        if config.n_features:
            from coursepkg.projects.sign_language.landmarks.steps import (
                check_somebody,
                landmark_clip,
            )

            found = landmark_clip(clip, config.frames)
            check_somebody(found)
            return found
        return made_small(clip, config)

    def _look(self, clips: Sequence[ReadableClip]) -> Predicted:
        first, *others = self.models
        return predict_clips(
            first,
            clips,
            self.recipe,
            batch_size=len(clips),
            models=others,
            counts=self.counts,
        )

    def _read(self, path: Path, keep_going: bool) -> tuple[ReadableClip | str, str]:
        """A clip and its flaw; or why it cannot be read."""
        config = self.cache_config
        try:
            if config.n_features:
                from coursepkg.projects.sign_language.landmarks.steps import (
                    check_somebody,
                    read_landmark_clip,
                )

                found = read_landmark_clip(path, config.frames)
                check_somebody(found)
                return found, found.flaw
            return read_small(path, config)
        except (ValueError, OSError) as reason:
            if not keep_going:
                raise
            return one_line(reason), ""

    def _name(self, clips: Sequence[ReadableClip], n_best: int) -> list[Recognition]:
        if not clips:
            return []
        found = self._look(clips)
        order = np.argsort(-found.probabilities, axis=1, kind="stable")[:, :n_best]
        named = []
        for row, clip in enumerate(clips):
            words = tuple(
                (self.labels[i], float(found.probabilities[row, i])) for i in order[row]
            )
            weights = None if found.weights is None else found.weights[row]
            sampled = sample_frames(
                clip.times, self.recipe.n_frames, self.recipe.padding
            )
            named.append(
                Recognition(
                    *(clip.name, words, weights, clip.times[sampled.numbers]),
                    flaw=clip.flaw if isinstance(clip, LandmarkClip) else "",
                )
            )
        return named


def load_recognizer(common: Common, use: Use) -> SignRecognizer:
    """The model or the ensemble that options name, with the settings that they give."""
    folders = use.folders(common)
    if folders:
        recognizer = SignRecognizer.load(*folders)
    else:
        recognizer = SignRecognizer.load_default()
    return recognizer.with_settings(views=use.views, adjust=use.adjust)
