"""Measured speed and memory: `coursepkg bench SUITE` races implementations that were first shown to agree.

The figures of the book are read from stored results with `stored`, never typed in.
"""

import json as json_format
from importlib import import_module
from pathlib import Path
from typing import Any

from coursepkg.stored import stored_results

SUITES = {
    "attention": "dense attention: tiled or Triton against PyTorch's kernels and the plain formula, speed and memory",
    "window": "sliding window, dilated window, global and random blocks against dense attention",
    "linear": "chunked linear attention against causal softmax attention, and its growth with length",
    "gqa-decode": "one decoding step with grouped key-value heads against repeated ones",
    "unfused-bfloat16": "attention in bfloat16 on a CPU: two products against PyTorch's fused kernel",
    "decoding": "greedy and beam search with a cache against recomputation, expanded keys and Hugging Face",
    "training": "a training step against torch.nn.Transformer, batches by length against random ones",
    "translation": "beam search of the size of `small` against Hugging Face; the CTranslate2 export against PyTorch",
    "ocr": "reading lines against a VietOCR-sized network, lines a second, packed lines against picture files",
    "ocr-rivals": "error rate of the shipped recogniser against rapidocr's, seconds and memory of a page",
    "sign-language": "cached clips against live decoding and a bare PyAV loop, a training step, all in clips a second",
    "resume": "training that is killed and resumed: whether the weights are bit-equal",
}

PROJECTS = {
    "translation": "translation.bench.searching",
    "ocr": "ocr.bench.reading",
    "ocr-rivals": "ocr.bench.against_rapidocr",
    "sign-language": "sign_language.bench.clips",
}
"""Suites that lie with their project, by module below `coursepkg.projects`; the others are in `bench.suites`."""


def run_suite(
    name: str, *, threads: int = 1, device: str = "auto", out: Path | None = None, json: bool = False
) -> int:
    """Run a suite, print its table, and write or print the JSON document.

    Returns:
        0, or 1 when an implementation failed the correctness gate (its time is then not reported).

    Raises:
        ValueError: unknown suite, or a device that this machine lacks.
    """
    if name not in SUITES:
        raise ValueError(f"suite must be one of {', '.join(SUITES)}, got {name!r}")
    from coursepkg.bench.machine import choose_device
    from coursepkg.bench.report import document, table, write

    where = choose_device(device, threads)
    inside = f"projects.{PROJECTS[name]}" if name in PROJECTS else f"bench.suites.{name.replace('-', '_')}"
    suite = import_module(f"coursepkg.{inside}")
    rows = [row for contest in suite.contests(where) for row in contest.run(where)]
    result = document(name, where, rows)
    print(table(result))
    if out is not None:
        write(result, out)
    if json:
        print(json_format.dumps(result, ensure_ascii=False))
    return 1 if any(row.failed for row in rows) else 0


def stored(name: str, device: str = "cpu") -> dict[str, Any] | None:
    """The stored result of a suite on a kind of device (`cpu` or `cuda`), or None where none was stored.

    Looked for beside the package in an installed copy, and under `book/_data/bench` in a checkout.
    """
    folder = stored_results("bench", __file__)
    path = folder / f"{name}-{device}.json" if folder else None
    return json_format.loads(path.read_text(encoding="utf-8")) if path and path.is_file() else None
