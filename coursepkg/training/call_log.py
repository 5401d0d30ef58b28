"""How long a run has trained, and on what: a line for each call that came to its end, in the folder of the run."""

import json
from pathlib import Path
from typing import Any

from coursepkg.files import whole_file
from coursepkg.training.loop import History

CALLS = "calls.json"
"""In the folder of a run."""


def read_calls(run: Path) -> list[dict[str, Any]]:
    """The calls of a run, oldest first; none where none is noted.

    Raises:
        ValueError: the file is damaged.
    """
    path = run / CALLS
    if not path.is_file():
        return []
    try:
        calls = json.loads(path.read_text("utf-8"))
    except ValueError as reason:
        raise ValueError(
            f"{path} is damaged: it is no JSON file; remove it, it holds times alone"
        ) from reason
    if not isinstance(calls, list) or not all(isinstance(one, dict) for one in calls):
        raise ValueError(f"{path} is damaged: it holds no list of calls; remove it, it holds times alone")
    return calls


def add_call(run: Path, history: History, **circumstances: Any) -> None:
    """Note a call of `fit` that has ended; one that found the run finished is not noted.

    Args:
        run: folder of the run.
        history: what `fit` returned.
        **circumstances: machine, threads, versions.
    """
    calls = read_calls(run)
    if calls and calls[-1]["step"] == history.step:
        return
    told = {"step": history.step, "seconds": round(history.seconds, 1)}
    told |= {"cpu_seconds": round(history.cpu_seconds, 1), "stopped": history.stopped}
    with whole_file(run / CALLS) as file:
        file.write((json.dumps([*calls, told | circumstances], indent=2) + "\n").encode())
