"""The ladder under two kinds of fairness: equal time, and time enough.

A row that takes a step more slowly, or learns more slowly, loses under a clock and may
win once it is trained to its end. A table has both columns; learning curves show why
they differ; and from the curves comes the BLEU of two rows after equally many steps.

A change counts as up or down only where its interval over several seeds excludes 0.
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from coursepkg.app.report import interval_text, markdown_table, mean_interval
from coursepkg.projects.translation.published_results import (
    Change,
    Row,
    change_of,
    data_of,
    headline,
    is_unfinished,
    name_of,
    with_interval,
    without_change,
)
from coursepkg.viz.image import PALETTE, figure_style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ByName = Mapping[str, Sequence[Row]]
"""Stored rows of the same conditions by name, one a seed."""


def by_name(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """Stored rows by their name.

    Raises:
        ValueError: they are of several conditions, which do not compare.
    """
    known = sorted({row["conditions"] for row in rows})
    if len(known) > 1:
        raise ValueError(f"rows must be of the same conditions, got {', '.join(known)}")
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["row"], []).append(row)
    return found


def verdicts(rows: Sequence[Row]) -> dict[str, Change]:
    """The change of each row that has a row below it on the same sentences.

    Raises:
        ValueError: the rows are of several conditions.
    """
    there = by_name(rows)
    found = {
        name: change_of(row, there.get(row[0]["builds_on"], ()))
        for name, row in there.items()
    }
    return {name: change for name, change in found.items() if change is not None}


def verdict_lines(rows: Sequence[Row]) -> list[str]:
    """For each verdict the rows that it holds for, those of largest change first.

    Raises:
        ValueError: the rows are of several conditions.
    """
    told = verdicts(rows)
    lines = []
    for word in ("up", "undecided", "down", "unfinished"):
        names = [name for name in told if told[name].verdict == word]
        names.sort(key=lambda name: -told[name].value)
        found = (f"{name} {told[name]} against {told[name].against}" for name in names)
        if names or word != "unfinished":
            lines.append(f"{word}: {'; '.join(found) or 'none'}")
    return lines


def comparison_table(timed: Sequence[Row], converged: Sequence[Row]) -> str:
    """Rows under a clock beside the same rows trained until dev stopped rising.

    BLEU has its interval: over several seeds that of Student's t for their mean, of one
    seed that of the bootstrap over sentences. So has the change against the row below,
    over the seeds that both have; of one seed its interval is of the paired bootstrap,
    and its verdict undecided. For equal steps see `change_at_equal_steps`. Corpus,
    direction and preset stand above the columns where those of the two differ.

    Args:
        timed: stored rows of equal time.
        converged: stored rows that were trained to their end.

    Raises:
        ValueError: either are of several conditions.
    """
    first, second = by_name(timed), by_name(converged)
    lines = []
    for name in dict.fromkeys((*first, *second)):
        known = (second if name in second else first)[name]
        below = known[0]["builds_on"]
        cells = (*_column(first, name), *_column(second, name))
        lines.append((name, below, *cells, _steps_cell(second, name, below)))
    seconds = {row["recipe"]["max_seconds"] for row in timed}
    columns = (_minutes(*seconds) if len(seconds) == 1 else "equal time", "converged")
    settings = tuple(map(_setting, (timed, converged)))
    if all(settings) and settings[0] != settings[1]:
        columns = (f"{settings[0]}, {columns[0]}", f"{settings[1]}, {columns[1]}")
    budgets = [(f"{name}: BLEU", "change") for name in columns]
    head = ("row", "against", *budgets[0], *budgets[1], "equal steps: change")
    return markdown_table(head, lines)


def _minutes(seconds: float) -> str:
    return "1 minute" if seconds == 60 else f"{seconds / 60:g} minutes"


def _setting(rows: Sequence[Row]) -> str:
    """Corpus, direction and preset of rows; empty without rows."""
    return " ".join(rows[0]["conditions"].split("_")[:3]) if rows else ""


def _column(rows: ByName, name: str) -> tuple[str, str]:
    """BLEU of a row, and its change with the verdict; empty where it is not stored."""
    row = rows.get(name, ())
    if not row:
        return "", ""
    below = rows.get(row[0]["builds_on"], ())
    change = change_of(row, below)
    said = ", unfinished" if any(map(is_unfinished, row)) else ""
    bleu = f"{mean_with_interval(row)}{said}"
    if change is None:
        return bleu, without_change(row, below)
    return bleu, f"{change}, {change.verdict}"


def _steps_cell(rows: ByName, name: str, below: str) -> str:
    """The change after equally many steps, with its verdict."""
    found = change_at_equal_steps(rows.get(name, ()), rows.get(below, ()))
    if found is None:
        return ""
    steps, change = found
    return f"{change} at {steps:,}, {change.verdict}"


def mean_with_interval(row: Sequence[Row]) -> str:
    """BLEU of a row with its interval, over its seeds or else over sentences."""
    if len(row) == 1:
        return with_interval(row[0])
    middle, half = mean_interval([headline(one) for one in row])
    ends = interval_text((middle - half, middle + half), ".2f")
    return f"{middle:.2f}{ends}, {len(row)} seeds"


def change_between_parts(row: Sequence[Row], other: Sequence[Row]) -> Change:
    """The difference of two rows that are scored on different sentences.

    It is that of the means over their seeds, with Welch's interval at the fewest
    degrees of freedom that equally many seeds allow, so that it is not too narrow.
    Where a row has one seed there is no interval.
    """
    ours, theirs = ([headline(one) for one in rows] for rows in (row, other))
    value = statistics.fmean(ours) - statistics.fmean(theirs)
    n_seeds, interval = min(len(ours), len(theirs)), None
    if n_seeds > 1:
        half = math.hypot(mean_interval(ours)[1], mean_interval(theirs)[1])
        interval = value - half, value + half
    is_cut = any(map(is_unfinished, (*row, *other)))
    return Change(value, interval, n_seeds, other[0]["row"], is_cut)


def best_so_far(row: Row) -> tuple[list[int], list[float]]:
    """The steps of the validations of a row, and the best BLEU up to each.

    It is the BLEU of greedy translations of the first sentences of dev, as training
    chooses by it; the BLEU of the tables is that of the whole dev part.
    """
    curve = row["curve"]
    return list(curve["steps"]), list(accumulate(curve["bleu"], max))


def equal_steps(rows: Sequence[Row]) -> tuple[int, list[float]]:
    """The BLEU of rows after the largest number of steps that all of them took.

    It is that of the best validation so far, a straight line between two validations.
    A step of rows with other `batch_tokens` sees another number of words.

    Args:
        rows: with learning curves; older rows have none.

    Returns:
        the number of steps, and a BLEU for each row.

    Raises:
        ValueError: a row has no learning curve.
    """
    without = [row["row"] for row in rows if not row.get("curve", {}).get("steps")]
    if without or not rows:
        what = f"{without[0]} has none" if without else "there is no row"
        raise ValueError(f"equal steps need rows with learning curves, but {what}")
    common = int(min(row["curve"]["steps"][-1] for row in rows))
    return common, [float(np.interp(common, *best_so_far(row))) for row in rows]


def change_at_equal_steps(
    row: Sequence[Row], below: Sequence[Row]
) -> tuple[int, Change] | None:
    """The number of steps that all runs of two rows took, and the change there.

    Of one seed it has no interval, and its verdict is undecided. None where no seed has
    learning curves of both rows on the same sentences, from the same beginning: a row
    that goes on with a trained model is ahead of one that began at random.
    """
    theirs = {one["seed"]: one for one in below if "curve" in one}
    pairs = [
        (one, theirs[one["seed"]])
        for one in row
        if "curve" in one and one["seed"] in theirs
    ]
    pairs = [
        (one, other)
        for one, other in pairs
        if data_of(one) == data_of(other) and one.get("start") == other.get("start")
    ]
    if not pairs:
        return None
    steps, bleu = equal_steps([one for pair in pairs for one in pair])
    found = [bleu[i] - bleu[i + 1] for i in range(0, len(bleu), 2)]
    interval = None
    if len(found) > 1:
        middle, half = mean_interval(found)
        interval = middle - half, middle + half
    # Both rows went that far, whether they were finished later or not.
    name = row[0]["builds_on"]
    return steps, Change(statistics.fmean(found), interval, len(found), name)


STYLES = tuple(
    zip(PALETTE, ("-", "--", "-.", ":", "-", "--", "-."), "osD^vPX", strict=True)
)
"""Colour, line and mark of a row; line and mark alone tell rows apart, too."""
AXES = {"steps": "optimiser steps", "cpu_seconds": "CPU seconds of training"}


def learning_curves(
    rows: Sequence[Row], *, timed: Sequence[Row] = (), by: str = "steps"
) -> "Figure":
    """Draw dev BLEU by step or by CPU second, each seed a line, each row a colour.

    Rows differ in colour, line and mark, so that no reader needs the colours. The
    figure is a white card.

    Args:
        rows: with learning curves, of at most seven names.
        timed: the same rows under a clock: a large mark shows after how many steps it
            stopped them.
        by: steps or cpu_seconds; seconds are steps times the mean time of a step.

    Raises:
        ValueError: there is no row with a learning curve, or there are too many names;
            or the rows are of several conditions.
    """
    import matplotlib.pyplot as plt

    there = by_name([row for row in rows if row.get("curve", {}).get("steps")])
    if not 0 < len(there) <= len(STYLES):
        raise ValueError(
            f"rows must have learning curves of 1 to {len(STYLES)} names, got"
            f" {len(there)}"
        )
    if by not in AXES:
        raise ValueError(f"by must be one of {', '.join(AXES)}, got {by!r}")
    ends = {(row["row"], row["seed"]): row["steps_taken"] for row in timed}
    with plt.rc_context(figure_style()):
        figure, axis = plt.subplots(figsize=(7.0, 4.2))
        for (colour, line, mark), row in zip(STYLES, there.values(), strict=False):
            style: dict[str, Any] = {"color": colour, "marker": mark}
            for one in row:
                scale = seconds_a_step(one) if by == "cpu_seconds" else 1.0
                steps, bleu = np.array(one["curve"]["steps"]), one["curve"]["bleu"]
                label = name_of(row) if one is row[0] else None
                curve = (steps * scale, bleu, line)
                axis.plot(*curve, **style, ms=3.5, lw=1.4, label=label)
                end = ends.get((one["row"], one["seed"]), steps[-1] + 1)
                if end <= steps[-1]:
                    height = np.interp(end, steps, bleu)
                    axis.plot(end * scale, height, **style, ms=11, mec="black")
        axis.set(xlabel=AXES[by], ylabel="BLEU of the first sentences of dev")
        figure.legend(loc="outside upper center", ncols=4, fontsize=8, frameon=False)
    return figure


def seconds_a_step(row: Row) -> float:
    """CPU seconds of a step of training, validations included, on the mean.

    Raises:
        ValueError: no step was timed, as all calls but an empty last one were cut off.
    """
    if not row["timed_steps"]:
        raise ValueError(f"{row['row']} has no timed steps; draw it by steps")
    return float(row["cpu_seconds"] / row["timed_steps"])
