"""Whole receipts, written as MC-OCR 2021 does: photographs and a table with polygons.

A receipt is printed (head, time, goods in columns, totals, footer), then laid before a
camera (paper, light, background, perspective). The quirks of the real table come with
it, at rates that are stated here and measured there.
"""

import csv
import io
import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from coursepkg.files import whole_file
from coursepkg.projects.ocr.data.geometry import (
    homography,
    map_points,
    projected,
    rectangle,
)
from coursepkg.projects.ocr.data.mc_ocr import COLUMNS, TABLE
from coursepkg.projects.ocr.data.table_row import CATEGORIES, JOINT
from coursepkg.projects.ocr.synthetic import effects, receipt_text
from coursepkg.projects.ocr.synthetic.fonts import (
    Face,
    LineStyle,
    matplotlib_faces,
    place,
    width_of,
    write,
)
from coursepkg.projects.ocr.synthetic.receipt_text import digits, either, word
from coursepkg.text.vietnamese import without_marks
from coursepkg.validation import check_count, check_share

PAPER = 640
"""Width of the paper in pixels."""
GOODS = ("Mặt hàng", "Tên hàng", "Tên món", "Hàng hóa")
SUMS = (
    *("Tổng tiền", "Tổng cộng", "TỔNG CỘNG"),
    *("Tổng tiền thanh toán", "Thanh toán", "Thành tiền"),
)


@dataclass(frozen=True)
class PrintedLine:
    """One text on the paper."""

    text: str
    label: str
    """SELLER, ADDRESS, TIMESTAMP or TOTAL_COST; empty for what MC-OCR leaves without
    annotation."""
    box: tuple[int, int, int, int]
    """Left, top, right, bottom of its ink, in pixels of the paper."""
    words: tuple[tuple[int, int], ...]
    """Left and right of each word, in pixels of the paper."""


@dataclass(frozen=True, eq=False)
class Sheet:
    """A printed receipt."""

    image: np.ndarray
    """uint8 (height, PAPER), black on white."""
    lines: tuple[PrintedLine, ...]
    """Every text on it, from top to bottom."""


@dataclass
class _Printer:
    """Where the next row goes."""

    canvas: np.ndarray
    style: LineStyle
    plain: bool
    y: int
    lines: list[PrintedLine]

    def row(
        self, *pieces: tuple[str, float, float], label: str = "", scale: float = 1.0
    ) -> None:
        """Prints texts on one baseline.

        Args:
            pieces: each a text, the share of the paper's width where it is fastened,
                and the share of itself that lies left of that place: 0 for its left
                end, 0.5 for its middle, 1 for its right end.
            label: of all of them.
            scale: size over the usual size.
        """
        style = replace(self.style, size=round(self.style.size * scale))
        self.y += round(style.size * 1.35)
        for text, at, anchor in pieces:
            text = self._fitting(text, style)
            pen = round(PAPER * at - width_of(text, style) * anchor)
            pen = min(max(pen, 8), PAPER - 8)
            box = write(self.canvas, text, style, (pen, self.y))
            words = tuple(
                (pen + left, pen + right)
                for left, right in place(text, style, random.Random(0))[1]
                if left < right
            )
            self.lines.append(PrintedLine(text, label, box, words))

    def _fitting(self, text: str, style: LineStyle) -> str:
        text = without_marks(text) if self.plain else text
        text = "".join(c for c in text if c in style.face.characters)
        while width_of(text, style) > PAPER * 0.94 and " " in text:
            text = text.rpartition(" ")[0]
        return text

    def rule(self, sign: str) -> None:
        """A line across the paper that is no text."""
        self.y += round(self.style.size * 0.9)
        step = {"-": 9, ".": 5, "=": 12}[sign]
        for x in range(24, PAPER - 24, step):
            self.canvas[self.y : self.y + 2, x : x + max(2, step - 4)] = 255
        self.y += self.style.size // 4

    def bars(self, dice: random.Random) -> None:
        """A bar code without a meaning."""
        self.y += self.style.size
        x = PAPER // 4
        while x < PAPER * 3 // 4:
            wide = dice.randint(1, 5)
            self.canvas[self.y : self.y + 60, x : x + wide] = 255
            x += wide + dice.randint(2, 6)
        self.y += 70


def lay_out(dice: random.Random, faces: Sequence[Face]) -> Sheet:
    """A receipt of one shop, in one face.

    Args:
        dice: where chance comes from.
        faces: to choose from; an incomplete face prints without marks.
    """
    face = dice.choice(tuple(faces))
    style = LineStyle(
        face=face, size=dice.randint(21, 27), tracking=dice.choice((0, 0, 0, 1))
    )
    plain = not face.is_complete or dice.random() < 0.15
    printer = _Printer(
        np.zeros((2600, PAPER), np.uint8), style, plain, dice.randint(10, 60), []
    )
    _head(printer, dice)
    write_money = _money_writer(dice)
    _totals(printer, dice, write_money, _goods(printer, dice, write_money))
    for _ in range(dice.randint(0, 3)):
        printer.row(
            (receipt_text.footer(dice), 0.5, 0.5), scale=dice.choice((0.9, 1.0))
        )
    if dice.random() < 0.3:
        printer.bars(dice)
    height = printer.y + dice.randint(30, 90)
    return Sheet(255 - printer.canvas[:height], tuple(printer.lines))


def _head(printer: _Printer, dice: random.Random) -> None:
    for _ in range(dice.choice((1, 1, 2))):
        printer.row(
            (receipt_text.shop(dice), 0.5, 0.5),
            label="SELLER",
            scale=dice.uniform(1.1, 1.5),
        )
    for _ in range(dice.choice((1, 1, 2, 3))):
        printer.row((receipt_text.address(dice), 0.5, 0.5), label="ADDRESS")
    if dice.random() < 0.6:
        name = either(dice, "ĐT", "Tel", "Hotline")
        printer.row((f"{name}: {receipt_text.phone(dice)}", 0.5, 0.5))
    printer.y += printer.style.size // 2
    printer.row((word(dice, "title"), 0.5, 0.5), scale=1.2)
    printer.row((receipt_text.timestamp(dice), 0.04, 0.0), label="TIMESTAMP")
    for _ in range(dice.randint(0, 3)):
        printer.row((receipt_text.field(dice), 0.04, 0.0))


def _goods(
    printer: _Printer, dice: random.Random, write_money: Callable[[int], str]
) -> int:
    """Prints the goods and gives their sum in đồng."""
    sign, total = dice.choice("-.="), 0
    printer.rule(sign)
    printer.row(
        (either(dice, *GOODS), 0.04, 0.0),
        ("SL", 0.46, 1.0),
        ("Đ.Giá", 0.7, 1.0),
        ("T.Tiền", 0.96, 1.0),
    )
    printer.rule(sign)
    for number in range(dice.randint(1, 9)):
        name = dice.choice((str, str.upper))(word(dice, "item"))
        name = f"{number + 1}. {name}" if dice.random() < 0.3 else name
        printer.row((name, 0.04, 0.0))
        count, price = dice.randint(1, 12), dice.randint(1, 400) * 500
        total += count * price
        pieces = [
            (str(count), 0.46, 1.0),
            (write_money(price), 0.7, 1.0),
            (write_money(count * price), 0.96, 1.0),
        ]
        if dice.random() < 0.4:
            pieces.insert(0, (digits(dice, 9), 0.04, 0.0))
        printer.row(*pieces)
    printer.rule(sign)
    return total


def _totals(
    printer: _Printer,
    dice: random.Random,
    write_money: Callable[[int], str],
    total: int,
) -> None:
    scale = dice.choice((1.0, 1.0, 1.2))
    amount = (write_money(total), 0.96, 1.0)
    printer.row(
        (f"{either(dice, *SUMS)}:", 0.04, 0.0), amount, label="TOTAL_COST", scale=scale
    )
    for _ in range(dice.randint(0, 3)):
        printer.row(
            (word(dice, "total"), 0.04, 0.0),
            (write_money(dice.randint(1, 200) * 5000), 0.96, 1.0),
        )
    printer.rule(dice.choice("-.="))


def _money_writer(dice: random.Random) -> Callable[[int], str]:
    """One way of writing amounts for all of a receipt."""
    comma, tail = dice.choice(".,"), dice.choice(("", "", "", "đ", " đ"))
    return lambda amount: f"{amount:,}".replace(",", comma) + tail


SIZES = ((768, 1024), (576, 1024), (960, 1280), (720, 1280), (1024, 768))
"""Width and height of photographs, as telephones and messengers make them."""


def background(size: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """What the receipt lies on: blots or boards, float32 RGB (height, width, 3)."""
    height, width = size
    colour = (rng.uniform(35, 190) + rng.normal(0, 18, 3)).astype(np.float32)
    grain = effects.smooth_noise(size, rng.uniform(3, 60), rng)
    grain = grain * np.float32(rng.uniform(3, 18))
    if rng.random() < 0.5:
        x = np.arange(width, dtype=np.float32)[None]
        y = np.arange(height, dtype=np.float32)[:, None]
        angle = rng.uniform(0, math.pi)
        waves = np.sin((x * math.cos(angle) + y * math.sin(angle)) / rng.uniform(8, 40))
        grain = grain + np.where(waves > 0.9, -40, 0).astype(np.float32)
    return colour + grain[..., None]


def place_on_photo(
    sheet: tuple[int, int],
    size: tuple[int, int],
    rng: np.random.Generator,
    *,
    quarter: int = 0,
) -> np.ndarray:
    """The perspective map (3, 3) from the paper to the photograph.

    Args:
        sheet: height and width of the paper.
        size: height and width of the photograph.
        rng: where chance comes from.
        quarter: how often the receipt is turned by 90 degrees clockwise.
    """
    height, width = sheet
    room = size if quarter % 2 == 0 else size[::-1]
    scale = min(room[0] / height, room[1] / width) * rng.uniform(0.8, 0.95)
    angle = rng.normal(0, 0.04) + quarter * math.pi / 2
    corners = rectangle(0, 0, width, height)
    centred = corners - [width / 2, height / 2]
    target = centred * scale @ effects.rotation(angle).T
    target += rng.normal(0, 0.012, (4, 2)) * scale * height + np.array(size[::-1]) / 2
    return homography(corners, target)


def worn_paper(image: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The paper with grain, pale ink and folds, float32."""
    picture = effects.ink_and_paper(image.astype(np.float32), rng, most=0.45)
    picture = effects.texture(picture, rng)
    for _ in range(rng.integers(0, 4)):
        picture = effects.fold(picture, rng, line_height=30.0)
    return picture


def photograph(
    image: np.ndarray,
    size: tuple[int, int],
    rng: np.random.Generator,
    *,
    quarter: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """A photograph of the paper.

    Args:
        image: uint8 (height, width), the printed paper.
        size: height and width of the photograph.
        rng: where chance comes from.
        quarter: how often the receipt is turned by 90 degrees clockwise.

    Returns:
        uint8 RGB (height, width, 3), and the map (3, 3) that takes points of the paper
        to the photograph.
    """
    matrix = place_on_photo(
        (image.shape[0], image.shape[1]), size, rng, quarter=quarter
    )
    inverse = np.linalg.inv(matrix)
    inverse = inverse / inverse[2, 2]
    worn = Image.fromarray(np.clip(worn_paper(image, rng), 0, 255).astype(np.uint8))
    flat, where = (
        np.asarray(projected(one, size[::-1], inverse), np.float32)
        for one in (worn, Image.new("L", worn.size, 255))
    )
    cover = where[..., None] / 255
    yellow = np.array([0.1, 0.4, 1], np.float32)
    tint = np.float32(1) - rng.uniform(0, 0.16, 3).astype(np.float32) * yellow
    scene = background(size, rng) * (1 - cover) + flat[..., None] * tint * cover
    return _camera(scene, rng), matrix


def _camera(scene: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    light = effects.uneven_light(np.ones(scene.shape[:2], np.float32), rng)
    noise = effects.normal_noise((scene.shape[0], scene.shape[1]), rng)
    noise = noise * np.float32(rng.uniform(0, 8))
    scene = scene * light[..., None] + noise[..., None]
    if rng.random() < 0.5:
        strength = rng.uniform(0, 1.6) / scene.shape[0]
        state = rng.bit_generator.state
        channels = []
        for channel in range(3):
            # All colours are blurred alike.
            rng.bit_generator.state = state
            colour = np.ascontiguousarray(scene[..., channel])
            channels.append(effects.blur(colour, rng, strength=strength))
        scene = np.stack(channels, axis=-1)
    return np.clip(np.rint(scene), 0, 255).astype(np.uint8)


def outline(matrix: np.ndarray, box: tuple[int, int, int, int]) -> np.ndarray:
    """Where a box of the paper is in the photograph: (4, 2), in reading order."""
    left, top, right, bottom = box
    return map_points(matrix, rectangle(left - 2, top - 2, right + 2, bottom + 2))


def word_outlines(line: PrintedLine, corners: np.ndarray) -> np.ndarray:
    """Where the words of a line are in the photograph: (words, 4, 2).

    Args:
        line: on the paper.
        corners: (4, 2), what `outline` gives for its box.
    """
    left, top, right, bottom = line.box
    around = rectangle(left - 2, top - 2, right + 2, bottom + 2)
    matrix = homography(around, corners)
    return np.stack(
        [outline(matrix, (start, top, end, bottom)) for start, end in line.words]
    )


_CATEGORY = {label: number for number, label in CATEGORIES.items()}


@dataclass(frozen=True)
class ReceiptConfig:
    """How often the quirks of the real table come, each in [0, 1]."""

    several_polygons: float = 0.02
    """Share of instances with a second outline, a sliver left by the mouse; 115 of
    6,585 in the real table."""
    fifth_corner: float = 0.25
    """Share of instances whose outline has a corner too many, close to the first."""
    turned: float = 0.04
    """Share of receipts that lie on their side, half of them each way."""
    empty: float = 0.002
    """Share of rows without any annotation; 2 of 1,155 in the real table."""

    def __post_init__(self) -> None:
        for field in fields(self):
            check_share(field.name, getattr(self, field.name))


@dataclass(frozen=True, eq=False)
class ReceiptPhoto:
    """A photograph of a receipt with its row of the table and all of its lines."""

    image: np.ndarray
    """uint8 RGB (height, width, 3)."""
    row: dict[str, Any]
    """The columns of MC-OCR's table."""
    lines: tuple[PrintedLine, ...]
    """Every text on the paper, annotated or not."""
    outlines: np.ndarray
    """(lines, 4, 2): the true corners of each line in the photograph, in the reader's
    order."""


def make_receipt(
    seed: int,
    number: int,
    *,
    faces: Sequence[Face] | None = None,
    config: ReceiptConfig | None = None,
) -> ReceiptPhoto:
    """Receipt `number` of a seed: a function of the two, whatever was made before.

    Args:
        seed: from 0.
        number: from 0.
        faces: to print with; by default those of matplotlib.
        config: rates of the quirks.
    """
    check_count("seed", seed, 0)
    check_count("number", number, 0)
    config = config or ReceiptConfig()
    dice, rng, sheet = _begun(seed, number, faces)
    width, height = dice.choice(SIZES)
    quarter = dice.choice((1, 3)) if dice.random() < config.turned else 0
    image, matrix = photograph(sheet.image, (height, width), rng, quarter=quarter)
    outlines = np.stack([outline(matrix, line.box) for line in sheet.lines])
    is_empty = dice.random() < config.empty
    annotated = [
        (corners, line)
        for corners, line in zip(outlines, sheet.lines, strict=True)
        if line.label and not is_empty
    ]
    entries = [
        _annotation(corners, line.label, (width, height), config, dice)
        for corners, line in annotated
    ]
    cells = (
        f"synthetic_{seed}_{number:05}.jpg",
        repr(entries),
        JOINT.join(line.text for _, line in annotated),
        JOINT.join(line.label for _, line in annotated),
        len(annotated),
        round(dice.uniform(0.3, 0.9), 6),
    )
    row = dict(zip(COLUMNS, cells, strict=True))
    return ReceiptPhoto(image, row, sheet.lines, outlines)


def receipt_texts(
    seed: int, number: int, *, faces: Sequence[Face] | None = None
) -> list[str]:
    """What the lines of `make_receipt` say, without photographing it."""
    sheet = _begun(seed, number, faces)[2]
    return [" ".join(line.text.split()) for line in sheet.lines]


def _begun(
    seed: int, number: int, faces: Sequence[Face] | None
) -> tuple[random.Random, np.random.Generator, Sheet]:
    """The dice after printing, those of the photograph, and the paper."""
    dice = random.Random(f"receipt:{seed}:{number}")
    rng = np.random.Generator(np.random.PCG64(dice.getrandbits(64)))
    return dice, rng, lay_out(dice, faces or matplotlib_faces())


def _annotation(
    corners: np.ndarray,
    label: str,
    size: tuple[int, int],
    config: ReceiptConfig,
    dice: random.Random,
) -> dict[str, Any]:
    """One entry of `anno_polygons`; the hand of an annotator shakes by a pixel."""
    points = [
        [round(value + dice.uniform(-0.8, 0.8), 1) for value in corner]
        for corner in corners.tolist()
    ]
    low, high = corners.min(axis=0), corners.max(axis=0)
    outlines = [_flat(points)]
    if dice.random() < config.fifth_corner:
        outlines = [_flat([*points, [points[0][0] - 0.7, points[0][1] + 1.4]])]
    if dice.random() < config.several_polygons:
        x, y = points[0]
        outlines.insert(0, _flat([[x, y], [x, y + 1.4], [x - 4.4, y + 1.4]]))
    wide, tall = (high - low).tolist()
    return {
        "category_id": _CATEGORY[label],
        "segmentation": outlines,
        "area": round(wide * tall),
        "bbox": [round(low[0]), round(low[1]), round(wide), round(tall)],
        "width": size[0],
        "height": size[1],
    }


def _flat(points: list[list[float]]) -> list[float]:
    return [round(value, 1) for point in points for value in point]


def write_receipts(
    folder: str | Path,
    count: int,
    seed: int = 0,
    *,
    faces: Sequence[Face] | None = None,
    config: ReceiptConfig | None = None,
) -> Path:
    """Writes receipts 0 to count - 1 of a seed: `images/`, then the table.

    Returns:
        The path of the table.

    Raises:
        OSError: a file cannot be written; the message names it.
    """
    check_count("count", count)
    folder = Path(folder)
    (folder / "images").mkdir(parents=True, exist_ok=True)
    rows = []
    for number in range(count):
        receipt = make_receipt(seed, number, faces=faces, config=config)
        write_jpeg(folder / "images" / receipt.row["img_id"], receipt.image)
        rows.append(receipt.row)
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    with whole_file(folder / TABLE) as file:
        file.write(text.getvalue().encode())
    return folder / TABLE


def write_jpeg(path: Path, image: np.ndarray) -> None:
    """Writes a picture as a JPEG file of high quality, whole or not at all."""
    with whole_file(path) as file:
        Image.fromarray(image).save(file, "JPEG", quality=88)
