"""Small exports of Label Studio, in the form that its template for OCR gives them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SIZE = (400, 300)


def rectangle(x: float, y: float, wide: float, high: float, rotation: float = 0) -> dict[str, float]:
    """A shape in percent by its corner, sides in pixels of a photograph of `SIZE`."""
    across, down = (100 / side for side in SIZE)
    return {
        "x": x * across,
        "y": y * down,
        "width": wide * across,
        "height": high * down,
        "rotation": rotation,
    }


def polygon(*points: tuple[float, float]) -> dict[str, Any]:
    """A shape in percent by its corners in pixels."""
    return {"points": [[x * 100 / SIZE[0], y * 100 / SIZE[1]] for x, y in points], "closed": True}


def region(
    name: str, shape: dict[str, Any], *texts: str, label: str = "Text", **more: Any
) -> list[dict[str, Any]]:
    """The results of one region: shape, label, text."""
    is_polygon = "points" in shape
    common = {"id": name, "to_name": "image", "original_width": SIZE[0], "original_height": SIZE[1]}
    common |= {"image_rotation": 0} | more
    bare = "polygon" if is_polygon else "rectangle"
    found = [
        common | {"type": bare, "from_name": "poly" if is_polygon else "bbox", "value": shape},
        common | {"type": "labels", "from_name": "label", "value": shape | {"labels": [label]}},
    ]
    if texts:
        said = shape | {"text": list(texts)}
        found.append(common | {"type": "textarea", "from_name": "transcription", "value": said})
    return found


def task(picture: str, *regions: Sequence[dict[str, Any]], key: str = "ocr") -> dict[str, Any]:
    """A photograph with its regions."""
    results = [one for results in regions for one in results]
    annotation = {"id": 1, "was_cancelled": False, "result": results}
    return {"id": 7, "data": {key: picture}, "annotations": [annotation], "predictions": []}


def write_export(folder: Path, *tasks: dict[str, Any], name: str = "project-1.json") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(json.dumps(tasks, ensure_ascii=False), "utf-8")
    return folder / name
