"""Look at every clip of a data set once: its size and length, broken frames, and a fingerprint that tells copies.

A clip stands in memory only while it is looked at, so the memory does not grow with the data.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from coursepkg.projects.sign_language.clip import ClipFile
from coursepkg.projects.sign_language.data.video import DecodedVideo, decode_video
from coursepkg.projects.sign_language.quality.broken import BrokenFrames, BrokenThresholds, find_broken
from coursepkg.projects.sign_language.quality.fingerprint import SAME, Fingerprint, copies, fingerprint
from coursepkg.projects.sign_language.quality.thumbnails import shrink
from coursepkg.wording import one_line

_SIDE = 224
"""Longest side in which clips are looked at, in pixels: broken frames and copies show in less."""

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
    """When the frames are shown, in seconds from the start, float64 (n_frames,): whoever reads the file again finds
    the broken ones by it."""
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
        """Groups of copies that stand under different words: at most one of them is right."""
        return tuple(
            group for group in self.groups if len({self.clips[i].file.label for i in group} - {""}) > 1
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
        groups = (tuple(places[i] for i in group if i in places) for group in self.groups)
        return Survey(
            tuple(self.clips[i] for i in numbers),
            tuple(one for one in self.unopened if one.file.path in chosen),
            tuple(group for group in groups if len(group) > 1),
        )


def look_at(file: ClipFile, video: DecodedVideo, thresholds: BrokenThresholds | None = None) -> ClipFacts:
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
    say: Callable[[str], None] = lambda line: None,
) -> Survey:
    """Look at every clip of a data set.

    Args:
        files: of the data set, in an order that does not change.
        thresholds: when a frame counts as broken; None for the usual ones.
        same: largest distance of two copies, see `fingerprint.copies`.
        decode: reads a file; None for PyAV.
        say: receives a line now and then.

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
            say(f"{count:,} clips looked at")
    if not clips and not unopened:
        raise ValueError("files must hold at least one clip, got none")
    groups = copies([clip.mark for clip in clips], same)
    return Survey(tuple(clips), tuple(unopened), tuple(groups))


def look_at_all(
    files: Iterable[ClipFile], thresholds: BrokenThresholds | None = None, decode: Decode | None = None
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
    """For each of `files` the keys of the groups of copies that it is in, for a split that keeps copies together."""
    keys: dict[Path, list[str]] = {}
    for number, group in enumerate(found.groups):
        for i in group:
            keys.setdefault(found.clips[i].file.path, []).append(f"copies {number}")
    return [keys.get(file.path, []) for file in files]
