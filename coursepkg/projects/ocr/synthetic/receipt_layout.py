"""A receipt as it comes out of the printer: head, time, goods in columns, totals and footer, and where each line is."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from coursepkg.projects.ocr.synthetic import receipt_text
from coursepkg.projects.ocr.synthetic.fonts import Face
from coursepkg.projects.ocr.synthetic.glyphs import LineStyle, width_of, write
from coursepkg.projects.ocr.synthetic.words import digits, either, word
from coursepkg.text.vietnamese import without_marks

PAPER = 640
"""Width of the paper in pixels."""
GOODS = ("Mặt hàng", "Tên hàng", "Tên món", "Hàng hóa")
SUMS = ("Tổng tiền", "Tổng cộng", "TỔNG CỘNG", "Tổng tiền thanh toán", "Thanh toán", "Thành tiền")


@dataclass(frozen=True)
class PrintedLine:
    """One text on the paper."""

    text: str
    label: str
    """SELLER, ADDRESS, TIMESTAMP or TOTAL_COST; empty for what MC-OCR leaves without annotation."""
    box: tuple[int, int, int, int]
    """Left, top, right, bottom of its ink, in pixels of the paper."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """A printed receipt."""

    image: np.ndarray
    """uint8 (height, PAPER), black on white."""
    lines: tuple[PrintedLine, ...]
    """Every text on it, from top to bottom."""


@dataclass
class _Printer:
    """Where the next row goes."""

    canvas: np.ndarray
    style: LineStyle
    plain: bool
    y: int
    lines: list[PrintedLine]

    def row(self, *pieces: tuple[str, float, float], label: str = "", scale: float = 1.0) -> None:
        """Prints texts on one baseline.

        Args:
            pieces: each a text, the share of the paper's width where it is fastened, and the share of itself that
                lies left of that place: 0 for its left end, 0.5 for its middle, 1 for its right end.
            label: of all of them.
            scale: size over the usual size.
        """
        style = replace(self.style, size=round(self.style.size * scale))
        self.y += round(style.size * 1.35)
        for text, place, anchor in pieces:
            text = self._fitting(text, style)
            pen = round(PAPER * place - width_of(text, style) * anchor)
            box = write(self.canvas, text, style, (min(max(pen, 8), PAPER - 8), self.y))
            self.lines.append(PrintedLine(text, label, box))

    def _fitting(self, text: str, style: LineStyle) -> str:
        text = without_marks(text) if self.plain else text
        text = "".join(c for c in text if c in style.face.characters)
        while width_of(text, style) > PAPER * 0.94 and " " in text:
            text = text.rpartition(" ")[0]
        return text

    def rule(self, sign: str) -> None:
        """A line across the paper that is no text."""
        self.y += round(self.style.size * 0.9)
        step = {"-": 9, ".": 5, "=": 12}[sign]
        for x in range(24, PAPER - 24, step):
            self.canvas[self.y : self.y + 2, x : x + max(2, step - 4)] = 255
        self.y += self.style.size // 4

    def bars(self, dice: random.Random) -> None:
        """A bar code without a meaning."""
        self.y += self.style.size
        x = PAPER // 4
        while x < PAPER * 3 // 4:
            wide = dice.randint(1, 5)
            self.canvas[self.y : self.y + 60, x : x + wide] = 255
            x += wide + dice.randint(2, 6)
        self.y += 70


def lay_out(dice: random.Random, faces: Sequence[Face]) -> Sheet:
    """A receipt of one shop, in one face.

    Args:
        dice: where chance comes from.
        faces: to choose from; an incomplete face prints without marks.
    """
    face = dice.choice(tuple(faces))
    style = LineStyle(face=face, size=dice.randint(21, 27), tracking=dice.choice((0, 0, 0, 1)))
    plain = not face.is_complete or dice.random() < 0.15
    printer = _Printer(np.zeros((2600, PAPER), np.uint8), style, plain, dice.randint(10, 60), [])
    _head(printer, dice)
    write_money = _money_writer(dice)
    _totals(printer, dice, write_money, _goods(printer, dice, write_money))
    for _ in range(dice.randint(0, 3)):
        printer.row((receipt_text.footer(dice), 0.5, 0.5), scale=dice.choice((0.9, 1.0)))
    if dice.random() < 0.3:
        printer.bars(dice)
    height = printer.y + dice.randint(30, 90)
    return Sheet(255 - printer.canvas[:height], tuple(printer.lines))


def _head(printer: _Printer, dice: random.Random) -> None:
    for _ in range(dice.choice((1, 1, 2))):
        printer.row((receipt_text.shop(dice), 0.5, 0.5), label="SELLER", scale=dice.uniform(1.1, 1.5))
    for _ in range(dice.choice((1, 1, 2, 3))):
        printer.row((receipt_text.address(dice), 0.5, 0.5), label="ADDRESS")
    if dice.random() < 0.6:
        printer.row((f"{either(dice, 'ĐT', 'Tel', 'Hotline')}: {receipt_text.phone(dice)}", 0.5, 0.5))
    printer.y += printer.style.size // 2
    printer.row((word(dice, "title"), 0.5, 0.5), scale=1.2)
    printer.row((receipt_text.timestamp(dice), 0.04, 0.0), label="TIMESTAMP")
    for _ in range(dice.randint(0, 3)):
        printer.row((receipt_text.field(dice), 0.04, 0.0))


def _goods(printer: _Printer, dice: random.Random, write_money: Callable[[int], str]) -> int:
    """Prints the goods and gives their sum in đồng."""
    sign, total = dice.choice("-.="), 0
    printer.rule(sign)
    printer.row(
        (either(dice, *GOODS), 0.04, 0.0), ("SL", 0.46, 1.0), ("Đ.Giá", 0.7, 1.0), ("T.Tiền", 0.96, 1.0)
    )
    printer.rule(sign)
    for number in range(dice.randint(1, 9)):
        name = dice.choice((str, str.upper))(word(dice, "item"))
        printer.row((f"{number + 1}. {name}" if dice.random() < 0.3 else name, 0.04, 0.0))
        count, price = dice.randint(1, 12), dice.randint(1, 400) * 500
        total += count * price
        pieces = [
            (str(count), 0.46, 1.0),
            (write_money(price), 0.7, 1.0),
            (write_money(count * price), 0.96, 1.0),
        ]
        if dice.random() < 0.4:
            pieces.insert(0, (digits(dice, 9), 0.04, 0.0))
        printer.row(*pieces)
    printer.rule(sign)
    return total


def _totals(printer: _Printer, dice: random.Random, write_money: Callable[[int], str], total: int) -> None:
    scale = dice.choice((1.0, 1.0, 1.2))
    amount = (write_money(total), 0.96, 1.0)
    printer.row((f"{either(dice, *SUMS)}:", 0.04, 0.0), amount, label="TOTAL_COST", scale=scale)
    for _ in range(dice.randint(0, 3)):
        printer.row((word(dice, "total"), 0.04, 0.0), (write_money(dice.randint(1, 200) * 5000), 0.96, 1.0))
    printer.rule(dice.choice("-.="))


def _money_writer(dice: random.Random) -> Callable[[int], str]:
    """One way of writing amounts for all of a receipt."""
    comma, tail = dice.choice(".,"), dice.choice(("", "", "", "đ", " đ"))
    return lambda amount: f"{amount:,}".replace(",", comma) + tail
