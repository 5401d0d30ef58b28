"""Write cached clips: videos in, one file of frames and an index out, clip by clip.

What is decoded is noted in a journal beside the growing file. A clip's frames are
written before its line, and the line has their checksum: whatever stops the writer,
even a power cut, the lines whose frames are there say where to go on, and what stands
behind them is cut off. Called again in the same way it decodes only what is missing.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from coursepkg.files import file_sha256, write_json
from coursepkg.projects.sign_language.data.cache import (
    INDEX,
    KIND,
    VERSION,
    CacheConfig,
    CachedClip,
    CachedClips,
    LeftOut,
    seen_frames,
)
from coursepkg.projects.sign_language.data.clip import ClipFile, kept_frames
from coursepkg.projects.sign_language.data.video import DecodedVideo, decode_needed
from coursepkg.validation import one_line

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

    def keep(self, told: Told, video: DecodedVideo, strong: bool, place: int) -> None:
        """Write the frames of a clip, then its line."""
        pixels = np.ascontiguousarray(video.frames)
        offset, crc32 = self._frames.tell(), zlib.crc32(pixels.data)
        self._frames.write(pixels.data)
        self._frames.flush()
        clip = CachedClip(
            *told, video.times.tolist(), offset, crc32, video.complaint, strong, place
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
        with Journal(folder, source, bytes_of_frame=3 * config.size**2) as journal:
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


def _decode(
    path: Path, config: CacheConfig, usable: Usable | None
) -> DecodedVideo | str:
    """The frames of a file that are kept, or why there are none, in one line."""

    def choose(times: np.ndarray) -> np.ndarray:
        numbers = np.arange(len(times)) if usable is None else usable(times)
        return numbers[kept_frames(times[numbers], config.frames)]

    try:
        video = decode_needed(path, choose, size=config.size, fit=config.fit)
    except (ValueError, OSError) as reason:
        return one_line(reason)
    if video.lost >= config.most_lost:
        return video.complaint
    frames, times = seen_frames(video.frames, video.times, config)
    return replace(video, frames=frames, times=times)


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
    content = json.dumps([VERSION, asdict(config), plan, rows])
    return hashlib.sha256(content.encode()).hexdigest()
