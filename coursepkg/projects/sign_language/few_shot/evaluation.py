"""Score enrolled words on their own clips: each is asked about by the clips of others.

A clip whose word nobody else signs cannot be answered rightly; it is left out, counted
and named. All other words stay among the answers, those of one clip too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from coursepkg.projects.sign_language.few_shot.matching import Matcher, Method
from coursepkg.projects.sign_language.few_shot.words import EnrolledClip, Words
from coursepkg.projects.sign_language.scores import Answer, SignScores
from coursepkg.projects.sign_language.scoring import N_RESAMPLES, score_answers

Split = Literal["signer", "clip"]


@dataclass(frozen=True)
class WordScores:
    """What matching makes of clips that it has not enrolled."""

    scores: SignScores
    left_out: tuple[str, ...]
    """Clips whose word has no other signer, or no other clip, by their names."""
    n_predicted_none: int
    """Clips that were taken for none of the words although their word was there."""
    n_unknown: int
    """Clips that were asked about with their word taken out."""
    n_unknown_rejected: int
    """Those among them that were taken for none of the words."""

    def __str__(self) -> str:
        n = len(self.scores.answers)
        lines = [
            str(self.scores),
            f"taken for none of the words: {self.n_predicted_none} of {n} clips; with"
            f" their word taken out {self.n_unknown_rejected} of {self.n_unknown}",
        ]
        if self.left_out:
            named = ", ".join(self.left_out[:5])
            more = ", ..." if len(self.left_out) > 5 else ""
            lines.append(
                f"left out: {len(self.left_out)} clips whose word nobody else signs"
                f" ({named}{more})"
            )
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """Everything, as JSON can hold it."""
        return self.scores.as_json() | {
            "left_out": list(self.left_out),
            "n_predicted_none": self.n_predicted_none,
            "n_unknown": self.n_unknown,
            "n_unknown_rejected": self.n_unknown_rejected,
        }


def score_words(
    words: Words,
    *,
    split: Split = "signer",
    method: Method = "auto",
    n_resamples: int = N_RESAMPLES,
    log: Callable[[str], None] = lambda line: None,
) -> WordScores:
    """Ask about each clip with the clips of all other signers, or all other clips.

    Args:
        words: enrolled.
        split: `signer` leaves the clips of its signer out, `clip` the clip alone.
        method: see `Matcher`.
        n_resamples: bootstrap resamples behind the intervals, which draw signers.
        log: receives a line for each signer.

    Raises:
        ValueError: no clip can be asked about, or with `signer` a clip has none.
    """
    if split == "signer":
        nameless = [one.name for one in words.clips if not one.signer]
        if nameless:
            raise ValueError(
                f"{nameless[0]} has no signer, so nobody can be left out; enrol from a"
                " manifest.csv with the column signer, or give --split clip"
            )
    asked: dict[str, list[EnrolledClip]] = {}
    for clip in words.clips:
        key = clip.signer if split == "signer" else clip.sha256
        asked.setdefault(key, []).append(clip)
    answers: list[Answer] = []
    left_out: list[str] = []
    n_none = n_unknown = n_rejected = 0
    for key, clips in asked.items():
        rest = [one for one in words.clips if one not in clips]
        known = [one for one in clips if any(o.word == one.word for o in rest)]
        left_out += [one.name for one in clips if one not in known]
        if not known:
            continue
        matcher = Matcher([one.example for one in rest], method=method)
        found = [answer(matcher, one) for one in known]
        answers += [one for one, _ in found]
        n_none += sum(is_none for _, is_none in found)
        for one in known:
            others = [o.example for o in rest if o.word != one.word]
            if others:
                n_unknown += 1
                p = Matcher(others, method=method).probabilities(one.landmarks)
                n_rejected += bool(p.argmax() == len(p) - 1)
        right = sum(one.is_right for one, _ in found)
        if split == "signer":
            log(f"without {key}: {right} of {len(found)} clips right")
    if not answers:
        by = "signed by two signers" if split == "signer" else "of two clips"
        raise ValueError(
            f"no word is {by}, so none can be scored; enrol more clips of other people"
        )
    labels = list(words.labels)
    counts = [len(words.clips_of(word)) for word in labels]
    told = f"enrolled words, one {split} left out at a time, {matcher.method}"
    scores = score_answers(
        answers, labels, counts, protocol=told, n_resamples=n_resamples
    )
    return WordScores(scores, tuple(left_out), n_none, n_unknown, n_rejected)


def answer(matcher: Matcher, clip: EnrolledClip) -> tuple[Answer, bool]:
    """What a matcher says of a clip, and whether it takes it for none of the words."""
    p = matcher.probabilities(clip.landmarks)
    order = np.argsort(-p[:-1], kind="stable")
    right = matcher.words.index(clip.word)
    rank = 1 + int(np.flatnonzero(order == right)[0])
    said = matcher.words[int(order[0])]
    given = float(p[order[0]]), float(p[right])
    found = Answer(clip.name, clip.word, clip.signer, "", said, *given, rank)
    return found, bool(p[-1] > p[order[0]])
