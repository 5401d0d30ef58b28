"""Generated clips and data sets: words, signers, rooms, faults, laid out as files.

The words stand in order of frequency. The clips of a word go to signer 0, 1, 2 and so
on, and round again once all have signed; so the first `least_clips` signers sign every
word, and a split by signer that gives every part one of them has every word in every
part. Some recordings have runs of frames in one colour, or frames that stand still.

    FOLDER/train/<word>/00012.mp4    H.264, one folder a word
    FOLDER/label_mapping.pkl         word -> number, as the contest gives it
    FOLDER/label_mapping.json        the same for readers that do not unpickle
    FOLDER/signers.csv               path, label, signer, group, fault, broken

A data set grows in FOLDER.part and gets its name at the end. A run that was stopped
goes on with the clips that are missing.
"""

import csv
import dataclasses
import io
import json
import math
import os
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from PIL import ImageDraw

from coursepkg.files import part_of, whole_file
from coursepkg.projects.sign_language.data.clip import Clip
from coursepkg.projects.sign_language.data.video_file import import_av
from coursepkg.projects.sign_language.synthetic.figure import figure
from coursepkg.projects.sign_language.synthetic.motion import (
    Pose,
    draw_timing,
    make_pose,
)
from coursepkg.projects.sign_language.synthetic.room import (
    ROOM,
    CameraMove,
    draw_background,
    draw_camera,
    draw_camera_move,
    draw_light,
)
from coursepkg.projects.sign_language.synthetic.signer import (
    PAIR_WORDS,
    WORDS,
    Sign,
    Signer,
    SignersConfig,
    make_signer,
)
from coursepkg.validation import check_count

Fault = Literal["", "solid", "frozen", "duplicate"]
"""What may be wrong with a clip: nothing, a run in one colour, a frame that stands
still, or that it is a copy."""
COLOURS = ((0, 0, 0), (255, 255, 255), (250, 214, 20), (16, 40, 200))
"""Black, white, yellow and blue: those of the contest's broken clips."""
LEAST_SIGNED = 6
"""Frames that at least stay for the word."""


@dataclass(frozen=True)
class Gap:
    """A run of broken frames within a clip."""

    begin: int
    """Frames before it."""
    length: int
    """Its frames; 0 where the clip is whole."""
    colour: tuple[int, int, int] | None
    """Of all its pixels; without one, the frame before it stands still."""


def draw_gap(
    fault: Literal["solid", "frozen"], n_frames: int, rng: np.random.Generator
) -> Gap:
    """Where a clip is broken.

    Two of three runs in one colour are 25 to 42% of the clip and the third is 62 to
    75%, as far as `LEAST_SIGNED` frames stay: the two heaps that the contest's data
    have. A frame stands still for 25 to 50%.

    Args:
        fault: what is wrong.
        n_frames: of the whole clip.
        rng: where chance comes from.
    """
    heavy = fault == "solid" and rng.random() < 1 / 3
    low, high = (0.62, 0.75) if heavy else (0.25, 0.42 if fault == "solid" else 0.5)
    length = min(round(rng.uniform(low, high) * n_frames), n_frames - LEAST_SIGNED)
    # A frame can stand only once there is one.
    begin = int(rng.integers(0 if fault == "solid" else 1, n_frames - length + 1))
    colour = COLOURS[int(rng.integers(len(COLOURS)))] if fault == "solid" else None
    return Gap(begin, length, colour)


def fill_gap(frames: np.ndarray, gap: Gap) -> np.ndarray:
    """The frames with the gap between them.

    Args:
        frames: uint8 (T, height, width, 3).
        gap: which may be empty.

    Returns:
        uint8 (T + gap.length, height, width, 3).
    """
    if not gap.length:
        return frames
    filling = np.empty((gap.length, *frames.shape[1:]), np.uint8)
    filling[:] = (
        frames[gap.begin - 1] if gap.colour is None else np.array(gap.colour, np.uint8)
    )
    return np.concatenate([frames[: gap.begin], filling, frames[gap.begin :]])


@dataclass(frozen=True)
class PlannedClip:
    """One file that is to be written."""

    word: str
    signer: int
    number: int
    """Of the clip among those of its seed."""
    fault: Fault
    """What is wrong with it."""
    original: int
    """Number of the clip that this one repeats; its own where it repeats none."""

    @property
    def file(self) -> str:
        """Name of its file in the folder of its word."""
        return f"{self.number:05}.mp4"

    @property
    def is_second_hand(self) -> bool:
        """Whether the clip is a brightened and re-encoded copy.

        The other copies are exact.
        """
        return self.fault == "duplicate" and self.number % 2 == 1


def clip_counts(config: SignersConfig) -> dict[str, int]:
    """How many clips each word has.

    For word i of n with x = i / (n - 1):

        count = least + (most - least) (1 - x^2.6)^2.2

    With the default 24 words and 4 to 60 clips, 10 words (42%) have 50 and more, 7
    (29%) 20 to 49 and 7 (29%) fewer; of the contest's 100 words these were 42, 27 and
    31%.
    """
    words = list(config.vocabulary)
    least, span = config.least_clips, config.most_clips - config.least_clips
    shares = [(1 - (i / (len(words) - 1)) ** 2.6) ** 2.2 for i in range(len(words))]
    return {
        word: least + round(span * share)
        for word, share in zip(words, shares, strict=True)
    }


def plan_clips(
    seed: int, config: SignersConfig | None = None
) -> tuple[PlannedClip, ...]:
    """Plan all clips of a data set, in the order of their numbers.

    The plan depends on `seed` and `config` alone.

    The first `whole_clips` clips of a word have no fault. The others have each fault as
    often as its rate of all clips, rounded, as long as there are enough of them. A
    duplicate repeats an earlier clip of its word that has no fault, and has its signer.

    Args:
        seed: from 0; another seed has other signers, rooms and faults.
        config: words, signers and rates.
    """
    check_count("seed", seed, 0)
    config = config or SignersConfig()
    places = [
        (word, turn)
        for word, count in clip_counts(config).items()
        for turn in range(count)
    ]
    rng = np.random.Generator(np.random.PCG64([6, seed]))
    # The numbers are dealt out at random, or they would tell the word.
    numbers = rng.permutation(len(places)).tolist()
    faults = _draw_faults([turn for _, turn in places], config, rng)
    planned: dict[str, list[PlannedClip]] = {}
    for (word, turn), number, fault in zip(places, numbers, faults, strict=True):
        whole = [clip for clip in planned.setdefault(word, []) if not clip.fault]
        signer, original = turn % config.signers, number
        if fault == "duplicate":
            repeated = whole[int(rng.integers(len(whole)))]
            signer, original = repeated.signer, repeated.number
        planned[word].append(PlannedClip(word, signer, number, fault, original))
    return tuple(
        sorted(
            (clip for clips in planned.values() for clip in clips),
            key=lambda clip: clip.number,
        )
    )


def _draw_faults(
    turns: Sequence[int], config: SignersConfig, rng: np.random.Generator
) -> list[Fault]:
    """The fault of every clip, given how many of its word come before it."""
    faults: list[Fault] = [""] * len(turns)
    free = [i for i, turn in enumerate(turns) if turn >= config.whole_clips]
    order = iter(rng.permutation(len(free)).tolist())
    kinds: tuple[tuple[Fault, float], ...] = (
        ("solid", config.solid),
        ("frozen", config.frozen),
        ("duplicate", config.duplicate),
    )
    for fault, rate in kinds:
        # Half a clip counts as one, whatever the parity.
        for _ in range(math.floor(rate * len(turns) + 0.5)):
            place = next(order, None)
            if place is not None:
                faults[free[place]] = fault
    return faults


BRIGHTER = 6
"""Gray levels of 255 that copies from a second hand gain."""


def draw_clip(
    word: str,
    signer: int,
    seed: int,
    number: int,
    config: SignersConfig | None = None,
    *,
    fault: Fault = "",
) -> Clip:
    """Clip `number` of a seed: a function of these arguments alone, in any process.

    Length, room, light, camera and speed follow from seed, number and signer; the word
    decides nothing but the motion.

    Args:
        word: one of `WORDS` or `PAIR_WORDS`.
        signer: number of who signs it, from 0.
        seed: from 0.
        number: from 0.
        config: size and length.
        fault: `solid` puts a run of frames in one colour into the clip, `frozen` lets
            one frame stand; the word is signed in the frames that are left, so nothing
            of it is lost. A `duplicate` is a clip like any other.

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
    move = None
    if config.moving_camera:
        move = draw_camera_move(n_signed, _chance(7, seed, number))
    pictures = _paint(pose, person, config.size, _chance(5, seed, number), move)
    return Clip(
        fill_gap(pictures, gap),
        np.arange(n_frames) / config.fps,
        word,
        person.name,
        f"synthetic:{seed}:{number}",
    )


def draw_planned(
    clip: PlannedClip, seed: int, config: SignersConfig | None = None
) -> Clip:
    """Draw a clip of a data set's plan, with its fault.

    A copy with an odd number is `BRIGHTER` gray levels brighter than its original.
    """
    drawn = draw_clip(
        clip.word, clip.signer, seed, clip.original, config, fault=clip.fault
    )
    frames = drawn.frames
    if clip.is_second_hand:
        frames = np.minimum(frames, 255 - BRIGHTER) + np.uint8(BRIGHTER)
    return dataclasses.replace(
        drawn, frames=frames, name=f"synthetic:{seed}:{clip.number}"
    )


def clip_pose(
    word: str, signer: int, seed: int, number: int, config: SignersConfig | None = None
) -> Pose:
    """Return the hands in every frame of the clip without its fault.

    They tell where and when a model should look.
    """
    config = config or SignersConfig()
    n_frames = clip_length(seed, number, config)
    person = make_signer(seed, signer, config)
    return _pose(sign_of(word), person, n_frames, _chance(4, seed, number))


def sign_of(word: str) -> Sign:
    """How a word is signed; a ValueError names the words there are."""
    known = WORDS | PAIR_WORDS
    if word not in known:
        raise ValueError(
            f"no generated signer knows the word {word!r}; choose from"
            f" {', '.join(known)}"
        )
    return known[word]


def clip_length(seed: int, number: int, config: SignersConfig) -> int:
    """Draw the number of frames of a clip, which does not depend on the word.

    A share of `full_length` has `most_frames`, as most clips of the contest have; the
    others are evenly spread over all lengths.
    """
    rng = _chance(2, seed, number)
    if rng.random() < config.full_length:
        return config.most_frames
    return int(rng.integers(config.least_frames, config.most_frames + 1))


def clip_gap(seed: int, number: int, config: SignersConfig, fault: Fault) -> Gap:
    """Find where the frames of a clip are broken.

    The gap is empty unless the fault is `solid` or `frozen`.
    """
    if fault == "" or fault == "duplicate":
        return Gap(0, 0, None)
    return draw_gap(fault, clip_length(seed, number, config), _chance(3, seed, number))


def _chance(purpose: int, seed: int, number: int) -> np.random.Generator:
    """A generator for each purpose, so that none shifts what another draws."""
    return np.random.Generator(np.random.PCG64([purpose, seed, number]))


def _pose(sign: Sign, signer: Signer, n_frames: int, rng: np.random.Generator) -> Pose:
    return make_pose(sign, signer, draw_timing(signer, rng), n_frames, rng)


def _paint(
    pose: Pose,
    signer: Signer,
    size: int,
    rng: np.random.Generator,
    move: CameraMove | None = None,
) -> np.ndarray:
    """Draw the frames, uint8 (T, size, size, 3).

    They are drawn larger and averaged down so that edges are smooth.
    """
    n_frames = len(pose.head)
    finer = 2 if size >= 128 else 4
    camera = draw_camera(signer, n_frames, rng)
    light = draw_light(size, rng)
    wide = finer * size
    room = draw_background(wide if move is None else round(ROOM * wide), rng)
    parts = []
    for part in figure(pose, signer):
        points = camera.place(part.points, wide)
        if move is not None:
            points = move.moved(points, wide)
        parts.append((part.colour, points.reshape(n_frames, -1).tolist()))
    frames = np.empty((n_frames, size, size, 3), np.uint8)
    for number in range(n_frames):
        image = room.copy() if move is None else move.seen(room, number, wide)
        pen = ImageDraw.Draw(image)
        for colour, outlines in parts:
            pen.polygon(outlines[number], fill=colour)
        frames[number] = light.shine(np.asarray(image.reduce(finer)), rng)
    return frames


COLUMNS = ("path", "label", "signer", "group", "fault", "broken")
CARD = "generator.json"
"""Says what the folder was generated from, so that a run goes on with its own clips
only."""
CRF = 23
"""How tightly H.264 packs, from 0 (nothing is lost) to 51; its own default."""


def write_signers(
    folder: str | Path,
    seed: int = 0,
    config: SignersConfig | None = None,
    *,
    log: Callable[[str], None] = lambda line: None,
) -> Path:
    """Write all clips of a seed with their tables.

    A folder that has them already is left as it is.

    Args:
        folder: where to.
        seed: from 0; another seed has other people, so its clips can test a model
            trained on these.
        config: what is generated.
        log: receives a line now and then.

    Returns:
        the folder.

    Raises:
        ValueError: the folder has something else in it.
        OSError: a file cannot be written; the message names it.
        ImportError: av is not installed.
    """
    folder, config = Path(folder), config or SignersConfig()
    card = {"generator": "signers", "seed": seed, "config": config.described()}
    if folder.exists():
        _check_card(folder, card)
        return folder
    import_av("writing")
    part = part_of(folder)
    if part.exists():
        _check_card(part, card)
    _write_text(part / CARD, json.dumps(card, indent=2, ensure_ascii=False) + "\n")
    clips = plan_clips(seed, config)
    for done, clip in enumerate(clips):
        path = part / "train" / clip.word / clip.file
        if not path.is_file():
            _write_clip(path, clip, seed, config)
        if done % 100 == 99:
            log(f"{done + 1} of {len(clips)} clips")
    _write_tables(part, clips, seed, config)
    os.replace(part, folder)
    return folder


def write_video(
    path: str | Path, frames: np.ndarray, fps: int, *, crf: int = CRF
) -> None:
    """Write frames as an mp4 file: H.264, 4:2:0.

    One thread encodes them, so that the same frames give the same bytes.

    Args:
        path: of the file, which appears whole or not at all.
        frames: RGB, uint8 (T, height, width, 3), both sides multiples of 32.
        fps: frames a second.
        crf: how tightly, as `CRF`.

    Raises:
        OSError: the file cannot be written; the message names it.
        ImportError: av is not installed.
    """
    av = import_av("writing")
    with whole_file(path) as file, av.open(file, "w", format="mp4") as container:
        # With its tree of macroblocks x264 gives other bytes once in some hundred times
        # for the same small frames.
        options = {"crf": str(crf), "preset": "veryfast", "x264-params": "mbtree=0"}
        stream = container.add_stream("libx264", rate=fps, options=options)
        stream.height, stream.width = frames.shape[1:3]
        stream.pix_fmt = "yuv420p"
        stream.codec_context.thread_count = 1
        for number, picture in enumerate(frames):
            frame = av.VideoFrame.from_ndarray(picture, format="rgb24").reformat(
                format="yuv420p"
            )
            frame.pts = number
            container.mux(stream.encode(frame))
        container.mux(stream.encode())


def _write_clip(
    path: Path, clip: PlannedClip, seed: int, config: SignersConfig
) -> None:
    frames = draw_planned(clip, seed, config).frames
    crf = CRF + 6 if clip.is_second_hand else CRF
    write_video(path, frames, config.fps, crf=crf)


def _write_tables(
    folder: Path, clips: Sequence[PlannedClip], seed: int, config: SignersConfig
) -> None:
    mapping = {
        word: number
        for number, word in enumerate(sorted({clip.word for clip in clips}))
    }
    with whole_file(folder / "label_mapping.pkl") as file:
        pickle.dump(mapping, file, protocol=4)
    _write_text(
        folder / "label_mapping.json",
        json.dumps(mapping, indent=2, ensure_ascii=False) + "\n",
    )
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for clip in clips:
        signer = make_signer(seed, clip.signer, config).name
        path = f"train/{clip.word}/{clip.file}"
        group = f"s{seed}-{clip.original:05}"
        broken = clip_gap(seed, clip.number, config, clip.fault).length
        writer.writerow((path, clip.word, signer, group, clip.fault, broken))
    _write_text(folder / "signers.csv", text.getvalue())


def _write_text(path: Path, text: str) -> None:
    with whole_file(path) as file:
        file.write(text.encode())


def _check_card(folder: Path, card: dict[str, object]) -> None:
    """Raise a ValueError unless the folder was generated from the same numbers.

    The folder may be finished or only partly written.
    """
    try:
        found = json.loads((folder / CARD).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        found = None
    if found != card:
        raise ValueError(
            f"{folder}: holds something other than the generated signers of seed"
            f" {card['seed']} with these settings; give another folder, or remove"
            " this one"
        )
