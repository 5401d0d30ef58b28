"""Who signs: body, skin, hair, clothes and habits, all drawn from the seed and the signer's number."""

import colorsys
from dataclasses import dataclass

import numpy as np

from coursepkg.arguments import check_count
from coursepkg.projects.sign_language.synthetic.config import SignersConfig

Colour = tuple[int, int, int]

SKINS: tuple[Colour, ...] = (
    (244, 214, 190), (232, 190, 160), (214, 168, 132), (196, 148, 112), (172, 122, 88), (140, 96, 68), (102, 70, 52),
)  # fmt: skip
HAIRS: tuple[Colour, ...] = (
    (22, 18, 18),
    (34, 26, 22),
    (58, 40, 28),
    (88, 60, 38),
    (120, 112, 108),
    (150, 96, 44),
)
HAIR_STYLES = ("short", "parted", "long", "bun", "bald")
PATTERNS = ("plain", "plain", "stripes", "badge", "jacket")


@dataclass(frozen=True)
class Signer:
    """One person before the camera. Lengths are in heads (chin to crown), but for the scale and the camera."""

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
    rng = np.random.Generator(np.random.PCG64([1, seed, number]))
    shoulders = float(rng.uniform(0.8, 1.02))
    clothes = vivid(rng)
    return Signer(
        name=f"s{seed}-{number:02}",
        left_handed=(config or SignersConfig()).is_left_handed(number),
        scale=float(rng.uniform(0.2, 0.235)),
        shoulders=shoulders,
        hips=shoulders * float(rng.uniform(0.78, 1.05)),
        face=float(rng.uniform(0.68, 0.8)),
        arms=float(rng.uniform(0.94, 1.06)),
        limbs=float(rng.uniform(0.88, 1.15)),
        hand=float(rng.uniform(0.74, 0.86)),
        # Neighbouring numbers differ in skin, so that any few signers of a split are a mixture.
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


def vivid(rng: np.random.Generator) -> Colour:
    """A colour of cloth or paint: any hue, from black to white."""
    red, green, blue = colorsys.hsv_to_rgb(rng.random(), rng.random() ** 1.3 * 0.85, rng.uniform(0.12, 0.95))
    return round(red * 255), round(green * 255), round(blue * 255)


def shaded(colour: Colour, factor: float) -> Colour:
    """The colour darker (below 1) or lighter (above 1)."""
    red, green, blue = (min(255, round(part * factor)) for part in colour)
    return red, green, blue


def _near(colour: Colour, rng: np.random.Generator) -> Colour:
    red, green, blue = np.clip(
        np.array(colour) * rng.uniform(0.94, 1.05) + rng.normal(0, 3, 3), 0, 255
    ).round()
    return int(red), int(green), int(blue)
