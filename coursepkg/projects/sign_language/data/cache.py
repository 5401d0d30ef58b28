"""Clips decoded once: their frames as plain bytes in one file, read back clip by clip.

A folder holds `clips-<hash>.bin`, the frames of all clips one after another, and
`index.json`, which says of each clip where its frames begin, when they are shown, what
is signed and by whom. More frames are kept than a model sees, so that time can be
warped before T of them are sampled. The index is written last and names the frames by
their hash.

A clip is read at its place in the file. Mapping the file into memory would be no
faster, and every page that was once looked at would count as memory of the process: at
224 pixels 4,000 clips have 18 GB.

What is decoded is noted in a journal beside the growing file. A clip's frames are
written before its line, and the line has their checksum: whatever stops the writer,
even a power cut, the lines whose frames are there say where to go on, and what stands
behind them is cut off. Called again in the same way it decodes only what is missing.
"""

import hashlib
import json
import math
import os
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from coursepkg.files import check_seal, file_sha256, read_json, write_json
from coursepkg.projects.sign_language.data.clip import Clip, ClipFile, kept_frames
from coursepkg.projects.sign_language.data.video import (
    CacheConfig,
    decode_needed,
    seen_frames,
)
from coursepkg.projects.sign_language.landmarks.extract import (
    VERSION as LANDMARKS_VERSION,
)
from coursepkg.projects.sign_language.landmarks.steps import (
    NOBODY,
    read_landmark_clip,
)
from coursepkg.validation import one_line

INDEX = "index.json"
KIND = "cached clips"
VERSION = 1
"""Of the layout of both files."""


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
    """Cached clips by their numbers from 0; `cache_clips` writes them.

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

    @property
    def n_features(self) -> int:
        """Numbers of a step where clips are kept as landmarks, 0 of pictures."""
        return self.config.n_features

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

        Those of a cache of landmarks are float32 (T, F). `chosen` holds numbers of
        frames; None takes all of them.

        Raises:
            ValueError: the file was cut short after it was opened.
        """
        clip = self.clips[number]
        shape, kind = self.config.frame_shape, self.config.frame_type
        count = len(clip.times) * math.prod(shape)
        values = np.fromfile(self._path, dtype=kind, count=count, offset=clip.offset)
        if len(values) < count:
            raise ValueError(f"{self._path} was cut short; cache the clips again")
        frames = values.reshape(-1, *shape)
        return frames if chosen is None else frames[np.asarray(chosen)]

    @property
    def without_anybody(self) -> list[str]:
        """Names of the clips, kept as landmarks, in which nobody was found."""
        return [clip.name for clip in self.clips if NOBODY in clip.flaw]

    def clip(self, number: int) -> Clip:
        """A clip with all frames that are kept of it; of pictures only."""
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
        what = f"{self.size} x {self.size} pixels"
        what += ", without frames in one colour" if self.config.skip_solid else ""
        if self.config.n_features:
            what = f"landmarks, {self.config.n_features} numbers a step"
        lines = [f"{self.folder}: {len(self):,} clips of {what}, {mib:,.0f} MiB"]
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
        one = CacheConfig(**index["config"]).frame_bytes
        end = 0
        for row in index["clips"]:
            clip = CachedClip(*row)
            if clip.offset != end or not clip.times:
                return False
            end += one * len(clip.times)
        return bool(index["clips"]) and end == index["frames"].get("bytes")
    except (KeyError, TypeError, ValueError):
        return False


class ReadClip(NamedTuple):
    """What is kept of a file."""

    frames: np.ndarray
    """As `CacheConfig.frame_shape` has them."""
    times: np.ndarray
    """Of the frames, in seconds from the start of the file."""
    flaw: str


Told = tuple[str, str, str, str, str]
"""Name, label, signer, group and SHA-256 of a file."""
Usable = Callable[[np.ndarray], np.ndarray]
"""From the times of a file's frames, float64 (N,), to the numbers of those that may be
used, ascending."""


class Journal:
    """A journal records decoded clips and continues what an earlier writer left.

    The earlier writer had the same source. The journal is open while clips are decoded.

    Args:
        folder: of the cache.
        source: what the clips are made from, as a hash; lines of another source do not
            count.
        bytes_of_frame: of one frame of a clip.
    """

    def __init__(self, folder: Path, source: str, *, bytes_of_frame: int) -> None:
        self.part = folder / "clips.part"
        self.lines = folder / "clips.part.jsonl"
        self.clips: list[CachedClip] = []
        self.left_out: list[LeftOut] = []
        self._resume(json.dumps(["source", source]).encode() + b"\n", bytes_of_frame)

    def __enter__(self) -> "Journal":
        self._frames = self.part.open("ab")
        self._notes = self.lines.open("ab")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        reason: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._notes, self._frames:
            if kind is None:
                self._frames.flush()
                os.fsync(self._frames.fileno())

    def keep(self, told: Told, video: ReadClip, strong: bool, place: int) -> None:
        """Write the frames of a clip, then its line."""
        pixels = np.ascontiguousarray(video.frames)
        offset, crc32 = self._frames.tell(), zlib.crc32(pixels.data)
        self._frames.write(pixels.data)
        self._frames.flush()
        clip = CachedClip(
            *told, video.times.tolist(), offset, crc32, video.flaw, strong, place
        )
        self.clips.append(clip)
        self._note("clip", clip)

    def leave_out(self, entry: LeftOut) -> None:
        """Write the line of a clip that cannot be kept."""
        self.left_out.append(entry)
        self._note("left out", entry)

    def remove(self) -> None:
        """Remove what is left of both files once they are not needed any more."""
        self.part.unlink(missing_ok=True)
        self.lines.unlink(missing_ok=True)

    def _note(self, kind: str, entry: CachedClip | LeftOut) -> None:
        self._notes.write(json.dumps([kind, list(entry)]).encode() + b"\n")
        self._notes.flush()

    def _resume(self, head: bytes, bytes_of_frame: int) -> None:
        both = self.part.is_file() and self.lines.is_file()
        lines = self.lines.read_bytes().splitlines(keepends=True) if both else []
        if not lines or lines[0] != head:
            self.part.write_bytes(b"")
            self.lines.write_bytes(head)
            return
        good, end = 1, 0
        with self.part.open("rb") as frames:
            for entry in map(_entry, lines[1:]):
                if isinstance(entry, CachedClip):
                    pixels = frames.read(bytes_of_frame * len(entry.times))
                    if entry.offset != end or zlib.crc32(pixels) != entry.crc32:
                        break
                    end += len(pixels)
                    self.clips.append(entry)
                elif entry is not None:
                    self.left_out.append(entry)
                else:
                    break
                good += 1
        os.truncate(self.part, end)
        self.lines.write_bytes(b"".join(lines[:good]))


def _entry(line: bytes) -> CachedClip | LeftOut | None:
    """What a line says; None of one that was not written to its end."""
    if not line.endswith(b"\n"):
        return None
    try:
        kind, row = json.loads(line)
        return CachedClip(*row) if kind == "clip" else LeftOut(*row)
    except (ValueError, TypeError):
        return None


def cache_clips(
    files: Sequence[ClipFile],
    folder: str | Path,
    config: CacheConfig | None = None,
    *,
    usable: Sequence[Usable] | None = None,
    strong: Sequence[bool] | None = None,
    plan: str = "",
    log: Callable[[str], None] = lambda line: None,
) -> CachedClips:
    """Decode clips into a folder.

    What was cached from the same files in the same way is opened and not made again.

    Args:
        files: the clips.
        folder: made where it is not there.
        config: how they are kept; None for the usual way.
        usable: for each file which of its frames may be used, as `KeptClip.frames_of`
            of a cleaning plan says it; None for all.
        strong: for each file whether it is to be augmented more strongly; None for
            none.
        plan: what tells one `usable` from another, as the fingerprint of the plan.
        log: receives a line now and then.

    Raises:
        ValueError: there is no file, none can be decoded, or `usable` has another
            length.
        OSError: the folder cannot be written, as on a full disk; what is done stays and
            is gone on with.
        ImportError: av is not installed.
    """
    config, folder = config or CacheConfig(), Path(folder)
    if not files:
        raise ValueError("files must hold at least one clip, got none")
    for name, given in (("usable", usable), ("strong", strong)):
        if given is not None and len(given) != len(files):
            raise ValueError(
                f"{name} must have one entry a file, {len(files)}, got {len(given)}"
            )
    marks = [False] * len(files) if strong is None else list(strong)
    folder.mkdir(parents=True, exist_ok=True)
    hashes = [_hash(file.path) for file in files]
    names = _names([file.path for file in files])
    source = _source(files, names, hashes, config, [plan, marks])
    made = _made_before(folder, source)
    if made is not None:
        return made
    try:
        with Journal(folder, source, bytes_of_frame=config.frame_bytes) as journal:
            done = len(journal.clips) + len(journal.left_out)
            if done:
                log(f"{done:,} of {len(files):,} clips were cached before")
            for i in range(done, len(files)):
                told = (
                    names[i],
                    files[i].label,
                    files[i].signer,
                    files[i].group,
                    hashes[i],
                )
                found = _decode(files[i].path, config, usable[i] if usable else None)
                if isinstance(found, str):
                    journal.leave_out(LeftOut(*told, found))
                else:
                    journal.keep(told, found, marks[i], place=i)
                if i % 100 == 99:
                    log(f"{i + 1:,} of {len(files):,} clips")
    except OSError as reason:
        raise OSError(
            f"{folder}: the clips could not be written: {reason}; free some space, then"
            " go on"
        ) from reason
    if not journal.clips:
        journal.remove()
        raise ValueError(
            f"no clip of {len(files):,} can be decoded; the first:"
            f" {journal.left_out[0].reason}"
        )
    _finish(folder, source, config, journal)
    return CachedClips(folder, verify=False)


def _decode(path: Path, config: CacheConfig, usable: Usable | None) -> ReadClip | str:
    """The frames of a file that are kept, or why there are none, in one line."""

    def choose(times: np.ndarray) -> np.ndarray:
        numbers = np.arange(len(times)) if usable is None else usable(times)
        return numbers[kept_frames(times[numbers], config.frames)]

    try:
        # Checked for landmarks too, so that both kinds keep the same clips.
        video = decode_needed(path, choose, size=config.size, fit=config.fit)
        if video.lost >= config.most_lost:
            return video.complaint
        if config.n_features:
            clip = read_landmark_clip(path, config.frames, usable)
            return ReadClip(clip.frames, clip.times, clip.flaw)
    except (ValueError, OSError) as reason:
        return one_line(reason)
    return ReadClip(*seen_frames(video.frames, video.times, config), video.complaint)


def _finish(folder: Path, source: str, config: CacheConfig, journal: Journal) -> None:
    """Name the file of frames, write the index, and remove what is not needed."""
    size, sha256 = journal.part.stat().st_size, file_sha256(journal.part)
    name = f"clips-{sha256[:16]}.bin"
    os.replace(journal.part, folder / name)
    content: dict[str, Any] = {
        "kind": KIND,
        "version": VERSION,
        "source": source,
        "config": asdict(config),
        "frames": {"file": name, "bytes": size, "sha256": sha256},
        "clips": journal.clips,
        "left_out": journal.left_out,
    }
    write_json(folder / INDEX, content)
    journal.remove()
    for old in folder.glob("clips-*.bin"):
        if old.name != name:
            old.unlink()


def _made_before(folder: Path, source: str) -> CachedClips | None:
    """Return the cache in the folder if it is whole and of this source, else None.

    The same source means the same files, cached in the same way.
    """
    try:
        made = CachedClips(folder, verify=False)
    except (ValueError, OSError):
        return None
    return made if made.source == source else None


def _hash(path: Path) -> str:
    """SHA-256 of a file; empty where it cannot be read, which decoding will say."""
    try:
        return file_sha256(path)
    except OSError:
        return ""


def _names(paths: Sequence[Path]) -> list[str]:
    """The files' names below the folder that they share: the same on every machine."""
    whole = [path.resolve() for path in paths]
    shared = Path(os.path.commonpath([path.parent for path in whole]))
    return [path.relative_to(shared).as_posix() for path in whole]


def _source(
    files: Sequence[ClipFile],
    names: Sequence[str],
    hashes: Sequence[str],
    config: CacheConfig,
    plan: list[Any],
) -> str:
    """SHA-256 of all that the cache depends on."""
    rows = [
        [name, file.label, file.signer, file.group, sha256]
        for name, file, sha256 in zip(names, files, hashes, strict=True)
    ]
    told = asdict(config)
    if config.n_features:
        told["landmarks"] = LANDMARKS_VERSION
    else:
        del told["n_features"]  # so that earlier caches of pictures stay good
    content = json.dumps([VERSION, told, plan, rows])
    return hashlib.sha256(content.encode()).hexdigest()
