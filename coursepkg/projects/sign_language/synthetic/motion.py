"""From a word's data to the course of both hands: place, direction and shape.

A clip runs through five phases: hands down, raised, signing, lowered, hands down again.
How long each takes depends on signer and clip, never on the word.

A hand has its own axes: u across the palm towards the thumb, v along the fingers; the
unit is the length of the hand from the wrist to the tip of the middle finger.
"""

from dataclasses import dataclass

import numpy as np

from coursepkg.projects.sign_language.synthetic.signer import Sign, Signer

FINGERS = ("thumb", "index", "middle", "ring", "little")
ROOTS = np.array(
    [[0.17, -0.08], [0.15, 0.19], [0.05, 0.22], [-0.06, 0.21], [-0.16, 0.16]]
)
"""Where each finger begins, seen from the middle of the palm: (5, 2) of u and v."""
RADII = np.array([0.062, 0.056, 0.058, 0.056, 0.05])
"""Half the width of each finger."""
PALM = np.array(
    [
        [-0.2, -0.16],
        [-0.12, -0.27],
        [0.12, -0.27],
        [0.21, -0.14],
        [0.2, 0.2],
        [0.05, 0.26],
        [-0.2, 0.2],
    ]
)
"""Outline of the palm, (7, 2) of u and v."""
WRIST = np.array([0.0, -0.3])
"""Where the hand is joined to the arm."""

SHAPES: dict[str, np.ndarray] = {
    name: np.array(fingers, float)
    for name, fingers in {
        "flat": ((14, 0.30), (3, 0.42), (1, 0.46), (-1, 0.42), (-4, 0.33)),
        "spread": ((62, 0.36), (20, 0.42), (5, 0.46), (-11, 0.42), (-28, 0.34)),
        "fist": ((-62, 0.26), (0, 0.06), (0, 0.07), (0, 0.06), (0, 0.05)),
        "point": ((-50, 0.24), (0, 0.46), (0, 0.06), (0, 0.05), (0, 0.04)),
        "two": ((-55, 0.26), (16, 0.44), (-9, 0.46), (0, 0.05), (0, 0.04)),
        "pinch": ((-17, 0.46), (-23, 0.30), (-5, 0.31), (16, 0.30), (33, 0.31)),
        "cup": ((80, 0.40), (22, 0.44), (18, 0.42), (16, 0.34), (14, 0.24)),
        "relaxed": ((22, 0.26), (5, 0.34), (1, 0.37), (-3, 0.34), (-8, 0.26)),
    }.items()
}
"""For each shape (5, 2): degrees from the axis of the hand, positive towards the thumb,
and length of each finger."""


def between(first: np.ndarray, second: np.ndarray, share: np.ndarray) -> np.ndarray:
    """The hand on its way from one shape to another.

    Args:
        first: fingers (5, 2), or (T, 5, 2).
        second: the same.
        share: of the way, (T,) in [0, 1].

    Returns:
        fingers (T, 5, 2).
    """
    return np.asarray(first + (second - first) * share[:, None, None])


def turned(points: np.ndarray, degrees: np.ndarray) -> np.ndarray:
    """Points of the hand's axes in those of its side: x outwards, y up.

    Args:
        points: (n, 2), or (T, n, 2), of u and v.
        degrees: where the fingers point, (T,): 0 up, 90 to the middle of the body.

    Returns:
        (T, n, 2).
    """
    angle = np.radians(degrees)[:, None]
    u, v = points[..., 0], points[..., 1]
    # Fingers up and the palm to the camera, the thumb points to the middle of the body,
    # against x.
    return np.stack(
        [-u * np.cos(angle) - v * np.sin(angle), v * np.cos(angle) - u * np.sin(angle)],
        axis=-1,
    )


def finger_bones(
    fingers: np.ndarray, degrees: np.ndarray, facing: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where the fingers begin and end, from the middle of the palm.

    Args:
        fingers: (T, 5, 2).
        degrees: where the hand points, (T,).
        facing: how much of the palm is seen, (T,): 1 all of it, 0 the hand from its
            edge, -1 its back.

    Returns:
        roots and tips, each (T, 5, 2) in the axes of the hand's side.
    """
    lean = np.radians(fingers[..., 0])
    along = np.stack([np.sin(lean), np.cos(lean)], axis=-1) * fingers[..., 1:]
    return turned(faced(ROOTS, facing), degrees), turned(
        faced(ROOTS + along, facing), degrees
    )


def faced(points: np.ndarray, facing: np.ndarray) -> np.ndarray:
    """Points (n, 2) or (T, n, 2) of the hand's axes, narrowed as seen (T, n, 2)."""
    width = np.stack([facing, np.ones_like(facing)], axis=-1)
    return np.asarray(points * width[:, None])


REST = np.array([1.0, -2.3])
"""Where the palm of a hanging hand is."""
BASE = np.array([0.3, -1.0])
"""Where the palm of a second hand is that lies still below the first."""
LEAST_REST = 0.18
"""Least share of a clip in which the hands hang again at its end."""


@dataclass(frozen=True, eq=False)
class HandTrack:
    """The track holds the course of one hand, seen from its own side.

    Lengths are in heads: x leads outwards, y upwards.
    """

    palm: np.ndarray
    """Middle of the palm, (T, 2)."""
    degrees: np.ndarray
    """Where the fingers point, (T,): 0 up, 90 to the middle of the body, 180 down."""
    fingers: np.ndarray
    """Degrees and length of each finger, (T, 5, 2), as in `hands.SHAPES`."""
    facing: np.ndarray
    """How much of the palm is seen, (T,): 1 all of it, 0 the hand from its edge, -1 its
    back, as of a hanging hand."""


@dataclass(frozen=True, eq=False)
class Pose:
    """The course of a whole clip."""

    strong: HandTrack
    """The hand that leads: the left one of a left-handed signer."""
    weak: HandTrack
    head: np.ndarray
    """Degrees by which the head leans towards the strong hand, (T,)."""
    lift: np.ndarray
    """How far the hands are raised, (T,): 0 where they hang, 1 in the middle of the
    word."""


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


def _path(
    sign: Sign, by: np.ndarray, v: np.ndarray, *, in_turn: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the palm's offset from the place (T, 2) and the share of the way (T,).

    `v` (T,) holds the shares of the word at which they are taken.
    """
    turns = 2 * np.pi * sign.times * v
    if sign.path == "circle":
        phase = turns + np.pi * in_turn
        return by * np.stack([np.sin(phase), np.cos(phase)], axis=-1), v
    if sign.path == "shake":
        return by * (np.sin(turns) * (-1 if in_turn else 1))[:, None], v
    way = (
        _smooth(v)
        if sign.times == 1
        else 0.5 - 0.5 * np.cos(np.pi * (2 * sign.times - 1) * v)
    )
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
    palm = (
        REST
        + (place + offset - REST) * lift[:, None]
        + np.outer(np.sin(np.pi * lift), [0.2, 0.0])
    )
    fingers = between(SHAPES["relaxed"], shape, _smooth(lift * 1.4))
    # Hanging hands look the same whatever comes or was: their last frames must not tell
    # the word.
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


def make_pose(
    sign: Sign, signer: Signer, timing: Timing, n_frames: int, rng: np.random.Generator
) -> Pose:
    """The course of both hands through a clip.

    Args:
        sign: what is signed.
        signer: who signs; habits, size and rhythm of movements follow.
        timing: when what happens.
        n_frames: length of the clip.
        rng: what differs from one time to the next; the same numbers are drawn for
            every word.
    """
    u = np.linspace(0, 1, n_frames)
    if sign.reversed_time:
        # Raising and lowering take equally long, so this mirrors the whole word.
        u = timing.begin + timing.end - u
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
        weak = _track(
            sign,
            place + shaken[1],
            by,
            v,
            lift,
            sense=sense,
            in_turn=sign.other == "opposite",
        )
    return Pose(strong, weak, sign.head * lift, lift)
