"""Statistics of labelled lines: how many, how long, how wide at the height of a model, which characters."""

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from coursepkg.projects.ocr.data.alphabet import character_counts
from coursepkg.projects.ocr.data.batches import bucket_width
from coursepkg.projects.ocr.data.geometry import sides
from coursepkg.projects.ocr.data.images import width_at
from coursepkg.projects.ocr.data.mc_ocr import Table
from coursepkg.projects.ocr.data.reading import quarters, read_instance
from coursepkg.projects.ocr.recipe import STEP
from coursepkg.text.vietnamese import ACCENTED


def describe_lines(
    texts: Sequence[str],
    groups: Sequence[str],
    sizes: Iterable[tuple[int | float, int | float]] = (),
    *,
    height: int = 40,
    step: int = STEP,
) -> dict[str, Any]:
    """What there is to know of some lines before training, as what `json.dumps` takes.

    Args:
        texts: of the lines.
        groups: of the lines.
        sizes: width and height of each picture in pixels, as far as they are known.
        height: that pictures are scaled to.
        step: of the width buckets.

    Raises:
        ValueError: there is no line.
    """
    if not texts:
        raise ValueError("texts must hold at least one line, got none")
    counts = character_counts(texts)
    letters = ACCENTED + ACCENTED.upper()
    found: dict[str, Any] = {
        "lines": len(texts),
        "groups": len(set(groups)),
        "distinct texts": len(set(texts)),
        "characters": sum(counts.values()),
        "distinct characters": len(counts),
        "length": _summary([len(text) for text in texts]),
        "accented letters": sum(counts[letter] for letter in letters),
        "accented letters that never occur": "".join(letter for letter in letters if not counts[letter]),
        "rarest characters": [[sign, count] for sign, count in counts.most_common()[:-11:-1]],
    }
    sizes = list(sizes)
    if sizes:
        widths = [width_at(wide, high, height) for wide, high in sizes]
        padded = [bucket_width(width, step) for width in widths]
        found |= {
            "height": _summary([round(high) for _, high in sizes]),
            f"width at height {height}": _summary(widths),
            "width buckets": len(set(padded)),
            "padding": round(1 - sum(widths) / sum(padded), 4),
        }
    return found


def table_sizes(table: Table) -> list[tuple[float, float]]:
    """Width and height in pixels of every instance that is a single crop, by its polygon: no photograph is needed."""
    found = []
    for receipt in table.receipts:
        for one, quarter in zip(receipt.instances, quarters(receipt), strict=True):
            corners = read_instance(one, quarter).corners
            if corners is not None:
                found.append(sides(corners))
    return [(wide, high) for wide, high in found if min(wide, high) > 0]


def describe_table(table: Table, *, height: int = 40) -> dict[str, Any]:
    """Statistics of the MC-OCR table, with the widths that its polygons tell."""
    return {
        "table": table.file,
        "sha256": table.sha256,
        "receipts": len(table.receipts),
        "turned": table.turned,
    } | describe_lines(table.texts, table.groups, table_sizes(table), height=height)


def _summary(values: Sequence[int]) -> dict[str, int | float]:
    ordered = sorted(values)
    return {
        "shortest": ordered[0],
        "mean": round(statistics.mean(ordered), 2),
        "median": statistics.median(ordered),
        "95%": ordered[int(0.95 * (len(ordered) - 1))],
        "longest": ordered[-1],
    }
