"""What a user names to be recognised: videos and folders of them, in a fixed order."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from coursepkg.inputs import Wanted, files_fingerprint, find_inputs
from coursepkg.projects.sign_language.data.scan import SUFFIXES

VIDEOS = Wanted(
    SUFFIXES,
    inputs="videos or folders of them",
    missing="no video in it",
    others="other file",
    hint=f"videos are known by their ending, such as {SUFFIXES[0]}",
)


@dataclass(frozen=True)
class ClipSource:
    """One video."""

    path: Path
    """As it was given, or as it was found in the folder that was given."""
    name: str
    """Its path in that folder, with forward slashes; of a file that was given by itself, all that was given."""


@dataclass(frozen=True)
class ClipSources:
    """The videos to read, in order, and what was seen beside them."""

    files: tuple[ClipSource, ...]
    notes: tuple[str, ...]
    """In one line each, what was left alone."""

    @property
    def paths(self) -> list[Path]:
        """Where the videos lie."""
        return [one.path for one in self.files]

    @property
    def fingerprint(self) -> str:
        """SHA-256 of names, sizes and times of change: whether these are still the same files."""
        return files_fingerprint(self.paths)


def find_clips(
    inputs: Sequence[str | Path], *, recursive: bool = False, leave: Iterable[Path] = ()
) -> ClipSources:
    """Videos in the order in which they were given; those of a folder in natural order, clip 2 before clip 10.

    Args:
        inputs: files of any name, and folders, in which videos are known by their ending.
        recursive: whether folders in folders are opened.
        leave: files and folders that are not read, such as what the run itself writes.

    Raises:
        FileNotFoundError: an input does not exist.
        ValueError: there is no input, it is neither file nor folder, or a folder holds no video.
    """
    files, notes = find_inputs(inputs, VIDEOS, recursive=recursive, leave=leave)
    named = (ClipSource(one.path, one.inside or one.path.as_posix()) for one in files)
    return ClipSources(tuple(named), tuple(notes))
