"""Frames that show nothing of the sign: in one colour, standing still, or lost when the video was decoded."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from coursepkg.arguments import check_count, check_field, check_finite, flag_of
from coursepkg.projects.sign_language.quality.thumbnails import brightness

_ROUNDING = 1e-6
"""Seconds by which a sum of times may fall short."""


@dataclass(frozen=True)
class BrokenThresholds:
    """When a frame counts as broken. Gray levels are those of 8 bits, 0 to 255, of the means of cells.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    solid_spread: float = 8.0
    """A cell has the colour of the frame where no channel is further than this from the frame's median, in gray
    levels, in [0, 128]. H.264 keeps a plain colour within two or three levels."""
    solid_share: float = 0.98
    """A frame is solid where this share of its cells has one colour, in [0.5, 1]: a line of garbage at an
    edge makes no picture of it."""
    still_change: float = 2.0
    """A frame stands still where the brightness of no cell is further than this from the frame before, in gray levels,
    in [0, 255]. H.264 refines a picture that stands by one or two of them; a moving hand changes some cell by 50."""
    still_run: int = 3
    """So many frames that stand still one after another are frozen, from 1; shorter runs are left by a change of the
    frame rate, which shows frames twice."""
    still_seconds: float = 0.25
    """A run has to take so long, in seconds, at least 0. At 30 frames a second a hand that turns back stands for
    three of them."""
    still_drift: float = 4.0
    """From its first to its last frame no cell of a run changes by more, in gray levels, in [0, 255]. What tells a
    frozen picture from hands that are held: in nine such runs, real and generated, the frozen ones were at most 3.3
    apart and those that were held for half a second 6 to 9. That was in pictures of 112 pixels and more; in smaller
    ones the codec itself changes a cell by as much."""
    longest_rest: float = 0.2
    """A run that touches the first or the last frame is taken for the pose of rest and not for a fault where it covers
    at most this share of the clip, in [0, 1]; 0 knows no rest. A codec stores hands that rest as one picture again
    and again, in real clips up to a seventh of their length."""

    def __post_init__(self) -> None:
        for name, low, high in (
            ("solid_spread", 0.0, 128.0),
            ("solid_share", 0.5, 1.0),
            ("still_change", 0.0, 255.0),
            ("still_seconds", 0.0, 3600.0),
            ("still_drift", 0.0, 255.0),
            ("longest_rest", 0.0, 1.0),
        ):
            value = getattr(self, name)
            check_finite(flag_of(name), value)
            check_field(self, name, low <= value <= high, f"in [{low:g}, {high:g}]")
        check_count("--still-run", self.still_run)


@dataclass(frozen=True)
class BrokenFrames:
    """Which frames of a clip are broken."""

    n_frames: int
    """Frames that were decoded."""
    solid: tuple[int, ...]
    """Frames in one colour, by their numbers from 0."""
    frozen: tuple[int, ...]
    """Frames that repeat the one before, in runs; the first frame of a run shows something and is not counted."""
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
        """How many frames are broken in which way; kinds that do not occur are left out."""
        counts = {"solid": len(self.solid), "frozen": len(self.frozen), "undecodable": self.undecodable}
        return {kind: count for kind, count in counts.items() if count}


def find_broken(
    thumbs: np.ndarray,
    times: np.ndarray,
    thresholds: BrokenThresholds | None = None,
    *,
    undecodable: int = 0,
) -> BrokenFrames:
    """The broken frames of a clip.

    A frame of fine noise is solid as well: its cells have one mean, and nothing can be seen in it.

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


def is_solid(thumbs: np.ndarray, thresholds: BrokenThresholds) -> np.ndarray:
    """Which frames have one colour, bool (T,)."""
    cells = thumbs.reshape(len(thumbs), -1, thumbs.shape[-1])
    apart = np.abs(cells - np.median(cells, axis=1, keepdims=True)).max(axis=-1)
    return (apart <= thresholds.solid_spread).mean(axis=1) >= thresholds.solid_share


def is_frozen(thumbs: np.ndarray, times: np.ndarray, thresholds: BrokenThresholds) -> np.ndarray:
    """Which frames repeat the one before in a run that is long enough, bool (T,)."""
    still = np.zeros(len(thumbs), dtype=bool)
    if len(thumbs) > 1:
        still[1:] = largest_changes(thumbs) <= thresholds.still_change
    for start, stop in _runs(still):
        at_an_end = start == 1 or stop == len(still)
        rests = at_an_end and stop - start <= thresholds.longest_rest * len(still)
        seconds = times[stop - 1] - times[start - 1]
        is_short = stop - start < thresholds.still_run or seconds < thresholds.still_seconds - _ROUNDING
        drift = largest_changes(thumbs[[start, stop - 1]])[0]
        if rests or is_short or drift > thresholds.still_drift:
            still[start:stop] = False
    return still


def largest_changes(thumbs: np.ndarray) -> np.ndarray:
    """How much the brightness of the cell that changes most does so from each frame to the next, float32 (T - 1,).

    A mean over the picture would miss a small hand that moves before a wall: it covers a hundredth of the frame.
    """
    return np.abs(np.diff(brightness(thumbs), axis=0)).reshape(len(thumbs) - 1, -1).max(axis=1)


def _runs(flags: np.ndarray) -> list[tuple[int, int]]:
    """Where each run of True begins and where it has ended."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], flags, [False])).astype(np.int8)))
    ends: Sequence[int] = edges.tolist()
    return list(zip(ends[::2], ends[1::2], strict=True))
