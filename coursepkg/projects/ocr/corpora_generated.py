"""Generated lines and receipts as corpora: functions of their sizes and of the fonts alone."""

import hashlib
import json
import os
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from coursepkg.files import file_sha256
from coursepkg.projects.ocr.corpora_labelled import parted_table
from coursepkg.projects.ocr.corpus import PARTS, Corpus, sizes_of
from coursepkg.projects.ocr.data.audit import LabelledText
from coursepkg.projects.ocr.data.images import read_gray
from coursepkg.projects.ocr.data.mc_ocr import read_table
from coursepkg.projects.ocr.data.mc_ocr_lines import receipt_lines
from coursepkg.projects.ocr.data.table_row import Receipt
from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.synthetic.families import MEASURED
from coursepkg.projects.ocr.synthetic.fonts import Face, faces_in, matplotlib_folder, split_faces
from coursepkg.projects.ocr.synthetic.lines import LineConfig, SyntheticLines
from coursepkg.projects.ocr.synthetic.receipts import write_receipts
from coursepkg.projects.ocr.synthetic.texts import KINDS, TextConfig

SEEDS = {"train": 0, "dev": 1, "test": 2}
N_RECEIPTS = 200
OWN_TEXTS = "own texts"
"""Name of their file's SHA-256 in the source of a corpus."""
_MOST_TRIES = 50
"""Lines that are looked at for one whose text no earlier part has."""
_MEASURED = 200
"""Lines that are drawn to tell how wide lines are."""


@dataclass(frozen=True)
class LineSet:
    """A kind of generated lines and how many there are of them."""

    name: str
    """What it is called; `--data` takes those in `corpora.CORPORA`."""
    sizes: dict[str, int]
    """Lines of each part."""
    config: LineConfig = field(default_factory=LineConfig)
    """What they say and how they look."""
    own_fonts: bool = True
    """Whether the fonts in $COURSEPKG_FONTS are drawn with, too, beside those of matplotlib."""
    test_seed: int = SEEDS["test"]
    """Of the test part's texts and looks."""


FULL = LineSet("synthetic", {"train": 20_000, "dev": 500, "test": 1_000})
"""All kinds of texts and effects."""
FRESH = replace(FULL, name="synthetic-fresh", test_seed=20261123)
"""The same with another test part: for a last word after choices were made with that of `FULL` in view.

The texts of the test part of `FULL` were kept out of the training of the model that ships, these were not:
`scripts/measure_ocr_lines.py` leaves out the lines whose text it learnt.
"""
EASY = LineSet(
    "synthetic-tiny",
    {"train": 1_500, "dev": 150, "test": 200},
    LineConfig(
        texts=TextConfig(sentences=0.0, documents=0.0, prose=0.0, max_length=14),
        clean=0.5,
        screen=0.5,
        photo=0.0,
        least_size=22,
        most_size=26,
        varied=False,
    ),
    own_fonts=False,
)
"""Short lines of a clear print: a network of half a million parameters learns to read them in a minute."""


def line_faces(chosen: LineSet) -> tuple[Face, ...]:
    """The fonts of a set: matplotlib's, and those in $COURSEPKG_FONTS; never those that a machine happens to have."""
    own = os.environ.get("COURSEPKG_FONTS") if chosen.own_fonts else None
    return faces_in([matplotlib_folder(), *([own] if own else [])])


def measured_faces() -> tuple[Face, ...]:
    """The held-out faces that a stored measurement is drawn in.

    Raises:
        ValueError: families are missing; without all of them it would be another measurement.
    """
    faces = split_faces(line_faces(FULL))[1]
    if missing := MEASURED - {face.family for face in faces}:
        raise ValueError(
            f"held-out families without a font file: {', '.join(sorted(missing))}; "
            "run scripts/install_fonts.sh FOLDER and set COURSEPKG_FONTS=FOLDER"
        )
    return faces


@dataclass(frozen=True)
class DrawnParts:
    """Which generated lines are in which part. No text of one part stands in an earlier one."""

    config: LineConfig
    faces: tuple[Face, ...]
    sizes: dict[str, int]
    seeds: dict[str, int] = field(default_factory=lambda: dict(SEEDS))

    @cached_property
    def lines(self) -> dict[str, SyntheticLines]:
        """Of each part; the families of the test part are those that are held out."""
        train, held_out = split_faces(self.faces)
        faces = {"train": train, "dev": train, "test": held_out}
        return {
            part: SyntheticLines(self.seeds[part], faces=faces[part], config=self.config) for part in PARTS
        }

    @cached_property
    def texts(self) -> dict[str, dict[int, str]]:
        """What the lines of each part say, by their numbers; nothing is drawn for it."""
        known: set[str] = set()
        found = {}
        for part in PARTS:
            found[part] = self._unseen(part, known)
            known |= set(found[part].values())
        return found

    def _unseen(self, part: str, known: Collection[str]) -> dict[int, str]:
        lines, wanted = self.lines[part], self.sizes[part]
        chosen: dict[int, str] = {}
        for number in range(_MOST_TRIES * wanted):
            if len(chosen) == wanted:
                break
            text = lines.text(number)
            if text not in known:
                chosen[number] = text
        return chosen

    def read(self, part: str) -> Iterator[TextLine]:
        """Draw the lines of a part."""
        return (self.lines[part][number] for number in self.texts[part])

    def labels(self, part: str) -> tuple[LabelledText, ...]:
        """What they say."""
        lines = self.lines[part]
        return tuple(LabelledText(text, *lines.place(i)) for i, text in self.texts[part].items())

    def fingerprint(self) -> str:
        """SHA-256 of texts, configuration and fonts."""
        config = asdict(self.config)
        if self.config.texts.own_file:
            # What the file says counts, and not where it lies.
            config["texts"]["own_file"] = file_sha256(self.config.texts.own_file)
        fonts = [[face.family, face.style] for face in self.faces]
        texts = [list(self.texts[part].values()) for part in PARTS]
        content = json.dumps([config, fonts, self.seeds, texts])
        return hashlib.sha256(content.encode()).hexdigest()


def with_own_texts(config: LineConfig, own: Path | None) -> LineConfig:
    """A configuration half of whose lines say a user's own texts; None leaves it as it is."""
    if own is None:
        return config
    others = sum(getattr(config.texts, kind) for kind in KINDS)
    return replace(config, texts=replace(config.texts, own=others, own_file=str(own)))


def synthetic_lines(chosen: LineSet, n_train: int = 0, own: Path | None = None) -> Corpus:
    """Drawn lines: train and dev in some font families, test in others; no text of dev or test stands in training.

    Args:
        chosen: `FULL`, `FRESH` or `EASY`.
        n_train: training lines; 0 takes the set's number.
        own: a file with a user's own texts, one a line; its SHA-256 is in the `source` of the corpus.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not UTF-8, or has no text.
    """
    sizes = chosen.sizes | ({"train": n_train} if n_train else {})
    faces = line_faces(chosen)
    seeds = SEEDS | {"test": chosen.test_seed}
    parts = DrawnParts(with_own_texts(chosen.config, own), faces, sizes, seeds)
    return Corpus(
        name=chosen.name,
        protocol="fonts and texts held out",
        labels={part: parts.labels(part) for part in PARTS},
        read=parts.read,
        source={"generator": parts.fingerprint()} | ({OWN_TEXTS: file_sha256(own)} if own else {}),
        sizes=lambda: sizes_of(parts.lines["train"][i] for i in range(min(_MEASURED, sizes["train"]))),
        notes=(_fonts_note(faces),),
        generate=n_train,
    )


def _fonts_note(faces: Sequence[Face]) -> str:
    train, held_out = ({face.family: None for face in side} for side in split_faces(faces))
    return f"{len(train)} font families for training; held out for testing: {', '.join(held_out)}"


def generated_receipts(protocol: str, n_receipts: int = 0) -> Corpus:
    """Generated photographs of receipts with their table, read and cut as the real ones are.

    Args:
        protocol: how they are parted, one of `data.splits.PROTOCOLS`.
        n_receipts: how many; 0 takes `N_RECEIPTS`.
    """
    with TemporaryDirectory() as folder:
        path = write_receipts(folder, n_receipts or N_RECEIPTS)
        table = read_table(path)
        photos = {image.name: image.read_bytes() for image in (Path(folder) / "images").iterdir()}

    def picture(receipt: Receipt) -> np.ndarray:
        return read_gray(photos[receipt.image], receipt.image)

    return parted_table(
        table,
        "receipts",
        protocol,
        lambda receipts: receipt_lines(receipts, picture),
        pictures="generated photographs",
        generate=n_receipts,
    )
