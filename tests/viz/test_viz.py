"""Figures: alt text, tokens in three languages, sliders whose every position is stored, source as it stands."""

import re
from typing import Any

import ipywidgets
import matplotlib.pyplot as plt
import pytest
import torch

from coursepkg.attention import pattern
from coursepkg.viz import attention_heatmap, flipbook, mask_grid, notebook_defaults, show, show_source
from coursepkg.viz.drawing import Drawing
from coursepkg.viz.source import source_of


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What was displayed."""
    bundles: list[dict[str, Any]] = []
    monkeypatch.setattr("IPython.display.display", lambda bundle, raw: bundles.append(bundle))
    monkeypatch.setattr("IPython.get_ipython", object)
    return bundles


def figure() -> Any:
    picture, axis = plt.subplots(figsize=(2, 1))
    axis.plot([0, 1])
    return picture


def alts(html: str) -> list[str]:
    return re.findall(r'alt="([^"]*)"', html)


def test_show_writes_alt_text_and_closes(shown: list[dict[str, Any]]) -> None:
    show(figure(), alt='A line from 0 to 1, "straight".')
    assert alts(shown[0]["text/html"]) == ["A line from 0 to 1, &quot;straight&quot;."]
    assert shown[0]["text/plain"] == 'Figure: A line from 0 to 1, "straight".'
    assert plt.get_fignums() == []


def test_show_gives_the_same_picture_twice(shown: list[dict[str, Any]]) -> None:
    show(figure(), alt="line")
    show(figure(), alt="line")
    assert shown[0] == shown[1]


def test_outside_a_notebook_the_alt_text_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    show(figure(), alt="A line from 0 to 1.")
    assert capsys.readouterr().out == "Figure: A line from 0 to 1.\n"


def test_an_empty_alt_text_is_refused() -> None:
    with pytest.raises(ValueError, match="alt: an empty text"):
        show(figure(), alt=" ")


def test_heatmap_names_tokens_of_three_languages_without_a_warning() -> None:
    notebook_defaults()
    vietnamese, chinese = ["Tôi", "uống", "cà phê", "nướng"], ["我", "喝", "咖啡"]
    weights = torch.softmax(torch.randn(2, 3, 4), dim=-1)
    picture = attention_heatmap(weights, chinese, vietnamese, title=["head 0", "head 1"])
    picture.canvas.draw()
    axis = picture.axes[0]
    assert [label.get_text() for label in axis.get_xticklabels()] == vietnamese
    assert [label.get_text() for label in axis.get_yticklabels()] == chinese
    assert picture.axes[1].get_title() == "head 1"


def test_heatmap_writes_small_grids_out() -> None:
    picture = attention_heatmap(torch.tensor([[0.25, 0.75]]), ["a"], ["b", "c"])
    assert [text.get_text() for text in picture.axes[0].texts] == ["0.25", "0.75"]


@pytest.mark.parametrize(
    ("weights", "title", "message"),
    [
        (
            torch.ones(2, 3),
            "",
            r"weights: shape \(2, 3\); need \(T, S\) or \(H, T, S\) with T 2 rows and S 2",
        ),
        (torch.ones(2, 2), ["a", "b"], "title: 2 titles for 1 panels"),
    ],
)
def test_heatmap_refuses_what_does_not_fit(weights: torch.Tensor, title: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        attention_heatmap(weights, ["a", "b"], ["c", "d"], title=title)


def test_mask_grid_takes_what_a_pattern_gives() -> None:
    picture = mask_grid({"causal": pattern.causal().mask(4, 4), "all": torch.ones(4, 4, dtype=torch.bool)})
    assert [axis.get_title() for axis in picture.axes] == ["causal\n62% of cells", "all\n100% of cells"]


def test_mask_grid_refuses_several_heads() -> None:
    with pytest.raises(ValueError, match=r"masks: 'two' has shape \(2, 4, 4\)"):
        mask_grid({"two": torch.ones(2, 4, 4)})
    with pytest.raises(ValueError, match="masks: none given"):
        mask_grid({})


def test_flipbook_shows_the_first_position_where_widgets_do_not_work(shown: list[dict[str, Any]]) -> None:
    flipbook([("low", figure()), ("high", figure())], title="height", alt="A line.", start=1)
    assert alts(shown[0]["text/html"]) == ["A line. height: high."]
    assert shown[0]["text/plain"] == "Interactive figure: A line. height: low, high."


def test_flipbook_with_two_sliders(shown: list[dict[str, Any]]) -> None:
    rows = [(a, [(b, figure()) for b in ("x", "y", "z")]) for a in ("low", "high")]
    flipbook(rows, title=("height", "place"), alt="A line.", start=(1, 2))
    assert alts(shown[0]["text/html"]) == ["A line. height: high. place: z."]
    assert shown[0]["text/plain"] == "Interactive figure: A line. height: low, high. place: x, y, z."


def test_flipbook_shows_a_drawing_with_its_own_alt_text(shown: list[dict[str, Any]]) -> None:
    frames = [(name, Drawing(20, 20, f"A card that is {name}.")) for name in ("red", "blue")]
    flipbook(frames, title="colour", alt="A card.", start=1)
    assert alts(shown[0]["text/html"]) == ["A card that is blue."]
    assert "data:image/svg+xml;base64," in shown[0]["text/html"]
    assert shown[0]["text/plain"] == "Interactive figure: A card. colour: red, blue."


def test_flipbook_joins_the_sliders_to_the_stacks_in_the_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    from coursepkg.viz.slider import _assemble

    joined: list[Any] = []
    monkeypatch.setattr(ipywidgets, "jslink", lambda source, target: joined.append((source, target)))
    widget = _assemble(
        ("row", "column"), (["a", "b"], ["x", "y", "z"]), [["1", "2", "3"], ["4", "5", "6"]], (1, 2)
    )
    row, column, book = widget.children
    assert [[page.value for page in stack.children] for stack in book.children] == [
        ["1", "2", "3"],
        ["4", "5", "6"],
    ]
    assert (book.selected_index, book.children[0].selected_index) == (1, 2)
    first, second = row.children[1], column.children[1]
    stacks = [((second, "index"), (stack, "selected_index")) for stack in book.children]
    assert joined == [*stacks, ((first, "index"), (book, "selected_index"))]
    assert (first.index, second.index) == (1, 2)


@pytest.mark.parametrize(
    ("frames", "keywords", "message"),
    [
        ([], {"title": "t"}, "frames: none given"),
        ([("a", None)], {"title": ("t", "u")}, "title: .* need one text for one slider"),
        ([("a", None)], {"title": "t", "start": 1}, "start: 1; need a position in 1 x 1 frames"),
        ([("a", [("x", None)]), ("b", [("y", None)])], {"title": ("t", "u")}, "row 'b' has other labels"),
    ],
)
def test_flipbook_refuses(frames: Any, keywords: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        flipbook(frames, alt="A line.", **keywords)


def test_flipbook_without_stack_turns_the_pages_by_kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Colab, whose ipywidgets 7 has no Stack."""
    from coursepkg.viz.slider import _assemble

    monkeypatch.delattr(ipywidgets, "Stack")
    widget = _assemble(("", "height"), ([""], ["low", "high"]), [["first", "second"]], (0, 0))
    control, page = widget.children
    assert page.value == "first"
    control.children[1].index = 1
    assert page.value == "second"


def test_show_source_shows_the_code_as_it_stands(shown: list[dict[str, Any]]) -> None:
    show_source(source_of)
    assert shown[0]["text/plain"].startswith("# coursepkg/viz/source.py\ndef source_of(")
    assert shown[0]["text/markdown"].startswith("`coursepkg/viz/source.py`\n\n```python\ndef source_of(")
    assert shown[0]["text/markdown"].endswith("\n```")


def test_source_without_docstrings_is_the_same_program() -> None:
    from coursepkg.viz import source

    bare = source_of(source, docstring=False)
    assert '"""' not in bare
    compile(bare, "bare", "exec")
    assert "def source_of(item: Any, *, docstring: bool = True) -> str:\n    try:" in bare


def test_no_source_is_said_in_one_line() -> None:
    with pytest.raises(ValueError, match="objects: 3 has no Python source; need a function"):
        show_source(3)
