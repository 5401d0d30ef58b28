"""The words and how they are signed: hand shape, place, path, both hands or one, written as data.

The motions were made up for this course. They are no signs of Vietnamese Sign Language and nobody should learn them as
such; they pose the same questions to a model: some words differ in place only, some in the shape of the hand, some in
the order of time.

Distances are in heads of the signer (chin to crown is 1). The origin is the middle of the line of the shoulders, x
leads outwards on the side of the signing hand, y upwards: a left-handed signer mirrors every word by itself.
"""

from dataclasses import dataclass
from typing import Literal

Path = Literal["move", "tap", "arc", "circle", "shake"]
OtherHand = Literal["rest", "mirror", "opposite", "base"]
Point = tuple[float, float]


@dataclass(frozen=True)
class Sign:
    """How one word is signed."""

    shapes: tuple[str, str]
    """Shape of the hand at the begin and at the end, of `hands.SHAPES`."""
    place: Point
    """Where the palm is: at the begin of a `move` or `arc`, in the middle of a `circle` or `shake`; of a `tap`, where
    the body is touched."""
    path: Path
    """`move` goes along a straight line and `arc` along a bow; `tap` comes from `by` and goes back; `circle` goes
    round; `shake` swings to both sides of the place."""
    by: Point
    """How far a path leads from the place; the two radii of a circle."""
    angles: tuple[int, int] = (0, 0)
    """Where the fingers point at the begin and at the end, in degrees: 0 up, 90 to the middle of the body, 180 down."""
    times: int = 1
    """How often the path is gone along, from 1."""
    other: OtherHand = "rest"
    """The second hand: hangs, does the same on its side, does it in turn with the first, or lies still below it."""
    swing: int = 0
    """Degrees by which the hand swings to both sides of its angle, twice in the course of the word."""
    head: int = 0
    """Degrees by which the head leans towards the signing hand."""
    back: bool = False
    """Whether the back of the hand is seen, so that the thumb is on the other side."""
    fixed_direction: bool = False
    """Whether the direction is one of the world: a left-handed signer does not mirror it."""


WORDS: dict[str, Sign] = {
    "Xin chào": Sign(("flat", "flat"), (0.62, 0.95), "arc", (0.75, 0.1), (40, -30)),
    "Cảm ơn": Sign(("flat", "flat"), (0.15, 0.2), "move", (0.55, -0.95), (10, 60), back=True),
    "Tôi": Sign(("point", "point"), (0.5, -0.5), "tap", (0.5, -0.12), (85, 85), times=2, back=True),
    "Ăn": Sign(("pinch", "pinch"), (0.18, 0.2), "tap", (0.22, -0.7), (15, 15), times=2, back=True),
    "Uống": Sign(("cup", "cup"), (0.4, -0.25), "move", (-0.12, 0.55), (-15, 70)),
    "Đi": Sign(("two", "two"), (-0.35, -0.75), "move", (1.45, 0.1), (165, 165), swing=28, back=True),
    "Nhà": Sign(("flat", "flat"), (0.3, 0.55), "move", (0.85, -0.95), (42, 42), other="mirror"),
    "Mẹ": Sign(("spread", "spread"), (0.32, 0.12), "tap", (0.42, -0.18), (25, 25), times=2),
    "Bố": Sign(("spread", "spread"), (0.38, 1.05), "tap", (0.45, 0.12), (25, 25), times=2),
    "Không": Sign(("spread", "spread"), (0.9, -0.15), "shake", (0.42, 0.0), (0, 0), times=2, swing=18),
    "Có": Sign(("fist", "fist"), (0.85, -0.25), "shake", (0.0, 0.32), (5, 5), times=2),
    "Xin lỗi": Sign(("fist", "fist"), (0.25, -0.55), "circle", (0.4, 0.4), (60, 60), times=2, back=True),
    "Học": Sign(("spread", "pinch"), (0.15, -0.85), "move", (0.15, 1.85), (60, 20), other="base", back=True),
    "Ngủ": Sign(("flat", "flat"), (0.7, 0.35), "arc", (-0.12, 0.2), (35, 75), head=16),
    "Yêu": Sign(("fist", "fist"), (-0.32, -0.42), "shake", (0.1, 0.06), (55, 55), times=2, other="mirror", back=True),
    "Bên phải": Sign(("point", "point"), (0.6, -0.3), "move", (0.95, 0.15), (-15, -85), fixed_direction=True),
    "Bên trái": Sign(("point", "point"), (0.6, -0.3), "move", (-0.95, 0.15), (15, 85), fixed_direction=True),
    "Lớn": Sign(("flat", "flat"), (0.25, -0.5), "move", (1.1, 0.25), (10, -5), other="mirror"),
    "Vui": Sign(("flat", "flat"), (0.6, -0.5), "circle", (0.22, 0.38), (70, 70), times=2, other="mirror", back=True),
    "Buồn": Sign(("spread", "spread"), (0.38, 0.8), "move", (0.05, -1.3), (10, 25), other="mirror", head=6, back=True),
    "Nghĩ": Sign(("point", "point"), (0.72, 0.85), "circle", (0.18, 0.2), (50, 50), times=2),
    "Nhỏ": Sign(("flat", "flat"), (1.35, -0.25), "move", (-1.1, -0.25), (-5, 10), other="mirror"),
    "Xe đạp": Sign(
        ("fist", "fist"), (0.5, -0.95), "circle", (0.25, 0.38), (75, 75), times=2, other="opposite", back=True
    ),
    "Mưa": Sign(
        ("spread", "spread"), (0.85, 1.05), "move", (0.1, -1.0), (150, 150), times=2, other="mirror", back=True
    ),
}  # fmt: skip
"""The words in Unicode form NFC, the more frequent first, as the long tail of a data set has them."""
