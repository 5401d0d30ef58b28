"""The paper of a receipt: what is printed where, before any camera sees it.

A pixel is a dot of a thermal printer: 8 a millimetre, so that `PAPER` is 80 mm wide.
"""

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from coursepkg.projects.ocr.synthetic import receipt_text
from coursepkg.projects.ocr.synthetic.fonts import (
    Face,
    LineStyle,
    place,
    width_of,
    write,
)
from coursepkg.projects.ocr.synthetic.receipt_config import ReceiptConfig, happens
from coursepkg.projects.ocr.synthetic.receipt_text import digits, either, word
from coursepkg.projects.ocr.synthetic.render import strike_pins
from coursepkg.projects.ocr.synthetic.wear import missing_dots
from coursepkg.text.vietnamese import without_marks

PAPER = 640
"""Width of the paper in pixels."""
PIN_PITCH = 3
"""Distance of the pins of a dot matrix printer: 1/72 inch is 2.8 pixels."""
GOODS = ("Mặt hàng", "Tên hàng", "Tên món", "Hàng hóa")
SUMS = (
    *("Tổng tiền", "Tổng cộng", "TỔNG CỘNG"),
    *("Tổng tiền thanh toán", "Thanh toán", "Thành tiền"),
)
BEFORE_DISCOUNT = ("Tạm tính", "Cộng tiền hàng", "Tiền hàng")
DISCOUNTS = ("Giảm giá", "Chiết khấu", "Khuyến mãi", "Tiền giảm")
AFTER_DISCOUNT = (*SUMS[:5], "Phải thanh toán", "Khách phải trả", "Tổng thanh toán")
PAID = ("Tiền khách đưa", "Khách đưa", "Tiền mặt", "Tiền khách trả")
CHANGE = ("Tiền thừa", "Trả lại khách", "Tiền thối lại")
BY_CARD = ("Chuyển khoản", "Thẻ ngân hàng", "Quẹt thẻ")
NOTES = (10_000, 20_000, 50_000, 100_000, 500_000)
"""Banknotes that a customer pays with, in dong."""


@dataclass(frozen=True)
class PrintedLine:
    """One text on the paper."""

    text: str
    label: str
    """SELLER, ADDRESS, TIMESTAMP or TOTAL_COST; empty for what MC-OCR leaves without
    annotation."""
    box: tuple[int, int, int, int]
    """Left, top, right, bottom of its ink, in pixels of the paper."""
    words: tuple[tuple[int, int], ...]
    """Left and right of each word, in pixels of the paper."""


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
    is_fitting: bool = False
    """Whether a row is printed smaller where its texts would overlap. The usual
    receipts are not, so that they stay as they always were."""

    def row(
        self, *pieces: tuple[str, float, float], label: str = "", scale: float = 1.0
    ) -> None:
        """Prints texts on one baseline.

        Args:
            pieces: each a text, the share of the paper's width where it is fastened,
                and the share of itself that lies left of that place: 0 for its left
                end, 0.5 for its middle, 1 for its right end.
            label: of all of them.
            scale: size over the usual size.
        """
        if self.is_fitting:
            scale = min(scale, self._largest_scale(pieces))
        style = replace(self.style, size=round(self.style.size * scale))
        self.y += round(style.size * 1.35)
        for text, at, anchor in pieces:
            text = self._fitting(text, style)
            pen = round(PAPER * at - width_of(text, style) * anchor)
            pen = min(max(pen, 8), PAPER - 8)
            box = write(self.canvas, text, style, (pen, self.y))
            words = tuple(
                (pen + left, pen + right)
                for left, right in place(text, style, random.Random(0))[1]
                if left < right
            )
            self.lines.append(PrintedLine(text, label, box, words))

    def _largest_scale(self, pieces: Sequence[tuple[str, float, float]]) -> float:
        """The scale at which half a letter's height is left between texts of a row."""
        scale = math.inf
        for (text, at, anchor), (following, end, other) in pairwise(pieces):
            right = width_of(self._printable(text, self.style), self.style)
            left = width_of(self._printable(following, self.style), self.style)
            needed = right * (1 - anchor) + left * other + self.style.size / 2
            scale = min(scale, PAPER * (end - at) / needed)
        return scale

    def _fitting(self, text: str, style: LineStyle) -> str:
        return _cut(self._printable(text, style), style, 0.94)

    def _printable(self, text: str, style: LineStyle) -> str:
        text = without_marks(text) if self.plain else text
        return "".join(c for c in text if c in style.face.characters)

    def cut(self, text: str, share: float) -> str:
        """The first words of a text, or letters of one, in a share of the width."""
        text = _cut(self._printable(text, self.style), self.style, share)
        while width_of(text, self.style) > PAPER * share:
            text = text[:-1]
        return text

    def pair(self, name: str, amount: str, label: str = "", scale: float = 1.0) -> None:
        """Prints a name and its amount in a row, smaller where both are too long."""
        both = width_of(self._printable(f"{name}  {amount}", self.style), self.style)
        scale = min(scale, PAPER * 0.9 / both)
        pieces = (name, 0.04, 0.0), (amount, 0.96, 1.0)
        self.row(*pieces, label=label, scale=scale)

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


def _cut(text: str, style: LineStyle, share: float) -> str:
    """A text without its last words, as far as it must fit a share of the width."""
    while width_of(text, style) > PAPER * share and " " in text:
        text = text.rpartition(" ")[0]
    return text


@dataclass(frozen=True)
class Layout:
    """Where the parts of a receipt stand."""

    is_centred: bool = True
    """Whether shop and address stand in the middle, else at the left."""
    is_dated_at_foot: bool = False
    """Whether the time stands below the sums."""
    goods: str = "two rows"
    """`two rows`: the name, then code, count, price, amount. `one row`: all of it side
    by side. `times`: the name, then count x price and amount."""


def lay_out(
    dice: random.Random, faces: Sequence[Face], config: ReceiptConfig | None = None
) -> Sheet:
    """A receipt of one shop, in one face.

    Args:
        dice: where chance comes from.
        faces: to choose from; an incomplete face prints without marks.
        config: how often layout, sums and print are other than usual.
    """
    config = config or ReceiptConfig()
    is_struck = happens(dice, config.dot_matrix)
    if is_struck:
        faces = [one for one in faces if "Mono" in one.family] or faces
    face = dice.choice(tuple(faces))
    # A capital letter has seven pins.
    sizes = (30, 33) if is_struck else (21, 27)
    style = LineStyle(
        face=face, size=dice.randint(*sizes), tracking=dice.choice((0, 0, 0, 1))
    )
    plain = not face.is_complete or dice.random() < 0.15 or is_struck
    layout = Layout(goods="times") if is_struck else Layout()
    if happens(dice, config.layout):
        layout = Layout(
            is_centred=dice.random() < 0.5,
            is_dated_at_foot=dice.random() < 0.4,
            goods=either(dice, "one row", "times") if not is_struck else "times",
        )
    printer = _Printer(
        np.zeros((2600, PAPER), np.uint8),
        style,
        plain,
        dice.randint(10, 60),
        [],
        is_fitting=config.layout > 0,
    )
    is_valid_date = happens(dice, config.valid_dates)
    is_agreeing = happens(dice, config.sums) or is_struck
    _head(printer, dice, layout)
    if not layout.is_dated_at_foot:
        _time(printer, dice, is_valid_date)
    for _ in range(dice.randint(0, 3)):
        printer.row((receipt_text.field(dice), 0.04, 0.0))
    write_money = _money_writer(dice)
    goods = _goods(printer, dice, write_money, layout)
    (_sale if is_agreeing else _totals)(printer, dice, write_money, goods)
    if layout.is_dated_at_foot:
        _time(printer, dice, is_valid_date)
    for _ in range(dice.randint(0, 3)):
        printer.row(
            (receipt_text.footer(dice), 0.5, 0.5), scale=dice.choice((0.9, 1.0))
        )
    if dice.random() < 0.3:
        printer.bars(dice)
    height = printer.y + dice.randint(30, 90)
    ink = printer.canvas[:height]
    if is_struck:
        ink = strike_pins(ink, PIN_PITCH)
    elif happens(dice, config.missing_dots):
        ink = missing_dots(ink, np.random.default_rng(dice.getrandbits(32)))
    return Sheet(255 - ink, tuple(printer.lines))


def _head(printer: _Printer, dice: random.Random, layout: Layout) -> None:
    place = (0.5, 0.5) if layout.is_centred else (0.04, 0.0)
    for _ in range(dice.choice((1, 1, 2))):
        printer.row(
            (receipt_text.shop(dice), *place),
            label="SELLER",
            scale=dice.uniform(1.1, 1.5),
        )
    for _ in range(dice.choice((1, 1, 2, 3))):
        printer.row((receipt_text.address(dice), *place), label="ADDRESS")
    if dice.random() < 0.6:
        name = either(dice, "ĐT", "Tel", "Hotline")
        printer.row((f"{name}: {receipt_text.phone(dice)}", *place))
    printer.y += printer.style.size // 2
    printer.row((word(dice, "title"), 0.5, 0.5), scale=1.2)


def _time(printer: _Printer, dice: random.Random, is_valid_date: bool) -> None:
    text = receipt_text.timestamp(dice, is_valid=is_valid_date)
    printer.row((text, 0.04, 0.0), label="TIMESTAMP")


def _goods(
    printer: _Printer,
    dice: random.Random,
    write_money: Callable[[int], str],
    layout: Layout,
) -> int:
    """Prints the goods and gives their sum in đồng."""
    sign, total = dice.choice("-.="), 0
    is_one_row = layout.goods == "one row"
    ends = (0.42, 0.67, 0.96) if is_one_row else (0.46, 0.7, 0.96)
    printer.rule(sign)
    if layout.goods != "times":
        heads = zip(("SL", "Đ.Giá", "T.Tiền"), ends, strict=True)
        pieces = [(text, end, 1.0) for text, end in heads]
        printer.row((either(dice, *GOODS), 0.04, 0.0), *pieces)
        printer.rule(sign)
    for number in range(dice.randint(1, 9)):
        name = dice.choice((str, str.upper))(word(dice, "item"))
        name = f"{number + 1}. {name}" if dice.random() < 0.3 else name
        if not is_one_row:
            printer.row((name, 0.04, 0.0))
        count, price = dice.randint(1, 12), dice.randint(1, 400) * 500
        total += count * price
        amount = write_money(count * price)
        if layout.goods == "times":
            printer.pair(f"{count} x {write_money(price)}", amount)
            continue
        numbers = zip((str(count), write_money(price), amount), ends, strict=True)
        pieces = [(text, end, 1.0) for text, end in numbers]
        if is_one_row:
            pieces.insert(0, (printer.cut(name, 0.32), 0.04, 0.0))
        elif dice.random() < 0.4:
            pieces.insert(0, (digits(dice, 9), 0.04, 0.0))
        printer.row(*pieces, scale=0.85 if is_one_row else 1.0)
    printer.rule(sign)
    return total


def _totals(
    printer: _Printer,
    dice: random.Random,
    write_money: Callable[[int], str],
    total: int,
) -> None:
    scale = dice.choice((1.0, 1.0, 1.2))
    amount = (write_money(total), 0.96, 1.0)
    printer.row(
        (f"{either(dice, *SUMS)}:", 0.04, 0.0), amount, label="TOTAL_COST", scale=scale
    )
    for _ in range(dice.randint(0, 3)):
        printer.row(
            (word(dice, "total"), 0.04, 0.0),
            (write_money(dice.randint(1, 200) * 5000), 0.96, 1.0),
        )
    printer.rule(dice.choice("-.="))


def _sale(
    printer: _Printer,
    dice: random.Random,
    write_money: Callable[[int], str],
    goods: int,
) -> None:
    """Prints sums that agree: goods - discount = total = paid - change."""
    total, names = goods, list(SUMS)
    if goods >= 2000 and dice.random() < 0.6:
        discount = max(500, goods * dice.choice((5, 10, 15, 20)) // 100 // 500 * 500)
        total, names = goods - discount, list(AFTER_DISCOUNT)
        printer.pair(f"{either(dice, *BEFORE_DISCOUNT)}:", write_money(goods))
        less = either(dice, "", "-") + write_money(discount)
        printer.pair(f"{either(dice, *DISCOUNTS)}:", less)
    scale = dice.choice((1.0, 1.0, 1.2))
    name, amount = f"{either(dice, *names)}:", write_money(total)
    printer.pair(name, amount, label="TOTAL_COST", scale=scale)
    if dice.random() < 0.7:
        note = dice.choice(NOTES)
        paid = -(-total // note) * note
        printer.pair(f"{either(dice, *PAID)}:", write_money(paid))
        printer.pair(f"{either(dice, *CHANGE)}:", write_money(paid - total))
    elif dice.random() < 0.5:
        printer.pair(f"{either(dice, *BY_CARD)}:", write_money(total))
    printer.rule(dice.choice("-.="))


def _money_writer(dice: random.Random) -> Callable[[int], str]:
    """One way of writing amounts for all of a receipt."""
    comma, tail = dice.choice(".,"), dice.choice(("", "", "", "đ", " đ"))
    return lambda amount: f"{amount:,}".replace(",", comma) + tail
