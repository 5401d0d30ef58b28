"""The JSON export of Label Studio, as its template for OCR makes it, read as a table.

A task is a photograph. What people marked in it are results, and the results of one
region share an id: a rectangle or polygon, with or without labels, and a text area with
what the region says. Coordinates are percent of the photograph's width and height. A
rectangle is turned clockwise around its corner (x, y).

What cannot be used is left out, counted and named; the rest is read.

Source: documentation of Label Studio, "Optical Character Recognition" (template),
"Label Studio Task Format" and "Units of image annotations".
"""

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from coursepkg.files import file_sha256
from coursepkg.projects.ocr.data.mc_ocr import Table, outline_faults, quarters
from coursepkg.projects.ocr.data.table_row import (
    FARTHEST,
    LABELS,
    Fault,
    Instance,
    Receipt,
    image_size,
    read_outlines,
)
from coursepkg.text.vietnamese import compose, unicode_form
from coursepkg.validation import one_line

PICTURES = ("ocr", "image")
"""What the data of a task call its photograph: the first in the template for OCR."""
_UPLOADED = re.compile(r"[0-9a-f]{8}-(?=.)")
"""What an upload puts before the name of a file."""
_MOST_TURNED = 45.0
"""Degrees up to which a rectangle still stands upright."""

Report = Callable[..., None]
"""Gets a kind of fault, what it is, and perhaps the number of an instance."""


def find_export(folder: Path) -> Path | None:
    """The JSON file of a folder; None where there is none, or more than one."""
    found = sorted(folder.glob("*.json"))
    return found[0] if len(found) == 1 else None


def read_export(path: Path, images: Path) -> Table:
    """Read an export.

    Args:
        path: the JSON file.
        images: folder of the photographs; a missing one is a fault.

    Raises:
        ValueError: it is no JSON export of Label Studio, or nothing of it can be used.
    """
    tasks = _tasks(path)
    receipts: list[Receipt] = []
    faults: list[Fault] = []
    n_regions = 0
    seen: set[str] = set()
    for number, task in enumerate(tasks, start=1):
        image = _picture(task["data"], images)
        named = image or f"task {task.get('id', number)}"
        report = partial(_add_fault, faults, named)
        if not image:
            told = f"the data of the task name none as {' or '.join(PICTURES)}"
            report("no picture", f"{told}; it is left out")
            continue
        if image in seen:
            report("repeated image", "the task is left out")
            continue
        seen.add(image)
        regions = _regions(task["annotations"], report)
        n_regions += len(regions)
        receipt = _receipt(image, regions, report)
        if receipt is None:
            continue
        faults += outline_faults(receipt)
        if not (images / image).is_file():
            report("missing image", f"not in {images}")
        receipts.append(receipt)
    if not receipts:
        why = f"; the first fault: {faults[0]}" if faults else ""
        raise ValueError(f"{path}: no line of it can be used{why}")
    found = path.name, file_sha256(path), len(tasks), n_regions
    return Table(*found, tuple(receipts), tuple(faults))


def _add_fault(
    faults: list[Fault], image: str, kind: str, detail: str, instance: int = -1
) -> None:
    faults.append(Fault(kind, 0, image, instance, detail))


def _tasks(path: Path) -> list[dict[str, Any]]:
    """The tasks of an export, each with data and annotations."""
    try:
        tasks = json.loads(path.read_text("utf-8-sig"))
    except UnicodeDecodeError:
        raise ValueError(f"{path}: not UTF-8; export it again") from None
    except (ValueError, RecursionError) as reason:
        told = one_line(reason)
        raise ValueError(f"{path}: no JSON ({told}); export it again") from None
    needs = {"data": dict, "annotations": list}
    if not isinstance(tasks, list) or not all(
        isinstance(task, dict)
        and all(isinstance(task.get(name), kind) for name, kind in needs.items())
        for task in tasks
    ):
        raise ValueError(
            f"{path}: no list of tasks with data and annotations; export from Label"
            " Studio in the format JSON, not JSON-MIN"
        )
    return tasks


def _picture(data: Mapping[str, Any], images: Path) -> str:
    """Where the photograph of a task lies in the folder; its name where it does not."""
    named = next((data[key] for key in PICTURES if isinstance(data.get(key), str)), "")
    try:
        address = urlsplit(named.replace("\\", "/"))
    except ValueError:
        return ""
    # /data/local-files/?d=scans/1.jpg, /data/upload/7/0a1b2c3d-1.jpg, or an address
    place = parse_qs(address.query).get("d", [unquote(address.path)])[-1]
    parts = [one for one in PurePosixPath(place).parts if one not in ("/", "..")]
    if not parts:
        return ""
    original = _UPLOADED.sub("", parts[-1], count=1)
    for first in range(len(parts)):
        for name in (parts[-1], original):
            inside = "/".join((*parts[first:-1], name))
            if (images / inside).is_file():
                return inside
    return parts[-1]


def _regions(annotations: Sequence[Any], report: Report) -> list[list[dict[str, Any]]]:
    """The results of each region that somebody marked, in their order."""
    done = [
        one["result"]
        for one in annotations
        if isinstance(one, dict)
        and not one.get("was_cancelled")
        and isinstance(one.get("result"), list)
        and one["result"]
    ]
    if len(done) > 1:
        report("several annotations", f"{len(done)}; the first is taken")
    regions: dict[str, list[dict[str, Any]]] = {}
    for one in done[0] if done else ():
        if not isinstance(one, dict) or not isinstance(one.get("value"), dict):
            continue  # a relation of two regions
        regions.setdefault(str(one.get("id")), []).append(one)
    lines = [found for found in regions.values() if _is_line(found)]
    if not lines:
        report("not labelled", "no line of it is marked; it is left out")
    return lines


def _is_line(results: Sequence[Mapping[str, Any]]) -> bool:
    """Whether a region has a place or a text, as a choice for the picture has not."""
    return any(
        one.get("type") == "textarea" or {"x", "points"} & one["value"].keys()
        for one in results
    )


def _receipt(
    image: str, regions: Sequence[Sequence[dict[str, Any]]], report: Report
) -> Receipt | None:
    """A photograph with its lines; None where nothing can be used."""
    if not regions:
        return None
    results = [one for region in regions for one in region]
    if any(one.get("image_rotation") for one in results):
        told = "the photograph was turned in Label Studio; turn the file itself and"
        report("turned picture", f"{told} label it again; it is left out")
        return None
    names = {"width": "original_width", "height": "original_height"}
    size = image_size(
        [{name: one.get(key) for name, key in names.items()} for one in results]
    )
    if isinstance(size, str):
        report("image size", f"{size}; it is left out")
        return None
    instances = []
    for number, region in enumerate(regions):
        for item in _instance(number, region, size):
            if isinstance(item, Instance):
                instances.append(item)
            else:
                report(*item, instance=number)
    receipt = Receipt(image, 0, *size, math.nan, tuple(instances))
    if any(quarters(receipt)):
        told = "most texts are taller than wide, or the total stands above the seller"
        report("not upright", f"{told}; turn the photograph; it is left out")
        return None
    return receipt if instances else None


def _instance(
    number: int, region: Sequence[Mapping[str, Any]], size: tuple[int, int]
) -> Iterator[Instance | tuple[str, str]]:
    """The line of a region, if it can be used, and its faults as kind and detail."""
    texts = [text for one in region for text in _texts(one)]
    outline = next(filter(None, (_outline(one["value"], size) for one in region)), None)
    if not texts:
        yield "empty text", "it is left out"
    elif len(texts) > 1:
        yield "several texts", f"{len(texts)} in one region; it is left out"
    elif re.search(r"[\t\r\n]", texts[0]):
        told = "a region is one line; mark each line by itself; it is left out"
        yield "text on several lines", told
    elif outline is None:
        yield "no outline", "draw a rectangle or a polygon for it; it is left out"
    elif _turn(region) > _MOST_TURNED:
        told = f"by more than {_MOST_TURNED:.0f} degrees; turn the photograph and"
        yield "turned text", f"{told} label it again; it is left out"
    else:
        if (form := unicode_form(texts[0])) not in ("NFC", "either"):
            yield "not NFC", f"the text {texts[0][:40]!r} is {form}; it is composed"
        faults: list[tuple[str, str]] = []
        outlines = read_outlines([outline], size, faults)
        yield from faults
        if outlines:
            yield Instance(number, outlines, compose(texts[0]), _label(region))


def _texts(result: Mapping[str, Any]) -> list[str]:
    """What a text area says, without the empty entries."""
    if result.get("type") != "textarea":
        return []
    found = result["value"].get("text")
    entries = found if isinstance(found, list) else [found]
    texts = [entry.strip() for entry in entries if isinstance(entry, str)]
    return [text for text in texts if text]


def _outline(value: Mapping[str, Any], size: tuple[int, int]) -> list[float] | None:
    """The corners of a shape in pixels, x0, y0, x1, y1, ...; None without a shape.

    Where a number is none or far outside of every picture, there is no corner.
    """
    if isinstance(value.get("points"), list):
        points = value["points"]
        if not all(isinstance(point, list) and len(point) == 2 for point in points):
            return [0.0]
        numbers = _numbers([number for point in points for number in point])
        return [n * size[i % 2] / 100 for i, n in enumerate(numbers)] or [0.0]
    names = ("x", "y", "width", "height")
    if not all(name in value for name in names):
        return None
    numbers = _numbers([*(value[name] for name in names), value.get("rotation") or 0])
    if not numbers:
        return [0.0]
    x, y, wide, high = (n * size[i % 2] / 100 for i, n in enumerate(numbers[:4]))
    cos, sin = (turn(math.radians(numbers[4])) for turn in (math.cos, math.sin))
    right, down = (wide * cos, wide * sin), (-high * sin, high * cos)
    return [
        *(x, y),
        *(x + right[0], y + right[1]),
        *(x + right[0] + down[0], y + right[1] + down[1]),
        *(x + down[0], y + down[1]),
    ]


def _numbers(values: Sequence[Any]) -> list[float]:
    """The values, if all are numbers that a picture may have; else none."""
    fine = all(type(one) in (int, float) and abs(one) <= FARTHEST for one in values)
    return [float(one) for one in values] if fine else []


def _turn(region: Sequence[Mapping[str, Any]]) -> float:
    """By how many degrees a rectangle is turned to either side, at most 180."""
    turns = _numbers([one["value"].get("rotation") or 0 for one in region])
    return max((abs((turn + 180) % 360 - 180) for turn in turns), default=0.0)


def _label(region: Sequence[Mapping[str, Any]]) -> str:
    """The label of the table of MC-OCR that a region has; empty without one."""
    for one in region:
        for kind in ("labels", "rectanglelabels", "polygonlabels"):
            given = one["value"].get(kind)
            for name in given if isinstance(given, list) else []:
                if name in LABELS:
                    return str(name)
    return ""
