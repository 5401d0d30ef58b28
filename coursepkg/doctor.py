"""`coursepkg doctor`: what this machine has, what is missing, what to do about it.

Every check is a function that returns rows and never raises. A row that fails means
that the package cannot work here; a row that warns means that a part of the course will
be slower, plainer or absent.

Fonts: Vietnamese needs stacked diacritics, which the DejaVu Sans of matplotlib has.
Chinese needs a CJK font, which matplotlib does not bring.
"""

import json
import os
import platform
import shutil
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from coursepkg import __version__
from coursepkg.data.registry import data_folder
from coursepkg.processor import (
    spins_briefly,
    useful_threads,
    visible_processors,
    waiting,
)
from coursepkg.requirements import (
    installed,
    older,
    pip_install,
    requirements,
    unfit,
)
from coursepkg.validation import counted

VIETNAMESE = "ăâđêôơưạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹ"
CHINESE = "你好注意力机制请问多少钱"


@cache
def find_font(sample: str) -> str | None:
    """The name of an installed font with every character of `sample`, or None.

    matplotlib's own font comes first; then families that are known to cover CJK, to
    avoid opening every file.
    """
    from matplotlib import font_manager

    likely = (
        *("dejavu sans", "cjk sc", "cjk", "wenquanyi", "pingfang"),
        *("heiti", "yahei", "simhei", "droid sans"),
    )

    def rank(entry: font_manager.FontEntry) -> tuple[int, bool, str]:
        name = entry.name.lower()
        place = next((i for i, word in enumerate(likely) if word in name), len(likely))
        return (
            place,
            entry.style != "normal" or str(entry.weight) not in ("400", "normal"),
            name,
        )

    for entry in sorted(font_manager.fontManager.ttflist, key=rank):
        # The Last Resort font of matplotlib claims every character and draws each as a
        # labelled box.
        if "Last Resort" not in entry.name and _covers(entry.fname, sample):
            return str(entry.name)
    return None


def _covers(path: str, sample: str) -> bool:
    from matplotlib import ft2font

    try:
        glyphs = ft2font.FT2Font(path).get_charmap()
    except (OSError, RuntimeError):
        return False
    return all(ord(character) in glyphs for character in sample)


GIB = 2**30
PYTHON_FLOOR = (3, 11)
PYTHON_TESTED = (3, 13)
"""The newest Python that the tests run on."""
MEMORY_NEEDED = 4 * GIB
DISK_NEEDED = 2 * GIB
EXTRA_PURPOSE = {
    "ocr": "the text detector of the receipt chapters, and PDFs",
    "ocr-paddle": "PaddleOCR as the text detector",
    "video": "reading sign-language clips",
    "t5": "the T5 and pretrained-backbone chapters",
    "landmarks": "landmarks of hands and body in sign-language clips",
    "export": "export to CTranslate2",
    "onnx": "export to ONNX, for onnxruntime",
    "triton": "the GPU kernels",
    "chapters": "the chapters, all of them",
    "book": "building the book",
    "class": "running a class",
    "dev": "the tests",
}

Status = Literal["ok", "warn", "fail"]


@dataclass(frozen=True)
class Row:
    """One line of the report."""

    name: str
    """What was looked at."""
    status: Status
    """ok, warn (a part of the course is affected) or fail (nothing works without it).
    """
    found: str
    """What is there."""
    action: str = ""
    """What to do about it; empty where nothing is to be done."""


def examine() -> list[Row]:
    """Return the rows of every check, in the order they are printed."""
    checks = (
        _package,
        _python,
        _torch,
        _devices,
        _memory,
        _processors,
        _fonts,
        _data,
        _requirements,
        _extras,
    )
    return [row for check in checks for row in check()]


def report(rows: Iterable[Row], *, as_json: bool = False) -> int:
    """Print the rows; return 1 where one fails. With `as_json` a JSON line is last."""
    rows = list(rows)
    width = max(len(row.name) for row in rows)
    for row in rows:
        action = f"  -> {row.action}" if row.action else ""
        print(f"{row.status:<5} {row.name:<{width}}  {row.found}{action}")
    failed = [row.name for row in rows if row.status == "fail"]
    warned = [row.name for row in rows if row.status == "warn"]
    print(f"{len(rows)} checks: {len(failed)} failed, {len(warned)} to look at")
    if as_json:
        print(
            json.dumps(
                {
                    "version": __version__,
                    "ok": not failed,
                    "checks": [asdict(row) for row in rows],
                }
            )
        )
    return 1 if failed else 0


def _package() -> Iterator[Row]:
    found = f"{__version__} in {Path(__file__).parent}"
    if installed("coursepkg") is None:
        yield Row(
            "coursepkg",
            "warn",
            f"{found}, not installed: what it requires is not known",
            "run pip install -e . in the folder above",
        )
    else:
        yield Row("coursepkg", "ok", found)


def _python() -> Iterator[Row]:
    found = f"{platform.python_version()} on {platform.system()} {platform.machine()}"
    floor, tested = (
        ".".join(map(str, version)) for version in (PYTHON_FLOOR, PYTHON_TESTED)
    )
    if sys.version_info < PYTHON_FLOOR:
        yield Row("Python", "fail", found, f"install Python {floor} to {tested}")
    elif sys.version_info[:2] > PYTHON_TESTED:
        yield Row(
            "Python",
            "warn",
            f"{found}, not tested",
            f"if something breaks, use Python {floor} to {tested}",
        )
    else:
        yield Row("Python", "ok", found)


def _torch() -> Iterator[Row]:
    try:
        import torch
    except (ImportError, OSError) as problem:
        yield Row(
            "torch", "fail", f"cannot be imported: {problem}", "pip install torch"
        )
        return
    floor = requirements().get("torch", "")
    if older(torch.__version__, floor):
        yield Row(
            "torch",
            "fail",
            f"{torch.__version__}, needs {floor}",
            pip_install({"torch": floor}),
        )
    else:
        yield Row("torch", "ok", torch.__version__)


def _devices() -> Iterator[Row]:
    try:
        import torch
    except (ImportError, OSError):
        return
    for index in range(torch.cuda.device_count()):
        try:
            free, total = torch.cuda.mem_get_info(index)
            name = torch.cuda.get_device_name(index)
        except RuntimeError as problem:
            reason = str(problem).partition("\n")[0]
            action = (
                "free its memory, check nvidia-smi, or set CUDA_VISIBLE_DEVICES= to use"
                " the CPU"
            )
            yield Row(f"GPU {index}", "warn", f"does not answer: {reason}", action)
            continue
        yield Row(
            f"GPU {index}",
            "ok",
            f"{name}, {free / GIB:.1f} of {total / GIB:.1f} GiB free",
        )
    if not torch.cuda.is_available():
        built = torch.version.cuda
        why = (
            "this torch is a CPU build"
            if built is None
            else f"torch is built for CUDA {built}, no device answers"
        )
        yield Row("GPU", "ok", f"none ({why}); every chapter runs on the CPU")


def _memory() -> Iterator[Row]:
    total = _physical_memory()
    if total is None:
        yield Row("memory", "ok", "size not reported by this system")
        return
    found = f"{total / GIB:.1f} GiB"
    if total < MEMORY_NEEDED:
        yield Row(
            "memory",
            "warn",
            found,
            f"close other programs: the book wants {MEMORY_NEEDED // GIB} GiB",
        )
    else:
        yield Row("memory", "ok", found)


def _physical_memory() -> int | None:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _processors() -> Iterator[Row]:
    visible = len(visible_processors())
    try:
        threads = useful_threads()
    except ValueError as mistake:
        yield Row("processors", "warn", f"{visible} visible", str(mistake))
        return
    found = f"{counted(threads.number, 'thread')}: {threads.reason}"
    yield Row("processors", "ok", found)
    is_passive, why = waiting()
    if is_passive and spins_briefly(threads.number):
        does = "sleep; in commands after 0.1 ms, as each has a core"
        yield Row("waiting threads", "ok", f"{does} ({why})")
    elif is_passive or threads.number == 1:
        does = "sleep" if is_passive else "may spin; one thread waits for nobody"
        yield Row("waiting threads", "ok", f"{does} ({why})")
    else:
        action = "import coursepkg before torch, or set OMP_WAIT_POLICY=PASSIVE"
        yield Row("waiting threads", "warn", f"may spin ({why})", action)


def _fonts() -> Iterator[Row]:
    for name, sample, action in (
        (
            "font for Vietnamese",
            VIETNAMESE,
            "pip install --force-reinstall matplotlib (it brings DejaVu Sans)",
        ),
        (
            "font for Chinese",
            CHINESE,
            "install a CJK font, for example: apt-get install fonts-noto-cjk",
        ),
    ):
        try:
            font = find_font(sample)
        except ImportError as problem:
            action = "pip install --force-reinstall matplotlib"
            yield Row(name, "warn", f"matplotlib cannot be imported: {problem}", action)
            continue
        if font:
            yield Row(name, "ok", font)
        else:
            yield Row(name, "warn", "none: figures will show empty boxes", action)


def _data() -> Iterator[Row]:
    named = os.environ.get("COURSEPKG_DATA")
    chosen = "COURSEPKG_DATA" if named else "the default; COURSEPKG_DATA is not set"
    folder = Path(named or "")
    try:
        folder = data_folder()
        parent = next((p for p in (folder, *folder.parents) if p.exists()), None)
    except (OSError, ValueError):  # a folder above is closed, or ~ is nobody's
        parent = None
    if parent is None or not parent.is_dir() or not os.access(parent, os.W_OK):
        action = (
            "set COURSEPKG_DATA to a folder that can be written, or keep to the"
            " generated data"
        )
        yield Row(
            "data folder", "warn", f"{folder} ({chosen}) cannot be written", action
        )
        return
    free = shutil.disk_usage(parent).free
    state = "present" if folder.exists() else "not there yet, generated data serve"
    found = f"{folder} ({chosen}): {state}, {free / GIB:.1f} GiB free"
    if free < DISK_NEEDED:
        yield Row(
            "data folder",
            "warn",
            found,
            f"free {DISK_NEEDED // GIB} GiB or set COURSEPKG_DATA elsewhere",
        )
    else:
        yield Row("data folder", "ok", found)


def _requirements() -> Iterator[Row]:
    for name, floor in requirements().items():
        if name == "torch":
            continue
        version = installed(name)
        if version is None or unfit(version, floor):
            yield Row(
                name,
                "fail",
                f"{version or 'not installed'}, needs {floor}",
                pip_install({name: floor}),
            )
        else:
            yield Row(name, "ok", version)


def _extras() -> Iterator[Row]:
    if installed("coursepkg") is None:
        return
    for extra, purpose in EXTRA_PURPOSE.items():
        wanted = requirements(extra)
        if not wanted:
            yield Row(f"extra {extra}", "ok", "nothing of it is for this system")
            continue
        versions = {name: installed(name) for name in wanted}
        lacking = {
            n: wanted[n]
            for n, version in versions.items()
            if version is None or unfit(version, wanted[n])
        }
        found = ", ".join(
            f"{name} {version or 'missing'}" for name, version in versions.items()
        )
        if lacking:
            yield Row(
                f"extra {extra}",
                "warn",
                found,
                f"for {purpose}: {pip_install(lacking)}",
            )
        else:
            yield Row(f"extra {extra}", "ok", found)
