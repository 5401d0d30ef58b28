"""The program inside the sandbox: runs a notebook's cells, then answers requests.

From the first cell on, the process belongs to the student. Nothing that it says is a
verdict: it returns the values that were asked for.
"""

import contextlib
import ctypes
import os
import resource
import select
import signal
import struct
import sys
import time
from collections.abc import Mapping
from typing import Any

import torch

from coursepkg.grading.calls import Request, Returned, perform
from coursepkg.grading.plain import decode, encode
from coursepkg.validation import error_line

FRAME = struct.Struct("<iQ")
"""Number of a request (-1: problems of cells) and bytes of its answer."""
LENGTH = struct.Struct("<Q")
LARGEST_ANSWER = 32 * 2**20
"""Bytes of one answer."""
FIRST_USER = 2**20
"""From here on no system has users. Each submission is one of its own, because the
kernel counts processes by user, and one submission's must not be another's."""


def main() -> None:
    """Read the job from standard input, write answers to standard output."""
    job = decode(sys.stdin.buffer.read())
    channel = os.dup(1)
    os.dup2(2, 1)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    torch.set_num_threads(1)
    _give_up_rights(job["limits"])
    namespace: dict[str, Any] = {"__name__": "__main__"}
    problems = {}
    for number, code in enumerate(job["cells"]):
        problem = run_cell(code, namespace)
        if problem:
            problems[number] = problem
    _send(channel, -1, encode(problems))
    for number, raw in enumerate(job["requests"]):
        _send(channel, number, _answer_apart(Request(**raw), namespace))
    os._exit(0)  # no clean-up of the student's objects


def _give_up_rights(limits: Mapping[str, int]) -> None:
    """Set hard limits; a process of root, whom some do not bind, becomes a new user."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    for name, value in limits.items():
        kind = getattr(resource, f"RLIMIT_{name}")
        resource.setrlimit(kind, (value, value))
    if os.geteuid() == 0:
        with contextlib.suppress(OSError):
            os.setgroups([])
        user = FIRST_USER + int.from_bytes(os.urandom(3), "big")
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    ctypes.CDLL(None).prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS


def run_cell(code: str, namespace: dict[str, Any]) -> str:
    """Run one cell; return what it raised in one line, "" where nothing.

    Lines of magic or shell commands are left out where the cell is no Python with them.
    """
    namespace.setdefault("display", lambda *_args, **_kwargs: None)
    try:
        try:
            program = compile(code, "<cell>", "exec")
        except SyntaxError:
            program = compile(without_magics(code), "<cell>", "exec")
        exec(program, namespace)
    except BaseException as reason:
        return error_line(reason)
    return ""


def without_magics(code: str) -> str:
    """Code without its lines of magic and shell commands, which keep their numbers."""
    return "\n".join(
        "" if line.lstrip().startswith(("%", "!", "?")) else line
        for line in code.split("\n")
    )


def _answer_apart(request: Request, namespace: Mapping[str, Any]) -> bytes:
    """The answer of a child process, whose end is nobody else's."""
    receiver, sender = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setpgid(0, 0)
            os.close(receiver)
            if request.memory_mb:
                _limit_memory(request.memory_mb * 2**20)
            data = _as_bytes(perform(request, namespace))
            _write_all(sender, LENGTH.pack(len(data)) + data)
        finally:
            os._exit(0)
    os.close(sender)
    deadline = time.monotonic() + request.seconds
    data = _read_answer(receiver, deadline)
    os.close(receiver)
    for kill in (os.killpg, os.kill):
        with contextlib.suppress(OSError):
            kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    if data:
        return data
    if time.monotonic() >= deadline:
        return _failure(request, "TimeoutError", f"took over {request.seconds:g} s")
    return _failure(request, "SystemExit", "ended the process instead of returning")


def _limit_memory(more: int) -> None:
    """Let this process allocate so many bytes more than it has mapped."""
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[0])
    most = pages * resource.getpagesize() + more
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def _as_bytes(answer: Returned) -> bytes:
    try:
        data = encode(vars(answer))
    except ValueError as reason:
        return encode(vars(Returned(answer.name, None, "TypeError", str(reason))))
    if len(data) > LARGEST_ANSWER:
        text = f"returned more than {LARGEST_ANSWER // 2**20} MB"
        return encode(vars(Returned(answer.name, None, "MemoryError", text)))
    return data


def _failure(request: Request, kind: str, text: str) -> bytes:
    return encode(vars(Returned(request.name, None, kind, text)))


def _read_answer(receiver: int, deadline: float) -> bytes:
    """The whole answer; empty where it does not come in time.

    Its length comes first: a process that the child left behind keeps the pipe open.
    """
    data = bytearray()
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([receiver], [], [], left)[0]:
            break
        new = os.read(receiver, 2**20)
        data += new
        if len(data) >= LENGTH.size:
            (length,) = LENGTH.unpack_from(data)
            if len(data) - LENGTH.size >= length:
                return bytes(data[LENGTH.size :])
        if not new:
            break
    return b""


def _write_all(target: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(target, view) :]


def _send(channel: int, number: int, data: bytes) -> None:
    _write_all(channel, FRAME.pack(number, len(data)) + data)
