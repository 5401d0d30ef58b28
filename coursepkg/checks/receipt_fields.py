"""Checks of the exercises in the chapter on fields: from text to data."""

from collections.abc import Callable, Sequence

from coursepkg.checks import expect

Box = tuple[float, float, float, float]
"""Left, top, right, bottom."""


def challenge_cer(student: Callable[[Sequence[str], Sequence[str]], float]) -> None:
    """Equal, wrong, missing and invented fields."""
    true = ("Quán Lá", "12 Lê Lợi", "09/08/2020", "55.000")
    joined = "|||".join(true)
    cases = [
        (true, 0.0, "of four right fields"),
        (("Quán La", *true[1:]), 1 / len(joined), "with one wrong letter"),
        (
            (*true[:3], ""),
            6 / len(joined),
            "without the total",
        ),
        (("", "", "", ""), (len(joined) - 9) / len(joined), "of four empty fields"),
    ]
    for found, value, what in cases:
        expect.close(
            student(found, true),
            value,
            what=f"the CER {what}",
            hint=(
                "join the four texts by |||, count the edits between the two joined"
                " texts, and divide by the characters of the true one, joints included"
            ),
        )
    expect.close(
        student(("a", "", "", ""), ("", "", "", "")),
        1 / 9,
        what="the CER of a field that was invented",
        hint="the nine characters of the joints always stand in the true text",
    )


def amount(student: Callable[[str], int]) -> None:
    """Points, commas, spaces, currencies, hundredths; no amount, another currency."""
    cases: list[tuple[str, int, str]] = [
        ("55000", 55000, "digits alone are an amount"),
        ("55.000", 55000, "points set thousands apart"),
        ("1,204,500", 1204500, "commas set thousands apart"),
        ("1 204 500đ", 1204500, "spaces set thousands apart"),
        ("VND 55.000", 55000, "a currency may stand before the number"),
        (
            "55.000,00",
            55000,
            "two digits behind the last separator are hundredths, which dong do not"
            " have",
        ),
        ("55,000.00 đ", 55000, "hundredths may stand behind a point as well"),
        ("Tổng cộng:", -1, "no digit, no amount"),
        ("$12.50", -1, "another currency is no amount in dong"),
    ]
    for text, value, hint in cases:
        expect.equal(student(text), value, what=f"the amount in {text!r}", hint=hint)


def amount_beside(
    student: Callable[[Box, Sequence[Box]], int],
) -> None:
    """One amount, two in either order, one to the left, one lower, half a row."""
    name = (40.0, 100.0, 200.0, 120.0)
    cases: list[tuple[list[Box], int, str]] = [
        ([(300, 101, 380, 121)], 0, "it stands to the right in the same row"),
        (
            [(260, 100, 290, 120), (520, 98, 600, 118)],
            1,
            "of several amounts in a row the last one is the sum",
        ),
        (
            [(520, 98, 600, 118), (260, 100, 290, 120)],
            0,
            "the last amount of a row is the one furthest to the right",
        ),
        ([(10, 100, 35, 120)], -1, "it stands left of the name"),
        ([(300, 122, 380, 142)], -1, "it stands in the row below"),
        (
            [(300, 124, 380, 144), (300, 106, 380, 126)],
            1,
            "two boxes share a row where the common part of their heights is at least"
            " half of the lower one",
        ),
        (
            [(300, 90, 380, 108)],
            -1,
            "8 of 18 pixels in common are less than half of the lower box",
        ),
        ([(300, 110, 380, 130)], 0, "10 of 20 pixels in common are half, so enough"),
        (
            [(300, 94, 380, 107)],
            0,
            "7 of 13 pixels in common are more than half of the lower box",
        ),
        ([], -1, "there is no amount"),
    ]
    for amounts, value, hint in cases:
        expect.equal(
            student(name, amounts),
            value,
            what=f"the amount beside {name} among {amounts}",
            hint=hint,
        )


def corrected(student: Callable[[int, int, int, int], int]) -> None:
    """Agreement, one wrong digit, one witness alone, two digits, another length."""
    cases = [
        ((55000, 55000, 100000, 45000), 55000, "both equations hold"),
        (
            (56000, 55000, 100000, 45000),
            55000,
            "both equations say 55000, and one digit differs",
        ),
        (
            (56000, 55000, 100000, 44000),
            56000,
            "the equations contradict each other, so nothing is corrected",
        ),
        (
            (56000, 55000, 100000, 40000),
            56000,
            "the equations contradict each other, so nothing is corrected",
        ),
        (
            (91000, 55000, 100000, 45000),
            91000,
            "two digits differ: that is no misread digit",
        ),
        (
            (5500, 55000, 100000, 45000),
            5500,
            "a number of another length differs in more than a digit",
        ),
    ]
    for numbers, value, hint in cases:
        expect.equal(
            student(*numbers),
            value,
            what=f"the total for total, goods, paid, change = {numbers}",
            hint=hint,
        )


def held_out(
    student: Callable[[Sequence[tuple[str, str]], float], set[str]],
) -> None:
    """Two chains and ten single shops; no shop is cut, and the share is kept."""
    chains = [(f"a{i}", "A Mart") for i in range(30)]
    chains += [(f"b{i}", "B Mart") for i in range(20)]
    single = [(f"s{i}", f"Shop {i}") for i in range(50)]
    for receipts, share in ((chains + single, 0.2), (single, 0.1), (chains, 0.4)):
        held = set(expect.attempted(student(receipts, share)))
        names = {name for name, _ in receipts}
        expect.equal(
            held <= names, True, what="every held-out name is a receipt's name"
        )
        cut = {
            shop
            for name, shop in receipts
            if name in held
            and any(own == shop and other not in held for other, own in receipts)
        }
        expect.equal(
            sorted(cut),
            [],
            what="the shops that lie on both sides",
            hint="go from shop to shop, and take all of a shop's receipts or none",
        )
        most = share * len(receipts)
        expect.equal(
            0 < len(held) <= most,
            True,
            what=f"whether 1 to {most:g} of {len(receipts)} receipts are held out",
            hint="leave out a shop that would hold out more than the share",
        )
