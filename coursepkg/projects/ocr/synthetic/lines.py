"""Lines drawn on demand: `SyntheticLines(seed)[i]` is a function of seed and i alone, in any process and any order."""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from coursepkg.arguments import check_count
from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.synthetic.effects import EffectConfig, apply_effects, preset
from coursepkg.projects.ocr.synthetic.fonts import Face, complete_faces, matplotlib_faces, split_faces
from coursepkg.projects.ocr.synthetic.glyphs import LineStyle
from coursepkg.projects.ocr.synthetic.render import draw_line
from coursepkg.projects.ocr.synthetic.texts import LineTexts, TextConfig


@dataclass(frozen=True)
class LineConfig:
    """What lines say, how they are written and what happens to them."""

    texts: TextConfig = field(default_factory=TextConfig)
    """What lines say."""
    clean: float = 0.15
    """Weight of lines without any effect, at least 0."""
    screen: float = 0.35
    """Weight of lines as a page rendered or scanned has them, at least 0."""
    photo: float = 0.5
    """Weight of lines as a photograph has them, at least 0."""
    least_size: int = 14
    """Smallest size of the letters, in pixels, at least 8."""
    most_size: int = 44
    """Largest size of the letters, in pixels, at most 200."""
    varied: bool = True
    """Whether width, spacing, weight and surroundings of the letters differ from line to line."""

    def __post_init__(self) -> None:
        check_count("least_size", self.least_size, 8, 200)
        check_count("most_size", self.most_size, self.least_size, 200)
        weights = {
            f.name: getattr(self, f.name) for f in fields(self) if f.name in ("clean", "screen", "photo")
        }
        for name, weight in weights.items():
            if not 0 <= weight < float("inf"):
                raise ValueError(f"{name} must be a weight of at least 0, got {weight}")
        if not any(weights.values()):
            raise ValueError("clean, screen, photo: at least one weight must be above 0, got only zeros")


def by_family(faces: Sequence[Face]) -> dict[str, tuple[Face, ...]]:
    """The faces of each family, families in the order of their names."""
    families: dict[str, list[Face]] = {}
    for face in sorted(faces, key=lambda face: (face.family, face.style)):
        families.setdefault(face.family, []).append(face)
    return {family: tuple(of_it) for family, of_it in families.items()}


class SyntheticLines:
    """A sequence of drawn lines without an end.

    Families are equally likely, however many faces each has. A face is taken only for a text that it covers; an
    incomplete one serves for what is written in ASCII.

    Example:
        >>> lines = SyntheticLines(7, config=LineConfig(texts=TextConfig(sentences=0.0)))
        >>> lines[3].text == lines[3].text
        True
    """

    def __init__(
        self, seed: int, *, faces: Sequence[Face] | None = None, config: LineConfig | None = None
    ) -> None:
        """Draws with these faces; by default with those of matplotlib that are for training.

        Raises:
            ValueError: no face is complete, or the seed is below 0.
        """
        check_count("seed", seed, 0)
        self.seed = seed
        self.config = config or LineConfig()
        self.faces = tuple(split_faces(matplotlib_faces())[0] if faces is None else faces)
        self._families = by_family(self.faces)
        self._complete = by_family(complete_faces(self.faces))
        self._texts = LineTexts(self.config.texts)
        self._effects = [preset(name) for name in ("clean", "screen", "photo")]
        self._weights = [self.config.clean, self.config.screen, self.config.photo]

    def __getitem__(self, number: int) -> TextLine:
        """Line number 0, 1, 2, ... without end."""
        dice, text, face = self._begun(number)
        style = self.style(face or self._any_complete(dice), text, dice)
        around = ("", "") if not style.neighbours else (self._texts.draw(dice), self._texts.draw(dice))
        ink = draw_line(text, style, dice.getrandbits(64), around)
        rng = np.random.Generator(np.random.PCG64(dice.getrandbits(64)))
        effects: EffectConfig = dice.choices(self._effects, self._weights)[0]
        image = apply_effects(ink, effects, rng)
        return TextLine(image, text, *self.place(number))

    def text(self, number: int) -> str:
        """What a line says, without drawing it."""
        return self._begun(number)[1]

    def place(self, number: int) -> tuple[str, str]:
        """Group and name of a line."""
        return f"synthetic:{self.seed}:{number}", f"synthetic seed {self.seed} line {number}"

    def _begun(self, number: int) -> tuple[random.Random, str, Face | None]:
        """The dice of a line after its text and its face were drawn; no face where none has every sign."""
        check_count("number", number, 0)
        dice = random.Random(f"{self.seed}:{number}")
        text = self._texts.draw(dice)
        face = self._face(text, dice)
        return dice, text if face else self._reduced(text), face

    def _any_complete(self, dice: random.Random) -> Face:
        return dice.choice(self._complete[dice.choice(tuple(self._complete))])

    def _face(self, text: str, dice: random.Random) -> Face | None:
        for _ in range(4):
            face = dice.choice(self._families[dice.choice(tuple(self._families))])
            # Beyond ASCII, incomplete faces were drawn for other languages; one has the bar of Đ above the letter.
            if not face.missing(text) and (face.is_complete or text.isascii()):
                return face
        fitting = [face for faces in self._complete.values() for face in faces if not face.missing(text)]
        return dice.choice(fitting) if fitting else None

    def _reduced(self, text: str) -> str:
        # No face has every sign of the text, such as ₫: what no complete face writes is left out of the text, too.
        common = frozenset.intersection(
            *(face.characters for faces in self._complete.values() for face in faces)
        )
        return " ".join("".join(c for c in text if c in common).split()) or "0"

    def style(self, face: Face, text: str, dice: random.Random) -> LineStyle:
        """A way of writing a text in a face."""
        size = round(np.exp(dice.uniform(np.log(self.config.least_size), np.log(self.config.most_size))))
        if not self.config.varied:
            return LineStyle(face=face, size=size)
        family = [
            f for f in self._families[face.family] if f is not face and not f.missing(text) and f.is_complete
        ]
        words = text.count(" ") + 1
        is_mixed = bool(family) and words > 2 and dice.random() < 0.1
        begin = dice.randrange(1, words) if is_mixed else 0
        slack = size // 4 + 1
        # Below the baseline little stands, so a cut there costs no letter; above, it could cost a mark.
        margins = (
            dice.randint(0, 2 * slack),
            dice.randint(-1, slack),
            dice.randint(0, 2 * slack),
            dice.randint(-1, slack),
        )
        return LineStyle(
            face=face,
            size=size,
            second_face=dice.choice(family) if is_mixed else None,
            second_from=begin,
            second_until=dice.randrange(begin + 1, words)
            if begin and words > begin + 1 and dice.random() < 0.5
            else 0,
            tracking=_tracking(size, dice),
            word_space=dice.uniform(0.7, 3.0) if dice.random() < 0.2 else 1.0,
            jitter=dice.uniform(0.2, 0.8) if dice.random() < 0.05 else 0.0,
            stretch=dice.uniform(0.62, 1.3) if dice.random() < 0.4 else 1.0,
            weight=dice.choice((-1, 1, 1)) if dice.random() < 0.15 and size > 20 else 0,
            margins=margins,
            rule=dice.choices(("none", "underline", "dotted", "table", "boxes"), (86, 4, 3, 4, 3))[0],
            neighbours=dice.random() if dice.random() < 0.2 else 0.0,
            dots=dice.uniform(0.02, 0.25) if dice.random() < 0.1 else 0.0,
            # Sixteen pins to the height of a line keep marks apart; fewer would not.
            pitch=max(2, size // 14) if size >= 26 and dice.random() < 0.05 else 0,
        )


def _tracking(size: int, dice: random.Random) -> float:
    """Mostly none; else a part of the size, as where a line is set to fill its column, or wide as in titles."""
    chance = dice.random()
    if chance < 0.75:
        return 0.0
    return size * (dice.uniform(-0.05, 0.08) if chance < 0.95 else dice.uniform(0.08, 0.22))
