"""The folder of a training run: what it was started with, and the refusal to mix two runs.

OUT/recipe.json        recipe, data and seed
OUT/vocabulary.json    the characters
OUT/run/               logs and checkpoints, see `coursepkg.training.loop`
OUT/model/             the finished model: the weights of the best validation
"""

import json
from pathlib import Path
from typing import Any

from coursepkg.files import whole_file

CARD = "recipe.json"
CHANGEABLE = ("max_epochs", "max_seconds", "patience", "reader", "beam_size", "length_penalty", "ctc_share")
"""Settings of a recipe that may change when a run goes on."""


def open_run(out: Path, card: dict[str, Any], resume: bool) -> None:
    """Begin a run in a folder, or make sure that it is the same one.

    Raises:
        ValueError: the folder holds a run and `resume` is off, or another run.
    """
    path = out / CARD
    if path.exists():
        if not resume:
            raise ValueError(
                f"{out} holds a run already; add --resume to go on with it, or choose another --out"
            )
        _check_same(path, card)
        return
    out.mkdir(parents=True, exist_ok=True)
    with whole_file(path) as file:
        file.write((json.dumps(card, indent=2, ensure_ascii=False) + "\n").encode())


def _check_same(path: Path, card: dict[str, Any]) -> None:
    try:
        stored = _flat(json.loads(path.read_text("utf-8")))
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        raise ValueError(f"{path} is damaged: it is no JSON file of a run; copy it again") from reason
    present = _flat(json.loads(json.dumps(card)))
    differ = sorted(name for name in stored.keys() | present.keys() if stored.get(name) != present.get(name))
    if differ:
        raise ValueError(
            f"{path} is of another run (it differs in {', '.join(differ)}); repeat the options of that run, or choose "
            "another --out"
        )


def _flat(card: dict[str, Any]) -> dict[str, Any]:
    """All that must stay the same, the recipe's settings by their own names."""
    recipe = {name: value for name, value in card["recipe"].items() if name not in CHANGEABLE}
    return {name: value for name, value in card.items() if name != "recipe"} | recipe
