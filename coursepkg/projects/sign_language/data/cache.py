"""Clips decoded once: their frames as plain bytes in one file, read back clip by clip.

A folder holds `clips-<hash>.bin`, the frames of all clips one after another, and
`index.json`, which says of each clip where its frames begin, when they are shown, what
is signed and by whom. More frames are kept than a model sees, so that time can be
warped before T of them are sampled. The index is written last and names the frames by
their hash.

A clip is read at its place in the file. Mapping the file into memory would be no
faster, and every page that was once looked at would count as memory of the process: at
224 pixels 4,000 clips have 18 GB.

Frames in one colour leave a clip before frames are sampled: of 16 frames taken evenly
from a clip that is white for two thirds of its time five show something; of the same
clip without the white frames all 16 do.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np

from coursepkg.app.recipe import AtLeast, Count, PositiveShare, check_fields
from coursepkg.files import check_seal, read_json
from coursepkg.projects.sign_language.data.clip import Clip, Fit, shrink
from coursepkg.projects.sign_language.recipe import BrokenThresholds, Recipe

INDEX = "index.json"
KIND = "cached clips"
VERSION = 1
"""Of the layout of both files."""


@dataclass(frozen=True)
class CacheConfig:
    """How clips are kept.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    size: Annotated[int, AtLeast(8)] = 64
    """Side of the square frames, in pixels."""
    frames: Count = 32
    """Most frames of a clip, evenly spaced in time; a clip that has fewer keeps all of
    them."""
    fit: Fit = "crop"
    """How frames become squares, see `Framing`."""
    skip_solid: bool = False
    """Leave frames in one colour out, and close the gap in time, see `solid`."""
    most_lost: PositiveShare = 0.6
    """A clip of which this share of the frames or more cannot be decoded is left out,
    above 0 and up to 1."""

    def __post_init__(self) -> None:
        check_fields(self)


class CachedClip(NamedTuple):
    """What the index says of a clip."""

    name: str
    """Of the file, below the folder that all files share."""
    label: str
    signer: str
    group: str
    sha256: str
    """Of the file that it was decoded from."""
    times: list[float]
    """When its frames are shown, in seconds from the start of the file."""
    offset: int
    """Of its first byte."""
    crc32: int
    """Of its frames."""
    flaw: str
    """What was wrong with it although it was kept, in one line; empty where nothing
    was."""
    strong: bool
    """Whether it repeats another clip and is to be augmented more strongly."""
    place: int
    """Among the files that were to be cached, from 0."""


class LeftOut(NamedTuple):
    """A clip that could not be kept."""

    name: str
    label: str
    signer: str
    group: str
    sha256: str
    reason: str
    """One line that names the file."""


class CachedClips:
    """Cached clips by their numbers from 0; `caching.cache_clips` writes them.

    Args:
        folder: where they lie.
        verify: compare the hash of all frames; without it only their number of bytes is
            checked.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is damaged or of another version; it is named.
    """

    def __init__(self, folder: str | Path, *, verify: bool = True) -> None:
        self.folder = Path(folder)
        index = _read_index(self.folder / INDEX)
        self.config = CacheConfig(**index["config"])
        self.source: str = index["source"]
        self.clips = tuple(CachedClip(*row) for row in index["clips"])
        self.left_out = tuple(LeftOut(*row) for row in index["left_out"])
        self._seal = index["frames"]
        self._path = self.folder / str(self._seal["file"])
        if verify:
            check_seal(self._path, self._seal)
        elif (
            not self._path.is_file() or self._path.stat().st_size != self._seal["bytes"]
        ):
            raise ValueError(
                f"{self._path} is missing or cut short; cache the clips again"
            )

    def __len__(self) -> int:
        return len(self.clips)

    @property
    def labels(self) -> list[str]:
        """What is signed in each clip."""
        return [clip.label for clip in self.clips]

    @property
    def size(self) -> int:
        """Height and width of the frames, in pixels."""
        return self.config.size

    def numbers_of(self, places: Iterable[int]) -> list[int]:
        """Return the numbers of the clips that the files at these places became.

        A place counts among the files that were to be cached; a split has such places.

        Files that could not be kept are left out here; `left_out` says why.
        """
        numbers = {clip.place: number for number, clip in enumerate(self.clips)}
        return [numbers[place] for place in places if place in numbers]

    def times(self, number: int) -> np.ndarray:
        """When the frames of a clip are shown, in seconds, float64 (N,)."""
        return np.array(self.clips[number].times)

    def frames(
        self, number: int, chosen: Sequence[int] | np.ndarray | None = None
    ) -> np.ndarray:
        """Return all or the chosen frames of a clip, RGB, uint8 (T, size, size, 3).

        `chosen` holds numbers of frames; None takes all of them.

        Raises:
            ValueError: the file was cut short after it was opened.
        """
        clip = self.clips[number]
        count = len(clip.times) * self.size * self.size * 3
        pixels = np.fromfile(
            self._path, dtype=np.uint8, count=count, offset=clip.offset
        )
        if len(pixels) < count:
            raise ValueError(f"{self._path} was cut short; cache the clips again")
        frames = pixels.reshape(-1, self.size, self.size, 3)
        return frames if chosen is None else frames[np.asarray(chosen)]

    def clip(self, number: int) -> Clip:
        """A clip with all frames that are kept of it."""
        told = self.clips[number]
        return Clip(
            self.frames(number), self.times(number), told.label, told.signer, told.name
        )

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of frames, times and labels."""
        told = [[*clip[:4], clip.times, clip.strong] for clip in self.clips]
        content = f"{self._seal['sha256']} {json.dumps(told, ensure_ascii=False)}"
        return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()

    def report(self) -> str:
        """How much is kept, and every clip that is not or has a flaw, for readers."""
        flawed = [clip for clip in self.clips if clip.flaw]
        mib = self._seal["bytes"] / 2**20
        what = ", without frames in one colour" if self.config.skip_solid else ""
        lines = [
            f"{self.folder}: {len(self):,} clips of {self.size} x {self.size}"
            f" pixels{what}, {mib:,.0f} MiB"
        ]
        if self.left_out:
            lines += [
                f"left out: {len(self.left_out):,}",
                *(f"  {one.reason}" for one in self.left_out),
            ]
        if flawed:
            lines += [
                f"kept with a flaw: {len(flawed):,}",
                *(f"  {one.flaw}" for one in flawed),
            ]
        return "\n".join(lines)


def _read_index(path: Path) -> dict[str, Any]:
    index = read_json(path, needs={"kind": str, "version": int})
    if index["kind"] != KIND or index["version"] != VERSION:
        raise ValueError(
            f"{path} is {index['kind']!r} of version {index['version']}, not {KIND!r}"
            f" of version {VERSION}; cache the clips again"
        )
    kinds = {
        "config": dict,
        "source": str,
        "frames": dict,
        "clips": list,
        "left_out": list,
    }
    index = read_json(path, needs=kinds)
    name = index["frames"].get("file")
    if not isinstance(name, str) or Path(name).name != name:
        raise ValueError(
            f"{path} is damaged: it names no file of frames beside it; cache the clips"
            " again"
        )
    if not _fills(index):
        raise ValueError(
            f"{path} is damaged: its clips do not fill the frames; cache the clips"
            " again"
        )
    return index


def _fills(index: Mapping[str, Any]) -> bool:
    """Whether the clips lie one after another and end where the frames do."""
    try:
        one = 3 * int(index["config"]["size"]) ** 2
        end = 0
        for row in index["clips"]:
            clip = CachedClip(*row)
            if clip.offset != end or not clip.times:
                return False
            end += one * len(clip.times)
        return bool(index["clips"]) and end == index["frames"].get("bytes")
    except (KeyError, TypeError, ValueError):
        return False


def cache_config(recipe: Recipe) -> CacheConfig:
    """Return how clips are kept, with twice the frames that the recipe samples.

    The additional frames let time be warped. The number of frames is at least 32.
    """
    return CacheConfig(
        size=recipe.size,
        frames=max(32, 2 * recipe.n_frames),
        skip_solid=recipe.skip_solid,
    )


def is_solid(thumbs: np.ndarray, thresholds: BrokenThresholds) -> np.ndarray:
    """Which frames have one colour, bool (T,)."""
    cells = thumbs.reshape(len(thumbs), -1, thumbs.shape[-1])
    apart = np.abs(cells - np.median(cells, axis=1, keepdims=True)).max(axis=-1)
    return (apart <= thresholds.solid_spread).mean(axis=1) >= thresholds.solid_share


def seen_frames(
    frames: np.ndarray,
    times: np.ndarray,
    config: CacheConfig,
    solid: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Return small frames and their times; `skip_solid` removes one-colour frames."""
    return without_solid(frames, times, solid) if config.skip_solid else (frames, times)


def without_solid(
    frames: np.ndarray, times: np.ndarray, solid: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the frames that are not in one colour, and when they are shown.

    The times do not count the frames that are left out.

    A clip that is in one colour from its first frame to its last stays as it is.

    Args:
        frames: uint8 (T, height, width, 3).
        times: in seconds (T,), rising.
        solid: what `solid_frames` says of them, where it was asked already.
    """
    whole = np.flatnonzero(~(solid_frames(frames) if solid is None else solid))
    if len(whole) in (0, len(frames)):
        return frames, times
    # Each frame that stays is shown as long after the one before as it was after its
    # neighbour in the file.
    steps = np.diff(times, prepend=times[:1])[whole]
    steps[0] = times[whole[0]]
    return frames[whole], np.cumsum(steps)


def solid_frames(frames: np.ndarray) -> np.ndarray:
    """Return which frames, uint8 (T, height, width, 3), have one colour, bool (T,)."""
    return is_solid(shrink(frames), BrokenThresholds())
