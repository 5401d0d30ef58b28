"""Pictures of ideas: valid SVG, nothing outside the card, no text over another one, an alt text."""

import json
import re
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import torch

from coursepkg.attention import AdditiveAttention, MultiplicativeAttention
from coursepkg.blocks import GRUCell
from coursepkg.viz import pictures
from coursepkg.viz.drawing import COLOURS, INK, Drawing

CHAPTERS = sorted((Path(__file__).parents[2] / "notebooks").glob("*/*.ipynb"))
SVG = "{http://www.w3.org/2000/svg}"
FRAMES: dict[str, list[tuple[Any, ...]]] = {
    "neighbours_of_a_number": [(2**power,) for power in range(4, 16)],
    "gru_step": [(0.0, 0.0), (0.7311, 0.5), (1.0, 1.0)],
    "three_scores": [(0.0,), (1.0,), (8.0,)],
    "next_token": [(("đi", "về", "<eos>"), (0.7, 0.2, 0.1)), (("a", "b"), (1.0, 0.0))],
}
"""Pictures that are drawn once for each position of a slider: what they are drawn with."""
MODELS = {
    "Qwen2 7B": {"n_layers": 28, "n_heads": 28, "n_kv_heads": 4, "head_dim": 128},
    "Llama 3 405B": {"n_layers": 126, "n_heads": 128, "n_kv_heads": 8, "head_dim": 128},
}
CONFUSED = tuple(f"Từ {i}" for i in range(24)), np.diag([16] * 24) + np.eye(24, k=3, dtype=int)
"""Words, and how often each was taken for each."""
GIVEN = {"cache_sizes", "confusion_matrix"}
DRAWN: list[tuple[str, Callable[[], Drawing]]] = [
    *(
        (f"{name}{given}", partial(getattr(pictures, name), *given))
        for name, frames in FRAMES.items()
        for given in frames
    ),
    *(
        (f"cache_sizes {model} {n}", partial(pictures.cache_sizes, model, n_tokens=n, **sizes))
        for model, sizes in MODELS.items()
        for n in (1_024, 131_072)
    ),
    *((name, getattr(pictures, name)) for name in pictures.__all__ if name not in {*FRAMES, *GIVEN}),
    ("confusion_matrix", partial(pictures.confusion_matrix, *CONFUSED)),
]
Edges = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def root(drawing: Drawing) -> ElementTree.Element:
    return ElementTree.fromstring(drawing.svg())


def words(drawing: Drawing) -> list[str]:
    return ["".join(text.itertext()) for text in root(drawing).iter(f"{SVG}text")]


def edges_of(text: ElementTree.Element) -> Edges:
    """About where a text stands: a letter is at most 0.62 of its size wide."""
    size, x, y = (float(text.get(name, "nan")) for name in ("font-size", "x", "y"))
    width = 0.62 * size * len("".join(text.itertext()))
    left = {"start": x, "middle": x - width / 2, "end": x - width}[text.get("text-anchor", "")]
    return left, y - 0.75 * size, left + width, y + 0.2 * size


def overlap(one: Edges, other: Edges) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def luminance(colour: str) -> float:
    """Relative luminance, WCAG 2.1."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.mark.parametrize("draw", [draw for _, draw in DRAWN], ids=[name for name, _ in DRAWN])
class TestEveryPicture:
    def test_nothing_is_cut_off(self, draw: Callable[[], Drawing]) -> None:
        drawing = draw()
        for rect in root(drawing).iter(f"{SVG}rect"):
            x, y, width, height = (float(rect.get(k, "nan")) for k in ("x", "y", "width", "height"))
            assert min(x, y) >= 0
            assert x + width <= drawing.width
            assert y + height <= drawing.height
        for text in root(drawing).iter(f"{SVG}text"):
            left, top, right, bottom = edges_of(text)
            said = "".join(text.itertext())
            assert min(left, top) >= 0, said
            assert right <= drawing.width, said
            assert bottom <= drawing.height, said

    def test_no_text_lies_over_another(self, draw: Callable[[], Drawing]) -> None:
        texts = [(edges_of(text), "".join(text.itertext())) for text in root(draw()).iter(f"{SVG}text")]
        assert [(a, b) for (one, a), (other, b) in combinations(texts, 2) if overlap(one, other)] == []

    def test_a_reader_who_cannot_see_it_is_told(self, draw: Callable[[], Drawing]) -> None:
        drawing = draw()
        assert len(drawing.alt.split()) >= 20
        assert root(drawing).findtext(f"{SVG}title") == drawing.alt
        assert re.fullmatch(r"[A-Z].*\.", drawing.alt)

    def test_is_the_same_each_time(self, draw: Callable[[], Drawing]) -> None:
        assert draw().svg() == draw().svg()


class TestNumbers:
    """What a slider shows is what the code of the course computes."""

    @pytest.mark.parametrize("n", [256, 2048, 32768])
    def test_stored_numbers_are_those_of_torch(self, n: int) -> None:
        said = words(pictures.neighbours_of_a_number(n))
        for kind in (torch.float32, torch.float16, torch.bfloat16):
            assert f"+1: {(torch.tensor(float(n)) + 1).to(kind).item():,g}" in said

    def test_a_number_between_powers_of_two_is_refused(self) -> None:
        with pytest.raises(ValueError, match="number: 100; need a power of two"):
            pictures.neighbours_of_a_number(100)

    def test_a_step_of_the_gru_is_that_of_the_cell(self) -> None:
        cell = GRUCell(1, 1)
        for layer, weights in ((cell.input_gates, (0.5, -1.0, 1.0)), (cell.state_gates, (1.0, 2.0, -2.0))):
            layer.weight.data = torch.tensor(weights)[:, None]
            layer.bias.data.zero_()
        (new,) = cell.step(cell.input_gates(torch.ones(1, 1)), (torch.full((1, 1), 0.5),))
        assert f"{new.item():.4f}" in words(pictures.gru_step(0.731059, 0.5))

    @pytest.mark.parametrize("factor", [1.0, 4.0])
    def test_weights_of_keys_are_those_of_the_modules(self, factor: float) -> None:
        query = factor * torch.tensor([[[1.0, 2.0]]])
        keys = torch.tensor([[[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
        general, additive = MultiplicativeAttention(2, 2, "general"), AdditiveAttention(2, 2, d_hidden=2)
        general.key_proj.weight.data = torch.tensor([[0.0, 1.0], [1.0, 0.0]])
        additive.query_proj.weight.data = 0.5 * torch.eye(2)
        additive.key_proj.weight.data = -0.5 * torch.eye(2)
        additive.score_proj.weight.data = torch.tensor([[1.0, 2.0]])
        said = words(pictures.three_scores(factor))
        for module in (MultiplicativeAttention(2, 2, "dot"), general, additive):
            assert {f"{weight:.4f}" for weight in module(query, keys)[1].flatten()} <= set(said)

    def test_the_cache_is_the_published_one(self) -> None:
        said = words(pictures.cache_sizes("Llama 3 405B", n_tokens=8192, **MODELS["Llama 3 405B"]))
        assert {"63 GiB", "3.94 GiB, as published"} <= set(said)

    def test_a_confusion_matrix_has_rows_of_what_was_signed(self) -> None:
        drawing = pictures.confusion_matrix(("a", "b"), np.array([[3, 1], [0, 2]]))
        assert "5 of 6 clips lie on the diagonal. Taken for another word: a as b 1." in drawing.alt
        squares = [
            (rect.get("x"), rect.get("y"), rect.get("fill")) for rect in root(drawing).iter(f"{SVG}rect")
        ]
        assert squares == [
            ("130", "48", COLOURS["value"]),
            ("151", "48", COLOURS["key"]),
            ("151", "69", COLOURS["value"]),
        ]

    def test_a_table_of_another_size_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"table: shape \(2, 2\) for 3 labels"):
            pictures.confusion_matrix(("a", "b", "c"), np.eye(2, dtype=int))

    def test_a_bar_has_the_length_of_its_share(self) -> None:
        drawing = Drawing(300, 100, "Two bars.")
        drawing.bars((50, 10), [("a", 1, "1"), ("b", 0.25, "0.25")], width=200)
        assert [float(rect.get("width", "nan")) for rect in root(drawing).iter(f"{SVG}rect")] == [200, 50]

    @pytest.mark.parametrize("share", [-0.1, 1.01, float("nan")])
    def test_a_bar_longer_than_its_place_is_refused(self, share: float) -> None:
        with pytest.raises(ValueError, match="share of 'a'"):
            Drawing(300, 100, "A bar.").bars((50, 10), [("a", share, "")], width=200)


def test_letters_can_be_read_on_every_colour() -> None:
    dark = luminance(INK)
    for colour in COLOURS.values():
        assert (luminance(colour) + 0.05) / (dark + 0.05) >= 4.5


@pytest.mark.parametrize("chapter", CHAPTERS, ids=[path.stem for path in CHAPTERS])
def test_a_chapter_stores_the_picture_that_is_drawn_today(chapter: Path) -> None:
    cells = json.loads(chapter.read_text(encoding="utf-8"))["cells"]
    for cell in cells:
        shown = re.search(r"pictures\.(\w+)\(\)\.show\(\)$", "".join(cell["source"]))
        if shown:
            (output,) = cell["outputs"]
            assert "".join(output["data"]["text/html"]) == getattr(pictures, shown[1])().html()


class TestDrawing:
    def test_needs_an_alt_text(self) -> None:
        with pytest.raises(ValueError, match="alt: an empty text"):
            Drawing(10, 10, " ")

    def test_lowers_and_raises_and_comes_back(self) -> None:
        drawing = Drawing(100, 40, "A formula.")
        drawing.text((50, 20), "h_{t-1} K^T V")
        (text,) = root(drawing).iter(f"{SVG}text")
        assert "".join(text.itertext()) == "ht-1 KT V"
        spans = [(span.text, span.get("dy"), span.get("font-size")) for span in text]
        assert spans == [
            ("h", None, None),
            ("t-1", "0.3em", "75%"),
            (" K", "-0.225em", None),
            ("T", "-0.4em", "75%"),
            (" V", "0.3em", None),
        ]

    def test_a_hidden_square_is_white_and_crossed(self) -> None:
        drawing = Drawing(100, 100, "A mask.")
        drawing.matrix((10, 10), 2, 2, "weight", hidden={(0, 1)})
        fills = [rect.get("fill") for rect in root(drawing).iter(f"{SVG}rect")]
        assert fills == [COLOURS["weight"], COLOURS["plain"], COLOURS["weight"], COLOURS["weight"]]
        assert len(list(root(drawing).iter(f"{SVG}line"))) == 2

    def test_text_from_outside_is_escaped(self) -> None:
        drawing = Drawing(100, 40, 'Less < more & "so" on.')
        drawing.box((0, 0), (100, 40), "a < b & c|second")
        texts = ["".join(text.itertext()) for text in root(drawing).iter(f"{SVG}text")]
        assert texts == ["a < b & c", "second"]

    def test_an_arrow_ends_where_it_should_and_bends_to_the_left(self) -> None:
        drawing = Drawing(100, 100, "An arrow.")
        drawing.arrow((10, 50), (90, 50), bend=20)
        path = next(p for p in root(drawing).iter(f"{SVG}path") if p.get("marker-end"))
        assert path.get("d") == "M 10 50 Q 50 10 90 50"

    def test_a_notebook_gets_the_alt_text_as_plain_text(self, monkeypatch: pytest.MonkeyPatch) -> None:
        bundles: list[dict[str, str]] = []
        monkeypatch.setattr("IPython.display.display", lambda bundle, raw: bundles.append(bundle))
        monkeypatch.setattr("IPython.get_ipython", object)
        Drawing(20, 20, "An empty card.").show()
        (bundle,) = bundles
        assert bundle["text/plain"] == "Figure: An empty card."
        assert 'alt="An empty card."' in bundle["text/html"]
        assert "data:image/svg+xml;base64," in bundle["text/html"]

    def test_on_a_narrow_screen_letters_stay_large_and_the_keyboard_scrolls(self) -> None:
        wide, small = Drawing(700, 100, "A wide card.").html(), Drawing(90, 20, "A small card.").html()
        assert "min-width:560px" in wide
        assert "min-width:90px" in small
        assert '<div tabindex="0" style="overflow-x:auto">' in wide
