"""The shipped recogniser beside others: errors on lines and pages, time and memory.

Tesseract is run as its documentation advises: by the LSTM engine, with the page
segmentation that reads other generated receipts best. A row that cannot be had says
why.
"""

from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from multiprocessing import get_context

import numpy as np
import torch

from coursepkg.bench.machine import Device
from coursepkg.bench.measure import CaseResult
from coursepkg.projects.ocr.bench import Measured, lines
from coursepkg.projects.ocr.options import ReadOptions
from coursepkg.projects.ocr.predict import DEFAULT, Recognizer
from coursepkg.projects.ocr.synthetic.receipts import make_receipt

N_SCORED, N_PAGES = 200, 4
FONT = "DejaVu Serif"
"""The one held-out family that comes with matplotlib, so every machine draws the same
lines."""
WAYS_OF_A_PAGE = {
    "second look": (ReadOptions(), 1.5),
    "one look": (ReadOptions(second_look=0.0), 0.8),
}
"""How a page is read, and the seconds that it may take on two cores after the start."""
BYTES_OF_A_PAGE = 1e9
"""What it may take of memory."""


def cases_against_others(device: Device) -> list[Measured]:
    """All on the CPU; a GPU has none of its own."""
    if device.is_cuda:
        return []
    return [
        Measured("pages", pages),
        Measured("baselines on pages", baselines_on_pages),
        Measured("error rates", error_rates),
    ]


def error_rates() -> list[CaseResult]:
    """CER of the shipped model over those of others, in matplotlib's held-out font.

    scripts/measure_ocr_lines.py measures on all held-out families.
    """
    from coursepkg.projects.ocr.baselines import (
        LineReader,
        RapidReader,
        TesseractLines,
        compare,
    )

    name, ours = f"CER on {N_SCORED} generated lines, {FONT}", "shipped"
    rapid = "PP-OCRv6 small"
    if missing := _no_checkpoint():
        others = (rapid, "tesseract")
        return [CaseResult(name, ours, one, None, note=missing) for one in others]
    readers: dict[str, LineReader] = {ours: Recognizer.load_default()}
    threads, rows = torch.get_num_threads(), []
    try:
        readers[rapid] = RapidReader(threads=threads)
    except ImportError as reason:
        rows.append(CaseResult(name, ours, rapid, None, note=str(reason)))
    try:
        single = TesseractLines(threads=threads)
        readers[str(single.program)] = single
    except FileNotFoundError as reason:
        rows.append(CaseResult(name, ours, "tesseract", None, note=str(reason)))
    found = compare(readers, lines(N_SCORED, seed=4, held_out=True))
    own = found.pop(ours).cer.value
    for theirs, one in found.items():
        other, target = one.cer.value, 0.5 if theirs == rapid else None
        share, note = own / max(other, 1e-9), f"{own:.2%} against {other:.2%}"
        case = CaseResult(name, ours, theirs, share, target=target, at_most=True)
        rows.append(replace(case, note=note))
    return rows


SEGMENTATIONS = (3, 4, 6, 11)
"""Tesseract's ways to cut a page, of which the best is taken."""
PAGE_SEED, TUNED_SEED = 5, 6
"""Of the receipts that are measured, and of those by which that way is chosen."""


def generated_texts(seed: int) -> list[tuple[np.ndarray, str]]:
    """Photographs of `N_PAGES` receipts, each with all that is printed on it."""
    receipts = [make_receipt(seed, number) for number in range(N_PAGES)]
    return [(one.image, "\n".join(line.text for line in one.lines)) for one in receipts]


def best_segmentation(threads: int) -> int:
    """The page segmentation by which Tesseract reads generated receipts best.

    Args:
        threads: of the program.

    Raises:
        FileNotFoundError: it is not installed, or has no Vietnamese.
    """
    from coursepkg.projects.ocr.page.compare import compare_pages, open_tesseract

    readers = {
        str(mode): open_tesseract(threads, segmentation=mode)[0]
        for mode in SEGMENTATIONS
    }
    found = compare_pages(generated_texts(TUNED_SEED), readers)
    return max(SEGMENTATIONS, key=lambda mode: found[str(mode)].score.value)


def baselines_on_pages() -> list[CaseResult]:
    """Bag-of-words F1 and seconds of a page beside rapidocr and Tesseract.

    All read the same receipts in turns, with as many threads. The memory is that of
    Tesseract's own process.
    """
    from coursepkg.projects.ocr.baselines import Tesseract
    from coursepkg.projects.ocr.detector.engines import what_is_missing
    from coursepkg.projects.ocr.page.compare import (
        PageReader,
        PageText,
        compare_pages,
        open_coursepkg,
        open_rapidocr,
    )

    ours, rapid, threads = "read_page", "rapidocr", torch.get_num_threads()
    name = f"bag-of-words F1 on {N_PAGES} generated receipts"
    if missing := what_is_missing() or _no_checkpoint():
        others = (rapid, "tesseract")
        return [CaseResult(name, ours, one, None, note=missing) for one in others]
    rows, program = [], None
    try:
        program = Tesseract(best_segmentation(threads), threads=threads)
    except FileNotFoundError as reason:
        rows.append(CaseResult(name, ours, "tesseract", None, note=str(reason)))
    opened = {ours: open_coursepkg(threads), rapid: open_rapidocr(threads)}
    readers: dict[str, PageReader] = {key: read for key, (read, _) in opened.items()}
    if program is not None:
        reads = program.read
        readers[str(program)] = lambda image: PageText(*reads(image))
    try:
        found = compare_pages(generated_texts(PAGE_SEED), readers)
    finally:
        for _, close in opened.values():
            close()
    own = found.pop(ours)
    for theirs, one in found.items():
        f1, other = own.score.value, one.score.value
        note = f"{f1:.4f} against {other:.4f}"
        rows.append(CaseResult(name, ours, theirs, f1 / max(other, 1e-9), note=note))
        note = f"{own.seconds:.2f} s against {one.seconds:.2f} s"
        ratio = one.seconds / own.seconds
        rows.append(CaseResult("seconds a page", ours, theirs, ratio, note=note))
    if program is not None:
        used = program.peak_memory
        row = CaseResult("memory of a page", str(program), "limit", None, at_most=True)
        note = f"{used / 1e6:.0f} MB" if used else "this system does not tell it"
        share = used / BYTES_OF_A_PAGE if used else None
        rows.append(replace(row, ratio=share, note=note))
    return rows


def pages() -> list[CaseResult]:
    """Seconds and memory of a page, detector and recogniser together."""
    from coursepkg.projects.ocr.detector.engines import what_is_missing

    names = [*(f"seconds a page, {way}" for way in WAYS_OF_A_PAGE), "memory of a page"]
    missing = what_is_missing() or _no_checkpoint()
    if missing:
        return [
            CaseResult(name, "read_page", "limit", None, note=missing) for name in names
        ]
    seconds, used = cost_in_another_process()
    rows = [
        (took / WAYS_OF_A_PAGE[way][1], f"{took:.2f} s")
        for way, took in seconds.items()
    ]
    rows.append((used / BYTES_OF_A_PAGE, f"{used / 1e6:.0f} MB"))
    return [
        CaseResult(
            name, "read_page", "limit", share, target=1.0, at_most=True, note=note
        )
        for name, (share, note) in zip(names, rows, strict=True)
    ]


def cost_in_another_process() -> tuple[dict[str, float], int]:
    """Median seconds of a page after the start, by way, and bytes of memory.

    A process of its own reads: what drawing the pages leaves in this one would count.
    """
    from coursepkg.projects.ocr.page.compare import cost_of_pages

    images = [image for image, _ in generated_texts(PAGE_SEED)]
    ways = {way: options for way, (options, _) in WAYS_OF_A_PAGE.items()}
    with ProcessPoolExecutor(1, get_context("spawn")) as alone:
        reading = partial(cost_of_pages, images, ways, threads=torch.get_num_threads())
        return alone.submit(reading).result()


def _no_checkpoint() -> str | None:
    if (DEFAULT / "model").is_dir():
        return None
    return f"no model in {DEFAULT.name}; run scripts/train_ocr_checkpoint.py"
