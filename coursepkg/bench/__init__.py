"""`coursepkg bench SUITE` times implementations that were first shown to agree.

The figures of the book are read from stored results with `published_results`.
"""

import json as json_format
from importlib import import_module
from pathlib import Path
from typing import Any

from coursepkg.app.published_results import PublishedResults

SUITES = {
    "attention": (
        "dense attention: tiled or Triton against PyTorch's kernels and the plain"
        " formula, speed and memory"
    ),
    "window": (
        "sliding window, dilated window, global and random blocks against dense"
        " attention"
    ),
    "linear": (
        "chunked linear attention against causal softmax attention, and its growth with"
        " length"
    ),
    "gqa-decode": (
        "one decoding step with grouped key-value heads against repeated ones"
    ),
    "unfused-bfloat16": (
        "attention in bfloat16 on a CPU: two products against PyTorch's fused kernel"
    ),
    "decoding": (
        "greedy and beam search with a cache against recomputation, expanded keys and"
        " Hugging Face"
    ),
    "training": (
        "a training step against torch.nn.Transformer, batches by length against random"
        " ones"
    ),
    "translation": (
        "beam search of the size of `small` against Hugging Face; the CTranslate2"
        " export against PyTorch"
    ),
    "ocr": (
        "reading lines against a VietOCR-sized network, lines a second, the ONNX export"
        " against PyTorch, packed lines against picture files"
    ),
    "ocr-rivals": (
        "errors of the shipped recogniser on lines and pages against rapidocr's and"
        " Tesseract's, seconds and memory of a page"
    ),
    "threads": (
        "lines read by two threads that share one core, and by as many as help"
    ),
    "sign-language": (
        "cached clips against live decoding and a bare PyAV loop, a training step, all"
        " in clips a second"
    ),
    "landmarks": (
        "landmarks of hands and body in frames a second, by two threads and by one,"
        " and against MediaPipe where it is installed"
    ),
    "resume": "training that is killed and resumed: whether the weights are bit-equal",
    "class": (
        "release of all assignments; 200 generated submissions graded by two workers,"
        " time and memory"
    ),
}
"""What each suite compares, by its name."""

CASES = {
    "attention": "bench.suites.attention:dense_cases",
    "window": "bench.suites.attention:window_cases",
    "linear": "bench.suites.attention:linear_cases",
    "gqa-decode": "bench.suites.attention:gqa_decode_cases",
    "unfused-bfloat16": "bench.suites.attention:bfloat16_cases",
    "decoding": "bench.suites.decoding:cases",
    "training": "bench.suites.training:cases",
    "translation": "projects.translation.studies.search_bench:cases",
    "ocr": "projects.ocr.bench:cases",
    "ocr-rivals": "projects.ocr.baselines_bench:cases_against_others",
    "threads": "projects.ocr.thread_bench:cases",
    "sign-language": "projects.sign_language.bench:cases",
    "landmarks": "projects.sign_language.landmarks.bench:cases",
    "resume": "bench.suites.resume:cases",
    "class": "grading.bench:cases",
}
"""Where the cases of a suite are made: a module of the package and its function, which
takes the device and returns objects with a method `run(device)`."""


def run_suite(
    name: str,
    *,
    threads: int = 1,
    device: str = "auto",
    out: Path | None = None,
    json: bool = False,
) -> int:
    """Run a suite, print its table, and write or print the JSON document.

    Returns:
        0, or 1 when an implementation failed the correctness gate (its time is then not
        reported).

    Raises:
        ValueError: unknown suite, or a device that this machine lacks.
    """
    if name not in SUITES:
        raise ValueError(f"suite must be one of {', '.join(SUITES)}, got {name!r}")
    from coursepkg.bench.machine import choose_device
    from coursepkg.bench.measure import document, table, write

    where = choose_device(device, threads)
    module, _, function = CASES[name].partition(":")
    cases = getattr(import_module(f"coursepkg.{module}"), function)(where)
    rows = [row for case in cases for row in case.run(where)]
    result = document(name, where, rows)
    print(table(result))
    if out is not None:
        write(result, out)
    if json:
        print(json_format.dumps(result, ensure_ascii=False))
    return 1 if any(row.failed for row in rows) else 0


def published_results(name: str, device: str = "cpu") -> dict[str, Any] | None:
    """The stored result of a suite on a kind of device (`cpu` or `cuda`), if any.

    It lies beside the package in an installed copy, under `book/_data/bench` in a
    checkout.
    """
    folder = PublishedResults("bench", "bench").folder()
    path = folder / f"{name}-{device}.json" if folder else None
    if path is None or not path.is_file():
        return None
    return dict(json_format.loads(path.read_text(encoding="utf-8")))
