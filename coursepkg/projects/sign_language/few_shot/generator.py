"""Landmarks of made-up signs: any number of words, each by any number of people.

A word is drawn: which hands, their shapes, where they are, how they are turned, how
they move. Then people sign it: with arms of their own, a little elsewhere, larger or
smaller, faster or slower, once more or once less, seen by a camera from somewhere in
front, through a detector that trembles and loses hands. Two clips of one word agree in
the word and differ in all that people differ in: that is what an embedding learns from.

The motions are no signs of any language. Lengths are in widths of the shoulders; x
points to the right of the picture, y down, z away from the camera; the person's left
side comes before the right one. A hand has its own axes: along the fingers, across
the palm towards the thumb, and out of the palm.
"""

from dataclasses import dataclass, fields

import numpy as np
from numpy.random import Generator

from coursepkg.projects.sign_language.landmarks.extract import Landmarks

N_FRAMES = 36
"""Frames of a drawn clip (T)."""
JOINTS = (0, 7, 8, 11, 12, 13, 14, 15, 16)
"""Landmarks of the body that are drawn, by their numbers in `pose`."""
ROOTS = np.array([[0.3, 0.26], [0.92, 0.2], [1.0, 0.0], [0.94, -0.18], [0.84, -0.34]])
"""Where each finger begins: along and across, in lengths of the palm (5, 2)."""
BONES = np.array(
    [[0.42, 0.36, 0.3], [0.46, 0.28, 0.24], [0.52, 0.32, 0.25], [0.48, 0.3, 0.25],
     [0.37, 0.22, 0.22]]
)  # fmt: skip
"""Length of each finger's bones, in lengths of the palm (5, 3)."""
FLEXES = np.radians([[25, 35, 45], [85, 100, 70], [85, 100, 70], [85, 100, 70],
                     [85, 100, 70]])  # fmt: skip
"""Bend of a fully bent finger's joints (5, 3)."""
BENDS = np.array([[0, 0], [1, 1], [0.1, 0.95], [0.95, 0.1], [0.45, 0.4]])
"""Fingers straight, in a fist, hooked, bent at the root, half bent: shares of the bend
of the root and of the other two joints."""
THUMBS = np.radians([[65, 10], [20, 10], [-25, 45], [10, 60]])
"""Thumb aside, along, over the palm, before it: degrees across and out of the palm."""
ARMS = (0.8, 0.72)
"""Upper arm and forearm."""
PALM = 0.27
"""Length of a palm."""


@dataclass(frozen=True, eq=False)
class DrawnWords:
    """Drawn words; W of them. Places and directions are those of the leading hand."""

    two: np.ndarray
    """0 one hand, 1 both alike, 2 the second hand lies still; int (W,)."""
    in_turn: np.ndarray
    """Whether the second hand of both alike moves half a turn later, bool (W,)."""
    bends: np.ndarray
    """At the begin and the end of the word, (W, 2, 2 hands, 5, 2)."""
    thumbs: np.ndarray
    """The same of the thumb, in radians, (W, 2, 2 hands, 2)."""
    spread: np.ndarray
    """Of the fingers, in radians (W, 2 hands)."""
    turns: np.ndarray
    """Forearm turned, wrist bent, wrist to the side, in radians, at begin and end,
    (W, 2, 2 hands, 3)."""
    place: np.ndarray
    """Of both wrists: outwards, down, away (W, 2 hands, 3)."""
    way: np.ndarray
    """How far the wrist moves, and in which direction, (W, 3)."""
    bulge: np.ndarray
    """How far aside, (W, 3)."""
    kind: np.ndarray
    """Still, straight, arc, circle, to and fro, tap; int (W,)."""
    times: np.ndarray
    """How often, from 1; int (W,)."""
    shake: np.ndarray
    """By how much the forearm, wrist, and wrist to the side shake, radians (W, 3)."""

    def repeated(self, each: int) -> "DrawnWords":
        """Every word so many times, one after another."""
        return DrawnWords(
            *(np.repeat(getattr(self, one.name), each, axis=0) for one in fields(self))
        )


def draw_words(rng: Generator, count: int) -> DrawnWords:
    """Draw so many words."""
    two = rng.choice(3, count, p=(0.5, 0.3, 0.2))
    bends, thumbs = np.empty((count, 2, 2, 5, 2)), np.empty((count, 2, 2, 2))
    for when in (0, 1):
        for hand in (0, 1):
            shape = _draw_bends(rng, count)
            thumb = THUMBS[rng.choice(4, count, p=(0.25, 0.3, 0.3, 0.15))]
            if when:
                same = rng.random(count) < 0.7
                shape[same], thumb[same] = bends[same, 0, hand], thumbs[same, 0, hand]
            bends[:, when, hand], thumbs[:, when, hand] = shape, thumb
    spread = rng.choice([0.02, 0.12, 0.28], (count, 2), p=(0.4, 0.3, 0.3))
    turns = np.empty((count, 2, 2, 3))
    turns[:, 0] = rng.uniform(-1, 1, (count, 2, 3)) * (1.6, 0.9, 0.35)
    turned = rng.uniform(-1, 1, (count, 2, 3)) * (1.6, 0.9, 0.35)
    turns[:, 1] = np.where(rng.random((count, 1, 1)) < 0.7, turns[:, 0], turned)
    alike = two == 1
    for part in (bends, thumbs, turns):
        part[alike, :, 1] = part[alike, :, 0]
    spread[alike, 1] = spread[alike, 0]
    zone = rng.choice(4, count, p=(0.35, 0.35, 0.2, 0.1))
    low = np.array([[-0.25, -0.55, -0.9], [-0.45, 0.05, -0.95], [0.1, -0.4, -0.9],
                    [-0.3, 0.6, -0.7]])[zone]  # fmt: skip
    high = np.array([[0.5, 0.05, -0.25], [0.5, 0.75, -0.25], [0.9, 0.6, -0.2],
                     [0.6, 1.1, -0.2]])[zone]  # fmt: skip
    place = np.empty((count, 2, 3))
    place[:, 0] = rng.uniform(low, high)
    # A second hand that lies still is before the belly or chest.
    place[:, 1] = rng.uniform((-0.2, 0.35, -0.8), (0.45, 0.95, -0.3), (count, 3))
    place[alike, 1] = place[alike, 0]
    direction = rng.normal(0, (1, 1, 0.7), (count, 3))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    kind = rng.choice(6, count, p=(0.12, 0.28, 0.13, 0.17, 0.15, 0.15))
    size = rng.uniform(0.2, 1.0, count) * np.array([0, 1, 0.9, 0.35, 0.5, 0.4])[kind]
    way = direction * size[:, None]
    other = np.cross(direction, rng.normal(0, 1, (count, 3)))
    other /= np.maximum(np.linalg.norm(other, axis=1, keepdims=True), 1e-6)
    bulge = other * (size * rng.uniform(0.4, 1.0, count))[:, None]
    times = np.where(kind >= 3, rng.choice([1, 2, 3], count, p=(0.35, 0.45, 0.2)), 1)
    shake = np.zeros((count, 3))
    shaken = rng.random(count) < np.where(kind == 0, 0.6, 0.12)
    axis = rng.integers(0, 3, count)
    shake[np.arange(count), axis] = shaken * rng.uniform(0.25, 0.6, count)
    in_turn = rng.random(count) < 0.3
    return DrawnWords(two, in_turn, bends, thumbs, spread, turns, place, way, bulge,
                      kind, times, shake)  # fmt: skip


def _draw_bends(rng: Generator, count: int) -> np.ndarray:
    """Shapes of hands (n, 5, 2): neighbouring fingers do alike more often than not."""
    shape = np.empty((count, 5), int)
    shape[:, 0] = 0
    shape[:, 1] = rng.choice(5, count, p=(0.45, 0.22, 0.1, 0.1, 0.13))
    for finger in (2, 3, 4):
        new = rng.choice(5, count, p=(0.35, 0.45, 0.05, 0.05, 0.1))
        copy = rng.random(count) < 0.68
        shape[:, finger] = np.where(copy, shape[:, finger - 1], new)
    found = BENDS[shape]
    found[:, 0] = rng.uniform(0, 0.8, (count, 1))
    return found


@dataclass(frozen=True, eq=False)
class DrawnLandmarks:
    """P clips as `Landmarks` has them, of landmarks `JOINTS` of the body."""

    times: np.ndarray
    """Seconds (P, T)."""
    body: np.ndarray
    """(P, T, 9, 3)."""
    hands: np.ndarray
    """(P, T, 2, 21, 3)."""
    seen: np.ndarray
    """Bool (P, T, 2)."""

    def __len__(self) -> int:
        return len(self.times)

    def full_body(self, number: int) -> np.ndarray:
        """The body of a clip as `Landmarks` has it, (T, 33, 3)."""
        body = np.zeros((N_FRAMES, 33, 3))
        body[:, JOINTS] = self.body[number]
        return body

    def clip(self, number: int, width: float = 100.0) -> Landmarks:
        """A clip as if it came from a film in which the shoulders are so wide."""
        seen = self.seen[number]
        hands = np.where(seen[..., None, None], self.hands[number], np.nan)
        middle = np.array([3.0, 2.0, 0.0])
        body = (self.full_body(number) + middle) * width
        return Landmarks(
            self.times[number],
            body.astype(np.float32),
            np.ones((N_FRAMES, 33), np.float32),
            ((hands + middle) * width).astype(np.float32),
            seen.astype(np.float32),
            (round(6 * width), round(5 * width)),
            name=f"made-up sign {number}",
        )


def sign(
    rng: Generator, words: DrawnWords, *, left_handed: float = 0.0
) -> DrawnLandmarks:
    """Let a new person sign each of these words.

    Args:
        rng: where chance comes from.
        words: P of them.
        left_handed: share of people who sign with the left hand.
    """
    count = len(words.two)
    seconds = rng.uniform(1.0, 4.0, count)
    times = np.linspace(0, 1, N_FRAMES) * seconds[:, None]
    lift, v = _phases(rng, count)
    wrists, turns, bends, thumbs, spread = _course(rng, words, v)
    rest = np.empty((count, 2, 3))
    lap = rng.random((count, 1)) < 0.4
    rest[..., 0] = np.where(lap, rng.uniform(-0.05, 0.3, (count, 2)), 0.62)
    rest[..., 1] = np.where(lap, rng.uniform(0.9, 1.3, (count, 2)), 1.5)
    rest[..., 2] = np.where(lap, -0.35, -0.1)
    raised = lift[:, :, None, None] * np.ones((1, 1, 2, 1))
    idle = words.two == 0
    held = idle & (rng.random(count) < 0.15)
    # Some hold an idle hand half way up; it says nothing.
    raised[:, :, 1] *= np.where(idle, np.where(held, 0.5, 0.0), 1.0)[:, None, None]
    wrists = rest[:, None] + raised * (wrists - rest[:, None])
    wrists[..., 0] += 0.15 * np.sin(np.pi * raised[..., 0])
    relaxed = np.array([[0.3, 0.3]])
    bends = relaxed + raised[..., None] ** 0.5 * (bends - relaxed)
    turns = raised * turns + (1 - raised) * np.array([0.3, 0.1, 0.0])
    body, hands = _bodies(rng, wrists, turns, bends, thumbs, spread)
    body, hands = _before_camera(rng, body, hands)
    seen = _detector(rng, body, hands, words.two > 0)
    mirrored = rng.random(count) < left_handed
    found = DrawnLandmarks(times, body, hands, seen)
    return _mirror(found, mirrored)


def _phases(rng: Generator, count: int) -> tuple[np.ndarray, np.ndarray]:
    """How far the hands are raised, and how much of the word is over, each (P, T)."""
    u = np.linspace(0, 1, N_FRAMES)[None]
    begin = rng.uniform(-0.25, 0.2, (count, 1))
    up = rng.uniform(0.08, 0.3, (count, 1))
    down = rng.uniform(0.08, 0.3, (count, 1))
    end = 1 - rng.uniform(-0.25, 0.2, (count, 1))
    first, last = begin + up, end - down
    lift = _smooth((u - begin) / up) * (1 - _smooth((u - last) / down))
    # Some begin late, or hold the end of the word.
    early = rng.uniform(0, 0.3, (count, 2)) * (rng.random((count, 2)) < 0.4)
    v = (u - first) / (last - first)
    v = ((v - early[:, :1]) / (1 - early.sum(axis=1, keepdims=True))).clip(0, 1)
    rhythm = np.exp(rng.normal(0, 0.22, (count, 1)))
    return lift, v**rhythm


def _smooth(share: np.ndarray) -> np.ndarray:
    share = share.clip(0, 1)
    return np.asarray(share * share * (3 - 2 * share))


def _course(
    rng: Generator, words: DrawnWords, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Wrists, turns, bends, thumbs (P, T, 2, ...) and spread (P, 2) of the word.

    Everything that people do in their own way is drawn here.
    """
    count = len(v)
    normal = rng.normal
    habit = normal(0, (0.14, 0.24, 0.15), (count, 1, 3))
    habit = habit + normal(0, 0.07, (count, 2, 3))
    place = words.place * np.exp(normal(0, 0.15, (count, 1, 1))) + habit
    size = np.exp(normal(0, 0.38, (count, 1)))
    way = words.way * size + normal(0, 0.07, (count, 3))
    way *= (words.kind > 0)[:, None]
    bulge = words.bulge * size * np.exp(normal(0, 0.2, (count, 1)))
    repeats = words.times + (words.times > 1) * rng.choice(
        [-1, 0, 1, 2], count, p=(0.2, 0.45, 0.25, 0.1)
    )
    repeats = np.maximum(repeats, 1)[:, None]
    wrists = np.empty((*v.shape, 2, 3))
    for hand in (0, 1):
        late = 0.5 * (words.in_turn & (words.two == 1))[:, None] * hand
        offset = _path(words.kind, v, repeats, late, way, bulge)
        still = (words.two == 2) & (hand == 1)
        offset = np.where(still[:, None, None], 0.0, offset)
        wrists[:, :, hand] = place[:, None, hand] + offset
    share = _smooth(v)[:, :, None, None]
    turns = words.turns + normal(0, (0.3, 0.22, 0.12), (count, 1, 1, 3))
    turned = turns[:, None, 0] + share * (turns[:, None, 1] - turns[:, None, 0])
    phase = np.sin(2 * np.pi * np.maximum(repeats, 2) * v)
    turned = turned + words.shake[:, None, None] * phase[:, :, None, None]
    bends = words.bends + normal(0, 0.1, (count, 1, 2, 5, 2))
    between = share[..., None]
    bent = bends[:, None, 0] + between * (bends[:, None, 1] - bends[:, None, 0])
    thumbs = words.thumbs + normal(0, 0.18, (count, 1, 2, 2))
    thumbed = thumbs[:, None, 0] + share * (thumbs[:, None, 1] - thumbs[:, None, 0])
    spread = words.spread + normal(0, 0.04, words.spread.shape)
    return wrists, turned, bent.clip(-0.1, 1.1), thumbed, spread


def _path(
    kind: np.ndarray,
    v: np.ndarray,
    repeats: np.ndarray,
    late: np.ndarray,
    way: np.ndarray,
    bulge: np.ndarray,
) -> np.ndarray:
    """How far the wrist is from its place, (P, T, 3)."""
    turn = 2 * np.pi * (repeats * v + late)
    once = _smooth(v)
    once = np.where(late > 0, 1 - once, once)
    along = np.select(
        [kind[:, None] == k for k in range(6)],
        [0 * v, once, once, np.cos(turn) - 1, np.sin(turn), 0.5 - 0.5 * np.cos(turn)],
    )
    aside = np.select(
        [kind[:, None] == k for k in range(6)],
        [0 * v, 0 * v, np.sin(np.pi * once), np.sin(turn), 0 * v, 0 * v],
    )
    return np.asarray(
        along[..., None] * way[:, None] + aside[..., None] * bulge[:, None]
    )


def _unit(vectors: np.ndarray) -> np.ndarray:
    length = np.linalg.norm(vectors, axis=-1, keepdims=True)
    return np.asarray(vectors / np.maximum(length, 1e-6))


def _bodies(
    rng: Generator,
    wrists: np.ndarray,
    turns: np.ndarray,
    bends: np.ndarray,
    thumbs: np.ndarray,
    spread: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Joints of the body (P, T, 9, 3) and of both hands (P, T, 2, 21, 3), in space.

    The leading hand is the right one.
    """
    count, n_frames = wrists.shape[:2]
    body = np.empty((count, n_frames, len(JOINTS), 3))
    head = np.array([[0, -0.62, -0.35], [0.2, -0.66, -0.05], [-0.2, -0.66, -0.05]])
    head = head * np.exp(rng.normal(0, 0.08, (count, 1, 1)))
    nod = rng.normal(0, 0.04, (count, 1, 1, 3))
    body[:, :, :3] = head[:, None] + nod
    hands = np.empty((count, n_frames, 2, 21, 3))
    longer = np.exp(rng.normal(0, 0.06, (count, 1, 1)))
    palm = PALM * np.exp(rng.normal(0, 0.08, (count, 1, 1, 1)))
    swivel = rng.normal(0, 0.25, (count, 1, 3))
    for hand, side in ((0, -1.0), (1, 1.0)):
        outward = np.array([side, 1.0, 1.0])
        shoulder = np.array([0.5 * side, 0.0, 0.0])
        wrist = wrists[:, :, hand] * outward
        elbow, wrist = _bend_arm(shoulder, wrist, longer, side, swivel)
        along, across, out = _palm_axes(shoulder, elbow, wrist, turns[:, :, hand], side)
        place = 1 if hand == 0 else 0
        hands[:, :, place] = wrist[:, :, None] + palm * _hand_joints(
            along, across, out, bends[:, :, hand], thumbs[:, :, hand],
            spread[:, hand],
        )  # fmt: skip
        body[:, :, 3 + place], body[:, :, 5 + place] = shoulder, elbow
        body[:, :, 7 + place] = wrist
    return body, hands


def _bend_arm(
    shoulder: np.ndarray,
    wrist: np.ndarray,
    longer: np.ndarray,
    side: float,
    swivel: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Elbow, and wrist within reach, each (P, T, 3)."""
    upper, lower = ARMS[0] * longer, ARMS[1] * longer
    far = wrist - shoulder
    distance = np.maximum(np.linalg.norm(far, axis=-1, keepdims=True), 0.25)
    reach = np.minimum(distance, 0.98 * (upper + lower))
    line = _unit(far)
    wrist = shoulder + line * reach
    foot = (upper**2 - lower**2 + reach**2) / (2 * reach)
    foot = np.clip(foot, -upper, upper)
    height = np.sqrt(np.maximum(upper**2 - foot**2, 0))
    hint = np.array([0.6 * side, 1.0, 0.3]) + swivel
    aside = _unit(hint - (hint * line).sum(-1, keepdims=True) * line)
    return shoulder + line * foot + aside * height, wrist


def _palm_axes(
    shoulder: np.ndarray,
    elbow: np.ndarray,
    wrist: np.ndarray,
    turns: np.ndarray,
    side: float,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Along the fingers, towards the thumb, out of the palm; each (P, T, 3)."""
    forearm = _unit(wrist - elbow)
    hinge = _unit(np.cross(elbow - shoulder, forearm)) * side
    normal = np.cross(forearm, hinge)
    roll, bend, aside = (turns[..., i : i + 1] for i in range(3))
    across = np.cos(roll) * hinge + np.sin(roll) * normal
    out = np.cos(roll) * normal - np.sin(roll) * hinge
    along = np.cos(bend) * forearm + np.sin(bend) * out
    out = np.cos(bend) * out - np.sin(bend) * forearm
    turned = np.cos(aside) * along + np.sin(aside) * across
    return turned, np.cos(aside) * across - np.sin(aside) * along, out


def _hand_joints(
    along: np.ndarray,
    across: np.ndarray,
    out: np.ndarray,
    bends: np.ndarray,
    thumbs: np.ndarray,
    spread: np.ndarray,
) -> np.ndarray:
    """The 21 joints from the wrist, in lengths of the palm, (P, T, 21, 3)."""
    fan = np.array([0.0, 1.0, 0.15, -0.7, -1.5]) * spread[:, None]  # (P, 5)
    bend = np.concatenate([bends[..., :1], bends[..., 1:], bends[..., 1:]], axis=-1)
    flex = np.cumsum(bend * FLEXES, axis=-1)  # (P, T, 5, 3)
    joints = np.zeros((*along.shape[:2], 21, 3))
    for finger in range(5):
        place = ROOTS[finger, 0] * along + ROOTS[finger, 1] * across
        if finger == 0:
            aside, forward = thumbs[..., :1], thumbs[..., 1:]
            ray = np.cos(aside) * along + np.sin(aside) * across
            ray = np.cos(forward) * ray + np.sin(forward) * out
            inward = _unit(out - 0.7 * across)
        else:
            lean = fan[:, None, finger, None]
            ray, inward = np.cos(lean) * along + np.sin(lean) * across, out
        joints[:, :, 1 + 4 * finger] = place
        for bone in range(3):
            angle = flex[:, :, finger, bone, None]
            step = np.cos(angle) * ray + np.sin(angle) * inward
            place = place + BONES[finger, bone] * step
            joints[:, :, 2 + 4 * finger + bone] = place
    return joints


def _before_camera(
    rng: Generator, body: np.ndarray, hands: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Body and hands as a camera from somewhere in front sees them."""
    count = len(body)
    yaw, pitch, roll = (rng.normal(0, np.radians((12, 9, 4)), (count, 3))).T
    zero, one = np.zeros(count), np.ones(count)
    about_y = np.array([[np.cos(yaw), zero, np.sin(yaw)], [zero, one, zero],
                        [-np.sin(yaw), zero, np.cos(yaw)]])  # fmt: skip
    about_x = np.array([[one, zero, zero], [zero, np.cos(pitch), -np.sin(pitch)],
                        [zero, np.sin(pitch), np.cos(pitch)]])  # fmt: skip
    about_z = np.array([[np.cos(roll), -np.sin(roll), zero],
                        [np.sin(roll), np.cos(roll), zero],
                        [zero, zero, one]])  # fmt: skip
    turn = np.einsum("ijp,jkp,klp->pil", about_z, about_x, about_y)
    far = rng.uniform(3.5, 9.0, (count, 1, 1))
    seen = []
    for points in (body, hands):
        flat = points.reshape(count, -1, 3) @ turn.transpose(0, 2, 1)
        nearer = far / np.maximum(far + flat[..., 2:], 1.0)
        flat[..., :2] *= nearer
        seen.append(flat.reshape(points.shape))
    return seen[0], seen[1]


def _detector(
    rng: Generator, body: np.ndarray, hands: np.ndarray, is_used: np.ndarray
) -> np.ndarray:
    """Let landmarks tremble in place, and say which hands are seen, bool (P, T, 2)."""
    count, n_frames = body.shape[:2]
    depth = rng.uniform(0.4, 1.1, (count, 1, 1, 1))
    wrist = hands[:, :, :, :1, 2]
    hands[..., 2] = wrist + (hands[..., 2] - wrist) * depth
    shiver = rng.uniform(0.004, 0.02, (count, 1, 1, 1, 1))
    hands += shiver * rng.normal(0, 1, hands.shape)
    hands += 1.5 * shiver * rng.normal(0, 1, (count, 1, 2, 21, 3))
    body[:, :, 5:, :2] += rng.normal(0, 0.03, (count, n_frames, 4, 2))
    body[:, :, 5:, :2] += rng.normal(0, 0.05, (count, 1, 4, 2))
    moved = np.linalg.norm(
        np.diff(hands[:, :, :, 0, :2], axis=1, prepend=hands[:, :1, :, 0, :2]), axis=-1
    )
    fast = rng.uniform(0.15, 0.5, (count, 1, 1))
    seen = rng.random(moved.shape) > 0.9 * (moved / fast).clip(0, 1) ** 2
    frames = np.arange(n_frames)[None, :, None]
    for _ in range(2):
        start = rng.uniform(-2.0, 1, (count, 1, 2)) * n_frames
        length = rng.uniform(0.05, 0.25, (count, 1, 2)) * n_frames
        seen &= ~((frames >= start) & (frames < start + length))
    bottom = rng.uniform(0.9, 1.6, (count, 1, 1))
    seen &= hands[:, :, :, 0, 1] < bottom
    hidden = ~is_used & (rng.random(count) < 0.6)
    seen[:, :, 0] &= ~hidden[:, None]
    return seen


def _mirror(found: DrawnLandmarks, which: np.ndarray) -> DrawnLandmarks:
    """Some of the clips mirrored."""
    flip = np.array([-1.0, 1.0, 1.0])
    body, hands, seen = found.body.copy(), found.hands.copy(), found.seen.copy()
    body[which] = body[which][:, :, (0, 2, 1, 4, 3, 6, 5, 8, 7)] * flip
    hands[which] = hands[which][:, :, ::-1] * flip
    seen[which] = seen[which][:, :, ::-1]
    return DrawnLandmarks(found.times, body, hands, seen)
