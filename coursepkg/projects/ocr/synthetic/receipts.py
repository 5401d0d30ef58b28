"""Whole receipts, written as MC-OCR 2021 does: photographs and a table with polygons.

A receipt is printed (head, time, goods in columns, totals, footer), then laid before a
camera (paper, light, background, perspective). The quirks of the real table come with
it, at rates that are stated in `receipt_config` and measured there.
"""

import csv
import io
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
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
from coursepkg.projects.ocr.synthetic import effects
from coursepkg.projects.ocr.synthetic.fonts import Face, matplotlib_faces
from coursepkg.projects.ocr.synthetic.receipt_config import ReceiptConfig
from coursepkg.projects.ocr.synthetic.sheet import PrintedLine, Sheet, lay_out
from coursepkg.projects.ocr.synthetic.wear import Wear
from coursepkg.validation import check_count

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
    boxes: Sequence[tuple[int, int, int, int]] = (),
    wear: Wear | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """A photograph of the paper.

    Args:
        image: uint8 (height, width), the printed paper.
        size: height and width of the photograph.
        rng: where chance comes from.
        quarter: how often the receipt is turned by 90 degrees clockwise.
        boxes: of the texts on the paper, which `wear` must not hide.
        wear: of the receipt; None leaves it as it is.

    Returns:
        uint8 RGB (height, width, 3), and the map (3, 3) that takes points of the paper
        to the photograph.
    """
    wear = wear or Wear()
    matrix = place_on_photo(
        (image.shape[0], image.shape[1]), size, rng, quarter=quarter
    )
    texts = [outline(matrix, box) for box in boxes]
    inverse = np.linalg.inv(matrix)
    inverse = inverse / inverse[2, 2]
    paper = wear.on_paper(worn_paper(image, rng))
    worn = Image.fromarray(np.clip(paper, 0, 255).astype(np.uint8))
    flat, where = (
        np.asarray(projected(one, size[::-1], inverse), np.float32)
        for one in (worn, Image.new("L", worn.size, 255))
    )
    cover = where[..., None] / 255
    yellow = np.array([0.1, 0.4, 1], np.float32)
    tint = np.float32(1) - rng.uniform(0, 0.16, 3).astype(np.float32) * yellow
    ground = wear.under_paper(background(size, rng))
    scene = ground * (1 - cover) + flat[..., None] * tint * cover
    corners = map_points(matrix, rectangle(0, 0, image.shape[1], image.shape[0]))
    photo = _camera(wear.over_paper(scene, corners, texts), rng)
    return wear.in_file(photo, texts), matrix


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
        config: rates of the quirks, of other layouts, and of wear.
    """
    check_count("seed", seed, 0)
    check_count("number", number, 0)
    config = config or ReceiptConfig()
    dice, rng, sheet = _begun(seed, number, faces, config)
    width, height = dice.choice(SIZES)
    quarter = dice.choice((1, 3)) if dice.random() < config.turned else 0
    image, matrix = photograph(
        sheet.image,
        (height, width),
        rng,
        quarter=quarter,
        boxes=[line.box for line in sheet.lines],
        # With dice of its own, so that the paper stays what it is.
        wear=Wear.drawn(config, f"wear:{seed}:{number}"),
    )
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
    seed: int,
    number: int,
    *,
    faces: Sequence[Face] | None = None,
    config: ReceiptConfig | None = None,
) -> list[str]:
    """What the lines of `make_receipt` say, without photographing it."""
    sheet = _begun(seed, number, faces, config)[2]
    return [" ".join(line.text.split()) for line in sheet.lines]


def _begun(
    seed: int, number: int, faces: Sequence[Face] | None, config: ReceiptConfig | None
) -> tuple[random.Random, np.random.Generator, Sheet]:
    """The dice after printing, those of the photograph, and the paper."""
    dice = random.Random(f"receipt:{seed}:{number}")
    rng = np.random.Generator(np.random.PCG64(dice.getrandbits(64)))
    return dice, rng, lay_out(dice, faces or matplotlib_faces(), config)


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
