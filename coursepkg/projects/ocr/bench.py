"""Reading lines: speed against a network of VietOCR's size.

Speed asks for no trained weights: a network reads noise as fast as text. The network of
VietOCR's size follows config/base.yml and config/vgg-transformer.yml of
github.com/pbcquoc/vietocr: VGG-19 with batch normalisation on pictures 32 pixels high,
its maximum pooling replaced by averages of 2 x 2, 2 x 2, 2 x 1, 2 x 1 and 1 x 1,
projected to width 256; 6 + 6 post-norm Transformer layers of 8 heads, 2048 wide inside;
233 classes. Each greedy step runs the decoder over the whole prefix again, as
vietocr/tool/translate.py does. The exported ONNX program is raced against PyTorch, and
packed lines against one picture file a line. A row that cannot be had says why.

Source: Simonyan and Zisserman, "Very Deep Convolutional Networks" (arXiv 1409.1556),
table 1, column E, for VGG-19.
"""

import random
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn

from coursepkg.bench.machine import Device
from coursepkg.bench.measure import BenchmarkCase, CaseResult, Comparison, Gate
from coursepkg.blocks.position import sinusoidal_table
from coursepkg.decoding.generate import greedy
from coursepkg.decoding.step import Hypothesis
from coursepkg.processor import multiplies_bfloat16
from coursepkg.projects.ocr.data.batches import character_vocabulary
from coursepkg.projects.ocr.data.images import fit_image, read_gray, resize_to_height
from coursepkg.projects.ocr.data.packed import PackedLines, pack_lines
from coursepkg.projects.ocr.decode import encode_lines
from coursepkg.projects.ocr.line import LineReading, LineRecognizer, TextLine
from coursepkg.projects.ocr.model.recognizer import LineTransformer, build_model
from coursepkg.projects.ocr.predict import DEFAULT, Recognizer
from coursepkg.projects.ocr.recipe import PRESETS
from coursepkg.projects.ocr.synthetic.fonts import matplotlib_faces, split_faces
from coursepkg.projects.ocr.synthetic.render import LineConfig, SyntheticLines
from coursepkg.projects.ocr.synthetic.texts import TextConfig
from coursepkg.requirements import missing_packages
from coursepkg.validation import counted

BLOCKS = ((64, 2), (128, 2), (256, 4), (512, 4), (512, 4))
"""Channels and convolutions of VGG-19's five blocks."""
POOLS = ((2, 2), (2, 2), (2, 1), (2, 1), (1, 1))
"""Height and width of the average behind each block."""
HEIGHT, MOST_WIDTH = 32, 512
"""Of its pictures, in pixels."""
N_CLASSES = 233
"""Its 229 characters and four special tokens."""
WIDTH, HEADS, LAYERS, INSIDE, MOST_STEPS = 256, 8, 6, 2048, 1024


def vgg19() -> nn.Sequential:
    """The convolutions, pictures (B, 3, 32, W) -> (B, 512, 2, W / 4)."""
    parts: list[nn.Module] = []
    n_in = 3
    for (n_out, count), pool in zip(BLOCKS, POOLS, strict=True):
        for _ in range(count):
            parts += [
                nn.Conv2d(n_in, n_out, 3, padding=1),
                nn.BatchNorm2d(n_out),
                nn.ReLU(inplace=True),
            ]
            n_in = n_out
        parts.append(nn.AvgPool2d(pool, stride=pool))
    return nn.Sequential(*parts)


class VggTransformer(nn.Module):
    """VGG-19, then a Transformer of PyTorch's own layers.

    The two rows that are left of a picture's height follow one another in the sequence,
    column after column, as VietOCR lays them out.
    """

    table: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.features, self.project = vgg19(), nn.Conv2d(512, WIDTH, 1)
        self.embedding = nn.Embedding(N_CLASSES, WIDTH)
        self.output = nn.Linear(WIDTH, N_CLASSES)
        sizes = (WIDTH, HEADS, LAYERS, LAYERS, INSIDE)
        self.core = nn.Transformer(*sizes, batch_first=True)
        table = sinusoidal_table(MOST_STEPS, WIDTH)
        self.register_buffer("table", table, persistent=False)

    def encode(self, images: Tensor) -> Tensor:
        """images (B, 3, 32, W) -> memory (B, S, E) of two steps a column."""
        found = self.project(self.features(images))  # (B, E, 2, W / 4)
        steps = found.transpose(2, 3).flatten(2).transpose(1, 2)  # (B, W / 4 * 2, E)
        memory: Tensor = self.core.encoder(
            steps * WIDTH**0.5 + self.table[: steps.shape[1]]
        )
        return memory

    def decode(self, ids: Tensor, memory: Tensor) -> Tensor:
        """ids (B, T), memory (B, S, E) -> logits (B, T, V)."""
        x = self.embedding(ids) * WIDTH**0.5 + self.table[: ids.shape[1]]
        future = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        logits: Tensor = self.output(self.core.decoder(x, memory, tgt_mask=future))
        return logits

    @torch.inference_mode()
    def read(self, images: Tensor, n_steps: int) -> Tensor:
        """Greedy decoding of so many characters; random weights would never end.

        Args:
            images: (B, 3, 32, W).
            n_steps: characters of the longest line of the batch, and its end.

        Returns:
            ids (B, n_steps).
        """
        memory = self.encode(images)
        ids = torch.ones(len(images), 1, dtype=torch.long)
        for _ in range(n_steps):
            best = self.decode(ids, memory)[:, -1].argmax(dim=-1)
            ids = torch.cat([ids, best[:, None]], dim=1)
        return ids[:, 1:]


def vgg_transformer(seed: int = 0) -> VggTransformer:
    """One with weights of a seed, in evaluation mode."""
    torch.manual_seed(seed)
    return VggTransformer().eval()


TARGET = 5.0
"""How many times faster packed lines are promised to be."""


@dataclass(frozen=True)
class Ways:
    """The same lines in the same order, read in both ways."""

    files: Callable[[], list[np.ndarray]]
    """Decode each PNG and scale it to the height."""
    packed: Callable[[], list[np.ndarray]]
    """Slice each picture out of the packed file."""
    n_lines: int


def reading_ways(
    lines: Sequence[TextLine], folder: str | Path, *, height: int = 40, seed: int = 0
) -> Ways:
    """Write lines as PNG files and packed; what reads them in one random order.

    The PNG files hold the pictures as they are, as a data set comes; the packed ones
    are scaled already, which is part of what packing is for.

    Args:
        lines: to write.
        folder: an empty one.
        height: of the pictures that come out, in pixels.
        seed: of the order.
    """
    folder = Path(folder)
    paths = [folder / f"{number:06}.png" for number in range(len(lines))]
    for path, line in zip(paths, lines, strict=True):
        Image.fromarray(line.image).save(path)
    packed = pack_lines(lines, folder / "packed", heights=(height,))
    if len(packed) != len(lines):
        raise ValueError(
            f"{counted(len(packed.left_out), 'line')} cannot be packed:"
            f" {packed.left_out[0].reason}"
        )
    order = list(range(len(lines)))
    random.Random(seed).shuffle(order)
    return Ways(
        files=lambda: [resize_to_height(read_gray(paths[i]), height) for i in order],
        packed=lambda: _touched(packed, order),
        n_lines=len(lines),
    )


def reading_contest(
    lines: Sequence[TextLine], folder: str | Path, *, height: int = 40
) -> BenchmarkCase:
    """The race for `coursepkg bench`; its gate asks for equal pixels.

    Args:
        lines: to read.
        folder: an empty one, which must last as long as the case.
        height: of the pictures, in pixels.
    """
    ways = reading_ways(lines, folder, height=height)

    def pixels(read: Callable[[], list[np.ndarray]]) -> Callable[[], list[Tensor]]:
        return lambda: [torch.from_numpy(image.astype(np.float64)) for image in read()]

    return BenchmarkCase(
        name=f"{ways.n_lines} lines at height {height}",
        variants={"packed": ways.packed, "image files": ways.files},
        comparisons=[Comparison("packed", "image files", target=TARGET)],
        gates=[
            Gate("packed", pixels(ways.packed), pixels(ways.files), pixels(ways.files))
        ],
    )


def _touched(packed: PackedLines, order: Sequence[int]) -> list[np.ndarray]:
    """Copies, as a batch makes them: a view alone would read nothing."""
    return [packed.image(i).copy() for i in order]


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
    measure: Callable[[], list[CaseResult]]

    def run(self, device: Device) -> list[CaseResult]:
        """Take it."""
        return self.measure()


def cases(device: Device) -> list[BenchmarkCase | Measured]:
    """All on the CPU, which the figures are promised for."""
    if device.is_cuda:
        return []
    folder = tempfile.TemporaryDirectory()
    _FOLDERS.append(folder)
    return [
        # First, since a process that has read much reads some percent slower.
        Measured("throughput", throughput),
        _speed(),
        Measured("exported program", partial(exported_program, device)),
        reading_contest(lines(N_PACKED, seed=2), folder.name),
    ]


def lines(count: int, seed: int, *, held_out: bool = False) -> list[TextLine]:
    """Generated lines in fonts that every machine has."""
    faces = split_faces(matplotlib_faces())[held_out]
    config = LineConfig(texts=TextConfig(sentences=0.0))
    drawn = SyntheticLines(seed, faces=faces, config=config)
    return [drawn[i] for i in range(count)]


def small(precision: str = "32-true") -> Recognizer:
    """The preset `small`: the shipped model, else random weights of its size."""
    if (DEFAULT / "model").is_dir():
        return Recognizer.load_default(precision=precision)
    torch.manual_seed(0)
    vocabulary = character_vocabulary([])
    model = build_model(PRESETS["small"], len(vocabulary))
    return Recognizer(model, vocabulary, PRESETS["small"], precision=precision)


def _speed() -> BenchmarkCase:
    """The same lines, each network at its own height and to the lines' lengths."""
    ours, theirs, read = small(), vgg_transformer(), lines(N_LINES, seed=1)
    few = read[:4]

    def encoded(double: bool, fast: bool) -> list[Tensor]:
        model = (
            ours.fast if fast else ours.model.double() if double else ours.model.float()
        )
        with torch.inference_mode():
            found = [_ctc(model, ours.prepare(line.image), double) for line in few]
        ours.model.float()
        return found

    length = np.mean([len(line.text) for line in read])
    return BenchmarkCase(
        name=f"{N_LINES} lines of {length:.0f} characters",
        variants={
            "small, CTC": partial(_read, ours, read, "ctc"),
            "small, decoder letter by letter": partial(_read_greedy, ours, read),
            "VGG-Transformer": partial(_read_vgg, theirs, read),
        },
        comparisons=[
            Comparison("small, CTC", "VGG-Transformer", target=3.0),
            Comparison(
                "small, decoder letter by letter", "VGG-Transformer", target=3.0
            ),
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


EXPORTED, CTC = "exported to ONNX, CTC", "small, CTC"


def exported_program(device: Device) -> list[CaseResult]:
    """CTC by the exported ONNX program against PyTorch; a row says what is missing."""
    missing = missing_packages(("onnx", "onnxscript", "onnxruntime"))
    if missing:
        note = f"the ONNX program needs {missing}: pip install 'coursepkg[onnx]'"
        return [CaseResult("exported program", EXPORTED, CTC, None, note=note)]
    from coursepkg.projects.ocr.export import ExportedReader, export_program

    ours = small()
    with tempfile.TemporaryDirectory() as folder:
        export_program(ours, Path(folder) / "onnx", "onnx")
        exported = ExportedReader(Path(folder) / "onnx")
    return export_contest(exported, ours, lines(N_LINES, seed=1)).run(device)


def export_contest(
    exported: LineRecognizer, ours: Recognizer, read: Sequence[TextLine]
) -> BenchmarkCase:
    """The race; its gate asks for equal texts.

    PyTorch reads the lines in batches, and one in a call, as a service gets them. The
    program takes no padding, so that each line of another width is a run of its own in
    any case.

    Args:
        exported: what is raced.
        ours: the model that was exported.
        read: the lines.
    """

    def texts(reader: LineRecognizer) -> list[str]:
        images = [line.image for line in read]
        return [one.text for one in reader.read_lines(images, reader="ctc")]

    def one_by_one() -> list[LineReading]:
        return [ours.read_lines([line.image], reader="ctc")[0] for line in read]

    def equal() -> list[Tensor]:
        pairs = zip(texts(exported), texts(ours), strict=True)
        return [torch.tensor([one == other for one, other in pairs])]

    def expected() -> list[Tensor]:
        return [torch.ones(len(read))]

    single = f"{CTC}, a line a call"
    return BenchmarkCase(
        name=f"exported program, {len(read)} lines",
        variants={
            EXPORTED: partial(texts, exported),
            CTC: partial(texts, ours),
            single: one_by_one,
        },
        comparisons=[Comparison(EXPORTED, CTC), Comparison(EXPORTED, single)],
        gates=[Gate(EXPORTED, equal, expected, expected)],
    )


def _ctc(model: LineTransformer, image: np.ndarray, double: bool) -> Tensor:
    dtype = torch.float64 if double else torch.float32
    pixels = torch.from_numpy(image).to(dtype) / 127.5 - 1
    widths = torch.tensor([image.shape[1]])
    return model.ctc_logits(model.encode(pixels[None, None], widths))


def _read(ours: Recognizer, read: Sequence[TextLine], reader: str) -> list[LineReading]:
    return ours.read_lines([line.image for line in read], reader=reader)


def _read_greedy(ours: Recognizer, read: Sequence[TextLine]) -> list[Hypothesis]:
    found = []
    for batch in _batches(read):
        images = [ours.prepare(line.image) for line in batch]
        steps = max(len(line.text) for line in batch) + 1
        with torch.inference_mode():
            memory = encode_lines(ours.fast, images)
            state = ours.fast.start(memory, max_len=steps + 1)
            found += greedy(state, max_len=steps, eos=None)
    return found


def _read_vgg(theirs: VggTransformer, read: Sequence[TextLine]) -> list[Tensor]:
    found: list[Tensor] = []
    for batch in _batches(read):
        images = [_fitted(line) for line in batch]
        room = np.ones(
            (len(images), 3, HEIGHT, max(image.shape[1] for image in images)),
            np.float32,
        )
        for row, image in zip(room, images, strict=True):
            row[:, :, : image.shape[1]] = image.astype(np.float32) / 255
        found += theirs.read(
            torch.from_numpy(room), max(len(line.text) for line in batch) + 1
        )
    return found


def _fitted(line: TextLine) -> np.ndarray:
    """At the baseline's height; too wide a line is squeezed, as VietOCR does."""
    return fit_image(line.image, HEIGHT, 0, line.name, most_width=MOST_WIDTH)


def _batches(read: Sequence[TextLine], size: int = 16) -> list[list[TextLine]]:
    ordered = sorted(read, key=lambda line: line.width / line.height)
    return [
        list(ordered[first : first + size]) for first in range(0, len(ordered), size)
    ]


def throughput() -> list[CaseResult]:
    """Lines a second in batches, against what is promised on two cores."""
    images = [line.image for line in lines(8 * N_LINES, seed=3)]
    readers = ({"bfloat16": small("auto")} if multiplies_bfloat16() else {}) | {
        "float32": small()
    }
    ways = WAYS[:1] if readers["float32"].recipe.reader == "ctc" else WAYS
    return [
        _throughput(
            f"small, {reader}, {precision}, {looks}",
            partial(ours.read_lines, **way),
            images,
        )
        for precision, ours in readers.items()
        for reader, looks, way in ways
    ]


def _throughput(
    name: str,
    read: Callable[[list[np.ndarray]], list[LineReading]],
    images: list[np.ndarray],
) -> CaseResult:
    read(images[:N_LINES])
    seconds = []
    for _ in range(3):
        start = time.perf_counter()
        read(images)
        seconds.append(time.perf_counter() - start)
    rates = [len(images) / one for one in seconds]
    rate, threads = statistics.median(rates), torch.get_num_threads()
    return CaseResult(
        f"{len(images)} lines in batches, {threads} thread(s)",
        name,
        f"{LINES_PER_SECOND:.0f} lines/s",
        rate / LINES_PER_SECOND,
        min(rates) / LINES_PER_SECOND,
        max(rates) / LINES_PER_SECOND,
        target=1.0 if threads == 2 else None,
        note=f"{rate:.0f} lines/s",
    )
