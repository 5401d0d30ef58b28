"""What a writer of cached clips has done so far: the frames, and beside them a line for each clip.

A clip's frames are written before its line, and the line has their checksum. Whatever stops the writer, the lines whose
frames are there say where to go on; what stands behind them is cut off.
"""

import json
import os
import zlib
from pathlib import Path
from types import TracebackType

import numpy as np

from coursepkg.projects.sign_language.data.cache import CachedClip, LeftOut
from coursepkg.projects.sign_language.data.video import DecodedVideo

Told = tuple[str, str, str, str, str]
"""Name, label, signer, group and SHA-256 of a file."""


class Journal:
    """Open while clips are decoded; it begins with what an earlier writer of the same source left.

    Args:
        folder: of the cache.
        source: what the clips are made from, as a hash; lines of another source do not count.
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
        clip = CachedClip(*told, video.times.tolist(), offset, crc32, video.complaint, strong, place)
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
