"""A perceptual hash of several frames, which copies of a clip share and other clips of the same signer do not.

Signers sit before one wall in one shirt for many clips, so a hash of the pictures alone takes all of them for copies.
What is hashed here is twofold: where it gets brighter or darker across the picture (the picture), and where it gets
brighter or darker from one moment to the next (the motion). Two clips are copies where both agree.

Source: the difference hash of N. Krawetz, "Kind of Like That" (hackerfactor.com, 2013), here with a third value for
places where nothing changes, which chance would otherwise fill.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coursepkg.arguments import check_finite
from coursepkg.data.split import group_records
from coursepkg.projects.sign_language.quality.thumbnails import brightness, shrink

MOMENTS = 8
"""Stretches of equal length that a clip is cut into; what is hashed is the mean of the frames of each."""
ROWS, COLUMNS = 16, 17
LEAST_STEP = 6.0
"""Cells that differ by no more count as equal, in gray levels: noise and a codec move them by so much."""
LEAST_SHARE = 0.5
"""Two clips are compared only where at least this share of their moments shows something in both."""
SAME = 0.35
"""Distance up to which two clips are taken for copies.

Measured on 34 real and generated clips, before this number was chosen: copies that were packed again, brightened,
halved in size, cropped by 2% or partly black were at most 0.23 apart, different clips of one signer at least 0.51. A
copy that was cut by a sixteenth of its length was 0.51 apart as well: it is not found.
"""


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """What a clip looks like and how it moves, each place with -1 (darker), 0 (equal) or 1 (brighter)."""

    picture: np.ndarray
    """From each cell to the one right of it, int8 (MOMENTS, ROWS, COLUMNS - 1); 0 throughout a broken frame."""
    motion: np.ndarray
    """From each moment to the next, int8 (MOMENTS - 1, ROWS, COLUMNS); 0 throughout where one of them is broken."""
    known: np.ndarray
    """Which moments show something, bool (MOMENTS,)."""


def fingerprint(thumbs: np.ndarray, times: np.ndarray, broken: Sequence[int] = ()) -> Fingerprint:
    """The perceptual hash of a clip.

    Args:
        thumbs: its frames as small pictures, (T, rows, columns, 3) in 0..255; thumbnails are enough.
        times: when each frame is shown, in seconds (T,), rising.
        broken: frames that show nothing; a moment of which they make more than half is left out.
    """
    moments = _moments(times)
    good = np.ones(len(times), dtype=bool)
    good[list(broken)] = False
    gray = brightness(shrink(thumbs, ROWS, COLUMNS))
    means = np.zeros((MOMENTS, ROWS, COLUMNS), dtype=np.float32)
    known = np.zeros(MOMENTS, dtype=bool)
    for moment, inside in enumerate(moments):
        used = inside & good
        if 2 * used.sum() >= inside.sum():
            means[moment], known[moment] = gray[used].mean(axis=0), True
    picture = _signs(np.diff(means, axis=2))
    motion = _signs(np.diff(means, axis=0))
    picture[~known] = 0
    motion[~(known[1:] & known[:-1])] = 0
    return Fingerprint(picture, motion, known)


def distances(one: Sequence[Fingerprint], other: Sequence[Fingerprint]) -> np.ndarray:
    """How different clips are, float32 (N, M) in [0, 1].

    The distance of picture or motion is the share of places that do not agree among those where either clip has
    something: 1 - agreeing / either. The larger of the two counts. Moments that are broken in either clip are left
    out; where too few are left, or neither picture shows anything, it is 1. Two clips without motion move alike.

    Args:
        one: N fingerprints.
        other: M fingerprints.
    """
    if not one or not other:
        return np.ones((len(one), len(other)), dtype=np.float32)
    known, known_too = (np.stack([mark.known for mark in marks]) for marks in (one, other))
    both = known.astype(np.float32) @ known_too.T.astype(np.float32)
    picture = _apart([mark.picture for mark in one], [mark.picture for mark in other], known, known_too, 1.0)
    pairs, pairs_too = (flags[:, 1:] & flags[:, :-1] for flags in (known, known_too))
    motion = _apart([mark.motion for mark in one], [mark.motion for mark in other], pairs, pairs_too, 0.0)
    return np.where(both >= LEAST_SHARE * MOMENTS, np.maximum(picture, motion), 1.0).astype(np.float32)


def copies(
    marks: Sequence[Fingerprint], same: int | float = SAME, *, at_once: int = 512
) -> list[tuple[int, ...]]:
    """Groups of clips that are copies of one another, directly or through others.

    Every clip is compared with every other one: two products of matrices, some seconds for 4,000 clips.

    Args:
        marks: fingerprints of the clips.
        same: largest distance of two copies, in [0, 1).
        at_once: clips whose distances to all others stand in memory at one time.

    Returns:
        for each group the numbers of its clips, ascending; clips without a copy are in none.

    Raises:
        ValueError: `same` is out of range.
    """
    check_finite("same", same)
    if not 0 <= same < 1:
        raise ValueError(f"same must be at least 0 and below 1, got {same}")
    keys: list[list[tuple[int, int]]] = [[(i, i)] for i in range(len(marks))]
    for start in range(0, len(marks), at_once):
        near = distances(marks[start : start + at_once], marks[start:]) <= same
        for i, j in np.argwhere(near).tolist():
            if i < j:
                keys[start + j].append((start + i, start + i))
    groups: dict[int, list[int]] = {}
    for i, group in enumerate(group_records(keys)):
        groups.setdefault(group, []).append(i)
    return [tuple(members) for members in groups.values() if len(members) > 1]


def _moments(times: np.ndarray) -> np.ndarray:
    """Which frames each moment has, bool (MOMENTS, T): those shown in its stretch, or else the one nearest to it."""
    length = float(times[-1] - times[0])
    if not length:
        return np.ones((MOMENTS, len(times)), dtype=bool)
    whole = length * len(times) / (len(times) - 1)  # the last frame is shown for as long as another
    stretch = np.minimum((times - times[0]) / whole * MOMENTS, MOMENTS - 1).astype(np.int64)
    inside = stretch == np.arange(MOMENTS)[:, None]
    middles = times[0] + (np.arange(MOMENTS) + 0.5) / MOMENTS * whole
    for moment in np.flatnonzero(~inside.any(axis=1)):
        inside[moment, np.abs(times - middles[moment]).argmin()] = True
    return inside


def _signs(steps: np.ndarray) -> np.ndarray:
    return (np.sign(steps) * (np.abs(steps) > LEAST_STEP)).astype(np.int8)


def _apart(
    one: Sequence[np.ndarray],
    other: Sequence[np.ndarray],
    known: np.ndarray,
    known_too: np.ndarray,
    without: float,
) -> np.ndarray:
    """1 - agreeing / either, over the moments that both know (N, M); `without` where neither has anything."""
    agreeing = np.zeros((len(one), len(other)), dtype=np.float32)
    either = np.zeros_like(agreeing)
    for moment in range(known.shape[1]):
        left = np.stack([mark[moment] for mark in one]).reshape(len(one), -1).astype(np.float32)
        right = np.stack([mark[moment] for mark in other]).reshape(len(other), -1).astype(np.float32)
        counted = np.outer(known[:, moment], known_too[:, moment])
        # Both have something where the product of their absolute values is 1, and agree where that of the signs is.
        both = np.abs(left) @ np.abs(right).T
        agreeing += counted * (left @ right.T + both) / 2
        either += counted * (np.abs(left).sum(1)[:, None] + np.abs(right).sum(1)[None, :] - both)
    return np.where(either > 0, 1 - agreeing / np.maximum(either, 1), without)
