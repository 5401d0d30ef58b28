"""A signer in a pose, as outlines in the order in which they are drawn.

Points are in the picture's axes: x to the right, y down, in heads.
"""

from dataclasses import dataclass

import numpy as np

from coursepkg.projects.sign_language.synthetic.motion import (
    PALM,
    RADII,
    WRIST,
    HandTrack,
    Pose,
    faced,
    finger_bones,
    turned,
)
from coursepkg.projects.sign_language.synthetic.signer import Colour, Signer, shaded


@dataclass(frozen=True, eq=False)
class Part:
    """A filled outline through all frames of a clip; later parts cover earlier ones."""

    colour: Colour
    points: np.ndarray
    """(T, n, 2)."""


def still(colour: Colour, points: object, n_frames: int) -> Part:
    """A part that stands still: its points (n, 2) for every frame."""
    outline = np.asarray(points, float)
    return Part(colour, np.broadcast_to(outline, (n_frames, *outline.shape)))


def ellipse(
    centre: tuple[float, float],
    radii: tuple[float, float],
    begin: float = 0.0,
    end: float = 360.0,
) -> np.ndarray:
    """Return an ellipse, or its arc between two angles, as points (n, 2).

    The angles are in degrees, clockwise from the right.
    """
    angles = np.radians(np.linspace(begin, end, 25))
    return np.stack(
        [centre[0] + radii[0] * np.cos(angles), centre[1] + radii[1] * np.sin(angles)],
        axis=-1,
    )


def box(left: float, top: float, right: float, bottom: float) -> np.ndarray:
    """A rectangle as (4, 2)."""
    return np.array([[left, top], [right, top], [right, bottom], [left, bottom]])


def capsule(
    begin: np.ndarray,
    end: np.ndarray,
    first: np.ndarray | float,
    last: np.ndarray | float,
) -> np.ndarray:
    """A limb with round ends.

    Args:
        begin: one end, (..., 2).
        end: the other, (..., 2).
        first: half its width at the begin; a number, or one that spreads over the
            leading axes.
        last: half its width at the end.

    Returns:
        outlines (..., 12, 2).
    """
    way = end - begin
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    along = np.where(
        length > 1e-6, way / np.maximum(length, 1e-6), np.array([0.0, 1.0])
    )
    across = np.stack([-along[..., 1], along[..., 0]], axis=-1)
    angles = np.linspace(0, np.pi, 6)[:, None]
    rim = along[..., None, :] * np.sin(angles) + across[..., None, :] * np.cos(angles)
    first, last = np.asarray(first)[..., None, None], np.asarray(last)[..., None, None]
    return np.concatenate(
        [end[..., None, :] + last * rim, begin[..., None, :] - first * rim], axis=-2
    )


def rotated(
    points: np.ndarray, degrees: np.ndarray, about: tuple[float, float]
) -> np.ndarray:
    """Turn points (T, n, 2) clockwise about a point by degrees per frame (T,)."""
    angle = np.radians(degrees)[:, None]
    x, y = points[..., 0] - about[0], points[..., 1] - about[1]
    return np.stack(
        [
            about[0] + x * np.cos(angle) - y * np.sin(angle),
            about[1] + x * np.sin(angle) + y * np.cos(angle),
        ],
        axis=-1,
    )


FACE = -0.8
"""Height of the middle of the face; the crown is at -1.3, the chin at -0.3."""
BOTTOM = 3.6
"""Below the lower edge of every picture."""
FRAME = (24, 24, 28)
"""Colour of glasses."""


def torso(signer: Signer, n_frames: int) -> list[Part]:
    """Neck and clothes."""
    wide, hips = signer.shoulders, signer.hips
    outline = [
        (-0.24, -0.2), (0.24, -0.2), (wide * 0.8, -0.1), (wide + 0.16, 0.02),
        (wide + 0.2, 0.2), (wide - 0.06, 0.8),
        (hips, 1.7), (hips + 0.05, BOTTOM), (-hips - 0.05, BOTTOM), (-hips, 1.7),
        (0.06 - wide, 0.8),
        (-wide - 0.2, 0.2), (-wide - 0.16, 0.02), (-wide * 0.8, -0.1),
    ]  # fmt: skip
    shade = shaded(signer.clothes, 0.72)
    parts = [
        still(shade, np.array(outline) * [1.03, 1.0] - [0, 0.03], n_frames),
        still(signer.clothes, outline, n_frames),
    ]
    if signer.pattern == "stripes":
        for top in np.arange(0.3, 2.4, 0.34).tolist():
            side = wide - 0.08 if top < 0.9 else min(hips, wide) - 0.06
            parts.append(
                still(signer.accent, box(-side, top, side, top + 0.13), n_frames)
            )
    elif signer.pattern == "badge":
        parts.append(still(signer.accent, box(0.25, 0.55, 0.6, 0.85), n_frames))
    elif signer.pattern == "jacket":
        parts.append(
            still(
                signer.accent,
                [(-0.22, -0.2), (0.22, -0.2), (0.12, BOTTOM), (-0.12, BOTTOM)],
                n_frames,
            )
        )
    skin = shaded(signer.skin, 0.86)
    parts.append(
        still(
            skin,
            [(-0.2, -0.5), (0.2, -0.5), (0.25, -0.12), (0.0, 0.14), (-0.25, -0.12)],
            n_frames,
        )
    )
    return parts


def head(signer: Signer, degrees: np.ndarray) -> list[Part]:
    """Face and hair, leaning clockwise by an angle for every frame (T,)."""
    flat = [*_hair_behind(signer), *_face(signer), *_hair_before(signer)]
    n_frames = len(degrees)
    parts = [still(colour, outline, n_frames) for colour, outline in flat]
    return [
        Part(part.colour, rotated(part.points, degrees, (0.0, -0.25))) for part in parts
    ]


Flat = list[tuple[tuple[int, int, int], np.ndarray]]


def _face(signer: Signer) -> Flat:
    half = signer.face / 2
    dark, light = shaded(signer.skin, 0.74), shaded(signer.skin, 0.9)
    parts: Flat = [
        (light, ellipse((-half, FACE + 0.04), (0.07, 0.12))),
        (light, ellipse((half, FACE + 0.04), (0.07, 0.12))),
        (dark, ellipse((0.0, FACE), (half + 0.02, 0.515))),
        (signer.skin, ellipse((0.0, FACE), (half, 0.5))),
        (light, np.array([(0.0, FACE), (0.05, FACE + 0.15), (-0.05, FACE + 0.15)])),
        ((150, 70, 70), ellipse((0.0, FACE + 0.27), (0.12, 0.035))),
    ]
    for side in (-1, 1):
        eye = side * half * 0.45
        brow = box(eye - 0.09, FACE - 0.16, eye + 0.09, FACE - 0.125)
        parts += [
            ((240, 240, 236), ellipse((eye, FACE - 0.05), (0.07, 0.04))),
            ((30, 22, 20), ellipse((eye, FACE - 0.05), (0.038, 0.04))),
            (shaded(signer.hair, 0.9), brow),
        ]
        if signer.glasses:
            for outer, inner in ((0.115, 0.085), (0.11, 0.08)):
                top = box(
                    eye - outer, FACE - 0.14, eye + outer, FACE - 0.14 + outer - inner
                )
                parts += [(FRAME, top), (FRAME, top + np.array([0, 0.165]))]
            parts.append(
                (FRAME, box(eye - 0.115, FACE - 0.14, eye - 0.085, FACE + 0.055))
            )
            parts.append(
                (FRAME, box(eye + 0.085, FACE - 0.14, eye + 0.115, FACE + 0.055))
            )
    return parts


def _hair_behind(signer: Signer) -> Flat:
    half = signer.face / 2
    if signer.hair_style == "long":
        return [
            (signer.hair, ellipse((0.0, FACE - 0.08), (half + 0.12, 0.55))),
            (signer.hair, box(-half - 0.11, FACE - 0.1, half + 0.11, -0.02)),
        ]
    if signer.hair_style == "bun":
        return [(signer.hair, ellipse((0.0, FACE - 0.56), (0.2, 0.18)))]
    return []


def _hair_before(signer: Signer) -> Flat:
    half = signer.face / 2
    if signer.hair_style == "bald":
        return []
    # The crown down to the hairline, which a parting lifts on one side.
    crown = ellipse((0.0, FACE - 0.03), (half + 0.04, 0.53), 190.0, 350.0)
    left, right = (-0.18, -0.34) if signer.hair_style == "parted" else (-0.27, -0.27)
    line = np.array(
        [(half * 0.7, FACE + right), (0.0, FACE - 0.31), (-half * 0.7, FACE + left)]
    )
    return [(signer.hair, np.concatenate([crown, line]))]


UPPER_ARM, FOREARM = 1.25, 1.15
"""Lengths of an average arm, in heads."""
ELBOW = np.array([0.6, -0.8])
"""Where elbows hang: outwards and down."""
RIM = 0.022
"""Width of the dark line round hands and arms, by which they stand out against skin and
cloth of their own colour."""


@dataclass(frozen=True, eq=False)
class Arm:
    """Joints of an arm, seen from its own side (x outwards, y upwards); each (T, 2)."""

    shoulder: np.ndarray
    elbow: np.ndarray
    wrist: np.ndarray
    palm: np.ndarray


def bend_arm(track: HandTrack, signer: Signer) -> Arm:
    """Find shoulder, elbow, wrist and palm for the given course of a palm.

    A hand that is out of reach is drawn back to the arm's length.

    The picture is flat and an arm is not: the nearer the hand to the shoulder, the more
    of both bones points to the camera and the shorter they look. An elbow never leaps:
    it changes its side through the middle, and hangs down while the hand passes the
    shoulder.
    """
    shoulder = np.broadcast_to(
        np.array([signer.shoulders - 0.02, -0.19]), track.palm.shape
    )
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
    elbow = (
        shoulder + near * first * ELBOW + (1 - near) * (along * foot + across * height)
    )
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
        *torso(signer, n_frames),
        *head(signer, side * pose.head),
        *_arm(weak, signer, -side),
        *_hand(pose.weak, weak, signer, -side),
        *_arm(strong, signer, side),
        *_hand(pose.strong, strong, signer, side),
    ]


def _seen(points: np.ndarray, side: int) -> np.ndarray:
    """From the axes of a hand's side to those of the picture."""
    return np.asarray(points * np.array([side, -1]))


def _limb(
    colour: tuple[int, int, int],
    begin: np.ndarray,
    end: np.ndarray,
    first: float,
    last: float,
    rim: float,
) -> list[Part]:
    return [
        Part(shaded(colour, 0.62), capsule(begin, end, first + rim, last + rim)),
        Part(colour, capsule(begin, end, first, last)),
    ]


def _arm(arm: Arm, signer: Signer, side: int) -> list[Part]:
    shoulder, elbow, wrist = (
        _seen(point, side) for point in (arm.shoulder, arm.elbow, arm.wrist)
    )
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
    roots, tips = (
        _seen(centre + roots * signer.hand, side),
        _seen(centre + tips * signer.hand, side),
    )
    radii = RADII * signer.hand * signer.limbs
    rims, fills = (
        capsule(roots, tips, radii + RIM, 0.9 * radii + RIM),
        capsule(roots, tips, radii, 0.9 * radii),
    )
    palm = _seen(
        centre + turned(faced(PALM, track.facing), track.degrees) * signer.hand, side
    )
    middle = palm.mean(axis=1, keepdims=True)
    parts = [Part(dark, middle + (palm - middle) * (1 + 4.5 * RIM)), Part(skin, palm)]
    for finger in (4, 3, 2, 1):
        parts += [Part(dark, rims[:, finger]), Part(skin, fills[:, finger])]
    # A piece of palm without a rim joins the fingers to the hand; the thumb lies before
    # both.
    joint = Part(skin, middle + (palm - middle) * 0.78)
    return [*parts, joint, Part(dark, rims[:, 0]), Part(skin, fills[:, 0])]
