"""The card of a run, which refuses to mix two runs in a folder, and its calls."""

import json
import resource
import shutil
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coursepkg.files import whole_file
from coursepkg.validation import python_number

if TYPE_CHECKING:
    from coursepkg.training.loop import History

CALLS = "calls.json"
"""In the folder of a run."""
MAXRSS_UNIT = 1 if sys.platform == "darwin" else 1024
"""Bytes of what the system counts the largest memory of a process in."""


def read_calls(run: Path) -> list[dict[str, Any]]:
    """The calls of a run, oldest first; none where none is noted.

    Raises:
        ValueError: the file is damaged.
    """
    path = run / CALLS
    if not path.is_file():
        return []
    remedy = "remove it, it holds times alone"
    calls = _read_json(path, remedy)
    if not isinstance(calls, list) or not all(isinstance(one, dict) for one in calls):
        raise ValueError(f"{path} is damaged: it holds no list of calls; {remedy}")
    return calls


def add_call(run: Path, history: "History", **circumstances: Any) -> None:
    """Note a call of `fit` that has ended, unless it found the run finished."""
    calls = read_calls(run)
    if calls and calls[-1].get("step") == history.step:
        return
    told = {
        "from_step": history.first_step,
        "step": history.step,
        "seconds": round(history.seconds, 1),
        "cpu_seconds": round(history.cpu_seconds, 1),
        "stopped": history.stopped,
        "peak_memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * MAXRSS_UNIT,
    }
    with whole_file(run / CALLS) as file:
        file.write(
            (json.dumps([*calls, told | circumstances], indent=2) + "\n").encode()
        )


def seconds_of(calls: Sequence[Mapping[str, Any]]) -> tuple[float, bool]:
    """Seconds of training in a log, and whether no killed call is missing from it."""
    ends = [0, *(one["step"] for one in calls)]
    whole = all(
        one.get("from_step") == end for end, one in zip(ends, calls, strict=False)
    )
    return sum((one["seconds"] for one in calls), 0.0), bool(calls) and whole


CARD = "recipe.json"
"""In the folder of a run: recipe, data and seed."""


def open_run(
    out: Path,
    card: Mapping[str, Any],
    resume: bool,
    *,
    changeable: Collection[str],
    added: Mapping[str, Any] | None = None,
) -> None:
    """Begin a run in a folder, or make sure that it is the same one.

    Args:
        out: folder of the run.
        card: what decides it, as JSON can hold it; "recipe" holds settings by name.
        resume: whether a run that is there goes on.
        changeable: settings of a recipe that may change when a run goes on.
        added: settings that cards of older runs do not name, with what they were then.

    Raises:
        ValueError: the folder holds a run and `resume` is off, or another run; its card
            is damaged.
    """
    path = out / CARD
    now = json.loads(json.dumps(card, default=python_number))
    if not path.exists():
        with whole_file(path) as file:
            file.write((json.dumps(now, indent=2, ensure_ascii=False) + "\n").encode())
        return
    check_free(out, resume)
    before = read_card(path)
    if not isinstance(before.get("recipe"), dict):
        raise ValueError(
            f"{path} is damaged: it is no JSON file of a run; copy it again"
        )
    stored, present = (_flat(one, changeable, added or {}) for one in (before, now))
    differ = sorted(
        name
        for name in stored.keys() | present.keys()
        if stored.get(name) != present.get(name)
    )
    if differ:
        raise ValueError(
            f"{path} is of another run (it differs in {', '.join(differ)}); repeat the"
            " options of that run, or choose another --out"
        )


def check_free(out: Path, resume: bool) -> None:
    """Raises a ValueError where the folder holds a run and `resume` is off."""
    if not resume and (out / CARD).exists():
        raise ValueError(
            f"{out} holds a run already; add --resume to go on with it, or choose"
            " another --out"
        )


@contextmanager
def open_run_or_rollback(
    out: Path, card: Mapping[str, Any], resume: bool, **options: Any
) -> Iterator[None]:
    """`open_run`; if what follows is refused, a new run's files are removed."""
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
    """The card of a run's folder, or of the model in it; empty where there is none.

    Raises:
        ValueError: the file is damaged.
    """
    for path in (folder / CARD, folder / "model" / "model.json"):
        if path.is_file():
            card = read_card(path)
            return dict(card.get("meta", card))
    return {}


def read_card(path: Path) -> dict[str, Any]:
    """The entries of a card, a JSON file such as `recipe.json`.

    Raises:
        FileNotFoundError: there is none.
        ValueError: the file is damaged.
    """
    content = _read_json(path, "copy it again")
    if not isinstance(content, dict):
        raise ValueError(f"{path} is damaged: it names nothing; copy it again")
    return content


def _read_json(path: Path, remedy: str) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as reason:
        raise ValueError(f"{path} is damaged: it is no JSON file; {remedy}") from reason


def _flat(
    card: Mapping[str, Any], changeable: Collection[str], added: Mapping[str, Any]
) -> dict[str, Any]:
    """All that must stay the same, the recipe's settings by their own names."""
    recipe = {
        name: value
        for name, value in {**added, **card["recipe"]}.items()
        if name not in changeable
    }
    return {name: value for name, value in card.items() if name != "recipe"} | recipe
