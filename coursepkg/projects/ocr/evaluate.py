"""Score readings of lines: one corpus CER with its signature, and all that hides behind it.

A picture that cannot be read counts as read wrong: its text is missing, its CER is 1. So the number scored is always
the number in the file.
"""

import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from coursepkg.metrics.classification import Accuracy
from coursepkg.metrics.edit import CER, WER
from coursepkg.metrics.scoring import score, sentence_scores
from coursepkg.metrics.signature import Score, score_as_json
from coursepkg.projects.ocr.errors import error_kinds, line_edits

N_RESAMPLES = 1000
LEAST_GROUPS = 10
"""Fewer photographs or documents do not tell how much they differ."""


@dataclass(frozen=True)
class Evaluation:
    """Scores of one reader on one test set."""

    cer: Score
    """Corpus CER with interval: edits of all lines over characters of all references."""
    wer: Score
    """Corpus WER with interval; words are what stands between spaces."""
    right: Score
    """Share of lines that are right in every character, with interval."""
    mean_cer: float
    """Mean of the lines' own CERs. It weighs a line of two characters like one of eighty: to compare with others."""
    macro_cer: float
    """Mean over distinct texts of the corpus CER of their lines: a shop's name on a hundred receipts counts once."""
    parts: dict[str, Score]
    """Corpus CER of the lines whose text training saw, and of those it did not; empty where that is not known."""
    kinds: dict[str, int]
    """Edits by kind, see `errors.KINDS`."""
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
        kinds = ", ".join(f"{name} {n} ({n / n_edits:.0%})" for name, n in self.kinds.items())
        rows = [
            str(self.cer),
            str(self.wer),
            str(self.right),
            *(f"{name}: {one}" for name, one in self.parts.items()),
            f"mean of the lines' CERs: {self.mean_cer:.4f} (corpus CER {self.cer.value:.4f})",
            f"macro CER over {len(set(self.references))} distinct texts: {self.macro_cer:.4f}",
            f"errors: {kinds}",
        ]
        if self.n_unreadable:
            rows.append(f"note: pictures that could not be read, each counted as CER 1: {self.n_unreadable}")
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
        seen: for each line whether training saw its text (`data.alphabet.seen_texts`); None: not known.
        groups: of each line, its photograph or document. The lines of one are hard or easy together, so the resamples
            draw whole groups, and intervals are wider; see `several_groups`.
        n_resamples: bootstrap resamples behind the intervals; 0 leaves them out.

    Raises:
        ValueError: the numbers differ, or there is no line.
    """
    _check(references, hypotheses=hypotheses, seen=seen, groups=groups)
    said = tuple(unicodedata.normalize("NFC", text or "") for text in hypotheses)
    true = tuple(unicodedata.normalize("NFC", text) for text in references)
    rates = sentence_scores(CER(), said, true)
    options: dict[str, Any] = {"protocol": protocol, "n_resamples": n_resamples}
    whole = options | {"groups": several_groups(groups)}
    return Evaluation(
        cer=score(CER(), said, true, **whole),
        wer=score(WER(), said, true, **whole),
        right=score(Accuracy(), *([text.strip() for text in side] for side in (said, true)), **whole),
        mean_cer=float(rates.mean()),
        macro_cer=macro_cer(said, true),
        parts={} if seen is None else _scores_apart(said, true, seen, groups, options),
        kinds=dict(error_kinds(said, true)),
        n_unreadable=sum(text is None for text in hypotheses),
        hypotheses=said,
        references=true,
    )


def several_groups(groups: Sequence[str] | None) -> Sequence[str] | None:
    """The groups that a bootstrap can draw; None where it must draw lines.

    That is where there are too few groups to tell how they differ, or each line is a group of its own.
    """
    return groups if groups is not None and LEAST_GROUPS <= len(set(groups)) < len(groups) else None


def _scores_apart(
    said: Sequence[str],
    true: Sequence[str],
    seen: Sequence[bool],
    groups: Sequence[str] | None,
    options: Mapping[str, Any],
) -> dict[str, Score]:
    """CER of the lines whose text training saw, and of those it did not."""
    parts = {}
    for name, wanted in (("texts seen in training", True), ("texts not seen in training", False)):
        chosen = [i for i, known in enumerate(seen) if known == wanted]
        if chosen:
            own = [said[i] for i in chosen], [true[i] for i in chosen]
            drawn = several_groups(groups and [groups[i] for i in chosen])
            parts[name] = score(CER(), *own, n_in_file=len(true), groups=drawn, **options)
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
            raise ValueError(f"{name} must be {len(references)}, one for each line, got {len(given)}")
