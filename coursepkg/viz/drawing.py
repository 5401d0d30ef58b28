"""Pictures of ideas as SVG, in one visual language.

The same thing always looks the same:

    matrix        a grid of squares: a row is a token, a column a feature
    queries, keys, values, weights, output        one colour each, see `COLOURS`
    hidden by a mask      a crossed square
    operation     a box with round corners
    amount        a bar from the left, its number behind it
    memory        a box with a title in its upper edge
    data flow     an arrow; time runs from left to right

The colours are those of Okabe and Ito, which readers with any kind of colour vision can
tell apart. A picture stands on a white card, as every figure of the book does.
"""

import re
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from html import escape
from typing import NamedTuple

from coursepkg.viz.image import CARD, check_alt, display_picture, image_element

COLOURS = {
    "input": "#BBBBBB",
    "query": "#56B4E9",
    "key": "#E69F00",
    "value": "#009E73",
    "weight": "#CC79A7",
    "output": "#F0E442",
    "memory": "#F2F2F2",
    "plain": "#FFFFFF",
}
"""By what is drawn: its fill."""
INK = "#222222"
CELL = 16.0
"""Side of a square of a matrix, in pixels."""
LEAST_WIDTH = 560
"""Pixels that a picture keeps on a narrow screen, so that its letters can be read."""
FONT = "font-family='DejaVu Sans, Arial, sans-serif'"

Number = int | float
Point = tuple[Number, Number]
"""x to the right and y downwards, in pixels."""


class Area(NamedTuple):
    """Where something was drawn, for arrows to begin and end at."""

    x: Number
    y: Number
    width: Number
    height: Number

    @property
    def left(self) -> Point:
        """The middle of the left side."""
        return self.x, self.y + self.height / 2

    @property
    def right(self) -> Point:
        """The middle of the right side."""
        return self.x + self.width, self.y + self.height / 2

    @property
    def top(self) -> Point:
        """The middle of the upper side."""
        return self.x + self.width / 2, self.y

    @property
    def bottom(self) -> Point:
        """The middle of the lower side."""
        return self.x + self.width / 2, self.y + self.height


@dataclass
class Drawing:
    """An SVG picture that is drawn call by call."""

    width: Number
    height: Number
    alt: str
    """What a reader who cannot see it needs to know."""

    def __post_init__(self) -> None:
        check_alt(self.alt)
        self._parts: list[str] = []

    def text(
        self,
        at: Point,
        text: str,
        *,
        size: Number = 13.0,
        anchor: str = "middle",
        bold: bool = False,
        italic: bool = False,
    ) -> None:
        """Writes a line; `_` and `^` lower and raise a letter or what stands in `{}`.

        Args:
            at: the middle of its height; its start, middle or end by `anchor`.
            text: such as `K^T` or `h_{t-1}`.
            size: of the letters.
            anchor: start, middle or end.
            bold: for titles.
            italic: for symbols.
        """
        style = " font-weight='bold'" * bold + " font-style='italic'" * italic
        self._parts.append(
            f"<text x='{at[0]:g}' y='{at[1] + size * 0.36:g}' font-size='{size:g}'"
            f" text-anchor='{anchor}'{style}>{_with_shifts(text)}</text>"
        )

    def matrix(
        self,
        at: Point,
        n_rows: int,
        n_columns: int,
        kind: str,
        *,
        name: str = "",
        shape: str = "",
        cell: Number = CELL,
        hidden: Collection[tuple[int, int]] = (),
        faded: Collection[tuple[int, int]] = (),
    ) -> Area:
        """A grid of squares with a name above and a shape below.

        Args:
            at: the upper left corner.
            n_rows: tokens.
            n_columns: features, or keys.
            kind: one of `COLOURS`.
            name: such as `Q`.
            shape: such as `T × D`.
            cell: side of a square.
            hidden: squares (row, column) that a mask hides, crossed.
            faded: squares that are not in use here, left white.
        """
        x, y = at
        for row in range(n_rows):
            for column in range(n_columns):
                place = row, column
                plain = place in hidden or place in faded
                fill = COLOURS["plain" if plain else kind]
                left, top = x + column * cell, y + row * cell
                self._parts.append(
                    f"<rect x='{left:g}' y='{top:g}' width='{cell:g}' height='{cell:g}'"
                    f" fill='{fill}' stroke='{INK}' stroke-width='0.8'/>"
                )
                if place in hidden:
                    self.line((left, top), (left + cell, top + cell), width=0.8)
                    self.line((left, top + cell), (left + cell, top), width=0.8)
        area = Area(x, y, n_columns * cell, n_rows * cell)
        if name:
            self.text((area.top[0], y - 11), name, italic=True, size=15)
        if shape:
            self.text((area.bottom[0], area.bottom[1] + 11), shape, size=11)
        return area

    def box(
        self, at: Point, size: Point, text: str = "", *, kind: str = "plain"
    ) -> Area:
        """An operation: a box with round corners; a bar parts the lines of its text."""
        x, y = at
        area = Area(x, y, *size)
        self._parts.append(
            f"<rect x='{x:g}' y='{y:g}' width='{size[0]:g}' height='{size[1]:g}' rx='7'"
            f" fill='{COLOURS[kind]}' stroke='{INK}' stroke-width='1.2'/>"
        )
        lines = text.split("|")
        top = area.left[1] - 8 * (len(lines) - 1)
        for number, line in enumerate(lines):
            self.text((area.top[0], top + 16 * number), line)
        return area

    def memory(self, at: Point, size: Point, title: str) -> Area:
        """A place where data lie: a grey box with its title in the upper edge."""
        x, y = at
        self._parts.append(
            f"<rect x='{x:g}' y='{y:g}' width='{size[0]:g}' height='{size[1]:g}'"
            f" fill='{COLOURS['memory']}' stroke='{INK}' stroke-dasharray='5 3'/>"
        )
        self.text((x + 10, y + 14), title, anchor="start", bold=True)
        return Area(x, y, *size)

    def bars(
        self,
        at: Point,
        rows: Iterable[tuple[str, Number, str]],
        *,
        width: Number,
        kind: str = "weight",
        step: Number = 24,
    ) -> None:
        """Amounts below one another: a name, a bar, a number.

        Args:
            at: where the bars begin on the left, and the upper edge of the first.
            rows: name, share of the full width (0 to 1), and what is written behind.
            width: of a bar with share 1.
            kind: one of `COLOURS`.
            step: from one row to the next.

        Raises:
            ValueError: a share is not between 0 and 1.
        """
        x, y = at
        for name, share, number in rows:
            if not 0 <= share <= 1:
                raise ValueError(f"share of {name!r}: {share}; need 0 to 1")
            self._parts.append(
                f"<rect x='{x:g}' y='{y:g}' width='{share * width:.4g}'"
                f" height='{step - 8:g}' fill='{COLOURS[kind]}' stroke='{INK}'"
                " stroke-width='0.8'/>"
            )
            middle = y + (step - 8) / 2
            self.text((x - 8, middle), name, size=12, anchor="end")
            self.text((x + share * width + 7, middle), number, size=12, anchor="start")
            y += step
        self.line((x, at[1] - 4), (x, y - 4), width=1.0)

    def line(self, start: Point, end: Point, *, width: Number = 1.2) -> None:
        """A straight line without a head."""
        self._parts.append(
            f"<line x1='{start[0]:g}' y1='{start[1]:g}' x2='{end[0]:g}'"
            f" y2='{end[1]:g}' stroke='{INK}' stroke-width='{width:g}'/>"
        )

    def arrow(
        self, start: Point, end: Point, text: str = "", *, bend: Number = 0.0
    ) -> None:
        """Data flow from one point to another one, with a text beside its middle.

        Args:
            start: where it begins.
            end: where its head is.
            text: above a level arrow, to the right of an upright one.
            bend: how far the middle lies to the left of the way, in pixels.
        """
        (x, y), (u, v) = start, end
        length = max(((u - x) ** 2 + (v - y) ** 2) ** 0.5, 1e-9)
        middle = (
            (x + u) / 2 + bend * (v - y) / length,
            (y + v) / 2 - bend * (u - x) / length,
        )
        control = (2 * middle[0] - (x + u) / 2, 2 * middle[1] - (y + v) / 2)
        self._parts.append(
            f"<path d='M {x:g} {y:g} Q {control[0]:g} {control[1]:g} {u:g} {v:g}'"
            f" fill='none' stroke='{INK}' stroke-width='1.4' marker-end='url(#head)'/>"
        )
        if text:
            is_level = abs(u - x) >= abs(v - y)
            place = (middle[0], middle[1] - 10) if is_level else middle
            anchor = "middle" if is_level else "start"
            shift = 0 if is_level else 7
            self.text((place[0] + shift, place[1]), text, size=11, anchor=anchor)

    def svg(self) -> str:
        """The whole picture."""
        head = (
            "<defs><marker id='head' viewBox='0 0 10 10' refX='9' refY='5'"
            " markerWidth='7' markerHeight='7' orient='auto-start-reverse'>"
            f"<path d='M 0 0 L 10 5 L 0 10 z' fill='{INK}'/></marker></defs>"
        )
        return (
            "<svg xmlns='http://www.w3.org/2000/svg' role='img'"
            f" width='{self.width:g}' height='{self.height:g}'"
            f" viewBox='0 0 {self.width:g} {self.height:g}' fill='{INK}' {FONT}>"
            f"<title>{escape(self.alt)}</title>{head}{''.join(self._parts)}</svg>"
        )

    def html(self) -> str:
        """The picture as one element; on a narrow screen it scrolls sideways."""
        style = f"{CARD};min-width:{min(self.width, LEAST_WIDTH):g}px"
        picture = image_element(
            self.svg().encode(), "svg+xml", alt=self.alt, width=self.width, style=style
        )
        return f'<div tabindex="0" style="overflow-x:auto">{picture}</div>'

    def show(self) -> None:
        """Displays it in a notebook, with its alt text."""
        display_picture(self.html(), self.alt)


def _with_shifts(text: str) -> str:
    """`x_1`, `h_{t-1}` and `K^T` with what follows the sign lowered and raised."""
    parts: list[str] = []
    back = 0.0
    for found in re.finditer(r"([_^])(\{[^}]*\}|.)|([^_^]+)", text):
        sign, shifted, level = found.groups()
        if sign:
            down = 0.3 if sign == "_" else -0.4
            parts.append(
                f"<tspan dy='{down + back:g}em' font-size='75%'>"
                f"{escape(shifted.strip('{}'))}</tspan>"
            )
            # The shift is in the small letter's em, and undone in the large one's.
            back = -0.75 * down
        else:
            dy = f" dy='{back:g}em'" if back else ""
            parts.append(f"<tspan{dy}>{escape(level)}</tspan>")
            back = 0.0
    return "".join(parts)
