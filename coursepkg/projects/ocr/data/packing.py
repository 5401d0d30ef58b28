"""Write packed lines: pictures in, one file of pixels and an index out, with one picture in memory at a time."""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from coursepkg.arguments import check_count
from coursepkg.projects.ocr.data.images import fit_image
from coursepkg.projects.ocr.data.mc_ocr_lines import Unreadable
from coursepkg.projects.ocr.data.packed import (
    COLUMNS,
    INDEX,
    KIND,
    VERSION,
    PackedLines,
    bucket_height,
    columns_sha256,
)
from coursepkg.projects.ocr.line import TextLine
from coursepkg.training.files import write_json


def pack_lines(
    lines: Iterable[TextLine | Unreadable],
    folder: str | Path,
    *,
    heights: Sequence[int] = (40,),
    box_width: int = 0,
    source: Mapping[str, str] | None = None,
) -> PackedLines:
    """Scale lines to their height buckets and write them into a folder; older packed lines in it are replaced.

    Args:
        lines: with and without pictures; those without, and pictures of one pixel, are kept in `left_out` with their
            reasons.
        folder: made where it is not there.
        heights: in pixels; a picture goes to the lowest that loses none of its rows. One height, that of the model,
            leaves nothing to do for a batch.
        box_width: 0 keeps the proportions; above 0 every picture is squeezed or stretched to this width.
        source: what the lines are made from, by name and hash; who reads them may insist on it.

    Raises:
        ValueError: a height is below 2, or no line has a picture.
        OSError: the folder cannot be written, as on a full disk; what it held before stays.
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
            raise ValueError(f"{folder}: no line has a picture that can be packed{first}")
        os.replace(part, folder / pixels["file"])
    except OSError as reason:
        raise OSError(f"{folder}: the pixels could not be written: {reason}; free some space") from reason
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
    """Write the rows of all pictures and fill the columns of the index; name, size and hash of the file."""
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
                left_out.append(Unreadable(line.name, line.text, line.group, str(reason)))
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
    folder: Path, about: Mapping[str, Any], columns: dict[str, list[Any]], left_out: Sequence[Unreadable]
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
