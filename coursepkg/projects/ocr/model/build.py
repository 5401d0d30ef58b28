"""From a recipe to a network, and from a network's file back to one; how many parameters it has, and where."""

import copy
import dataclasses
from typing import Any

import torch

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


def in_half(model: LineTransformer) -> LineTransformer:
    """A copy to be stored: matrices and kernels in float16, half as large; norms and biases stay in float32.

    Reading puts them back into float32, so nothing computes in half precision. float16 keeps 11 binary digits of a
    weight, where bfloat16 keeps 8.

    Raises:
        ValueError: a weight is too large for float16.
    """
    halved = copy.deepcopy(model)
    for name, parameter in halved.named_parameters():
        if parameter.dim() > 1:
            half = parameter.data.to(torch.float16)
            if not bool(half.isfinite().all()):
                raise ValueError(
                    f"{name} has a weight beyond float16's largest number, 65504; store it in float32"
                )
            parameter.data = half
    return halved
