"""Labelled lines by the name that `--data` takes, or from a folder of the user."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from coursepkg.data.registry import data_folder
from coursepkg.data.split import split_fingerprint
from coursepkg.projects.ocr.corpus import (
    CARD,
    EASY,
    FULL,
    N_RECEIPTS,
    PARTS,
    Corpus,
    LineSet,
    open_packed,
    sizes_of,
    synthetic_lines,
)
from coursepkg.projects.ocr.data.audit import LabelledText, labelled_texts, table_sizes
from coursepkg.projects.ocr.data.images import read_gray
from coursepkg.projects.ocr.data.label_studio import find_export, read_export
from coursepkg.projects.ocr.data.labelled import (
    LABELS,
    LABELS_CSV,
    RECEIPT_COLUMN,
    has_labels,
    read_labels,
)
from coursepkg.projects.ocr.data.mc_ocr import TABLE, Table, read_table, receipt_lines
from coursepkg.projects.ocr.data.splits import PROTOCOLS, split_lines
from coursepkg.projects.ocr.data.table_row import Receipt, instance_name
from coursepkg.projects.ocr.line import TextLine, Unreadable
from coursepkg.projects.ocr.synthetic.receipt_config import receipt_config
from coursepkg.projects.ocr.synthetic.receipts import write_receipts
from coursepkg.projects.ocr.synthetic.render import render_receipt
from coursepkg.validation import check_count, counted

Lines = Iterable[TextLine | Unreadable]


def table_corpus(
    folder: Path, name: str, protocol: str, *, may_render: bool = False
) -> Corpus:
    """A table in the form of MC-OCR, its photographs beside it or in a folder `images`.

    A photograph that is missing is a fault of the table, and its lines are counted as
    unreadable; the others are read.

    Args:
        folder: of the table.
        name: of the corpus.
        protocol: one of `data.splits.PROTOCOLS`.
        may_render: draw the pictures from the table's texts and polygons where none of
            its photographs is there.

    Raises:
        ValueError: none of its photographs is there, and they are not to be drawn.
    """
    images = picture_folder(folder)
    table = read_table(folder, images)
    if not may_render or any(_are_there(table, images)):
        return photographed_table(table, images, name, protocol)
    table = read_table(folder)
    note = (
        f"none of the {len(table.receipts)} photographs is there: pictures are drawn"
        " from the table's texts and polygons, so scores are not those of real"
        " photographs"
    )
    made = "drawn from the table"
    return parted_table(table, name, protocol, drawn_lines, pictures=made, notes=[note])


def picture_folder(folder: Path) -> Path:
    """Where the photographs of a table lie: in its folder `images`, or beside it."""
    return folder / "images" if (folder / "images").is_dir() else folder


def _are_there(table: Table, images: Path) -> list[bool]:
    return [(images / receipt.image).is_file() for receipt in table.receipts]


def photographed_table(table: Table, images: Path, name: str, protocol: str) -> Corpus:
    """A table whose lines are cut out of photographs.

    Args:
        table: read beside its photographs, so that missing ones are among its faults.
        images: folder of the photographs.
        name: of the corpus.
        protocol: one of `data.splits.PROTOCOLS`.

    Raises:
        ValueError: none of the photographs is there.
    """
    there, total = sum(_are_there(table, images)), len(table.receipts)
    if total and not there:
        raise ValueError(
            f"{images}: none of the {total} photographs that {table.file} names; put"
            " them there"
        )
    told = f"{total - there} of {total} photographs are missing in {images}"
    return parted_table(
        table,
        name,
        protocol,
        lambda receipts: receipt_lines(receipts, images),
        pictures="photographs",
        notes=[told] if there < total else [],
    )


def drawn_lines(receipts: Sequence[Receipt]) -> Iterator[TextLine | Unreadable]:
    """The lines of receipts without photographs, drawn; or why they cannot be."""
    for receipt in receipts:
        yield from _drawn(receipt)


def _drawn(receipt: Receipt) -> Iterator[TextLine | Unreadable]:
    page, left_out = render_receipt(receipt)
    reasons = {instance_name(one.image, one.instance): str(one) for one in left_out}
    for line in receipt_lines([receipt], lambda _: page):
        if isinstance(line, TextLine) and line.name in reasons:
            yield Unreadable(line.name, line.text, line.group, reasons[line.name])
        else:
            yield line


def parted_table(
    table: Table,
    name: str,
    protocol: str,
    read: Callable[[Sequence[Receipt]], Lines],
    *,
    pictures: str,
    notes: Sequence[str] = (),
    generate: int = 0,
) -> Corpus:
    """A table parted by a protocol.

    Args:
        table: as it was read.
        name: of the corpus.
        protocol: one of `data.splits.PROTOCOLS`.
        read: gives all lines of some receipts.
        pictures: where they come from, for what tells corpora apart.
        notes: what is to be known.
        generate: see `Corpus`.

    Raises:
        ValueError: no line of it can be used, or they cannot be parted so.
    """
    labels = labelled_texts(table)
    if not labels:
        why = f"; the first fault: {table.faults[0]}" if table.faults else ""
        raise ValueError(f"--data {name}: no line of {table.file} can be used{why}")
    _check_protocol(name, protocol, PROTOCOLS)
    split = split_lines(table.groups, protocol, sellers=table.sellers)
    chosen = {
        part: tuple(labels[i] for i in numbers) for part, numbers in split.parts.items()
    }

    def read_part(part: str) -> Iterator[TextLine | Unreadable]:
        names = {one.name for one in chosen[part]}
        groups = {one.group for one in chosen[part]}
        receipts = [receipt for receipt in table.receipts if receipt.image in groups]
        return (line for line in read(receipts) if line.name in names)

    return Corpus(
        name=name,
        protocol=protocol,
        labels=chosen,
        read=read_part,
        source={
            table.file: table.sha256,
            "pictures": pictures,
            "split": split.fingerprint,
        },
        sizes=lambda: table_sizes(table),
        notes=(*notes, *_protocol_note(protocol)),
        faults=table.faults,
        generate=generate,
    )


def labelled_corpus(folder: Path, name: str, protocol: str) -> Corpus:
    """Pictures with a label file; a folder counts as one document.

    A picture that is missing is a fault, and its line is counted as unreadable.

    Args:
        folder: of the label file.
        name: of the corpus.
        protocol: `test` leaves all lines for testing; `line` cuts anywhere, `receipt`
            keeps together what the table names one receipt, and else folders.

    Raises:
        ValueError: none of the pictures is there, or they cannot be parted so.
    """
    found = read_labels(folder)
    missing = found.missing()
    if len(missing) == len(found):
        raise ValueError(
            f"{folder}: none of the {counted(len(found), 'picture')} that {found.file}"
            " names; put them there"
        )
    labels = [LabelledText(one.text, one.group, one.name) for one in found.pictures]
    chosen: Mapping[str, tuple[int, ...]]
    if protocol == "test":
        chosen = {"train": (), "dev": (), "test": tuple(range(len(labels)))}
    else:
        _check_protocol(name, protocol, ("line", "receipt", "test"))
        chosen = split_lines([one.group for one in labels], protocol).parts
        _check_filled(name, chosen, labels)

    told = [f"{len(missing)} of {len(found)} pictures are missing in {folder}"]
    told = told if missing else []

    def read_part(part: str) -> Iterator[TextLine | Unreadable]:
        return found.chosen(chosen[part]).lines()

    return Corpus(
        name=name,
        protocol=protocol,
        labels={part: tuple(labels[i] for i in chosen[part]) for part in PARTS},
        read=read_part,
        source={found.file: found.sha256, "split": split_fingerprint(chosen)},
        sizes=lambda: sizes_of(found.lines()),
        notes=(*told, *_protocol_note(protocol)),
        faults=tuple(missing),
    )


def _check_protocol(name: str, protocol: str, known: Sequence[str]) -> None:
    if protocol not in known:
        raise ValueError(
            f"--split {protocol} does not go with --data {name}; use one of"
            f" {', '.join(known)}"
        )


def _check_filled(
    name: str, parts: Mapping[str, tuple[int, ...]], labels: Sequence[LabelledText]
) -> None:
    empty = [part for part in PARTS if not parts[part]]
    if not empty:
        return
    groups = [one.group for one in labels]
    message = f"cannot be parted into three, {' and '.join(empty)} would be empty"
    if not all(split_lines(groups, "line").parts.values()):
        lines = counted(len(labels), "line")
        raise ValueError(
            f"--data {name}: its {lines} {message}; add lines, or take --split test"
        )
    documents = counted(len(set(groups)), "document")
    raise ValueError(
        f"--data {name}: its {documents} {message}; put the pictures of each document"
        f" into a folder of its own, name it in a column {RECEIPT_COLUMN} of"
        f" {LABELS_CSV}, or take --split line"
    )


def _protocol_note(protocol: str) -> tuple[str, ...]:
    if protocol != "line":
        return ()
    told = "lines of one receipt or document stand in several parts"
    return (f"parted by line, as the OCR report does: {told}",)


SPLITS = ("auto", "line", "receipt", "seller", "test")
"""What `--split` takes; auto is test for `vi-lines` and receipt for all others."""


class Wanted(NamedTuple):
    """What was asked for besides a name."""

    split: str
    """One of `SPLITS`."""
    generate: int
    """Lines or receipts to generate; 0 takes the usual number."""
    folder: Path
    """Of the real data sets."""
    texts: Path | None = None
    """A user's own texts, for drawn lines to say."""


def load_corpus(
    name: str,
    *,
    split: str = "auto",
    generate: int = 0,
    folder: Path | None = None,
    texts: Path | None = None,
) -> Corpus:
    """Read a set of lines; where it is missing, a generated one and a note.

    Args:
        name: one of `CORPORA`, or the path of a folder.
        split: one of `SPLITS`: what must not be cut apart. Drawn and packed lines are
            parted already.
        generate: lines of `synthetic`, or receipts of `receipts`, to make; 0 takes the
            usual number.
        folder: of the real data sets; None is `data_folder()`.
        texts: a file with a user's own texts, one a line, which about half of the lines
            of `synthetic` then say.

    Raises:
        ValueError: there is no such set or folder, it cannot be parted so, or it has no
            use for `generate` or `texts`.
    """
    check_count("--generate", generate, least=0)
    if split not in SPLITS:
        raise ValueError(f"--split must be one of {', '.join(SPLITS)}, got {split}")
    if texts is not None and name not in DRAWN:
        raise ValueError(
            f"--texts goes with --data {' or '.join(DRAWN)}, got --data {name}"
        )
    if texts is not None and not texts.is_file():
        raise ValueError(f"--texts {texts}: there is no such file")
    wanted = Wanted(split, generate, data_folder() if folder is None else folder, texts)
    if name in CORPORA:
        return CORPORA[name](wanted)
    if generate and Path(name).is_dir():
        raise ValueError(
            f"--generate has no use for the lines of a folder, got --data {name};"
            " leave it out"
        )
    return own_folder(Path(name), split)


def own_folder(folder: Path, split: str = "auto") -> Corpus:
    """A user's folder: packed lines, a table like MC-OCR's, labels, or an export.

    Raises:
        ValueError: it is none of these, or a file of it cannot be used.
    """
    if not folder.is_dir():
        raise ValueError(
            f"--data must be one of {', '.join(CORPORA)} or a folder, got {folder}"
        )
    name = folder.resolve().name  # `.` has none
    if (folder / CARD).is_file():
        return _parted_already(open_packed(folder), split)
    if (folder / TABLE).is_file():
        return table_corpus(folder, name, _split(split, "receipt"))
    if has_labels(folder):
        return labelled_corpus(folder, name, _split(split, "receipt"))
    if (export := find_export(folder)) is not None:
        images = picture_folder(folder)
        table = read_export(export, images)
        split = _split(split, "receipt")
        return photographed_table(table, images, name, split)
    raise ValueError(
        f"--data {folder}: no {LABELS}, no {LABELS_CSV}, no single JSON export of Label"
        f" Studio, no {TABLE} and no {CARD} of `coursepkg ocr pack` in it; add one of"
        " them"
    )


def _split(asked: str, usual: str) -> str:
    return usual if asked == "auto" else asked


def _parted_already(corpus: Corpus, asked: str) -> Corpus:
    """With a note where another split was asked for than the lines have."""
    if asked in ("auto", corpus.protocol):
        return corpus
    note = (
        f"--split {asked} changes nothing: these lines are parted already,"
        f" {corpus.protocol}"
    )
    return replace(corpus, notes=(note, *corpus.notes))


def _synthetic(wanted: Wanted, chosen: LineSet = FULL) -> Corpus:
    drawn = synthetic_lines(chosen, wanted.generate, wanted.texts)
    return _parted_already(drawn, wanted.split)


def _synthetic_tiny(wanted: Wanted) -> Corpus:
    return _synthetic(wanted, EASY)


def _receipts(wanted: Wanted) -> Corpus:
    return generated_receipts(_split(wanted.split, "receipt"), wanted.generate)


def _varied_receipts(wanted: Wanted) -> Corpus:
    protocol = _split(wanted.split, "receipt")
    return generated_receipts(protocol, wanted.generate, "varied-receipts")


def _mc_ocr(wanted: Wanted) -> Corpus:
    folder = wanted.folder / "mc_ocr"
    if not (folder / TABLE).is_file():
        return _stand_in("mc-ocr", folder / TABLE, _receipts(wanted))
    return table_corpus(
        folder, "mc-ocr", _split(wanted.split, "receipt"), may_render=True
    )


def _vi_lines(wanted: Wanted) -> Corpus:
    folder = wanted.folder / "vi_lines"
    if not (folder / LABELS).is_file():
        return _stand_in("vi-lines", folder / LABELS, _synthetic_tiny(wanted))
    return labelled_corpus(folder, "vi-lines", _split(wanted.split, "test"))


def _stand_in(wanted: str, missing: Path, corpus: Corpus) -> Corpus:
    note = (
        f"{missing} is missing, so the generated set {corpus.name} stands in for"
        f" {wanted}; coursepkg data list says how to get it"
    )
    return replace(corpus, notes=(note, *corpus.notes))


DRAWN = ("synthetic", "synthetic-tiny")
"""Those whose lines may say a user's own texts."""

CORPORA: dict[str, Callable[[Wanted], Corpus]] = {
    "synthetic": _synthetic,
    "synthetic-tiny": _synthetic_tiny,
    "receipts": _receipts,
    "varied-receipts": _varied_receipts,
    "mc-ocr": _mc_ocr,
    "vi-lines": _vi_lines,
}
"""By the name that `--data` takes."""


def generated_receipts(
    protocol: str, n_receipts: int = 0, kind: str = "receipts"
) -> Corpus:
    """Generated photographs of receipts, read and cut as the real ones are.

    Args:
        protocol: how they are parted, one of `data.splits.PROTOCOLS`.
        n_receipts: how many; 0 takes `N_RECEIPTS`.
        kind: one of `receipt_config.RECEIPTS`.
    """
    config = receipt_config(kind)
    with TemporaryDirectory() as folder:
        path = write_receipts(folder, n_receipts or N_RECEIPTS, config=config)
        table = read_table(path)
        photos = {
            image.name: image.read_bytes()
            for image in (Path(folder) / "images").iterdir()
        }

    def picture(receipt: Receipt) -> np.ndarray:
        return read_gray(photos[receipt.image], receipt.image)

    return parted_table(
        table,
        kind,
        protocol,
        lambda receipts: receipt_lines(receipts, picture),
        pictures="generated photographs",
        generate=n_receipts,
    )
