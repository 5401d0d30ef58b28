"""Torso, clothes and head of a signer: what the hands move in front of."""

import numpy as np

from coursepkg.projects.sign_language.synthetic.shapes import Part, box, ellipse, rotated, still
from coursepkg.projects.sign_language.synthetic.signer import Signer, shaded

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
        (-0.24, -0.2), (0.24, -0.2), (wide * 0.8, -0.1), (wide + 0.16, 0.02), (wide + 0.2, 0.2), (wide - 0.06, 0.8),
        (hips, 1.7), (hips + 0.05, BOTTOM), (-hips - 0.05, BOTTOM), (-hips, 1.7), (0.06 - wide, 0.8),
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
            parts.append(still(signer.accent, box(-side, top, side, top + 0.13), n_frames))
    elif signer.pattern == "badge":
        parts.append(still(signer.accent, box(0.25, 0.55, 0.6, 0.85), n_frames))
    elif signer.pattern == "jacket":
        parts.append(
            still(signer.accent, [(-0.22, -0.2), (0.22, -0.2), (0.12, BOTTOM), (-0.12, BOTTOM)], n_frames)
        )
    skin = shaded(signer.skin, 0.86)
    parts.append(
        still(skin, [(-0.2, -0.5), (0.2, -0.5), (0.25, -0.12), (0.0, 0.14), (-0.25, -0.12)], n_frames)
    )
    return parts


def head(signer: Signer, degrees: np.ndarray) -> list[Part]:
    """Face and hair, leaning clockwise by an angle for every frame (T,)."""
    flat = [*_hair_behind(signer), *_face(signer), *_hair_before(signer)]
    n_frames = len(degrees)
    parts = [still(colour, outline, n_frames) for colour, outline in flat]
    return [Part(part.colour, rotated(part.points, degrees, (0.0, -0.25))) for part in parts]


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
                top = box(eye - outer, FACE - 0.14, eye + outer, FACE - 0.14 + outer - inner)
                parts += [(FRAME, top), (FRAME, top + np.array([0, 0.165]))]
            parts.append((FRAME, box(eye - 0.115, FACE - 0.14, eye - 0.085, FACE + 0.055)))
            parts.append((FRAME, box(eye + 0.085, FACE - 0.14, eye + 0.115, FACE + 0.055)))
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
    line = np.array([(half * 0.7, FACE + right), (0.0, FACE - 0.31), (-half * 0.7, FACE + left)])
    return [(signer.hair, np.concatenate([crown, line]))]
