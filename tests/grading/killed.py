"""Grading that is killed at exact points: `python -m tests.grading.killed FOLDER POINT...`.

A point is KIND:N. The N-th time that grading is about to do this, it gets SIGKILL; then a new process grades with the
next point. Kinds are `start` (a sandbox), `running` (a sandbox that has started), `open` and `rename` (a file of the
class), and `insert`, `update` and `commit` (in the gradebook). Prints a JSON list: for each point the signal that ended
grading, those that ended what it had left running, and the records that were whole then.
"""

import contextlib
import ctypes
import io
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbgrader.api  # noqa: F401  (imported here, once for all processes)
from sqlalchemy import event
from sqlalchemy.engine import Engine

from coursepkg.cli import main
from coursepkg.grading import handlers  # noqa: F401
from coursepkg.grading.sandbox import process_tree

PR_SET_CHILD_SUBREAPER = 36
SANDBOX_FAMILY = 4
"""Grading, both processes of bubblewrap, and Python inside."""


class Point:
    """Ends this process when something happens for the n-th time."""

    def __init__(self, folder: Path, kind: str, n: int) -> None:
        self.folder = str(folder)
        self.kind = kind
        self.left = n

    def seen(self, kind: str) -> None:
        if kind != self.kind:
            return
        self.left -= 1
        if self.left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def audit(self, name: str, arguments: tuple[Any, ...]) -> None:
        if name == "subprocess.Popen" and "-c" in arguments[1]:
            self.seen("start")
            if self.kind == "running":
                threading.Thread(target=self.wait_for_sandbox, daemon=True).start()
        elif name == "os.rename" and str(arguments[0]).startswith(self.folder):
            self.seen("rename")
        elif name == "open" and str(arguments[0]).startswith(self.folder) and "w" in str(arguments[1]):
            self.seen("open")

    def wait_for_sandbox(self) -> None:
        while len([*process_tree(os.getpid())]) < SANDBOX_FAMILY:
            time.sleep(0.01)
        self.seen("running")

    def watch(self) -> None:
        sys.addaudithook(self.audit)
        event.listen(Engine, "commit", lambda *_: self.seen("commit"))
        event.listen(Engine, "before_cursor_execute", lambda *given: self.seen(given[2].split()[0].lower()))


def grade_until(folder: Path, kind: str, n: int) -> dict[str, Any]:
    """Grade in a process of its own that is killed at this point."""
    child = os.fork()
    if child == 0:
        Point(folder, kind, n).watch()
        with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
            main(["class", "grade", "--course", str(folder), "--workers", "1"])
        os._exit(0)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    records = folder.glob("graded/*/*.json")
    return {
        "point": f"{kind}:{n}",
        "ended_by": -ended,
        "left_ended_by": sorted(-one for one in orphans()),
        "records": sorted(json.loads(path.read_text())["student"] for path in records),
    }


def orphans() -> Iterator[int]:
    """How each process ended that grading left: they come to this one, which waits for all."""
    with contextlib.suppress(ChildProcessError):
        while True:
            yield os.waitstatus_to_exitcode(os.waitpid(-1, 0)[1])


if __name__ == "__main__":
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    points = [point.split(":") for point in sys.argv[2:]]
    print(json.dumps([grade_until(Path(sys.argv[1]), kind, int(n)) for kind, n in points]))
