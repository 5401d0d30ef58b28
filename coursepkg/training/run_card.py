"""The card of a training run: what decides it, and the refusal to mix two runs in one folder."""

import json
import shutil
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coursepkg.files import whole_file

CARD = "recipe.json"
"""In the folder of a run: recipe, data and seed."""


def open_run(
    out: Path,
    card: Mapping[str, Any],
    resume: bool,
    *,
    changeable: Collection[str],
    later: Mapping[str, Any] | None = None,
) -> None:
    """Begin a run in a folder, or make sure that it is the same one.

    Args:
        out: folder of the run.
        card: what decides it, as JSON can hold it; "recipe" holds settings by name.
        resume: whether a run that is there goes on.
        changeable: settings of a recipe that may change when a run goes on.
        later: settings that cards of older runs do not name, with what they were then.

    Raises:
        ValueError: the folder holds a run and `resume` is off, or another run; its card is damaged.
    """
    path = out / CARD
    if not path.exists():
        out.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write((json.dumps(card, indent=2, ensure_ascii=False) + "\n").encode())
        return
    check_free(out, resume)
    before = read_card(path)
    if not isinstance(before.get("recipe"), dict):
        raise ValueError(f"{path} is damaged: it is no JSON file of a run; copy it again")
    now = json.loads(json.dumps(card))
    stored, present = (_flat(one, changeable, later or {}) for one in (before, now))
    differ = sorted(name for name in stored.keys() | present.keys() if stored.get(name) != present.get(name))
    if differ:
        raise ValueError(
            f"{path} is of another run (it differs in {', '.join(differ)}); repeat the options of that run, or choose "
            "another --out"
        )


def check_free(out: Path, resume: bool) -> None:
    """Raises a ValueError where the folder holds a run and `resume` is off; to be asked before data are loaded."""
    if not resume and (out / CARD).exists():
        raise ValueError(f"{out} holds a run already; add --resume to go on with it, or choose another --out")


@contextmanager
def begun_run(out: Path, card: Mapping[str, Any], resume: bool, **options: Any) -> Iterator[None]:
    """`open_run`; where what follows is refused and the run was new, nothing of it stays in the folder.

    Args:
        out: see `open_run`.
        card: see there.
        resume: see there.
        **options: see there.
    """
    there = set(out.iterdir()) if out.is_dir() else None
    is_new = not (out / CARD).exists()
    open_run(out, card, resume, **options)
    try:
        yield
    except ValueError:
        if is_new and there is None:
            shutil.rmtree(out)
        elif is_new and there is not None:
            for path in set(out.iterdir()) - there:
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        raise


def stored_card(folder: Path) -> dict[str, Any]:
    """What a run was started with, as its folder tells, or the model in it; empty where neither does.

    Raises:
        ValueError: the file is damaged.
    """
    for path in (folder / CARD, folder / "model" / "model.json"):
        if path.is_file():
            card = read_card(path)
            return dict(card.get("meta", card))
    return {}


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


def _flat(card: Mapping[str, Any], changeable: Collection[str], later: Mapping[str, Any]) -> dict[str, Any]:
    """All that must stay the same, the recipe's settings by their own names."""
    recipe = {name: value for name, value in {**later, **card["recipe"]}.items() if name not in changeable}
    return {name: value for name, value in card.items() if name != "recipe"} | recipe
