"""A set of labelled lines in three parts, packed or drawn.

Texts are there at once, pictures when a part is asked for. A packed corpus is a folder:

FOLDER/train, dev, test     see `data.packed`
FOLDER/corpus.json          name, protocol and notes

Generated lines are a function of their number and of the fonts alone.
"""

import hashlib
import json
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any

from coursepkg.app.report import character_name
from coursepkg.files import file_sha256, read_json, write_json
from coursepkg.projects.ocr.data.audit import LabelledText
from coursepkg.projects.ocr.data.packed import INDEX, PackedLines, pack_lines
from coursepkg.projects.ocr.data.table_row import Fault
from coursepkg.projects.ocr.line import Sorted, TextLine, Unreadable, sort_lines
from coursepkg.projects.ocr.synthetic.fonts import (
    Face,
    complete_faces,
    faces_in,
    matplotlib_folder,
    split_faces,
)
from coursepkg.projects.ocr.synthetic.render import LineConfig, SyntheticLines
from coursepkg.projects.ocr.synthetic.texts import KINDS, LineTexts, TextConfig
from coursepkg.validation import check_count, counted

PARTS = ("train", "dev", "test")
ReadPart = Callable[[str], Iterable[TextLine | Unreadable]]
"""The lines of a part by its name, one after another."""
Sizes = Callable[[], list[tuple[float, float]]]
"""Width and height in pixels of pictures, as far as they are known without much
work."""


@dataclass(frozen=True)
class Corpus:
    """Lines by part: texts are there at once, pictures when a part is asked for."""

    name: str
    """Of the set that was read; of a user's own folder the folder's name."""
    protocol: str
    """How it is parted, in a word or two: for signatures."""
    labels: Mapping[str, tuple[LabelledText, ...]]
    """What the lines of each part say, pictures that cannot be read included."""
    read: ReadPart
    """Gives the lines of a part, in the order of its labels."""
    source: Mapping[str, str]
    """What the lines are made from, by name and hash: equal for equal corpora."""
    sizes: Sizes
    """Of some pictures: what `describe` needs."""
    notes: tuple[str, ...] = ()
    """What stands in for something else, or must be known beside a score, one line
    each."""
    faults: tuple[Fault, ...] = ()
    """What is wrong with the table."""
    generate: int = 0
    """How many lines or receipts were asked for; 0 for the usual number, and where
    nothing is generated."""

    def part(self, name: str) -> Sorted:
        """The lines of a part with their pictures, and those that cannot be read.

        Raises:
            ValueError: it has no line.
        """
        return sort_lines(self.lines(name))

    def lines(self, name: str, limit: int = 0) -> list[TextLine | Unreadable]:
        """The lines of a part in their order, whether they can be read or not.

        Args:
            name: train, dev or test.
            limit: so many of them, the first ones; 0 takes all.

        Raises:
            ValueError: it has no line.
        """
        if not self.labels[name]:
            raise ValueError(
                f"--data {self.name} has no {name} part under --split {self.protocol};"
                " choose another --split or --part"
            )
        return list(islice(self.read(name), limit or None))

    @property
    def texts(self) -> dict[str, list[str]]:
        """What the lines of each part say."""
        return {part: [one.text for one in self.labels[part]] for part in PARTS}

    def described(self) -> dict[str, Any]:
        """What a model's card says of the data it learnt from."""
        return {
            "name": self.name,
            "protocol": self.protocol,
            "generate": self.generate,
            "source": dict(self.source),
            "n_lines": {part: len(self.labels[part]) for part in PARTS},
        }


def sizes_of(lines: Iterable[TextLine | Unreadable]) -> list[tuple[float, float]]:
    """Width and height of the pictures of some lines."""
    there = (line for line in lines if isinstance(line, TextLine))
    return [(float(line.width), float(line.height)) for line in there]


CARD = "corpus.json"
KIND, VERSION = "packed corpus", 1


def pack_corpus(
    corpus: Corpus,
    out: Path,
    *,
    height: int,
    box_width: int = 0,
    log: Callable[[str], None] = print,
) -> Corpus:
    """Pack every part that has lines; a part packed from the same source stays.

    Args:
        corpus: to pack.
        out: folder; what it holds of another corpus is replaced.
        height: of the pictures, that of the model.
        box_width: 0 keeps their proportions.
        log: receives a line for each part.

    Raises:
        ValueError: no picture of a part can be read.
        OSError: the folder cannot be written.
    """
    check_count("--height", height, least=8)
    out.mkdir(parents=True, exist_ok=True)
    (out / CARD).unlink(missing_ok=True)
    source = {**corpus.source, "height": str(height), "box_width": str(box_width)}
    for part in PARTS:
        if not corpus.labels[part]:
            continue
        own = source | {"part": part}
        done = _packed_before(out / part, own)
        how: dict[str, Any] = {"heights": (height,), "box_width": box_width}
        packed = done or pack_lines(corpus.read(part), out / part, source=own, **how)
        what, n_left = "there already" if done else "packed", len(packed.left_out)
        log(f"{part}: {counted(len(packed), 'line')} {what}, {n_left:,} not")
        for one in packed.left_out[:3]:
            log(f"  {one.name}: {one.reason}")
    kind = {"kind": KIND, "version": VERSION, "notes": list(corpus.notes)}
    sizes = {"height": height, "box_width": box_width}
    write_json(out / CARD, corpus.described() | kind | sizes)
    return open_packed(out)


def open_packed(folder: Path) -> Corpus:
    """The corpus that `pack_corpus` wrote.

    Raises:
        ValueError: a file is damaged or of another version.
    """
    card = read_json(folder / CARD, needs={"kind": str, "version": int})
    if card["kind"] != KIND or card["version"] != VERSION:
        raise ValueError(
            f"{folder / CARD} is no {KIND} of version {VERSION}; pack the lines again"
        )
    needs: dict[str, type] = {"name": str, "protocol": str, "source": dict}
    needs |= {"notes": list, "n_lines": dict}
    needs |= dict.fromkeys(("generate", "height", "box_width"), int)
    card = read_json(folder / CARD, needs=needs)
    there = [part for part in PARTS if card["n_lines"].get(part)]
    packed = {part: PackedLines(folder / part) for part in there}

    def read(part: str) -> Iterator[TextLine | Unreadable]:
        if part in packed:
            yield from packed[part]
            yield from packed[part].left_out

    width = f" and width {card['box_width']}" if card["box_width"] else ""
    return Corpus(
        name=card["name"],
        protocol=card["protocol"],
        labels={part: _labels(packed.get(part)) for part in PARTS},
        read=read,
        source=card["source"],
        sizes=lambda: [
            (float(wide), float(high))
            for lines in packed.values()
            for high, wide in lines.sizes
        ],
        notes=(*card["notes"], f"packed at height {card['height']}{width}"),
        generate=card["generate"],
    )


def _labels(packed: PackedLines | None) -> tuple[LabelledText, ...]:
    if packed is None:
        return ()
    there = zip(packed.texts, packed.groups, packed.names, strict=True)
    return (
        *(LabelledText(*one) for one in there),
        *(LabelledText(one.text, one.group, one.name) for one in packed.left_out),
    )


def _packed_before(folder: Path, source: dict[str, str]) -> PackedLines | None:
    if not (folder / INDEX).is_file():
        return None
    try:
        return PackedLines(folder, source=source)
    except (ValueError, FileNotFoundError):
        return None  # of another corpus, or damaged: it is packed again


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
    """Whether the fonts in $COURSEPKG_FONTS are drawn with, too, beside those of
    matplotlib."""
    test_seed: int = SEEDS["test"]
    """Of the test part's texts and looks."""


FULL = LineSet("synthetic", {"train": 20_000, "dev": 500, "test": 1_000})
"""All kinds of texts and effects."""

FRESH = replace(FULL, name="synthetic-fresh", test_seed=20261123)
"""The same with another test part: for a last word after choices were made with that of
`FULL` in view.

The texts of the test part of `FULL` were kept out of the training of the model that
ships, these were not: `scripts/measure_ocr_lines.py` leaves out the lines whose text it
learnt. """

CURRENCIES = LineSet(
    "synthetic-currencies",
    {"train": 2_000, "dev": 200, "test": 400},
    LineConfig(
        texts=TextConfig(
            receipts=0.0,
            documents=0.0,
            sentences=0.0,
            prose=0.0,
            syllables=0.0,
            codes=0.0,
            currencies=1.0,
        )
    ),
)
"""Amounts in other currencies than đồng alone."""

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
"""Short lines of a clear print: a network of half a million parameters learns to read
them in a minute."""


def line_faces(chosen: LineSet) -> tuple[Face, ...]:
    """The fonts of a set: matplotlib's, and those in $COURSEPKG_FONTS.

    Raises:
        ValueError: the variable names no folder.
    """
    own = os.environ.get("COURSEPKG_FONTS") if chosen.own_fonts else None
    if own and not Path(own).expanduser().is_dir():
        raise ValueError(
            f"COURSEPKG_FONTS={own}: there is no such folder; name one with fonts, or"
            " unset the variable"
        )
    return faces_in([matplotlib_folder(), *([own] if own else [])])


@dataclass(frozen=True)
class DrawnParts:
    """Which generated lines are in which part; no text stands in two of them."""

    config: LineConfig
    faces: tuple[Face, ...]
    sizes: dict[str, int]
    seeds: dict[str, int] = field(default_factory=lambda: dict(SEEDS))

    @cached_property
    def writer(self) -> LineTexts:
        """What draws the texts of all parts; a user's own file is read here alone."""
        return LineTexts(self.config.texts)

    @cached_property
    def own_sha256(self) -> str:
        """SHA-256 of a user's own file; empty without one."""
        file = self.config.texts.own_file
        return file_sha256(file) if file else ""

    @cached_property
    def lines(self) -> dict[str, SyntheticLines]:
        """Of each part; the families of the test part are those that are held out."""
        train, held_out = split_faces(self.faces)
        faces = {"train": train, "dev": train, "test": held_out}
        shared: dict[str, Any] = {"config": self.config, "texts": self.writer}
        return {
            part: SyntheticLines(self.seeds[part], faces=faces[part], **shared)
            for part in PARTS
        }

    @cached_property
    def texts(self) -> dict[str, dict[int, str]]:
        """What the lines of each part say; nothing is drawn for it."""
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
        return tuple(
            LabelledText(text, *lines.place(i)) for i, text in self.texts[part].items()
        )

    def fingerprint(self) -> str:
        """SHA-256 of texts, configuration and fonts."""
        config = asdict(self.config)
        # What the file says counts, and not where it lies.
        config["texts"]["own_file"] = self.own_sha256
        fonts = [[face.family, face.style] for face in self.faces]
        texts = [list(self.texts[part].values()) for part in PARTS]
        content = json.dumps([config, fonts, self.seeds, texts])
        return hashlib.sha256(content.encode()).hexdigest()


def with_own_texts(config: LineConfig, own: Path | None) -> LineConfig:
    """A configuration half of whose lines say a user's own texts, if there are any."""
    if own is None:
        return config
    others = sum(getattr(config.texts, kind) for kind in KINDS)
    return replace(config, texts=replace(config.texts, own=others, own_file=str(own)))


def synthetic_lines(
    chosen: LineSet, n_train: int = 0, own: Path | None = None
) -> Corpus:
    """Drawn lines: train and dev in some font families, test in others.

    No text of dev or test stands in training.

    Args:
        chosen: `FULL`, `FRESH` or `EASY`.
        n_train: training lines; 0 takes the set's number.
        own: a file with a user's own texts, one a line; its SHA-256 is in the `source`
            of the corpus.

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
        source={"generator": parts.fingerprint()}
        | ({OWN_TEXTS: parts.own_sha256} if own else {}),
        sizes=lambda: sizes_of(
            parts.lines["train"][i] for i in range(min(_MEASURED, sizes["train"]))
        ),
        notes=(_fonts_note(faces), *_own_texts_notes(parts.writer, faces)),
        generate=n_train,
    )


def _fonts_note(faces: Sequence[Face]) -> str:
    train, held_out = (
        {face.family: None for face in side} for side in split_faces(faces)
    )
    return (
        f"{len(train)} font families for training; held out for testing:"
        f" {', '.join(held_out)}"
    )


def _own_texts_notes(writer: LineTexts, faces: Sequence[Face]) -> list[str]:
    """How many of a user's own texts are not drawn as they stand."""
    texts, complete = writer.own, complete_faces(faces)
    most, notes = writer.config.max_length, []
    if n_long := sum(len(text) > most for text in texts):
        notes.append(f"{counted(n_long, 'own text')} cut to {most} characters")
    lacking = [text for text in texts if all(face.missing(text) for face in complete)]
    if lacking:
        common = frozenset.intersection(*(face.characters for face in complete))
        signs = list(dict.fromkeys(c for c in "".join(lacking) if c not in common))
        first = ", ".join(map(character_name, signs[:5]))
        notes.append(
            f"{counted(len(lacking), 'own text')} without the characters that not every"
            f" font has: {first}{', ...' if len(signs) > 5 else ''}"
        )
    return notes
