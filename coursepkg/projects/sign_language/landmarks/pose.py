"""Follow one person's body through a film.

    frame 0     person detector -> middle of the hips and a circle around the person
    a square -> pose network -> 33 landmarks, each with how visible it is; two more that
                give the square for the next frame

Besides the position of each landmark the network gives a map of its probability over
the picture; the mean of the map around the position is more exact than the position
alone. Landmarks are smoothed by the one-euro filter, the two of the square more than
the others.

Source: Bazarevsky et al., "BlazePose" (arXiv 2006.10204).
"""

from dataclasses import dataclass

import numpy as np

from coursepkg.projects.sign_language.landmarks.detection import Detector
from coursepkg.projects.sign_language.landmarks.networks import Network, sigmoid
from coursepkg.projects.sign_language.landmarks.regions import Region, upright_angle
from coursepkg.projects.sign_language.landmarks.smoothing import (
    OneEuroConfig,
    OneEuroFilter,
)

N_LANDMARKS = 33
NOSE, LEFT_SHOULDER, RIGHT_SHOULDER = 0, 11, 12
LEFT_ELBOW, RIGHT_ELBOW, LEFT_WRIST, RIGHT_WRIST = 13, 14, 15, 16
STRIDES = (8, 16, 32, 32, 32)
"""Of the person detector, see `detection.grid_anchors`."""
LEAST_PRESENCE = 0.5
"""A square whose person has a lower score shows none."""
KERNEL = 9
"""Side of the part of a map that refines a landmark, in cells."""
BODY_FILTER = OneEuroConfig(min_cutoff=0.05, beta=80.0)
"""Of the 33 landmarks. Speed is measured in sizes of the person a second."""
SQUARE_FILTER = OneEuroConfig(min_cutoff=0.01, beta=10.0)
"""Of the two points that give the square of the next frame."""
VISIBILITY_SHARE = 0.1
"""How much of a new visibility enters the running mean."""


@dataclass(frozen=True, eq=False)
class Pose:
    """One person in one picture. Left and right are the person's own."""

    points: np.ndarray
    """Landmarks in pixels of the picture, float32 (33, 3); z is depth, negative towards
    the camera, from the middle of the hips."""
    visibility: np.ndarray
    """Probability that each can be seen, float32 (33,) in [0, 1]."""
    score: float
    """Probability that this is a person, in [0, 1]."""


def region_of_circle(middle: np.ndarray, rim: np.ndarray) -> Region:
    """The square around a circle (two points (2,)), middle -> rim pointing up."""
    x, y = middle.tolist()
    side = 1.25 * 2 * float(np.linalg.norm(rim - middle))
    return Region(x, y, side, upright_angle(middle, rim))


def refine(points: np.ndarray, maps: np.ndarray) -> np.ndarray:
    """Move each landmark to the mean of its map around it.

    A landmark outside of its map stays where it is, and so does one whose map is below
    0.5 everywhere around it.

    Args:
        points: (n, 2), as shares of the cut.
        maps: logits (height, width, n).

    Returns:
        float32 (n, 2).
    """
    height, width, _ = maps.shape
    found, reach = points.copy(), KERNEL // 2
    cells = (points * (width, height)).astype(int)
    for i, (column, row) in enumerate(cells.tolist()):
        if not (0 <= column < width and 0 <= row < height):
            continue
        left, top = max(0, column - reach), max(0, row - reach)
        part = maps[top : row + reach + 1, left : column + reach + 1, i]
        weights = sigmoid(part)
        if weights.max() < 0.5:
            continue
        rows, columns = weights.sum(axis=1), weights.sum(axis=0)
        found[i, 0] = (columns @ np.arange(left, left + len(columns))) / width
        found[i, 1] = (rows @ np.arange(top, top + len(rows))) / height
        found[i] /= weights.sum()
    return found


class PoseTracker:
    """Finds one person in each picture of a film, in order."""

    def __init__(self) -> None:
        self._detector = Detector(Network("pose_detection"), STRIDES, low=-1.0)
        self._network = Network("pose_landmark_full")
        self._body = OneEuroFilter(BODY_FILTER)
        self._square = OneEuroFilter(SQUARE_FILTER)
        self._visibility: np.ndarray | None = None
        self._region: Region | None = None

    def reset(self) -> None:
        """Forget the person, as before another film."""
        self._region = self._visibility = None
        self._body.reset()
        self._square.reset()

    def detect(self, frame: np.ndarray) -> list[Region]:
        """The squares of all people in a picture, the surest first."""
        found = self._detector.detect(frame)
        return [region_of_circle(one.keypoints[0], one.keypoints[1]) for one in found]

    def track(self, frame: np.ndarray, rate: float) -> Pose | None:
        """The person of the next picture; None where there is none.

        Args:
            frame: RGB, uint8 (height, width, 3).
            rate: frames a second since the picture before.
        """
        region = self._region
        if region is None:
            people = self.detect(frame)
            if not people:
                self.reset()
                return None
            region = people[0]
        numbers, score, _, maps, _ = self._network.run(
            region.crop(frame, self._network.size, repeat_edge=True)
        )
        if score[0, 0] < LEAST_PRESENCE:
            self.reset()
            return None
        numbers = numbers.reshape(-1, 5)
        points = numbers[:, :3] / self._network.size
        points[:, :2] = refine(points[:, :2], maps[0])
        points = region.to_frame(points)
        visibility = sigmoid(numbers[:N_LANDMARKS, 3])
        return self._smoothed(points, visibility, float(score[0, 0]), rate)

    def _smoothed(
        self, points: np.ndarray, visibility: np.ndarray, score: float, rate: float
    ) -> Pose:
        circle = points[N_LANDMARKS : N_LANDMARKS + 2]
        unit = region_of_circle(circle[0, :2], circle[1, :2]).side / 1.25
        body = self._body.apply(points[:N_LANDMARKS], rate, unit)
        circle = self._square.apply(circle, rate, unit)
        self._region = region_of_circle(circle[0, :2], circle[1, :2])
        before = self._visibility
        if before is not None:
            visibility = before + VISIBILITY_SHARE * (visibility - before)
        self._visibility = visibility
        return Pose(body.astype(np.float32), visibility.astype(np.float32), score)
