"""Fine-tuning: a run that begins with a finished model and learns other sentences.

Text, sizes and search are the model's own. How the weights move is set anew. A model
forgets what it does not see any more, so sentences of its own corpora can be mixed in.
"""

import dataclasses
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coursepkg.app.model_folder import check_finished, start_in
from coursepkg.app.options import value_in
from coursepkg.projects.translation.corpora import (
    CORPORA,
    SPLIT_SEED,
    Parts,
    apart,
    load_parts,
)
from coursepkg.projects.translation.models import recipe_from
from coursepkg.projects.translation.predict import DEFAULT
from coursepkg.projects.translation.recipe import Recipe
from coursepkg.training.run_card import stored_card

SETTINGS: Mapping[str, Any] = {
    "optimizer": "adamw",
    "learning_rate": 5e-4,
    "schedule": "cosine",
    "warmup": 30,
    "ema": 0.0,
    "max_epochs": 20,
    "max_seconds": 900.0,
    "patience": 5,
    "reverse_fault": "none",
    "sam_rho": 0.0,
    "contrastive": 0.0,
    "self_contrastive": 0.0,
    "versions": "mask",
}
"""Of a recipe, where nothing else is asked for."""


def recipe_to_start(arguments: Sequence[str]) -> Recipe | None:
    """The recipe that gives the flags of `train` their defaults, by its arguments.

    Both directions go on where the model knows both.

    Returns:
        None where the arguments name no model to begin with, or a preset.

    Raises:
        FileNotFoundError: there is no finished model in the folder.
        ValueError: the folder holds something else.
    """
    folder = start_in(arguments, DEFAULT)
    if folder is None:
        return None
    recipe = recipe_from(folder)
    way = [value_in(arguments, "--from") or "zh", value_in(arguments, "--to") or "vi"]
    known = stored_card(folder).get("directions", [])
    both = recipe.joint and way in known and way[::-1] in known
    return dataclasses.replace(recipe, **SETTINGS, reverse=float(both))


def check_start(start: Path, source: str, target: str) -> list[str]:
    """A note where the model to begin with has not learnt the direction.

    Raises:
        FileNotFoundError: there is no finished model in the folder.
        ValueError: it has not, and its vocabularies are for other languages.
    """
    joint = recipe_from(check_finished(start)).joint
    ways = stored_card(start).get("directions", [])
    if [source, target] in ways:
        return []
    known = ", ".join(f"{a} to {b}" for a, b in dict.fromkeys(map(tuple, ways)))
    if not joint:
        raise ValueError(
            f"--start {start} has vocabularies for {known} alone; begin with a model of"
            f" {source} to {target}, or with one whose vocabulary is joint"
        )
    return [f"the model to begin with has learnt {known}, not {source} to {target}"]


def mixed_in(own: Parts, languages: Sequence[str], start: Path | None) -> list[Parts]:
    """Training text of corpora that goes beside the user's own, by source language.

    Sentences of the own dev and test parts are left out. They come from the corpus of
    the two languages. Where the run begins with a model, they come from the corpus that
    it learnt, and are as many as the own ones.

    Args:
        own: what the run is to learn.
        languages: to translate from.
        start: folder of the model to begin with.
    """
    found = []
    for source in languages:
        corpus = "auto" if start is None else _corpus_of(start, source, own.target)
        parts = load_parts(corpus, source, own.target)
        train, repeated = apart(parts, own)
        notes = [
            *parts.notes,
            f"{len(repeated)} pairs of {parts.corpus} left out, whose sentences are in"
            f" dev or test of {own.corpus}",
        ]
        if start is not None and len(train) > len(own.train):
            random.Random(SPLIT_SEED).shuffle(train)
            notes.append(
                f"{len(own.train)} of {len(train)} pairs of {parts.corpus} are taken,"
                f" as many as of {own.corpus}"
            )
            train = train[: len(own.train)]
        changes: dict[str, Any] = {"train": tuple(train), "notes": tuple(notes)}
        found.append(dataclasses.replace(parts, **changes))
    return found


def _corpus_of(start: Path, source: str, target: str) -> str:
    """The corpus that taught a model a direction, or the opposite one; or auto."""
    card = stored_card(start)
    # The directions begin with one for each corpus; the turned ones stand behind.
    names, ways = card.get("corpora", ()), card.get("directions", ())
    for name, way in zip(names, ways, strict=False):
        if {source, target} == {*way} and name in CORPORA:
            return str(name)
    return "auto"
