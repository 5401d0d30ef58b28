"""Look at every clip once: size, length, broken frames, and a fingerprint of copies.

A clip is in memory only while it is looked at. A frame is broken where it shows nothing
of the sign: in one colour, standing still, or lost when the video was decoded.

Signers sit before one wall in one shirt for many clips, so a hash of the pictures alone
takes all of them for copies. The fingerprint is twofold: where it gets brighter or
darker across the picture (the picture), and where it gets brighter or darker from one
moment to the next (the motion). Two clips are copies where both agree.

Source: the difference hash of N. Krawetz, "Kind of Like That" (hackerfactor.com, 2013),
here with a third value for places where nothing changes, which chance would otherwise
fill.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coursepkg.data.split import group_records
from coursepkg.projects.sign_language.data.clip import ClipFile, brightness, shrink
from coursepkg.projects.sign_language.data.video import (
    DecodedVideo,
    decode_video,
    is_solid,
)
from coursepkg.projects.sign_language.recipe import SAME, BrokenThresholds
from coursepkg.validation import check_count, check_finite, one_line

_ROUNDING = 1e-6
"""Seconds by which a sum of times may fall short."""


@dataclass(frozen=True)
class BrokenFrames:
    """Which frames of a clip are broken."""

    n_frames: int
    """Frames that were decoded."""
    solid: tuple[int, ...]
    """Frames in one colour, by their numbers from 0."""
    frozen: tuple[int, ...]
    """Frames that repeat the one before, in runs; the first frame of a run shows
    something and is not counted."""
    undecodable: int = 0
    """Frames that the file has and the decoder could not read."""

    @property
    def numbers(self) -> tuple[int, ...]:
        """The decoded frames that are broken, ascending; none is counted twice."""
        return tuple(sorted({*self.solid, *self.frozen}))

    @property
    def n_broken(self) -> int:
        """Broken frames of all kinds."""
        return len(self.numbers) + self.undecodable

    @property
    def share(self) -> float:
        """Broken frames of all frames that the file has, in [0, 1]."""
        return self.n_broken / max(1, self.n_frames + self.undecodable)

    @property
    def kinds(self) -> dict[str, int]:
        """The number of broken frames of each kind that occurs."""
        counts = {
            "solid": len(self.solid),
            "frozen": len(self.frozen),
            "undecodable": self.undecodable,
        }
        return {kind: count for kind, count in counts.items() if count}


def find_broken(
    thumbs: np.ndarray,
    times: np.ndarray,
    thresholds: BrokenThresholds | None = None,
    *,
    undecodable: int = 0,
) -> BrokenFrames:
    """The broken frames of a clip.

    A frame of fine noise is solid as well: its cells have one mean, and nothing can be
    seen in it.

    Args:
        thumbs: of its frames, float32 (T, rows, columns, 3), see `thumbnails`.
        times: when each is shown, in seconds (T,), rising.
        thresholds: None for those that the class has by itself.
        undecodable: frames that the file has beyond these and that could not be read.

    Raises:
        ValueError: there is no frame, or `undecodable` is negative.
    """
    thresholds = thresholds or BrokenThresholds()
    check_count("undecodable", undecodable, least=0)
    check_count("frames", len(thumbs))
    solid = is_solid(thumbs, thresholds)
    frozen = is_frozen(thumbs, times, thresholds) & ~solid
    return BrokenFrames(
        n_frames=len(thumbs),
        solid=tuple(np.flatnonzero(solid).tolist()),
        frozen=tuple(np.flatnonzero(frozen).tolist()),
        undecodable=undecodable,
    )


def is_frozen(
    thumbs: np.ndarray, times: np.ndarray, thresholds: BrokenThresholds
) -> np.ndarray:
    """Which frames repeat the one before in a run that is long enough, bool (T,)."""
    still = np.zeros(len(thumbs), dtype=bool)
    if len(thumbs) > 1:
        still[1:] = largest_changes(thumbs) <= thresholds.still_change
    for start, stop in _runs(still):
        at_an_end = start == 1 or stop == len(still)
        rests = at_an_end and stop - start <= thresholds.longest_rest * len(still)
        seconds = times[stop - 1] - times[start - 1]
        is_short = (
            stop - start < thresholds.still_run
            or seconds < thresholds.still_seconds - _ROUNDING
        )
        drift = largest_changes(thumbs[[start, stop - 1]])[0]
        if rests or is_short or drift > thresholds.still_drift:
            still[start:stop] = False
    return still


def largest_changes(thumbs: np.ndarray) -> np.ndarray:
    """Return the largest brightness change of a cell per frame step, float32 (T - 1,).

    A mean over the picture would miss a small hand that moves before a wall: it covers
    a hundredth of the frame.
    """
    return (
        np.abs(np.diff(brightness(thumbs), axis=0))
        .reshape(len(thumbs) - 1, -1)
        .max(axis=1)
    )


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """Where each run of True begins and where it has ended."""
    edges = np.flatnonzero(
        np.diff(np.concatenate(([False], flags, [False])).astype(np.int8))
    )
    ends: Sequence[int] = edges.tolist()
    return list(zip(ends[::2], ends[1::2], strict=True))


MOMENTS = 8
"""Stretches of equal length that a clip is cut into; what is hashed is the mean of the
frames of each."""
ROWS, COLUMNS = 16, 17
LEAST_STEP = 6.0
"""Cells that differ by no more count as equal, in gray levels: noise and a codec move
them by so much."""
LEAST_SHARE = 0.5
"""Two clips are compared only where at least this share of their moments shows
something in both."""


@dataclass(frozen=True, eq=False)
class Fingerprint:
    """Hold a clip's picture and motion as -1 (darker), 0 (equal) or 1 (brighter)."""

    picture: np.ndarray
    """From each cell to the one right of it, int8 (MOMENTS, ROWS, COLUMNS - 1); 0
    throughout a broken frame."""
    motion: np.ndarray
    """From each moment to the next, int8 (MOMENTS - 1, ROWS, COLUMNS); 0 throughout
    where one of them is broken."""
    known: np.ndarray
    """Which moments show something, bool (MOMENTS,)."""


def fingerprint(
    thumbs: np.ndarray, times: np.ndarray, broken: Sequence[int] = ()
) -> Fingerprint:
    """The perceptual hash of a clip.

    Args:
        thumbs: its frames as small pictures, (T, rows, columns, 3) in 0..255;
            thumbnails are enough.
        times: when each frame is shown, in seconds (T,), rising.
        broken: frames that show nothing; a moment of which they make more than half is
            left out.
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

    The distance of picture or motion is the share of places that do not agree among
    those where either clip has something: 1 - agreeing / either. The larger of the two
    counts. Moments that are broken in either clip are left out; where too few are left,
    or neither picture shows anything, it is 1. Two clips without motion move alike.

    Args:
        one: N fingerprints.
        other: M fingerprints.
    """
    if not one or not other:
        return np.ones((len(one), len(other)), dtype=np.float32)
    sides = (one, other)
    known = [np.stack([mark.known for mark in marks]) for marks in sides]
    pairs = [flags[:, 1:] & flags[:, :-1] for flags in known]
    pictures = [np.stack([mark.picture for mark in marks]) for marks in sides]
    motions = [np.stack([mark.motion for mark in marks]) for marks in sides]
    apart = np.maximum(_apart(pictures, known, 1.0), _apart(motions, pairs, 0.0))
    both = known[0].astype(np.float32) @ known[1].T.astype(np.float32)
    return np.where(both >= LEAST_SHARE * MOMENTS, apart, 1.0).astype(np.float32)


def copies(
    marks: Sequence[Fingerprint], same: int | float = SAME, *, at_once: int = 512
) -> list[tuple[int, ...]]:
    """Groups of clips that are copies of one another, directly or through others.

    Every clip is compared with every other one: two products of matrices, some seconds
    for 4,000 clips.

    Args:
        marks: fingerprints of the clips.
        same: largest distance of two copies, in [0, 1).
        at_once: clips whose distances to all others stand in memory at one time.

    Returns:
        for each group the numbers of its clips, ascending; clips without a copy are in
        none.

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
    """Return which frames each moment has, bool (MOMENTS, T).

    These are the frames in its stretch of time, or else the frame nearest to it.
    """
    length = float(times[-1] - times[0])
    if not length:
        return np.ones((MOMENTS, len(times)), dtype=bool)
    whole = (
        length * len(times) / (len(times) - 1)
    )  # the last frame is shown for as long as another
    stretch = np.minimum((times - times[0]) / whole * MOMENTS, MOMENTS - 1).astype(
        np.int64
    )
    inside = stretch == np.arange(MOMENTS)[:, None]
    middles = times[0] + (np.arange(MOMENTS) + 0.5) / MOMENTS * whole
    for moment in np.flatnonzero(~inside.any(axis=1)):
        inside[moment, np.abs(times - middles[moment]).argmin()] = True
    return inside


def _signs(steps: np.ndarray) -> np.ndarray:
    return (np.sign(steps) * (np.abs(steps) > LEAST_STEP)).astype(np.int8)


def _apart(
    marks: Sequence[np.ndarray], known: Sequence[np.ndarray], without: float
) -> np.ndarray:
    """Return 1 - agreeing / either (N, M) over the moments that both sides know.

    It is `without` where neither has anything.
    """
    agreeing = np.zeros([len(side) for side in marks], dtype=np.float32)
    either = np.zeros_like(agreeing)
    for moment in range(known[0].shape[1]):
        left, right = (
            side[:, moment].reshape(len(side), -1).astype(np.float32) for side in marks
        )
        counted = np.outer(*(side[:, moment] for side in known))
        # Both have something where the product of their absolute values is 1, and agree
        # where that of the signs is.
        both = np.abs(left) @ np.abs(right).T
        agreeing += counted * (left @ right.T + both) / 2
        either += counted * (
            np.abs(left).sum(1)[:, None] + np.abs(right).sum(1)[None, :] - both
        )
    return np.where(either > 0, 1 - agreeing / np.maximum(either, 1), without)


_SIDE = 224
"""Longest side in which clips are looked at, in pixels: broken frames and copies show
in less."""

Decode = Callable[[Path], DecodedVideo]


@dataclass(frozen=True, eq=False)
class ClipFacts:
    """What was found in a clip that opens."""

    file: ClipFile
    width: int
    """Of the file, in pixels, upright."""
    height: int
    n_frames: int
    """Frames that were decoded."""
    seconds: float
    """How long it is shown."""
    fps: float
    """Frames a second, on average."""
    has_variable_rate: bool
    broken: BrokenFrames
    times: np.ndarray
    """When the frames are shown, in seconds from the start, float64 (n_frames,):
    whoever reads the file again finds the broken ones by it."""
    mark: Fingerprint


@dataclass(frozen=True)
class Unopened:
    """A file that cannot be read at all."""

    file: ClipFile
    reason: str
    """One line that names the file and says what to do."""


@dataclass(frozen=True, eq=False)
class Survey:
    """What was found in a data set; every file is in exactly one of the two."""

    clips: tuple[ClipFacts, ...]
    unopened: tuple[Unopened, ...]
    groups: tuple[tuple[int, ...], ...]
    """Copies: for each group of them the numbers of its clips in `clips`, ascending."""

    @property
    def contradictions(self) -> tuple[tuple[int, ...], ...]:
        """The groups of copies whose clips have different words.

        At most one word of each group is right.
        """
        return tuple(
            group
            for group in self.groups
            if len({self.clips[i].file.label for i in group} - {""}) > 1
        )

    @property
    def n_repeats(self) -> int:
        """Clips that repeat another one."""
        return sum(len(group) - 1 for group in self.groups)

    def part(self, files: Iterable[ClipFile]) -> "Survey":
        """What was found in some of the files, as those that a model is trained on."""
        chosen = {file.path for file in files}
        numbers = [i for i, clip in enumerate(self.clips) if clip.file.path in chosen]
        places = {i: place for place, i in enumerate(numbers)}
        groups = (
            tuple(places[i] for i in group if i in places) for group in self.groups
        )
        return Survey(
            tuple(self.clips[i] for i in numbers),
            tuple(one for one in self.unopened if one.file.path in chosen),
            tuple(group for group in groups if len(group) > 1),
        )


def look_at(
    file: ClipFile, video: DecodedVideo, thresholds: BrokenThresholds | None = None
) -> ClipFacts:
    """What there is to know of one clip.

    Args:
        file: where it is from.
        video: its frames.
        thresholds: when a frame counts as broken; None for the usual ones.
    """
    thumbs = shrink(video.frames)
    broken = find_broken(thumbs, video.times, thresholds, undecodable=video.n_lost)
    return ClipFacts(
        file=file,
        width=video.facts.width,
        height=video.facts.height,
        n_frames=len(video.frames),
        seconds=video.facts.seconds,
        fps=video.facts.fps,
        has_variable_rate=video.facts.has_variable_rate,
        broken=broken,
        times=video.times,
        mark=fingerprint(thumbs, video.times, broken.numbers),
    )


def survey(
    files: Iterable[ClipFile],
    *,
    thresholds: BrokenThresholds | None = None,
    same: int | float = SAME,
    decode: Decode | None = None,
    log: Callable[[str], None] = lambda line: None,
) -> Survey:
    """Look at every clip of a data set.

    Args:
        files: of the data set, in an order that does not change.
        thresholds: when a frame counts as broken; None for the usual ones.
        same: largest distance of two copies, see `fingerprint.copies`.
        decode: reads a file; None for PyAV.
        log: receives a line now and then.

    Raises:
        ValueError: there is no file, or `same` is out of range.
        ImportError: av is not installed.
    """
    clips, unopened = [], []
    for count, found in enumerate(look_at_all(files, thresholds, decode), start=1):
        if isinstance(found, ClipFacts):
            clips.append(found)
        else:
            unopened.append(found)
        if count % 100 == 0:
            log(f"{count:,} clips looked at")
    if not clips and not unopened:
        raise ValueError("files must hold at least one clip, got none")
    groups = copies([clip.mark for clip in clips], same)
    return Survey(tuple(clips), tuple(unopened), tuple(groups))


def look_at_all(
    files: Iterable[ClipFile],
    thresholds: BrokenThresholds | None = None,
    decode: Decode | None = None,
) -> Iterator[ClipFacts | Unopened]:
    """One finding a file, in their order, each as soon as it is made."""
    decode = decode or decode_small
    for file in files:
        try:
            video = decode(file.path)
        except (ValueError, OSError) as reason:
            yield Unopened(file, one_line(reason))
        else:
            yield look_at(file, video, thresholds)


def decode_small(path: Path) -> DecodedVideo:
    """All frames of a video, scaled down while they are decoded."""
    return decode_video(path, most_side=_SIDE)


def copy_keys(found: Survey, files: Sequence[ClipFile]) -> list[list[str]]:
    """Return the keys of the copy groups of each of `files`.

    A split uses the keys to keep copies together.
    """
    keys: dict[Path, list[str]] = {}
    for number, group in enumerate(found.groups):
        for i in group:
            keys.setdefault(found.clips[i].file.path, []).append(f"copies {number}")
    return [keys.get(file.path, []) for file in files]
