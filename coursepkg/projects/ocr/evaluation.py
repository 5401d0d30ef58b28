"""Score readings of lines: one corpus CER with its signature, kinds of errors.

A picture that cannot be read counts as read wrong: its text is missing, its CER is 1.
So the number scored is always the number in the file.

A Vietnamese letter is a base letter with at most one vowel mark and at most one tone
mark, so a wrong letter can be almost right: `ấ` read as `â` is a wrong tone, as `á` a
wrong vowel mark, as `Ấ` a wrong case. The texts that a model learnt are rebuilt from
its card; by them a test line is known as seen or unseen.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from coursepkg.app.evaluation import check_known_training, train_overlap
from coursepkg.metrics.classification import Accuracy
from coursepkg.metrics.edit import CER, WER, Edit, align
from coursepkg.metrics.scoring import Score, score, score_as_json, sentence_scores
from coursepkg.projects.ocr.corpora import CORPORA, load_corpus
from coursepkg.projects.ocr.corpus import OWN_TEXTS, Corpus
from coursepkg.projects.ocr.data.splits import PROTOCOLS
from coursepkg.text.vietnamese import TONES


def training_texts(
    card: Mapping[str, Any], corpus: Corpus
) -> tuple[list[str] | None, list[str]]:
    """The training texts of a model.

    Args:
        card: what lies beside the weights: `data`, as `Corpus.described` gives it, and
            `start`.
        corpus: that is scored; where the model learnt from its training part, nothing
            is loaded again.

    Returns:
        the texts; or None and a note that says why they are not known.
    """
    return train_overlap(lambda: _rebuilt(card, corpus).texts["train"], "texts")


def _rebuilt(card: Mapping[str, Any], corpus: Corpus) -> Corpus:
    found = card.get("data")
    data: dict[str, Any] = found if isinstance(found, dict) else {}
    check_known_training(card, isinstance(data.get("source"), dict))
    if data["source"] == dict(corpus.source):
        return corpus
    if data.get("name") not in CORPORA:
        raise ValueError(
            f"the model learnt from {data.get('name')}, which --data does not name"
        )
    if OWN_TEXTS in data["source"]:
        raise ValueError(
            "the model learnt from a user's own texts, too; give that file with --texts"
        )
    protocol = data.get("protocol")
    split = protocol if protocol in PROTOCOLS else "auto"
    generate = int(data.get("generate", 0))
    there = load_corpus(data["name"], split=split, generate=generate)
    if dict(there.source) != data["source"]:
        raise ValueError(
            f"the model learnt from another version of {data['name']} than is here"
        )
    return there


KINDS = ("tone", "vowel mark", "case", "digit", "punctuation", "other")
"""Every edit is of one of them. `other` are wrong base letters, and letters and spaces
left out or put in."""


def letter_parts(character: str) -> tuple[str, str, str, bool]:
    """Base letter, vowel mark (or the bar of đ), tone, and whether it is a capital.

    Example:
        >>> letter_parts("Ấ"), letter_parts("đ")
        (('a', '̂', 'sắc', True), ('d', 'đ', 'ngang', False))
    """
    vowel, tone = TONES.get(character, (character, "ngang"))
    is_capital = vowel != vowel.lower()
    plain = vowel.lower()
    if plain == "đ":
        return "d", "đ", tone, is_capital
    spelled = unicodedata.normalize("NFD", plain)
    return spelled[:1], spelled[1:], tone, is_capital


def edit_kind(edit: Edit) -> str:
    """The kind of an edit that is no `equal`.

    Where a letter differs in several ways at once, the first of vowel mark, tone and
    case counts.
    """
    symbols = [
        symbol for symbol in (edit.reference, edit.hypothesis) if symbol is not None
    ]
    if len(symbols) == 2:
        (base, mark, tone, case), other = (
            letter_parts(symbols[0]),
            letter_parts(symbols[1]),
        )
        if base == other[0]:
            for kind, differs in (
                ("vowel mark", mark != other[1]),
                ("tone", tone != other[2]),
                ("case", case != other[3]),
            ):
                if differs:
                    return kind
    if any(symbol.isdigit() for symbol in symbols):
        return "digit"
    if any(unicodedata.category(symbol)[0] in "PS" for symbol in symbols):
        return "punctuation"
    return "other"


def error_kinds(hypotheses: Sequence[str], references: Sequence[str]) -> Counter[str]:
    """Edits of each kind of `KINDS` from references to hypotheses, summed.

    Both sides are read in NFC and without spaces at their ends, as the CER reads them;
    the sum is its edits.
    """
    counts: Counter[str] = Counter(dict.fromkeys(KINDS, 0))
    for hypothesis, reference in zip(hypotheses, references, strict=True):
        counts.update(
            edit_kind(edit)
            for edit in line_edits(hypothesis, reference)
            if edit.kind != "equal"
        )
    return counts


def line_edits(hypothesis: str, reference: str) -> list[Edit]:
    """A shortest alignment of one line, both sides in NFC and stripped."""
    ours, right = (
        unicodedata.normalize("NFC", text).strip() for text in (hypothesis, reference)
    )
    return align(ours, right)


def marked_html(hypothesis: str, reference: str) -> tuple[str, str]:
    """Both texts as HTML: `ins` marks what is too much, `del` what is missing.

    What nobody would see as a mark is written out there, see `visible`.

    Example:
        >>> marked_html("22 .000", "22.000")
        ('22<ins>␣</ins>.000', '22.000')
    """
    ours: list[str] = []
    right: list[str] = []
    for edit in line_edits(hypothesis, reference):
        for parts, symbol, tag in (
            (ours, edit.hypothesis, "ins"),
            (right, edit.reference, "del"),
        ):
            if symbol is not None:
                is_equal = edit.kind == "equal"
                parts.append(
                    escape(symbol)
                    if is_equal
                    else f"<{tag}>{escape(visible(symbol))}</{tag}>"
                )
    return "".join(ours), "".join(right)


def visible(symbol: str) -> str:
    r"""A character to be seen by itself: a space as ␣, invisible ones by number.

    Example:
        >>> visible("a"), visible(" "), visible("\u00a0")
        ('a', '␣', 'U+00A0')
    """
    if symbol == " ":
        return "␣"
    # Other spaces, controls, and marks that have lost their letter.
    has_shape = unicodedata.category(symbol)[0] not in "ZCM"
    return symbol if has_shape else f"U+{ord(symbol):04X}"


N_RESAMPLES = 1000
LEAST_GROUPS = 10
"""Fewer photographs or documents do not tell how much they differ."""


@dataclass(frozen=True)
class Evaluation:
    """Scores of one reader on one test set."""

    cer: Score
    """Corpus CER with interval: edits of all lines over characters of all
    references."""
    wer: Score
    """Corpus WER with interval; words are what stands between spaces."""
    right: Score
    """Share of lines that are right in every character, with interval."""
    mean_cer: float
    """Mean of the lines' own CERs. It weighs a line of two characters like one of
    eighty: to compare with others."""
    macro_cer: float
    """Mean over distinct texts of the corpus CER of their lines: a shop's name on a
    hundred receipts counts once."""
    parts: dict[str, Score]
    """Corpus CER of the lines whose text training saw, and of those it did not; empty
    where that is not known."""
    kinds: dict[str, int]
    """Edits by kind, see `KINDS`."""
    n_unreadable: int
    """Pictures that could not be read; they are scored with a CER of 1."""
    hypotheses: tuple[str, ...] = field(repr=False)
    """As they were scored."""
    references: tuple[str, ...] = field(repr=False)
    """As they were scored against."""

    @property
    def accuracy(self) -> float:
        """Share of lines that are right in every character."""
        return self.right.value

    def __str__(self) -> str:
        n_edits = max(1, sum(self.kinds.values()))
        kinds = ", ".join(
            f"{name} {n} ({n / n_edits:.0%})" for name, n in self.kinds.items()
        )
        n_texts, corpus = len(set(self.references)), f"{self.cer.value:.4f}"
        rows = [
            *map(str, (self.cer, self.wer, self.right)),
            *(f"{name}: {one}" for name, one in self.parts.items()),
            f"mean of the lines' CERs: {self.mean_cer:.4f} (corpus CER {corpus})",
            f"macro CER over {n_texts} distinct texts: {self.macro_cer:.4f}",
            f"errors: {kinds}",
        ]
        if self.n_unreadable:
            rows.append(
                "note: pictures that could not be read, each counted as CER 1:"
                f" {self.n_unreadable}"
            )
        return "\n".join(rows)

    def as_json(self) -> dict[str, Any]:
        """All but the texts, as JSON can hold it."""
        return {
            "n": len(self.references),
            "n_unreadable": self.n_unreadable,
            "cer": score_as_json(self.cer),
            "wer": score_as_json(self.wer),
            "accuracy": score_as_json(self.right),
            "mean_cer": self.mean_cer,
            "macro_cer": self.macro_cer,
            "n_distinct_texts": len(set(self.references)),
            "parts": {name: score_as_json(one) for name, one in self.parts.items()},
            "errors": dict(self.kinds),
        }


def evaluate(
    hypotheses: Sequence[str | None],
    references: Sequence[str],
    *,
    protocol: str = "",
    seen: Sequence[bool] | None = None,
    groups: Sequence[str] | None = None,
    n_resamples: int = N_RESAMPLES,
) -> Evaluation:
    """Score readings, one for each line of the test set.

    Args:
        hypotheses: what was read; None where the picture could not be read.
        references: what the lines say.
        protocol: data, split and reader in a few words, for the signature.
        seen: for each line whether training saw its text (`data.batches.seen_texts`);
            None: not known.
        groups: of each line, its photograph or document. The lines of one are hard or
            easy together, so the resamples draw whole groups, and intervals are wider;
            see `several_groups`.
        n_resamples: bootstrap resamples behind the intervals; 0 leaves them out.

    Raises:
        ValueError: the numbers differ, or there is no line.
    """
    _check(references, hypotheses=hypotheses, seen=seen, groups=groups)
    predictions = tuple(unicodedata.normalize("NFC", text or "") for text in hypotheses)
    true = tuple(unicodedata.normalize("NFC", text) for text in references)
    rates = sentence_scores(CER(), predictions, true)
    options: dict[str, Any] = {"protocol": protocol, "n_resamples": n_resamples}
    whole = options | {"groups": several_groups(groups)}
    return Evaluation(
        cer=score(CER(), predictions, true, **whole),
        wer=score(WER(), predictions, true, **whole),
        right=score(
            Accuracy(),
            *([text.strip() for text in side] for side in (predictions, true)),
            **whole,
        ),
        mean_cer=float(rates.mean()),
        macro_cer=macro_cer(predictions, true),
        parts={}
        if seen is None
        else _scores_apart(predictions, true, seen, groups, options),
        kinds=dict(error_kinds(predictions, true)),
        n_unreadable=sum(text is None for text in hypotheses),
        hypotheses=predictions,
        references=true,
    )


def several_groups(groups: Sequence[str] | None) -> Sequence[str] | None:
    """The groups that a bootstrap can draw; None where it must draw lines.

    That is where there are too few groups to tell how they differ, or each line is a
    group of its own.
    """
    if groups is not None and LEAST_GROUPS <= len(set(groups)) < len(groups):
        return groups
    return None


def _scores_apart(
    predictions: Sequence[str],
    true: Sequence[str],
    seen: Sequence[bool],
    groups: Sequence[str] | None,
    options: Mapping[str, Any],
) -> dict[str, Score]:
    """CER of the lines whose text training saw, and of those it did not."""
    parts = {}
    names = {True: "texts seen in training", False: "texts not seen in training"}
    for wanted, name in names.items():
        chosen = [i for i, known in enumerate(seen) if known == wanted]
        if chosen:
            own = [predictions[i] for i in chosen], [true[i] for i in chosen]
            drawn = several_groups(groups and [groups[i] for i in chosen])
            parts[name] = score(
                CER(), *own, n_in_file=len(true), groups=drawn, **options
            )
    return parts


def macro_cer(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Mean over distinct references of the corpus CER of the lines that say this."""
    rows = CER().statistics(hypotheses, references)
    totals: dict[str, np.ndarray] = {}
    for text, row in zip(references, rows, strict=True):
        totals[text] = totals.get(text, 0) + row
    return float(CER().values(np.stack(list(totals.values()))).mean())


def commonest_confusions(
    hypotheses: Sequence[str], references: Sequence[str], count: int = 20
) -> list[tuple[str, str, int]]:
    """The substitutions that occur most: right character, read character, how often."""
    found = Counter(
        (edit.reference, edit.hypothesis)
        for ours, right in zip(hypotheses, references, strict=True)
        for edit in line_edits(ours, right)
        if edit.kind == "substitute"
    )
    return [(str(right), str(read), n) for (right, read), n in found.most_common(count)]


def _check(references: Sequence[str], **beside: Sequence[Any] | None) -> None:
    if not references:
        raise ValueError("references must hold at least one line, got none")
    for name, given in beside.items():
        if given is not None and len(given) != len(references):
            raise ValueError(
                f"{name} must be {len(references)}, one for each line, got {len(given)}"
            )
