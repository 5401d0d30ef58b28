"""The tree that a beam search looked at: what went on, what ended, what was dropped."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from coursepkg.decoding.beam import Node

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLORS = {"kept": "#D6E8F5", "ended": "#CDEBDD", "dropped": "#F2F2F2"}
EDGES = {"kept": "#0072B2", "ended": "#009E73", "dropped": "#BBBBBB"}
"""By fate the fill and the outline of a node; the outline of an end is double, so that
colour is not all that tells."""


def draw_search_tree(
    nodes: Sequence[Node],
    label: Callable[[int], str],
    *,
    highlight: Sequence[int] | None = None,
    show_dropped: bool = True,
) -> "Figure":
    """Draw the candidates of one sentence, one column a step, the most probable on top.

    A node shows its token and the log-probability of the path to it. Blue nodes went
    on, green ones ended with EOS, grey ones were dropped.

    Args:
        nodes: `SearchTrace.tree(...)`.
        label: what to write for a token id.
        highlight: ids of one hypothesis, EOS included where it finished; the path to it
            is drawn thick.
        show_dropped: also draw what was dropped.

    Raises:
        ValueError: there is nothing to draw, or no path has the ids of `highlight`.
    """
    import matplotlib.pyplot as plt

    if not nodes:
        raise ValueError("nodes must hold at least one candidate, got none")
    thick = set() if highlight is None else _path(nodes, tuple(highlight))
    shown = [
        i for i, node in enumerate(nodes) if show_dropped or node.fate != "dropped"
    ]
    places = _places(nodes, shown)
    n_steps = round(max(x for x, _ in places.values()))
    tallest = max(-y for _, y in places.values()) + 1
    figure, axis = plt.subplots(figsize=(1.25 * n_steps + 1.0, 0.5 * tallest + 0.9))
    for i in shown:
        parent = nodes[i].parent
        start = (0.0, _middle(places)) if parent is None else places[parent]
        _edge(axis, start, places[i], nodes[i].fate, i in thick)
    axis.text(0, _middle(places), "start", ha="center", va="center", fontsize=9)
    for i in shown:
        _node(axis, places[i], nodes[i], label(nodes[i].token), i in thick)
    axis.set(
        xlim=(-0.4, n_steps + 0.5), ylim=(-tallest + 0.4, 0.7), xlabel="step", yticks=[]
    )
    axis.set_xticks(range(1, n_steps + 1))
    axis.grid(False)
    axis.spines["left"].set_visible(False)
    return figure


def _places(
    nodes: Sequence[Node], shown: Sequence[int]
) -> dict[int, tuple[float, float]]:
    """Where each shown node stands: (step, minus its rank within the step)."""
    first = min(node.step for node in nodes)
    below: dict[int, int] = {}
    places = {}
    for i in shown:
        step = nodes[i].step - first + 1
        places[i] = (float(step), -float(below.get(step, 0)))
        below[step] = below.get(step, 0) + 1
    return places


def _middle(places: dict[int, tuple[float, float]]) -> float:
    column = [y for x, y in places.values() if x == 1.0]
    return sum(column) / len(column)


def _edge(
    axis: "Axes",
    start: tuple[float, float],
    end: tuple[float, float],
    fate: str,
    thick: bool,
) -> None:
    style = "--" if fate == "dropped" else "-"
    axis.plot(
        [start[0] + 0.2, end[0] - 0.3],
        [start[1], end[1]],
        style,
        color=EDGES[fate],
        linewidth=3.0 if thick else 1.0,
        zorder=1,
    )


def _node(
    axis: "Axes", place: tuple[float, float], node: Node, word: str, thick: bool
) -> None:
    for pad in (0.45, 0.25) if node.fate == "ended" else (0.3,):
        box = {
            "boxstyle": f"round,pad={pad}",
            "facecolor": COLORS[node.fate],
            "edgecolor": EDGES[node.fate],
            "linewidth": 1.8 if thick else 0.9,
        }
        axis.text(
            *place,
            f"{word}  {node.log_prob:.2f}",
            ha="center",
            va="center",
            fontsize=9,
            fontweight="bold" if thick else "normal",
            color="#666666" if node.fate == "dropped" else "black",
            bbox=box,
            zorder=2,
        )


def _path(nodes: Sequence[Node], ids: tuple[int, ...]) -> set[int]:
    """The nodes on the way to a hypothesis.

    Raises:
        ValueError: there is none with these ids.
    """
    for last in range(len(nodes)):
        way: list[int] = []
        place: int | None = last
        while place is not None:
            way.append(place)
            place = nodes[place].parent
        if tuple(nodes[i].token for i in reversed(way)) == ids:
            return set(way)
    raise ValueError(
        f"highlight must be the ids of a path in the tree, got {list(ids)}"
    )
