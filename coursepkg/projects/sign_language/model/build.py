"""From a recipe to a network, and from a network's file back to one; how many parameters it has, and where."""

import dataclasses
from typing import Any

from coursepkg.arguments import with_tuples
from coursepkg.projects.sign_language.model.classifier import ClipClassifier
from coursepkg.projects.sign_language.model.config import ModelConfig
from coursepkg.projects.sign_language.model.library import LibraryBackbone, load_pretrained
from coursepkg.projects.sign_language.recipe import Recipe

SHARED = [field.name for field in dataclasses.fields(ModelConfig) if field.name != "n_classes"]
"""Fields that a recipe and a model's configuration have in common."""


def config_of(recipe: Recipe, n_classes: int) -> ModelConfig:
    """The configuration of the network that a recipe asks for, for so many words."""
    return ModelConfig(n_classes, **{name: getattr(recipe, name) for name in SHARED})


def build_model(recipe: Recipe, n_classes: int, *, pretrained: bool = True) -> ClipClassifier:
    """A fresh network, frozen as the recipe says; its weights come from PyTorch's generator as it stands.

    Args:
        recipe: sizes and choices.
        n_classes: words.
        pretrained: read the weights that the recipe names; False leaves them random and needs no network.

    Raises:
        ValueError: the weights are those of another backbone, or the recipe freezes more than there is.
        OSError: the weights cannot be read or fetched.
        ImportError: transformers is needed and not installed.
    """
    model = ClipClassifier(config_of(recipe, n_classes))
    if pretrained and recipe.pretrained and isinstance(model.backbone, LibraryBackbone):
        load_pretrained(model.backbone, recipe.pretrained)
    model.freeze(recipe.frozen)
    return model


def rebuild(fields: dict[str, Any]) -> ClipClassifier:
    """A network of the configuration that a file holds; any weights."""
    return ClipClassifier(ModelConfig(**with_tuples(fields)))
