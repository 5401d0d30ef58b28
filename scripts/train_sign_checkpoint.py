"""Makes the recogniser of signs that ships with the package: the preset small, learnt from generated signers alone.

    .venv/bin/python scripts/train_sign_checkpoint.py

Stopped at any time, and called again with the same options, it goes on: with the clips that are missing, then with the
training. At the end the model is in coursepkg/projects/sign_language/checkpoint/. The last line says what it scores.
"""

import argparse
import copy
import dataclasses
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch

from coursepkg.bench.machine import circumstances
from coursepkg.files import whole_folder
from coursepkg.projects.sign_language.corpora import load_corpus
from coursepkg.projects.sign_language.data.cache import CachedClips
from coursepkg.projects.sign_language.inference import predict_clips
from coursepkg.projects.sign_language.model.classifier import ClipClassifier
from coursepkg.projects.sign_language.recipe import PRESETS
from coursepkg.projects.sign_language.recognizer import (
    DEFAULT,
    SignRecognizer,
    TrainedModel,
    read_model,
)
from coursepkg.projects.sign_language.scores import SignScores
from coursepkg.projects.sign_language.scoring import evaluate
from coursepkg.projects.sign_language.training import train
from coursepkg.training.run_card import CARD, read_calls
from coursepkg.training.saved_model import check_weight, save_model
from coursepkg.training.weights import in_half

Parts = Mapping[str, CachedClips]
"""Clips to measure on, by the name of their part."""


def publish(
    run: Path, folder: Path, *, parts: Parts, facts: Mapping[str, Any] | None = None
) -> dict[str, SignScores]:
    """Store a run's model as `SignRecognizer.load` reads it, measured as stored.

    Args:
        run: folder that `train` wrote.
        folder: where to; what it holds is replaced when everything else is done.
        parts: clips to measure on, at least one part.
        facts: what else the card is to say, as JSON can hold it.

    Returns:
        scores by part, which the card has, too.

    Raises:
        FileNotFoundError: the run is not finished.
        ValueError: there is nothing to measure on, or the folder would be too heavy to
            ship.
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
    """The model to be stored, and how many clips it names differently in half.

    In float16 where none; as it is where some clip changes its word.
    """
    halved = in_half(trained.model)
    read_back = copy.deepcopy(halved).float()
    changed = sum(
        int(
            (
                _numbers(trained.model, trained, clips)
                != _numbers(read_back, trained, clips)
            ).sum()
        )
        for clips in parts.values()
    )
    return (trained.model if changed else halved), changed


def measure(
    recognizer: SignRecognizer, clips: CachedClips, protocol: str = ""
) -> SignScores:
    """What a recogniser scores on some cached clips."""
    first, *others = recognizer.models
    found = predict_clips(
        first, clips, recognizer.recipe, models=others, counts=recognizer.counts
    )
    return evaluate(
        found, clips, recognizer.labels, recognizer.counts, protocol=protocol
    )


def _numbers(
    model: ClipClassifier, trained: TrainedModel, clips: CachedClips
) -> np.ndarray:
    return predict_clips(model, clips, trained.recipe, counts=trained.counts).numbers


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("runs/sign-language-checkpoint"),
        help="logs and checkpoints",
    )
    parser.add_argument(
        "--checkpoint", type=Path, default=DEFAULT, help="where the finished model goes"
    )
    parser.add_argument(
        "--preset",
        choices=("tiny", "small"),
        default="small",
        help="size of the network",
    )
    parser.add_argument(
        "--data",
        choices=("signers", "signers-tiny"),
        default="signers",
        help="the generated set",
    )
    parser.add_argument(
        "--epochs",
        type=int,
        default=0,
        help="passes over the clips; 0 takes the preset's",
    )
    parser.add_argument(
        "--max-seconds",
        type=float,
        default=0.0,
        help="of training; 0 takes the preset's",
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="of weights, order and chance"
    )
    parser.add_argument(
        "--threads", type=int, default=os.cpu_count() or 1, help="cores for training"
    )
    return parser.parse_args()


def main() -> None:
    chosen = options()
    torch.set_num_threads(chosen.threads)
    recipe = PRESETS[chosen.preset]
    recipe = dataclasses.replace(
        recipe,
        max_epochs=chosen.epochs or recipe.max_epochs,
        max_seconds=chosen.max_seconds or recipe.max_seconds,
    )
    corpus = load_corpus(chosen.data, recipe)
    print(*corpus.report(), sep="\n")
    begun = (chosen.out / CARD).is_file()
    train(recipe, corpus, chosen.out, seed=chosen.seed, resume=begun)
    parts = {name: corpus.part(name) for name in ("dev", "test")}
    facts = {"calls": read_calls(chosen.out)}
    scores = publish(chosen.out, chosen.checkpoint, parts=parts, facts=facts)
    print(scores["test"])
    print(
        f"{chosen.checkpoint}: generated signers whom it has not seen, as scored above"
    )


if __name__ == "__main__":
    main()
