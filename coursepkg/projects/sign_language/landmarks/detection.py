"""Find palms and people in a whole picture: anchors, boxes, non-maximum suppression.

The network lays grids over the picture. Each cell has some anchors, and for each anchor
the network gives a score (is something there?), the way from the anchor to the middle
of its box, the size of the box, and the way from the anchor to each keypoint.

    picture -> letterbox -> network -> scores (A,), offsets (A, 4 + 2K)
            -> boxes of the anchors above a threshold -> suppression -> detections

Many anchors see the same hand. Non-maximum suppression takes the box with the highest
score and all boxes that overlap it as one thing. Here the mean of these boxes, weighted
by their scores, is kept: it varies less from frame to frame than the best box alone.

Sources: SSD, Liu et al. (arXiv 1512.02325), section 2; weighted suppression and the
palm detector, BlazeFace (arXiv 1907.05047), section 3.3, and "MediaPipe Hands" (arXiv
2006.10214), section 2.1.
"""

from dataclasses import dataclass

import numpy as np

from coursepkg.projects.sign_language.landmarks.networks import Network, sigmoid
from coursepkg.projects.sign_language.landmarks.regions import Region

LEAST_SCORE = 0.5
"""Boxes with a lower score are dropped."""
MOST_OVERLAP = 0.3
"""Boxes whose intersection is a larger share of their union are one thing."""


@dataclass(frozen=True, eq=False)
class Detection:
    """Something that was found in a picture; lengths are in pixels of the picture."""

    score: float
    """Probability that it is there, in [0, 1]."""
    box: np.ndarray
    """Left, top, right, bottom, float32 (4,)."""
    keypoints: np.ndarray
    """Float32 (K, 2)."""


def grid_anchors(size: int, strides: tuple[int, ...]) -> np.ndarray:
    """The middles of all anchors.

    Each layer has two anchors a cell. Layers of one stride share a grid, whose cells
    have the anchors of all these layers.

    Example:
        >>> len(grid_anchors(192, (8, 16, 16, 16)))
        2016

    Args:
        size: side of the network's picture, in pixels.
        strides: side of a cell of each layer, in pixels.

    Returns:
        float32 (A, 2), as shares of the picture, x before y.
    """
    grids = []
    for stride in dict.fromkeys(strides):
        cells = -(-size // stride)
        middles = (np.arange(cells) + 0.5) / cells
        x, y = np.meshgrid(middles, middles)
        grid = np.stack([x.ravel(), y.ravel()], axis=1)
        grids.append(np.repeat(grid, 2 * strides.count(stride), axis=0))
    return np.concatenate(grids).astype(np.float32)


def boxes_of(offsets: np.ndarray, anchors: np.ndarray, size: int) -> np.ndarray:
    """Boxes and keypoints of anchors.

    Args:
        offsets: output of the network, in pixels of its picture, (A, 4 + 2K): from the
            anchor to the middle, width and height, from the anchor to each keypoint.
        anchors: (A, 2).
        size: side of the network's picture, in pixels.

    Returns:
        float32 (A, 2 + K, 2), as shares of the picture: upper left corner, lower right
        corner, keypoints.
    """
    pairs = offsets.reshape(len(offsets), offsets.shape[1] // 2, 2) / size
    middle, half = pairs[:, 0] + anchors, pairs[:, 1] / 2
    keypoints = pairs[:, 2:] + anchors[:, None]
    corners = np.stack([middle - half, middle + half], axis=1)
    return np.concatenate([corners, keypoints], axis=1)


def overlaps(boxes: np.ndarray, box: np.ndarray) -> np.ndarray:
    """Intersection over union of boxes (n, 2, 2) with a box (2, 2), float32 (n,)."""
    low = np.maximum(boxes[:, 0], box[0])
    high = np.minimum(boxes[:, 1], box[1])
    shared = (high - low).clip(0).prod(axis=1)
    areas = (boxes[:, 1] - boxes[:, 0]).prod(axis=1)
    union = areas + (box[1] - box[0]).prod() - shared
    return np.asarray(shared / np.maximum(union, 1e-12))


def suppress(
    boxes: np.ndarray, scores: np.ndarray, most_overlap: float = MOST_OVERLAP
) -> list[tuple[float, np.ndarray]]:
    """Weighted non-maximum suppression.

    Args:
        boxes: corners and keypoints, (n, 2 + K, 2).
        scores: (n,).
        most_overlap: boxes that overlap the best one by more are merged with it.

    Returns:
        highest score and mean box (2 + K, 2) of each group, the best first.
    """
    order = np.argsort(-scores, kind="stable")
    boxes, scores = boxes[order], scores[order]
    found = []
    while len(boxes):
        same = overlaps(boxes[:, :2], boxes[0, :2]) > most_overlap
        same[0] = True
        weights = scores[same] / scores[same].sum()
        mean = np.tensordot(weights, boxes[same], axes=1)
        found.append((float(scores[0]), mean))
        boxes, scores = boxes[~same], scores[~same]
    return found


class Detector:
    """Finds things in a picture by a network with anchors.

    Args:
        network: takes a square picture, gives offsets (1, A, 4 + 2K) and scores
            (1, A, 1).
        strides: of its layers, see `grid_anchors`.
        low: see `Network.run`.
    """

    def __init__(
        self, network: Network, strides: tuple[int, ...], *, low: float
    ) -> None:
        self.network, self.low = network, low
        self.anchors = grid_anchors(network.size, strides)

    def detect(self, frame: np.ndarray) -> list[Detection]:
        """What is found in a picture, the highest score first.

        Args:
            frame: RGB, uint8 (height, width, 3).
        """
        height, width = frame.shape[:2]
        size, region = self.network.size, Region.whole(width, height)
        cut = region.crop(frame, size, repeat_edge=False)
        offsets, logits = self.network.run(cut, low=self.low)
        scores = sigmoid(logits[0, :, 0])
        sure = scores >= LEAST_SCORE
        boxes = boxes_of(offsets[0, sure], self.anchors[sure], size)
        found = []
        for score, box in suppress(boxes, scores[sure]):
            points = region.to_frame(box)
            found.append(Detection(score, points[:2].ravel(), points[2:]))
        return found
