"""What every evaluation says of its model: where it is from, what it has learnt."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from coursepkg.training.run_card import read_calls

T = TypeVar("T")


def origin_of(
    recipe: Any,
    card: Mapping[str, Any],
    folders: Path | Sequence[Path],
    *,
    leave: Collection[str] = (),
) -> dict[str, Any]:
    """The recipe, seed and training of a model, for the document of its scores.

    Args:
        recipe: what it was trained by and is used with.
        card: what is stored beside its weights.
        folders: of its run, whose calls are told; of several models a list of
            folders, and the calls of each.
        leave: entries of the card that are left out.
    """
    calls: list[Any]
    if isinstance(folders, Path):
        calls = read_calls(folders)
    else:
        calls = [read_calls(folder) for folder in folders]
    left = {"recipe", "seed", *leave}
    return {
        "recipe": recipe.described(),
        "seed": card.get("seed"),
        "training": {name: value for name, value in card.items() if name not in left}
        | {"calls": calls},
    }


def limited(limit: int, n: int) -> str:
    """What a protocol says of a part of which only the first `limit` are scored."""
    return f", first {limit}" if limit and limit < n else ""


def train_overlap(rebuild: Callable[[], T], what: str) -> tuple[T | None, list[str]]:
    """What a model has learnt from, by which test data are known as seen or unseen.

    Args:
        rebuild: loads the training data that the model's card names; it raises a
            ValueError where they cannot be rebuilt.
        what: is told apart, such as `texts`.

    Returns:
        the training data; or None and a note that says why they are not known.
    """
    try:
        return rebuild(), []
    except ValueError as reason:
        return None, [f"seen and unseen {what} are not told apart: {reason}"]


def check_known_training(card: Mapping[str, Any], named: Any) -> None:
    """Check that a card tells all that its model has learnt from.

    Args:
        card: what is stored beside the weights.
        named: what the card names as training data; nothing where it names none.

    Raises:
        ValueError: it names no data, or the model began with another one.
    """
    if not named:
        raise ValueError("the model's card names no training data")
    if card.get("start"):
        raise ValueError(f"the model began with another one ({card['start']})")
