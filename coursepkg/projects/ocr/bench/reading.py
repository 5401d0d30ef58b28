"""Reading lines: the preset `small` against a VietOCR-sized network, and packed lines against picture files.

Speed asks for no trained weights: a network reads noise as fast as text.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from coursepkg.bench.machine import Device
from coursepkg.bench.race import Comparison, Contest, Gate, Row
from coursepkg.decoding.generate import greedy
from coursepkg.decoding.hypothesis import Hypothesis
from coursepkg.processor import multiplies_bfloat16
from coursepkg.projects.ocr.bench.opponents import HEIGHT, MOST_WIDTH, VggTransformer, vgg_transformer
from coursepkg.projects.ocr.data.alphabet import character_vocabulary
from coursepkg.projects.ocr.data.images import fit_image
from coursepkg.projects.ocr.data.reading_race import reading_contest
from coursepkg.projects.ocr.decode import encode_lines
from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.line_reading import LineReading
from coursepkg.projects.ocr.model.build import build_model
from coursepkg.projects.ocr.model.recognizer import LineTransformer
from coursepkg.projects.ocr.predict import DEFAULT, Recognizer
from coursepkg.projects.ocr.recipe import PRESETS
from coursepkg.projects.ocr.synthetic.fonts import matplotlib_faces, split_faces
from coursepkg.projects.ocr.synthetic.lines import LineConfig, SyntheticLines
from coursepkg.projects.ocr.synthetic.texts import TextConfig

N_LINES, N_PACKED = 32, 400
LINES_PER_SECOND = 150.0
"""What is promised on two cores, of the fastest way to read."""
WAYS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("ctc", "one look", {"reader": "ctc"}),
    ("joint", "one look", {"reader": "joint", "second_look": 0}),
    ("joint", "a second look", {"reader": "joint"}),
)
"""Reader, looks and options of each way whose lines a second are counted."""
_FOLDERS: list[tempfile.TemporaryDirectory[str]] = []
"""Of the packed race, kept until the process ends."""


@dataclass(frozen=True)
class Measured:
    """A measurement that is no race: rows from one run."""

    name: str
    measure: Callable[[], list[Row]]

    def run(self, device: Device) -> list[Row]:
        """Take it."""
        return self.measure()


def contests(device: Device) -> list[Contest | Measured]:
    """All on the CPU, which is what the figures are promised for; a GPU has none of its own."""
    if device.is_cuda:
        return []
    folder = tempfile.TemporaryDirectory()
    _FOLDERS.append(folder)
    return [
        # First, since a process that has read much reads some percent slower.
        Measured("throughput", throughput),
        _speed(),
        reading_contest(lines(N_PACKED, seed=2), folder.name),
    ]


def lines(count: int, seed: int, *, held_out: bool = False) -> list[TextLine]:
    """Generated lines in fonts that every machine has."""
    faces = split_faces(matplotlib_faces())[held_out]
    config = LineConfig(texts=TextConfig(sentences=0.0))
    drawn = SyntheticLines(seed, faces=faces, config=config)
    return [drawn[i] for i in range(count)]


def small(precision: str = "32-true") -> Recognizer:
    """The preset `small`: the shipped model where there is one, else random weights of its size."""
    if (DEFAULT / "model").is_dir():
        return Recognizer.load_default(precision=precision)
    torch.manual_seed(0)
    vocabulary = character_vocabulary([])
    model = build_model(PRESETS["small"], len(vocabulary))
    return Recognizer(model, vocabulary, PRESETS["small"], precision=precision)


def _speed() -> Contest:
    """The same lines, each network at its own height; the decoders write as many characters as the lines have."""
    ours, theirs, read = small(), vgg_transformer(), lines(N_LINES, seed=1)
    few = read[:4]

    def encoded(double: bool, fast: bool) -> list[Tensor]:
        model = ours.fast if fast else ours.model.double() if double else ours.model.float()
        with torch.inference_mode():
            found = [_ctc(model, ours.prepare(line.image), double) for line in few]
        ours.model.float()
        return found

    return Contest(
        name=f"{N_LINES} lines of {np.mean([len(line.text) for line in read]):.0f} characters",
        variants={
            "small, CTC": partial(_read, ours, read, "ctc"),
            "small, decoder letter by letter": partial(_read_greedy, ours, read),
            "VGG-Transformer": partial(_read_vgg, theirs, read),
        },
        comparisons=[
            Comparison("small, CTC", "VGG-Transformer", target=3.0),
            Comparison("small, decoder letter by letter", "VGG-Transformer", target=3.0),
        ],
        gates=[
            Gate(
                name,
                partial(encoded, False, True),
                partial(encoded, False, False),
                partial(encoded, True, False),
            )
            for name in ("small, CTC", "small, decoder letter by letter")
        ],
    )


def _ctc(model: LineTransformer, image: np.ndarray, double: bool) -> Tensor:
    pixels = torch.from_numpy(image).to(torch.float64 if double else torch.float32) / 127.5 - 1
    return model.ctc_logits(model.encode(pixels[None, None], torch.tensor([image.shape[1]])))


def _read(ours: Recognizer, read: Sequence[TextLine], reader: str) -> list[LineReading]:
    return ours.read_lines([line.image for line in read], reader=reader)


def _read_greedy(ours: Recognizer, read: Sequence[TextLine]) -> list[Hypothesis]:
    found = []
    for batch in _batches(read):
        with torch.inference_mode():
            memory = encode_lines(ours.fast, [ours.prepare(line.image) for line in batch])
            steps = max(len(line.text) for line in batch) + 1
            found += greedy(ours.fast.start(memory, max_len=steps + 1), max_len=steps, eos=None)
    return found


def _read_vgg(theirs: VggTransformer, read: Sequence[TextLine]) -> list[Tensor]:
    found: list[Tensor] = []
    for batch in _batches(read):
        images = [_fitted(line) for line in batch]
        room = np.ones((len(images), 3, HEIGHT, max(image.shape[1] for image in images)), np.float32)
        for row, image in zip(room, images, strict=True):
            row[:, :, : image.shape[1]] = image.astype(np.float32) / 255
        found += theirs.read(torch.from_numpy(room), max(len(line.text) for line in batch) + 1)
    return found


def _fitted(line: TextLine) -> np.ndarray:
    """At the opponent's height; a line wider than it takes is squeezed, which VietOCR does, too."""
    return fit_image(line.image, HEIGHT, 0, line.name, most_width=MOST_WIDTH)


def _batches(read: Sequence[TextLine], size: int = 16) -> list[list[TextLine]]:
    ordered = sorted(read, key=lambda line: line.width / line.height)
    return [list(ordered[first : first + size]) for first in range(0, len(ordered), size)]


def throughput() -> list[Row]:
    """Lines a second in batches, against what is promised on two cores."""
    images = [line.image for line in lines(8 * N_LINES, seed=3)]
    readers = ({"bfloat16": small("auto")} if multiplies_bfloat16() else {}) | {"float32": small()}
    ways = WAYS[:1] if readers["float32"].recipe.reader == "ctc" else WAYS
    return [
        _throughput(f"small, {reader}, {said}, {looks}", partial(ours.read_lines, **way), images)
        for said, ours in readers.items()
        for reader, looks, way in ways
    ]


def _throughput(
    name: str, read: Callable[[list[np.ndarray]], list[LineReading]], images: list[np.ndarray]
) -> Row:
    read(images[:N_LINES])
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        read(images)
        seconds.append(time.perf_counter() - start)
    rates = [len(images) / one for one in seconds]
    rate, threads = statistics.median(rates), torch.get_num_threads()
    return Row(
        f"{len(images)} lines in batches, {threads} thread(s)",
        name,
        f"{LINES_PER_SECOND:.0f} lines/s",
        rate / LINES_PER_SECOND,
        min(rates) / LINES_PER_SECOND,
        max(rates) / LINES_PER_SECOND,
        target=1.0 if threads == 2 else None,
        note=f"{rate:.0f} lines/s",
    )
