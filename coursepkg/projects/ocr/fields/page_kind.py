"""What kind of page it is: one receipt, two, or none; and which ends of it are cut off.

Only a page that shows one receipt has fields; of the others a reason is told.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from coursepkg.projects.ocr.fields import keywords as kw
from coursepkg.projects.ocr.fields.lines import (
    FieldLine,
    amount_beside,
    reading_direction,
)

if TYPE_CHECKING:
    from coursepkg.projects.ocr.page.read import PageLine


def why_unreadable(lines: Sequence[FieldLine], *, is_receipt: bool = False) -> str:
    """Why a page has no fields at all; an empty text where it may have.

    Args:
        lines: of the page.
        is_receipt: whether it is known that the page shows one receipt.
    """
    if not lines:
        return "the page has no text"
    if is_receipt:
        return ""
    if not looks_like_receipt(lines):
        return (
            "the page does not look like a receipt: too few of a shop, a time, goods"
            " with prices and a sum"
        )
    if shows_two_receipts(lines):
        return "the page shows two receipts; give each its own picture"
    return ""


def looks_like_receipt(lines: Sequence[FieldLine]) -> bool:
    """Whether something was sold and two kinds of evidence say so, not official papers.

    Evidence: a sum with its amount (counts twice), a name of a sum without one, a title
    such as `Hóa đơn bán hàng`, prices in two rows, heads of columns, a shop on top, a
    time, an address among the first lines.

    Signs of a sale: the name of a sum or of a count of goods; a title and a price; an
    address, a date, and the time of day or a price; a shop, its address and one price.
    A business card has none of them, nor has a menu with its prices.
    """
    if _is_official(lines):
        return False
    kinds = {one.kind for one in lines}
    priced = {one.row for one in lines if one.has_price}
    sums = [one for one in lines if one.kind in (*kw.SUMS, kw.PAID, kw.CHANGE)]
    has_title = kw.TITLE in kinds
    has_date = any(one.has_date for one in lines)
    top = [one for one in lines if one.row < lines[0].row + 3]
    has_shop = any(kw.seller_words(one.text) for one in top)
    # `Số tiền` begins as `Số 12` does.
    first = [one for one in lines[:6] if one.row not in priced]
    has_address = any(kw.address_strength(one.text) >= kw.STRONG for one in first)
    evidence = (
        2 * any(one.row in priced for one in sums),
        bool(sums),
        has_title,
        len(priced) > 1,
        sum(one.kind == kw.COLUMN for one in lines) > 1,
        has_shop,
        has_date,
        has_address,
    )
    has_more = bool(priced) or any(one.has_time for one in lines)
    is_sale = (
        bool(sums) or kw.COUNT in kinds,
        has_title and bool(priced),
        has_address and has_date and has_more,
        has_address and has_shop and len(priced) == 1,
    )
    return any(is_sale) and sum(evidence) >= 2


def _is_official(lines: Sequence[FieldLine]) -> bool:
    """Whether words of official papers stand on a page.

    The national mottos stand on no receipt. Other words, such as `thông tư`, may stand
    on one: where a sum has an amount they count as the heading alone.
    """
    sums = [one for one in lines if one.kind in kw.SUMS]
    has_total = any(amount_beside(one, lines)[1] is not None for one in sums)
    top = [one for one in lines if one.row < lines[0].row + 3]
    kinds = (kw.MOTTO,) if has_total else (kw.MOTTO, kw.DOCUMENT)
    has_word = any(kw.find_words(one.text, kinds) for one in lines)
    return has_word or any(map(_is_document_heading, top))


def _is_document_heading(line: FieldLine) -> bool:
    """Whether a line is a word such as `hợp đồng`, and two others at most."""
    found = kw.find_words(line.text, (kw.DOCUMENT,))
    has_digit = any(map(str.isdigit, line.text))
    is_short = any(one.start == 0 and len(line.words) <= one.end + 2 for one in found)
    return is_short and not has_digit and ":" not in line.text


def shows_two_receipts(lines: Sequence[FieldLine]) -> bool:
    """Whether two receipts stand beside or above one another, or one is turned over.

    Side by side, two of these stand beside one another twice: titles, sums, heads of a
    column. Lines that stand on their heads and the other ones are each a receipt.
    """
    turned = [one for one in lines if one.is_turned]
    rest = [one for one in lines if not one.is_turned]
    if turned and rest and looks_like_receipt(turned) and looks_like_receipt(rest):
        return True
    named = [one for one in lines if one.kind in kw.SUMS]
    sums = [one for one in named if amount_beside(one, lines)[1] is not None]
    titles = [one for one in lines if one.kind == kw.TITLE]
    columns = [one for one in lines if one.kind == kw.COLUMN]
    heads = [
        [one for one in columns if one.words == words]
        for words in {one.words for one in columns}
    ]
    groups = ([titles], [sums], heads)
    twice = [any(map(_stand_beside, group)) for group in groups]
    return sum(twice) > 1 or _stand_above(lines, sums)


def _stand_above(lines: Sequence[FieldLine], sums: Sequence[FieldLine]) -> bool:
    """Whether a second receipt begins below the goods or a sum of a first one.

    It begins with a title, a shop or an address, and then a date or the heads of
    columns. Between two sums that is enough; below goods alone or without a second sum,
    the date is another one, and a price stands below it.

    Args:
        lines: of the page.
        sums: lines that name a sum with an amount.
    """
    priced = [one.row for one in lines if one.has_price]
    if not priced:
        return False
    begins = [
        one.row
        for one in lines
        if one.row > priced[0] and one.row not in priced and _begins_receipt(one)
    ]
    dates = {one.row: one.day for one in lines if one.day and one.says_when}
    columns = {one.row for one in lines if one.kind == kw.COLUMN}
    for begin in begins:
        is_between = bool(sums) and sums[0].row < begin < sums[-1].row
        if is_between and any(begin < row < sums[-1].row for row in (*dates, *columns)):
            return True
        first = {day for row, day in dates.items() if row < begin}
        others = [row for row, day in dates.items() if row > begin and day not in first]
        if first and others and others[0] < priced[-1]:
            return True
    return False


def _begins_receipt(line: FieldLine) -> bool:
    """Whether a line is a title, or names a shop or an address."""
    is_place = kw.seller_words(line.text) or kw.address_strength(line.text) >= kw.NAMED
    return line.kind == kw.TITLE or bool(line.may_be_head and is_place)


def _stand_beside(lines: Sequence[FieldLine]) -> bool:
    """Whether two of some lines stand in about one row, without an overlap."""
    return any(
        abs(one.row - other.row) <= 1 and one.overlap(other) == 0
        for one, other in combinations(lines, 2)
    )


UPPER, LOWER = "upper", "lower"
AT_EDGE = 1.0
"""A line whose box comes so near to the edge of the picture, in pixels, touches it. The
detector clips its boxes there, and they reach beyond the ink."""


def cut_lines(
    lines: "Sequence[PageLine]", size: tuple[int, int]
) -> dict[str, frozenset[int]]:
    """Numbers of the lines that the `UPPER` and the `LOWER` edge of the picture cut.

    Upper is where the text begins as it is read. Where the picture ends between two
    lines, nothing tells that more stood on the paper, and no line is cut.

    Args:
        lines: of the page, in reading order.
        size: width and height of the picture in pixels.
    """
    if not lines:
        return dict.fromkeys((UPPER, LOWER), frozenset())
    x, y = reading_direction(lines)
    sides = np.array([(-1, 0), (0, -1), (1, 0), (0, 1)])  # outward, clockwise from left
    lower = int(np.argmax(sides @ (-y, x)))
    reach = np.stack([line.box.corners for line in lines]) @ sides.T  # (N, 4, sides)
    ends = np.array([0, 0, *size])
    touching = reach.max(axis=1) >= ends - AT_EDGE
    numbers = [frozenset(np.flatnonzero(side).tolist()) for side in touching.T]
    return {UPPER: numbers[lower - 2], LOWER: numbers[lower]}


CLIPPED = 0.85
"""Height of a line over the usual one, below which a part of its letters is missing."""


def cut_edges(
    page_lines: "Sequence[PageLine]",
    lines: Sequence[FieldLine],
    size: tuple[int, int],
) -> dict[str, frozenset[int]]:
    """The `cut_lines`; none at the upper edge where the top of a receipt is whole.

    A picture may end right above the shop. It does where a title stands below the lines
    that touch its edge and above the prices, and none of these lines is `CLIPPED`.

    Args:
        page_lines: of the page, in reading order.
        lines: the same lines, see `as_field_lines`.
        size: width and height of the picture in pixels.
    """
    cut = cut_lines(page_lines, size)
    touching = [lines[number] for number in cut[UPPER]]
    if not touching:
        return cut
    last = max(one.row for one in touching)
    prices = [one.row for one in lines if one.has_price]
    titles = [one.row for one in lines if one.kind == kw.TITLE]
    is_titled = any(last < row < min(prices, default=row + 1) for row in titles)
    x, y = reading_direction(page_lines)
    down = np.stack([line.box.corners for line in page_lines]) @ (-y, x)
    heights = np.abs(down @ (-0.5, -0.5, 0.5, 0.5))
    least = CLIPPED * np.median(heights)
    is_whole = all(heights[one.number] >= least for one in touching)
    return {**cut, UPPER: frozenset()} if is_titled and is_whole else cut
