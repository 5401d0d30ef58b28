"""Pictures of ideas: valid SVG, nothing outside the card, no text over another one, an alt text."""

import inspect
import re
from itertools import combinations
from xml.etree import ElementTree

import pytest

from coursepkg.viz import pictures
from coursepkg.viz.drawing import COLOURS, INK, Drawing

SVG = "{http://www.w3.org/2000/svg}"
NAMES = [
    name
    for name, made in inspect.getmembers(pictures, inspect.isfunction)
    if made.__module__ == pictures.__name__ and not name.startswith("_")
]
Edges = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def root(drawing: Drawing) -> ElementTree.Element:
    return ElementTree.fromstring(drawing.svg())


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


@pytest.mark.parametrize("name", NAMES)
class TestEveryPicture:
    def test_nothing_is_cut_off(self, name: str) -> None:
        drawing: Drawing = getattr(pictures, name)()
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

    def test_no_text_lies_over_another(self, name: str) -> None:
        texts = [
            (edges_of(text), "".join(text.itertext()))
            for text in root(getattr(pictures, name)()).iter(f"{SVG}text")
        ]
        assert [(a, b) for (one, a), (other, b) in combinations(texts, 2) if overlap(one, other)] == []

    def test_a_reader_who_cannot_see_it_is_told(self, name: str) -> None:
        drawing: Drawing = getattr(pictures, name)()
        assert len(drawing.alt.split()) >= 20
        assert root(drawing).findtext(f"{SVG}title") == drawing.alt
        assert re.fullmatch(r"[A-Z].*\.", drawing.alt)

    def test_is_the_same_each_time(self, name: str) -> None:
        assert getattr(pictures, name)().svg() == getattr(pictures, name)().svg()


def test_letters_can_be_read_on_every_colour() -> None:
    dark = luminance(INK)
    for colour in COLOURS.values():
        assert (luminance(colour) + 0.05) / (dark + 0.05) >= 4.5


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
