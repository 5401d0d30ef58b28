"""What reading is worth: the shipped model against rapidocr on the same lines, and the cost of a page.

Both need the extra `ocr`, and the model that ships with the package; a row that cannot be had says what is missing.
"""

import os
import statistics
import time

import torch

from coursepkg.bench.machine import Device
from coursepkg.bench.race import Row
from coursepkg.projects.ocr.bench.reading import Measured, lines
from coursepkg.projects.ocr.predict import DEFAULT, Recognizer
from coursepkg.projects.ocr.synthetic.receipts import make_receipt

N_SCORED, N_PAGES = 200, 4
FONT = "DejaVu Serif"
"""The one held-out family that comes with matplotlib, so every machine draws the same lines."""
SECONDS_A_PAGE, BYTES_OF_A_PAGE = 3.0, 1.5e9
"""What a page may take on two cores after the start."""


def contests(device: Device) -> list[Measured]:
    """Both, on the CPU; a GPU has none of its own."""
    # Pages come first: what the other contest leaves in this process would count as their memory.
    return [] if device.is_cuda else [Measured("pages", pages), Measured("error rates", error_rates)]


def error_rates() -> list[Row]:
    """CER of the shipped model over that of rapidocr, on the same generated lines in the held-out font of matplotlib.

    scripts/measure_ocr_lines.py measures on all held-out families.
    """
    from coursepkg.projects.ocr.rivals import LineReader, RapidReader, compare, what_is_missing

    name, ours, theirs = f"CER on {N_SCORED} generated lines, {FONT}", "shipped", "PP-OCRv6 small"
    missing = what_is_missing() or _no_checkpoint()
    if missing:
        return [Row(name, ours, theirs, None, note=missing)]
    readers: dict[str, LineReader] = {
        ours: Recognizer.load_default(),
        theirs: RapidReader(threads=torch.get_num_threads()),
    }
    found = compare(readers, lines(N_SCORED, seed=4, held_out=True))
    own, other = found[ours].cer.value, found[theirs].cer.value
    note = f"{own:.2%} against {other:.2%}"
    return [Row(name, ours, theirs, own / max(other, 1e-9), target=0.5, at_most=True, note=note)]


def pages() -> list[Row]:
    """Seconds and memory of a page: detector in its process, and the shipped recogniser."""
    from coursepkg.projects.ocr.detector.engines import what_is_missing

    names = ("seconds a page", "memory of a page")
    missing = what_is_missing() or _no_checkpoint()
    if missing:
        return [Row(name, "read_page", "limit", None, note=missing) for name in names]
    took, used = cost_of_a_page()
    shares = (took / SECONDS_A_PAGE, used / BYTES_OF_A_PAGE)
    notes = (f"{took:.2f} s", f"{used / 1e6:.0f} MB")
    return [
        Row(name, "read_page", "limit", share, target=1.0, at_most=True, note=note)
        for name, share, note in zip(names, shares, notes, strict=True)
    ]


def cost_of_a_page() -> tuple[float, int]:
    """Median seconds of a page after the start, and bytes of this process and the detector's together at most."""
    from coursepkg.projects.ocr.detector.bounded import open_detector
    from coursepkg.projects.ocr.detector.worker import memory_of
    from coursepkg.projects.ocr.page.read import read_page

    images = [make_receipt(5, number).image for number in range(N_PAGES)]
    reader, seconds = Recognizer.load_default(), []
    detector = open_detector(cache=False)
    try:
        read_page(images[0], detector, reader)
        for image in images:
            start = time.perf_counter()
            read_page(image, detector, reader)
            seconds.append(time.perf_counter() - start)
        used = (memory_of(os.getpid()) or 0) + int(getattr(detector, "peak_memory", 0))
    finally:
        detector.close()
    return statistics.median(seconds), used


def _no_checkpoint() -> str | None:
    return (
        None
        if (DEFAULT / "model").is_dir()
        else f"no model in {DEFAULT.name}; run scripts/train_ocr_checkpoint.py"
    )
