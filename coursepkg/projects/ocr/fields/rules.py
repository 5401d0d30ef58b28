"""Key information extraction by rules: the fields of a receipt from its lines.

A receipt is printed from top to bottom: shop, address, title, goods, sums, thanks. Each
field is found by the words that name it (`keywords`) and by its form (`values`); the
place decides where words do not. The value of a name stands behind it, to its right in
the same row, or in the next row. A field that is not there has no value and a reason;
nothing is guessed. Of several sums the one to pay counts: the surest name, and of equal
names the last, since discounts stand above what they lead to; where the goods disagree
with it and agree with another, that one, less a discount below (`arithmetic.to_pay`).
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coursepkg.projects.ocr.fields import keywords as kw
from coursepkg.projects.ocr.fields.arithmetic import (
    Item,
    Sum,
    check_total,
    differs_from_named,
    equations,
    find_items,
    find_sums,
    to_pay,
)
from coursepkg.projects.ocr.fields.lines import (
    LEAST_SUM,
    FieldLine,
    as_field_lines,
    joined,
)
from coursepkg.projects.ocr.fields.page_kind import (
    LEFT,
    LOWER,
    RIGHT,
    UPPER,
    cut_edges,
    has_title_above_prices,
    head_of,
    shows_top,
    why_unreadable,
)
from coursepkg.projects.ocr.fields.units import (
    MOST_THOUSANDS,
    foreign_goods,
    in_thousands,
    says_thousands,
)
from coursepkg.projects.ocr.fields.values import (
    foreign_currency,
    names_dong,
    parse_amount,
    parse_timestamp,
)

if TYPE_CHECKING:
    from coursepkg.projects.ocr.page.read import PageLine

FIELDS = ("seller", "address", "timestamp", "total")
"""In the order of the challenge: SELLER, ADDRESS, TIMESTAMP, TOTAL_COST."""
BY_PLACE = 0.8
"""Confidence of a field that is known by its place alone, over one that is named, and
of a total that was read in thousands or that the goods chose against its name; and the
most of a total that arithmetic corrected or contradicts, of one above an open discount,
and of a field at a side edge."""
EVEN = 0.5
"""Confidence of a date over a sure one, where another reading of it, or the date of
another line, is as likely."""
_PRINT = (("ngay", "in"), ("gio", "in"), ("in", "luc"), ("print", "time"))
EDGES = {
    "seller": (UPPER, LEFT, RIGHT),
    "address": (UPPER, LEFT, RIGHT),
    "timestamp": (UPPER, LOWER, LEFT, RIGHT),
    "total": (LOWER, LEFT, RIGHT),
}
"""Where a field may be cut off."""


@dataclass(frozen=True)
class Field:
    """One field of a receipt."""

    value: str | int | None = None
    """Seller and address as text, the time in ISO 8601, the total in dong; None where
    it cannot be said for certain."""
    text: str = ""
    """What was read: the lines that say it, in reading order, joined by spaces. It may
    be there without a value, as in `Tổng cộng:` without an amount."""
    confidence: float = 0.0
    """The least confidence of its lines, times `BY_PLACE` or `EVEN` where it is less
    sure, in [0, 1]; 0 without a value. It is not calibrated."""
    lines: tuple[int, ...] = ()
    """Numbers of its lines on the page, from 0."""
    reason: str = ""
    """Why there is no value; empty where there is one."""

    def as_json(self) -> dict[str, Any]:
        """As it stands in the JSON of a page; `reason` where there is no value."""
        record: dict[str, Any] = {"value": self.value, "text": self.text}
        record |= {"confidence": round(self.confidence, 4), "lines": list(self.lines)}
        return record | ({"reason": self.reason} if self.value is None else {})


@dataclass(frozen=True)
class Fields:
    """What a receipt says."""

    seller: Field
    address: Field
    timestamp: Field
    total: Field
    items: tuple[Item, ...] = ()
    """Goods, where name and amount could be told apart."""
    notes: tuple[str, ...] = ()
    """What was corrected, assumed, or does not add up."""

    def as_json(self) -> dict[str, Any]:
        """As it stands in the JSON of a page."""
        record: dict[str, Any] = {
            name: getattr(self, name).as_json() for name in FIELDS
        }
        record["items"] = [one.as_json() for one in self.items]
        return record | {"notes": list(self.notes)}


def no_fields(reason: str) -> Fields:
    """All fields without a value, for one reason."""
    nothing = Field(reason=reason)
    return Fields(nothing, nothing, nothing, nothing)


def extract_fields(
    page_lines: "Sequence[PageLine]",
    size: tuple[int, int] | None = None,
    *,
    is_receipt: bool = False,
) -> Fields:
    """The fields of the receipt that a page shows.

    Args:
        page_lines: of the page, in reading order.
        size: width and height of its picture in pixels; with them a reason says where
            the picture cuts the receipt.
        is_receipt: whether it is known that the page shows one receipt, from its top
            on; else it must look like one.
    """
    lines = as_field_lines(page_lines)
    if reason := why_unreadable(lines, is_receipt=is_receipt):
        return no_fields(reason)
    sums = find_sums(lines)
    in_sums = {line.number for _, group, _ in sums for line in group}
    timestamp, when_notes = find_timestamp(lines, in_sums)
    used = {*in_sums, *timestamp.lines}
    head = head_of(lines, used, timestamp.lines)
    cut = None if size is None else cut_edges(page_lines, lines, size)
    is_cut = cut is not None and bool(cut[UPPER])
    is_top = not is_cut and (is_receipt or shows_top(lines, head))
    address = find_address(head, is_top=is_top)
    # Where the picture begins among the goods, one of them may sound like a shop.
    is_begun = is_cut and not address.lines and not has_title_above_prices(lines)
    above = [] if is_begun else head
    seller = find_seller(above, address, is_top=is_top)
    items = find_items(lines, used={*used, *seller.lines, *address.lines})
    thousands = in_thousands(lines, {abs(value) for *_, value in sums if value})
    items = [] if thousands else items  # Their amounts are not in dong then.
    total, notes = find_total(sums, lines, items, thousands)
    if not thousands:
        total, said = checked_total(total, lines, items)
        notes = (*notes, *said)
    notes = (*when_notes, *notes)
    found = Fields(seller, address, timestamp, total, tuple(items), notes)
    return found if cut is None else with_cuts(found, cut)


def with_cuts(fields: Fields, cut: Mapping[str, Collection[int]]) -> Fields:
    """The fields; the reason of one that is not there says where the receipt is cut.

    A value at the left or the right edge may lack letters: it is less sure, and a note
    says so.

    Args:
        fields: of the page.
        cut: numbers of the lines that each edge cuts, see `cut_edges`.
    """
    changed: dict[str, Any] = {}
    notes: list[str] = []
    for name, edges in EDGES.items():
        field: Field = getattr(fields, name)
        there = [
            edge
            for edge in edges
            if cut[edge] and (not field.lines or {*cut[edge]} & {*field.lines})
        ]
        if field.value is None and there:
            told = (
                f"the text is cut by the {' and the '.join(there)} edge of the picture"
            )
            changed[name] = replace(field, reason=f"{field.reason}; {told}")
        sides = [side for side in (LEFT, RIGHT) if {*cut[side]} & {*field.lines}]
        if field.value is not None and sides:
            confidence = min(field.confidence, BY_PLACE)
            changed[name] = replace(field, confidence=confidence)
            side = " and the ".join(sides)
            notes.append(f"the {name} may lack letters at the {side} edge")
    return replace(fields, **changed, notes=(*fields.notes, *notes))


def _field(
    lines: Iterable[FieldLine],
    value: str | int | None,
    *,
    reason: str = "",
    named: bool = True,
) -> Field:
    """A field of some lines, in reading order."""
    chosen = sorted(lines, key=lambda one: one.number)
    confidence = min((one.confidence for one in chosen), default=0.0)
    confidence *= (1.0 if named else BY_PLACE) * (value is not None)
    numbers = tuple(one.number for one in chosen)
    return Field(value, joined(chosen), confidence, numbers, reason)


# The total.


def find_total(
    sums: Sequence[Sum[int | None]],
    lines: Sequence[FieldLine],
    items: Sequence[Item],
    thousands: str,
) -> tuple[Field, tuple[str, ...]]:
    """The amount to pay, and notes.

    Args:
        sums: of the page.
        lines: of the page.
        items: its goods.
        thousands: why its amounts are in thousands of dong, see `in_thousands`.
    """
    if not sums:
        return Field(reason="no line says a total"), ()
    # Nothing is to pay where a discount is as large as the goods.
    is_free = any(one.expected == 0 for one in equations(lines, items))
    # A hyphen before a total is no sign.
    sure = [
        (one, group, abs(value))
        for one, group, value in sums
        if value or (value == 0 and is_free)
    ]
    if not sure:
        _, group, _ = min(sums, key=lambda one: kw.SUMS.index(str(one[0].kind)))
        return _field(group, None, reason=_why_no_sum(joined(group))), ()
    values = [value for _, _, value in sure]
    _, group, value = to_pay(sure, lines, items)
    if (currency := foreign_goods(lines)) and not names_dong(joined(group)):
        reason = f"the goods are in {currency}, and {joined(group)!r} names no dong"
        return _field(group, None, reason=reason), ()
    if thousands and 0 < value < MOST_THOUSANDS:
        note = f"{value:,} is read as {value * 1000:,} dong: {thousands}"
        return _field(group, value * 1000, named=False), (note,)
    if unit := says_thousands(lines):
        reason = f"{unit!r} says thousands, and {value:,} may be in dong"
        return _field(group, None, reason=reason), ()
    notes = parse_amount(joined(group)).notes
    others = sorted({other for other in values if other != value})
    if others:
        rest = ", ".join(f"{other:,}" for other in others)
        notes = (*notes, f"of several sums {value:,} is the one to pay, not {rest}")
    is_chosen = differs_from_named(value, sure, lines)
    if is_chosen:
        notes = (*notes, f"the goods come to {value:,}; another sum has a surer name")
    # What a discount leaves may stand beside no name of a sum.
    return _field(group, value, named=value in values and not is_chosen), notes


def _why_no_sum(text: str) -> str:
    """Why the lines of a sum have no amount."""
    parsed = parse_amount(text)
    if parsed.value is not None and abs(parsed.value) < LEAST_SUM:
        return f"{text!r} says less than {LEAST_SUM:,} dong"
    has_digit = any(map(str.isdigit, text))
    is_told = parsed.value is None and (has_digit or foreign_currency(text))
    return parsed.reason if is_told else f"no amount stands beside {text!r}"


def checked_total(
    total: Field, lines: Sequence[FieldLine], items: Sequence[Item]
) -> tuple[Field, tuple[str, ...]]:
    """The total after the check by arithmetic, and what it says (`check_total`).

    A total that was corrected, contradicted or left open by a discount is less sure, as
    is one whose digits are no amount.

    Args:
        total: as it was read.
        lines: of the page.
        items: its goods.
    """
    value, notes = check_total(lines, items, total.value, total.text)
    if not notes or value is None:
        return total, notes
    if total.value is None:
        total = _field([lines[number] for number in total.lines], value)
    confidence = min(total.confidence, BY_PLACE)
    return replace(total, value=value, confidence=confidence), notes


# The time.


def find_timestamp(
    lines: Sequence[FieldLine], taken: set[int]
) -> tuple[Field, tuple[str, ...]]:
    """The time of the sale, and notes; the lines taken belong to sums.

    Beside a name such as `Hạn sử dụng` stands another time.
    """
    other = {one.row for one in lines if one.kind == kw.NO_SALE}
    left = [one for one in lines if one.number not in taken and one.row not in other]
    left = _without_print(left)
    moments = [one for one in left if one.says_when]
    if not moments:
        return Field(reason="no line says a date"), ()
    best = max(moments, key=lambda one: (_time_score(one, moments), -one.number))
    row = _time_row(left, best.row)
    for step in (1, 2, -1, -2):
        near = [one for one in moments if one.row == best.row + step]
        is_named = any(one.kind == kw.WHEN for one in near)
        # A receipt may tell when guests came and when they left.
        has_more = any(one.has_time for one in near) and is_named and step > 0
        needs_time = not any(one.has_time for one in row)
        has_only_time = any(one.has_time and not one.has_date for one in near)
        # Names may stand in a row of their own, above what they name.
        is_heading = step == -1 and not any(o.has_date or o.has_time for o in near)
        is_heading = is_heading and not any(one.kind == kw.WHEN for one in row)
        if has_more or (needs_time and has_only_time):
            row += _time_row(left, best.row + step)
        elif is_heading:
            row += near
    row = sorted(row, key=lambda one: one.number)
    parsed = parse_timestamp(joined(row))
    reason = parsed.reason
    has_date = any(one.has_date for one in row)
    if parsed.value is None and not has_date and any(one.has_time for one in row):
        reason = f"{joined(row)!r} says a time of day without a date"
    found = _field(row, parsed.value, reason=reason)
    notes = parsed.notes
    others = _equal_days(best, moments) - {parsed.value[:10]} if parsed.value else set()
    if others:
        notes = (*notes, f"another date is as likely: {', '.join(sorted(others))}")
    if parsed.is_doubtful or others:
        found = replace(found, confidence=found.confidence * EVEN)
    return found, notes


def _equal_days(best: FieldLine, moments: Sequence[FieldLine]) -> set[str]:
    """Days, in ISO 8601, of the lines whose time score equals that of the best."""
    score = _time_score(best, moments)
    return {
        f"{one.day}"
        for one in moments
        if one.day and _time_score(one, moments) == score
    }


def _without_print(lines: list[FieldLine]) -> list[FieldLine]:
    """Lines without the day of the print, where the sale has another one of its own."""
    printed = {one.row for one in lines if one.words[:2] in _PRINT}
    dated = {one.row: one.day for one in lines if one.day and one.says_when}
    sold = {day for row, day in dated.items() if row not in printed}
    late = {row for row in printed if sold and dated.get(row) not in (None, *sold)}
    return [one for one in lines if one.row not in late]


def _time_score(line: FieldLine, moments: Sequence[FieldLine]) -> int:
    row = [one for one in moments if one.row == line.row]
    has_valid = any(one.has_date for one in row)
    named = any(one.kind == kw.WHEN for one in row)
    return 4 * has_valid + 2 * named + any(one.has_time for one in row)


def _time_row(lines: Sequence[FieldLine], row: int) -> list[FieldLine]:
    """What of a row says when: dates, times, their names, short cells before them."""
    there = [one for one in lines if one.row == row]
    when = [one for one in there if one.says_when]
    last = max(one.left for one in when)
    return [
        one
        for one in there
        if one.says_when
        or (one.kind is None and one.left < last and len(one.words) <= 2)
    ]


# Shop and address.


def find_address(head: Sequence[FieldLine], *, is_top: bool) -> Field:
    """The address of the shop: the first lines that look like one.

    Args:
        head: lines above the goods.
        is_top: whether the head is the top of a receipt; else goods that are cut off
            may look like one, unless it begins or is joined as addresses are.
    """
    if not head:
        return Field(reason="no line stands above the goods")
    strength = {one.number: kw.address_strength(one.text) for one in head}
    shops = {one.number for one in head if _names_shop(one)}
    shops |= _top_shop(head, strength, shops) | _second_shop(head, strength)
    left = [one for one in head if one.number not in shops]
    strong = [one for one in left if strength[one.number] >= kw.STRONG]
    sure = [one for one in strong if kw.begins_address(one.text) or "," in one.text]
    # A street with its number needs no other word of addresses below a shop's name.
    houses = [one for one in left if strength[one.number] >= kw.HOUSE]
    houses = [one for one in houses if one is not head[0]]
    houses = [one for one in houses if kw.begins_address(one.text)]
    strong = sure or (is_top and (strong or houses)) or []
    if not strong:
        return Field(reason="no line above the goods looks like an address")
    chosen = [strong[0]]
    before = [one for one in left if one.row == strong[0].row - 1]
    if before and (
        kw.begins_address(before[-1].text)
        or (strength[before[-1].number] >= kw.STRONG and not _is_town_alone(before[-1]))
    ):
        chosen = [before[-1]]
    for one in left:
        last = chosen[-1]
        is_named = one.row == last.row and strength[last.number] >= kw.NAMED
        is_part = strength[one.number] >= kw.WEAK and abs(one.row - last.row) <= 1
        if one.number > last.number and (is_named or is_part):
            chosen.append(one)
    chosen = [*_branch(head, chosen[0], strength, shops), *chosen]
    value = " ".join(without_name(one.text, kw.ADDRESS_NAMES) for one in chosen).strip()
    if not value:
        return _field(chosen, None, reason="a line names an address without one")
    return _field(chosen, value)


def _is_town_alone(line: FieldLine) -> bool:
    """Whether a place is all that a line has of an address, as `Lúa Vàng - Huế`."""
    has_form = "," in line.text or any(map(str.isdigit, line.text))
    return not has_form and not kw.find_words(line.text, (kw.ADDRESS,))


def _names_shop(line: FieldLine) -> bool:
    """Whether a line names a shop, also with the town that it stands in."""
    is_address = kw.names_address(line.text) or line.text.count(",") > 1
    is_address |= kw.address_strength(line.text) > kw.NAMED
    return kw.seller_words(line.text) > 0 and not is_address


def _top_shop(
    head: Sequence[FieldLine], strength: Mapping[int, float], shops: Collection[int]
) -> set[int]:
    """The first line, a shop although it holds words of an address, as `Shop - Huế`.

    It is none where it has the form of an address, where none stands below it, or where
    a shop stands beside.
    """
    first, *others = head
    has_form = kw.names_address(first.text) or first.text[:1].isdigit()
    has_form |= "," in first.text
    below = [one for one in others if strength[one.number] >= kw.HOUSE]
    below = [one for one in below if one.number not in shops]
    is_shop = below and not has_form and not _beside(head, first, strength)
    return {first.number} if is_shop else set()


LARGER = 1.2
"""Letters of a shop over those of its address, where their size tells them apart."""


def _second_shop(head: Sequence[FieldLine], strength: Mapping[int, float]) -> set[int]:
    """The second row of a shop's name that begins as addresses do, as `Ngõ Vắng`.

    It has neither a number nor a comma, its letters are as large as those of the shop
    above it, and those of the address below both are smaller.
    """
    if len(head) < 3 or len({one.row for one in head[:3]}) < 3:
        return set()
    shop, second, address = head[:3]
    has_form = kw.names_address(second.text) or "," in second.text
    has_form |= " - " in second.text or any(map(str.isdigit, second.text))
    is_between = strength[shop.number] < kw.STRONG or kw.seller_words(shop.text) > 0
    is_between &= strength[address.number] >= kw.HOUSE and address.row == shop.row + 2
    # Capitals are as wide as other letters in some fonts, and wider in most.
    is_large = all(
        min(shop.letter_width(capital), second.letter_width(capital))
        >= LARGER * address.letter_width(capital)
        for capital in (1.0, 1.3)
    )
    return {second.number} if is_between and is_large and not has_form else set()


def _beside(
    head: Sequence[FieldLine], line: FieldLine, strength: Mapping[int, float]
) -> list[FieldLine]:
    """Lines to the left of a line, not above it, that are no address."""
    return [
        one
        for one in head
        if 0 <= one.row - line.row <= 2
        and one.left < line.left
        and one.overlap(line) < 0.5
        and (strength.get(one.number, 0.0) < kw.WEAK or _names_shop(one))
    ]


def _branch(
    head: Sequence[FieldLine],
    first: FieldLine,
    strength: Mapping[int, float],
    shops: Collection[int],
) -> list[FieldLine]:
    """The lines above an address where the shop's name stands beside or below them.

    Chains print their name on the left and the branch with its address on the right.
    """
    found: list[FieldLine] = []
    while _beside(head, first, strength):
        lower = found[0] if found else first
        above = [
            one for one in head if one.row == lower.row - 1 and one.overlap(lower) > 0.5
        ]
        if not above or above[0].number in shops:
            break
        found.insert(0, above[0])
    return found


MOST_SELLER_LINES = 3


def find_seller(head: Sequence[FieldLine], address: Field, *, is_top: bool) -> Field:
    """The name of the shop: what stands above or beside its address, or on top.

    Args:
        head: lines above the goods.
        address: of the shop.
        is_top: whether the head is the top of a receipt.
    """
    rest = [one for one in head if one.number not in address.lines]
    if address.lines:
        there = [one for one in head if one.number in address.lines]
        last = there[-1].row
        beside = [one for line in there for one in _beside(head, line, {})]
        rest = [
            one
            for one in rest
            if one.row <= last
            or (one.row == last + 1 and (kw.seller_words(one.text) or one in beside))
        ]
    named = [one for one in rest if kw.seller_words(one.text)]
    start = rest[:1] if address.lines or is_top else []
    if named and named[0].row - (rest[0].row if rest else 0) > 2:
        start = named[:1]
    if not (start or named):
        return Field(reason="no line above the goods names a shop")
    first = (start or named)[0]
    chosen = [one for one in rest if 0 <= one.row - first.row <= 2]
    chosen = chosen[:MOST_SELLER_LINES]
    value = without_name(joined(chosen), kw.SELLER_NAMES)
    if not value:
        return _field(chosen, None, reason="a line names a shop without its name")
    return _field(chosen, value, named=bool(named))


def without_name(text: str, names: Iterable[str]) -> str:
    """A text without the words that announce it."""
    head, colon, tail = text.partition(":")
    return tail.strip() if colon and kw.fold(head) in names else text.strip()
