"""The chart of a stored benchmark: how many times as fast each candidate is, on a logarithmic axis.

A dot is the median of the ratios within a round, the line reaches from the smallest to the largest of them, and a tick
marks the target. The table below the chart has the same numbers.
"""

import math
import textwrap
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

WIDTH, LEFT, RIGHT = 480, 12, 468
"""Pixels of the picture, and the ends of its axis: narrow enough that a phone shows it at three quarters."""
LINE, TRACK, FOOT = 16, 22, 44
"""Heights of a line of text, of the line with the dot, and of the axis."""
COLUMNS = 72
"""Letters in a line of a label."""
HALO = 'paint-order="stroke" stroke="white" stroke-width="4"'
"""Keeps a label readable where the line of 1 passes behind it."""
SVG = (
    '<svg class="chart" role="img" aria-label="{label}" width="{width}" height="{height}"'
    ' viewBox="0 0 {width} {height}" font-size="12" font-family="sans-serif">{drawn}</svg>'
)


def ticks(low: float, high: float) -> list[float]:
    """The numbers 1, 2, 5, 10, ... of the axis from low to high, at most seven of them."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [digit * 10.0**power for power in decades for digit in (1, 2, 5)]
    found = [value for value in found if low <= value <= high]
    return found if len(found) <= 7 else [v for v in found if f"{v:e}"[0] == "1"]


def ratio_chart(rows: Sequence[Mapping[str, Any]]) -> str:
    """The timed rows of a result as SVG, or nothing where none was timed; quotients of memory and growth are none."""
    timed = [row for row in rows if row["low"] and not row["at_most"]]
    if not timed:
        return ""
    numbers = [1.0, *(row[name] for row in timed for name in ("low", "high"))]
    numbers += [row["target"] for row in timed if row["target"]]
    low, high = min(numbers) / 1.15, max(numbers) * 1.15
    scale = (RIGHT - LEFT) / math.log(high / low)

    def place(value: float) -> str:
        return f"{LEFT + scale * math.log(value / low):.1f}"

    drawn, top = [], 4
    for row in timed:
        label = f"{row['case']}: {row['candidate']} against {row['baseline']}"
        for line in textwrap.wrap(label, COLUMNS):
            top += LINE
            drawn.append(f'<text x="{LEFT}" y="{top}" {HALO}>{escape(line)}</text>')
        middle = top + TRACK // 2
        if row["target"]:
            at = place(row["target"])
            drawn.append(
                f'<path d="M{at} {middle - 7}V{middle + 7}" stroke="#d55e00" stroke-width="2"/>'
            )
        drawn.append(
            f'<path d="M{place(row["low"])} {middle}H{place(row["high"])}" stroke="#0072b2" stroke-width="3"/>'
            f'<circle cx="{place(row["ratio"])}" cy="{middle}" r="5" fill="#0072b2"/>'
        )
        top += TRACK
    axis = [f'<path d="M{place(1)} 4V{top}" stroke="#666" stroke-dasharray="3 3"/>']
    for value in ticks(low, high):
        axis.append(
            f'<text x="{place(value)}" y="{top + LINE}" text-anchor="middle">{value:g}</text>'
        )
    axis.append(
        f'<text x="{LEFT}" y="{top + 2 * LINE}">times as fast; orange: the target</text>'
    )
    told = "; ".join(
        f"{row['case']}, {row['candidate']}: {row['ratio']:.3g}" for row in timed
    )
    return SVG.format(
        label=escape(f"Ratios on a logarithmic axis. {told}.", quote=True),
        width=WIDTH,
        height=top + FOOT,
        drawn="".join([*axis, *drawn]),
    )
