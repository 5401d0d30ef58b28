"""Texts cut into tokens: the merges behind one word, and rows of boxes."""

import unicodedata
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FILLS = ("#D6E6F4", "#FBE3D6")
"""Fills of neighbouring boxes, in turn."""


def merge_tree(
    trace: Sequence[tuple[Any, Sequence[str]]], *, title: str = ""
) -> "Figure":
    """The merges of one word: characters at the bottom, one level a merge.

    Raises:
        ValueError: the trace is empty.
    """
    import matplotlib.pyplot as plt

    if not trace:
        raise ValueError("trace must hold at least the characters of a word, got none")
    n_signs = len(trace[0][1])
    figure, axis = plt.subplots(
        figsize=(max(5.0, 0.75 * n_signs + 2.4), 0.55 * len(trace) + 0.9)
    )
    tops: dict[tuple[int, int], tuple[float, int]] = {}
    for level, (merge, tokens) in enumerate(trace):
        for token, span in zip(tokens, spans(trace[0][1], tokens), strict=True):
            if span in tops:
                continue
            middle = (span[0] + span[1] - 1) / 2
            for child, (below, height) in list(tops.items()):
                if span[0] <= child[0] and child[1] <= span[1]:
                    axis.plot(
                        [middle, below],
                        [level, height],
                        color="#999999",
                        linewidth=1.2,
                        zorder=1,
                    )
                    del tops[child]
            tops[span] = (middle, level)
            _box(axis, middle, level, token, FILLS[0] if level else "white")
        if merge is not None:
            said = (
                f"{merge.left} + {merge.right}   ({merge.frequency} times in training)"
            )
            axis.text(
                n_signs - 0.2, level, said, va="center", fontsize=9, color="#333333"
            )
    axis.set(xlim=(-0.7, n_signs + 4.2), ylim=(-0.6, len(trace) - 0.4), title=title)
    axis.axis("off")
    return figure


def token_boxes(rows: Mapping[str, Sequence[str]], *, title: str = "") -> "Figure":
    """Texts as rows of boxes, one box a token, with the number of tokens.

    Raises:
        ValueError: there is no row.
    """
    import matplotlib.pyplot as plt

    if not rows:
        raise ValueError("rows must hold at least one text, got none")
    widths = {
        name: [_width(token) + 0.8 for token in tokens] for name, tokens in rows.items()
    }
    longest = max((sum(row) for row in widths.values()), default=0.0)
    figure, axis = plt.subplots(
        figsize=(min(9.6, max(5.0, 0.135 * longest + 1.8)), 0.46 * len(rows) + 0.6)
    )
    for level, (name, tokens) in enumerate(rows.items()):
        edges = [0.0, *accumulate(widths[name])]
        for i, (token, (left, right)) in enumerate(
            zip(tokens, pairwise(edges), strict=True)
        ):
            axis.barh(
                -level,
                right - left,
                left=left,
                height=0.72,
                color=FILLS[i % 2],
                edgecolor="white",
                linewidth=1.5,
            )
            axis.text(
                (left + right) / 2, -level, token, ha="center", va="center", fontsize=9
            )
        axis.text(
            edges[-1] + 0.8,
            -level,
            f"{len(tokens)}",
            va="center",
            fontsize=9,
            color="#333333",
        )
        axis.text(-0.8, -level, name, ha="right", va="center", fontsize=9)
    margin = max(map(_width, rows)) + 1.6
    axis.set(xlim=(-margin, longest + 4), ylim=(0.5 - len(rows), 0.5), title=title)
    axis.axis("off")
    return figure


def spans(signs: Sequence[str], tokens: Sequence[str]) -> list[tuple[int, int]]:
    """Which entries of `signs` each token covers: (first, one after the last).

    A byte or UNK token is one entry of `signs` and one token.
    """
    lengths = [len(sign) for sign in signs]
    starts = {position: i for i, position in enumerate(accumulate([0, *lengths]))}
    edges = [starts[position] for position in accumulate([0, *map(len, tokens)])]
    return list(pairwise(edges))


def _box(axis: Any, x: float, y: int, token: str, fill: str) -> None:
    style = {
        "boxstyle": "round,pad=0.25",
        "facecolor": fill,
        "edgecolor": "#666666",
        "linewidth": 0.8,
    }
    axis.text(x, y, token, ha="center", va="center", fontsize=10, bbox=style, zorder=2)


def _width(text: str) -> float:
    """Width in Latin letters: Chinese characters take two, combining marks none."""
    return sum(
        (
            0.0
            if unicodedata.combining(sign)
            else 2.0
            if unicodedata.east_asian_width(sign) in "WF"
            else 1.0
        )
        for sign in text
    )
