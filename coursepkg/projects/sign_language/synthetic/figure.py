"""A signer in a pose, as outlines in the order in which they are drawn."""

from dataclasses import dataclass

import numpy as np

from coursepkg.projects.sign_language.synthetic import body
from coursepkg.projects.sign_language.synthetic.hands import PALM, RADII, WRIST, faced, finger_bones, turned
from coursepkg.projects.sign_language.synthetic.motion import HandTrack, Pose
from coursepkg.projects.sign_language.synthetic.shapes import Part, capsule
from coursepkg.projects.sign_language.synthetic.signer import Signer, shaded

UPPER_ARM, FOREARM = 1.25, 1.15
"""Lengths of an average arm, in heads."""
ELBOW = np.array([0.6, -0.8])
"""Where elbows hang: outwards and down."""
RIM = 0.022
"""Width of the dark line round hands and arms, by which they stand out against skin and cloth of their own colour."""


@dataclass(frozen=True, eq=False)
class Arm:
    """Joints of an arm, seen from its own side (x outwards, y upwards); each (T, 2)."""

    shoulder: np.ndarray
    elbow: np.ndarray
    wrist: np.ndarray
    palm: np.ndarray


def bend_arm(track: HandTrack, signer: Signer) -> Arm:
    """Where shoulder, elbow and wrist are, given the palm; what is out of reach is drawn back to the arm's length.

    The picture is flat and an arm is not: the nearer the hand to the shoulder, the more of both bones points to the
    camera and the shorter they look. An elbow never leaps: it changes its side through the middle, and hangs down while
    the hand passes the shoulder.
    """
    shoulder = np.broadcast_to(np.array([signer.shoulders - 0.02, -0.19]), track.palm.shape)
    wrist = track.palm + turned(WRIST[None] * signer.hand, track.degrees)[:, 0]
    upper, lower = UPPER_ARM * signer.arms, FOREARM * signer.arms
    way = wrist - shoulder
    distance = np.maximum(np.linalg.norm(way, axis=1, keepdims=True), 1e-3)
    reach = np.minimum(distance, 0.995 * (upper + lower))
    along = way / distance
    wrist = shoulder + along * reach
    seen = 0.5 + 0.5 * reach / (upper + lower)
    first, second = upper * seen, lower * seen
    foot = np.clip((first**2 - second**2 + reach**2) / (2 * reach), -first, first)
    height = np.sqrt(np.maximum(first**2 - foot**2, 0))
    across = np.stack([-along[:, 1], along[:, 0]], axis=1)
    height = height * np.tanh(3 * across @ ELBOW)[:, None]
    near = np.exp(-((reach / 0.5) ** 2))
    elbow = shoulder + near * first * ELBOW + (1 - near) * (along * foot + across * height)
    palm = wrist - turned(WRIST[None] * signer.hand, track.degrees)[:, 0]
    return Arm(shoulder, elbow, wrist, palm)


def figure(pose: Pose, signer: Signer) -> list[Part]:
    """Everything that is drawn of a signer, the furthest first; about 60 outlines.

    Args:
        pose: the course of the clip.
        signer: who it is.
    """
    # The camera sees a right-handed signer's leading hand on the left.
    side = 1 if signer.left_handed else -1
    n_frames = len(pose.head)
    weak, strong = bend_arm(pose.weak, signer), bend_arm(pose.strong, signer)
    return [
        *body.torso(signer, n_frames),
        *body.head(signer, side * pose.head),
        *_arm(weak, signer, -side),
        *_hand(pose.weak, weak, signer, -side),
        *_arm(strong, signer, side),
        *_hand(pose.strong, strong, signer, side),
    ]


def _seen(points: np.ndarray, side: int) -> np.ndarray:
    """From the axes of a hand's side to those of the picture."""
    return np.asarray(points * np.array([side, -1]))


def _limb(
    colour: tuple[int, int, int], begin: np.ndarray, end: np.ndarray, first: float, last: float, rim: float
) -> list[Part]:
    return [
        Part(shaded(colour, 0.62), capsule(begin, end, first + rim, last + rim)),
        Part(colour, capsule(begin, end, first, last)),
    ]


def _arm(arm: Arm, signer: Signer, side: int) -> list[Part]:
    shoulder, elbow, wrist = (_seen(point, side) for point in (arm.shoulder, arm.elbow, arm.wrist))
    thick = signer.limbs
    sleeve = signer.clothes
    if signer.long_sleeves:
        lower = _limb(sleeve, elbow, wrist, 0.17 * thick, 0.12 * thick, RIM)
        upper = _limb(sleeve, shoulder, elbow, 0.2 * thick, 0.17 * thick, RIM)
        return [*upper, *lower]
    hem = shoulder + 0.55 * (elbow - shoulder)
    return [
        *_limb(signer.skin, shoulder, elbow, 0.15 * thick, 0.14 * thick, RIM),
        *_limb(sleeve, shoulder, hem, 0.2 * thick, 0.21 * thick, RIM),
        *_limb(signer.skin, elbow, wrist, 0.14 * thick, 0.1 * thick, RIM),
    ]


def _hand(track: HandTrack, arm: Arm, signer: Signer, side: int) -> list[Part]:
    skin, dark = signer.skin, shaded(signer.skin, 0.58)
    roots, tips = finger_bones(track.fingers, track.degrees, track.facing)
    centre = arm.palm[:, None]
    roots, tips = _seen(centre + roots * signer.hand, side), _seen(centre + tips * signer.hand, side)
    radii = RADII * signer.hand * signer.limbs
    rims, fills = (
        capsule(roots, tips, radii + RIM, 0.9 * radii + RIM),
        capsule(roots, tips, radii, 0.9 * radii),
    )
    palm = _seen(centre + turned(faced(PALM, track.facing), track.degrees) * signer.hand, side)
    middle = palm.mean(axis=1, keepdims=True)
    parts = [Part(dark, middle + (palm - middle) * (1 + 4.5 * RIM)), Part(skin, palm)]
    for finger in (4, 3, 2, 1):
        parts += [Part(dark, rims[:, finger]), Part(skin, fills[:, finger])]
    # A piece of palm without a rim joins the fingers to the hand; the thumb lies before both.
    joint = Part(skin, middle + (palm - middle) * 0.78)
    return [*parts, joint, Part(dark, rims[:, 0]), Part(skin, fills[:, 0])]
