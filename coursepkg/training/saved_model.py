"""A finished model in a folder: weights, configuration, and what else must match.

    FOLDER/model.safetensors    the weights
    FOLDER/model.json           configuration, fingerprint of the weights, and what the
                                caller adds: SHA-256 of the vocabulary, scores, data

Nothing in it is code, and nothing is unpickled.
"""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from torch import nn

from coursepkg.files import (
    check_new,
    read_json,
    read_tensors,
    sync_folder,
    whole_folder,
    write_json,
    write_tensors,
)
from coursepkg.processor import use_one_thread_in_forks
from coursepkg.training.checkpoint import read_checkpoint
from coursepkg.training.weights import (
    build_for,
    check_weights_finite,
    load_weights,
    tied_names,
    weight_tensors,
)
from coursepkg.validation import differences, python_number

if TYPE_CHECKING:
    from coursepkg.training.loop import History

CARD, WEIGHTS = "model.json", "model.safetensors"


def save_model(folder: str | Path, model: nn.Module, **meta: Any) -> None:
    """Write a model; the folder appears whole or not at all.

    Args:
        folder: where to; it must not exist yet.
        model: its `config`, a dataclass, is stored with the weights.
        **meta: what else belongs to it, as JSON can hold it.

    Raises:
        ValueError: the folder exists, the model has no configuration, or an entry
            cannot be written as JSON.
        OSError: it cannot be written; nothing half-written stays behind.
    """
    check_new(Path(folder), "remove it or choose another folder")
    _write_model(Path(folder), model, meta)


def _write_model(folder: Path, model: nn.Module, meta: dict[str, Any]) -> None:
    card = _as_json({"config": config_of(model), "meta": meta})
    with whole_folder(folder) as part:
        seal = write_tensors(part / WEIGHTS, weight_tensors(model, tied_names(model)))
        write_json(part / CARD, card | {"weights": seal})
    sync_folder(folder.parent)


def load_model(
    folder: str | Path,
    build: Callable[[dict[str, Any]], nn.Module],
    *,
    config: Any = None,
    **expected: Any,
) -> tuple[nn.Module, dict[str, Any]]:
    """Read a model that `save_model` wrote.

    Example:
        `load_model(folder, lambda fields: Transformer(TransformerConfig(**fields)),
        vocabulary=file_sha256(path))`

    Args:
        folder: where it is.
        build: makes the network, with any weights, from the stored configuration.
        config: a configuration (a dataclass) that the stored one must equal; None takes
            whatever is stored.
        **expected: entries of `meta` that must be as they were when the model was
            saved.

    Returns:
        the model in eval mode, and `meta`.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is cut short, was changed or is of a newer format; the
            configuration or an expected entry differs; or the weights do not fit what
            `build` makes.
    """
    path = Path(folder) / CARD
    card = read_json(path, needs={"config": dict, "meta": dict, "weights": dict})
    if config is not None:
        if not dataclasses.is_dataclass(config) or isinstance(config, type):
            raise ValueError(
                "config must be a dataclass such as TransformerConfig(...), got"
                f" {type(config).__name__}"
            )
        _check_equal(
            path, "config", card["config"], _as_json(dataclasses.asdict(config))
        )
    meta = card["meta"]
    _check_equal(
        path,
        "set of entries",
        {name: meta.get(name) for name in expected},
        _as_json(expected),
    )
    source = str(Path(folder) / WEIGHTS)
    weights = read_tensors(Path(source), card["weights"])
    model = build_for(build, card["config"], weights, path, source)
    load_weights(model, tied_names(model), weights, source)
    check_weights_finite(model, source)
    use_one_thread_in_forks()
    return model.eval(), meta


def restore(model: nn.Module, out: str | Path, which: str = "best") -> int:
    """Load a checkpoint's weights into a model, averaged ones where they were kept.

    Returns:
        the step after which they were stored.

    Raises:
        FileNotFoundError: there is no such checkpoint, or a file of it is missing.
        ValueError: a file is damaged, or the weights are those of another model.
    """
    checkpoint = read_checkpoint(out, which)
    files = checkpoint.tensors()
    averages = {
        name: average
        for name, average in files.get("ema", {}).items()
        if name != "n_updates"
    }
    load_weights(
        model, tied_names(model), files["model"] | averages, str(checkpoint.folder)
    )
    return int(checkpoint.state["progress"]["step"])


def config_of(model: nn.Module) -> dict[str, Any]:
    """The fields of a model's configuration as JSON gives them back.

    Raises:
        ValueError: it has none.
    """
    config = getattr(model, "config", None)
    if not dataclasses.is_dataclass(config) or isinstance(config, type):
        raise ValueError(
            f"model must have a dataclass as its config, got {type(config).__name__}"
        )
    return dict(_as_json(dataclasses.asdict(config)))


def _as_json(value: Any) -> Any:
    try:
        return json.loads(json.dumps(value, default=python_number))
    except TypeError as reason:
        raise ValueError(
            f"config and meta must be what JSON can hold, but: {reason}"
        ) from reason


def _check_equal(
    path: Path, kind: str, stored: dict[str, Any], wanted: dict[str, Any]
) -> None:
    differ = differences(stored, wanted, "{name} is {old} there and {new} here")
    if differ:
        raise ValueError(
            f"{path} belongs to another {kind}: {differ}; use what the model"
            " was saved with"
        )


MOST_BYTES = 15_000_000
"""Of all files of a shipped folder together."""


def check_weight(part: Path, folder: Path) -> None:
    """Refuse a folder that is too heavy to ship.

    Raises:
        ValueError: it weighs more than `MOST_BYTES`.
    """
    weight = sum(path.stat().st_size for path in part.rglob("*") if path.is_file())
    if weight > MOST_BYTES:
        raise ValueError(
            f"{folder} would weigh {weight:,} bytes, more than {MOST_BYTES:,}; train a"
            " smaller network"
        )


def take_weights(model: nn.Module, begun: nn.Module, start: Path) -> nn.Module:
    """The model with the weights of another of the same sizes.

    Raises:
        ValueError: the other one, from the folder `start`, has other sizes.
    """
    try:
        model.load_state_dict(begun.state_dict())
    except RuntimeError as reason:
        raise ValueError(
            f"--start {start} holds a model of other sizes than the recipe asks for;"
            " give the sizes of that model"
        ) from reason
    return model


def restore_best(
    network: nn.Module,
    run: Path,
    history: "History",
    score_of: Callable[[nn.Module], float],
    mode: Literal["min", "max"],
) -> tuple[int, float]:
    """Load the best validated weights, or the last ones if they score better.

    Returns:
        the step of these weights, and their score.
    """
    step, best = restore(network, run, "last"), history.best_score
    if best is None or (history.stopped == "max_seconds" and step != history.best_step):
        last = score_of(network)
        if best is None or (last > best if mode == "max" else last < best):
            return step, last
    return restore(network, run, "best"), best


def store_model(folder: Path, model: nn.Module, card: dict[str, Any]) -> None:
    """Write the model in place of an older one; an equal one is not written again.

    Raises:
        OSError: it cannot be written; the older one stays as it was.
    """
    if folder.exists() and read_json(folder / CARD)["meta"] == _as_json(card):
        return
    _write_model(folder, model, card)
