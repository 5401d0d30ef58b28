"""Checks of the exercises in the chapter on English-Vietnamese translation."""

import random
import unicodedata
from collections.abc import Callable, Sequence

from coursepkg.checks import expect

Pairs = list[tuple[str, str]]
Links = set[tuple[int, int]]


def plain_text(student: Callable[[str], str]) -> None:
    """Entities once and twice escaped, quotation marks, clitics, Unicode form."""
    for line, plain in [
        ("Xin chào .", "Xin chào."),
        ("She said : &quot; It &apos;s mine . &quot;", 'She said: "It\'s mine."'),
        ("Nuts &amp; bolts , please !", "Nuts & bolts, please!"),
        ("Anh ấy hỏi : &amp;quot; Đâu ? &amp;quot;", 'Anh ấy hỏi: "Đâu?"'),
        ("A &amp;amp;amp; B .", "A & B."),
        (unicodedata.normalize("NFD", "Tiếng Việt đẹp ."), "Tiếng Việt đẹp."),
    ]:
        expect.equal(
            student(line),
            plain,
            what=f"the plain text of {line!r}",
            hint=(
                "unescape until nothing changes, then NFC, and attach punctuation last"
            ),
        )


def forbids(student: Callable[[str, str], Sequence[str]]) -> None:
    """Equal, different and missing fields, fields that do not count, other metrics."""
    base = (
        "BLEU|nrefs:1|case:mixed|tok:13a|smooth:exp|n:1268/1268"
        "|data:5d41402abc4b|version:1.0"
    )
    run = base.replace("|case", "|bs:1000|seed:1|case").replace(
        "version:1.0", "protocol:beam 5, tst:2013|version:2.1"
    )
    cut = base.replace("1268/1268", "990/1268")
    for a, b, reasons in [
        (base, base, []),
        (base, run, []),
        (run, base, []),
        (base, base.replace("13a", "none"), ["tok"]),
        (
            base,
            base.replace("mixed", "lc").replace("5d41402abc4b", "aaaabbbbcccc"),
            ["case", "data"],
        ),
        (base, base.replace("|smooth:exp", ""), ["smooth"]),
        (base.replace("|smooth:exp", ""), base, ["smooth"]),
        (base, base.replace("BLEU", "chrF2"), ["name"]),
        (base, cut, ["n"]),
        (cut, cut, ["n"]),
    ]:
        expect.equal(
            sorted(student(a, b)),
            reasons,
            what=f"what forbids comparing\n  {a}\n  {b}\n",
            hint=(
                "fields of both, missing ones too, without bs, seed, version, protocol;"
                " a test must be whole"
            ),
        )


def leaks(student: Callable[[Pairs, Pairs], tuple[int, int, int]]) -> None:
    """Copies on either side and on both, in other spellings."""
    train = [
        ("Thanks a lot.", "Cảm ơn nhiều."),
        ("It's late.", "Muộn rồi."),
        ("Good night.", "Chúc ngủ ngon."),
    ]
    for test, counts in [
        ([("A new one .", "Một câu mới .")], (0, 0, 0)),
        ([("thanks a lot !", "Xin cảm ơn .")], (1, 0, 1)),
        ([("It &apos;s late .", "Muộn rồi .")], (1, 1, 1)),
        (
            [
                ("Many thanks .", "cảm ơn nhiều"),
                ("Good night", "Ngủ ngon nhé"),
                ("It's late", "Muộn rồi"),
            ],
            (2, 2, 3),
        ),
        ([("Good night .", "Muộn rồi ."), ("Good night .", "Mới .")], (2, 1, 2)),
        ([("Muộn rồi.", "Good night.")], (0, 0, 0)),
    ]:
        expect.equal(
            tuple(student(list(train), list(test))),
            counts,
            what=f"the leaks (English, Vietnamese, either) of {test}",
            hint=(
                "compare keys within one language; count test pairs, each once in the"
                " third number"
            ),
        )


def read_alignment(
    student: Callable[[Links, int], tuple[Sequence[int], Sequence[int]]],
) -> None:
    """Straight, crossing and branching links, none at all, and random ones."""
    draw = random.Random(0)
    some = [
        ({(draw.randrange(6), draw.randrange(7)) for _ in range(5)}, 7)
        for _ in range(8)
    ]
    for links, n_target in [
        (set(), 2),
        ({(0, 0), (1, 1)}, 2),
        ({(0, 1), (1, 0), (2, 3)}, 4),
        ({(0, 2), (1, 0), (2, 1)}, 3),
        ({(0, 0), (0, 1), (2, 1)}, 3),
        *some,
    ]:
        alone = [t for t in range(n_target) if all(link[1] != t for link in links)]
        crossed = {
            s
            for s, t in links
            for u, v in links
            if (s < u and t > v) or (s > u and t < v)
        }
        found, moved = student(set(links), n_target)
        expect.equal(
            list(found),
            alone,
            what=(
                f"the target words without a partner in {sorted(links)} with {n_target}"
                " target words"
            ),
            hint=(
                "positions of the target are the second of each pair, and the last ones"
                " may be alone"
            ),
        )
        expect.equal(
            list(moved),
            sorted(crossed),
            what=f"the source words that moved in {sorted(links)}",
            hint=(
                "a crossing has source order and target order strictly opposite; both"
                " of its words moved"
            ),
        )


def both_ways(student: Callable[[Pairs, str, str], Sequence[tuple[str, str]]]) -> None:
    """Each pair once in each direction, the tag in front of what is read."""
    for source, target, pairs in [
        ("en", "vi", [("Hello .", "Xin chào ."), ("Thanks .", "Cảm ơn .")]),
        ("zh", "vi", [("你好。", "Xin chào .")]),
    ]:
        found = [tuple(example) for example in student(list(pairs), source, target)]
        expect.equal(len(found), 2 * len(pairs), what="the number of examples")
        texts = {
            text: lang
            for pair in pairs
            for text, lang in zip(pair, (source, target), strict=True)
        }
        for read, written in found:
            assert not written.startswith("<"), (
                f"the model shall write {written!r}; the tag stands on the side that"
                " is read, also in the reversed pair"
            )
            tag, _, text = read.partition(" ")
            assert tag.startswith("<2"), (
                f"the model reads {read!r}, which does not say what is wanted"
            )
            assert {written, text} <= set(texts), (
                f"{read!r} -> {written!r} is made of no pair"
            )
            expect.equal(
                tag,
                f"<2{texts[written]}>",
                what=f"the tag of {read!r}, which shall become {written!r},",
                hint="a tag names the language that the model is to write",
            )
        wanted = {(f"<2{target}> {a}", b) for a, b in pairs}
        wanted |= {(f"<2{source}> {b}", a) for a, b in pairs}
        missing = sorted(wanted - set(found))
        assert not missing, f"the example {missing[0]} is missing"


def lines_that_cross(answer: str) -> None:
    """The line of time, in the picture of the question about the pharmacy."""
    expect.quantity(
        answer,
        6.0,
        "lines",
        what="the number",
        mistakes={
            3.0: (
                "three words have lines that cross it, and each of them has two lines"
            ),
            7.0: "the line of What runs beside it to the left and does not cross it",
            8.0: "neither the line of What nor that of the question mark crosses it",
            2.0: "so many lines has Friday alone",
            4.0: "Friday has two lines as well",
        },
    )
