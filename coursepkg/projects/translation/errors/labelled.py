"""Fifty errors of the translator, each labelled by hand with its kind.

The translator of the third stage of training, which has learnt more since, read the
Vietnamese sentences of the test part of Tatoeba's pairs, each once, and wrote English
with its default settings. Kept were outputs with one error that clearly belongs to one
kind (a slip of grammar beside another error does not count), no two alike, at most
eight of a kind, in the order of the test part. So the kinds are more even here than
among all errors.

The sentences are Tatoeba's, CC BY 2.0 FR, each with the numbers and owners of both in
`attribution`; `tatoeba.LICENCE` says more.
"""

from typing import NamedTuple

from coursepkg.checks.error_lists import read_rows

ERROR_KINDS = {
    "omission": "a part of the meaning is missing; what stands there is right",
    "wrong sense": "a word by a sense that it has elsewhere, or an idiom word by word",
    "unrelated word": "an English word that no sense of the Vietnamese one has",
    "invented word": "a string that is neither English nor in the source",
    "untranslated": "a Vietnamese word is copied",
    "person or date": "another person or another date than in the source",
    "grammar": "meaning and words are right, their form or order is not",
}
"""What each kind means."""


class LabelledError(NamedTuple):
    """An output of the translator with one error."""

    source: str
    """In Vietnamese."""
    output: str
    """What the translator wrote."""
    reference: str
    """The first English translation of Tatoeba."""
    attribution: str
    """Numbers and owners of the English and the Vietnamese sentence."""
    label: str
    """One of `ERROR_KINDS`."""
    reason: str
    """Why it has this label."""


def labelled_errors() -> tuple[LabelledError, ...]:
    """The errors in the order of the test part."""
    return tuple(LabelledError(**row) for row in read_rows("translation_errors"))


def error_table() -> str:
    """The errors with source, output and reference, as a table in Markdown."""
    head = "| | Vietnamese | output | reference |\n| ---: | --- | --- | --- |"
    rows = (
        f"| {number} | {one.source} | {one.output} | {one.reference} |"
        for number, one in enumerate(labelled_errors(), start=1)
    )
    return "\n".join([head, *rows])
