"""A sandbox of bubblewrap around a stranger's code.

Inside: no network, the system and the Python packages read-only, a private /tmp of
limited size, no other process, no file of the course. Out comes one pipe, which the
grader reads up to a limit. Limits of the kernel hold for each process; the grader
watches the memory of all of them together, the time and the output.
"""

import contextlib
import os
import selectors
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import coursepkg
from coursepkg.grading.calls import Request, Returned
from coursepkg.grading.driver import FRAME, LARGEST_ANSWER
from coursepkg.grading.plain import decode, encode
from coursepkg.grading.seccomp import filter_file
from coursepkg.validation import one_line

MEBIBYTE = 2**20
SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache")
SMALL_FILES = 64 * MEBIBYTE
"""Bytes of /tmp and of /dev/shm, each."""
OUTPUT_KEPT = 8_192
"""Bytes of what a submission prints that are kept."""
WATCH_SECONDS = 0.05
"""How often the memory is looked at."""
EXACT_SECONDS = 0.5
"""How often shared memory is counted only once, which takes the kernel milliseconds."""
MESSAGE_KEPT = 500


@dataclass(frozen=True)
class Limits:
    """What one submission may use."""

    seconds: float = 60.0
    """Wall-clock time of the whole submission."""
    memory_mb: int = 2_048
    """Memory of all its processes, in mebibytes; address space of one is 4 times it."""
    processes: int = 48
    """Processes and threads."""
    file_mb: int = 32
    """Size of one file, in mebibytes."""
    output_mb: int = 4
    """Text that may be printed, in mebibytes."""

    def of_kernel(self) -> dict[str, int]:
        """Hard limits of each process, by the names of `resource`."""
        return {
            "CPU": int(self.seconds) + 1,
            "AS": 4 * self.memory_mb * MEBIBYTE,
            "NPROC": self.processes,
            "FSIZE": self.file_mb * MEBIBYTE,
            "NOFILE": 128,
        }


@dataclass
class Run:
    """What came out of a sandbox: data of a stranger."""

    answers: dict[int, Returned] = field(default_factory=dict)
    problems: dict[int, str] = field(default_factory=dict)
    """What a cell raised, by its position."""
    output: str = ""
    """The beginning of what was printed."""
    ended: str = ""
    """Why the grader stopped it, or how it ended too early; empty where it finished."""
    is_over_time: bool = False
    """Whether it was stopped because of its time."""
    seconds: float = 0.0
    peak_mb: float = 0.0

    @property
    def is_late(self) -> bool:
        """Whether the time of the whole or of one answer ran out."""
        answers = self.answers.values()
        return self.is_over_time or any(a.raised == "TimeoutError" for a in answers)


@cache
def sandbox_problem() -> str:
    """Why bubblewrap cannot be used here, in one line; "" where it can."""
    program = shutil.which("bwrap")
    if program is None:
        return "bubblewrap (bwrap) is not installed; install the system package"
    tried = subprocess.run(
        [*_wall(program), "true"], capture_output=True, text=True, timeout=60
    )
    if tried.returncode:
        return f"bubblewrap does not work on this machine: {one_line(tried.stderr)}"
    return ""


def require_sandbox() -> None:
    """Raises a ValueError where there is no sandbox; says what to do."""
    problem = sandbox_problem()
    if problem:
        raise ValueError(
            f"{problem}; without a sandbox nothing is graded (in a throw-away virtual"
            " machine add --unsafe-without-sandbox)"
        )


def run_sandboxed(
    cells: Sequence[str],
    requests: Sequence[Request],
    limits: Limits,
    *,
    unsafe: bool = False,
) -> Run:
    """Run the cells of a submission and ask for what the hidden tests need.

    Args:
        cells: code in order.
        requests: for calls and values.
        limits: of the whole submission.
        unsafe: whether to run it as a plain process of this user, with all rights.
    """
    job = {
        "cells": list(cells),
        "requests": [request.as_plain() for request in requests],
        "limits": limits.of_kernel(),
    }
    wall = [] if unsafe else _wall(shutil.which("bwrap") or "bwrap")
    calls = -1 if unsafe else filter_file()
    if calls != -1:
        wall += ["--seccomp", str(calls)]
    with tempfile.TemporaryFile() as stdin:
        stdin.write(encode(job))
        stdin.seek(0)
        process = subprocess.Popen(
            [*wall, *_python()],
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=ENVIRONMENT,
            cwd="/",
            start_new_session=True,
            pass_fds=() if calls == -1 else (calls,),
        )
    if calls != -1:
        os.close(calls)
    try:
        run, channel = _watch(process, limits)
    finally:
        _end(process)
    _read_frames(channel, requests, run)
    if not run.ended and (
        -1 not in _numbers(channel) or len(run.answers) < len(requests)
    ):
        run.ended = "the notebook's code ended the process that runs it"
    return run


NO_FONTS = Path(__file__).with_name("no_fonts.conf")
"""For matplotlib, which asks for the system's fonts: its own are enough."""
ENVIRONMENT = {
    "FONTCONFIG_FILE": str(NO_FONTS),
    "HOME": "/tmp",
    "LANG": "C.UTF-8",
    "MPLBACKEND": "Agg",
    "MPLCONFIGDIR": "/tmp",
    "OMP_NUM_THREADS": "1",
    "PATH": "/usr/bin:/bin",
    "PYTHONDONTWRITEBYTECODE": "1",
    "TORCHINDUCTOR_CACHE_DIR": "/tmp",
}


def _wall(program: str) -> list[str]:
    """The command line of bubblewrap up to the program to run."""
    command = [program, "--unshare-ipc", "--unshare-pid", "--unshare-net"]
    command += ["--unshare-uts", "--unshare-cgroup-try", "--die-with-parent"]
    command += ["--new-session", "--hostname", "sandbox", "--cap-drop", "ALL"]
    if os.geteuid() == 0:
        # Root's processes cannot be counted: the driver becomes another user.
        command += ["--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        command += ["--unshare-user"]
    command += ["--proc", "/proc", "--dev", "/dev"]
    command += ["--size", str(SMALL_FILES), "--perms", "1777", "--tmpfs", "/dev/shm"]
    command += ["--size", str(SMALL_FILES), "--perms", "1777", "--tmpfs", "/tmp"]
    for place in SYSTEM:
        if os.path.islink(place) and os.path.isdir(place):
            command += ["--symlink", os.readlink(place), place]
        elif os.path.exists(place):
            command += ["--ro-bind", place, place]
    visible = _visible_folders()
    for parent in sorted({str(p) for folder in visible for p in Path(folder).parents}):
        if not parent.startswith("/usr") and parent != "/":
            command += ["--perms", "0755", "--dir", parent]
    for folder in visible:
        command += ["--ro-bind", folder, folder]
    return [*command, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/tmp"]


def _package() -> Path:
    return Path(coursepkg.__file__).parent


def _import_path() -> list[str]:
    """Folders of installed packages and of the standard library."""
    names = ("site-packages", "dist-packages")
    return [
        place
        for place in map(os.path.abspath, filter(None, sys.path))
        if os.path.isdir(place)
        and (
            os.path.basename(place) in names
            or Path(place).is_relative_to(sys.base_prefix)
        )
    ]


def _visible_folders() -> list[str]:
    """What a submission may read of Python: never a folder of the course."""
    wanted = [sys.base_prefix, *_import_path(), str(_package())]
    wanted = [place for place in wanted if not place.startswith(("/usr/", "/lib/"))]
    return sorted(set(wanted) - {"/usr"})


def _python() -> list[str]:
    places = [*_import_path(), str(_package().parent)]
    start = (
        f"import sys; sys.path = {places!r}; sys.argv = ['notebook'];"
        " from coursepkg.grading.driver import main; main()"
    )
    return [os.path.realpath(sys.executable), "-I", "-S", "-c", start]


def _watch(process: "subprocess.Popen[bytes]", limits: Limits) -> tuple[Run, bytes]:
    """Read both pipes until the process ends or breaks a limit."""
    run, channel, printed = Run(), bytearray(), bytearray()
    n_printed = 0
    most = 4 * LARGEST_ANSWER
    started, look_at = time.monotonic(), 0.0
    with selectors.DefaultSelector() as selector:
        for pipe, name in ((process.stdout, "channel"), (process.stderr, "printed")):
            assert pipe is not None
            os.set_blocking(pipe.fileno(), False)
            selector.register(pipe, selectors.EVENT_READ, name)
        while selector.get_map() and not run.ended:
            for key, _ in selector.select(WATCH_SECONDS):
                data = os.read(key.fd, MEBIBYTE)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.data == "channel":
                    channel += data
                else:
                    n_printed += len(data)
                    printed += data[: OUTPUT_KEPT - len(printed)]
            run.seconds = time.monotonic() - started
            found = [*process_tree(process.pid)]
            memory = sum(map(mapped_bytes, found)) / MEBIBYTE
            if memory > limits.memory_mb or run.seconds >= look_at:
                memory = sum(map(resident_bytes, found)) / MEBIBYTE
                run.peak_mb = max(run.peak_mb, memory)
                look_at = run.seconds + EXACT_SECONDS
            if run.seconds > limits.seconds:
                run.is_over_time = True
                run.ended = f"it took longer than {limits.seconds:g} s"
            elif memory > limits.memory_mb:
                run.ended = f"it used more than {limits.memory_mb} MB of memory"
            elif n_printed > limits.output_mb * MEBIBYTE:
                run.ended = f"it printed more than {limits.output_mb} MB"
            elif len(channel) > most:
                run.ended = f"it returned more than {most // MEBIBYTE} MB"
    run.output = clean_text(bytes(printed).decode(errors="replace"), OUTPUT_KEPT)
    return run, bytes(channel)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End everything inside: with bubblewrap's process its whole namespace dies."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


def process_tree(pid: int) -> Iterator[int]:
    """A process and all its descendants, as far as they are seen."""
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        yield one
        for task in _listed(f"/proc/{one}/task"):
            try:
                text = Path(f"/proc/{one}/task/{task}/children").read_text()
            except OSError:
                continue
            waiting += map(int, text.split())


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def resident_bytes(pid: int) -> int:
    """Bytes of a process in memory, its part of what it shares with others."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        return int(text.partition("\nPss:")[2].split()[0]) * 1024
    return mapped_bytes(pid)


def mapped_bytes(pid: int) -> int:
    """Bytes of a process in memory, with all that it shares; never less than above."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        pages = Path(f"/proc/{pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE")
    return 0  # it has ended


def clean_text(text: str, most: int = MESSAGE_KEPT) -> str:
    """A stranger's text without control characters, cut to a length."""
    return "".join(
        c if c.isprintable() or c == "\n" else "\N{REPLACEMENT CHARACTER}"
        for c in text[:most]
    )


def _frames(channel: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + FRAME.size <= len(channel):
        number, length = FRAME.unpack_from(channel, at)
        at += FRAME.size
        if length > len(channel) - at:
            return
        yield number, channel[at : at + length]
        at += length


def _numbers(channel: bytes) -> set[int]:
    return {number for number, _ in _frames(channel)}


def _read_frames(channel: bytes, requests: Sequence[Request], run: Run) -> None:
    """Take the answers that are well formed; the first to a request counts."""
    for number, data in _frames(channel):
        if number == -1 and not run.problems:
            run.problems = _problems(data)
        elif 0 <= number < len(requests) and number not in run.answers:
            run.answers[number] = _answer(requests[number], data)


def _problems(data: bytes) -> dict[int, str]:
    try:
        found = decode(data)
    except ValueError:
        return {}
    if not isinstance(found, dict):
        return {}
    return {
        number: clean_text(text)
        for number, text in found.items()
        if isinstance(number, int) and isinstance(text, str)
    }


def _answer(request: Request, data: bytes) -> Returned:
    """The answer to a request, with every field of its type.

    The name is the request's own, whatever the answer says.
    """
    try:
        raw = decode(data)
        if not isinstance(raw, dict):
            raise ValueError("no fields")
        kinds: dict[str, Any] = {
            "raised": str,
            "message": str,
            "gradients": tuple,
            "changed_in_place": tuple,
            "torch_functions": set,
            "largest_tensor": int,
        }
        if any(not isinstance(raw.get(name), kind) for name, kind in kinds.items()):
            raise ValueError("a field of another type")
    except ValueError as reason:
        return Returned(request.name, None, "ValueError", f"gave {reason}")
    return Returned(
        request.name,
        raw.get("result"),
        clean_text(raw["raised"]),
        clean_text(raw["message"]),
        gradients=raw["gradients"],
        changed_in_place=raw["changed_in_place"],
        torch_functions=frozenset(
            x for x in raw["torch_functions"] if isinstance(x, str)
        ),
        largest_tensor=raw["largest_tensor"],
    )
