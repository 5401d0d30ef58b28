"""From a word's data to the course of both hands: where they are, where they point and what shape they have.

A clip runs through five phases: hands down, raised, signing, lowered, hands down again. How long each takes depends on
signer and clip, never on the word.
"""

from dataclasses import dataclass

import numpy as np

from coursepkg.projects.sign_language.synthetic.hands import SHAPES, between
from coursepkg.projects.sign_language.synthetic.signer import Signer
from coursepkg.projects.sign_language.synthetic.words import Sign

REST = np.array([1.0, -2.3])
"""Where the palm of a hanging hand is."""
BASE = np.array([0.3, -1.0])
"""Where the palm of a second hand is that lies still below the first."""
LEAST_REST = 0.18
"""Least share of a clip in which the hands hang again at its end."""


@dataclass(frozen=True, eq=False)
class HandTrack:
    """The course of one hand, seen from its own side: x leads outwards, y upwards, in heads."""

    palm: np.ndarray
    """Middle of the palm, (T, 2)."""
    degrees: np.ndarray
    """Where the fingers point, (T,): 0 up, 90 to the middle of the body, 180 down."""
    fingers: np.ndarray
    """Degrees and length of each finger, (T, 5, 2), as in `hands.SHAPES`."""
    facing: np.ndarray
    """How much of the palm is seen, (T,): 1 all of it, 0 the hand from its edge, -1 its back, as of a hanging hand."""


@dataclass(frozen=True, eq=False)
class Pose:
    """The course of a whole clip."""

    strong: HandTrack
    """The hand that leads: the left one of a left-handed signer."""
    weak: HandTrack
    head: np.ndarray
    """Degrees by which the head leans towards the strong hand, (T,)."""
    lift: np.ndarray
    """How far the hands are raised, (T,): 0 where they hang, 1 in the middle of the word."""


@dataclass(frozen=True)
class Timing:
    """Shares of the clip at which its phases end, rising in (0, 1)."""

    begin: float
    """The hands begin to rise."""
    signing: float
    """The word begins."""
    signed: float
    """The word ends."""
    end: float
    """The hands hang again."""


def draw_timing(signer: Signer, rng: np.random.Generator) -> Timing:
    """The phases of one clip: fast signers leave more of it for the rest at the end."""
    begin = rng.uniform(0.02, 0.1)
    active = (1 - LEAST_REST - begin) * rng.uniform(0.9, 1.0) / signer.speed
    move = active * rng.uniform(0.14, 0.19)
    return Timing(begin, begin + move, begin + active - move, begin + active)


def _smooth(share: np.ndarray) -> np.ndarray:
    """From 0 to 1 with a gentle begin and end: 3s^2 - 2s^3."""
    share = np.clip(share, 0, 1)
    return np.asarray(share * share * (3 - 2 * share))


def _path(sign: Sign, by: np.ndarray, v: np.ndarray, *, in_turn: bool) -> tuple[np.ndarray, np.ndarray]:
    """Where the palm is from the place (T, 2), and how much of the way has been gone (T,), at shares v of the word."""
    turns = 2 * np.pi * sign.times * v
    if sign.path == "circle":
        phase = turns + np.pi * in_turn
        return by * np.stack([np.sin(phase), np.cos(phase)], axis=-1), v
    if sign.path == "shake":
        return by * (np.sin(turns) * (-1 if in_turn else 1))[:, None], v
    way = _smooth(v) if sign.times == 1 else 0.5 - 0.5 * np.cos(np.pi * (2 * sign.times - 1) * v)
    way = 1 - way if in_turn else way
    if sign.path == "tap":
        return by * (1 - way)[:, None], way
    bow = np.zeros_like(by) if sign.path == "move" else 0.35 * np.array([-by[1], by[0]])
    return by * way[:, None] + bow * np.sin(np.pi * way)[:, None], way


def _track(
    sign: Sign,
    place: np.ndarray,
    by: np.ndarray,
    v: np.ndarray,
    lift: np.ndarray,
    *,
    sense: int,
    in_turn: bool,
) -> HandTrack:
    offset, way = _path(sign, by, v, in_turn=in_turn)
    first, last = (sense * angle for angle in sign.angles)
    degrees = first + (last - first) * way + sign.swing * np.sin(4 * np.pi * v)
    down = -180.0 if first < 0 else 180.0
    shape = between(SHAPES[sign.shapes[0]], SHAPES[sign.shapes[1]], way)
    # The way up leads a little outwards, as elbows do.
    palm = REST + (place + offset - REST) * lift[:, None] + np.outer(np.sin(np.pi * lift), [0.2, 0.0])
    fingers = between(SHAPES["relaxed"], shape, _smooth(lift * 1.4))
    # Hanging hands look the same whatever comes or was: their last frames must not tell the word.
    facing = (-1.0 if sign.back else 1.0) * lift + lift - 1
    return HandTrack(palm, down + (degrees - down) * lift, fingers, facing)


def _still(palm: np.ndarray, degrees: float, shape: str, lift: np.ndarray) -> HandTrack:
    """A hand that goes to one place and stays there."""
    return HandTrack(
        REST + (palm - REST) * lift[:, None],
        180.0 + (degrees - 180.0) * lift,
        between(SHAPES["relaxed"], SHAPES[shape], lift),
        -np.ones_like(lift),
    )


def make_pose(sign: Sign, signer: Signer, timing: Timing, n_frames: int, rng: np.random.Generator) -> Pose:
    """The course of both hands through a clip.

    Args:
        sign: what is signed.
        signer: who signs; habits, size and rhythm of movements follow.
        timing: when what happens.
        n_frames: length of the clip.
        rng: what differs from one time to the next; the same numbers are drawn for every word.
    """
    u = np.linspace(0, 1, n_frames)
    lift = _smooth((u - timing.begin) / (timing.signing - timing.begin))
    lift = lift * (1 - _smooth((u - timing.signed) / (timing.end - timing.signed)))
    v = np.clip((u - timing.signing) / (timing.signed - timing.signing), 0, 1)
    v = v ** (signer.rhythm * rng.uniform(0.93, 1.07))
    shaken = rng.normal(0, 0.03, (2, 2))
    sense = -1 if sign.fixed_direction and signer.left_handed else 1
    amplitude = signer.amplitude * rng.uniform(0.92, 1.08)
    by = np.array(sign.by) * amplitude * np.array([sense, 1])
    place = np.array(sign.place) + signer.habit
    strong = _track(sign, place + shaken[0], by, v, lift, sense=sense, in_turn=False)
    if sign.other == "rest":
        weak = _still(REST, 180.0, "relaxed", np.zeros(n_frames))
    elif sign.other == "base":
        weak = _still(BASE + signer.habit + shaken[1], 80.0, "flat", lift)
    else:
        weak = _track(sign, place + shaken[1], by, v, lift, sense=sense, in_turn=sign.other == "opposite")
    return Pose(strong, weak, sign.head * lift, lift)
