"""One clip: a word, a signer, a room, and what may be wrong with the recording."""

import dataclasses

import numpy as np
from PIL import ImageDraw

from coursepkg.arguments import check_count
from coursepkg.projects.sign_language.clip import Clip
from coursepkg.projects.sign_language.synthetic.config import SignersConfig
from coursepkg.projects.sign_language.synthetic.faults import Fault, Gap, draw_gap, fill_gap
from coursepkg.projects.sign_language.synthetic.figure import figure
from coursepkg.projects.sign_language.synthetic.motion import Pose, draw_timing, make_pose
from coursepkg.projects.sign_language.synthetic.plan import PlannedClip
from coursepkg.projects.sign_language.synthetic.scene import draw_background, draw_camera, draw_light
from coursepkg.projects.sign_language.synthetic.signer import Signer, make_signer
from coursepkg.projects.sign_language.synthetic.words import WORDS, Sign

BRIGHTER = 6
"""Gray levels of 255 that copies from a second hand gain."""


def draw_clip(
    word: str, signer: int, seed: int, number: int, config: SignersConfig | None = None, *, fault: Fault = ""
) -> Clip:
    """Clip `number` of a seed: a function of these arguments alone, in any process.

    Length, room, light, camera and speed follow from seed, number and signer; the word decides nothing but the motion.

    Args:
        word: one of `WORDS`.
        signer: number of who signs it, from 0.
        seed: from 0.
        number: from 0.
        config: size and length.
        fault: `solid` puts a run of frames in one colour into the clip, `frozen` lets one frame stand; the word is
            signed in the frames that are left, so nothing of it is lost. A `duplicate` is a clip like any other.

    Raises:
        ValueError: an unknown word, or a number below 0.
    """
    config = config or SignersConfig()
    check_count("seed", seed, 0)
    check_count("number", number, 0)
    person, sign = make_signer(seed, signer, config), sign_of(word)
    n_frames = clip_length(seed, number, config)
    gap = clip_gap(seed, number, config, fault)
    n_signed = n_frames - gap.length
    pose = _pose(sign, person, n_signed, _chance(4, seed, number))
    pictures = _paint(pose, person, config.size, _chance(5, seed, number))
    return Clip(
        fill_gap(pictures, gap),
        np.arange(n_frames) / config.fps,
        word,
        person.name,
        f"synthetic:{seed}:{number}",
    )


def draw_planned(clip: PlannedClip, seed: int, config: SignersConfig | None = None) -> Clip:
    """A clip of a data set's plan, with its fault. Every other copy of a clip is a little brighter than the first."""
    drawn = draw_clip(clip.word, clip.signer, seed, clip.original, config, fault=clip.fault)
    frames = drawn.frames
    if clip.is_second_hand:
        frames = np.minimum(frames, 255 - BRIGHTER) + np.uint8(BRIGHTER)
    return dataclasses.replace(drawn, frames=frames, name=f"synthetic:{seed}:{clip.number}")


def clip_pose(word: str, signer: int, seed: int, number: int, config: SignersConfig | None = None) -> Pose:
    """The hands in every frame of the clip without a fault: what a model should look at, and when."""
    config = config or SignersConfig()
    n_frames = clip_length(seed, number, config)
    person = make_signer(seed, signer, config)
    return _pose(sign_of(word), person, n_frames, _chance(4, seed, number))


def sign_of(word: str) -> Sign:
    """How a word is signed; a ValueError names the words there are."""
    if word not in WORDS:
        raise ValueError(f"no generated signer knows the word {word!r}; choose from {', '.join(WORDS)}")
    return WORDS[word]


def clip_length(seed: int, number: int, config: SignersConfig) -> int:
    """Frames of a clip: mostly as many as there may be, as in the contest's data; the word has no say in it."""
    rng = _chance(2, seed, number)
    if rng.random() < config.full_length:
        return config.most_frames
    return int(rng.integers(config.least_frames, config.most_frames + 1))


def clip_gap(seed: int, number: int, config: SignersConfig, fault: Fault) -> Gap:
    """Where the frames of a clip are broken; empty unless the fault is `solid` or `frozen`."""
    if fault == "" or fault == "duplicate":
        return Gap(0, 0, None)
    return draw_gap(fault, clip_length(seed, number, config), _chance(3, seed, number))


def _chance(purpose: int, seed: int, number: int) -> np.random.Generator:
    """A generator of its own for each purpose, so that none shifts what another draws."""
    return np.random.Generator(np.random.PCG64([purpose, seed, number]))


def _pose(sign: Sign, signer: Signer, n_frames: int, rng: np.random.Generator) -> Pose:
    return make_pose(sign, signer, draw_timing(signer, rng), n_frames, rng)


def _paint(pose: Pose, signer: Signer, size: int, rng: np.random.Generator) -> np.ndarray:
    """The frames, uint8 (T, size, size, 3), drawn larger and averaged down so that edges are smooth."""
    n_frames = len(pose.head)
    finer = 2 if size >= 128 else 4
    camera = draw_camera(signer, n_frames, rng)
    light = draw_light(size, rng)
    room = draw_background(finer * size, rng)
    parts = [
        (part.colour, camera.place(part.points, finer * size).reshape(n_frames, -1).tolist())
        for part in figure(pose, signer)
    ]
    frames = np.empty((n_frames, size, size, 3), np.uint8)
    for number in range(n_frames):
        image = room.copy()
        pen = ImageDraw.Draw(image)
        for colour, outlines in parts:
            pen.polygon(outlines[number], fill=colour)
        frames[number] = light.shine(np.asarray(image.reduce(finer)), rng)
    return frames
