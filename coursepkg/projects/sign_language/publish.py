"""From a finished run to the folder that ships: matrices in float16 where that changes no answer, and a card.

The card says what the model was trained on, what it scores as it is stored, and on what machine it was made.
"""

import copy
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.bench.machine import circumstances
from coursepkg.files import whole_folder
from coursepkg.projects.sign_language.data.cache import CachedClips
from coursepkg.projects.sign_language.evaluate import evaluate
from coursepkg.projects.sign_language.inference import predict_clips
from coursepkg.projects.sign_language.model.classifier import ClipClassifier
from coursepkg.projects.sign_language.recognizer import SignRecognizer
from coursepkg.projects.sign_language.scores import SignScores
from coursepkg.projects.sign_language.trained_model import TrainedModel, read_model
from coursepkg.training.saved_model import save_model
from coursepkg.training.shipped import check_weight
from coursepkg.training.weights import in_half

Parts = Mapping[str, CachedClips]
"""Clips to measure on, by the name of their part."""


def publish(
    run: Path, folder: Path, *, parts: Parts, facts: Mapping[str, Any] | None = None
) -> dict[str, SignScores]:
    """Store the finished model of a run in the form that `SignRecognizer.load` reads, measured as it is stored.

    Args:
        run: folder that `train` wrote.
        folder: where to; what it holds is replaced when everything else is done.
        parts: clips to measure on, at least one part.
        facts: what else the card is to say, as JSON can hold it.

    Returns:
        scores by part, which the card has, too.

    Raises:
        FileNotFoundError: the run is not finished.
        ValueError: there is nothing to measure on, or the folder would be too heavy to ship.
    """
    if not parts:
        raise ValueError("parts must hold at least one part to measure on, got none")
    trained = read_model(run)
    halved, changed = smaller(trained, parts)
    with whole_folder(folder) as work:
        save_model(work / "model", halved, **trained.card)
        stored = SignRecognizer.load(work)
        scores = {name: measure(stored, clips, name) for name, clips in parts.items()}
        shutil.rmtree(work / "model")
        card = trained.card | {
            "scores": {name: score.numbers_as_json() for name, score in scores.items()},
            "stored_in": "float32" if changed else "float16",
            "answers_changed_by_float16": changed,
            "made": circumstances(),
        }
        save_model(work / "model", halved, **(card | dict(facts or {})))
        check_weight(work, folder)
    return scores


def smaller(trained: TrainedModel, parts: Parts) -> tuple[ClipClassifier, int]:
    """The model to be stored, and how many clips it would name differently in half precision.

    In float16 where none; as it is where some clip changes its word.
    """
    halved = in_half(trained.model)
    read_back = copy.deepcopy(halved).float()
    changed = sum(
        int((_numbers(trained.model, trained, clips) != _numbers(read_back, trained, clips)).sum())
        for clips in parts.values()
    )
    return (trained.model if changed else halved), changed


def measure(recognizer: SignRecognizer, clips: CachedClips, protocol: str = "") -> SignScores:
    """What a recogniser scores on some cached clips."""
    first, *others = recognizer.models
    found = predict_clips(first, clips, recognizer.recipe, models=others, counts=recognizer.counts)
    return evaluate(found, clips, recognizer.labels, recognizer.counts, protocol=protocol)


def _numbers(model: ClipClassifier, trained: TrainedModel, clips: CachedClips) -> np.ndarray:
    return predict_clips(model, clips, trained.recipe, counts=trained.counts).numbers
