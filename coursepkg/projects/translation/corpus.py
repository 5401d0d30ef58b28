"""Parallel text: two files, line i of one translating line i of the other."""

import random
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from coursepkg.files import check_regular
from coursepkg.text.cleaning import unescape
from coursepkg.text.languages import language_of
from coursepkg.text.spacing import detokenize, remove_spaces, space_punctuation, unjoin
from coursepkg.text.tokenizer import WORD_MARK
from coursepkg.text.vietnamese import compose


class SentencePair(NamedTuple):
    """A sentence and its translation, as they stand in their files."""

    source: str
    target: str
    file: str = ""
    """Name of the source's file."""
    line: int = 0
    """Line in both files, from 1; 0 where there is no file."""

    def swapped(self) -> "SentencePair":
        """The same pair in the other direction."""
        return SentencePair(self.target, self.source, self.file, self.line)


def numbered_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """The lines of a UTF-8 file with their numbers from 1, one at a time.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: a line is not UTF-8; it is named.
    """
    if not Path(path).exists():
        raise FileNotFoundError(
            f"{path}: no such file; give the path of a UTF-8 file, one sentence a line"
        )
    check_regular(Path(path))
    with Path(path).open("rb") as file:
        for number, raw in enumerate(file, start=1):
            try:
                text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError as reason:
                raise ValueError(
                    f"{path}, line {number}: not UTF-8 ({reason.reason} at byte"
                    f" {reason.start} of the line); save the file as UTF-8"
                ) from None
            yield number, text.rstrip("\r\n")


def read_parallel(
    source_path: str | Path, target_path: str | Path
) -> list[SentencePair]:
    """Read two files of equal length.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a line is not UTF-8, empty or holds U+2581, or the files differ in
            length; file and line are named.
    """
    pairs = _read_both(source_path, target_path)
    for side, path in (("source", source_path), ("target", target_path)):
        for pair in pairs:
            if not getattr(pair, side).strip():
                raise ValueError(
                    f"{path}, line {pair.line}: empty; remove the line from both files"
                )
    return pairs


def read_published(
    source_path: str | Path, target_path: str | Path
) -> tuple[list[SentencePair], list[str]]:
    """Read two files as published; pairs with an empty side are left out.

    Returns:
        the other pairs, and a note on how many were left out and where they stand, if
        there are any.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a line is not UTF-8 or holds U+2581, or the files differ in length;
            file and line are named.
    """
    pairs = _read_both(source_path, target_path)
    kept = [p for p in pairs if p.source.strip() and p.target.strip()]
    if len(kept) == len(pairs):
        return pairs, []
    empty = sorted({p.line for p in pairs} - {p.line for p in kept})
    places = ", ".join(map(str, empty[:5])) + (", ..." if len(empty) > 5 else "")
    files = f"{Path(source_path).name} and {Path(target_path).name}"
    return kept, [
        f"{len(empty)} pairs of {files} left out, which have an empty side: line"
        f" {places}"
    ]


def _read_both(source_path: str | Path, target_path: str | Path) -> list[SentencePair]:
    """The lines of both files, empty ones too."""
    sources, targets = (
        [text for _, text in numbered_lines(path)]
        for path in (source_path, target_path)
    )
    if len(sources) != len(targets):
        raise ValueError(
            f"{source_path} has {len(sources)} lines and {target_path} has"
            f" {len(targets)}; line i of one must translate line i of the other"
        )
    if not sources:
        raise ValueError(f"{source_path}: empty; a corpus holds at least one pair")
    for path, lines in ((source_path, sources), (target_path, targets)):
        for number, text in enumerate(lines, start=1):
            check_unmarked(text, f"{path}, line {number}:")
    name, both = Path(source_path).name, zip(sources, targets, strict=True)
    return [SentencePair(*pair, name, i) for i, pair in enumerate(both, start=1)]


def check_unmarked(text: str, where: str) -> None:
    """Raises a ValueError where a text holds U+2581, the mark of vocabularies."""
    if WORD_MARK in text:
        raise ValueError(
            f"{where} holds {WORD_MARK} (U+2581), which vocabularies use; put a space"
            " in its place"
        )


def not_composed(lines: Iterable[str]) -> list[int]:
    """Numbers, from 1, of the lines that are not in Unicode form NFC."""
    return [
        i
        for i, line in enumerate(lines, start=1)
        if not unicodedata.is_normalized("NFC", line)
    ]


def to_model(text: str, language: str, *, underscores: str = "remove") -> str:
    """A sentence in the form that models see, whatever form it was written in.

    Chinese is joined, Vietnamese and English have a space on both sides of each
    punctuation mark. All are in NFC, without HTML entities. Nothing is lower-cased and
    no Chinese character replaced.

    Args:
        text: one line, of a file or of a user.
        language: a code of `LANGUAGES`.
        underscores: "keep" leaves word-segmentation underscores in Vietnamese, "remove"
            makes them spaces.
    """
    text = to_scorer(text, language, underscores=underscores)
    return text if language_of(language).is_han else space_punctuation(text)


def to_reader(text: str, language: str) -> str:
    """What a model wrote as it is read: no underscores, usual punctuation."""
    if language_of(language).is_han:
        return remove_spaces(text)
    return detokenize(unjoin(text))


def to_scorer(text: str, language: str, *, underscores: str = "remove") -> str:
    """A hypothesis or reference as it is scored: the same for both sides.

    Chinese joined, for SacreBLEU's `zh` tokenizer; of the others entities are resolved
    and, with "remove", the underscores of Vietnamese become spaces. Unicode form NFC.
    Spacing stays as it is.
    """
    text = compose(unescape(text).text if "&" in text else text)
    written = language_of(language)
    if written.is_han:
        return remove_spaces(text)
    joined = written.joins_syllables and underscores == "remove"
    return unjoin(text) if joined else text


_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~“”‘’…–—，。！？：；、（）]+")
"""The signs that most sentences have beside letters and digits."""


def sentence_key(text: str, language: str) -> str:
    """What two spellings of one sentence share: letters and digits, lower case.

    Spaces, underscores, punctuation and width are left out; a sentence of nothing else
    is its own key.
    """
    folded = _folded(to_scorer(text, language))
    kept = _PUNCTUATION.sub("", "".join(folded.split()))
    if not kept.isalnum():  # as few are; looking at each sign takes long
        kept = "".join(
            sign
            for sign in kept
            if sign.isalnum() or unicodedata.category(sign).startswith("M")
        )
    return f"{language}:{kept or _folded(to_model(text, language))}"


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def pair_keys(pair: SentencePair, source: str, target: str) -> tuple[str, str]:
    """Keys of both sides; pairs that share one belong to one group of a split."""
    return sentence_key(pair.source, source), sentence_key(pair.target, target)


def without_duplicates(
    pairs: Sequence[SentencePair], keys: Callable[[SentencePair], tuple[str, str]]
) -> tuple[list[SentencePair], list[SentencePair]]:
    """The first of all pairs that are equal by their keys, and the ones left out."""
    kept: dict[tuple[str, str], SentencePair] = {}
    left_out = [pair for pair in pairs if kept.setdefault(keys(pair), pair) is not pair]
    return list(kept.values()), left_out


_ENDS, _CLOSING = "。！？!?…", "”’」』）)\\]»"
_ABBREVIATIONS = (
    *("[A-Za-z]", "Mr", "Mrs", "Ms", "Dr", "Prof", "Jr", "St", "vs", "etc", "Fig"),
    *("Inc", "Ltd", "Co", "TP", "TS", "GS", "PGS", "BS", r"No(?=\.\s[\d①-⑨])"),
)
_NO_ABBREVIATION = "".join(rf"(?<!\b{one}\.)" for one in _ABBREVIATIONS)
"""A point behind these, or behind a letter as in "e.g.", ends no sentence."""
CUTS = (
    re.compile(
        # Marks in a row stay together, and so do a mark and the quote that it ends.
        # In `!important` or a link the mark ends no sentence.
        rf"(?<=[{_ENDS}])(?<![!?](?=[=A-Za-z0-9_①-⑨]))"
        rf"(?!\s*[{_ENDS}{_CLOSING}]|[\"'](?:\s|$))"
        rf"|(?<=[{_ENDS}][{_CLOSING}])(?![{_ENDS}{_CLOSING}，、；：,.;:])"
        rf"|(?<=[.;]){_NO_ABBREVIATION}(?=\s)(?!\s*[{_CLOSING}])"
        rf"|(?<=[{_ENDS}.;][{_CLOSING}\"'])(?=\s)"
    ),
    re.compile(r"(?<=[，、；：])|(?<=[,:])(?=\s)"),
)
"""Where a text is cut: first at the ends of sentences, then at commas."""


def split_sentences(text: str) -> list[str]:
    """The sentences of a text, without the spaces around them, entities replaced.

    Example:
        >>> split_sentences("Mr. Lee is here. Who called?")
        ['Mr. Lee is here.', 'Who called?']
    """
    text = unescape(text).text if "&" in text else text
    return [*filter(None, map(str.strip, CUTS[0].split(text)))]


RUN_ON_SENTENCES = 2, 5
"""In a run-on sentence there are at least and at most so many."""
RUN_ON_CHARACTERS = 70
"""The target of each of them has at most so many, or the source where it is Chinese."""


def run_ons(
    pairs: Sequence[SentencePair], n: int, source: str, target: str
) -> list[SentencePair]:
    """Run-on sentences, as in chats: a few short pairs each, drawn at random.

    The marks at the ends of their sentences go, those inside stay. All but the first
    begin with a small letter, names and "I" too. Chinese has no spaces between them. Of
    too few short pairs none is made.
    """
    is_han = language_of(target).is_han
    short = [
        pair
        for pair in pairs
        if len(pair.source if is_han else pair.target) <= RUN_ON_CHARACTERS
    ]
    draw, (least, most) = random.Random(0), RUN_ON_SENTENCES
    if len(short) < most:
        return []
    drawn = (draw.sample(short, draw.randint(least, most)) for _ in range(n))
    return [
        SentencePair(
            _run_on([pair.source for pair in own], source),
            _run_on([pair.target for pair in own], target),
        )
        for own in drawn
    ]


def _run_on(texts: Sequence[str], language: str) -> str:
    first, *rest = (text.strip().rstrip(_ENDS + '.;"”') for text in texts)
    space = "" if language_of(language).is_han else " "
    return space.join([first, *(text[:1].lower() + text[1:] for text in rest)])


def cut_text(
    text: str,
    fits: Callable[[str], bool],
    most: int,
    space: str,
    cuts: Sequence[re.Pattern[str]] = CUTS,
) -> list[str]:
    """A text in parts that fit.

    Args:
        text: without spaces around it.
        fits: whether a part is short enough.
        most: characters of a text that may fit; a longer one is not tried.
        space: what stands between parts that are put together again.
        cuts: where to cut, the best places first. What has none of them is cut behind
            a word, or else where it must be.
    """
    if len(text) <= most and fits(text):
        return [text]
    parts: list[str] = []
    if not cuts:
        while text:
            # The longest beginning that fits, at least one character of it.
            n = bisect_left(
                range(1, min(len(text), most) + 1),
                True,
                key=lambda n: not fits(text[:n]),
            )
            end = text.rfind(" ", 1, n + 1) if n < len(text) else n
            end = end if end > 0 else max(1, n)
            parts.append(text[:end])
            text = text[end:].strip()
        return parts
    for piece in filter(None, map(str.strip, cuts[0].split(text))):
        joined = space.join([*parts[-1:], piece])
        # A sentence stays by itself: the model has learnt to translate one.
        if parts and cuts is not CUTS and len(joined) <= most and fits(joined):
            parts[-1] = joined
        else:
            parts += cut_text(piece, fits, most, space, cuts[1:])
    return parts
