"""Score translations: several metrics, both conventions of Vietnamese, seen and unseen sources, intervals.

References come from the files as they stand, never through a tokenizer of a model. Each score carries its signature.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from coursepkg.metrics.bleu import BLEU
from coursepkg.metrics.bootstrap import Comparison, compare
from coursepkg.metrics.chrf import CHRF
from coursepkg.metrics.scoring import score
from coursepkg.metrics.signature import Metric, Score, score_as_json
from coursepkg.metrics.ter import TER
from coursepkg.projects.translation.corpus import SentencePair, sentence_key, to_scorer
from coursepkg.projects.translation.predict import Translation, Translator

N_RESAMPLES = 1000


@dataclass(frozen=True)
class Evaluation:
    """Scores of one system on one test set."""

    source: str
    target: str
    scores: dict[str, Score]
    """By name. The first is the headline: BLEU, of Vietnamese without underscores."""
    n_seen: int | None
    """Sources that training saw; None where the training part is not known."""
    notes: tuple[str, ...]
    """What a reader of the scores must know, one line each."""
    hypotheses: tuple[str, ...] = field(repr=False)
    """As they were scored."""
    references: tuple[str, ...] = field(repr=False)
    """As they were scored against."""
    sources: tuple[str, ...] = field(repr=False)

    def __str__(self) -> str:
        rows = [f"{name}: {one}" for name, one in self.scores.items()]
        return "\n".join([*rows, *(f"note: {note}" for note in self.notes)])

    def as_json(self) -> dict[str, Any]:
        """All but the sentences, as JSON can hold it."""
        return {
            "from": self.source,
            "to": self.target,
            "n": len(self.references),
            "n_seen": self.n_seen,
            "scores": {name: score_as_json(one) for name, one in self.scores.items()},
            "notes": list(self.notes),
        }


def evaluate(
    hypotheses: Sequence[str],
    pairs: Sequence[SentencePair],
    source: str,
    target: str,
    *,
    protocol: str = "",
    seen: Sequence[SentencePair] | None = None,
    notes: Sequence[str] = (),
    n_resamples: int = N_RESAMPLES,
) -> Evaluation:
    """Score hypotheses, one for each pair.

    Args:
        hypotheses: as the system wrote them.
        pairs: the test set, its targets as they stand in the file.
        source: language of the sources.
        target: language of the targets.
        protocol: split and decoding in a few words, for the signatures.
        seen: the training pairs; sources among theirs are scored apart. None: they are not known.
        notes: what is known of hypotheses and pairs and belongs beside the scores.
        n_resamples: bootstrap resamples behind the intervals of the headline; 0 leaves them out.

    Raises:
        ValueError: the numbers of hypotheses and pairs differ, or there is none.
    """
    if len(hypotheses) != len(pairs):
        raise ValueError(f"hypotheses must be {len(pairs)}, one for each reference, got {len(hypotheses)}")
    said, true = (
        [to_scorer(text, target) for text in texts] for texts in (hypotheses, [p.target for p in pairs])
    )
    options: dict[str, Any] = {"protocol": protocol}
    bleu = bleu_of(target)
    scores = {
        "BLEU": score(bleu, said, true, n_resamples=n_resamples, **options),
        "chrF": score(CHRF(), said, true, **options),
        "TER": score(TER(), said, true, **options),
    }
    told = list(notes)
    if target == "vi":
        kept = [
            to_scorer(text, target, underscores="keep") for text in (*hypotheses, *(p.target for p in pairs))
        ]
        scores["BLEU, underscores kept"] = score(bleu, kept[: len(said)], kept[len(said) :], **options)
        if any("_" in line for line in kept[len(said) :]) and not any(
            "_" in line for line in kept[: len(said)]
        ):
            told.append("the references have word-segmentation underscores and the hypotheses have none")
    n_seen = None
    if seen is not None:
        known = {sentence_key(p.source, source) for p in seen}
        is_seen = [sentence_key(p.source, source) in known for p in pairs]
        n_seen = sum(is_seen)
        scores |= _scores_apart(bleu, said, true, is_seen, options)
    return Evaluation(
        source, target, scores, n_seen, tuple(told), tuple(said), tuple(true), tuple(p.source for p in pairs)
    )


def _scores_apart(
    bleu: Metric,
    said: Sequence[str],
    true: Sequence[str],
    is_seen: Sequence[bool],
    options: dict[str, Any],
) -> dict[str, Score]:
    """BLEU of sources that training saw, and of those that it did not; nothing where all are of one kind."""
    found = {}
    for name, wanted in (("sources seen in training", True), ("sources not seen in training", False)):
        chosen = [i for i, one in enumerate(is_seen) if one == wanted]
        if chosen and len(chosen) < len(said):
            part = [said[i] for i in chosen], [true[i] for i in chosen]
            found[f"BLEU, {name}"] = score(bleu, *part, n_in_file=len(said), **options)
    return found


def bleu_of(target: str, *, sentence: bool = False) -> Metric:
    """BLEU with SacreBLEU's tokenizer for the language: `zh` splits Chinese into characters.

    With `sentence` it counts the n-gram orders that fit into an output, for single sentences.
    """
    return BLEU(tokenize="zh" if target == "zh" else "13a", effective_order=sentence)


def compare_systems(
    baseline: Evaluation, system: Evaluation, *, n_resamples: int = N_RESAMPLES
) -> Comparison:
    """Paired bootstrap of the headline BLEU of two systems on one test set, as a change from the first to the second.

    Raises:
        ValueError: they were scored against different references.
    """
    if baseline.references != system.references:
        raise ValueError("the two systems must be scored on the same test set; their references differ")
    return compare(
        bleu_of(system.target),
        baseline.hypotheses,
        system.hypotheses,
        system.references,
        n_resamples=n_resamples,
    )


def translate_pairs(
    translator: Translator,
    pairs: Sequence[SentencePair],
    source: str,
    target: str,
    **options: Any,
) -> tuple[list[Translation], list[str]]:
    """Translate the sources of a test set; sources longer than the model takes are cut, counted and named.

    Args:
        translator: the system.
        pairs: the test set.
        source: language of the sources.
        target: language of the targets.
        **options: of `Translator.translate`.

    Returns:
        one translation a pair, and a note where sources were cut.
    """
    texts, cut = [], []
    for pair in pairs:
        text, was_cut = _cut(translator, pair.source, source, target)
        texts.append(text)
        if was_cut:
            cut.append(f"{pair.file}:{pair.line}")
    notes = []
    if cut:
        places = ", ".join(cut[:5]) + (", ..." if len(cut) > 5 else "")
        notes.append(
            f"{len(cut)} of {len(pairs)} sources are longer than the model's {translator.longest} tokens and were cut: "
            f"{places}"
        )
    return translator.translate(texts, source=source, target=target, **options), notes


def _cut(translator: Translator, text: str, source: str, target: str) -> tuple[str, bool]:
    """The longest beginning of a sentence that the model takes."""

    def fits(n_signs: int) -> bool:
        ids = translator.subwords.encode_sources([text[:n_signs]], source, target)[0]
        return len(ids) <= translator.longest

    if fits(len(text)):
        return text, False
    low, high = 1, len(text)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return text[:low], True
