"""Frames a second of landmark extraction, beside MediaPipe's own on the same frames.

MediaPipe is timed where it can be imported. Its wheels want an older NumPy, so
`scripts/measure_landmarks.py` runs it in an environment of its own, in turn with this
package, and stores the result.
"""

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np
import torch
from torch import Tensor

from coursepkg.bench.machine import Device
from coursepkg.bench.measure import BenchmarkCase, CaseResult, Comparison, Gate
from coursepkg.projects.sign_language.data.video import TimedFrame
from coursepkg.projects.sign_language.landmarks.extract import (
    LandmarkTracker,
    track_frames,
)
from coursepkg.projects.sign_language.synthetic.clips import draw_clip
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig

WIDTH, HEIGHT, FPS = 640, 480, 30
N_FRAMES = 30
TARGET = 1 / 1.2
"""How fast two threads are promised to be at least, as a multiple of MediaPipe's speed.
"""
ONE, TWO, ORIGINAL = "one thread", "two threads", "MediaPipe Hands + Pose"


def drawn_film(n_frames: int = N_FRAMES) -> np.ndarray:
    """One drawn signer, uint8 (n_frames, 480, 640, 3)."""
    config = SignersConfig(size=HEIGHT, least_frames=n_frames, most_frames=n_frames)
    frames = draw_clip("Tôi", 1, 0, 10, config).frames
    side = (WIDTH - HEIGHT) // 2
    return np.pad(frames, ((0, 0), (0, 0), (side, side), (0, 0)), mode="edge")


def original(frames: np.ndarray) -> Callable[[], object]:
    """MediaPipe's own Hands and Pose, one after the other, with their defaults.

    Raises:
        ImportError: mediapipe is not installed.
    """
    import mediapipe

    hands = mediapipe.solutions.hands.Hands()
    pose = mediapipe.solutions.pose.Pose()

    def run() -> None:
        hands.reset()
        pose.reset()
        for frame in frames:
            hands.process(frame)
            pose.process(frame)

    return run


@dataclass(frozen=True)
class FrameRate:
    """The rows of this case also give the frames per second of each side."""

    case: BenchmarkCase
    n_frames: int

    def run(self, device: Device) -> list[CaseResult]:
        """Gate, time, compare and say."""
        return [self._with_rates(row) for row in self.case.run(device)]

    def _with_rates(self, row: CaseResult) -> CaseResult:
        if row.candidate_ms is None or row.baseline_ms is None:
            return row
        ours, theirs = (
            1e3 * self.n_frames / ms for ms in (row.candidate_ms, row.baseline_ms)
        )
        told = f"{ours:.1f} against {theirs:.1f} frames/s"
        note = f"{told}; {row.note}" if row.note else told
        return dataclasses.replace(row, note=note)


def frame_rate(
    name: str, frames: np.ndarray, baseline: Callable[[], object] | None = None
) -> FrameRate:
    """Time both ways of `LandmarkTracker` on a film, and the original where it is.

    The gate asks that two threads find the same numbers as one.

    Args:
        name: of the film.
        frames: RGB, uint8 (T, height, width, 3).
        baseline: processes the film once by the original.
    """
    trackers = {ONE: LandmarkTracker(1), TWO: LandmarkTracker(2)}
    film = [TimedFrame(number / FPS, frame) for number, frame in enumerate(frames)]

    def landmarks(which: str) -> Callable[[], list[Tensor]]:
        def compute() -> list[Tensor]:
            found = track_frames(trackers[which], film)
            arrays = (found.body, found.visibility, found.hands, found.scores)
            return [torch.from_numpy(np.nan_to_num(one, nan=-1.0)) for one in arrays]

        return compute

    work = {which: landmarks(which) for which in trackers}
    comparisons = [Comparison(TWO, ONE)]
    variants: dict[str, Callable[[], object]] = dict(work)
    if baseline is not None:
        variants[ORIGINAL] = baseline
        comparisons += [Comparison(TWO, ORIGINAL, TARGET), Comparison(ONE, ORIGINAL)]
    case = BenchmarkCase(
        name=f"{name}, {len(frames)} frames of {frames.shape[2]} x {frames.shape[1]}",
        variants=variants,
        comparisons=comparisons,
        gates=[Gate(TWO, work[TWO], work[ONE], work[ONE])],
    )
    return FrameRate(case, len(frames))


def cases(device: Device) -> list[FrameRate]:
    """The cases of the suite; they run on the CPU whatever the device is."""
    frames = drawn_film()
    baseline = original(frames) if find_spec("mediapipe") else None
    return [frame_rate("drawn signer", frames, baseline)]
