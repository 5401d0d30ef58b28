"""What a translation must copy, kept out of the model's reach.

Links, addresses, format codes, tags, names of code, and numbers in digits become marks
before translation and come back behind it:

    Allow %1$s to use 1,024 MB   ->   Allow ① to use ② MB   ->   Cho phép ① dùng ② MB

The model learns to carry marks over. Which mark stands for what is drawn in training,
so that all are learnt alike. Such text is known as placeholders or protected sequences;
for masking rare words so, see Luong et al. (arXiv 1410.8206). Where every hypothesis
of a search loses a mark, a wider search tries again, and what that loses is put in.
"""

import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from coursepkg.decoding.step import Hypothesis
from coursepkg.projects.translation.corpus import CUTS, SentencePair
from coursepkg.text.languages import has_words

if TYPE_CHECKING:
    from coursepkg.projects.translation.predict import Translator

MARKS = "①②③④⑤⑥⑦⑧⑨"
"""What stands in the model's text, one for each different string of a sentence."""
LATIN = "[A-Za-z0-9\u00c0-\u024f\u1e00-\u1eff]"
"""A digit or a letter, those of Vietnamese among them."""
_BEFORE, _BEHIND = rf"(?<!_)(?<!{LATIN})", rf"(?!_)(?!{LATIN})"
_BEHIND_LINK = '\\s<>"”’，。；：、！？）」』》】'
COPIED = re.compile(
    rf"https?://[^{_BEHIND_LINK}]+[^{_BEHIND_LINK}.,;:!?)]"
    rf"|(?<!{LATIN})(?<![_.+-])[A-Za-z0-9_.+-]+@[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)+"
    r"|%(?:\d+\$)?[-+0#]*\d*(?:\.\d+)?(?:l{0,2}[duifxs]|@)(?![A-Za-z])"
    r"|\{\{?[A-Za-z0-9_.$]*\}?\}"
    r"|</?[A-Za-z][^<>]{0,80}>"
    r"|\\[nt]"
    rf"|{_BEFORE}(?=[a-z_]*[A-Z0-9])[A-Za-z0-9]+(?:_[A-Za-z0-9]+)+{_BEHIND}"
    rf"|{_BEFORE}(?<!{LATIN}\.)(?=(?:[A-Za-z0-9]+\.)*[A-Za-z0-9]*[a-z][A-Z])"
    rf"[A-Za-z0-9]+(?:\.[A-Za-z0-9]+)*{_BEHIND}"
    r"|(?<![A-Za-z0-9_.,])(?<!\d:)\d+(?:\.\d+)*[,:]\d+(?:[.,:]\d+)*(?=[A-Za-z])"
    r"|(?<![A-Za-z0-9_.,])\d+(?:[.,:/-]\d+)+(?![A-Za-z0-9_])"
    r"|(?<![A-Za-z0-9_])(?<!&#)(?<![A-Za-z0-9_][.,])\d+(?![A-Za-z0-9_])"
    rf"|[{MARKS}]"
)
"""Links, mail addresses, printf and brace codes, tags, escapes, names with underscores
or in camel case (`DeviceInfo`, YouTube), numbers, also with a unit behind a colon or
comma (`10:30am`, `1,024MB`), and the marks themselves."""
ORDINAL = re.compile(r"(?<![\w.,])(\d+)(?:st|nd|rd|th)(?!\w)")
"""English ordinals in digits; Vietnamese and Chinese write the number alone."""
NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
LARGEST_NAMED = 12
"""Months and days are numbers in one language and names in another: June is tháng 6."""
CLOCK = re.compile(rf":\d\d[AaPp][Mm](?!{LATIN})")
"""The end of a time of day such as 10:30am."""
CAPITALISED = re.compile(rf"(?<!{LATIN})[A-Z][A-Za-z0-9]+(?!{LATIN})")
"""A word of unaccented Latin letters that begins with a capital, as most names do."""


class Masked(NamedTuple):
    """A text with marks, and what they stand for."""

    text: str
    values: dict[str, str]
    """By mark."""

    @property
    def has_words(self) -> bool:
        """Whether a letter or a digit is left to translate beside the marks."""
        return has_words(re.sub(f"[{MARKS}]", "", self.text))


def copied_strings(text: str) -> list[str]:
    """What a translation of the text must hold, in order, repeats included."""
    return COPIED.findall(text)


def cut_crowded(text: str) -> list[str]:
    """A text in parts with no more different strings to copy than there are marks.

    It is cut before the next string: at the last end of a sentence there, else at the
    last comma, or else directly before it; never inside a string.
    """
    seen: set[str] = set()
    for one in COPIED.finditer(text):
        if one[0] not in seen and len(seen) == len(MARKS):
            end = _last_cut(text, one.start())
            return [text[:end].strip(), *cut_crowded(text[end:].strip())]
        seen.add(one[0])
    return [text]


def _last_cut(text: str, end: int) -> int:
    """The last of the best places to cut a text before an end; see `CUTS`."""
    inside = [found.span() for found in COPIED.finditer(text)]
    for cut in CUTS:
        places = [found.end() for found in cut.finditer(text, 0, end)]
        free = [at for at in places if not any(i < at < j for i, j in inside)]
        if free:
            return free[-1]
    return end


def mask(text: str) -> Masked:
    """The text with the first marks in order; strings beyond the last mark stay.

    Of an ordinal such as 21st the number alone is kept.
    """
    text = ORDINAL.sub(r"\1", text)
    found = [*dict.fromkeys(copied_strings(text))]
    if len(found) > len(MARKS):
        # A mark of the text itself that stayed would be taken for one of ours.
        found.sort(key=lambda one: one not in MARKS)
    values = dict(zip(MARKS, found, strict=False))
    return Masked(marked(text, values), values)


def mask_pair(pair: SentencePair) -> SentencePair:
    """A training pair with marks, drawn by its text, for strings that both sides hold.

    A string that one side has more often than the other stays as it is in both.
    """
    ours, theirs = (Counter(copied_strings(text)) for text in pair[:2])
    shared = [text for text, count in ours.items() if theirs[text] == count]
    if not shared:
        return pair
    drawn = random.Random(pair.source).sample(MARKS, len(MARKS))
    values = dict(zip(drawn, shared, strict=False))
    return pair._replace(
        source=marked(pair.source, values), target=marked(pair.target, values)
    )


def marked(text: str, values: dict[str, str]) -> str:
    """The text with the strings of some marks replaced by them."""
    marks = {value: mark for mark, value in values.items()}
    return COPIED.sub(lambda found: marks.get(found[0], found[0]), text)


def unmask(text: str, values: dict[str, str]) -> str:
    """A source, or a part of one, as it was before `mask`."""
    return re.sub(f"[{MARKS}]", lambda found: values.get(found[0], found[0]), text)


def with_own_marks(text: str, values: dict[str, str]) -> str:
    """A translation in which a mark that stands for nothing is put right.

    It takes the place of the only one that is missing, if there is one of each.
    """
    lost = [mark for mark in values if mark not in text]
    odd = [mark for mark in MARKS if mark in text and mark not in values]
    if len(lost) == len(odd) == 1:
        text = text.replace(odd[0], lost[0])
    return text


def restore(text: str, values: dict[str, str]) -> str:
    """A translation with its marks replaced; one that stands for nothing goes.

    Chinese has no spaces, but a number does not stick to a word in Latin letters; only
    a time of day does, to am or pm.
    """
    made, was_value = "", False
    # In one pass: a value may itself be one of the marks.
    for part in re.split(f"([{MARKS}])", with_own_marks(text, values)):
        is_value = part in values
        piece = values[part] if is_value else part.strip(MARKS)
        sticks = (is_value and piece[:1].isalnum() and _is_latin(made[-1:])) or (
            was_value
            and made[-1:].isalnum()
            and _is_latin(piece[:1])
            and not CLOCK.match(made[-3:] + piece[:3])
        )
        made += f" {piece}" if sticks else piece
        was_value = is_value if piece else was_value
    return made


def _is_latin(sign: str) -> bool:
    return re.match(LATIN, sign) is not None


def missing_copies(part: Masked, text: str) -> list[str]:
    """The copied strings that a translation holds fewer times than its source does.

    Example:
        >>> missing_copies(mask("数组包含 [0, 2]。"), "Các mảng chứa [0.2].")
        ['0', '2']
    """
    wanted = Counter(part.values[sign] for sign in part.text if sign in part.values)
    numbers = Counter(
        number
        for one in copied_strings(text)
        if one[0].isdigit()
        for number in NUMBER.findall(one)
    )
    return [
        one
        for one, count in wanted.items()
        if (numbers[one] if NUMBER.fullmatch(one) else text.count(one)) < count
    ]


def n_lost(line: str, part: Masked) -> int:
    """Marks of a source that a line of the model lacks, or invents."""
    return sum((mark in line) != (mark in part.values) for mark in MARKS)


WIDE_BEAM = 20
"""Beams of the second search, for a source whose hypotheses all lose a mark."""


def keep_marks(
    translator: "Translator",
    parts: Sequence[Masked],
    ids: Sequence[Sequence[int]],
    found: list[list[Hypothesis]],
    target: str,
    length_penalty: float,
    batch_size: int,
) -> dict[int, list[str]]:
    """Add hypotheses to those of a source where all of them lose a mark.

    Args:
        parts: the sources, masked.
        ids: of the sources, tags in front.
        found: hypotheses of each source, some of which get more.

    Returns:
        By place of a source the values that the search lost and that were put in.
    """
    losing = [
        i
        for i, (part, own) in enumerate(zip(parts, found, strict=True))
        if part.values
        and all(n_lost(translator.line_of(one, part), part) for one in own)
    ]
    searched = [i for i in losing if len(found[i]) < WIDE_BEAM]
    wider = translator.search(
        [ids[i] for i in searched],
        beam_size=WIDE_BEAM,
        length_penalty=length_penalty,
        n_best=WIDE_BEAM,
        batch_size=max(1, batch_size // 4),
    )
    for i, own in zip(searched, wider, strict=True):
        known = {one.ids for one in found[i]}
        found[i] += [one for one in own if one.ids not in known]
    put_in = {}
    for i in losing:
        made = _with_marks(
            translator, parts[i], ids[i], found[i], target, length_penalty
        )
        if made is not None:
            found[i].append(made[0])
            put_in[i] = made[1]
    return put_in


def _with_marks(
    translator: "Translator",
    part: Masked,
    ids: Sequence[int],
    found: Sequence[Hypothesis],
    target: str,
    length_penalty: float,
) -> tuple[Hypothesis, list[str]] | None:
    """The hypothesis that loses fewest marks, with them, and what they stand for.

    Each is put where the model finds it most likely. None where none is lost or there
    is no room.
    """
    best = min(found, key=lambda one: n_lost(translator.line_of(one, part), part))
    line = translator.line_of(best, part)
    lost = [mark for mark in part.values if mark not in line]
    added = translator.subwords.encode_targets(lost, target)
    is_full = len(best.ids) + sum(map(len, added)) >= translator.longest
    if not lost or is_full:
        return None
    written, log_prob = best.ids, 0.0
    for own in added:
        tried = [(*written[:i], *own, *written[i:]) for i in range(len(written) + 1)]
        scores = translator.log_probs([ids] * len(tried), tried)
        log_prob, written = max(zip(scores, tried, strict=True))
    n = len(written) + 1
    score = translator.penalised(log_prob, n, length_penalty)
    made = Hypothesis(written, (log_prob / n,) * n, log_prob, score, True)
    return made, [part.values[mark] for mark in lost]


INVENTED = "number not in the source"
"""How a note begins on numbers in digits that a translation should not have."""
EMPTIED = "tags that lost their text"
"""How it begins on tags that enclose text in the source and none in the translation."""


def notes_on_codes(source: str, text: str, language: str) -> list[str]:
    """What is wrong with the numbers and tags of a translation; see both functions."""
    invented = invented_numbers(source, text, language)
    found = {INVENTED: invented, EMPTIED: emptied_tags(source, text)}
    return [f"{kind}: {', '.join(some)}" for kind, some in found.items() if some]


_OPEN = r"<([A-Za-z][\w:.-]*)(?:\s[^<>]*)?(?<!/)>"
_TAG = re.compile(rf"{_OPEN}|</([A-Za-z][\w:.-]*)>")
_EMPTY_PAIR = re.compile(rf"{_OPEN}\s*</\1>")


def emptied_tags(source: str, text: str) -> list[str]:
    """The tags that enclose text in a source and none in its translation.

    They stand side by side there, or the closing one stands first. A pair that keeps
    a point or another tag is not told, nor is one around the wrong words.

    Example:
        >>> emptied_tags("Press <b>Save</b>.", "Nhấn <b></b> Lưu.")
        ['<b>']
    """
    found = Counter(_EMPTY_PAIR.findall(text)) - Counter(_EMPTY_PAIR.findall(source))
    ours, theirs = _tag_orders(text), _tag_orders(source)
    turned = [
        name
        for name, order in ours.items()
        if sorted(order) == sorted(theirs.get(name, ""))
        and _closes_first(order)
        and not _closes_first(theirs[name])
    ]
    return [f"<{name}>" for name in dict.fromkeys([*found, *turned])]


def _closes_first(order: str) -> bool:
    depths = accumulate(1 if sign == "o" else -1 for sign in order)
    return any(depth < 0 for depth in depths)


def _tag_orders(text: str) -> dict[str, str]:
    """For the name of each tag an "o" or a "c" for what opens or closes, in order."""
    orders: dict[str, str] = {}
    for opened, closed in _TAG.findall(text):
        name = opened or closed
        orders[name] = orders.get(name, "") + ("o" if opened else "c")
    return orders


def capitalised_words(text: str) -> list[str]:
    """Latin words with a capital, in order, those of `COPIED` strings left out."""
    return CAPITALISED.findall(COPIED.sub(" ", unicodedata.normalize("NFC", text)))


def copies(
    source: str,
    hypothesis: str,
    reference: str,
    find: Callable[[str], list[str]] = copied_strings,
) -> tuple[int, int]:
    """Strings that were to be copied: how many were, and how many in all.

    Those count that source and reference both hold. So of `capitalised_words` those
    count that are the same in both languages: mostly names.
    """
    given, true, ours = (set(find(text)) for text in (source, reference, hypothesis))
    wanted = given & true
    return len(wanted & ours), len(wanted)


def invented_numbers(source: str, text: str, language: str) -> list[str]:
    """Numbers in digits of a translation that its source has not, nor says in words.

    Those up to `LARGEST_NAMED` are left out.

    Args:
        text: the translation.
        language: that of the source.
    """
    given = set(map(_digits, NUMBER.findall(source)))
    odd = [
        number
        for number in NUMBER.findall(text)
        if _digits(number) not in given and int(_digits(number)) > LARGEST_NAMED
    ]
    if not odd:
        return []
    # Few sentences come here: most predictions need no reader of number words.
    from coursepkg.projects.translation.errors.numerals import find_numbers
    from coursepkg.projects.translation.errors.surface import folded

    said = {str(one.value) for one in find_numbers(folded(source), language)}
    return [number for number in odd if _digits(number) not in said]


def _digits(number: str) -> str:
    """Digits alone: 10.000 and 10,000 are one number."""
    return re.sub("[.,]", "", number)
