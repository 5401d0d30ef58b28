"""Clips for tests: a hand that moves before a wall, whole and broken in known ways."""

from pathlib import Path

import numpy as np

from coursepkg.projects.sign_language.data.clip import Clip, ClipFile
from coursepkg.projects.sign_language.data.video import DecodedVideo
from coursepkg.projects.sign_language.data.video_file import VideoError, VideoFacts

FPS = 12


def scene(motion: int, n_frames: int = 24, *, wall: int = 0, size: int = 64) -> np.ndarray:
    """Frames uint8 (T, size, size, 3): a bright square goes its own way for every `motion` before a `wall`."""
    rng = np.random.Generator(np.random.PCG64([1, wall]))
    blocks = rng.integers(40, 160, (8, 8, 3))
    room = np.kron(blocks, np.ones((size // 8, size // 8, 1))).astype(np.uint8)
    rng = np.random.Generator(np.random.PCG64([2, motion]))
    x, y, wide, high = rng.uniform(0.6, 3.0, 4)
    frames = np.repeat(room[None], n_frames, axis=0)
    hand, reach = size // 6, size - size // 6
    for t in range(n_frames):
        phase = 2 * np.pi * t / 24
        left = int((0.5 + 0.5 * np.sin(wide * phase + x)) * reach)
        top = int((0.5 + 0.5 * np.cos(high * phase + y)) * reach)
        frames[t, top : top + hand, left : left + hand] = (235, 200, 180)
    return frames


def times_of(n_frames: int) -> np.ndarray:
    """An even rate."""
    return np.arange(n_frames) / FPS


def decoded(
    frames: np.ndarray, *, path: Path = Path("clip.mp4"), lost: int = 0, fps: int = FPS
) -> DecodedVideo:
    """The frames as if a decoder had given them."""
    times = np.arange(len(frames)) / fps
    facts = VideoFacts(
        path=path,
        width=frames.shape[2],
        height=frames.shape[1],
        times=times,
        expected=len(frames) + lost,
        codec="h264",
        container="mov",
        rotation=0,
        has_audio=False,
    )
    return DecodedVideo(facts, frames, times, lost)


def as_clip(frames: np.ndarray, label: str = "Ăn") -> Clip:
    """The frames as a clip."""
    return Clip(frames, times_of(len(frames)), label, "A", "test")


class Library:
    """Files that are not there: what a decoder would make of each is kept here."""

    def __init__(self) -> None:
        self.videos: dict[Path, DecodedVideo] = {}
        self.files: list[ClipFile] = []

    def add(
        self,
        frames: np.ndarray | None,
        label: str = "Ăn",
        signer: str = "A",
        *,
        lost: int = 0,
        fps: int = FPS,
    ) -> Path:
        """A file; without frames one that cannot be opened."""
        path = Path("train") / label / f"{len(self.files):03}.mp4"
        self.files.append(ClipFile(path, label, signer))
        if frames is not None:
            self.videos[path] = decoded(frames, path=path, lost=lost, fps=fps)
        return path

    def decode(self, path: Path) -> DecodedVideo:
        """What `survey` calls in place of PyAV."""
        if path not in self.videos:
            raise VideoError(f"{path}: the file is empty; copy it again or leave it out")
        return self.videos[path]
