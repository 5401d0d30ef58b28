"""Writes the interactive figures of a notebook as plain HTML: a native slider over pictures.

A notebook stores `coursepkg.viz.flipbook` as widgets: a box with one or two named sliders and a stack of stacks of
pictures. The page needs none of the widgets' code for that, only book/_static/flipbook.js, and shows the picture
of the starting position where there is no JavaScript.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape, unescape
from pathlib import Path
from typing import Any

STATE = "application/vnd.jupyter.widget-state+json"
VIEW = "application/vnd.jupyter.widget-view+json"
TAG = re.compile(r"<[^>]+>")


@dataclass(frozen=True)
class Slider:
    """One slider: what it changes, the text of each position, and where it starts."""

    title: str
    labels: list[str]
    start: int


@dataclass(frozen=True)
class Flipbook:
    """One or two sliders, and for each pair of positions the HTML of a picture."""

    sliders: list[Slider]
    frames: list[list[str]]
    """Rows: the first of two sliders, or a single row; columns: the last slider."""

    @property
    def start(self) -> tuple[int, int]:
        """Row and column that are shown first."""
        positions = [slider.start for slider in self.sliders]
        return (
            (0, positions[0]) if len(positions) == 1 else (positions[0], positions[1])
        )


def widget_states(notebook: Path) -> Mapping[str, Any]:
    """The stored widgets of a notebook, by model id."""
    metadata = json.loads(notebook.read_text(encoding="utf-8"))["metadata"]
    return metadata.get("widgets", {}).get(STATE, {}).get("state", {})


def read_flipbook(states: Mapping[str, Any], model_id: str) -> Flipbook:
    """The interactive figure that a view shows.

    Raises:
        ValueError: for widgets that are no flipbook.
    """

    def children(model: str) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
        for reference in states[model]["state"]["children"]:
            child = reference.removeprefix("IPY_MODEL_")
            yield child, states[child]["model_name"], states[child]["state"]

    try:
        *controls, (book, kind, _) = children(model_id)
        if kind != "StackModel":
            raise ValueError(f"its last part is a {kind}, not a stack of pictures")
        sliders = []
        for box, _, _ in controls:
            (_, _, name), (_, _, slider) = children(box)
            title, labels = (
                unescape(TAG.sub("", name["value"])),
                slider["_options_labels"],
            )
            sliders.append(Slider(title, labels, slider["index"]))
        frames = [
            [page["value"] for _, _, page in children(row)]
            for row, _, _ in children(book)
        ]
    except KeyError as error:
        raise ValueError(f"its widgets have no {error}") from None
    return Flipbook(sliders, frames)


def flipbook_html(figure: Flipbook, name: str) -> str:
    """The figure as HTML; `name` makes its ids unique on the page."""
    row, column = figure.start
    controls = [
        f'<div class="flipbook-control pst-js-only">'
        f'<label for="{name}-{index}">{escape(slider.title)}</label>'
        f'<input type="range" id="{name}-{index}" min="0" max="{len(slider.labels) - 1}" value="{slider.start}"'
        f' aria-valuetext="{escape(slider.labels[slider.start])}"'
        f" data-labels='{escape(json.dumps(slider.labels, ensure_ascii=False))}'>"
        f'<output for="{name}-{index}">{escape(slider.labels[slider.start])}</output></div>'
        for index, slider in enumerate(figure.sliders)
    ]
    pages = [
        f'<div class="flipbook-page" data-at="{first},{second}"{"" if (first, second) == (row, column) else " hidden"}>'
        f"{page}</div>"
        for first, pages in enumerate(figure.frames)
        for second, page in enumerate(pages)
    ]
    return (
        f'<div class="flipbook" id="{name}">{"".join(controls)}{"".join(pages)}</div>'
    )
