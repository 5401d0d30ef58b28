"""A finished model in the folder of its run, read back and checked to be one of this project."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursepkg.projects.sign_language.data.label_mapping import LabelMapping
from coursepkg.projects.sign_language.model.build import rebuild
from coursepkg.projects.sign_language.model.classifier import ClipClassifier
from coursepkg.projects.sign_language.recipe import Recipe
from coursepkg.training.files import read_json
from coursepkg.training.saved_model import CARD, load_model


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
    folder = Path(folder)
    if not (folder / "model").is_dir():
        unfinished = (folder / "run").is_dir()
        hint = "training was not finished: add --resume" if unfinished else "train one there first"
        raise FileNotFoundError(f"{folder}: no finished model in it; {hint}")
    path = folder / "model" / CARD
    meta = read_json(path, needs={"config": dict, "meta": dict})["meta"]
    if not isinstance(meta.get("labels"), list) or not isinstance(meta.get("recipe"), dict):
        raise ValueError(f"{folder}: its model names no signed words; it is one of another project")
    model, meta = load_model(folder / "model", rebuild)
    labels = tuple(meta["labels"])
    if not isinstance(model, ClipClassifier) or model.config.n_classes != len(labels):
        raise ValueError(
            f"{path} is damaged: it has {len(labels)} words, and the weights have another number"
        )
    try:
        recipe = Recipe.of(meta["recipe"])
    except TypeError as reason:
        raise ValueError(f"{path} has a recipe that this version does not know: {reason}") from None
    LabelMapping(labels)  # which checks the words
    counts = tuple(int(count) for count in meta.get("counts", ()))
    return TrainedModel(model.float(), labels, recipe, counts, meta)


def check_ensemble(names: Sequence[str], read: Sequence[TrainedModel]) -> None:
    """Raises a ValueError unless models have the same words and read the same frames."""
    first = read[0]
    for name, one in zip(names[1:], read[1:], strict=True):
        if one.labels != first.labels:
            raise ValueError(f"{name} has other words than {names[0]}; an ensemble must know the same ones")
        for field in ("size", "n_frames", "padding"):
            ours, theirs = getattr(first.recipe, field), getattr(one.recipe, field)
            if ours != theirs:
                raise ValueError(
                    f"{name} reads {field} {theirs}, and {names[0]} {ours}; the models of an ensemble must agree"
                )
