"""Fine-tuning: a run that begins with a finished model and learns lines of a user.

Characters, sizes and reading are the model's own. How the weights move is set anew: a
small learning rate, few passes, batches of few lines, and pictures that are disturbed
anew in every pass, because few lines are soon known by heart.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from coursepkg.app.model_folder import start_in
from coursepkg.app.recipe import recipe_from
from coursepkg.projects.ocr.predict import DEFAULT
from coursepkg.projects.ocr.recipe import Recipe
from coursepkg.training.run_card import stored_card

SETTINGS: Mapping[str, Any] = {
    "learns": "all",
    "augment": True,
    "batch_columns": 4096,
    "learning_rate": 1e-4,
    "schedule": "cosine",
    "warmup": 20,
    "ema": 0.0,
    "max_epochs": 20,
    "max_seconds": 900.0,
    "clock": "wall",
    "patience": 5,
    "validate_every": 0,
}
"""Of a recipe, where nothing else is asked for."""


def recipe_to_start(arguments: Sequence[str]) -> Recipe | None:
    """The recipe that gives the flags of `train` their defaults, by its arguments.

    Returns:
        None where the arguments name no model to begin with, or a preset.

    Raises:
        FileNotFoundError: there is no finished model in the folder.
        ValueError: the folder holds something else.
    """
    folder = start_in(arguments, DEFAULT)
    if folder is None:
        return None
    recipe = recipe_from(Recipe, stored_card(folder).get("recipe"), str(folder))
    return dataclasses.replace(recipe, **SETTINGS)
