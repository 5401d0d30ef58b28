"""What is generated: sizes, words, who signs, and the room, all drawn from a seed.

The motions were made up for this course. They are no signs of Vietnamese Sign Language
and nobody should learn them as such; they pose the same questions to a model: some
words differ in place only, some in the shape of the hand, some in the order of time.

Distances are in heads of the signer (chin to crown is 1). The origin is the middle of
the line of the shoulders, x leads outwards on the side of the signing hand, y upwards:
a left-handed signer mirrors every word by itself.
"""

import colorsys
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from numpy.random import Generator
from PIL import ImageDraw

from coursepkg.validation import check_count, check_field, check_finite, flag_of

Path = Literal["move", "tap", "arc", "circle", "shake"]
OtherHand = Literal["rest", "mirror", "opposite", "base"]
Point = tuple[float, float]


@dataclass(frozen=True)
class Sign:
    """How one word is signed."""

    shapes: tuple[str, str]
    """Shape of the hand at the begin and at the end, of `hands.SHAPES`."""
    place: Point
    """Where the palm is: at the begin of a `move` or `arc`, in the middle of a `circle`
    or `shake`; of a `tap`, where the body is touched."""
    path: Path
    """`move` goes along a straight line and `arc` along a bow; `tap` comes from `by`
    and goes back; `circle` goes round; `shake` swings to both sides of the place."""
    by: Point
    """How far a path leads from the place; the two radii of a circle."""
    angles: tuple[int, int] = (0, 0)
    """Where the fingers point at the begin and at the end, in degrees: 0 up, 90 to the
    middle of the body, 180 down."""
    times: int = 1
    """How often the path is gone along, from 1."""
    other: OtherHand = "rest"
    """The second hand: hangs, does the same on its side, does it in turn with the
    first, or lies still below it."""
    swing: int = 0
    """Degrees by which the hand swings to both sides of its angle, twice in the course
    of the word."""
    head: int = 0
    """Degrees by which the head leans towards the signing hand."""
    back: bool = False
    """Whether the back of the hand is seen, so that the thumb is on the other side."""
    fixed_direction: bool = False
    """Whether the direction is one of the world: a left-handed signer does not mirror
    it."""
    reversed_time: bool = False
    """Whether the frames from raising to lowering the hands run backwards."""


WORDS: dict[str, Sign] = {
    "Xin chào": Sign(("flat", "flat"), (0.62, 0.95), "arc", (0.75, 0.1), (40, -30)),
    "Cảm ơn": Sign(("flat", "flat"), (0.15, 0.2), "move", (0.55, -0.95), (10, 60),
        back=True),
    "Tôi": Sign(("point", "point"), (0.5, -0.5), "tap", (0.5, -0.12), (85, 85),
        times=2, back=True),
    "Ăn": Sign(("pinch", "pinch"), (0.18, 0.2), "tap", (0.22, -0.7), (15, 15), times=2,
        back=True),
    "Uống": Sign(("cup", "cup"), (0.4, -0.25), "move", (-0.12, 0.55), (-15, 70)),
    "Đi": Sign(("two", "two"), (-0.35, -0.75), "move", (1.45, 0.1), (165, 165),
        swing=28, back=True),
    "Nhà": Sign(("flat", "flat"), (0.3, 0.55), "move", (0.85, -0.95), (42, 42),
        other="mirror"),
    "Mẹ": Sign(("spread", "spread"), (0.32, 0.12), "tap", (0.42, -0.18), (25, 25),
        times=2),
    "Bố": Sign(("spread", "spread"), (0.38, 1.05), "tap", (0.45, 0.12), (25, 25),
        times=2),
    "Không": Sign(("spread", "spread"), (0.9, -0.15), "shake", (0.42, 0.0), (0, 0),
        times=2, swing=18),
    "Có": Sign(("fist", "fist"), (0.85, -0.25), "shake", (0.0, 0.32), (5, 5), times=2),
    "Xin lỗi": Sign(("fist", "fist"), (0.25, -0.55), "circle", (0.4, 0.4), (60, 60),
        times=2, back=True),
    "Học": Sign(("spread", "pinch"), (0.15, -0.85), "move", (0.15, 1.85), (60, 20),
        other="base", back=True),
    "Ngủ": Sign(("flat", "flat"), (0.7, 0.35), "arc", (-0.12, 0.2), (35, 75), head=16),
    "Yêu": Sign(("fist", "fist"), (-0.32, -0.42), "shake", (0.1, 0.06), (55, 55),
        times=2, other="mirror", back=True),
    "Bên phải": Sign(("point", "point"), (0.6, -0.3), "move", (0.95, 0.15), (-15, -85),
        fixed_direction=True),
    "Bên trái": Sign(("point", "point"), (0.6, -0.3), "move", (-0.95, 0.15), (15, 85),
        fixed_direction=True),
    "Lớn": Sign(("flat", "flat"), (0.25, -0.5), "move", (1.1, 0.25), (10, -5),
        other="mirror"),
    "Vui": Sign(("flat", "flat"), (0.6, -0.5), "circle", (0.22, 0.38), (70, 70),
        times=2, other="mirror", back=True),
    "Buồn": Sign(("spread", "spread"), (0.38, 0.8), "move", (0.05, -1.3), (10, 25),
        other="mirror", head=6, back=True),
    "Nghĩ": Sign(("point", "point"), (0.72, 0.85), "circle", (0.18, 0.2), (50, 50),
        times=2),
    "Nhỏ": Sign(("flat", "flat"), (1.35, -0.25), "move", (-1.1, -0.25), (-5, 10),
        other="mirror"),
    "Xe đạp": Sign(
        ("fist", "fist"), (0.5, -0.95), "circle", (0.25, 0.38), (75, 75), times=2,
        other="opposite", back=True
    ),
    "Mưa": Sign(
        ("spread", "spread"), (0.85, 1.05), "move", (0.1, -1.0), (150, 150), times=2,
        other="mirror", back=True
    ),
}  # fmt: skip
"""The words in Unicode form NFC, the more frequent first, as the long tail of a data
set has them."""


FORWARD_SIGNS: dict[tuple[str, str], Sign] = {
    ("Cho", "Nhận"): Sign(("flat", "flat"), (0.3, -0.5), "move", (0.85, 0.55),
        (60, -10)),
    ("Mở", "Đóng"): Sign(("fist", "spread"), (0.2, 0.1), "move", (0.8, -0.25),
        (40, -15), other="mirror"),
    ("Lên", "Xuống"): Sign(("point", "point"), (0.75, -0.8), "move", (0.0, 1.6),
        (10, 10)),
    ("Vào", "Ra"): Sign(("flat", "flat"), (1.3, 0.25), "arc", (-1.15, -0.4), (20, 80),
        other="base", back=True),
    ("Đến", "Về"): Sign(("two", "two"), (1.3, -0.2), "arc", (-1.3, -0.1), (-20, 60)),
    ("Mua", "Bán"): Sign(("pinch", "flat"), (0.15, -0.75), "move", (0.7, 0.95),
        (70, 10), back=True),
}  # fmt: skip
"""Pairs of words that differ in the order of their motion alone, and how the first of
the two is signed; the second has the same frames backwards."""
ORDER_PAIRS: tuple[tuple[str, str], ...] = tuple(FORWARD_SIGNS)
PAIR_WORDS: dict[str, Sign] = {
    word: replace(sign, reversed_time=word == pair[1])
    for pair, sign in FORWARD_SIGNS.items()
    for word in pair
}
"""The words of all pairs, which only data sets with order pairs have."""


SHARES = ("full_length", "left_handed", "solid", "frozen", "duplicate")


@dataclass(frozen=True)
class SignersConfig:
    """The settings hold the sizes and rates of a generated data set.

    The defaults resemble the contest's training part.

    Raises:
        ValueError: a field is out of range; the message names its flag.
    """

    words: int = len(WORDS)
    """How many of the words are signed, the more frequent first; from 2 to all 24."""
    signers: int = 16
    """How many people sign; from 1."""
    most_clips: int = 60
    """Clips of the most frequent word; at least `least_clips`."""
    least_clips: int = 4
    """Clips of the rarest word; from 1. As many signers sign every word."""
    whole_clips: int = 4
    """So many clips of every word have no fault, at least; from 0, and from 1 where
    clips are repeated."""
    size: int = 224
    """Height and width of the pictures in pixels; a multiple of 32, from 32 to 512."""
    least_frames: int = 16
    """Frames of the shortest clip; from 12."""
    most_frames: int = 30
    """Frames of the longest clip; at least `least_frames`."""
    full_length: float = 0.7
    """Share of clips with `most_frames`, in [0, 1]; the others are evenly spread over
    all lengths."""
    fps: int = 12
    """Frames a second, from 1 to 60; 30 frames at 12 are the 2.5 seconds of the
    contest's clips."""
    left_handed: float = 0.125
    """Share of signers who sign with the left hand, in [0, 1], evenly spread over their
    numbers."""
    solid: float = 0.14
    """Share of clips with a run of frames in one colour, in [0, 1]; the contest's data
    have nearly 0.2 with faults."""
    frozen: float = 0.04
    """Share of clips in which one frame stands still for a quarter to a half of the
    clip, in [0, 1]."""
    duplicate: float = 0.06
    """Share of clips that repeat another one of their word, in [0, 1]; the three faults
    together are at most 1."""
    order_pairs: int = 0
    """How many of `ORDER_PAIRS` are signed besides the words, from 0 to all 6. Of a
    pair, both words have about as many clips."""
    moving_camera: bool = False
    """Whether the camera pans, zooms and shakes, in every clip in another way."""
    varied_people: bool = False
    """Whether people differ more in habit, amplitude, rhythm and speed."""

    def __post_init__(self) -> None:
        for name, least, most in (
            ("words", 2, len(WORDS)),
            ("signers", 1, None),
            ("least_clips", 1, None),
            ("most_clips", 1, None),
            ("size", 32, 512),
            ("whole_clips", 0, None),
            ("least_frames", 12, None),
            ("most_frames", 12, None),
            ("fps", 1, 60),
            ("order_pairs", 0, len(ORDER_PAIRS)),
        ):
            check_count(flag_of(name), getattr(self, name), least, most)
        # At other sizes the encoder was seen to make different files of the same
        # frames.
        check_field(self, "size", self.size % 32 == 0, "a multiple of 32")
        for name in ("clips", "frames"):
            lower, upper = getattr(self, f"least_{name}"), getattr(self, f"most_{name}")
            said = f"at least the least number, {lower}"
            check_field(self, f"most_{name}", lower <= upper, said)
        for name in SHARES:
            check_finite(flag_of(name), getattr(self, name))
            check_field(self, name, 0 <= getattr(self, name) <= 1, "in [0, 1]")
        enough = self.whole_clips >= int(self.duplicate > 0)
        check_field(self, "whole_clips", enough, "at least 1 where clips are repeated")
        together = self.solid + self.frozen + self.duplicate
        said = f"at most 1 together with frozen and duplicate ({together:g})"
        check_field(self, "solid", together <= 1, said)

    @property
    def vocabulary(self) -> dict[str, Sign]:
        """The words that are signed, the more frequent first.

        The pairs stand among the other words at even distances.
        """
        names = list(WORDS)[: self.words]
        pairs = ORDER_PAIRS[: self.order_pairs]
        for number in reversed(range(len(pairs))):
            at = (number + 1) * self.words // (len(pairs) + 1)
            names[at:at] = pairs[number]
        return {name: (WORDS | PAIR_WORDS)[name] for name in names}

    def described(self) -> dict[str, Any]:
        """The settings as JSON holds them.

        The fields from `order_pairs` on are left out where they have their defaults, so
        data sets that were generated before there were such fields keep their names.
        """
        later = ("order_pairs", "moving_camera", "varied_people")
        default = {one.name: one.default for one in fields(self)}
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in later or value != default[name]
        }

    def is_left_handed(self, signer: int) -> bool:
        """Whether a signer uses the left hand.

        With a share of 1/8 the signers of number 7, 15, 23 and so on do.
        """
        # A billionth more, so that 10 signers of a share of 0.1 count one and not
        # 0.9999.
        before, after = (
            int(number * self.left_handed + 1e-9) for number in (signer, signer + 1)
        )
        return after > before


Colour = tuple[int, int, int]
Pen = ImageDraw.ImageDraw

SKINS: tuple[Colour, ...] = (
    (244, 214, 190), (232, 190, 160), (214, 168, 132), (196, 148, 112), (172, 122, 88),
    (140, 96, 68), (102, 70, 52),
)  # fmt: skip
HAIRS: tuple[Colour, ...] = (
    (22, 18, 18), (34, 26, 22), (58, 40, 28), (88, 60, 38), (120, 112, 108),
    (150, 96, 44),
)  # fmt: skip
HAIR_STYLES = ("short", "parted", "long", "bun", "bald")
PATTERNS = ("plain", "plain", "stripes", "badge", "jacket")


@dataclass(frozen=True)
class Signer:
    """A signer is one person before the camera.

    Lengths are in heads (chin to crown), except for the scale and the camera.
    """

    name: str
    """Of this person and no other of any seed."""
    left_handed: bool
    """Whether the left hand leads."""
    scale: float
    """Height of the head as a share of the picture's."""
    shoulders: float
    """From the middle of the body to a shoulder's joint."""
    hips: float
    """From the middle of the body to a hip."""
    face: float
    """Width of the head."""
    arms: float
    """Length of the arms against the average."""
    limbs: float
    """Thickness of arms and fingers against the average."""
    hand: float
    """Length of a hand."""
    skin: Colour
    hair: Colour
    hair_style: str
    """One of `HAIR_STYLES`."""
    clothes: Colour
    accent: Colour
    """Second colour of the clothes."""
    pattern: str
    """One of `PATTERNS`."""
    long_sleeves: bool
    glasses: bool
    speed: float
    """How fast a word is signed; the hands rest for what is left of the clip."""
    amplitude: float
    """How far movements lead, against the average."""
    rhythm: float
    """Above 1 a word begins slowly and ends fast, below 1 the other way round."""
    habit: tuple[float, float]
    """How far this person's places lie from those of others."""
    camera: tuple[float, float]
    """How far the person stands from the middle, as a share of the picture."""


def make_signer(seed: int, number: int, config: SignersConfig | None = None) -> Signer:
    """Signer `number` of a seed: a function of the two, whatever was made before.

    Args:
        seed: from 0.
        number: from 0, also beyond the number of signers of the configuration.
        config: its share of left-handed signers is used.
    """
    check_count("seed", seed, 0)
    check_count("signer", number, 0)
    config = config or SignersConfig()
    rng = np.random.Generator(np.random.PCG64([1, seed, number]))
    shoulders = float(rng.uniform(0.8, 1.02))
    clothes = vivid(rng)
    signer = Signer(
        name=f"s{seed}-{number:02}",
        left_handed=config.is_left_handed(number),
        scale=float(rng.uniform(0.2, 0.235)),
        shoulders=shoulders,
        hips=shoulders * float(rng.uniform(0.78, 1.05)),
        face=float(rng.uniform(0.68, 0.8)),
        arms=float(rng.uniform(0.94, 1.06)),
        limbs=float(rng.uniform(0.88, 1.15)),
        hand=float(rng.uniform(0.74, 0.86)),
        # Neighbouring numbers differ in skin, so that any few signers of a split are a
        # mixture.
        skin=_near(SKINS[(number * 3 + seed) % len(SKINS)], rng),
        hair=_near(HAIRS[int(rng.integers(len(HAIRS)))], rng),
        hair_style=HAIR_STYLES[int(rng.choice(5, p=(0.3, 0.2, 0.27, 0.15, 0.08)))],
        clothes=clothes,
        accent=vivid(rng),
        pattern=PATTERNS[int(rng.integers(len(PATTERNS)))],
        long_sleeves=bool(rng.random() < 0.6),
        glasses=bool(rng.random() < 0.25),
        speed=float(rng.uniform(1.0, 1.3)),
        amplitude=float(rng.uniform(0.82, 1.15)),
        rhythm=float(rng.uniform(0.85, 1.18)),
        habit=(float(rng.normal(0, 0.04)), float(rng.normal(0, 0.04))),
        camera=(float(rng.uniform(-0.05, 0.05)), float(rng.uniform(-0.03, 0.03))),
    )
    return _varied(signer, seed, number) if config.varied_people else signer


def _varied(signer: Signer, seed: int, number: int) -> Signer:
    """The signer with ways of moving that lie further from those of others."""
    rng = np.random.Generator(np.random.PCG64([8, seed, number]))
    return replace(
        signer,
        speed=float(rng.uniform(1.0, 1.8)),
        amplitude=float(rng.uniform(0.65, 1.3)),
        rhythm=float(rng.uniform(0.65, 1.5)),
        habit=(float(rng.normal(0, 0.1)), float(rng.normal(0, 0.1))),
    )


def vivid(rng: Generator) -> Colour:
    """A colour of cloth or paint: any hue, from black to white."""
    red, green, blue = colorsys.hsv_to_rgb(
        rng.random(), rng.random() ** 1.3 * 0.85, rng.uniform(0.12, 0.95)
    )
    return round(red * 255), round(green * 255), round(blue * 255)


def shaded(colour: Colour, factor: float) -> Colour:
    """The colour darker (below 1) or lighter (above 1)."""
    red, green, blue = (min(255, round(part * factor)) for part in colour)
    return red, green, blue


def _near(colour: Colour, rng: Generator) -> Colour:
    red, green, blue = np.clip(
        np.array(colour) * rng.uniform(0.94, 1.05) + rng.normal(0, 3, 3), 0, 255
    ).round()
    return int(red), int(green), int(blue)
