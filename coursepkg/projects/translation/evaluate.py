"""Scores of translations, overlap with the training text, cross-validation on dev.

Several metrics, both conventions of Vietnamese, seen and unseen sources, intervals.
"""

import json
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from coursepkg.app.evaluation import check_known_training, train_overlap
from coursepkg.data.split import grouped_split
from coursepkg.metrics.bleu import BLEU
from coursepkg.metrics.chrf import CHRF
from coursepkg.metrics.scoring import (
    Comparison,
    Metric,
    Score,
    compare,
    score,
    score_as_json,
)
from coursepkg.metrics.ter import TER
from coursepkg.projects.translation.corpora import (
    CORPORA,
    Parts,
    load_parts,
    random_split,
)
from coursepkg.projects.translation.corpus import (
    SentencePair,
    pair_keys,
    sentence_key,
    to_scorer,
)
from coursepkg.projects.translation.placeholders import (
    capitalised_words,
    copied_strings,
    copies,
    invented_numbers,
)
from coursepkg.projects.translation.predict import Translation, Translator
from coursepkg.text.languages import language_of

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
    copied: tuple[int, int]
    """Numbers, codes, tags and links of the sources that the references keep: how many
    of them the hypotheses keep, and how many there are."""
    invented: int
    """Numbers in digits that the hypotheses have and their sources have not."""
    capitalised: tuple[int, int]
    """As `copied`, of Latin words with a capital, which are mostly names."""
    notes: tuple[str, ...]
    """What a reader of the scores must know, one line each."""
    hypotheses: tuple[str, ...] = field(repr=False)
    """As they were scored."""
    references: tuple[str, ...] = field(repr=False)
    """As they were scored against."""
    sources: tuple[str, ...] = field(repr=False)

    def __str__(self) -> str:
        rows = [f"{name}: {one}" for name, one in self.scores.items()]
        for what, (kept, n) in (
            ("numbers and placeholders", self.copied),
            ("words with a capital", self.capitalised),
        ):
            if n:
                rows.append(f"{what} kept: {kept} of {n} ({kept / n:.1%})")
        if self.invented:
            rows.append(f"numbers not in the source: {self.invented}")
        return "\n".join([*rows, *(f"note: {note}" for note in self.notes)])

    def as_json(self) -> dict[str, Any]:
        """All but the sentences, as JSON can hold it."""
        return {
            "from": self.source,
            "to": self.target,
            "n": len(self.references),
            "n_seen": self.n_seen,
            "copied": {"kept": self.copied[0], "of": self.copied[1]},
            "invented_numbers": self.invented,
            "capitalised": {"kept": self.capitalised[0], "of": self.capitalised[1]},
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
        protocol: split and decoding in a few words, for the signatures.
        seen: the training pairs; sources among theirs are scored apart. None: they are
            not known.
        notes: what is known of hypotheses and pairs and belongs beside the scores.
        n_resamples: bootstrap resamples behind the intervals of the headline; 0 leaves
            them out.

    Raises:
        ValueError: the numbers of hypotheses and pairs differ, or there is none.
    """
    if len(hypotheses) != len(pairs):
        raise ValueError(
            f"hypotheses must be {len(pairs)}, one for each reference, got"
            f" {len(hypotheses)}"
        )
    written = hypotheses, [p.target for p in pairs]
    predictions, true = ([to_scorer(text, target) for text in one] for one in written)
    options: dict[str, Any] = {"protocol": protocol}
    bleu = bleu_of(target)
    scores = {
        "BLEU": score(bleu, predictions, true, n_resamples=n_resamples, **options),
        "chrF": score(CHRF(), predictions, true, **options),
        "TER": score(TER(), predictions, true, **options),
    }
    told = list(notes)
    if target == "vi":
        kept, kept_true = (
            [to_scorer(text, target, underscores="keep") for text in one]
            for one in written
        )
        scores["BLEU, underscores kept"] = score(bleu, kept, kept_true, **options)
        if "_" in "".join(kept_true) and "_" not in "".join(kept):
            told.append(
                "the references have word-segmentation underscores and the hypotheses"
                " have none"
            )
    n_seen = None
    if seen is not None:
        known = {sentence_key(p.source, source) for p in seen}
        is_seen = [sentence_key(p.source, source) in known for p in pairs]
        n_seen = sum(is_seen)
        scores |= _scores_apart(bleu, predictions, true, is_seen, options)
    ours, theirs = tuple(predictions), tuple(true)
    sources = tuple(p.source for p in pairs)
    triples = list(zip(sources, ours, theirs, strict=True))
    copied, capitalised = (
        _total(copies(*one, find=find) for one in triples)
        for find in (copied_strings, capitalised_words)
    )
    invented = sum(len(invented_numbers(*one[:2], source)) for one in triples)
    return Evaluation(
        source,
        target,
        scores,
        n_seen,
        copied,
        invented,
        capitalised,
        tuple(told),
        ours,
        theirs,
        sources,
    )


def _total(counts: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """The sums of both numbers."""
    kept, wanted = zip(*counts, strict=True)
    return sum(kept), sum(wanted)


def _scores_apart(
    bleu: Metric,
    predictions: Sequence[str],
    true: Sequence[str],
    is_seen: Sequence[bool],
    options: dict[str, Any],
) -> dict[str, Score]:
    """BLEU of seen and of unseen sources; nothing where all are of one kind."""
    found = {}
    for name, wanted in (
        ("sources seen in training", True),
        ("sources not seen in training", False),
    ):
        chosen = [i for i, one in enumerate(is_seen) if one == wanted]
        if chosen and len(chosen) < len(predictions):
            part = [predictions[i] for i in chosen], [true[i] for i in chosen]
            found[f"BLEU, {name}"] = score(
                bleu, *part, n_in_file=len(predictions), **options
            )
    return found


def bleu_of(target: str, *, sentence: bool = False) -> Metric:
    """BLEU with SacreBLEU's tokenizer: `zh` splits Chinese into characters.

    With `sentence` it counts the n-gram orders that fit into an output, for single
    sentences.
    """
    cut = language_of(target).bleu_tokenizer
    return BLEU(tokenize=cut, effective_order=sentence)


def compare_systems(
    baseline: Evaluation, system: Evaluation, *, n_resamples: int = N_RESAMPLES
) -> Comparison:
    """Paired bootstrap of the headline BLEU, as a change from first to second.

    Raises:
        ValueError: they were scored against different references.
    """
    if baseline.references != system.references:
        raise ValueError(
            "the two systems must be scored on the same test set; their references"
            " differ"
        )
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
    """Translate a test set; sources that are too long are cut, counted, named.

    Args:
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
            f"{len(cut)} of {len(pairs)} sources are longer than the model's"
            f" {translator.longest} tokens and were cut: {places}"
        )
    return translator.translate(texts, source=source, target=target, **options), notes


def search_note(
    translator: Translator,
    source: str,
    target: str,
    beam_size: int | None = None,
    reverse_weight: float | None = None,
    length_penalty: float | None = None,
) -> str:
    """What a signature says of a search: "beam 5, reverse 0.4, by sentence"."""
    beams = beam_size or translator.recipe.beam_size
    weight = translator.reverse_weight_of(source, target, reverse_weight, beams)
    alpha = "" if length_penalty is None else f", length penalty {length_penalty:g}"
    back = f", reverse {weight:g}" if weight else ""
    split = ", by sentence" if translator.recipe.split_sentences else ""
    return f"beam {beams}{alpha}{back}{split}"


def _cut(
    translator: Translator, text: str, source: str, target: str
) -> tuple[str, bool]:
    """The longest beginning of a text of which the model takes each sentence."""

    def is_long(n: int) -> bool:
        read = translator.sentences_of(translator.masked(text[:n]).text)
        ids = translator.subwords.encode_sources(read, source, target)
        return any(len(one) > translator.longest for one in ids)

    if not is_long(len(text)):
        return text, False
    return text[: bisect_left(range(1, len(text)), True, key=is_long)], True


RANDOM = "-random"
"""Ends the name of a corpus that `random_split` cut."""


def seen_by(
    cards: Sequence[Mapping[str, Any]] | None, language: str
) -> tuple[list[SentencePair] | None, list[str]]:
    """The training sentences of a system in a language.

    Args:
        cards: for each of its models what lies beside the weights: `corpora`,
            `directions`, `n_train`, `n_extra`, `start`; and `neighbours_of`, see
            `ensemble.cards_of`. None: a file of which no more is known.
        language: of the sources that are to be known as seen or unseen.

    Returns:
        pairs whose sources are the sentences, of either side of the training; or None
        and a note that says why the training cannot be rebuilt.
    """
    corpora, notes = train_overlap(
        lambda: [parts for card in _distinct(cards) for parts in _rebuilt(card)],
        "sources",
    )
    if corpora is None:
        return None, notes
    pairs: list[SentencePair] = []
    for parts in corpora:
        pairs += parts.train if parts.source == language else ()
        pairs += (p.swapped() for p in parts.train) if parts.target == language else ()
    return pairs, []


def _distinct(
    cards: Sequence[Mapping[str, Any]] | None,
) -> list[Mapping[str, Any]]:
    """One card of those that tell the same of their training."""
    if cards is None:
        raise ValueError("nothing says what the file's model learnt")
    names = ("corpora", "directions", "n_train", "n_extra", "start", "neighbours_of")
    told = (json.dumps([card.get(name) for name in names]) for card in cards)
    return list(dict(zip(told, cards, strict=True)).values())


def _rebuilt(card: Mapping[str, Any]) -> Sequence[Parts]:
    """The corpora of a card, in the directions that were trained."""
    names: Any = card.get("corpora")
    check_known_training(card, names)
    if card.get("n_extra"):
        raise ValueError(
            f"the model learnt {card['n_extra']} further pairs, which its folder does"
            " not hold"
        )
    if card.get("neighbours_of") not in (None, *names):
        raise ValueError(
            f"its neighbours come from {card['neighbours_of']}, which the model did not"
            " learn from"
        )
    # The directions begin with one for each corpus; the turned ones stand behind.
    ways = zip(names, card["directions"], strict=False)
    corpora = [_corpus(name, *way) for name, way in ways]
    n_here, n_then = sum(len(parts.train) for parts in corpora), card.get("n_train")
    if n_here != n_then:
        raise ValueError(
            f"the training parts of {', '.join(names)} have {n_here} pairs here and had"
            f" {n_then}"
        )
    return corpora


def _corpus(name: str, source: str, target: str) -> Parts:
    plain = name.removesuffix(RANDOM)
    if plain not in CORPORA:
        raise ValueError(
            f"the model learnt from {name}, which is none of the corpora"
            f" {', '.join(CORPORA)}"
        )
    parts = load_parts(plain, source, target)
    if parts.corpus != plain:
        raise ValueError(f"the model learnt from {name}, which is not here")
    return parts if name == plain else random_split(parts)


HALVES_SEED = 1
"""Another one than that of any corpus: the hash that put a pair into dev would put all
of dev into one half."""


def dev_halves(parts: Parts) -> tuple[list[SentencePair], list[SentencePair]]:
    """The dev part in two halves: one to choose with, one to score on.

    Raises:
        ValueError: the dev part is too small to be halved.
    """
    choose, judge = ([parts.dev[i] for i in places] for places in _places(parts))
    return choose, judge


def dev_cross_validation(
    candidates: Mapping[float, Sequence[str]], parts: Parts
) -> tuple[list[str], tuple[float, float]]:
    """Translate each half of dev with the weight that is best on the other half.

    Args:
        candidates: for each weight translations of the whole dev part.

    Raises:
        ValueError: the dev part is too small to be halved.
    """
    halves = _places(parts)

    def bleu(places: Sequence[int], weight: float) -> float:
        predictions = [to_scorer(candidates[weight][i], parts.target) for i in places]
        true = [to_scorer(parts.dev[i].target, parts.target) for i in places]
        return float(score(bleu_of(parts.target), predictions, true).value)

    best = [max(candidates, key=partial(bleu, other)) for other in reversed(halves)]
    chosen = {
        i: candidates[weight][i]
        for weight, own in zip(best, halves, strict=True)
        for i in own
    }
    return [chosen[i] for i in range(len(parts.dev))], (best[0], best[1])


def on_grid_boundary(
    chosen: Any, tried: Sequence[Any], names: Sequence[str]
) -> list[str]:
    """Settings whose chosen value is the least or greatest of several; 0 is no edge.

    Args:
        chosen: a point of a grid.
        tried: all points of the grid.
        names: their attributes to look at.
    """
    values = {name: {getattr(point, name) for point in tried} for name in names}
    edges = {
        name: (min(found), max(found))
        for name, found in values.items()
        if len(found) > 1
    }
    return [
        name
        for name, edge in edges.items()
        if (own := getattr(chosen, name)) and own in edge
    ]


def _places(parts: Parts) -> tuple[list[int], list[int]]:
    """Numbers of the pairs of either half."""
    keys = [pair_keys(pair, parts.source, parts.target) for pair in parts.dev]
    shares = {"choose": 0.5, "judge": 0.5}
    halves = (
        grouped_split(keys, shares, seed=HALVES_SEED)
        if keys
        else {name: [] for name in shares}
    )
    if not all(halves.values()):
        raise ValueError(
            f"the dev part of {parts.corpus} has {len(parts.dev)} pairs, too few for"
            " two halves"
        )
    return halves["choose"], halves["judge"]
