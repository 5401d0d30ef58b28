"""Name signs by enrolled words: the class that an application imports.

>>> recognizer = SignRecognizer.enroll("clips")  # a folder a word
>>> [one.label for one in recognizer.recognize(["new.mp4"])]
['coffee']
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from coursepkg.app.model_folder import weights_sha256
from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.projects.sign_language.few_shot.embedding import default_embedding
from coursepkg.projects.sign_language.few_shot.features import (
    check_landmarks,
    is_at_rest,
    signs_of,
    wrist_heights,
)
from coursepkg.projects.sign_language.few_shot.matching import Matcher, Method
from coursepkg.projects.sign_language.few_shot.words import (
    EnrolledClip,
    Words,
    checked_word,
)
from coursepkg.projects.sign_language.inference import Recognition
from coursepkg.projects.sign_language.landmarks.extract import (
    VERSION,
    Landmarks,
    LandmarkTracker,
    extract_landmarks,
    film_sha256,
    landmarks_sha256,
)
from coursepkg.validation import as_list, check_count, one_line

SLOW = 10.0
"""Frames a second from which on fast hands are followed."""
HIDDEN = 0.3
"""A raised hand that is seen in a smaller share of the frames is out of sight."""


class WordRecognizer:
    """Names signs by a few examples a word, of any signer.

    Args:
        words: enrolled, at least one.
        method: see `Matcher`.

    Raises:
        ValueError: there is no word.
        ImportError: av, ai-edge-litert or OpenCV is not installed.
    """

    def __init__(self, words: Words, *, method: Method = "auto") -> None:
        if not words.clips:
            raise ValueError("there is no enrolled word; enrol one")
        self.words = words
        self.matcher = Matcher(words.examples, method=method)

    @classmethod
    def load(cls, folder: str | Path, *, method: Method = "auto") -> "WordRecognizer":
        """Read the folder that `coursepkg sign-language enroll --out` wrote.

        Raises:
            FileNotFoundError: there is no such folder, or it holds no words.
            ValueError: it is damaged or of another version.
        """
        return cls(Words.load(folder), method=method)

    @property
    def labels(self) -> tuple[str, ...]:
        """The words (V,)."""
        return self.matcher.words

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of the enrolled landmarks, and of all else that changes an answer."""
        matcher = self.matcher
        clips = [[o.word, landmarks_sha256(o.landmarks)] for o in self.words.clips]
        told = [VERSION, matcher.method, asdict(matcher.weights), clips]
        networks = [default_embedding()] if matcher.uses_embedding else []
        return weights_sha256(json.dumps(told), networks)

    def recognize(
        self, paths: Sequence[str | Path], *, n_best: int = 5, keep_going: bool = False
    ) -> list[Recognition]:
        """Name the words of video files in order, as `recognize_each` does."""
        paths = as_list("paths", paths, str | Path, "videos")
        return list(self.recognize_each(paths, n_best=n_best, keep_going=keep_going))

    def recognize_each(
        self,
        paths: Iterable[str | Path],
        *,
        n_best: int = 5,
        batch_size: int = 1,
        keep_going: bool = False,
    ) -> Iterator[Recognition]:
        """Yield one recognition for each file, in order.

        Args:
            paths: of videos.
            n_best: words of each clip; never more than there are.
            batch_size: clips are looked at one by one, whatever it is.
            keep_going: a clip that cannot be read, or shows nobody or no hand, gives a
                recognition with its `error` instead of stopping all.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: a file cannot be read, or shows nobody or no hand.
        """
        check_count("n_best", n_best)
        check_count("batch_size", batch_size)
        with LandmarkTracker() as tracker:
            for path in paths:
                try:
                    landmarks = extract_landmarks(path, tracker=tracker)
                    yield self.name_sign(landmarks, n_best=n_best)
                except (ValueError, OSError) as reason:
                    if not keep_going:
                        raise
                    told = one_line(reason)
                    yield Recognition(str(path), (), None, np.zeros(0), error=told)

    def name_sign(self, landmarks: Landmarks, *, n_best: int = 5) -> Recognition:
        """Name the word of a clip whose landmarks are known.

        Raises:
            ValueError: nobody, or no hand, is seen.
        """
        p = self.matcher.probabilities(landmarks)
        order = np.argsort(-p[:-1], kind="stable")[:n_best]
        named = tuple((self.labels[i], float(p[i])) for i in order)
        flaw = "; ".join(clip_flaws(landmarks))
        return Recognition(
            landmarks.name, named, None, landmarks.times, flaw, none=float(p[-1])
        )


class Enrolment(NamedTuple):
    """What `enroll` gives."""

    words: Words
    """All of them, the earlier ones too."""
    new: frozenset[str]
    """SHA-256 of the films that were enrolled this time."""
    left_out: list[str]
    """Why clips were left out, a line each."""


def enroll(
    files: Iterable[ClipFile],
    words: Words | None = None,
    *,
    replace_words: bool = False,
    report: Callable[[str], None] = lambda line: None,
) -> Enrolment:
    """Enrol clips.

    Args:
        files: videos with their words.
        words: those that are enrolled already.
        replace_words: the earlier clips of the words that `files` has go.
        report: receives a line for each flaw of a clip that is enrolled all the same,
            and for each film that a word has twice.

    Raises:
        ValueError: no clip can be enrolled, or one film has two words.
        ImportError: av, ai-edge-litert or OpenCV is not installed.
    """
    found: list[EnrolledClip] = []
    left_out: list[str] = []
    paths: dict[tuple[str, str], Path] = {}
    with LandmarkTracker() as tracker:
        for file in files:
            try:
                word, sha256 = checked_word(file.label), film_sha256(file.path)
                landmarks = extract_landmarks(file.path, tracker=tracker, sha256=sha256)
                check_landmarks(landmarks)
            except (ValueError, OSError) as reason:
                told, path = one_line(reason), str(file.path)
                left_out.append(told if path in told else f"{path}: {told}")
                continue
            same = paths.setdefault((word, sha256), file.path)
            if same != file.path:
                report(f"{same} and {file.path} are the same film; it is enrolled once")
            else:
                for flaw in clip_flaws(landmarks):
                    report(flaw)
            # The folder of the films is nobody's business: names of files are kept.
            flaw = landmarks.flaw.replace(str(file.path), file.path.name)
            kept = replace(landmarks, name=file.path.name, flaw=flaw)
            found.append(EnrolledClip(word, file.path.name, sha256, file.signer, kept))
    if not found:
        reasons = f" ({left_out[0]})" if left_out else ""
        raise ValueError(f"no clip can be enrolled{reasons}")
    added = (words or Words()).added(found, replace=replace_words)
    return Enrolment(added, frozenset(one.sha256 for one in found), left_out)


def clip_flaws(landmarks: Landmarks) -> list[str]:
    """What makes a clip less sure, a line each; see `check_landmarks` for the rest."""
    flaws = []
    if is_at_rest(landmarks):
        flaws.append(
            "the hands stay down, so it is answered with none of these; film the whole"
            " sign"
        )
    seconds = float(landmarks.times[-1] - landmarks.times[0])
    flaws += film_flaws(landmarks.n_people, len(landmarks.times), seconds)
    seen = share_of_seen_hands(landmarks)
    if seen < HIDDEN:
        flaws.append(
            f"hands are out of sight in {1 - seen:.0%} of the frames in which an arm is"
            " raised; film with both hands in the picture"
        )
    found = [f"{landmarks.name}: {flaw}" for flaw in flaws]
    return [landmarks.flaw, *found] if landmarks.flaw else found


def film_flaws(n_people: int, n_frames: int, seconds: float) -> list[str]:
    """What makes a film less sure, whatever is signed in it, a line each.

    Args:
        n_people: most people that were seen at once.
        n_frames: of the film that were looked at.
        seconds: from the first of them to the last.
    """
    flaws = []
    if n_people > 1:
        flaws.append(
            f"{n_people} people are seen and one is followed; film one person alone"
        )
    rate = (n_frames - 1) / seconds if seconds > 0 else 0.0
    if 0 < rate < SLOW:
        flaws.append(
            f"{rate:.0f} frames a second, too few to follow fast hands; film at 15 or"
            " more"
        )
    return flaws


def share_of_seen_hands(landmarks: Landmarks) -> float:
    """In what share of the frames in which an arm is raised a hand is seen, in [0, 1].

    It is 1 where no arm is ever raised.
    """
    heights, frames = wrist_heights(landmarks.body)
    raised = frames[(heights > heights.min(axis=0) + 0.5).any(axis=1)]
    return float(landmarks.seen[raised].any(axis=1).mean()) if len(raised) else 1.0


def enrolment_notes(
    words: Words, new: Collection[str] | None = None, close: float = 0.3
) -> list[str]:
    """What a reader of enrolled words must know, a line each.

    Args:
        words: all of them.
        new: SHA-256 of the films that the lines are about; None takes all.
        close: distance by warping below which two clips are one movement.
    """
    asked = [one for one in words.clips if new is None or one.sha256 in new]
    if not asked:
        return []
    notes: dict[tuple[str, str], str] = {}
    matcher = Matcher(words.examples, method="dtw")
    for clip in asked:
        distances = matcher.warping_distances(signs_of(clip.landmarks))
        for other, distance in zip(words.clips, distances.tolist(), strict=True):
            first, second = sorted((clip, other), key=lambda one: one.word)
            pair = first.word, second.word
            if clip.word != other.word and distance < close and pair not in notes:
                notes[pair] = (
                    f"{pair[0]} and {pair[1]}: {first.name} and {second.name} show"
                    " nearly the same movement; if it is one word, enrol it once"
                )
    # Of a word that may be another one, no more clips are asked for.
    doubted = {word for pair in notes for word in pair}
    few = [
        f"{word}: one clip; two or three, by two people, are surer"
        for word in dict.fromkeys(one.word for one in asked)
        if len(words.clips_of(word)) == 1 and word not in doubted
    ]
    return [*few, *notes.values()]
