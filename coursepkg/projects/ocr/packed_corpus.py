"""A corpus packed once: one folder of packed lines a part, and a card that says what they are.

FOLDER/corpus.json          name, split, what it was made from; written last
FOLDER/train, dev, test     see `data.packed`
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from coursepkg.arguments import check_count
from coursepkg.projects.ocr.corpus import PARTS, Corpus
from coursepkg.projects.ocr.data.audit import LabelledText
from coursepkg.projects.ocr.data.mc_ocr_lines import Unreadable
from coursepkg.projects.ocr.data.packed import INDEX, PackedLines
from coursepkg.projects.ocr.data.packing import pack_lines
from coursepkg.projects.ocr.line import TextLine
from coursepkg.training.files import read_json, write_json
from coursepkg.wording import counted

CARD = "corpus.json"
KIND, VERSION = "packed corpus", 1


def pack_corpus(
    corpus: Corpus, out: Path, *, height: int, box_width: int = 0, say: Callable[[str], None] = print
) -> Corpus:
    """Pack every part that has lines. A part that an earlier call packed from the same source is not packed again.

    Args:
        corpus: to pack.
        out: folder; what it holds of another corpus is replaced.
        height: of the pictures, that of the model.
        box_width: 0 keeps their proportions.
        say: receives a line for each part.

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
        packed = done or pack_lines(
            corpus.read(part), out / part, heights=(height,), box_width=box_width, source=own
        )
        what = "there already" if done else "packed"
        say(f"{part}: {counted(len(packed), 'line')} {what}, {len(packed.left_out):,} not")
        for one in packed.left_out[:3]:
            say(f"  {one.name}: {one.reason}")
    card = corpus.described() | {"kind": KIND, "version": VERSION, "notes": list(corpus.notes)}
    write_json(out / CARD, card | {"height": height, "box_width": box_width})
    return open_packed(out)


def open_packed(folder: Path) -> Corpus:
    """The corpus that `pack_corpus` wrote.

    Raises:
        ValueError: a file is damaged or of another version.
    """
    needs = {"kind": str, "version": int}
    card = read_json(folder / CARD, needs=needs)
    if card["kind"] != KIND or card["version"] != VERSION:
        raise ValueError(f"{folder / CARD} is no {KIND} of version {VERSION}; pack the lines again")
    texts = {"name": str, "protocol": str, "source": dict, "notes": list, "n_lines": dict, "generate": int}
    card = read_json(folder / CARD, needs=texts | {"height": int, "box_width": int})
    packed = {part: PackedLines(folder / part) for part in PARTS if card["n_lines"].get(part)}

    def read(part: str) -> Iterator[TextLine | Unreadable]:
        if part in packed:
            yield from packed[part]
            yield from packed[part].left_out

    return Corpus(
        name=card["name"],
        protocol=card["protocol"],
        labels={part: _labels(packed.get(part)) for part in PARTS},
        read=read,
        source=card["source"],
        sizes=lambda: [(float(wide), float(high)) for lines in packed.values() for high, wide in lines.sizes],
        notes=(*card["notes"], _note(card)),
        generate=card["generate"],
    )


def _note(card: dict[str, Any]) -> str:
    width = f" and width {card['box_width']}" if card["box_width"] else ""
    return f"packed at height {card['height']}{width}"


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
    except ValueError:
        return None  # of another corpus, or damaged: it is packed again
