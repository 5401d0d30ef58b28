"""A small corpus of moving blocks, on which the tests of training and of the ladder learn for a second."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import torch

from coursepkg.projects.sign_language.corpus import SignCorpus, store_corpus
from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.projects.sign_language.data.video import CacheConfig
from coursepkg.projects.sign_language.model.classifier import ClipClassifier, build_model
from coursepkg.projects.sign_language.recipe import Recipe
from tests.projects.sign_language.signed import RECIPE, WORDS, write_film

COUNTS = (5, 4, 1)
"""Training clips of each word."""
SIGNERS = {"train": ("An", "Bình"), "dev": ("Chi", "Dũng"), "test": ("Em", "Giang")}
FAST = replace(
    RECIPE,
    crop=1.0,
    colour=0.0,
    rotation=0.0,
    dropout=0.1,
    batch_clips=4,
    warmup=2,
    max_epochs=2,
    ema=0.5,
)
"""Three steps an epoch; nothing that needs kornia."""


def write_parts(folder: Path) -> dict[str, list[ClipFile]]:
    """Films of each part, by two people each."""
    files: dict[str, list[ClipFile]] = {}
    for part, signers in SIGNERS.items():
        places = [
            (word, turn)
            for word, count in zip(WORDS, COUNTS if part == "train" else (2, 2, 2), strict=True)
            for turn in range(count)
        ]
        files[part] = [
            ClipFile(
                write_film(folder / part / word / f"{turn}.mp4", word, number=100 * len(files) + turn),
                word,
                signers[turn % 2],
            )
            for word, turn in places
        ]
    return files


def make_corpus(folder: Path, files: Mapping[str, Sequence[ClipFile]]) -> SignCorpus:
    """These films, decoded into a folder."""
    return store_corpus(
        folder,
        files,
        WORDS,
        CacheConfig(size=FAST.size, frames=12, skip_solid=True),
        name="blocks",
        protocol="signer",
    )


def network(seed: int = 0, recipe: Recipe = FAST, n_classes: int = len(WORDS)) -> ClipClassifier:
    """A network that has learnt nothing."""
    torch.manual_seed(seed)
    return build_model(recipe, n_classes).eval()


def weights(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers, copied."""
    return {name: value.clone() for name, value in model.state_dict().items()}


def equal(one: Mapping[str, torch.Tensor], other: Mapping[str, torch.Tensor]) -> bool:
    """Whether two sets of tensors are the same bit by bit."""
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
