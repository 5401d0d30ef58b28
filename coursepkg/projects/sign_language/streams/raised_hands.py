"""Find enrolled words in a stream of frames: a word is named when the hands are down.

    frames    -> LandmarkTracker -> landmarks of the last seconds
    stretch   from where a hand is raised to where both have been down for `LEAST_REST`
    word      of the stretch, as of a clip; none of the words makes no event

No picture is kept, and landmarks of `MOST_SECONDS` at most: memory does not grow.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import numpy as np

from coursepkg.projects.sign_language.data.video import TimedFrame
from coursepkg.projects.sign_language.few_shot.features import (
    LEAST_FRAMES,
    LEAST_REST,
    LEAST_SIGN,
    raised_frames,
    wrist_heights,
)
from coursepkg.projects.sign_language.few_shot.recognizer import WordRecognizer
from coursepkg.projects.sign_language.landmarks.extract import (
    Landmarks,
    LandmarkTracker,
    as_arrays,
    thinned,
)
from coursepkg.projects.sign_language.landmarks.hands import Hand
from coursepkg.projects.sign_language.landmarks.pose import Pose
from coursepkg.projects.sign_language.streams.sliding_window import SignEvent

MOST_SECONDS = 8.0
"""Longest stretch that is taken for one sign, and longest time that is remembered."""
BEFORE = 0.5
"""Seconds before a stretch that are looked at with it."""
Watch = Callable[[TimedFrame, Pose | None, list[Hand | None]], None]
"""Receives each frame that is looked at, its body, and its left and right hand."""


class WordStream:
    """Names the signs in a stream of frames.

    Args:
        recognizer: names the stretches in which a hand is raised.
        n_threads: see `LandmarkTracker`.
    """

    def __init__(self, recognizer: WordRecognizer, *, n_threads: int = 2) -> None:
        self.recognizer, self.n_threads = recognizer, n_threads
        self.n_unknown = 0
        """Stretches of the last stream that were none of the words."""

    def events(
        self,
        frames: Iterable[TimedFrame],
        *,
        watch: Watch = lambda frame, person, sides: None,
    ) -> Iterator[SignEvent]:
        """The words that are signed, each when the hands are down again.

        Args:
            frames: in the order of their times.
            watch: see `Watch`.

        Raises:
            ValueError: times do not rise.
        """
        with LandmarkTracker(self.n_threads) as tracker:

            def tracked() -> Iterator[FrameLandmarks]:
                for frame in thinned(frames):
                    person, sides = tracker.track(frame)
                    watch(frame, person, sides)
                    yield FrameLandmarks(frame.seconds, *as_arrays(person, sides))

            yield from self.events_of_landmarks(tracked())

    def events_of_landmarks(
        self, frames: Iterable["FrameLandmarks"]
    ) -> Iterator[SignEvent]:
        """The same of frames whose landmarks are known."""
        self.n_unknown = 0
        recent = RecentLandmarks()
        for frame in frames:
            recent.add(frame)
            yield from self._named(recent.take_finished())
        yield from self._named(recent.take_finished(is_end=True))

    def _named(self, stretch: "Stretch | None") -> Iterator[SignEvent]:
        """The event of a stretch, if there is a stretch and it is one of the words."""
        if stretch is None:
            return
        landmarks = stretch.landmarks
        found = None
        if landmarks.has_hands:
            found = self.recognizer.name_sign(landmarks, n_best=1)
        if found is None or found.is_none:
            self.n_unknown += 1
            return
        yield SignEvent(stretch.start, stretch.end, found.label, found.confidence)


class FrameLandmarks(NamedTuple):
    """One frame of a `Landmarks`."""

    seconds: float
    """From the start of the stream."""
    body: np.ndarray
    visibility: np.ndarray
    hands: np.ndarray
    scores: np.ndarray


class Stretch(NamedTuple):
    """A part of a stream in which a hand is raised."""

    start: float
    """When the first hand is raised, in seconds from the start of the stream."""
    end: float
    """When the last hand goes down."""
    landmarks: Landmarks
    """From a little before to a little behind."""


class RecentLandmarks:
    """Landmarks of the last seconds, from which stretches of raised hands are taken."""

    def __init__(self) -> None:
        self._rows: deque[FrameLandmarks] = deque()

    def add(self, frame: FrameLandmarks) -> None:
        """Remember a frame; what is older than `MOST_SECONDS` is forgotten.

        Raises:
            ValueError: it is not later than the frame before.
        """
        if self._rows and frame.seconds <= self._rows[-1].seconds:
            raise ValueError(
                f"times of a stream must rise, got {frame.seconds:g} s behind"
                f" {self._rows[-1].seconds:g} s"
            )
        self._rows.append(frame)
        while frame.seconds - self._rows[0].seconds > MOST_SECONDS + BEFORE:
            self._rows.popleft()

    def take_finished(self, *, is_end: bool = False) -> Stretch | None:
        """The oldest stretch that is over, with some rest around it; then forget it.

        A stretch that fills all that is remembered is over as well. One that is shorter
        than a sign is forgotten.

        Args:
            is_end: no frame follows.
        """
        while (span := self._first_stretch()) is not None:
            begin, end = span
            times = np.array([row.seconds for row in self._rows])
            is_down = times[-1] - times[end] > LEAST_REST
            is_full = times[-1] - times[begin] >= MOST_SECONDS
            if not (is_down or is_full or is_end):
                return None
            start = int(np.searchsorted(times, times[begin] - BEFORE))
            found = Stretch(
                float(times[begin]), float(times[end]), self._landmarks(start)
            )
            for _ in range(end + 1):
                self._rows.popleft()
            if (
                end - begin >= LEAST_FRAMES - 1
                and times[end] - times[begin] >= LEAST_SIGN
            ):
                return found
        return None

    def _first_stretch(self) -> tuple[int, int] | None:
        """First and last row of the oldest stretch in which a hand is raised."""
        if len(self._rows) < LEAST_FRAMES:
            return None
        body = np.stack([row.body for row in self._rows])
        if np.isfinite(body[:, 0, 0]).sum() < LEAST_FRAMES:
            return None
        heights, rows = wrist_heights(body)
        up = rows[raised_frames(heights)].tolist()
        if not up:
            return None
        end = up[0]
        for row in up:
            if self._rows[row].seconds - self._rows[end].seconds > LEAST_REST:
                break
            end = row
        return up[0], end

    def _landmarks(self, start: int) -> Landmarks:
        """What is remembered from a row on."""
        rows = list(islice(self._rows, start, None))
        times = np.array([row.seconds for row in rows])
        body, visibility, hands, scores = (
            np.stack(one) for one in zip(*(row[1:] for row in rows), strict=True)
        )
        name = f"stream at {times[0]:.2f} s"
        return Landmarks(times, body, visibility, hands, scores, (0, 0), 1, name)
