"""Landmarks of a clip as a recogniser of signs takes them, in place of its pictures.

    film -> landmarks of each frame -> N steps, evenly spaced in time -> numbers (N, F)

The steps and their numbers are those of words that are enrolled, see
`few_shot.features` and `few_shot.embedding`, but for the part of the film that they
cover: from the first frame that shows somebody to the last one, and not the active part
alone. So a recogniser of landmarks looks at the same moments as one of pictures does,
and no clip depends on where hands were found up or down.

Where nobody is found, all numbers are 0, and the clip is said to be so.
"""

from collections.abc import Callable
from pathlib import Path

import numpy as np

from coursepkg.projects.sign_language.data.clip import Clip, LandmarkClip
from coursepkg.projects.sign_language.data.video import TimedFrame
from coursepkg.projects.sign_language.few_shot.embedding import (
    N_FEATURES,
    step_features,
)
from coursepkg.projects.sign_language.few_shot.features import NO_PERSON, steps_between
from coursepkg.projects.sign_language.landmarks.extract import (
    Landmarks,
    LandmarkTracker,
    extract_landmarks,
    subsample_frames,
    track_frames,
)

NOBODY = "nobody is found in it, so that all its landmarks are 0"
"""Begins what is said of such a clip, behind its name."""


def landmark_features(
    landmarks: Landmarks, n_steps: int, used: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of a clip's steps, and their times.

    Args:
        landmarks: of the clip.
        n_steps: N, at least 1; a clip with one frame that shows somebody has one step.
        used: numbers of the frames that may be used; None uses all. The others count as
            if they showed nobody.

    Returns:
        float32 (N, F), zeros where nobody is found; float64 (N,), rising.
    """
    times, body = landmarks.times, landmarks.body
    if used is not None:
        may = np.zeros(len(times), dtype=bool)
        may[used] = True
        body = np.where(may[:, None, None], body, np.float32(np.nan))
    shown = np.flatnonzero(np.isfinite(body[:, 0, 0]))
    begin, end = (shown[0], shown[-1]) if len(shown) else (0, len(times) - 1)
    count = n_steps if end > begin else 1
    at = np.linspace(times[begin], times[end], count)
    if not len(shown):
        return np.zeros((count, N_FEATURES), np.float32), at
    found = times, body, landmarks.hands, landmarks.seen
    return step_features(steps_between(*found, int(begin), int(end), count)), at


def read_landmark_clip(
    path: str | Path,
    n_steps: int,
    usable: Callable[[np.ndarray], np.ndarray] | None = None,
) -> LandmarkClip:
    """A video file as steps of landmarks, which are extracted once.

    Args:
        path: of the video.
        n_steps: see `landmark_features`.
        usable: from the times of all frames to the numbers of those that may be used;
            None uses all.

    Raises:
        FileNotFoundError: there is no such file.
        VideoError: it cannot be read.
        ImportError: av, ai-edge-litert or OpenCV is not installed.
    """
    landmarks = extract_landmarks(path)
    used = None if usable is None else usable(landmarks.times)
    return _clip(landmarks, n_steps, used, "", "", str(path))


def landmark_clip(clip: Clip, n_steps: int) -> LandmarkClip:
    """A clip in memory as steps of landmarks, which nothing keeps.

    Raises:
        ImportError: ai-edge-litert or OpenCV is not installed.
    """
    with LandmarkTracker() as tracker:
        frames = map(TimedFrame, clip.times.tolist(), clip.frames)
        landmarks = track_frames(tracker, subsample_frames(frames), name=clip.name)
    return _clip(landmarks, n_steps, None, clip.label, clip.signer, clip.name)


def check_somebody(clip: LandmarkClip) -> None:
    """Raise a ValueError where nobody is found in a clip, so that none is guessed."""
    if not clip.frames.any():
        raise ValueError(f"{clip.name}: {NO_PERSON}")


def _clip(
    landmarks: Landmarks,
    n_steps: int,
    used: np.ndarray | None,
    label: str,
    signer: str,
    name: str,
) -> LandmarkClip:
    numbers, times = landmark_features(landmarks, n_steps, used)
    said = [landmarks.flaw] if landmarks.flaw else []
    said += [] if numbers.any() else [f"{name}: {NOBODY}"]
    return LandmarkClip(numbers, times, label, signer, name, "; ".join(said))
