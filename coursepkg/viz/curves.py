"""Curves of training runs: loss, scores and learning rate by step."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from coursepkg.training.log import Row, read_log

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COUNTERS = ("step", "epoch", "units")
"""Columns of a log that count and are not drawn unless asked for."""


@runtime_checkable
class Logged(Protocol):
    """What `fit` returns, as far as it is drawn."""

    steps: list[Row]
    """One row a training step."""
    validations: list[Row]
    """One row a validation."""


def training_curves(
    runs: Logged | str | Path | Mapping[str, Logged | str | Path],
    *,
    columns: Sequence[str] | None = None,
    smooth: int = 1,
) -> "Figure":
    """Draws the logs of one run, or of several together: one panel a column.

    Training is a line, validation a dashed line with a mark at each validation. What
    both have, the loss, shares a panel.

    Args:
        runs: what `fit` returned or the folder that it wrote; for several, by the names
            to show.
        columns: columns of `log.csv` and `validation.csv` to draw; by default the loss,
            all scores, the learning rate.
        smooth: rows of the training log that are averaged into each point, the last
            ones up to it.

    Raises:
        FileNotFoundError: a folder has no log.
        ValueError: there is no run, no run has a column, or an option is out of range.
    """
    import matplotlib.pyplot as plt

    if smooth < 1:
        raise ValueError(f"smooth must be at least 1, got {smooth}")
    named = dict(runs) if isinstance(runs, Mapping) else {"": runs}
    logs = {name: _rows(run) for name, run in named.items()}
    if not logs:
        raise ValueError("runs must hold at least one run, got none")
    had = sorted(
        {
            key
            for both in logs.values()
            for rows in both
            for row in rows[:1]
            for key in row
        }
    )
    chosen = _default_columns(logs) if columns is None else list(columns)
    for column in chosen:
        if column not in had:
            raise ValueError(
                f"columns must be of {', '.join(had) or 'none, as the logs are empty'},"
                f" got {column!r}"
            )
    figure, axes = plt.subplots(
        1, len(chosen), figsize=(max(5.0, 3.8 * len(chosen)), 3.2), squeeze=False
    )
    for axis, column in zip(axes[0], chosen, strict=True):
        _draw(axis, column, logs, smooth)
    return figure


def _draw(
    axis: "Axes",
    column: str,
    logs: Mapping[str, tuple[list[Row], list[Row]]],
    smooth: int,
) -> None:
    """One panel: the column of every run that has it."""
    for number, (name, (steps, validations)) in enumerate(logs.items()):
        for rows, kind, style in (
            (steps, "training", "-"),
            (validations, "validation", "o--"),
        ):
            points = [(row["step"], row[column]) for row in rows if column in row]
            if not points:
                continue
            at, values = (list(part) for part in zip(*points, strict=True))
            values = _trailing_means(values, smooth) if kind == "training" else values
            axis.plot(
                at,
                values,
                style,
                color=f"C{number}",
                markersize=4,
                label=f"{name} {kind}".strip(),
            )
    axis.set(xlabel="step", title=column.replace("_", " "))
    if len(axis.lines) > 1:
        axis.legend(fontsize=8)


def _default_columns(logs: Mapping[str, tuple[list[Row], list[Row]]]) -> list[str]:
    """The loss, every score of a validation in its order, the learning rate."""
    scores = [
        key
        for _, validations in logs.values()
        for row in validations[:1]
        for key in row
    ]
    return list(
        dict.fromkeys(
            ["loss", *(key for key in scores if key not in COUNTERS), "learning_rate"]
        )
    )


def _trailing_means(values: list[int | float], width: int) -> list[float]:
    """For each value the mean of the last `width` values up to it."""
    windows = (values[max(0, end - width) : end] for end in range(1, len(values) + 1))
    return [sum(window) / len(window) for window in windows]


def _rows(run: Logged | str | Path) -> tuple[list[Row], list[Row]]:
    """The training and the validation log of a run."""
    if isinstance(run, Logged):
        return run.steps, run.validations
    validations = Path(run) / "validation.csv"
    return read_log(Path(run) / "log.csv"), (
        read_log(validations) if validations.exists() else []
    )
