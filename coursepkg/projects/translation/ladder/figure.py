"""The ladder as a picture: one line a row, its BLEU on dev as a dot, and how sure it is as a bar."""

import statistics
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coursepkg.projects.translation.ladder.store import differences_to
from coursepkg.projects.translation.studies.measured_run import HEADLINE, headline
from coursepkg.viz.style import PALETTE, figure_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KINDS = {
    "trained": ("trained from the beginning", PALETTE[0], "o"),
    "continued": ("trained on from another row", PALETTE[1], "s"),
    "decoded": ("another way to decode", PALETTE[2], "D"),
}
"""By kind of a row its name in the legend, its colour and its mark; the mark alone tells them apart, too."""


def ladder_figure(rows: Sequence[Mapping[str, Any]], *, conditions: str = "") -> "Figure":
    """Draw stored rows of the ladder, from top to bottom in their order.

    A bar is the bootstrap interval of a row with one seed, and the range of the seeds of one with several, whose dot
    is their mean. Behind the value stands the difference to the row that it builds on. The figure is a white card,
    which reads on a light and on a dark page.

    Args:
        rows: as `read_ladder` returns them.
        conditions: which rows to draw, where there are several conditions.

    Raises:
        ValueError: there is no such row, or there are several conditions and none is chosen.
    """
    import matplotlib.pyplot as plt

    there = list(dict.fromkeys(row["conditions"] for row in rows))
    if not conditions and len(there) > 1:
        raise ValueError(f"conditions must be one of {', '.join(there)}; rows of several do not compare")
    chosen = [row for row in rows if row["conditions"] == (conditions or row["conditions"])]
    if not chosen:
        raise ValueError(
            f"there is no stored row of conditions {conditions!r}; found {', '.join(there) or 'none'}"
        )
    names = list(dict.fromkeys(row["row"] for row in chosen))
    by_name = {name: [row for row in chosen if row["row"] == name] for name in names}
    with plt.rc_context(figure_style()):
        figure, axis = plt.subplots(figsize=(7.0, 1.2 + 0.27 * len(names)))
        for place, name in enumerate(names):
            _draw(axis, place, by_name[name], by_name)
        axis.set_yticks(range(len(names)), names)
        axis.set(
            xlabel=f"BLEU on dev, {chosen[0]['recipe']['max_seconds']:g} s of training a row",
            ylim=(len(names) - 0.4, -0.6),
        )
        axis.margins(x=0.12)
        axis.grid(axis="y", visible=False)
        if len(axis.get_legend_handles_labels()[1]) > 1:
            figure.legend(loc="outside upper center", ncols=3, fontsize=8, frameon=False)
    return figure


def _draw(
    axis: "Axes",
    place: int,
    row: Sequence[Mapping[str, Any]],
    by_name: Mapping[str, Sequence[Mapping[str, Any]]],
) -> None:
    """One line of the picture."""
    values = [headline(one) for one in row]
    value = statistics.mean(values)
    interval = row[0]["scores"][HEADLINE]["interval"] or (value, value)
    low, high = (min(values), max(values)) if len(values) > 1 else interval
    label, colour, mark = KINDS[kind_of(row[0])]
    known = label in axis.get_legend_handles_labels()[1]
    axis.errorbar(
        [value],
        [place],
        # The middle of the resamples need not lie on the score: a bar never begins beyond the dot.
        xerr=[[max(0.0, value - low)], [max(0.0, high - value)]],
        fmt=mark,
        color=colour,
        markersize=5,
        linewidth=1.4,
        capsize=2,
        label=None if known else label,
    )
    changes = differences_to(row, by_name.get(row[0]["builds_on"], ()))
    text = f"{value:.1f}" + (f" ({statistics.mean(changes):+.1f})" if changes else "")
    if row[0]["preparation"] == "random-split":
        text += " on another dev part"
    axis.annotate(
        text, (max(value, high), place), (6, 0), textcoords="offset points", va="center", fontsize=8
    )


def kind_of(row: Mapping[str, Any]) -> str:
    """Which of `KINDS` a stored row is."""
    return "decoded" if row["decoding"] else "continued" if row["start"] else "trained"
