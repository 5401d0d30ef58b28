"""The folder of a finished model, read back and checked to be one of its project."""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import nn

from coursepkg.app.recipe import recipe_from
from coursepkg.files import missing_entry, read_json
from coursepkg.training.saved_model import CARD, load_model

R = TypeVar("R")
SHIPPED = Path("default")
"""What `--start` takes for the model that ships."""
ATTRIBUTION = "ATTRIBUTION.txt"
"""Beside weights: whose texts they learnt, and under which licences."""
EXPORT_CARDS = ("export.json", "translator.json")
"""Of these names one is in every exported folder."""


def check_finished(folder: str | Path) -> Path:
    """The folder, if it holds a finished model.

    Raises:
        FileNotFoundError: it does not; the message says whether training was begun.
    """
    folder = Path(folder)
    if not (folder / "model").is_dir():
        hint = "train one there first"
        if (folder / "run").is_dir():
            hint = "training was not finished: add --resume"
        elif any((folder / name).is_file() for name in EXPORT_CARDS):
            hint = "it holds an export: name the folder of the model itself"
        raise FileNotFoundError(f"{folder}: no finished model in it; {hint}")
    return folder


def attribution_in(folder: Path) -> str:
    """Whose texts the model in a folder learnt; empty where nothing says it."""
    file = folder / ATTRIBUTION
    return file.read_text(encoding="utf-8") if file.is_file() else ""


def write_attribution(folder: Path, text: str) -> None:
    """Write beside weights whose texts they learnt, if there is anything to say."""
    if text:
        (folder / ATTRIBUTION).write_text(text, encoding="utf-8")


def start_folder(start: Path | None, default: Path) -> Path | None:
    """The folder of the model to begin with; None where a run begins with none.

    Args:
        start: value of `--start`.
        default: folder of the model that ships.
    """
    return default if start == SHIPPED else start


def start_in(arguments: Sequence[str], default: Path) -> Path | None:
    """The folder of the finished model that the arguments of `train` begin with.

    Args:
        arguments: not parsed yet.
        default: folder of the model that ships.

    Returns:
        None where they name no model to begin with, or a preset.

    Raises:
        FileNotFoundError: there is no finished model in the folder.
    """
    from coursepkg.app.options import value_in

    start = value_in(arguments, "--start")
    if start is None or value_in(arguments, "--preset") is not None:
        return None
    return check_finished(start_folder(Path(start), default) or default)


def read_trained(
    folder: Path,
    build: Callable[[dict[str, Any]], nn.Module],
    recipe: type[R],
    *,
    needs: Mapping[str, type],
    lacks: str,
    **expected: Any,
) -> tuple[nn.Module, R, dict[str, Any]]:
    """Read model, recipe and card of a folder that `train` wrote.

    Args:
        folder: it holds a finished model, see `check_finished`.
        build: makes the network from its stored configuration.
        recipe: class of the recipe.
        needs: entries that the card must have besides the recipe, with their kinds.
        lacks: what is said of a model whose card lacks one, such as
            `names no signed words`.
        **expected: entries that must be as they were when the model was saved.

    Returns:
        the model in evaluation mode and float32, its recipe, its card.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is damaged, or the model is one of another project.
    """
    path = folder / "model" / CARD
    meta = read_json(path, needs={"config": dict, "meta": dict})["meta"]
    if missing_entry(meta, {**needs, "recipe": dict}):
        raise ValueError(f"{folder}: its model {lacks}; it is one of another project")
    model, meta = load_model(folder / "model", build, **expected)
    return model.float(), recipe_from(recipe, meta["recipe"], str(path)), meta


def default_device() -> str:
    """Where a model that is read computes: on a GPU where there is one."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def weights_sha256(told: str, models: Iterable[nn.Module]) -> str:
    """SHA-256 of a text and of all weights of some models, by their names."""
    digest = hashlib.sha256(told.encode())
    for model in models:
        for name, weight in model.state_dict().items():
            digest.update(name.encode() + weight.detach().cpu().numpy().tobytes())
    return digest.hexdigest()
