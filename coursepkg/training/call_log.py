"""How long a run has trained, and on what: a line for each call that came to its end, in the folder of the run."""

import json
import resource
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coursepkg.files import whole_file
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
        file.write((json.dumps([*calls, told | circumstances], indent=2) + "\n").encode())


def seconds_of(calls: Sequence[Mapping[str, Any]]) -> tuple[float, bool]:
    """Seconds of training in a log, and whether that is all of it: a call that was killed has left no line."""
    ends = [0, *(one["step"] for one in calls)]
    whole = all(one.get("from_step") == end for end, one in zip(ends, calls, strict=False))
    return sum((one["seconds"] for one in calls), 0.0), bool(calls) and whole
