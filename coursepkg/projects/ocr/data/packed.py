"""Line pictures packed into one file of pixels, read back without copying.

A folder holds `pixels-<hash>.bin`, the rows of all pictures one after another, and
`index.json`, which says of each line where its pixels begin, how high and wide it is,
what it says and where it is from. Pictures are scaled to one of a few heights, so that
a batch needs no resizing. The index is written last and names the pixels by their hash:
a writer that is stopped leaves what was there before.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, fields
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np

from coursepkg.files import check_seal, read_json, write_json
from coursepkg.projects.ocr.data.images import fit_image
from coursepkg.projects.ocr.line import TextLine, Unreadable
from coursepkg.validation import check_count

INDEX = "index.json"
KIND = "packed lines"
VERSION = 1
"""Of the layout of both files."""
COLUMNS = ("offsets", "heights", "widths", "texts", "groups", "names")


def bucket_height(height: int, heights: Sequence[int]) -> int:
    """The lowest height that loses no rows, or the highest there is."""
    return min((one for one in heights if one >= height), default=max(heights))


def columns_sha256(columns: dict[str, list[Any]]) -> str:
    """SHA-256 of what an index says of its lines."""
    content = json.dumps([columns[name] for name in COLUMNS], ensure_ascii=False)
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()


class PackedLines(Sequence[TextLine]):
    """Packed lines, by their numbers from 0; `pack_lines` writes them.

    Args:
        folder: where they lie.
        source: what they must have been made from, for instance the SHA-256 of a label
            file; a folder that was packed from something else is refused. None takes
            any.
        verify: compare the hash of all pixels; without it only their number is checked.

    Raises:
        FileNotFoundError: a file is missing.
        ValueError: a file is damaged, of another version, or made from another source;
            it is named.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        source: dict[str, str] | None = None,
        verify: bool = True,
    ) -> None:
        self.folder = Path(folder)
        index = _read_index(self.folder / INDEX)
        if source is not None and source != index["source"]:
            raise ValueError(
                f"{self.folder} was packed from {_source_text(index['source'])}, not"
                f" from {_source_text(source)}; pack it again"
            )
        columns = index["lines"]
        self.source: dict[str, str] = index["source"]
        self.heights: tuple[int, ...] = tuple(index["heights"])
        self.left_out = tuple(Unreadable(**one) for one in index["left_out"])
        self.texts: list[str] = columns["texts"]
        self.groups: list[str] = columns["groups"]
        self.names: list[str] = columns["names"]
        self.sizes = list(zip(columns["heights"], columns["widths"], strict=True))
        self._offsets: list[int] = columns["offsets"]
        self.sha256: str = index["lines_sha256"]
        self._seal = index["pixels"]
        path = self.folder / str(self._seal["file"])
        if verify:
            check_seal(path, self._seal)
        elif not path.is_file() or path.stat().st_size != self._seal["bytes"]:
            raise ValueError(f"{path} is missing or cut short; pack the lines again")
        self._pixels = _mapped(path)

    def __len__(self) -> int:
        return len(self.texts)

    def image(self, number: int) -> np.ndarray:
        """The picture of a line, uint8 (height, width): a read-only view."""
        offset, (height, width) = self._offsets[number], self.sizes[number]
        return self._pixels[offset : offset + height * width].reshape(height, width)

    @overload
    def __getitem__(self, index: int) -> TextLine: ...

    @overload
    def __getitem__(self, index: slice) -> list[TextLine]: ...

    def __getitem__(self, index: int | slice) -> TextLine | list[TextLine]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return TextLine(
            self.image(index), self.texts[index], self.groups[index], self.names[index]
        )

    def __iter__(self) -> Iterator[TextLine]:
        return (self[i] for i in range(len(self)))

    def __getstate__(self) -> dict[str, Any]:
        # Another process maps the file itself instead of receiving a copy of it.
        return {name: own for name, own in vars(self).items() if name != "_pixels"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._pixels = _mapped(self.folder / str(self._seal["file"]))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of texts, sizes and pixels."""
        both = f"{self.sha256} {self._seal['sha256']}"
        return hashlib.sha256(both.encode()).hexdigest()


def _mapped(path: Path) -> np.ndarray:
    """The bytes of a file as an array that is read when it is looked at."""
    return np.memmap(path, dtype=np.uint8, mode="r").view(np.ndarray)


def _read_index(path: Path) -> dict[str, Any]:
    kinds = {
        "kind": str,
        "version": int,
        "heights": list,
        "source": dict,
        "pixels": dict,
        "lines": dict,
        "left_out": list,
        "lines_sha256": str,
    }
    index = read_json(path, needs={"kind": str, "version": int})
    if index["kind"] != KIND or index["version"] != VERSION:
        raise ValueError(
            f"{path} is {index['kind']!r} of version {index['version']}, not {KIND!r}"
            f" of version {VERSION}; pack the lines again"
        )
    index = read_json(path, needs=kinds)
    _check_left_out(path, index["left_out"])
    columns = index["lines"]
    are_there = all(isinstance(columns.get(name), list) for name in COLUMNS)
    is_whole = are_there and len({len(columns[name]) for name in COLUMNS}) == 1
    if not is_whole or columns_sha256(columns) != index["lines_sha256"]:
        raise ValueError(
            f"{path} was changed: its lines are not those on record; pack them again"
        )
    name = index["pixels"].get("file")
    if not isinstance(name, str) or Path(name).name != name:
        raise ValueError(
            f"{path} is damaged: it names no file of pixels beside it; pack the lines"
            " again"
        )
    places = (columns[name] for name in ("offsets", "heights", "widths"))
    ends = [o + h * w for o, h, w in zip(*places, strict=True)]
    if [0, *ends] != [*columns["offsets"], index["pixels"].get("bytes")]:
        raise ValueError(
            f"{path} is damaged: its pictures do not fill the pixels; pack the lines"
            " again"
        )
    return index


def _check_left_out(path: Path, entries: list[Any]) -> None:
    facts = {one.name for one in fields(Unreadable)}
    for one in entries:
        is_whole = isinstance(one, dict) and one.keys() == facts
        if not is_whole or not all(isinstance(value, str) for value in one.values()):
            needed = "name, text, group and reason of a line that is left out"
            raise ValueError(
                f"{path} is damaged: {needed} are not all there; pack the lines again"
            )


def _source_text(source: dict[str, str]) -> str:
    named = ", ".join(f"{name} {value[:16]}" for name, value in source.items())
    return named or "nothing named"


def pack_lines(
    lines: Iterable[TextLine | Unreadable],
    folder: str | Path,
    *,
    heights: Sequence[int] = (40,),
    box_width: int = 0,
    source: Mapping[str, str] | None = None,
) -> PackedLines:
    """Scale lines to their height buckets and write them into a folder.

    Older packed lines in it are replaced.

    Args:
        lines: with and without pictures; those without, and pictures of one pixel, are
            kept in `left_out` with their reasons.
        folder: made where it is not there.
        heights: in pixels; a picture goes to the lowest that loses none of its rows.
            One height, that of the model, leaves nothing to do for a batch.
        box_width: 0 keeps the proportions; above 0 every picture is squeezed or
            stretched to this width.
        source: what the lines are made from, by name and hash; who reads them may
            insist on it.

    Raises:
        ValueError: a height is below 2, or no line has a picture.
        OSError: the folder cannot be written, as on a full disk; what it held before
            stays.
    """
    _check_sizes(heights, box_width)
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    columns: dict[str, list[Any]] = {name: [] for name in COLUMNS}
    left_out: list[Unreadable] = []
    part = folder / "pixels.part"
    try:
        pixels = _write_pixels(lines, part, heights, box_width, columns, left_out)
        if not columns["texts"]:
            first = f"; the first: {left_out[0].reason}" if left_out else ""
            raise ValueError(
                f"{folder}: no line has a picture that can be packed{first}"
            )
        os.replace(part, folder / pixels["file"])
    except OSError as reason:
        raise OSError(
            f"{folder}: the pixels could not be written: {reason}; free some space"
        ) from reason
    finally:
        part.unlink(missing_ok=True)
    about = {"heights": sorted(heights), "source": dict(source or {}), "pixels": pixels}
    _write_index(folder, about, columns, left_out)
    return PackedLines(folder, verify=False)


def _check_sizes(heights: Sequence[int], box_width: int) -> None:
    if not heights:
        raise ValueError("heights must name at least one height, got none")
    for height in heights:
        check_count("heights", height, least=2)
    check_count("box_width", box_width, least=0)


def _write_pixels(
    lines: Iterable[TextLine | Unreadable],
    path: Path,
    heights: Sequence[int],
    box_width: int,
    columns: dict[str, list[Any]],
    left_out: list[Unreadable],
) -> dict[str, Any]:
    """Write all rows and fill the index; name, size and hash of the file."""
    digest, offset = hashlib.sha256(), 0
    with path.open("wb") as file:
        for line in lines:
            if isinstance(line, Unreadable):
                left_out.append(line)
                continue
            try:
                height = bucket_height(line.height, heights)
                image = fit_image(line.image, height, box_width, line.name)
            except ValueError as reason:
                left_out.append(
                    Unreadable(line.name, line.text, line.group, str(reason))
                )
                continue
            rows = image.tobytes()
            file.write(rows)
            digest.update(rows)
            entry = (offset, *image.shape, line.text, line.group, line.name)
            for name, value in zip(COLUMNS, entry, strict=True):
                columns[name].append(value)
            offset += len(rows)
        file.flush()
        os.fsync(file.fileno())
    sha256 = digest.hexdigest()
    return {"file": f"pixels-{sha256[:16]}.bin", "bytes": offset, "sha256": sha256}


def _write_index(
    folder: Path,
    about: Mapping[str, Any],
    columns: dict[str, list[Any]],
    left_out: Sequence[Unreadable],
) -> None:
    """Write the index, and only then remove the pixels that no index names any more."""
    index = {
        "kind": KIND,
        "version": VERSION,
        **about,
        "lines_sha256": columns_sha256(columns),
        "left_out": [asdict(one) for one in left_out],
        "lines": columns,
    }
    write_json(folder / INDEX, index)
    for old in folder.glob("pixels-*.bin"):
        if old.name != about["pixels"]["file"]:
            old.unlink()
