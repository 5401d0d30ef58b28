"""A slider over a stack of pictures, which needs no kernel.

Every position is drawn once, when the notebook runs. The slider and the stack are
joined in the browser, so the figure works on the static page of the book as well as in
JupyterLab.
"""

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

from coursepkg.viz.drawing import Drawing
from coursepkg.viz.image import RESOLUTION, figure_html

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Frame = tuple[str, "Figure | Drawing"]
"""What the slider says, and what it then shows."""


def flipbook(
    frames: Sequence[Frame] | Sequence[tuple[str, Sequence[Frame]]],
    *,
    title: str | tuple[str, str],
    alt: str,
    start: int | tuple[int, int] = 0,
    resolution: int = RESOLUTION,
) -> None:
    """Displays a slider, or two, over pictures that are drawn beforehand.

    Args:
        frames: (label, figure) for each position of the slider. For two sliders,
            (label, [(label, figure), ...]) for each position of the first; the labels
            of the second are the same everywhere.
        title: what the slider changes, for example "temperature"; for two sliders, one
            text each.
        alt: what the pictures show and what changes as the slider moves; each figure
            adds its labels to it, a `Drawing` has an alt text of its own.
        start: position that is shown first.
        resolution: pixels per inch of a figure; lower it when a notebook has many
            frames.

    Raises:
        ValueError: for no frames, for an empty alt text, for positions that do not
            exist, for a grid with gaps.
    """
    grid, outer, inner = _grid(frames)
    if isinstance(title, str) != (outer == [""]):
        raise ValueError(
            f"title: {title!r}; need one text for one slider, a pair for two"
        )
    titles = ("", title) if isinstance(title, str) else title
    at = (0, start) if isinstance(start, int) else start
    if not (0 <= at[0] < len(outer) and 0 <= at[1] < len(inner)):
        raise ValueError(
            f"start: {start}; need a position in {len(outer)} x {len(inner)} frames"
        )
    pages = [
        [
            figure.html()
            if isinstance(figure, Drawing)
            else figure_html(
                figure,
                alt=f"{alt} {_said(titles, (first, second))}",
                resolution=resolution,
            )
            for second, figure in row
        ]
        for first, row in zip(outer, grid, strict=True)
    ]
    widget = _assemble(titles, (outer, inner), pages, at)
    positions = _said(titles, (", ".join(outer), ", ".join(inner)))
    _display(widget, pages[at[0]][at[1]], f"Interactive figure: {alt} {positions}")


def _grid(frames: Sequence[Any]) -> tuple[list[list[Frame]], list[str], list[str]]:
    """Rows of frames, and the labels of both sliders; one row for one slider."""
    if not frames:
        raise ValueError(
            "frames: none given; need (label, figure) for each position of the slider"
        )
    if not isinstance(frames[0][1], Sequence):
        return [list(frames)], [""], [label for label, _ in frames]
    grid = [list(row) for _, row in frames]
    inner = [label for label, _ in grid[0]]
    for name, row in zip((label for label, _ in frames), grid, strict=True):
        if [label for label, _ in row] != inner:
            raise ValueError(
                f"frames: row {name!r} has other labels than the first; need {inner} in"
                " every row"
            )
    return grid, [label for label, _ in frames], inner


def _said(titles: tuple[str, str], values: tuple[str, str]) -> str:
    """The titles with their values as a sentence each."""
    return " ".join(
        f"{name}: {value}." for name, value in zip(titles, values, strict=True) if name
    )


def _slider(labels: list[str], index: int) -> Any:
    import ipywidgets

    return ipywidgets.SelectionSlider(
        options=[(label, position) for position, label in enumerate(labels)],
        index=index,
        continuous_update=True,
        layout={"width": "min(100%, 28rem)"},
    )


def _titled(title: str, slider: Any) -> Any:
    import ipywidgets

    # A slider's own description is typeset as a formula and cut at a fixed width.
    name = ipywidgets.HTML(f"<strong>{escape(title)}</strong>")
    return ipywidgets.HBox(
        [name, slider], layout={"flex_flow": "row wrap", "align_items": "center"}
    )


def _assemble(
    titles: tuple[str, str],
    labels: tuple[list[str], list[str]],
    pages: list[list[str]],
    at: tuple[int, int],
) -> Any:
    import ipywidgets

    outer, inner = (
        _slider(names, index) for names, index in zip(labels, at, strict=True)
    )
    controls = [
        _titled(title, slider)
        for title, slider in zip(titles, (outer, inner), strict=True)
        if title
    ]
    if not hasattr(ipywidgets, "Stack"):
        return ipywidgets.VBox([*controls, _turned_by_kernel(outer, inner, pages)])
    rows = [
        ipywidgets.Stack([ipywidgets.HTML(page) for page in row], selected_index=at[1])
        for row in pages
    ]
    for row in rows:
        ipywidgets.jslink((inner, "index"), (row, "selected_index"))
    book = ipywidgets.Stack(rows, selected_index=at[0])
    ipywidgets.jslink((outer, "index"), (book, "selected_index"))
    return ipywidgets.VBox([*controls, book])


def _turned_by_kernel(outer: Any, inner: Any, pages: list[list[str]]) -> Any:
    """For ipywidgets 7 (Colab), which has no `Stack`: the kernel turns the page."""
    import ipywidgets

    page = ipywidgets.HTML(pages[outer.index][inner.index])

    def turn(_: object) -> None:
        page.value = pages[outer.index][inner.index]

    for slider in (outer, inner):
        slider.observe(turn, names="index")
    return page


def _display(widget: Any, first_page: str, text: str) -> None:
    """The widget; the first page without widgets, the text in a text comparison."""
    from IPython.display import display

    view = widget._repr_mimebundle_() if hasattr(widget, "_repr_mimebundle_") else None
    if view is None:
        display(widget)
        return
    bundle = {key: value for key, value in view.items() if "widget-view" in key}
    display({**bundle, "text/html": first_page, "text/plain": text}, raw=True)
