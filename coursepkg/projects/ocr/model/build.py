"""From a recipe to a network, and from a network's file back to one."""

import dataclasses
from typing import Any

from coursepkg.arguments import with_tuples
from coursepkg.projects.ocr.model.config import ModelConfig
from coursepkg.projects.ocr.model.recognizer import LineTransformer
from coursepkg.projects.ocr.model.resnet import ResNetBackbone, load_pretrained
from coursepkg.projects.ocr.recipe import Recipe

SHARED = [field.name for field in dataclasses.fields(ModelConfig) if field.name != "vocab_size"]
"""Fields that a recipe and a model's configuration have in common."""


def config_of(recipe: Recipe, vocab_size: int) -> ModelConfig:
    """The configuration of the network that a recipe asks for, for so many characters, special tokens included."""
    return ModelConfig(vocab_size, **{name: getattr(recipe, name) for name in SHARED})


def build_model(recipe: Recipe, vocab_size: int, *, pretrained: bool = True) -> LineTransformer:
    """A fresh network; its weights come from PyTorch's generator as it stands.

    Args:
        recipe: sizes and choices.
        vocab_size: characters, special tokens included.
        pretrained: read the weights that the recipe names; False leaves them random and needs no network.
    """
    model = LineTransformer(config_of(recipe, vocab_size))
    if pretrained and recipe.pretrained and isinstance(model.backbone, ResNetBackbone):
        load_pretrained(model.backbone, recipe.pretrained)
    return model


def rebuild(fields: dict[str, Any]) -> LineTransformer:
    """A network of the configuration that a file holds; any weights."""
    return LineTransformer(ModelConfig(**with_tuples(fields)))
