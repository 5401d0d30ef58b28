"""Annotated lines as corpora: a table in the form of MC-OCR with its photographs, or pictures with a `labels.tsv`."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from coursepkg.data.split import split_fingerprint
from coursepkg.projects.ocr.corpus import PARTS, Corpus, sizes_of
from coursepkg.projects.ocr.data.audit import LabelledText, labelled_texts
from coursepkg.projects.ocr.data.describe import table_sizes
from coursepkg.projects.ocr.data.mc_ocr import Table, read_table
from coursepkg.projects.ocr.data.mc_ocr_lines import Unreadable, receipt_lines
from coursepkg.projects.ocr.data.splits import PROTOCOLS, split_lines
from coursepkg.projects.ocr.data.table_row import Receipt, instance_name
from coursepkg.projects.ocr.data.vi_lines import read_labels
from coursepkg.projects.ocr.line import TextLine
from coursepkg.projects.ocr.synthetic.table_render import render_receipt
from coursepkg.wording import counted

Lines = Iterable[TextLine | Unreadable]


def table_corpus(folder: Path, name: str, protocol: str, *, may_render: bool = False) -> Corpus:
    """A table in the form of MC-OCR, its photographs beside it or in a folder `images`.

    A photograph that is missing is a fault of the table, and its lines are counted as unreadable; the others are read.

    Args:
        folder: of the table.
        name: of the corpus.
        protocol: one of `data.splits.PROTOCOLS`.
        may_render: draw the pictures from the table's texts and polygons where none of its photographs is there.

    Raises:
        ValueError: none of its photographs is there, and they are not to be drawn.
    """
    images = folder / "images" if (folder / "images").is_dir() else folder
    table = read_table(folder)
    missing = [receipt for receipt in table.receipts if not (images / receipt.image).is_file()]
    if len(missing) < len(table.receipts):
        table = read_table(folder, images)
        notes = (
            [f"{len(missing)} of {len(table.receipts)} photographs are missing in {images}"]
            if missing
            else []
        )
        return parted_table(
            table,
            name,
            protocol,
            lambda receipts: receipt_lines(receipts, images),
            pictures="photographs",
            notes=notes,
        )
    if not may_render:
        raise ValueError(
            f"{images}: none of the {len(missing)} photographs that {table.file} names; put them there"
        )
    note = (
        f"none of the {len(missing)} photographs is there: pictures are drawn from the table's texts and polygons, "
        "so scores are not those of real photographs"
    )
    return parted_table(table, name, protocol, drawn_lines, pictures="drawn from the table", notes=[note])


def drawn_lines(receipts: Sequence[Receipt]) -> Iterator[TextLine | Unreadable]:
    """The lines of receipts whose photographs are not to be had, drawn; what cannot be drawn says why."""
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
    """
    labels = labelled_texts(table)
    _check_protocol(name, protocol, labels)
    split = split_lines(table.groups, protocol, sellers=table.sellers)
    chosen = {part: tuple(labels[i] for i in numbers) for part, numbers in split.parts.items()}

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
        source={table.file: table.sha256, "pictures": pictures, "split": split.fingerprint},
        sizes=lambda: table_sizes(table),
        notes=(*notes, *_protocol_note(protocol)),
        faults=table.faults,
        generate=generate,
    )


def labelled_corpus(folder: Path, name: str, protocol: str) -> Corpus:
    """Pictures with a `labels.tsv`; lines in one folder are taken for lines of one document.

    Args:
        folder: of the label file.
        name: of the corpus.
        protocol: `test` leaves all lines for testing; `line` cuts anywhere, `receipt` keeps folders together.
    """
    found = read_labels(folder)
    labels = [LabelledText(one.text, one.group, one.name) for one in found.pictures]
    if protocol == "test":
        chosen: dict[str, tuple[int, ...]] = {"train": (), "dev": (), "test": tuple(range(len(labels)))}
    else:
        _check_protocol(name, protocol, labels, sellers=False)
        chosen = split_lines([one.group for one in labels], protocol).parts
        _check_filled(name, chosen, labels)

    def read_part(part: str) -> Iterator[TextLine | Unreadable]:
        return found.chosen(chosen[part]).lines()

    return Corpus(
        name=name,
        protocol=protocol,
        labels={part: tuple(labels[i] for i in chosen[part]) for part in PARTS},
        read=read_part,
        source={"labels.tsv": found.sha256, "split": split_fingerprint(chosen)},
        sizes=lambda: sizes_of(found.lines()),
        notes=_protocol_note(protocol),
    )


def _check_protocol(
    name: str, protocol: str, labels: Sequence[LabelledText], *, sellers: bool = True
) -> None:
    known = [one for one in PROTOCOLS if sellers or one != "seller"]
    if protocol not in known:
        raise ValueError(f"--split {protocol} does not go with --data {name}; use one of {', '.join(known)}")
    if not labels:
        raise ValueError(
            f"--data {name} has no usable line; coursepkg ocr audit --data {name} says what is wrong"
        )


def _check_filled(name: str, parts: dict[str, tuple[int, ...]], labels: Sequence[LabelledText]) -> None:
    empty = [part for part in PARTS if not parts[part]]
    if not empty:
        return
    groups = [one.group for one in labels]
    said = f"cannot be parted into three, {' and '.join(empty)} would be empty"
    if not all(split_lines(groups, "line").parts.values()):
        lines = counted(len(labels), "line")
        raise ValueError(f"--data {name}: its {lines} {said}; add lines, or take --split test")
    folders = counted(len(set(groups)), "folder")
    raise ValueError(
        f"--data {name}: its {folders} {said}; put the pictures of each document into a folder of its own, or take "
        "--split line"
    )


def _protocol_note(protocol: str) -> tuple[str, ...]:
    if protocol != "line":
        return ()
    return (
        "parted by line, as the OCR report does: lines of one receipt or document stand in several parts",
    )
