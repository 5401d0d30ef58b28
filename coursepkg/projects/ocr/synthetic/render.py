"""One line of text as ink on white: face, size, spacing, weight, rules, a loose crop.

`SyntheticLines(seed)[i]` is a function of seed and i alone, in any process and any
order. What a camera does to a line comes later (`effects`). Tables whose photographs
are not to be had are drawn as well: their own texts, in their own polygons; a score on
such pictures says so.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from PIL import Image

from coursepkg.projects.ocr.data.geometry import (
    homography,
    perspective,
    projected,
    rectangle,
    sides,
)
from coursepkg.projects.ocr.data.mc_ocr import quarters, read_instance
from coursepkg.projects.ocr.data.table_row import Instance, Receipt, instance_name
from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.synthetic import effects
from coursepkg.projects.ocr.synthetic.effects import EffectConfig, apply_effects, preset
from coursepkg.projects.ocr.synthetic.fonts import (
    Face,
    Ink,
    LineStyle,
    check_covers,
    complete_faces,
    matplotlib_faces,
    place,
    split_faces,
    stamp,
)
from coursepkg.projects.ocr.synthetic.texts import LineTexts, TextConfig
from coursepkg.text.vietnamese import without_marks
from coursepkg.validation import check_count, check_share


def draw_line(
    text: str, style: LineStyle, seed: int | str = 0, around: Sequence[str] = ("", "")
) -> np.ndarray:
    """The line in black on white.

    Args:
        text: what the line says; every character must be in the face.
        style: how it is written.
        seed: of what is left to chance within a style.
        around: texts of the lines above and below, seen where `style.neighbours` is
            above 0.

    Returns:
        uint8 (height, width).

    Raises:
        ValueError: the text is empty or blank, or a face lacks one of its characters.
    """
    if not text.strip():
        raise ValueError(
            f"text: got {text!r}, needs at least one character that is no space"
        )
    for face in (style.face, style.second_face):
        if face is not None:
            check_covers(face, text)
    dice = random.Random(f"{seed}")
    placed, words = place(text, style, dice)
    x0, y0 = min(x for _, x, _ in placed), min(y for _, _, y in placed)
    x1 = max(x + ink.shape[1] for ink, x, _ in placed)
    y1 = max(y + ink.shape[0] for ink, _, y in placed)
    left, above, right, below = style.margins
    left += 2 * (style.rule == "table")
    right += style.size * 3 * (style.rule == "dotted")
    # Room around the crop, so that a negative margin cuts and a neighbour can stand
    # outside.
    room = 2 * style.size
    size = y1 - y0 + 2 * room, x1 - x0 + 2 * room + max(0, right)
    canvas = np.zeros(size, np.uint8)
    stamp(canvas, placed, room - x0, room - y0)
    if style.neighbours > 0:
        _draw_neighbours(canvas, around, style, dice, (room - x0, room - y0, y1 - y0))
    box = (room - left, room - above, room + x1 - x0 + right, room + y1 - y0 + below)
    _draw_rule(canvas, style, words, (room - x0, room - y0), box, dice)
    rows = slice(max(0, box[1]), max(box[3], box[1] + 4))
    columns = slice(max(0, box[0]), max(box[2], box[0] + 4))
    return 255 - _finish(canvas[rows, columns], style, dice)


def _draw_neighbours(
    canvas: Ink,
    around: Sequence[str],
    style: LineStyle,
    dice: random.Random,
    at: tuple[int, int, int],
) -> None:
    x, y, height = at
    # Lines set as close as their ink allows show their hooks and descenders in one
    # another's crops.
    pitch = round(height + style.size * (0.35 - 0.45 * style.neighbours))
    for text, step in zip(around, (-pitch, pitch), strict=True):
        usable = "".join(c for c in text if c in style.face.characters)
        if usable.strip():
            placed, _ = place(usable, style, dice)
            stamp(canvas, placed, x, y + step)


def _draw_rule(
    canvas: Ink,
    style: LineStyle,
    words: list[tuple[int, int]],
    pen: tuple[int, int],
    box: tuple[int, int, int, int],
    dice: random.Random,
) -> None:
    thick = max(1, style.size // 16)
    x, baseline = pen
    if style.rule == "underline":
        y = baseline + max(2, style.size // 8)
        canvas[y : y + thick, x + words[0][0] : x + words[-1][1]] = 255
    elif style.rule == "dotted":
        y, step = baseline - thick, dice.randint(3, 3 + style.size // 4)
        for dot in range(x + words[-1][1] + style.size // 3, box[2], step):
            canvas[y : y + thick + 1, dot : dot + thick + 1] = 255
    elif style.rule == "table":
        sides = dice.randint(1, 15)
        for bit, rows, columns in (
            (1, slice(None), slice(box[0], box[0] + thick)),
            (2, slice(None), slice(box[2] - thick, box[2])),
            (4, slice(box[1], box[1] + thick), slice(None)),
            (8, slice(box[3] - thick, box[3]), slice(None)),
        ):
            if sides & bit:
                canvas[rows, columns] = 255
    elif style.rule == "boxes":
        ink, top, bottom = dice.randint(110, 220), max(0, box[1] + 1), box[3] - 2
        for begin, end in words:
            left, right = x + begin - 2, x + end + 1
            for rows, columns in (
                (slice(top, top + thick), slice(left, right)),
                (slice(bottom, bottom + thick), slice(left, right)),
                (slice(top, bottom), slice(left, left + thick)),
                (slice(top, bottom), slice(right, right + thick)),
            ):
                np.maximum(canvas[rows, columns], ink, out=canvas[rows, columns])


def _finish(ink: Ink, style: LineStyle, dice: random.Random) -> Ink:
    if style.weight:
        ink = _heavier(ink) if style.weight > 0 else 255 - _heavier(255 - ink)
    if style.pitch:
        ink = strike_pins(ink, style.pitch, is_square=style.square_pins)
    if style.dots:
        noise = np.random.default_rng(dice.getrandbits(32))
        gone = noise.random(ink.shape, np.float32) < style.dots
        rows = noise.random((ink.shape[0], 1)) < style.dots / 2
        gone |= rows & (noise.random(ink.shape, np.float32) < 0.7)
        ink = np.where(gone, ink // 3, ink)
    if style.dead_columns:
        noise = np.random.default_rng(dice.getrandbits(32))
        ink = np.where(noise.random(ink.shape[1]) < style.dead_columns, 0, ink)
    if style.stretch != 1:
        size = max(4, round(ink.shape[1] * style.stretch)), ink.shape[0]
        ink = np.asarray(Image.fromarray(ink).resize(size, Image.Resampling.BILINEAR))
    return np.ascontiguousarray(ink)


def strike_pins(ink: Ink, pitch: int, *, is_square: bool = False) -> Ink:
    """The ink as pins strike it: a dot where a third of a pin's square is ink.

    Args:
        ink: uint8 (height, width), 255 where there is ink.
        pitch: distance of the pins in pixels.
        is_square: whether a dot fills its square, as in a bitmap font.
    """
    height, width = (-(-side // pitch) for side in ink.shape)
    squares = np.zeros((height * pitch, width * pitch), np.float32)
    squares[: ink.shape[0], : ink.shape[1]] = ink
    struck = squares.reshape(height, pitch, width, pitch).mean(axis=(1, 3)) >= 255 / 3
    across = np.arange(pitch, dtype=np.float32) - (pitch - 1) / 2
    distance = np.hypot(across[:, None], across[None])
    dot = np.clip(0.5 * pitch + 0.3 - distance, 0, 1) * 255
    if is_square:
        dot[:] = 255
    return np.kron(struck, dot).astype(np.uint8)[: ink.shape[0], : ink.shape[1]]


def _heavier(ink: Ink) -> Ink:
    """Each pixel takes the most ink of itself and, by halves, of the four beside it."""
    wide = ink.copy()
    for axis in (0, 1):
        for step in (1, -1):
            moved = np.roll(ink, step, axis) // 2
            np.maximum(wide, moved, out=wide)
    return wide


@dataclass(frozen=True)
class NotDrawn:
    """An instance that could not be drawn."""

    image: str
    instance: int
    """Its number in the row, from 0; -1 for the receipt as a whole."""
    reason: str

    def __str__(self) -> str:
        return f"{instance_name(self.image, self.instance)}: {self.reason}"


def render_receipt(
    receipt: Receipt, seed: int = 0, faces: Sequence[Face] | None = None
) -> tuple[np.ndarray, list[NotDrawn]]:
    """One receipt of a table: a function of seed, file name and texts alone.

    Args:
        receipt: as `coursepkg.projects.ocr.data.table_row` reads it.
        seed: from 0.
        faces: to print with, one a receipt; by default the complete ones of matplotlib.

    Returns:
        uint8 (height, width) of the size that the table says, and the instances that
        are not in it.

    Raises:
        ValueError: no face is complete.
    """
    dice = random.Random(f"table:{seed}:{receipt.image}")
    rng = np.random.Generator(np.random.PCG64(dice.getrandbits(64)))
    face = dice.choice(complete_faces(matplotlib_faces() if faces is None else faces))
    ink = np.zeros((receipt.height, receipt.width), np.float32)
    left_out = []
    for one, quarter in zip(receipt.instances, quarters(receipt), strict=True):
        try:
            drawn = _drawn(one, quarter, face, ink.shape)
        except ValueError as reason:
            left_out.append(NotDrawn(receipt.image, one.number, str(reason)))
        else:
            np.maximum(ink, drawn, out=ink)
    picture = effects.ink_and_paper(255 - ink, rng, most=0.55)
    picture = effects.texture(picture, rng)
    for _ in range(rng.integers(0, 3)):
        picture = effects.fold(picture, rng, line_height=30.0)
    picture = effects.uneven_light(picture, rng)
    picture = effects.blur(picture, rng, strength=1.2 / receipt.height)
    picture = effects.noise(picture, rng, strength=10.0)
    return np.clip(np.rint(picture), 0, 255).astype(np.uint8), left_out


def _drawn(
    one: Instance, quarter: int, face: Face, shape: tuple[int, ...]
) -> np.ndarray:
    """Ink of one instance in the picture, float32 (height, width)."""
    corners = read_instance(one, quarter).corners
    if corners is None:
        raise ValueError(
            "the text runs over several lines, and the table does not say where each"
            " begins"
        )
    missing = face.missing(one.text)
    if missing:
        raise ValueError(f"no glyph for {missing!r} in {face.family} {face.style}")
    # Drawn a little larger than it will stand, so that the projection has something to
    # choose from.
    _, high = sides(corners)
    size = min(200, max(16, round(high * 1.2)))
    flat = draw_line(one.text, LineStyle(face=face, size=size, margins=(2, 2, 2, 2)))
    tall, wide = flat.shape
    perspective(corners, wide, tall)  # which checks the corners
    back = homography(corners, rectangle(0, 0, wide, tall))
    placed = projected(Image.fromarray(255 - flat), (shape[1], shape[0]), back)
    return np.asarray(placed, np.float32)


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
    """Whether width, spacing, weight and surroundings of the letters differ from line
    to line."""

    def __post_init__(self) -> None:
        check_count("least_size", self.least_size, 8, 200)
        check_count("most_size", self.most_size, self.least_size, 200)
        weights = {"clean": self.clean, "screen": self.screen, "photo": self.photo}
        for name, weight in weights.items():
            if not 0 <= weight < float("inf"):
                raise ValueError(f"{name} must be a weight of at least 0, got {weight}")
        if not any(weights.values()):
            raise ValueError(
                "clean, screen, photo: at least one weight must be above 0, got only"
                " zeros"
            )


def by_family(faces: Sequence[Face]) -> dict[str, tuple[Face, ...]]:
    """The faces of each family, families in the order of their names."""
    families: dict[str, list[Face]] = {}
    for face in sorted(faces, key=lambda face: (face.family, face.style)):
        families.setdefault(face.family, []).append(face)
    return {family: tuple(of_it) for family, of_it in families.items()}


class SyntheticLines:
    """A sequence of drawn lines without an end.

    Families are equally likely, however many faces each has. A face is taken only for a
    text that it covers; an incomplete one serves for what is written in ASCII.

    Example:
        >>> config = LineConfig(texts=TextConfig(sentences=0.0))
        >>> lines = SyntheticLines(7, config=config)
        >>> lines[3].text == lines[3].text
        True
    """

    def __init__(
        self,
        seed: int,
        *,
        faces: Sequence[Face] | None = None,
        config: LineConfig | None = None,
        printers: float = 0.0,
        unmarked: float = 0.0,
        texts: LineTexts | None = None,
    ) -> None:
        """Draws with these faces; by default those of matplotlib for training.

        Args:
            seed: from 0.
            faces: to draw with.
            config: what the lines say and how they look.
            printers: share of lines, in [0, 1], that a receipt printer strikes: with
                pins, in the squares of a bitmap font, or with dead thermal elements.
                Such a line says the same as without.
            unmarked: share of lines, in [0, 1], whose text is written without
                diacritics, as many tills print it.
            texts: of `config.texts`, for who has them already: a user's own file is not
                read once more.

        Raises:
            ValueError: no face is complete, the seed is below 0, or a share is not in
                [0, 1].
        """
        check_count("seed", seed, 0)
        check_share("printers", printers)
        check_share("unmarked", unmarked)
        self.seed = seed
        self.printers, self.unmarked = printers, unmarked
        self.config = config or LineConfig()
        self.faces = tuple(
            split_faces(matplotlib_faces())[0] if faces is None else faces
        )
        self._families = by_family(self.faces)
        self._complete = by_family(complete_faces(self.faces))
        self._texts = texts or LineTexts(self.config.texts)
        self._effects = [preset(name) for name in ("clean", "screen", "photo")]
        self._weights = [self.config.clean, self.config.screen, self.config.photo]

    def __getitem__(self, number: int) -> TextLine:
        """Line number 0, 1, 2, ... without end."""
        dice, text, face = self._begun(number)
        style = self.style(face or self._any_complete(dice), text, dice)
        # With dice of its own, so that the other lines stay what they are.
        printer = random.Random(f"printer:{self.seed}:{number}")
        if printer.random() < self.printers:
            style = _as_printed(style, text, printer)
        around = ("", "")
        if style.neighbours:
            around = self._texts.draw(dice), self._texts.draw(dice)
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
        seed = self.seed
        return f"synthetic:{seed}:{number}", f"synthetic seed {seed} line {number}"

    def _begun(self, number: int) -> tuple[random.Random, str, Face | None]:
        """The dice of a line after its text and face; no face where none fits."""
        check_count("number", number, 0)
        dice = random.Random(f"{self.seed}:{number}")
        text = self._texts.draw(dice)
        # With dice of their own, as for printers.
        if random.Random(f"unmarked:{self.seed}:{number}").random() < self.unmarked:
            text = without_marks(text)
        face = self._face(text, dice)
        return dice, text if face else self._reduced(text), face

    def _any_complete(self, dice: random.Random) -> Face:
        return dice.choice(self._complete[dice.choice(tuple(self._complete))])

    def _face(self, text: str, dice: random.Random) -> Face | None:
        for _ in range(4):
            face = dice.choice(self._families[dice.choice(tuple(self._families))])
            # Beyond ASCII, incomplete faces were drawn for other languages; one has the
            # bar of Đ above the letter.
            if not face.missing(text) and (face.is_complete or text.isascii()):
                return face
        fitting = [
            face
            for faces in self._complete.values()
            for face in faces
            if not face.missing(text)
        ]
        return dice.choice(fitting) if fitting else None

    def _reduced(self, text: str) -> str:
        # No face has every sign of the text, such as ₫: what no complete face writes is
        # left out of the text, too.
        common = frozenset.intersection(
            *(face.characters for faces in self._complete.values() for face in faces)
        )
        return " ".join("".join(c for c in text if c in common).split()) or "0"

    def style(self, face: Face, text: str, dice: random.Random) -> LineStyle:
        """A way of writing a text in a face."""
        least, most = np.log((self.config.least_size, self.config.most_size))
        size = round(np.exp(dice.uniform(least, most)))
        if not self.config.varied:
            return LineStyle(face=face, size=size)
        others = (f for f in self._families[face.family] if f is not face)
        family = [f for f in others if not f.missing(text) and f.is_complete]
        words = text.count(" ") + 1
        is_mixed = bool(family) and words > 2 and dice.random() < 0.1
        begin = dice.randrange(1, words) if is_mixed else 0
        slack = size // 4 + 1
        # Below the baseline little stands, so a cut there costs no letter; above, it
        # could cost a mark.
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
            second_until=(
                dice.randrange(begin + 1, words)
                if begin and words > begin + 1 and dice.random() < 0.5
                else 0
            ),
            tracking=_tracking(size, dice),
            word_space=dice.uniform(0.7, 3.0) if dice.random() < 0.2 else 1.0,
            jitter=dice.uniform(0.2, 0.8) if dice.random() < 0.05 else 0.0,
            stretch=dice.uniform(0.62, 1.3) if dice.random() < 0.4 else 1.0,
            weight=dice.choice((-1, 1, 1)) if dice.random() < 0.15 and size > 20 else 0,
            margins=margins,
            rule=dice.choices(
                ("none", "underline", "dotted", "table", "boxes"), (86, 4, 3, 4, 3)
            )[0],
            neighbours=dice.random() if dice.random() < 0.2 else 0.0,
            dots=dice.uniform(0.02, 0.25) if dice.random() < 0.1 else 0.0,
            # Sixteen pins to the height of a line keep marks apart; fewer would not.
            pitch=max(2, size // 14) if size >= 26 and dice.random() < 0.05 else 0,
        )


def _as_printed(style: LineStyle, text: str, dice: random.Random) -> LineStyle:
    """The style of a line as a receipt printer strikes it."""
    if dice.random() < 0.35:
        return replace(
            style,
            dots=dice.uniform(0.05, 0.4),
            dead_columns=dice.uniform(0.0, 0.12),
        )
    size = dice.randint(28, 60)
    # Seven pins make a capital letter; the marks of Vietnamese need more.
    pins = dice.randint(10, 22) if text.isascii() else dice.randint(14, 24)
    return replace(
        style,
        size=size,
        pitch=min(8, max(2, round(size / pins))),
        square_pins=dice.random() < 0.5,
        weight=0,
        stretch=dice.uniform(0.6, 1.2),
        dead_columns=dice.choice((0.0, 0.0, 0.04)),
    )


def _tracking(size: int, dice: random.Random) -> float:
    """Mostly none; else a part of the size, as in set columns or wide titles."""
    chance = dice.random()
    if chance < 0.75:
        return 0.0
    low, high = (-0.05, 0.08) if chance < 0.95 else (0.08, 0.22)
    return size * dice.uniform(low, high)
