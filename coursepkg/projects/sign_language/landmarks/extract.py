"""From a film to the landmarks of its signer: body and hands in every frame.

    frame -> PoseTracker -> body            33 landmarks
          -> HandTracker -> up to two hands, 21 landmarks each
          -> which hand is the left one: the one near the body's left wrist

The palm detector misses fists and fast hands. Where a wrist is seen and no hand near
it, the hand network looks at the end of the arm.

The landmarks of a file are kept in the user's cache under the hash of its bytes, so no
film is processed twice.
"""

import contextlib
import hashlib
import struct
import zlib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import Any
from zipfile import BadZipFile

import numpy as np

from coursepkg.files import cache_folder, file_sha256, whole_file
from coursepkg.projects.sign_language.data.clip import check_frames
from coursepkg.projects.sign_language.data.video import TimedFrame, VideoFrames
from coursepkg.projects.sign_language.landmarks import hands, pose
from coursepkg.projects.sign_language.landmarks.hands import (
    Hand,
    HandTracker,
    region_of_hand,
)
from coursepkg.projects.sign_language.landmarks.pose import Pose, PoseTracker
from coursepkg.projects.sign_language.landmarks.regions import (
    Region,
    turned,
    upright_angle,
)
from coursepkg.validation import check_count

LEFT, RIGHT = 0, 1
"""The person's own sides, as numbers of hands."""
VERSION = 2
"""Of the way from film to landmarks; files of another version are processed again."""
WRISTS = (pose.LEFT_WRIST, pose.RIGHT_WRIST)
SHOULDERS = (pose.LEFT_SHOULDER, pose.RIGHT_SHOULDER)
FURTHEST = 1.5
"""A hand that is further from both wrists is not the signer's; in widths of the
shoulders."""
NEAR = 0.6
"""A hand that was looked for at the end of an arm is at most so far from its wrist; in
widths of the shoulders."""
PEOPLE_EVERY = 1.0
"""Seconds after which people are counted again."""
MOST_RATE = 20.0
"""Frames a second that are looked at; on 52 real clips of 30 a second no fewer words
were named than by all frames."""
MOST_SIDE = 32_766
"""Longest side of a picture that OpenCV's `warpAffine` takes, in pixels."""


@dataclass(frozen=True, eq=False)
class Landmarks:
    """Body and hands of one person in every frame of a clip, in pixels."""

    times: np.ndarray
    """Of each frame, in seconds from the start, float64 (T,), rising."""
    body: np.ndarray
    """Float32 (T, 33, 3), NaN where nobody was found; see `pose.Pose`."""
    visibility: np.ndarray
    """Probability that each landmark of the body can be seen, float32 (T, 33)."""
    hands: np.ndarray
    """Left and right hand, float32 (T, 2, 21, 3), NaN where none was found; see
    `hands.Hand`."""
    scores: np.ndarray
    """Probability of each hand, float32 (T, 2), 0 where none was found."""
    size: tuple[int, int]
    """Width and height of the frames, in pixels; `VideoFrames` makes large films
    smaller."""
    n_people: int = 1
    """Most people that were seen at once."""
    name: str = ""
    """Of the file."""
    flaw: str = ""
    """What is wrong with the film although it was read, in one line that begins with
    its name; empty where nothing is."""

    @property
    def seen(self) -> np.ndarray:
        """In which frames each hand was found, bool (T, 2)."""
        return np.asarray(self.scores > 0)

    @property
    def has_person(self) -> bool:
        """Whether anybody was found in any frame."""
        return bool(np.isfinite(self.body[:, 0, 0]).any())

    @property
    def has_hands(self) -> bool:
        """Whether a hand was found in any frame."""
        return bool(self.seen.any())


class LandmarkTracker:
    """Follows one signer through a film, frame by frame.

    Body and hands are looked for at the same time, on two cores where there are two.
    Use it in a `with` statement, or `close` it.

    Args:
        n_threads: 2, or 1 to look for the body first and for hands after it; the
            landmarks are the same.

    Raises:
        ImportError: ai-edge-litert or OpenCV is not installed.
        ValueError: another number of threads.
    """

    def __init__(self, n_threads: int = 2) -> None:
        check_count("n_threads", n_threads, 1, 2)
        self._pose, self._hands = PoseTracker(), HandTracker()
        self._beside = ThreadPoolExecutor(1) if n_threads == 2 else None
        self._time = self._counted = -np.inf
        self.n_people = 0
        """Most people that were seen at once since the last `reset`."""

    def __enter__(self) -> "LandmarkTracker":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the second thread."""
        if self._beside is not None:
            self._beside.shutdown()

    def reset(self) -> None:
        """Forget everything, as before another film."""
        self._pose.reset()
        self._hands.reset()
        self._time = self._counted = -np.inf
        self.n_people = 0

    def track(self, frame: TimedFrame) -> tuple[Pose | None, list[Hand | None]]:
        """Body, left and right hand in the next frame; None for what is not seen.

        Raises:
            ValueError: the pixels are no RGB picture, uint8 (height, width, 3), or one
                side is longer than OpenCV takes.
        """
        check_frames(frame.pixels[None], "frame")
        if max(frame.pixels.shape) > MOST_SIDE:
            raise ValueError(
                f"frame: {frame.pixels.shape[1]} x {frame.pixels.shape[0]} pixels, at"
                f" most {MOST_SIDE} are possible along a side; scale it down"
            )
        picture = np.ascontiguousarray(frame.pixels)
        rate = 1 / max(1e-3, min(1.0, frame.seconds - self._time))
        self._time = frame.seconds
        if self._beside is None:
            person = self._body(picture, frame.seconds, rate)
            found = self._hands.track(picture)
        else:
            body = self._beside.submit(self._body, picture, frame.seconds, rate)
            found = self._hands.track(picture)
            person = body.result()
        sides = assign_sides(found, person)
        if person is not None:
            self._look_at_wrists(picture, person, sides)
            kept = [hand for hand in sides if hand is not None]
            self._hands.follow([region_of_hand(hand.points) for hand in kept])
        return person, sides

    def _body(self, picture: np.ndarray, seconds: float, rate: float) -> Pose | None:
        if seconds - self._counted >= PEOPLE_EVERY:
            self._counted = seconds
            self.n_people = max(self.n_people, len(self._pose.detect(picture)))
        return self._pose.track(picture, rate)

    def _look_at_wrists(
        self, picture: np.ndarray, person: Pose, sides: list[Hand | None]
    ) -> None:
        """Look for hands that are missing where the arms end."""
        height, width = picture.shape[:2]
        for side, hand in enumerate(sides):
            x, y = person.points[WRISTS[side], :2].tolist()
            if hand is not None or not (0 <= x < width and 0 <= y < height):
                continue
            region = region_at_wrist(person, side)
            other = sides[1 - side]
            if (
                other is not None
                and region.overlap(region_of_hand(other.points)) > hands.SAME_HAND
            ):
                continue
            found = self._hands.look(picture, region)
            far = distance_to_wrist(found, person, side)
            if found.score >= hands.LEAST_PRESENCE and far <= NEAR:
                sides[side] = found


def region_at_wrist(person: Pose, side: int) -> Region:
    """The square around the hand at the end of an arm, from the body's landmarks.

    Source: Grishchenko and Bazarevsky, "MediaPipe Holistic" (Google AI Blog, 2020).
    """
    points = person.points[:, :2].astype(np.float64)
    wrist, index, little = points[[15, 19, 17] if side == LEFT else [16, 20, 18]]
    middle = (2 * index + little) / 3
    length = 2 * float(np.linalg.norm(middle - wrist))
    angle = upright_angle(wrist, middle)
    x, y = middle + turned(np.array([0.0, -0.1 * length]), angle)
    side_length = max(2.7 * length, 0.5 * shoulder_width(person))
    return Region(float(x), float(y), side_length, angle)


def shoulder_width(person: Pose) -> float:
    """Distance between the shoulders in pixels, at least 1."""
    left, right = person.points[list(SHOULDERS), :2]
    return max(1.0, float(np.linalg.norm(left - right)))


def distance_to_wrist(hand: Hand, person: Pose, side: int) -> float:
    """From a hand's wrist to an arm's wrist, in widths of the shoulders."""
    far = hand.points[hands.WRIST, :2] - person.points[WRISTS[side], :2]
    return float(np.linalg.norm(far)) / shoulder_width(person)


def assign_sides(found: list[Hand], person: Pose | None) -> list[Hand | None]:
    """Which of the found hands is the left one, and which the right one.

    A hand belongs to the nearer wrist of the body. The handedness that the hand network
    gives counts as half a width of the shoulders, and decides where there is no body.
    Hands that are far from both wrists are left out.

    Args:
        found: up to two hands count, those with the highest scores.
        person: the body of the same frame.

    Returns:
        left and right hand.
    """

    def cost(hand: Hand, side: int) -> float:
        wrong = 1 - hand.right if side == RIGHT else hand.right
        near = 0.0 if person is None else distance_to_wrist(hand, person, side)
        return near + 0.5 * wrong

    surest = sorted(found, key=lambda hand: -hand.score)
    if person is not None:
        surest = [
            hand
            for hand in surest
            if min(distance_to_wrist(hand, person, side) for side in (LEFT, RIGHT))
            <= FURTHEST
        ]
    if not surest:
        return [None, None]
    first, *others = surest
    if not others:
        left = cost(first, LEFT) <= cost(first, RIGHT)
        return [first, None] if left else [None, first]
    second = others[0]
    straight = cost(first, LEFT) + cost(second, RIGHT)
    crossed = cost(second, LEFT) + cost(first, RIGHT)
    return [first, second] if straight <= crossed else [second, first]


def track_frames(
    tracker: LandmarkTracker, frames: Iterable[TimedFrame], *, name: str = "stream"
) -> Landmarks:
    """The landmarks of a film.

    Args:
        tracker: it is reset first.
        frames: in the order of their times.
        name: of the film, for messages.

    Raises:
        ValueError: there is no frame.
    """
    tracker.reset()
    times, size, rows = [], (0, 0), []
    for frame in frames:
        times.append(frame.seconds)
        size = frame.pixels.shape[1], frame.pixels.shape[0]
        rows.append(as_arrays(*tracker.track(frame)))
    if not rows:
        raise ValueError(f"{name}: the film has no frame")
    body, visibility, points, scores = (
        np.stack(one) for one in zip(*rows, strict=True)
    )
    n_people = max(tracker.n_people, int(np.isfinite(body[:, 0, 0]).any()))
    return Landmarks(
        np.array(times), body, visibility, points, scores, size, n_people, name
    )


def subsample_frames(
    frames: Iterable[TimedFrame], rate: float = MOST_RATE
) -> Iterator[TimedFrame]:
    """At most so many frames a second, as evenly as those that are there allow.

    Args:
        frames: in the order of their times.
        rate: frames a second, above 0.
    """
    due = -np.inf
    for frame in frames:
        if frame.seconds >= due - 1e-6:
            # Frames that come later than they are due are not made up for.
            due = max(due, frame.seconds - 1 / rate) + 1 / rate
            yield frame


def as_arrays(
    person: Pose | None, sides: Sequence[Hand | None]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """One frame of `Landmarks`: body, visibility, hands, scores."""
    body = np.full((pose.N_LANDMARKS, 3), np.nan, np.float32)
    visibility = np.zeros(pose.N_LANDMARKS, np.float32)
    points = np.full((2, hands.N_LANDMARKS, 3), np.nan, np.float32)
    scores = np.zeros(2, np.float32)
    if person is not None:
        body, visibility = person.points, person.visibility
    for side, hand in enumerate(sides):
        if hand is not None:
            points[side], scores[side] = hand.points, hand.score
    return body, visibility, points, scores


def film_sha256(path: Path) -> str:
    """SHA-256 of a video file's bytes.

    Raises:
        FileNotFoundError: there is no such file.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path}: there is no such video")
    return file_sha256(path)


def extract_landmarks(
    path: str | Path,
    *,
    tracker: LandmarkTracker | None = None,
    keep: bool = True,
    sha256: str = "",
) -> Landmarks:
    """The landmarks of a video file, from the user's cache where they are kept.

    Args:
        path: of the video.
        tracker: to use; None makes one.
        keep: read from the cache, and write into it.
        sha256: of the file, where it is known; empty computes it.

    Raises:
        FileNotFoundError: there is no such file.
        VideoError: it cannot be read.
        ImportError: av, ai-edge-litert or OpenCV is not installed.
    """
    path = Path(path)
    sha256 = sha256 or film_sha256(path)
    place = cache_folder() / "sign-language" / "landmarks" / f"{sha256}.npz"
    kept = read_landmarks(place, str(path)) if keep else None
    if kept is not None:
        return kept
    frames = VideoFrames(path)
    if tracker is None:
        with LandmarkTracker() as own:
            found = track_frames(own, subsample_frames(frames), name=str(path))
    else:
        found = track_frames(tracker, subsample_frames(frames), name=str(path))
    found = replace(found, flaw=frames.complaint)
    if keep:
        # What cannot be kept is extracted anew the next time.
        with contextlib.suppress(OSError):
            write_landmarks(place, found)
    return found


_ARRAYS: dict[str, tuple[type, tuple[int, ...]]] = {
    "times": (np.float64, ()),
    "body": (np.float32, (pose.N_LANDMARKS, 3)),
    "visibility": (np.float32, (pose.N_LANDMARKS,)),
    "hands": (np.float32, (2, hands.N_LANDMARKS, 3)),
    "scores": (np.float32, (2,)),
}
"""Kind of the numbers in each array, and its shape behind the frames (T)."""
_DAMAGE = (
    *(OSError, ValueError, TypeError, KeyError, EOFError, MemoryError, RuntimeError),
    *(BadZipFile, zlib.error, struct.error),
)
"""What NumPy and zipfile raise for bytes that are not those that were written."""


def write_landmarks(path: Path, landmarks: Landmarks) -> None:
    """Write landmarks into a file of NumPy's, whole or not at all.

    Raises:
        OSError: it cannot be written.
    """
    arrays: dict[str, Any] = {
        name: np.asarray(getattr(landmarks, name), kind)
        for name, (kind, _) in _ARRAYS.items()
    }
    told = np.array([VERSION, *landmarks.size, landmarks.n_people])
    # Another file with the same bytes may have another name.
    flaw = np.array(landmarks.flaw.removeprefix(f"{landmarks.name}: "))
    with whole_file(path) as file:
        np.savez_compressed(file, told=told, flaw=flaw, **arrays)


def read_landmarks(path: Path, name: str) -> Landmarks | None:
    """What `write_landmarks` wrote; None if missing, damaged or of another version.

    Args:
        path: of the file.
        name: of the film, for messages.
    """
    try:
        # Opened here: `np.load` leaves a file open that is no archive.
        with path.open("rb") as file, np.load(file, allow_pickle=False) as kept:
            version, width, height, n_people = kept["told"].tolist()
            arrays = {one: kept[one] for one in _ARRAYS}
            flaw = str(kept["flaw"])
    except _DAMAGE:
        return None
    if version != VERSION or not _fit_together(arrays):
        return None
    return Landmarks(
        **arrays,
        size=(width, height),
        n_people=n_people,
        name=name,
        flaw=f"{name}: {flaw}" if flaw else "",
    )


def landmarks_sha256(landmarks: Landmarks) -> str:
    """SHA-256 of all numbers that `write_landmarks` keeps of the frames."""
    digest = hashlib.sha256()
    for name, (kind, _) in _ARRAYS.items():
        array: np.ndarray = np.asarray(getattr(landmarks, name), kind)
        digest.update(f"{name} {array.shape}".encode() + array.tobytes())
    return digest.hexdigest()


def _fit_together(arrays: dict[str, np.ndarray]) -> bool:
    """Whether arrays have the kinds and shapes of the same frames, at least one."""
    n_frames = arrays["times"].shape[:1]
    return n_frames > (0,) and all(
        arrays[name].dtype == kind and arrays[name].shape == (*n_frames, *behind)
        for name, (kind, behind) in _ARRAYS.items()
    )
