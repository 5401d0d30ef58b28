"""Find enrolled words in a stream of frames: a word is named when the hands are down.

    frames    -> LandmarkTracker -> landmarks of the last seconds
    segment   from where a hand is raised to where both have been down for `LEAST_REST`
    word      of the segment, as of a clip; none of the words makes no event

No picture is kept, and landmarks of the last `MOST_SECONDS` and a little more: memory
does not grow.
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
    NO_HAND,
    NO_PERSON,
    may_be_sign,
    raised_frames,
    segments,
    wrist_heights,
)
from coursepkg.projects.sign_language.few_shot.recognizer import (
    HIDDEN,
    WordRecognizer,
    film_flaws,
    share_of_seen_hands,
)
from coursepkg.projects.sign_language.landmarks.extract import (
    Landmarks,
    LandmarkTracker,
    as_arrays,
    subsample_frames,
)
from coursepkg.projects.sign_language.landmarks.hands import Hand
from coursepkg.projects.sign_language.landmarks.pose import Pose
from coursepkg.projects.sign_language.streams.sliding_window import SignEvent
from coursepkg.validation import counted

MOST_SECONDS = 8.0
"""A segment that lasts so long is ended, as if the hands were down."""
BEFORE = 0.5
"""Seconds before a segment that are looked at with it."""
FrameCallback = Callable[[TimedFrame, Pose | None, list[Hand | None]], None]
"""Receives each frame that is looked at, its body, and its left and right hand."""


class WordStream:
    """Names the signs in a stream of frames.

    Args:
        recognizer: names the segments in which a hand is raised.
        n_threads: see `LandmarkTracker`.
    """

    def __init__(self, recognizer: WordRecognizer, *, n_threads: int = 2) -> None:
        self.recognizer, self.n_threads = recognizer, n_threads
        self.n_unknown = 0
        """Segments of the last stream that were none of the words."""
        self.n_hidden = 0
        """Segments of the last stream in which hands were mostly out of sight."""
        self._n_people = self._n_frames = 0
        self._seconds = 0.0

    def events(
        self,
        frames: Iterable[TimedFrame],
        *,
        on_frame: FrameCallback = lambda frame, person, sides: None,
    ) -> Iterator[SignEvent]:
        """The words that are signed, each when the hands are down again.

        Args:
            frames: in the order of their times.
            on_frame: see `FrameCallback`.

        Raises:
            ValueError: times do not rise, or nobody, or no hand, is seen in any frame.
            ImportError: ai-edge-litert or OpenCV is not installed.
        """
        with LandmarkTracker(self.n_threads) as tracker:

            def tracked() -> Iterator[FrameLandmarks]:
                for frame in subsample_frames(frames):
                    person, sides = tracker.track(frame)
                    on_frame(frame, person, sides)
                    yield FrameLandmarks(frame.seconds, *as_arrays(person, sides))

            yield from self.events_of_landmarks(tracked())
            self._n_people = tracker.n_people

    def events_of_landmarks(
        self, frames: Iterable["FrameLandmarks"]
    ) -> Iterator[SignEvent]:
        """The same of frames whose landmarks are known."""
        self.n_unknown = self.n_hidden = self._n_frames = self._n_people = 0
        recent, first, n_bodies, n_hands = RecentLandmarks(), 0.0, 0, 0
        for frame in frames:
            first = first if self._n_frames else frame.seconds
            self._n_frames, self._seconds = self._n_frames + 1, frame.seconds - first
            n_bodies += bool(np.isfinite(frame.body[0, 0]))
            n_hands += bool(frame.scores.any())
            recent.add(frame)
            yield from self._named(recent.take_finished())
        while (segment := recent.take_finished(is_end=True)) is not None:
            yield from self._named(segment)
        if not n_bodies:
            raise ValueError(NO_PERSON)
        if not n_hands:
            raise ValueError(NO_HAND)

    def notes(self, name: str) -> list[str]:
        """What makes the last stream less sure, a line each.

        Args:
            name: of the stream.
        """
        counts = self._n_people, self._n_frames, self._seconds
        lines = [f"{name}: {flaw}" for flaw in film_flaws(*counts)]
        if self.n_hidden:
            times = counted(self.n_hidden, "time")
            lines.append(
                f"{name}: {times} the hands were out of sight while an arm was raised;"
                " film with both hands in the picture"
            )
        if self.n_unknown:
            times = counted(self.n_unknown, "time")
            lines.append(f"{name}: {times} a hand was raised for none of the words")
        return lines

    def _named(self, segment: "Segment | None") -> Iterator[SignEvent]:
        """The event of a segment, if there is a segment and it is one of the words."""
        if segment is None:
            return
        try:
            found = self.recognizer.name_sign(segment.landmarks, n_best=1)
        except ValueError:  # too little is seen to name anything
            self.n_unknown += 1
            return
        self.n_hidden += share_of_seen_hands(segment.landmarks) < HIDDEN
        if found.is_none:
            self.n_unknown += 1
            return
        yield SignEvent(segment.start, segment.end, found.label, found.confidence)


class FrameLandmarks(NamedTuple):
    """One frame of a `Landmarks`."""

    seconds: float
    """From the start of the stream."""
    body: np.ndarray
    visibility: np.ndarray
    hands: np.ndarray
    scores: np.ndarray


class Segment(NamedTuple):
    """A part of a stream in which a hand is raised."""

    start: float
    """When the first hand is raised, in seconds from the start of the stream."""
    end: float
    """When the last hand goes down."""
    landmarks: Landmarks
    """From a little before to a little behind."""


class RecentLandmarks:
    """Landmarks of the last seconds, from which segments of raised hands are taken."""

    def __init__(self) -> None:
        self._rows: deque[FrameLandmarks] = deque()

    def add(self, frame: FrameLandmarks) -> None:
        """Remember a frame; what is older than `MOST_SECONDS + BEFORE` is forgotten.

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

    def take_finished(self, *, is_end: bool = False) -> Segment | None:
        """The oldest segment that is over, with some rest around it; then forget it.

        A segment of `MOST_SECONDS` is ended. One that is shorter than a sign is
        forgotten.

        Args:
            is_end: no frame follows.
        """
        while True:
            times = np.array([row.seconds for row in self._rows])
            span = self._first_segment(times)
            if span is None:
                return None
            begin, end = span
            is_down = times[-1] - times[end] > LEAST_REST
            is_full = times[-1] - times[begin] >= MOST_SECONDS
            if not (is_down or is_full or is_end):
                return None
            start = int(np.searchsorted(times, times[begin] - BEFORE))
            found = Segment(
                float(times[begin]), float(times[end]), self._landmarks(start)
            )
            for _ in range(end + 1):
                self._rows.popleft()
            if may_be_sign(begin, end, times):
                return found

    def _first_segment(self, times: np.ndarray) -> tuple[int, int] | None:
        """First and last row of the oldest segment in which a hand is raised."""
        if len(self._rows) < LEAST_FRAMES:
            return None
        body = np.stack([row.body for row in self._rows])
        if np.isfinite(body[:, 0, 0]).sum() < LEAST_FRAMES:
            return None
        heights, rows = wrist_heights(body)
        up = rows[raised_frames(heights)].tolist()
        return segments(up, times)[0] if up else None

    def _landmarks(self, start: int) -> Landmarks:
        """What is remembered from a row on."""
        rows = list(islice(self._rows, start, None))
        times = np.array([row.seconds for row in rows])
        body, visibility, hands, scores = (
            np.stack(one) for one in zip(*(row[1:] for row in rows), strict=True)
        )
        name = f"stream at {times[0]:.2f} s"
        return Landmarks(times, body, visibility, hands, scores, (0, 0), 1, name)
