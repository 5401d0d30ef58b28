"""What a page shows: one receipt, two, or none; its head; which ends are cut off.

Only a page that shows one receipt has fields; of the others a reason is told.
"""

import re
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np

from coursepkg.projects.ocr.fields import keywords as kw
from coursepkg.projects.ocr.fields.lines import (
    LEAST_SUM,
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
    A business card has none of them, nor has a menu with its prices. What stands in a
    line of contacts, such as a telephone number, is no price.
    """
    if _is_official(lines):
        return False
    kinds = {one.kind for one in lines}
    priced = {one.row for one in lines if one.has_price and one.kind != kw.CONTACT}
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
    end = _first_price(lines)
    above = [one for one in lines if one.row < end]
    is_headed = any(map(_is_document_heading, top)) or any(map(_heads_other, above))
    return has_word or is_headed


def _is_document_heading(line: FieldLine) -> bool:
    """Whether a line is a word such as `hợp đồng`, and two others at most."""
    found = kw.find_words(line.text, (kw.DOCUMENT,))
    has_digit = any(map(str.isdigit, line.text))
    is_short = any(one.start == 0 and len(line.words) <= one.end + 2 for one in found)
    return is_short and not has_digit and ":" not in line.text


OTHER_PAPERS = (
    *("sao kê", "bảng giá", "báo giá", "phiếu lương", "bảng lương", "đơn đặt hàng"),
    *("thông báo", "chuyển khoản thành công", "chuyển tiền thành công"),
)
"""First words of headings of papers with sums that are no receipts."""
_NAMES_TOO = frozenset({"báo giá", "thông báo"})
"""Those that are names of shops without their marks, as `Bảo Gia`."""


def _heads_other(line: FieldLine) -> bool:
    """Whether a line is one of `OTHER_PAPERS`, and three other words at most."""
    marked = re.findall(r"\w+", line.text.casefold())
    for name in OTHER_PAPERS:
        size = name.count(" ") + 1
        is_plain = name not in _NAMES_TOO and line.words[:size] == tuple(
            kw.fold(name).split()
        )
        if is_plain or marked[:size] == name.split():
            return len(line.words) <= size + 3 and ":" not in line.text
    return False


def priced_rows(lines: Sequence[FieldLine]) -> list[int]:
    """Rows of prices, from top to bottom: of marked ones, or else of plain amounts."""
    marked = [one.row for one in lines if one.has_price]
    return marked or [
        one.row
        for one in lines
        if one.is_amount and any(abs(other.value) >= LEAST_SUM for other in one.amounts)
    ]


def _first_price(lines: Sequence[FieldLine]) -> int:
    """The first of the `priced_rows`; without any, the row below the page."""
    return min(priced_rows(lines), default=lines[-1].row + 1)


def shows_two_receipts(lines: Sequence[FieldLine]) -> bool:
    """Whether two receipts stand beside or above one another, or one is turned.

    Lines that stand on their heads and the other ones are each a receipt.
    """
    turned = [one for one in lines if one.is_turned]
    rest = [one for one in lines if not one.is_turned]
    if turned and rest and looks_like_receipt(turned) and looks_like_receipt(rest):
        return True
    across = [one for one in lines if _runs_across(one)]
    along = [one for one in lines if not _runs_across(one)]
    named = [one for one in lines if one.kind in kw.SUMS]
    sums = [one for one in named if amount_beside(one, lines)[1] is not None]
    is_divided = _are_two(across, along) or _stand_beside(lines)
    return is_divided or _stand_above(lines, sums)


def _runs_across(line: FieldLine) -> bool:
    """Whether a line of some letters runs across the reading direction."""
    is_tall = line.bottom - line.top > 1.5 * (line.right - line.left)
    return is_tall and len(line.text) > 3


def _stand_beside(lines: Sequence[FieldLine]) -> bool:
    """Whether an empty gap from the top of the page to its end parts two receipts."""
    ordered = sorted(lines, key=lambda one: one.left)
    reach = ordered[0].right
    for number, one in enumerate(ordered):
        if one.left > reach and _are_two(ordered[:number], ordered[number:]):
            return True
        reach = max(reach, one.right)
    return False


def _are_two(lines: Sequence[FieldLine], others: Sequence[FieldLine]) -> bool:
    """Whether each of two parts of a page has three signs of a receipt of its own.

    A date or the name of a sum is in both; one receipt has its sums in one column.
    """
    signs, other_signs = _signs(lines), _signs(others)
    is_shared = bool({"date", "sum"} & signs & other_signs)
    return is_shared and min(len(signs), len(other_signs)) >= 3


def _signs(lines: Sequence[FieldLine]) -> set[str]:
    """What some lines have of a receipt; a head of a column is no sum."""
    columns = {one.row for one in lines if one.kind == kw.COLUMN}
    found = {
        "date": any(one.has_date for one in lines),
        "address": any(kw.address_strength(one.text) >= kw.STRONG for one in lines),
        "sum": any(one.kind in kw.SUMS and one.row not in columns for one in lines),
        "price": bool(priced_rows(lines)),
        "title": any(one.kind == kw.TITLE for one in lines),
        "shop": any(kw.seller_words(one.text) for one in lines),
    }
    return {name for name, is_there in found.items() if is_there}


def _stand_above(lines: Sequence[FieldLine], sums: Sequence[FieldLine]) -> bool:
    """Whether a second receipt begins below the goods or a sum of a first one.

    It begins with a title, a shop or an address, and then a date or the heads of
    columns. Between two sums that is enough; below goods alone or without a second sum,
    the date is another one, and a price stands below it, or all of a head stands below
    a sum (`_has_head`).

    Args:
        lines: of the page.
        sums: lines that name a sum with an amount.
    """
    priced = priced_rows(lines)
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
        if sums and sums[0].row < begin and _has_head(lines, begin):
            return True
        first = {day for row, day in dates.items() if row < begin}
        others = [row for row, day in dates.items() if row > begin and day not in first]
        if first and others and others[0] < priced[-1]:
            return True
    return False


_NO_TITLE = re.compile(
    r"(?:hinh|phuong) thuc|thoi gian|khong co|hoa don (?:dien tu|gtgt)\b"
)
_NO_GOODS = (*kw.MONEY, kw.CONTACT, kw.NOTHING, kw.NO_SALE)


def _has_head(lines: Sequence[FieldLine], begin: int) -> bool:
    """Whether a title, a shop or an address, a date and goods stand from a row on.

    The date stands between the others and the goods: two prices, perhaps in one row, or
    one below the heads of columns. A foot may have such words as well: there the title
    is part of a sentence, and a price is of a sum or alone, as in `Phí gửi xe 5.000`.
    """
    below = [one for one in lines if one.row >= begin]
    dated = [one.row for one in below if one.day and one.says_when]
    if not dated:
        return False
    head = [one for one in below if one.row < dated[0] and _begins_receipt(one)]
    is_titled = any(one.kind == kw.TITLE and _is_title(one) for one in head)
    is_placed = any(one.kind != kw.TITLE for one in head)
    other = {one.row for one in below if one.kind in _NO_GOODS}
    rows = {row for row in priced_rows(below) if row > dated[0] and row not in other}
    n_prices = sum(len(one.amounts) for one in below if one.row in rows)
    has_columns = any(one.kind == kw.COLUMN and one.row > dated[0] for one in below)
    is_sold = n_prices > 1 or (n_prices == 1 and has_columns)
    return is_titled and is_placed and is_sold


def _is_title(line: FieldLine) -> bool:
    """Whether a line is a title such as `Hóa đơn`, and two other words at most."""
    is_short = len(line.words) <= line.kind_end + 2
    return is_short and not _NO_TITLE.match(" ".join(line.words))


def _begins_receipt(line: FieldLine) -> bool:
    """Whether a line is a title, or names a shop or an address."""
    is_place = kw.seller_words(line.text) or kw.address_strength(line.text) >= kw.NAMED
    return line.kind == kw.TITLE or bool(line.may_be_head and is_place)


CUSTOMER_NAMES = frozenset(
    {"khach hang", "ten khach hang", "ten khach", "khach", "nguoi mua", "nguoi nhan"}
    | {"giao den", "giao toi", "giao cho", "nguoi mua hang", "dia chi giao hang"}
)
"""Words before a colon that announce a customer or where goods are brought."""
# `Mã đơn: K4092`, `1. Trà sữa`, `STK 1073797762`, `Bàn 5`
_CODE = re.compile(r"[^:\d]{1,20}:\s*(?=\S*\d)\S{1,14}")
_NUMBERED = re.compile(r"\d{1,2}[.)]\s*[^\W\d].*")
_ACCOUNT = re.compile(r"(?:so tk|stk|so tai khoan|tai khoan)\b.*\d")
_TABLE = re.compile(r"(?:ban|phong|table|room)(?: so| no)? ?[a-z]?\d{1,3}")


def customer_rows(lines: Sequence[FieldLine]) -> list[int]:
    """Rows that announce a customer, not the shop, with a colon or without.

    `Khách hàng` alone in the first row does not: it says whose copy a receipt is.
    """
    found = [
        one for one in lines if kw.fold(one.text.partition(":")[0]) in CUSTOMER_NAMES
    ]
    first = [one for one in lines if one.row == lines[0].row]
    is_copy = len(first) == 1 and ":" not in first[0].text
    return [one.row for one in found if not (is_copy and one is first[0])]


def is_entry(line: FieldLine) -> bool:
    """Whether a line is a code with its name, numbered goods, a table, or one letter.

    The code of a shop, as `Siêu thị: VM12`, is its name.
    """
    text = line.text
    has_letters = len({one for one in text.casefold() if one.isalpha()}) > 1
    is_code = _CODE.fullmatch(text) and not kw.seller_words(text.partition(":")[0])
    is_code = (is_code or _NUMBERED.fullmatch(text)) and not kw.names_address(text)
    words = " ".join(line.words)
    is_other = _ACCOUNT.match(words) or _TABLE.fullmatch(words)
    return bool(is_code or is_other) or not has_letters


# `Liên 1: Lưu` is a copy of a receipt, `Mua 2 tặng 1` an offer; `tầng` is a floor.
_COPY = re.compile(r"lien \d\b")
_OFFER = re.compile(r"(?i:\bmua\b.*\btặng\s+\d)|\bMUA\s+\d+\b.*\bTANG\s+\d")


def _is_slogan(line: FieldLine) -> bool:
    """Whether a line says whose copy a receipt is, calls out or makes an offer.

    The name of a shop or an address does not; behind `tại` it is where to buy.
    """
    is_shop = kw.seller_words(re.split(r"(?i)\btại\b", line.text)[0]) > 0
    if is_shop or kw.address_strength(line.text) >= kw.NAMED:
        return False
    is_offer = _OFFER.search(line.text) or _COPY.match(" ".join(line.words))
    return line.text.endswith("!") or bool(is_offer)


def without_slogans(head: Sequence[FieldLine]) -> list[FieldLine]:
    """The lines of a head without slogans before the first line that names a shop."""
    plain = [one for one in head if not _is_slogan(one)]
    named = [one.number for one in plain if kw.seller_words(one.text)]
    first = min(named, default=-1)
    return [one for one in head if one in plain or one.number > first]


def head_of(
    lines: Sequence[FieldLine], used: Collection[int], moment: Collection[int]
) -> list[FieldLine]:
    """The lines that may name the shop and its place: above the goods and the sums.

    They end above the title and the time as well, unless these stand on top of all. A
    house number, as in `890B Đ. Lê Lợi`, is no price.

    Args:
        lines: of the page.
        used: numbers of lines that say something else.
        moment: numbers of the lines that say when.
    """
    priced = [one for one in lines if one.has_price and one.number not in used]
    goods = [one.row for one in priced if kw.address_strength(one.text) < kw.STRONG]
    goods += [one.row for one in lines if one.kind in (kw.COLUMN, *kw.SUMS)]
    end = min(goods, default=lines[-1].row + 1)
    # What stands below a customer's name is not the shop's.
    end = min([end, *customer_rows(lines)])
    head = [
        one
        for one in lines
        if one.row < end and one.number not in used and one.may_be_head
    ]
    head = [
        one
        for one in head
        if not is_entry(one) or kw.fold(one.text.partition(":")[0]) in kw.SELLER_NAMES
    ]
    head = without_slogans(head)
    below = {one.row for one in lines if one.kind == kw.TITLE}
    below |= {one.row for one in lines if one.number in moment}
    ends = [row for row in below if head and row > head[0].row]
    return [one for one in head if one.row < min(ends, default=end)]


def shows_top(lines: Sequence[FieldLine], head: Collection[FieldLine]) -> bool:
    """Whether a head is the top of a receipt, not goods of one that is cut off.

    A line of the head names a shop; or a title stands above the prices; or a date or
    the heads of columns stand there and below the head's first line. A foot has such
    words, too, and a date on top may be what a cut has left, above the goods. A time of
    day alone may be opening hours.
    """
    if not head:
        return False
    start = min(one.row for one in head)
    end = _first_price(lines)
    above = [one for one in lines if one.row < end]
    is_titled = any(one.kind == kw.TITLE for one in above)
    is_told = any(
        one.kind in (kw.COLUMN, kw.WHEN) or (one.has_date and one.says_when)
        for one in above
        if one.row > start
    )
    return is_titled or is_told or any(kw.seller_words(one.text) for one in head)


def has_title_above_prices(lines: Sequence[FieldLine]) -> bool:
    """Whether a title or the heads of columns stand above the first price."""
    end = _first_price(lines)
    return any(one.kind in (kw.TITLE, kw.COLUMN) and one.row < end for one in lines)


UPPER, LOWER, LEFT, RIGHT = "upper", "lower", "left", "right"
AT_EDGE = 1.0
"""A line whose box comes so near to the edge of the picture, in pixels, touches it. The
detector clips its boxes there, and they reach beyond the ink."""


def cut_lines(
    lines: "Sequence[PageLine]", size: tuple[int, int]
) -> dict[str, frozenset[int]]:
    """Numbers of the lines that each edge of the picture cuts.

    Upper is where the text begins as it is read, left where its lines begin. Where the
    picture ends between two lines, nothing tells that more stood on the paper, and no
    line is cut.

    Args:
        lines: of the page, in reading order.
        size: width and height of the picture in pixels.
    """
    if not lines:
        return dict.fromkeys((UPPER, LOWER, LEFT, RIGHT), frozenset())
    x, y = reading_direction(lines)
    sides = np.array([(-1, 0), (0, -1), (1, 0), (0, 1)])  # outward, clockwise from left
    lower = int(np.argmax(sides @ (-y, x)))
    reach = np.stack([line.box.corners for line in lines]) @ sides.T  # (N, 4, sides)
    ends = np.array([0, 0, *size])
    touching = reach.max(axis=1) >= ends - AT_EDGE
    numbers = [frozenset(np.flatnonzero(side).tolist()) for side in touching.T]
    return {
        UPPER: numbers[lower - 2],
        LOWER: numbers[lower],
        LEFT: numbers[lower - 3],
        RIGHT: numbers[lower - 1],
    }


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
    titles = [one.row for one in lines if one.kind == kw.TITLE]
    is_titled = any(last < row < _first_price(lines) for row in titles)
    x, y = reading_direction(page_lines)
    down = np.stack([line.box.corners for line in page_lines]) @ (-y, x)
    heights = np.abs(down @ (-0.5, -0.5, 0.5, 0.5))
    least = CLIPPED * np.median(heights)
    is_whole = all(heights[one.number] >= least for one in touching)
    return {**cut, UPPER: frozenset()} if is_titled and is_whole else cut
