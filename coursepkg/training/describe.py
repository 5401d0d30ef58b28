"""What a run learns from and how fast, as JSON can hold it: a run may be resumed with the same things only."""

import dataclasses
from functools import partial
from typing import Any

from coursepkg.training.schedules import Formula, Schedule


def describe_task(task: Any) -> dict[str, Any]:
    """The settings that a task was made with, where it is a dataclass."""
    if not dataclasses.is_dataclass(task):
        return {}
    fields = (field.name for field in dataclasses.fields(task) if field.init)
    return {f"task.{name}": _plain(getattr(task, name)) for name in fields}


def describe_batches(batches: Any) -> dict[str, Any]:
    """The `fingerprint` of the training data, where they offer one."""
    fingerprint = getattr(batches, "fingerprint", None)
    return {} if fingerprint is None else {"batches.fingerprint": str(fingerprint)}


def describe_schedule(schedule: Schedule) -> str:
    """The text by which two schedules count as the same: a function's name, or class and attributes."""
    if isinstance(schedule, partial):
        fixed = [*map(repr, schedule.args), *(f"{k}={v!r}" for k, v in sorted(schedule.keywords.items()))]
        return f"partial({', '.join([describe_schedule(schedule.func), *fixed])})"
    name = getattr(schedule, "__qualname__", None)
    if name is not None:
        return f"{schedule.__module__}.{name}"
    if isinstance(schedule, Formula):
        return repr(schedule)
    return f"{type(schedule).__name__}({', '.join(f'{k}={v!r}' for k, v in vars(schedule).items())})"


def _plain(value: Any) -> Any:
    if callable(value):
        return describe_schedule(value)
    return value if isinstance(value, str | int | float | bool | None) else repr(value)
