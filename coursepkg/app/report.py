"""Findings as text: tables, examples, ranges of numbers, names of characters."""

import math
import statistics
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import islice
from typing import Protocol, runtime_checkable

SHOWN = 5
"""Examples of each finding in a text; JSON has all."""


def more_line(count: int, shown: int = SHOWN) -> list[str]:
    """A line that says how many examples are not shown; none where all are."""
    return [f"  ... and {count - shown:,} more"] if count > shown else []


def examples(title: str, rows: Sequence[object], shown: int = SHOWN) -> list[str]:
    """A finding with its number and its first examples; nothing where there are none.

    Example:
        >>> examples("copies", ["a.mp4", "b.mp4"])
        ['copies: 2', '  a.mp4', '  b.mp4']
    """
    if not rows:
        return []
    lines = [f"{title}: {len(rows):,}", *(f"  {row}" for row in rows[:shown])]
    return lines + more_line(len(rows), shown)


@runtime_checkable
class OfKind(Protocol):
    """Something wrong, which has a kind."""

    @property
    def kind(self) -> str:
        """What is wrong."""


def examples_by_kind(faults: Sequence[OfKind], shown: int = SHOWN) -> list[str]:
    """How often each kind occurs, the most frequent first, with its first examples."""
    lines: list[str] = []
    for kind, count in Counter(one.kind for one in faults).most_common():
        lines.append(f"  {kind}: {count:,}")
        of_kind = (one for one in faults if one.kind == kind)
        lines += [f"    {one}" for one in islice(of_kind, shown)]
        lines += [f"  {more}" for more in more_line(count, shown)]
    return lines


def counts_text(counts: Mapping[str, int]) -> str:
    """Counts by name on one line.

    Example:
        >>> counts_text({"train": 1200, "dev": 60})
        'train 1,200, dev 60'
    """
    return ", ".join(f"{name} {count:,}" for name, count in counts.items())


def character_name(character: str) -> str:
    """Code point and name of a character, as `U+0061 LATIN SMALL LETTER A`."""
    kind = f"category {unicodedata.category(character)}"
    return f"U+{ord(character):04X} {unicodedata.name(character, kind)}"


def summary(values: Sequence[int | float]) -> dict[str, float]:
    """Least, median, mean and greatest of some numbers; empty for none."""
    if not values:
        return {}
    found = {
        "least": min(values),
        "median": statistics.median(values),
        "mean": statistics.mean(values),
        "greatest": max(values),
    }
    return {name: round(float(value), 3) for name, value in found.items()}


def spread(found: Mapping[str, float]) -> str:
    """A `summary` for readers."""
    if not found:
        return "none"
    return (
        f"{found['least']:g} to {found['greatest']:g}, median {found['median']:g}, "
        f"mean {found['mean']:.4g}"
    )


def aligned(rows: Sequence[Sequence[str]], *, right: Collection[int] = ()) -> list[str]:
    """Rows of cells as lines with aligned columns, those of `right` on the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]

    def cell(column: int, text: str) -> str:
        width = widths[column]
        return text.rjust(width) if column in right else text.ljust(width)

    return ["  ".join(cell(i, c) for i, c in enumerate(row)).rstrip() for row in rows]


def markdown_table(
    head: Sequence[str], rows: Iterable[Sequence[str]], *, right: Sequence[int] = ()
) -> str:
    """A Markdown table whose columns are aligned as plain text, too.

    Args:
        head: names of the columns.
        rows: cells.
        right: numbers of the columns that are aligned to the right.
    """
    cells = [[cell.replace("|", "\\|") for cell in row] for row in (head, *rows)]
    widths = [max(3, *map(len, column)) for column in zip(*cells, strict=True)]

    def line(row: Sequence[str]) -> str:
        padded = (
            cell.rjust(width) if column in right else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        return f"| {' | '.join(padded)} |"

    rule = ["-" * (w - (i in right)) + ":" * (i in right) for i, w in enumerate(widths)]
    return "\n".join([line(cells[0]), line(rule), *map(line, cells[1:])])


def interval_text(ends: Sequence[float] | None, form: str) -> str:
    """The ends of an interval behind a number; nothing where there is none."""
    return "" if ends is None else f" [{ends[0]:{form}}, {ends[1]:{form}}]"


# Of Student's t, 97.5%, by degrees of freedom from 1; SciPy is no dependency.
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
_NORMAL = 1.959964  # the same of the normal distribution


def mean_interval(values: Sequence[float]) -> tuple[float, float]:
    """The mean and half the width of its 95% interval, of at least two values."""
    freedom = len(values) - 1
    return (
        statistics.fmean(values),
        _student_t(freedom) * statistics.stdev(values) / math.sqrt(len(values)),
    )


def _student_t(freedom: int) -> float:
    """Student's t; above the table by the Cornish-Fisher expansion, within 0.003."""
    if freedom <= len(_T):
        return _T[freedom - 1]
    z, n = _NORMAL, freedom
    return z + (z**3 + z) / (4 * n) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)


def mean_text(values: Sequence[float], sign: str = "") -> str:
    """Mean and interval of some values; `sign` `+` writes the sign."""
    middle, half = mean_interval(values)
    ends = middle - half, middle + half
    return f"{middle:{sign}.4f}{interval_text(ends, f'{sign}.3f')}"
