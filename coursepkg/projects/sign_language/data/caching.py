"""Write cached clips: videos in, one file of frames and an index out, with one clip in memory at a time.

What is decoded is noted clip by clip in a journal beside the growing file, so a writer that was stopped, even by a
power cut, goes on where it was: called again in the same way it decodes only what is missing.
"""

import hashlib
import json
import os
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO, TextIO

import numpy as np

from coursepkg.files import file_sha256
from coursepkg.projects.sign_language.clip import ClipFile
from coursepkg.projects.sign_language.data.cache import (
    INDEX,
    KIND,
    VERSION,
    CacheConfig,
    CachedClip,
    CachedClips,
    LeftOut,
    config_of,
)
from coursepkg.projects.sign_language.data.sampling import uniform_frames
from coursepkg.projects.sign_language.data.video import decode_needed
from coursepkg.training.files import write_json

Usable = Callable[[np.ndarray], np.ndarray]
"""From the times of a file's frames, float64 (N,), to the numbers of those that may be used, ascending."""

_JOURNAL = "clips.part.jsonl"
_PART = "clips.part"


def cache_clips(
    files: Sequence[ClipFile],
    folder: str | Path,
    config: CacheConfig | None = None,
    *,
    usable: Sequence[Usable] | None = None,
    plan: str = "",
    say: Callable[[str], None] = lambda line: None,
) -> CachedClips:
    """Decode clips into a folder. What was cached from the same files in the same way is opened and not made again.

    Args:
        files: the clips.
        folder: made where it is not there.
        config: how they are kept; None for the usual way.
        usable: for each file which of its frames may be used, as `KeptClip.frames_of` of a cleaning plan says it;
            None for all.
        plan: what tells one `usable` from another, as the fingerprint of the plan.
        say: receives a line now and then.

    Raises:
        ValueError: there is no file, none can be decoded, or `usable` has another length.
        OSError: the folder cannot be written, as on a full disk; what is done stays and is gone on with.
        ImportError: av is not installed.
    """
    config, folder = config or CacheConfig(), Path(folder)
    if not files:
        raise ValueError("files must hold at least one clip, got none")
    if usable is not None and len(usable) != len(files):
        raise ValueError(f"usable must have one entry a file, {len(files)}, got {len(usable)}")
    folder.mkdir(parents=True, exist_ok=True)
    hashes = [_hash(file.path) for file in files]
    names = _names([file.path for file in files])
    source = _source(files, names, hashes, config, plan)
    made = _made_before(folder, source)
    if made is not None:
        return made
    clips: list[CachedClip] = []
    left_out: list[LeftOut] = []
    _resume(folder, source, clips, left_out, config)
    done = len(clips) + len(left_out)
    if done:
        say(f"{done:,} of {len(files):,} clips were cached before")
    with (folder / _PART).open("ab") as frames, (folder / _JOURNAL).open("a", encoding="utf-8") as journal:
        for i in range(done, len(files)):
            told = (names[i], files[i].label, files[i].signer, files[i].group, hashes[i])
            entry = _add(files[i].path, told, config, usable[i] if usable else None, frames)
            (clips if isinstance(entry, CachedClip) else left_out).append(entry)  # type: ignore[arg-type]
            _note(journal, entry)
            if i % 100 == 99:
                say(f"{i + 1:,} of {len(files):,} clips")
        os.fsync(frames.fileno())
    if not clips:
        (folder / _PART).unlink()
        (folder / _JOURNAL).unlink()
        raise ValueError(f"none of {len(files)} clips can be decoded; the first: {left_out[0].reason}")
    _finish(folder, source, config, clips, left_out)
    return CachedClips(folder, verify=False)


def _add(
    path: Path,
    told: tuple[str, str, str, str, str],
    config: CacheConfig,
    usable: Usable | None,
    out: BinaryIO,
) -> CachedClip | LeftOut:
    """Decode a clip and write its frames."""

    def choose(times: np.ndarray) -> np.ndarray:
        numbers = np.arange(len(times)) if usable is None else usable(times)
        if len(numbers) <= config.frames:
            return numbers
        return numbers[np.unique(uniform_frames(times[numbers], config.frames))]

    try:
        video = decode_needed(path, choose, size=config.size, fit=config.fit)
    except (ValueError, OSError) as reason:
        return LeftOut(*told, " ".join(str(reason).split()))
    if video.lost >= config.most_lost:
        return LeftOut(*told, video.complaint)
    offset = out.tell()
    pixels = np.ascontiguousarray(video.frames)
    out.write(pixels.data)
    out.flush()
    return CachedClip(*told, video.times.tolist(), offset, zlib.crc32(pixels.data), video.complaint)


def _note(journal: TextIO, entry: CachedClip | LeftOut) -> None:
    kind = "clip" if isinstance(entry, CachedClip) else "left out"
    journal.write(json.dumps([kind, list(entry)], ensure_ascii=True) + "\n")
    journal.flush()


def _resume(
    folder: Path, source: str, clips: list[CachedClip], left_out: list[LeftOut], config: CacheConfig
) -> None:
    """Take over what a stopped writer left whose frames are all there, and cut off the rest."""
    part, journal = folder / _PART, folder / _JOURNAL
    lines = journal.read_bytes().splitlines(keepends=True) if journal.is_file() and part.is_file() else []
    good = 0
    if lines and lines[0] == json.dumps(["source", source]).encode() + b"\n":
        good, end = 1, 0
        with part.open("rb") as frames:
            for line in lines[1:]:
                entry = _entry(line)
                if isinstance(entry, CachedClip):
                    pixels = frames.read(3 * config.size**2 * len(entry.times))
                    if entry.offset != end or zlib.crc32(pixels) != entry.crc32:
                        break
                    end += len(pixels)
                    clips.append(entry)
                elif entry is not None:
                    left_out.append(entry)
                else:
                    break
                good += 1
        os.truncate(part, end)
    else:
        part.write_bytes(b"")
        lines, good = [json.dumps(["source", source]).encode() + b"\n"], 1
    journal.write_bytes(b"".join(lines[:good]))


def _entry(line: bytes) -> CachedClip | LeftOut | None:
    """What a line of the journal says; None of one that was not written to its end."""
    if not line.endswith(b"\n"):
        return None
    try:
        kind, row = json.loads(line)
        return CachedClip(*row) if kind == "clip" else LeftOut(*row)
    except (ValueError, TypeError):
        return None


def _finish(
    folder: Path, source: str, config: CacheConfig, clips: list[CachedClip], left_out: list[LeftOut]
) -> None:
    """Give the frames their name, write the index, and remove what is not needed any more."""
    sha256 = file_sha256(folder / _PART)
    name = f"clips-{sha256[:16]}.bin"
    size = (folder / _PART).stat().st_size
    os.replace(folder / _PART, folder / name)
    content: dict[str, Any] = {
        "kind": KIND,
        "version": VERSION,
        "source": source,
        "config": config_of(config),
        "frames": {"file": name, "bytes": size, "sha256": sha256},
        "clips": clips,
        "left_out": left_out,
    }
    write_json(folder / INDEX, content)
    (folder / _JOURNAL).unlink()
    for old in folder.glob("clips-*.bin"):
        if old.name != name:
            old.unlink()


def _made_before(folder: Path, source: str) -> CachedClips | None:
    """The cache that lies there, if it is whole and was made from the same files in the same way."""
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
    files: Sequence[ClipFile], names: Sequence[str], hashes: Sequence[str], config: CacheConfig, plan: str
) -> str:
    """SHA-256 of all that the cache depends on."""
    rows = [
        [name, file.label, file.signer, file.group, sha256]
        for name, file, sha256 in zip(names, files, hashes, strict=True)
    ]
    content = json.dumps([VERSION, config_of(config), plan, rows])
    return hashlib.sha256(content.encode()).hexdigest()
