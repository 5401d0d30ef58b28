"""Write cached clips: videos in, one file of frames and an index out, with one clip in memory at a time.

What is decoded is noted clip by clip in a journal beside the growing file, so a writer that was stopped, even by a
power cut, goes on where it was: called again in the same way it decodes only what is missing.
"""

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np

from coursepkg.files import file_sha256
from coursepkg.projects.sign_language.clip import ClipFile
from coursepkg.projects.sign_language.data.cache import (
    INDEX,
    KIND,
    VERSION,
    CacheConfig,
    CachedClips,
    LeftOut,
)
from coursepkg.projects.sign_language.data.journal import Journal
from coursepkg.projects.sign_language.data.sampling import kept_frames
from coursepkg.projects.sign_language.data.solid import seen_frames
from coursepkg.projects.sign_language.data.video import DecodedVideo, decode_needed
from coursepkg.training.files import write_json
from coursepkg.wording import one_line

Usable = Callable[[np.ndarray], np.ndarray]
"""From the times of a file's frames, float64 (N,), to the numbers of those that may be used, ascending."""


def cache_clips(
    files: Sequence[ClipFile],
    folder: str | Path,
    config: CacheConfig | None = None,
    *,
    usable: Sequence[Usable] | None = None,
    strong: Sequence[bool] | None = None,
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
        strong: for each file whether it is to be augmented more strongly; None for none.
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
    for name, given in (("usable", usable), ("strong", strong)):
        if given is not None and len(given) != len(files):
            raise ValueError(f"{name} must have one entry a file, {len(files)}, got {len(given)}")
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
                say(f"{done:,} of {len(files):,} clips were cached before")
            for i in range(done, len(files)):
                told = (names[i], files[i].label, files[i].signer, files[i].group, hashes[i])
                found = _decode(files[i].path, config, usable[i] if usable else None)
                if isinstance(found, str):
                    journal.leave_out(LeftOut(*told, found))
                else:
                    journal.keep(told, found, marks[i], place=i)
                if i % 100 == 99:
                    say(f"{i + 1:,} of {len(files):,} clips")
    except OSError as reason:
        raise OSError(
            f"{folder}: the clips could not be written: {reason}; free some space, then go on"
        ) from reason
    if not journal.clips:
        journal.remove()
        raise ValueError(f"no clip of {len(files):,} can be decoded; the first: {journal.left_out[0].reason}")
    _finish(folder, source, config, journal)
    return CachedClips(folder, verify=False)


def _decode(path: Path, config: CacheConfig, usable: Usable | None) -> DecodedVideo | str:
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
    """Give the frames their name, write the index, and remove what is not needed any more."""
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
