"""The folder of a translation run: what it was started with, and its vocabulary."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.projects.translation.tokenizers import FILES, Subwords
from coursepkg.training.files import read_json

CHANGEABLE = ("max_epochs", "max_seconds", "patience")
"""Settings of a recipe that may change when a run goes on."""

Corpora = list[tuple[tuple[str, str], Sequence[SentencePair]]]
"""For each pair of languages, of sources and targets, its training pairs."""


def card_of(recipe: Recipe, corpora: Sequence[Parts], seed: int, **more: Any) -> dict[str, Any]:
    """What decides a run, as JSON holds it."""
    directions = [[parts.source, parts.target] for parts in corpora]
    if recipe.reverse and recipe.reverse_fault == "none":
        directions += [[parts.target, parts.source] for parts in corpora]
    return {
        "recipe": recipe.described(),
        "directions": directions,
        "corpora": [parts.corpus for parts in corpora],
        "n_train": sum(len(parts.train) for parts in corpora),
        "seed": seed,
        **more,
    }


def recipe_from(folder: Path) -> Recipe:
    """The recipe of the finished model in the folder of a run.

    Raises:
        FileNotFoundError: there is no finished model.
        ValueError: the card is damaged, of another kind of model, or of a later version of this package.
    """
    meta = read_json(folder / "model" / "model.json").get("meta")
    fields = meta.get("recipe") if isinstance(meta, dict) else None
    wanted = "give a folder that coursepkg translation train wrote"
    if not isinstance(meta, dict) or not isinstance(fields, dict) or "directions" not in meta:
        raise ValueError(
            f"{folder} holds no translator (its card has no recipe and directions of one); {wanted}"
        )
    unknown = sorted(set(fields) - {field.name for field in dataclasses.fields(Recipe)})
    if unknown:
        raise ValueError(
            f"{folder} holds no translator that this version reads (it does not know {', '.join(unknown)}); "
            f"{wanted}, or update coursepkg"
        )
    try:
        return Recipe(**fields)
    except (TypeError, ValueError) as reason:
        raise ValueError(
            f"{folder} holds no translator (its recipe is damaged: {reason}); {wanted}"
        ) from reason


def vocabulary_of(recipe: Recipe, corpora: Corpora, out: Path, start: Path | None) -> Subwords:
    """The vocabulary of the run: learnt once, or that of the model to start from."""
    if start is not None or (out / FILES[1]).exists():
        return _kept(Subwords.load(out if start is None else start, recipe.underscores), out)
    return _kept(Subwords.train(corpora, recipe), out)


def _kept(subwords: Subwords, out: Path) -> Subwords:
    subwords.save(out)
    return subwords
