"""The folder of a translation run: what it was started with, its vocabulary, and the refusal to mix two runs."""

import dataclasses
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coursepkg.files import whole_file
from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.recipe import LATER, Recipe
from coursepkg.projects.translation.tokenizers import FILES, Subwords
from coursepkg.training.files import read_json

CARD = "recipe.json"
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


def open_run(out: Path, card: dict[str, Any], resume: bool) -> None:
    """Begin a run in a folder, or make sure that it is the same one.

    Raises:
        ValueError: the folder holds a run and `resume` is off, or another run.
    """
    path = out / CARD
    if not path.exists():
        out.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write((json.dumps(card, indent=2) + "\n").encode())
        return
    if not resume:
        raise ValueError(f"{out} holds a run already; add --resume to go on with it, or choose another --out")
    stored, present = (_flat(one) for one in (read_card(path), card))
    differ = sorted(name for name in stored.keys() | present.keys() if stored.get(name) != present.get(name))
    if differ:
        raise ValueError(
            f"{path} is of another run (it differs in {', '.join(differ)}); repeat the options of that run, or choose "
            "another --out"
        )


def stored_card(folder: Path) -> dict[str, Any]:
    """What a run was started with, as its folder tells; empty where it does not.

    Raises:
        ValueError: the file is damaged.
    """
    path = folder / CARD
    return read_card(path) if path.is_file() else {}


def read_card(path: Path) -> dict[str, Any]:
    """What a card says: JSON with names, such as `recipe.json`, or `PREFIX.json` beside pairs that a model wrote.

    Raises:
        FileNotFoundError: there is none.
        ValueError: the file is damaged.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
    except ValueError as reason:
        raise ValueError(f"{path} is damaged: it is no JSON file; copy it again") from reason
    if not isinstance(content, dict):
        raise ValueError(f"{path} is damaged: it names nothing; copy it again")
    return content


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


def _flat(card: dict[str, Any]) -> dict[str, Any]:
    """All that must stay the same, the recipe's settings by their own names."""
    recipe = {name: value for name, value in (LATER | card["recipe"]).items() if name not in CHANGEABLE}
    return {name: value for name, value in card.items() if name != "recipe"} | recipe
