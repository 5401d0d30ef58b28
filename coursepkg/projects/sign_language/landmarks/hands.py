"""Follow both hands through a film: detect once, then look where the hand was.

    frame 0     palm detector over the whole picture -> squares around palms
    a square -> hand network -> 21 landmarks, is it a hand, which hand
             -> the square for the next frame
    frame 1     look in that square; detect again only where fewer than two are followed

The detector finds palms, not hands: a palm is rigid and nearly square, a hand with its
fingers is not. A hand is lost when the hand network finds none in its square.

Source: Zhang et al., "MediaPipe Hands" (arXiv 2006.10214), section 2.
"""

from dataclasses import dataclass

import numpy as np

from coursepkg.projects.sign_language.landmarks.detection import Detection, Detector
from coursepkg.projects.sign_language.landmarks.networks import Network
from coursepkg.projects.sign_language.landmarks.regions import (
    Region,
    turned,
    upright_angle,
)

N_LANDMARKS = 21
"""Wrist, then four joints of the thumb, the index, middle, ring and little finger, from
the palm to the tip."""
WRIST, MIDDLE_ROOT = 0, 9
STRIDES = (8, 16, 16, 16)
"""Of the palm detector, see `detection.grid_anchors`."""
LEAST_PRESENCE = 0.5
"""A square whose hand has a lower score shows none."""
SAME_HAND = 0.5
"""Overlap above which a detected palm is a hand that is followed already."""
PALM_POINTS = (0, 1, 2, 3, 5, 6, 9, 10, 13, 14, 17, 18)
"""Landmarks that the square of the next frame encloses: wrist and lower finger joints.
Fingertips are left out because they move too fast."""


@dataclass(frozen=True, eq=False)
class Hand:
    """One hand in one picture."""

    points: np.ndarray
    """Landmarks in pixels of the picture, float32 (21, 3); z is depth, negative towards
    the camera, from the wrist."""
    world: np.ndarray
    """The same in metres from the middle of the hand, float32 (21, 3), as an average
    hand would be."""
    score: float
    """Probability that this is a hand, in [0, 1]."""
    right: float
    """Probability that it is a right hand, in [0, 1]; the film is not mirrored."""
    region: Region
    """Where it was looked for."""


def region_of_palm(palm: Detection) -> Region:
    """The square around the hand of a detected palm, fingers upwards.

    Its side is 2.6 times the palm's, and its middle lies half a palm's height above the
    middle of the palm, towards the fingers.
    """
    left, top, right, bottom = palm.box.tolist()
    angle = upright_angle(palm.keypoints[0], palm.keypoints[2])
    shift = turned(np.array([0.0, -0.5 * (bottom - top)]), angle)
    side = 2.6 * max(right - left, bottom - top)
    x, y = (left + right) / 2 + shift[0], (top + bottom) / 2 + shift[1]
    return Region(float(x), float(y), side, angle)


def region_of_hand(points: np.ndarray) -> Region:
    """The square around a hand's landmarks (21, 2 or 3) for the next frame."""
    flat = points[:, :2].astype(np.float64)
    roots = (flat[5] + flat[13]) / 2
    angle = upright_angle(flat[WRIST], (roots + flat[MIDDLE_ROOT]) / 2)
    palm = flat[list(PALM_POINTS)]
    middle = (palm.max(axis=0) + palm.min(axis=0)) / 2
    upright = turned(palm - middle, -angle)
    high, low = upright.max(axis=0), upright.min(axis=0)
    shift = np.array([0.0, -0.1 * (high[1] - low[1])])
    x, y = middle + turned((high + low) / 2 + shift, angle)
    return Region(float(x), float(y), 2.0 * float((high - low).max()), angle)


class HandTracker:
    """Finds up to two hands in each picture of a film, in order.

    Args:
        most: hands that are followed.
    """

    def __init__(self, most: int = 2) -> None:
        self.most = most
        palms = Network("palm_detection_full")
        self._detector = Detector(palms, STRIDES, low=0.0)
        self._network = Network("hand_landmark_full")
        self._regions: list[Region] = []

    def reset(self) -> None:
        """Forget where hands were, as before another film."""
        self._regions = []

    def follow(self, regions: list[Region]) -> None:
        """Set the squares in which hands are looked for in the next picture."""
        self._regions = regions

    def track(self, frame: np.ndarray) -> list[Hand]:
        """The hands of the next picture.

        Args:
            frame: RGB, uint8 (height, width, 3).
        """
        regions = self._regions
        if len(regions) < self.most:
            palms = self._detector.detect(frame)[: self.most]
            regions = [*map(region_of_palm, palms), *regions]
        looked = [self.look(frame, region) for region in without_repetition(regions)]
        hands = [hand for hand in looked if hand.score >= LEAST_PRESENCE]
        self._regions = [region_of_hand(hand.points) for hand in hands]
        return hands

    def look(self, frame: np.ndarray, region: Region) -> Hand:
        """Run the hand network on a square of a picture; it may show no hand.

        Args:
            frame: RGB, uint8 (height, width, 3).
            region: the square.
        """
        size = self._network.size
        cut = region.crop(frame, size, repeat_edge=True)
        points, score, left, world = self._network.run(cut)
        points = points.reshape(N_LANDMARKS, 3) / size
        points[:, 2] /= 0.4  # the network's own scale of depth
        metres = world.reshape(N_LANDMARKS, 3).copy()
        metres[:, :2] = turned(metres[:, :2], region.angle)
        # The network was trained on mirrored pictures, those of a selfie camera.
        right = float(left[0, 0])
        return Hand(region.to_frame(points), metres, float(score[0, 0]), right, region)


def without_repetition(regions: list[Region]) -> list[Region]:
    """Drop each square that overlaps a later one by more than `SAME_HAND`."""
    kept: list[Region] = []
    for region in regions:
        kept = [one for one in kept if region.overlap(one) <= SAME_HAND]
        kept.append(region)
    return kept
