"""A part of a corpus as a recogniser answered it: scores, the films behind them, and what a reader must know."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.arguments import check_count
from coursepkg.files import whole_file
from coursepkg.projects.sign_language.answers import answers_of
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.data.cache import CachedClips
from coursepkg.projects.sign_language.data.sampling import sample_frames
from coursepkg.projects.sign_language.evaluate import N_RESAMPLES, score_answers
from coursepkg.projects.sign_language.inference import Predicted, predict_clips
from coursepkg.projects.sign_language.recipe import Recipe
from coursepkg.projects.sign_language.recognizer import SignRecognizer
from coursepkg.projects.sign_language.scores import SignScores
from coursepkg.projects.sign_language.worst import Film, write_worst_page

AT_ONCE = 256
"""Clips in memory together, where not all of a part are asked about."""


@dataclass(frozen=True, eq=False)
class ScoredPart:
    """What `score_part` gives."""

    scores: SignScores
    notes: tuple[str, ...]
    """What a reader of the scores must know besides theirs: about the corpus, and what the model learnt."""
    protocol: str
    """As it stands in the signatures."""
    clips: CachedClips = field(repr=False)
    recipe: Recipe = field(repr=False)
    weights: np.ndarray | None = field(repr=False)
    """Attention weights of the answers that have a clip, (N, T); None without attention pooling."""

    def film(self, place: int) -> Film | None:
        """What the network saw of the clip that an answer is about; None for one that could not be read."""
        if self.scores.answers[place].said is None:
            return None
        times = self.clips.times(place)
        sampled = sample_frames(times, self.recipe.n_frames, self.recipe.padding)
        numbers = sampled.numbers[sampled.mask]
        weights = None if self.weights is None else self.weights[place][sampled.mask]
        return Film(self.clips.frames(place, numbers), weights, times[numbers])

    def write_answers(self, path: str | Path) -> None:
        """Write the answers as a table, a row a clip."""
        rows = ["clip\tsigner\tright\tsaid\tconfidence\tprobability of right\n"]
        for one in self.scores.answers:
            said = one.said or ""
            rows.append(
                f"{one.name}\t{one.signer}\t{one.label}\t{said}\t{one.confidence:.4f}\t{one.given:.4f}\n"
            )
        with whole_file(path) as file:
            file.write("".join(rows).encode("utf-8", "surrogateescape"))

    def write_worst(self, path: str | Path, *, most: int) -> int:
        """Write the page of the worst clips and return how many it shows."""
        title = f"Worst clips: {self.protocol}"
        return write_worst_page(path, self.scores.answers, self.film, title=title, most=most)


def score_part(
    recognizer: SignRecognizer,
    corpus: SignCorpus,
    part: str,
    *,
    limit: int = 0,
    batch_size: int = 32,
    n_resamples: int = N_RESAMPLES,
) -> ScoredPart:
    """Ask a recogniser about a part of a corpus and score the answers.

    Head, body and tail go by the clips that the model learnt from; where its card does not tell them, by those of the
    corpus.

    Args:
        recognizer: what is asked.
        corpus: its words must all be among those of the model.
        part: train, dev or test.
        limit: so many of its clips, the first ones; 0 takes all.
        batch_size: clips at once.
        n_resamples: bootstrap resamples behind the intervals.

    Raises:
        ValueError: the part has no clip, or the corpus has a word that the model does not know.
    """
    check_count("limit", limit, least=0)
    clips, labels = corpus.part(part), recognizer.labels
    unknown = sorted(set(corpus.labels) - set(labels))
    if unknown:
        raise ValueError(
            f"--data {corpus.name} has {len(unknown)} words that the model does not know, such as {unknown[0]!r}; "
            "score it on clips of its own words, or train on these"
        )
    predicted = _predict(recognizer, clips, min(limit or len(clips), len(clips)), batch_size)
    n_there = len(clips) + len(clips.left_out)
    if limit and limit < len(clips):
        answers = answers_of(predicted.probabilities, clips.clips[:limit], labels)
    else:
        answers = answers_of(predicted.probabilities, clips, labels)[: limit or None]
    limited = f", first {limit}" if limit and limit < n_there else ""
    protocol = f"{corpus.name} {part}{limited}, split {corpus.protocol}{_looking(recognizer)}".replace(
        "|", "/"
    )
    trained_on = dict(zip(corpus.labels, corpus.counts, strict=True))
    counts = recognizer.counts or tuple(trained_on.get(word, 0) for word in labels)
    scores = score_answers(answers, labels, counts, protocol=protocol, n_resamples=n_resamples)
    notes = (*corpus.notes, *learnt_notes(recognizer.card, corpus, part))
    return ScoredPart(scores, notes, protocol, clips, recognizer.recipe, predicted.weights)


def learnt_notes(card: Mapping[str, Any], corpus: SignCorpus, part: str) -> list[str]:
    """What is to be said where the model may have seen the clips that it is asked about, or their signers.

    Args:
        card: of the model.
        corpus: whose part is scored.
        part: of the corpus.
    """
    learnt = card.get("data")
    if not isinstance(learnt, dict) or "fingerprint" not in learnt:
        return ["the model's card does not say what it learnt from; it may have seen these clips"]
    notes = []
    if card.get("start"):
        notes.append(f"the model began with another one ({card['start']}), which may have seen these clips")
    if learnt["fingerprint"] != corpus.fingerprint:
        told = f"{learnt.get('name')} parted by {learnt.get('protocol')}"
        notes.append(
            f"the model learnt from {told}, not from this corpus; it may have seen clips or signers of it"
        )
    elif part == "train":
        notes.append("the model learnt from these very clips; the scores say nothing about others")
    elif part == "dev":
        notes.append(
            "the weights were chosen by these clips, so the scores are a little too good; test is not"
        )
    if learnt["fingerprint"] == corpus.fingerprint and corpus.protocol != "signer":
        notes.append(f"parted by {corpus.protocol}: the model may know the signers of these clips")
    return notes


def _predict(recognizer: SignRecognizer, clips: CachedClips, n: int, batch_size: int) -> Predicted:
    """Probabilities and weights of the first `n` clips."""
    model, *others = recognizer.models
    options: dict[str, Any] = {"batch_size": batch_size, "models": others, "counts": recognizer.counts}
    if n == len(clips):
        return predict_clips(model, clips, recognizer.recipe, **options)
    found = [
        predict_clips(
            model,
            [clips.clip(i) for i in range(start, min(start + AT_ONCE, n))],
            recognizer.recipe,
            **options,
        )
        for start in range(0, n, AT_ONCE)
    ]
    weights = [one.weights for one in found if one.weights is not None]
    probabilities = np.concatenate([one.probabilities for one in found])
    return Predicted(probabilities, np.concatenate(weights) if weights else None)


def _looking(recognizer: SignRecognizer) -> str:
    """How the recogniser looks at clips, where it is not once and by itself."""
    recipe, n_models = recognizer.recipe, len(recognizer.models)
    told = [f"{n_models} models"] if n_models > 1 else []
    told += [f"{recipe.views} views"] if recipe.views > 1 else []
    told += [f"adjusted by {recipe.adjust:g}"] if recipe.adjust else []
    return "".join(f", {one}" for one in told)
