"""Small sets of clips: films on disk, and lists of clips that need no film."""

from pathlib import Path

from coursepkg.projects.sign_language.data.clip import ClipFile
from tests.projects.sign_language.data.films import write_film

LENGTHS = {"ăn": (30, 18, 20), "uống": (24, 40), "xin lỗi": (9, 50)}
"""Frames of each clip of each word."""


def write_clips(folder: Path) -> list[ClipFile]:
    """Seven films of three words by two signers; the frames of each say their numbers."""
    files = []
    for word, lengths in LENGTHS.items():
        for number, length in enumerate(lengths):
            path = write_film(folder / word / f"{number}.mp4", length)
            files.append(ClipFile(path, word, signer=("An", "Bình")[number % 2]))
    return files


def named_clips(counts: dict[tuple[str, str], int], tape: int = 0) -> list[ClipFile]:
    """Clips without files: so many of each word by each signer; above 0, `tape` clips come from one recording."""
    files = []
    for (word, signer), count in counts.items():
        for number in range(count):
            group = f"{signer} {word} {number // tape}" if tape else ""
            files.append(ClipFile(Path(f"{word}/{signer}-{number}.mp4"), word, signer, group))
    return files
