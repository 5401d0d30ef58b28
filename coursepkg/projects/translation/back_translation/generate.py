"""Training pairs out of text in one language: back-translations and round trips.

Back-translation (Sennrich et al., arXiv 1511.06709): a model translates real text of
the target language back into the source language; the synthetic source and the real
target are a training pair. Edunov et al. (arXiv 1808.09381) compare ways to write the
sources: sampling or noised beam search teach most, except where little parallel text is
there to train the model that translates back. The corpora of this project are small by
that measure, so the search is the default here, and sampling the option to compare it
with.

Which pairs that a model wrote are too bad to train on.
"""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial

from coursepkg.app.jobs import ResumableJsonl
from coursepkg.projects.translation.corpus import SentencePair, sentence_key, to_model
from coursepkg.projects.translation.errors.surface import UNKNOWN, runs, words
from coursepkg.projects.translation.placeholders import restore
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.studies.decoding_study import Decoder, Method
from coursepkg.text.languages import script_share
from coursepkg.validation import check_at_least, check_count, check_finite, check_share

LONGEST_RUN = 4
"""Words of the longest phrase that is looked for several times in a row."""


@dataclass(frozen=True)
class Limits:
    """What a synthetic pair must keep within. Words of Chinese are its characters."""

    max_ratio: float = 3.0
    """Most words of one side for each word of the other, at least 1."""
    min_length: int = 5
    """Words of the longer side from which on the ratio counts, at least 1; shorter
    sentences vary too much."""
    max_repeats: int = 2
    """Most times that one to four words may stand in a row, at least 1."""
    min_script: float = 0.5
    """Least share of letters in the script of the language, in [0, 1]."""

    def __post_init__(self) -> None:
        check_finite("max_ratio", self.max_ratio)
        check_at_least("max_ratio", self.max_ratio, 1)
        check_share("min_script", self.min_script)
        check_count("min_length", self.min_length)
        check_count("max_repeats", self.max_repeats)


def problem(
    made: str, real: str, source: str, target: str, limits: Limits
) -> str | None:
    """Why a pair is left out: the first of the reasons below that holds, or None.

    Args:
        made: the sentence that the model wrote.
        real: the one that it was made from.
        source: language of `made`.
        target: language of `real`.
        limits: what is allowed.
    """
    if not words(made):
        return "translated into nothing"
    if UNKNOWN in made:
        return "translated with unknown tokens"
    if bare_key(made, source) == bare_key(real, target):
        return "copied instead of translated"
    if script_share(made, source) < limits.min_script:
        return "translated into another script"
    if of_unequal_lengths(made, real, limits):
        return "of too unequal lengths"
    if repeats(made) > max(limits.max_repeats, repeats(real)):
        return "with repetitions"
    return None


def of_unequal_lengths(one: str, other: str, limits: Limits) -> bool:
    """Whether one of two sentences has too many words for the other."""
    short, long = sorted((len(words(one)), len(words(other))))
    return long >= limits.min_length and long > limits.max_ratio * short


def bare_key(text: str, language: str) -> str:
    """What two sentences have in common if one is a copy of the other."""
    return sentence_key(text, language).partition(":")[2]


def repeats(text: str) -> int:
    """The most times that a phrase of one to four words stands in a row.

    Example:
        >>> repeats("tôi đi tôi đi tôi đi học")
        3
    """
    found = words(text)
    return max(
        (times for n in range(1, LONGEST_RUN + 1) for _, times in runs(found, n)),
        default=1,
    )


CHUNK = 1024
"""Sentences between two reports; so many are lost at most where a run is stopped that
keeps what it made."""
SAME_LANGUAGE = Limits(max_ratio=2.0)
"""What a sentence and its round trip must keep within: they are of one language, so of
about one length."""

Report = Callable[[int, int], None]
"""Called with the sentences done and the sentences in all."""


@dataclass(frozen=True)
class Synthetic:
    """Pairs that a model wrote a side of, and what became of the rest."""

    pairs: list[SentencePair]
    """In the order of what they were made from."""
    counts: dict[str, int]
    """By reason, how many lines were left out, or sentences left as they were."""

    def __str__(self) -> str:
        counts = [f"{count} {reason}" for reason, count in self.counts.items()]
        return "; ".join([f"{len(self.pairs)} pairs", *counts])


def back_translate(
    translator: Translator,
    lines: Sequence[str],
    source: str,
    target: str,
    *,
    method: Method | None = None,
    limits: Limits | None = None,
    held_out: Collection[str] = (),
    name: str = "",
    batch_size: int = 64,
    report: Report = lambda done, total: None,
    kept: ResumableJsonl | None = None,
) -> Synthetic:
    """Pairs (synthetic source, real target) from text in the target language.

    Args:
        translator: translates from `target` into `source`.
        lines: sentences in `target`, one each.
        source: language that the model writes.
        target: language of the lines.
        method: how it decodes; None is the search of its recipe.
        limits: what a pair must keep within; None takes the defaults.
        held_out: keys of sentences that may be on neither side, see `held_out_keys`.
        name: what the lines are, for the pairs' `file`.
        report: called after each chunk.
        kept: what an earlier run with the same arguments translated; what this one
            translates is added.

    Returns:
        The pairs, whose targets are the lines as they stand, and for each reason the
        lines left out; a line has one reason, the first that holds.

    Raises:
        ValueError: the model does not translate that way.
    """
    translator.check_direction(target, source)
    limits = Limits() if limits is None else limits
    held, counts = frozenset(held_out), Counter[str]()
    chosen: list[tuple[int, str, list[int]]] = []
    seen: set[str] = set()
    masked = [translator.masked(line) for line in lines]
    read = [one.text for one in masked]
    encoded = translator.subwords.encode_sources(read, target, source)
    for number, (line, ids) in enumerate(zip(lines, encoded, strict=True), start=1):
        key = sentence_key(line, target)
        reason = _unfit(translator, line, ids, target)
        reason = reason or (
            "in dev or test" if key in held else "repeated" if key in seen else None
        )
        if reason:
            counts[reason] += 1
        else:
            seen.add(key)
            chosen.append((number, line, ids))
    pairs = []
    translate = partial(_translated, translator, method, batch_size, report, kept)
    written = translate([ids for *_, ids in chosen])
    for (number, line, _), written_line in zip(chosen, written, strict=True):
        text = restore(written_line, masked[number - 1].values)
        reason = problem(text, line, source, target, limits)
        if reason is None and sentence_key(text, source) in held:
            reason = "translated into a sentence of dev or test"
        if reason:
            counts[reason] += 1
        else:
            pairs.append(SentencePair(text, line, name, number))
    return Synthetic(pairs, dict(counts))


def round_trip(
    translator: Translator,
    pairs: Sequence[SentencePair],
    source: str,
    target: str,
    *,
    method: Method | None = None,
    limits: Limits | None = None,
    batch_size: int = 64,
    report: Report = lambda done, total: None,
    kept: ResumableJsonl | None = None,
) -> Synthetic:
    """Translate each side of a pair into the other language and back: x -> y^ -> x~.

    The two versions of a sentence, x and x~, are what the second contrastive loss draws
    together.

    Args:
        translator: translates both ways.
        pairs: pairs that fit the model.
        method: how it decodes; None is the search of its recipe.
        limits: the lengths that a sentence and what comes back must keep within; None
            takes `SAME_LANGUAGE`.
        report: called after each chunk, of one side.
        kept: what an earlier run with the same arguments translated; what this one
            translates is added.

    Returns:
        One pair (x~, y~) for each pair, in order. A sentence of which nothing comes
        back, nothing that fits the model, or something of another length, stands there
        as it was and is counted, and so are those that come back unchanged.

    Raises:
        ValueError: the model translates one way only.
    """
    translator.check_direction(source, target)
    translator.check_direction(target, source)
    limits, counts = SAME_LANGUAGE if limits is None else limits, Counter[str]()
    translate = partial(_translated, translator, method, batch_size, report, kept)
    sides = []
    for side, own, other in (("source", source, target), ("target", target, source)):
        texts = [getattr(pair, side) for pair in pairs]
        there = _translated_where_fit(translator, translate, texts, own, other)
        back = _translated_where_fit(translator, translate, there, other, own)
        ids = translator.subwords.encode_sources(
            [translator.masked(text or "").text for text in back], own, other
        )
        chosen = []
        for text, came, own_ids in zip(texts, back, ids, strict=True):
            lost = came is None or _unfit(translator, came, own_ids, own) is not None
            off = not lost and of_unequal_lengths(str(came), text, limits)
            same = not lost and sentence_key(str(came), own) == sentence_key(text, own)
            counts[f"{side}s of which nothing usable came back"] += lost
            counts[f"{side}s that came back with too unequal a length"] += off
            counts[f"{side}s that came back unchanged"] += same
            chosen.append(text if lost or off or came is None else came)
        sides.append(chosen)
    made = [
        SentencePair(x, y, pair.file, pair.line)
        for x, y, pair in zip(*sides, pairs, strict=True)
    ]
    return Synthetic(made, dict(counts))


def _translated_where_fit(
    translator: Translator,
    translate: Callable[[list[list[int]]], list[str]],
    texts: Sequence[str | None],
    source: str,
    target: str,
) -> list[str | None]:
    """Translate what is neither empty nor longer than the model takes; else None."""
    masked = [translator.masked(text or "") for text in texts]
    encoded = translator.subwords.encode_sources(
        [one.text for one in masked], source, target
    )
    fits = [
        text is not None and _unfit(translator, text, ids, source) is None
        for text, ids in zip(texts, encoded, strict=True)
    ]
    good = [ids for ids, fit in zip(encoded, fits, strict=True) if fit]
    written = iter(translate(good))
    return [
        restore(next(written), one.values) if fit else None
        for one, fit in zip(masked, fits, strict=True)
    ]


def _unfit(
    translator: Translator, text: str, ids: Sequence[int], language: str
) -> str | None:
    """Why the model cannot read a sentence; `ids` are its own, with the tag."""
    if not any(sign.isalnum() for sign in to_model(text, language)):
        return "empty"
    return "too long for the model" if len(ids) > translator.longest else None


def _translated(
    translator: Translator,
    method: Method | None,
    batch_size: int,
    report: Report,
    kept: ResumableJsonl | None,
    sources: Sequence[Sequence[int]],
) -> list[str]:
    """Translations as the training data are written, in order."""
    recipe = translator.recipe
    search = Method(recipe.beam_size, recipe.length_penalty)
    decoder, decode = Decoder(translator, batch_size), translator.subwords.target.decode

    def make(part: Sequence[Sequence[int]], first: int) -> list[str]:
        found = decoder.decode(part, method or search, first=first)
        return [decode(one.ids) for one in found]

    written = []
    for first in range(0, len(sources), CHUNK):
        part = sources[first : first + CHUNK]
        made = partial(make, part, first)
        written += made() if kept is None else kept.next_result(made)
        report(first + len(part), len(sources))
    return written
