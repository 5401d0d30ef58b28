"""Score a recogniser on a part: macro-F1 over the fixed label list, with intervals.

A clip that cannot be read counts as wrong, so the number scored is the number in the
part. Intervals draw signers: the clips of one person share what makes them hard, and
what is asked is how well the next person will be understood.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np

from coursepkg.metrics.classification import Accuracy, check_labels
from coursepkg.metrics.scoring import (
    Comparison,
    Metric,
    Score,
    by_group,
    format_values,
    resampled_values,
    score,
    score_as_json,
)
from coursepkg.metrics.scoring import compare as compare_outputs
from coursepkg.projects.sign_language.data.label_mapping import BANDS, Band, band_of
from coursepkg.projects.sign_language.scores import (
    Answer,
    Clips,
    Confusion,
    DrawBy,
    SignerScore,
    SignScores,
    WordF1,
    WordScore,
    answers_of,
    draw_groups,
)
from coursepkg.validation import check_choice, check_count

SEED = 12345
"""Of the draws; SacreBLEU's own."""


class Scorer:
    """Answers, and what all scores of them have in common.

    Args:
        answers: at least one.
        labels: all words.
        protocol: for the signatures.
        n_resamples: draws behind an interval; 0 for none.
    """

    def __init__(
        self,
        answers: Sequence[Answer],
        labels: tuple[str, ...],
        protocol: str = "",
        n_resamples: int = 0,
    ) -> None:
        self.answers, self.labels = answers, labels
        self.protocol, self.n_resamples = protocol, n_resamples
        self.said, self.truths = (
            [one.said for one in answers],
            [one.label for one in answers],
        )
        signed = set(self.truths)
        self.absent = tuple(word for word in labels if word not in signed)
        """Words of the list without a clip."""

    def metric(self, words: tuple[str, ...] = (), about: str = "") -> WordF1:
        """Macro-F1 over some words; empty for all."""
        absent = tuple(word for word in self.absent if not words or word in words)
        return WordF1(self.labels, words, absent, about)

    def value(self, metric: Metric) -> float:
        """A score without interval."""
        return score(metric, self.said, self.truths).value

    def score(self, metric: Metric, by: DrawBy = "signer") -> Score:
        """A score with its interval, where one can be drawn."""
        groups = draw_groups(self.answers, by)
        can = (
            self.n_resamples > 0
            and groups is not None
            and self.can_draw(metric, groups, self.said)
        )
        return score(
            metric,
            self.said,
            self.truths,
            protocol=self.protocol,
            n_resamples=self.n_resamples if can else 0,
            seed=SEED,
            groups=groups if can else None,
        )

    def can_draw(
        self, metric: Metric, groups: Sequence[Hashable], said: Sequence[str | None]
    ) -> bool:
        """Whether every draw has something to score.

        A draw of signers who sign no word of the tail, for example, has nothing.
        """
        drawn = by_group(metric.statistics(said, self.truths), groups)
        values = resampled_values(
            metric, drawn, n_resamples=max(2, self.n_resamples), seed=SEED
        )
        return not bool(np.isnan(values).any())


N_RESAMPLES = 1000
FEW_SIGNERS = 10
"""With fewer signers the interval is called rough: so few draws differ from one
another."""


@runtime_checkable
class HasProbabilities(Protocol):
    """What a recogniser gives; `inference.Predicted` has it."""

    @property
    def probabilities(self) -> np.ndarray:
        """(N, V), a row a clip and a column a word."""


def evaluate(
    predicted: HasProbabilities,
    clips: Clips,
    labels: Sequence[str],
    counts: Sequence[int],
    *,
    protocol: str = "",
    n_resamples: int = N_RESAMPLES,
) -> SignScores:
    """Score what was predicted for the clips of a part.

    Args:
        predicted: probabilities (N, V).
        clips: the N clips in the same order; those that a cache had to leave out count
            as wrong.
        labels: the V words in the order of their class numbers.
        counts: clips of each word (V,), which say what is head, body and tail; source
            002 counts all labelled clips.
        protocol: data, split and recogniser in a few words, for the signature.
        n_resamples: bootstrap resamples behind the intervals; 0 leaves them out.

    Raises:
        ValueError: shapes do not fit, there is no clip, or one has a word that is not
            in the list.
    """
    answers = answers_of(predicted.probabilities, clips, labels)
    return score_answers(
        answers, labels, counts, protocol=protocol, n_resamples=n_resamples
    )


def score_answers(
    answers: Sequence[Answer],
    labels: Sequence[str],
    counts: Sequence[int],
    *,
    protocol: str = "",
    n_resamples: int = N_RESAMPLES,
) -> SignScores:
    """Score answers, as they were given or as an `evaluation.json` holds them.

    Args:
        answers: at least one.
        labels: see `evaluate`.
        counts: see `evaluate`.
        protocol: see `evaluate`.
        n_resamples: see `evaluate`.

    Raises:
        ValueError: there is no answer, one has a word that is not in the list, or
            numbers do not fit.
    """
    _check(answers, labels, counts)
    found = Scorer(answers, tuple(labels), protocol, n_resamples)
    bands = [band_of(count) for count in counts]
    words = {
        band: tuple(w for w, b in zip(labels, bands, strict=True) if b == band)
        for band in BANDS
    }
    by_band = {
        band: found.score(found.metric(own, band)) for band, own in words.items() if own
    }
    whole = found.score(found.metric())
    return SignScores(
        macro_f1=whole,
        by_clip=found.score(found.metric(), "clip").interval,
        accuracy=found.score(Accuracy()),
        top5=sum(1 <= one.rank <= 5 for one in answers) / len(answers),
        present=found.value(
            found.metric(tuple(w for w in labels if w not in found.absent))
        ),
        bands=by_band,
        signers=_signers(found),
        words=_words(whole, bands, counts),
        confusions=confusions(answers),
        labels=tuple(labels),
        counts=tuple(counts),
        notes=tuple(_notes(found, by_band)),
        answers=tuple(answers),
    )


@dataclass(frozen=True)
class PairScore:
    """How often the right word of a pair gets more than its partner; chance is 0.5."""

    accuracy: Score
    """Of the clips of all pairs."""
    pairs: dict[tuple[str, str], float]
    """Accuracy within each pair."""
    n: int
    """Clips of pairs; one that could not be read counts as wrong."""

    def as_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {
            "accuracy": score_as_json(self.accuracy),
            "pairs": {"/".join(pair): value for pair, value in self.pairs.items()},
            "n": self.n,
        }

    def __str__(self) -> str:
        parts = [
            f"{'/'.join(pair)} {format_values(value)[0]}"
            for pair, value in self.pairs.items()
        ]
        return f"within pairs of words, {self.accuracy}\n  {', '.join(parts)}"


def score_pairs(
    predicted: HasProbabilities,
    clips: Clips,
    labels: Sequence[str],
    pairs: Sequence[tuple[str, str]],
    *,
    protocol: str = "",
    n_resamples: int = N_RESAMPLES,
) -> PairScore | None:
    """Score the clips of word pairs by the choice between the two words alone.

    Args:
        predicted: probabilities (N, V).
        clips: the N clips in the same order, see `evaluate`.
        labels: the V words in the order of their class numbers.
        pairs: of words; those that the labels lack are left out.
        protocol: see `evaluate`.
        n_resamples: see `evaluate`.

    Returns:
        None where no clip has a word of a pair.

    Raises:
        ValueError: shapes do not fit, or a clip has a word that is not in the list.
    """
    number = {word: i for i, word in enumerate(labels)}
    partner = {
        word: other
        for first, second in pairs
        if first in number and second in number
        for word, other in ((first, second), (second, first))
    }
    chosen = []
    answers = answers_of(predicted.probabilities, clips, labels)
    for place, one in enumerate(answers):
        if one.label not in partner:
            continue
        said = None
        if one.said is not None:
            row, two = predicted.probabilities[place], (one.label, partner[one.label])
            said = max(sorted(two), key=lambda word: row[number[word]])
        chosen.append(one._replace(said=said))
    if not chosen:
        return None
    words = tuple(word for word in labels if word in partner)
    found = Scorer(chosen, words, protocol, n_resamples)
    within = {}
    for pair in pairs:
        own = [one.is_right for one in chosen if one.label in pair]
        if own:
            within[pair] = sum(own) / len(own)
    return PairScore(found.score(Accuracy()), within, len(chosen))


def confusions(answers: Sequence[Answer]) -> tuple[Confusion, ...]:
    """Count which word was taken for which; the most frequent pair comes first.

    Of equal counts the one with the larger share of the clips of its word comes first.
    """
    n_clips = Counter(one.label for one in answers)
    pairs = Counter(
        (one.label, one.said)
        for one in answers
        if one.said is not None and not one.is_right
    )
    rows = [
        Confusion(label, str(said), n, n / n_clips[label])
        for (label, said), n in pairs.items()
    ]
    return tuple(
        sorted(rows, key=lambda one: (-one.n, -one.share, one.label, one.said))
    )


def compare(
    baseline: SignScores,
    system: SignScores,
    *,
    metric: Literal["macro-F1", "accuracy"] = "macro-F1",
    band: Band | None = None,
    by: DrawBy = "signer",
    n_resamples: int = N_RESAMPLES,
    protocol: str = "",
) -> Comparison:
    """Return the difference of two systems on the same clips, with its interval.

    Both systems are scored on the same draws.

    Args:
        baseline: the first system.
        system: the second; the difference is its score less that of the first.
        metric: what to compare.
        band: compare the macro-F1 of head, body or tail alone, as the second system's
            counts have them.
        by: draw signers or clips.
        n_resamples: number of draws, at least 2.
        protocol: for the signature.

    Raises:
        ValueError: the two are of different clips or label lists, or there is nothing
            that could be drawn.
    """
    check_choice("metric", metric, ("macro-F1", "accuracy"))
    first, second = (
        [(one.name, one.label) for one in scores.answers]
        for scores in (baseline, system)
    )
    if first != second or set(baseline.labels) != set(system.labels):
        raise ValueError(
            f"the two systems were scored on different clips ({len(first)} and"
            f" {len(second)}) or words ({len(baseline.labels)} and"
            f" {len(system.labels)}); evaluate both on the same part"
        )
    found = Scorer(system.answers, system.labels, protocol, n_resamples)
    words = (
        tuple(word for word, one in system.words.items() if one.band == band)
        if band
        else ()
    )
    if band and (metric == "accuracy" or not words):
        raise ValueError(
            f"band {band} goes with macro-F1, and must have a word by these counts"
        )
    measure: Metric = (
        Accuracy() if metric == "accuracy" else found.metric(words, band or "")
    )
    groups = draw_groups(system.answers, by)
    if groups is None:
        raise ValueError(
            f"there is one {by} only, so nothing can be drawn; compare by clip, or with"
            " more clips"
        )
    if not all(
        found.can_draw(measure, groups, said) for said in (baseline.said, system.said)
    ):
        raise ValueError(
            f"draws by {by} may have no clip of a {band} word; compare by clip, or all"
            " words"
        )
    outputs = baseline.said, system.said, system.truths
    options: dict[str, Any] = {
        "n_resamples": n_resamples,
        "seed": SEED,
        "protocol": protocol,
        "groups": groups,
    }
    return compare_outputs(measure, *outputs, **options)


def _words(
    whole: Score, bands: Sequence[Band], counts: Sequence[int]
) -> dict[str, WordScore]:
    """Each word with its own scores, the details of the macro-F1 over all words."""
    found = {}
    for (word, one), band, count in zip(
        whole.details.items(), bands, counts, strict=True
    ):
        found[word] = WordScore(
            band, count, one["support"], one["precision"], one["recall"], one["f1"]
        )
    return found


def _signers(found: Scorer) -> dict[str, SignerScore]:
    """Score each known signer on only the words that this signer signs."""
    scores = {}
    for signer in sorted({one.signer for one in found.answers} - {""}):
        own = Scorer(
            [one for one in found.answers if one.signer == signer], found.labels
        )
        words = tuple(word for word in found.labels if word not in own.absent)
        right = sum(one.is_right for one in own.answers) / len(own.answers)
        scores[signer] = SignerScore(
            len(own.answers), len(words), own.value(own.metric(words)), right
        )
    return dict(sorted(scores.items(), key=lambda item: item[1].macro_f1))


def _notes(found: Scorer, bands: dict[Band, Score]) -> list[str]:
    notes = []
    if found.absent:
        named = ", ".join(found.absent[:8]) + (", ..." if len(found.absent) > 8 else "")
        notes.append(
            f"{len(found.absent)} of {len(found.labels)} words have no clip here and"
            f" count 0: {named}"
        )
    empty = [band for band in BANDS if band not in bands]
    if empty:
        notes.append(f"no word belongs to {' or '.join(empty)} by these counts")
    n_unreadable = sum(one.said is None for one in found.answers)
    if n_unreadable:
        clips = "clip" if n_unreadable == 1 else "clips"
        notes.append(f"{n_unreadable} {clips} could not be read, counted as wrong")
    return notes + (_notes_on_draws(found, bands) if found.n_resamples else [])


def _notes_on_draws(found: Scorer, bands: dict[Band, Score]) -> list[str]:
    """What must be known of the intervals."""
    signers = {one.signer for one in found.answers}
    n_unknown = sum(not one.signer for one in found.answers)
    n_signers = len(signers - {""})
    if n_unknown:
        return [
            f"the signer of {n_unknown} clips is not known; the intervals draw each of"
            " these by itself"
        ]
    if n_signers == 1:
        return [
            "all clips are by one signer, so nothing says how well another one is"
            " understood"
        ]
    notes = []
    if n_signers < FEW_SIGNERS:
        notes.append(
            f"{n_signers} signers give few different draws: the intervals by signer are"
            " rough"
        )
    without = [band for band, one in bands.items() if one.interval is None]
    if without:
        notes.append(
            f"no interval for {' and '.join(without)}: some signers sign none of these"
            " words"
        )
    return notes


def _check(
    answers: Sequence[Answer], labels: Sequence[str], counts: Sequence[int]
) -> None:
    check_labels(labels)
    if not answers:
        raise ValueError("there must be at least one clip to score, got none")
    if len(counts) != len(labels):
        raise ValueError(
            f"counts must be {len(labels)}, one for each word, got {len(counts)}"
        )
    for word, count in zip(labels, counts, strict=True):
        check_count(f"counts of {word!r}", count, least=0)
    known = set(labels)
    for one in answers:
        if one.label not in known or (one.said is not None and one.said not in known):
            raise ValueError(
                f"{one.name}: {one.label!r} and {one.said!r} must be among the"
                f" {len(known)} words"
            )
