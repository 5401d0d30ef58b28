"""Measures PP-OCRv6's detector on generated receipts, for the chapter on pages.

    .venv/bin/python scripts/measure_ocr_detector.py --out book/_data/ocr

It needs the extra `ocr`. Three files are written: detector.json, with counts, costs and how far boxes lie from the true
outlines; boxes.json, the boxes themselves; and probability_map.png, what the network says of each pixel of receipt 0,
255 for a probability of 1.
"""

import argparse
import resource
from collections import Counter
from typing import Any

import numpy as np
from ocr_measurement import conditions, parser_of
from PIL import Image

import coursepkg
from coursepkg.bench.machine import Device
from coursepkg.files import file_sha256, whole_file, write_json
from coursepkg.metrics.scoring import data_hash
from coursepkg.projects.ocr.data.geometry import area
from coursepkg.projects.ocr.detector.detector import BoundedDetector
from coursepkg.projects.ocr.detector.engines import (
    DetectorSettings,
    network_input,
    rapidocr_weights,
)
from coursepkg.projects.ocr.detector.evaluate import (
    generated_pages,
    match_boxes,
    score_page,
)
from coursepkg.projects.ocr.detector.lines import (
    TextBox,
    intersection_over_union,
    place_lines,
)

LEAST = (0.5, 0.6, 0.7, 0.8, 0.9)
SIDES = (640, 960, 1280, 1920)
"""Of the picture as the network sees it, in pixels."""
SEED = 0


def options() -> argparse.Namespace:
    parser = parser_of(__doc__ or "")
    parser.add_argument("--pages", type=int, default=16, help="generated receipts")
    return parser.parse_args()


def main() -> None:
    chosen = options()
    settings = DetectorSettings()
    outlines = [four for _, four in generated_pages(chosen.pages, SEED)]
    facts = {
        "signature": signed(outlines, rapidocr_weights().name),
        "pages": chosen.pages,
        "seed": SEED,
        "settings": settings.of_boxes(),
        "weights": {
            "file": rapidocr_weights().name,
            "sha256": file_sha256(rapidocr_weights()),
        },
        **conditions(
            Device("cpu", settings.n_threads), "onnxruntime", "numpy", "pillow"
        ),
    }
    document, found = measured(settings, chosen.pages)
    document["by_side"] = [by_side(side, chosen.pages) for side in SIDES]
    write_json(
        chosen.out / "detector.json",
        {"schema": "coursepkg.ocr.detector/1", **facts, **document},
    )
    write_json(
        chosen.out / "boxes.json",
        {"schema": "coursepkg.ocr.boxes/1", **facts, "boxes": found},
    )
    with whole_file(chosen.out / "probability_map.png") as file:
        Image.fromarray(probability_map(settings)).save(file, "PNG", optimize=True)
    print(
        {
            name: document[name]
            for name in (
                "lines_merged",
                "cpu_seconds_a_page",
                "peak_megabytes",
                "faults",
            )
        }
    )


def signed(outlines: list[np.ndarray], weights: str) -> str:
    """The signature, in the form of `metrics.scoring.signature`; its data are all corners to a tenth of a pixel."""
    corners = [
        [" ".join(f"{value:.1f}" for value in four.ravel()) for four in page]
        for page in outlines
    ]
    n_texts = sum(map(len, outlines))
    fields = {
        "iou": ",".join(f"{least:g}" for least in LEAST),
        "pages": len(outlines),
        "n": f"{n_texts}/{n_texts}",
        "data": data_hash(corners),
        "protocol": f"generated receipts seed {SEED}, {weights}",
        "version": f"coursepkg-{coursepkg.__version__}",
    }
    return "|".join(["detection", *(f"{key}:{value}" for key, value in fields.items())])


def measured(
    settings: DetectorSettings, n_pages: int
) -> tuple[dict[str, Any], list[list[str]]]:
    """Counts at several overlaps, of boxes as they come and of lines; offsets, faults and costs; and the boxes."""
    written: list[list[str]] = []
    counts: dict[str, Counter[str]] = {"as_found": Counter(), "lines_merged": Counter()}
    offsets: list[list[float]] = []
    faults: Counter[str] = Counter()
    before = _children()
    with BoundedDetector(settings) as detector:
        for image, wanted in generated_pages(n_pages, SEED):
            boxes = detector.detect(image)
            written.append([as_text(box) for box in boxes])
            lines = [line.box.corners for line in place_lines(boxes)]
            for name, found in (
                ("as_found", [box.corners for box in boxes]),
                ("lines_merged", lines),
            ):
                for least in LEAST:
                    one = score_page(found, list(wanted), least)
                    counts[name][f"{least:g}"] += one.n_matched
                counts[name]["boxes"] += one.n_boxes
                counts[name]["lines"] += one.n_lines
            pairs = match_boxes(lines, list(wanted))
            offsets += [outward(lines[i], wanted[j]) for i, j in pairs]
            faults.update(why_missed(lines, wanted, {j for _, j in pairs}))
        peak = detector.peak_memory
    document = {
        **{name: as_shares(count) for name, count in counts.items()},
        "offsets": percentiles(offsets),
        "faults": dict(sorted(faults.items())),
        "cpu_seconds_a_page": round((_children() - before) / n_pages, 3),
        "peak_megabytes": round(peak / 1e6),
    }
    return document, written


def by_side(side: int, n_pages: int) -> dict[str, Any]:
    """Score and cost where the network sees pictures of another size."""
    document, _ = measured(DetectorSettings(side=side, memory=4096), n_pages)
    scores = document["lines_merged"]["by_overlap"]["0.5"]
    return {
        "side": side,
        **scores,
        **{name: document[name] for name in ("cpu_seconds_a_page", "peak_megabytes")},
    }


def as_text(box: TextBox) -> str:
    """Four corners x y to a tenth of a pixel, and the score."""
    return (
        " ".join(f"{value:.1f}" for value in box.corners.ravel()) + f" {box.score:.3f}"
    )


def as_shares(count: Counter[str]) -> dict[str, Any]:
    """Boxes, lines, and by overlap the matches with their recall and precision."""
    by_overlap = {
        name: {
            "matched": count[name],
            "recall": round(count[name] / count["lines"], 4),
            "precision": round(count[name] / count["boxes"], 4),
        }
        for name in (f"{least:g}" for least in LEAST)
    }
    return {"boxes": count["boxes"], "lines": count["lines"], "by_overlap": by_overlap}


def outward(found: np.ndarray, true: np.ndarray) -> list[float]:
    """How far a box reaches beyond a line at its left, top, right and bottom, in heights of the line."""
    origin, right, down = true[0], true[1] - true[0], true[3] - true[0]
    height = float(np.hypot(*down))
    axes = np.array([right / np.hypot(*right), down / height])
    inside = (found - origin) @ axes.T / height
    (near, top), (far, bottom) = inside.min(axis=0), inside.max(axis=0)
    return [-near, -top, far - float(np.hypot(*right)) / height, bottom - 1]


def percentiles(offsets: list[list[float]]) -> dict[str, list[float]]:
    """5%, 25%, 50%, 75% and 95% of the offsets of each side."""
    values = np.percentile(np.array(offsets), (5, 25, 50, 75, 95), axis=0).round(3)
    return dict(zip(("left", "top", "right", "bottom"), values.T.tolist(), strict=True))


def why_missed(
    lines: list[np.ndarray], wanted: np.ndarray, matched: set[int]
) -> list[str]:
    """For each line without a box of its own: whether it was joined to others, cut into pieces, or not seen at all."""
    found = []
    for j, true in enumerate(wanted):
        if j in matched:
            continue
        shares = [common_area(line, true) / area(true) for line in lines]
        if max(shares, default=0) < 0.1:
            found.append("not seen")
        elif sum(share > 0.1 for share in shares) > 1:
            found.append("cut")
        else:
            best = lines[int(np.argmax(shares))]
            others = sum(
                common_area(best, other) > 0.5 * area(other) for other in wanted
            )
            found.append("joined" if others > 1 else "too large or small")
    return found


def common_area(one: np.ndarray, other: np.ndarray) -> float:
    """Common area of two quadrilaterals, from i = c / (a + b - c)."""
    overlap = intersection_over_union(one, other)
    return overlap * (area(one) + area(other)) / (1 + overlap)


def probability_map(settings: DetectorSettings) -> np.ndarray:
    """What the network says of receipt 0, uint8 (height, width) in the size that it sees."""
    import onnxruntime

    image, _ = next(iter(generated_pages(1, SEED)))
    seen = settings.seen_size(image.shape[1], image.shape[0])
    scaled = np.asarray(
        Image.fromarray(image).resize(seen, Image.Resampling.BICUBIC, reducing_gap=2.0)
    )
    session = onnxruntime.InferenceSession(
        str(rapidocr_weights()), providers=["CPUExecutionProvider"]
    )
    found = session.run(None, {session.get_inputs()[0].name: network_input(scaled)})[0]
    return np.rint(255 * np.clip(found[0, 0], 0, 1)).astype(np.uint8)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
