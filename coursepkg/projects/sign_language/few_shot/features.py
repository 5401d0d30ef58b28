"""From landmarks in pixels to numbers that two signers share.

    active part   from where a hand leaves its rest to where it is back; a film may have
                  several
    resampled     to N steps, evenly spaced in time; what is missing is interpolated
    arms          relative to the middle of the shoulders, in widths of the shoulders
    hands         relative to their wrist, in lengths of the palm

What goes: clothes, light, room, where the person stands, how large the picture is. What
stays: where the hands are, how they are shaped and turned, and in what order.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from coursepkg.projects.sign_language.landmarks.extract import Landmarks

N_STEPS = 24
"""Steps of a sign (N)."""
LEAST_FRAMES = 4
LONGEST_GAP = 0.5
"""Seconds for which a hand may be lost, as in a fast movement, and still be there."""
NO_PERSON = "no person is seen; film head, shoulders and hands from the front"
NO_HAND = "no hand is seen in any frame; film with both hands in the picture"
SHOULDERS, ELBOWS, WRISTS = (11, 12), (13, 14), (15, 16)
FACE = (0, 7, 8)
"""Nose and ears."""
WRIST, INDEX_ROOT, MIDDLE_ROOT, LITTLE_ROOT = 0, 5, 9, 17
RAISED = 0.35
"""Share of an arm's way up from which on it is raised."""
TRIMS = (RAISED, 0.2, 0.5, 0.65)
"""The same, for several cuts of one clip; the usual one first."""
LEAST_REST, LEAST_SIGN = 0.25, 0.3
"""Seconds that hands are down between two stretches, and that a stretch lasts."""
_DOWN = -0.9
"""Height of a wrist above the shoulders, in their width, below which it is down."""
_MOVES = 0.3
"""Widths of the shoulders that a wrist rises by at least, if it moves at all."""


@dataclass(frozen=True, eq=False)
class SignSteps:
    """A sign in N steps; left before right, y downwards, z away from the camera."""

    hands: np.ndarray
    """Float32 (N, 2, 21, 3), from the wrist, in lengths of the palm; 0 for a hand that
    is not seen."""
    seen: np.ndarray
    """How much of each step each hand is seen, float32 (N, 2) in [0, 1]."""
    wrists: np.ndarray
    """Float32 (N, 2, 2), from the middle of the shoulders, in their width."""
    elbows: np.ndarray
    """The same of the elbows."""
    face: np.ndarray
    """Nose and ears, float32 (N, 3, 2), the same."""
    seconds: float
    """How long the active part lasts."""

    def mirrored(self) -> "SignSteps":
        """The same sign by a left-handed signer, or in a mirror."""
        flip = np.array([-1.0, 1.0], np.float32)
        return replace(
            self,
            hands=self.hands[:, ::-1] * np.array([-1.0, 1.0, 1.0], np.float32),
            seen=self.seen[:, ::-1],
            wrists=self.wrists[:, ::-1] * flip,
            elbows=self.elbows[:, ::-1] * flip,
            face=self.face[:, (0, 2, 1)] * flip,
        )


def check_landmarks(landmarks: Landmarks) -> None:
    """Raise a ValueError unless a clip shows a person who may be signing."""
    name = landmarks.name or "clip"
    if len(landmarks.times) < LEAST_FRAMES:
        raise ValueError(
            f"{name}: {len(landmarks.times)} frames, and a sign needs at least"
            f" {LEAST_FRAMES}; film it anew"
        )
    person = np.isfinite(landmarks.body[:, 0, 0])
    if not person.any():
        raise ValueError(f"{name}: {NO_PERSON}")
    if person.sum() < LEAST_FRAMES:
        raise ValueError(
            f"{name}: somebody is seen in {person.sum()} frames only, and a sign needs"
            f" at least {LEAST_FRAMES}; film it anew"
        )
    if not (landmarks.seen.any(axis=1) & person).any():
        raise ValueError(f"{name}: {NO_HAND}")


def resample(
    values: np.ndarray, valid: np.ndarray, times: np.ndarray, at: np.ndarray
) -> np.ndarray:
    """Values between frames, on straight lines; frames that are not valid do not count.

    Before the first valid frame and after the last one they stand still.

    Args:
        values: (T, ...).
        valid: bool (T,).
        times: rising (T,).
        at: moments (N,).

    Returns:
        (N, ...), zeros where no frame is valid.
    """
    known = np.flatnonzero(valid)
    if not len(known):
        return np.zeros((len(at), *values.shape[1:]), values.dtype)
    moments = times[known]
    after = np.searchsorted(moments, at).clip(1, max(1, len(known) - 1))
    after = after.clip(0, len(known) - 1)
    before = (after - 1).clip(0)
    gap = np.maximum(moments[after] - moments[before], 1e-9)
    share = ((at - moments[before]) / gap).clip(0, 1)
    share = share.reshape(-1, *(1,) * (values.ndim - 1)).astype(values.dtype)
    first, second = values[known[before]], values[known[after]]
    return np.asarray(first + (second - first) * share)


def raised_frames(heights: np.ndarray, raised: float = RAISED) -> np.ndarray:
    """In which frames a hand is up, bool (T,).

    An arm that goes up and down rests where it is lowest. One that stays where it is
    says nothing.

    Args:
        heights: of both wrists, in widths of the shoulders, upwards, (T, 2).
        raised: share of an arm's way up from which on it is raised, in (0, 1).
    """
    low, high = heights.min(axis=0), heights.max(axis=0)
    up = (heights > low + raised * (high - low)) & (high - low > _MOVES)
    return np.asarray(up.any(axis=1))


def active_part(heights: np.ndarray, raised: float = RAISED) -> tuple[int, int]:
    """First and last frame in which a hand is up; all frames, where none ever is.

    Args:
        heights: see `raised_frames`.
        raised: see `raised_frames`.
    """
    frames = np.flatnonzero(raised_frames(heights, raised))
    if len(frames) < LEAST_FRAMES:
        return 0, len(heights) - 1
    return int(frames[0]), int(frames[-1])


def active_parts(heights: np.ndarray, times: np.ndarray) -> list[tuple[int, int]]:
    """First and last frame of each stretch in which a hand is up.

    A film may show a sign twice, or the end of the sign before. Where there are several
    stretches, all of them together are one more, for signs that touch the rest.

    Args:
        heights: see `raised_frames`.
        times: of the frames, in seconds (T,).
    """
    frames = np.flatnonzero(raised_frames(heights)).tolist()
    if len(frames) < LEAST_FRAMES:
        return [(0, len(heights) - 1)]
    parts = [one for one in segments(frames, times) if may_be_sign(*one, times)]
    whole = frames[0], frames[-1]
    return parts if len(parts) == 1 else [*parts, whole]


def segments(frames: Sequence[int], times: np.ndarray) -> list[tuple[int, int]]:
    """First and last frame of each run of raised hands between two rests.

    Args:
        frames: in which a hand is up, ascending, at least one.
        times: of all frames, in seconds (T,).
    """
    rests = [(i, j) for i, j in pairwise(frames) if times[j] - times[i] > LEAST_REST]
    begins = [frames[0], *(j for _, j in rests)]
    ends = [*(i for i, _ in rests), frames[-1]]
    return list(zip(begins, ends, strict=True))


def may_be_sign(begin: int, end: int, times: np.ndarray) -> bool:
    """Whether a segment has as many frames and seconds as a sign has at least."""
    is_long = times[end] - times[begin] >= LEAST_SIGN
    return bool(is_long and end - begin >= LEAST_FRAMES - 1)


def trimmed(
    part: tuple[int, int], heights: np.ndarray, raised: float
) -> tuple[int, int]:
    """A stretch of `active_parts` cut wider or closer than at `RAISED`.

    Args:
        part: its first and last frame.
        heights: see `raised_frames`.
        raised: see `raised_frames`.
    """
    up = raised_frames(heights, raised)
    begin, end = part
    if raised < RAISED:
        while begin > 0 and up[begin - 1]:
            begin -= 1
        while end + 1 < len(up) and up[end + 1]:
            end += 1
        return begin, end
    inside = begin + np.flatnonzero(up[begin : end + 1])
    if len(inside) < LEAST_FRAMES:
        return part
    return int(inside[0]), int(inside[-1])


def signs_of(landmarks: Landmarks, n_steps: int = N_STEPS) -> list[list[SignSteps]]:
    """What may be the sign of a clip: each active part, cut at each of `TRIMS`.

    The first cut of each part is the usual one.

    Raises:
        ValueError: nobody, or no hand, is seen; the clip is named.
    """
    check_landmarks(landmarks)
    heights, frames = wrist_heights(landmarks.body)
    found = landmarks.times, landmarks.body, landmarks.hands, landmarks.seen
    signs = []
    for part in active_parts(heights, landmarks.times[frames]):
        cuts = [trimmed(part, heights, raised) for raised in TRIMS]
        spans = [(int(frames[begin]), int(frames[end])) for begin, end in cuts]
        signs.append([steps_between(*found, *span, n_steps) for span in spans])
    return signs


def is_at_rest(landmarks: Landmarks) -> bool:
    """Whether both hands stay down and still through a clip that shows somebody."""
    heights, _ = wrist_heights(landmarks.body)
    moved = heights.max(axis=0) - heights.min(axis=0)
    return bool((moved < _MOVES).all() and heights.max() < _DOWN)


def wrist_heights(body: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How high the wrists are above the shoulders, in widths of the shoulders.

    Args:
        body: (T, 33, 3), NaN where nobody was found.

    Returns:
        float (t, 2) of the frames that show somebody, and their numbers (t,).
    """
    frames = np.flatnonzero(np.isfinite(body[:, 0, 0]))
    shown = body[frames]
    middle = shown[:, SHOULDERS, 1].mean(axis=1, keepdims=True)
    return (middle - shown[:, WRISTS, 1]) / shoulder_width(body), frames


def shoulder_width(body: np.ndarray) -> float:
    """The median width of the shoulders of (T, 33, 3) in the picture, at least 1e-3."""
    apart = body[:, SHOULDERS[0], :2] - body[:, SHOULDERS[1], :2]
    return max(1e-3, float(np.nanmedian(np.linalg.norm(apart, axis=-1))))


def steps_of(
    times: np.ndarray,
    body: np.ndarray,
    hands: np.ndarray,
    seen: np.ndarray,
    n_steps: int = N_STEPS,
    raised: float = RAISED,
) -> SignSteps:
    """The active part of arrays as `Landmarks` has them; see `active_part`."""
    heights, frames = wrist_heights(body)
    begin, end = (int(frames[i]) for i in active_part(heights, raised))
    return steps_between(times, body, hands, seen, begin, end, n_steps)


def steps_between(
    times: np.ndarray,
    body: np.ndarray,
    hands: np.ndarray,
    seen: np.ndarray,
    begin: int,
    end: int,
    n_steps: int = N_STEPS,
) -> SignSteps:
    """What arrays as `Landmarks` has them show from one frame to another."""
    person = np.isfinite(body[:, 0, 0])
    flat = body[..., :2]
    middle, width = flat[:, SHOULDERS].mean(axis=1), shoulder_width(body)
    at = np.linspace(times[begin], times[end], n_steps)
    bodily = (flat - middle[:, None]) / width
    arms = resample(bodily[:, (*WRISTS, *ELBOWS, *FACE)], person, times, at)
    wrists = arms[:, :2]
    shapes, shares = [], []
    for side in (0, 1):
        valid = seen[:, side] & person
        bridged = bridge(valid, times).astype(np.float32)
        share = resample(bridged, np.ones_like(valid), times, at)
        points = hands[:, side]
        found = resample((points[:, WRIST, :2] - middle) / width, valid, times, at)
        wrists[:, side] += (found - wrists[:, side]) * (share > 0.25)[:, None]
        shape = points - points[:, WRIST : WRIST + 1]
        shape = resample(shape / palm_length(points[valid]), valid, times, at)
        shape = shape * share[:, None, None]
        shapes.append(shape)
        shares.append(share)
    return SignSteps(
        np.stack(shapes, axis=1).astype(np.float32),
        np.stack(shares, axis=1).astype(np.float32),
        wrists.astype(np.float32),
        arms[:, 2:4].astype(np.float32),
        arms[:, 4:].astype(np.float32),
        float(times[end] - times[begin]),
    )


def bridge(seen: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Count short gaps between two frames that show a hand as if it were seen.

    Args:
        seen: bool (T,).
        times: in seconds (T,).

    Returns:
        bool (T,).
    """
    filled, known = seen.copy(), np.flatnonzero(seen)
    for before, after in pairwise(known.tolist()):
        if times[after] - times[before] <= LONGEST_GAP:
            filled[before:after] = True
    return filled


def palm_length(points: np.ndarray) -> float:
    """The median length of the palm of hands (n, 21, 3), at least 1e-3.

    A palm that points to the camera looks short: its breadth then tells its length.
    """
    if not len(points):
        return 1.0
    along = np.linalg.norm(points[:, MIDDLE_ROOT] - points[:, WRIST], axis=-1)
    across = np.linalg.norm(points[:, INDEX_ROOT] - points[:, LITTLE_ROOT], axis=-1)
    return max(1e-3, float(np.median(np.maximum(along, 1.5 * across))))
