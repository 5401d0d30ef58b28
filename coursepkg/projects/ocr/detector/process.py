"""A worker process that holds the network, and what bounds its memory and time.

The worker runs as `python -m coursepkg.projects.ocr.detector.process`: pictures in,
boxes out, until its input ends. A message is the length of a JSON text in eight bytes,
the text, and, after a picture's, its pixels. What libraries print goes to the error
output.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import asdict
from typing import IO, Any

import numpy as np

from coursepkg.projects.ocr.detector.engines import (
    DetectorSettings,
    Engine,
    open_engine,
)

_LENGTH = struct.Struct("<Q")


def send(
    stream: IO[bytes], message: dict[str, Any], payload: bytes | None = None
) -> None:
    """Write a message and what follows it."""
    text = json.dumps(message).encode()
    stream.write(_LENGTH.pack(len(text)) + text)
    if payload is not None:
        stream.write(payload)
    stream.flush()


def receive(stream: IO[bytes]) -> dict[str, Any] | None:
    """Read a message; None where the stream has ended."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    text = stream.read(length)
    if len(text) < length:
        return None
    message: dict[str, Any] = json.loads(text)
    return message


def memory_of(process: int) -> int | None:
    """Resident memory of a process in bytes; None where the system does not tell."""
    try:
        with open(f"/proc/{process}/statm", "rb") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return None


def serve(
    inbox: IO[bytes],
    outbox: IO[bytes],
    opened: Callable[[DetectorSettings], Engine] = open_engine,
) -> None:
    """Answer pictures with boxes until the input ends; settings come first.

    Args:
        inbox: where messages come from.
        outbox: where answers go.
        opened: loads the network.
    """
    first = receive(inbox)
    if first is None:
        return
    try:
        engine = opened(DetectorSettings(**first["settings"]))
    except (ImportError, OSError, ValueError) as reason:
        send(outbox, {"refused": _one_line(reason), "kind": type(reason).__name__})
        return
    send(outbox, {"ready": True})
    while (message := receive(inbox)) is not None:
        height, width = message["size"]
        pixels = inbox.read(height * width * 3)
        if len(pixels) < height * width * 3:
            return
        image = np.frombuffer(pixels, np.uint8).reshape(height, width, 3)
        try:
            boxes = [[corners.tolist(), score] for corners, score in engine(image)]
        except Exception as reason:
            # Whatever a library raises must reach the user with the name of the
            # picture.
            send(outbox, {"error": _one_line(reason), "memory": _used()})
        else:
            send(outbox, {"boxes": boxes, "memory": _used()})


def _used() -> int:
    """Resident bytes now, or their peak where only that is known, or 0."""
    now = memory_of(os.getpid())
    if now is not None:
        return now
    try:
        import resource
    except ImportError:
        # Windows has none; detection runs there without a bound on memory.
        return 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _one_line(reason: BaseException) -> str:
    lines = [line.strip() for line in str(reason).splitlines() if line.strip()]
    return f"{type(reason).__name__}: {lines[-1]}" if lines else type(reason).__name__


def main(opened: Callable[[DetectorSettings], Engine] = open_engine) -> None:
    """Keep the output for messages alone, and serve."""
    outbox = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    serve(sys.stdin.buffer, outbox, opened)


if __name__ == "__main__":
    main()


MIB = 2**20
POLL_SECONDS = 0.02
"""Seconds between two looks at the memory of a process while it works."""
_MODULE = "coursepkg.projects.ocr.detector.process"


class WorkerEnded(Exception):
    """The worker ended before it answered."""

    def __init__(self, why: str, what: str) -> None:
        super().__init__(what)
        self.why = why
        """memory, time or crash."""


class Worker:
    """One process that holds a network.

    Args:
        settings: of its network; its bounds are watched here.
        module: what Python runs.

    Raises:
        OSError: the process cannot be started, or refuses, as where weights are
            missing.
        ImportError: a package is missing.
        WorkerEnded: it ended while it started.
    """

    def __init__(self, settings: DetectorSettings, module: str = _MODULE) -> None:
        self.settings = settings
        self.memory = 0
        """Resident bytes after the last picture."""
        self.peak = 0
        """Most resident bytes that were seen."""
        # It lives as long as the process.
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._stderr,
            env=_environment(settings),
        )
        # A detector that nobody closed must not leave a process behind.
        self._finalizer = weakref.finalize(self, _end, self._process, self._stderr)
        answer = self._ask({"settings": asdict(settings)}, None)
        if "refused" in answer:
            self.close()
            missing = answer["kind"] in ("ImportError", "ModuleNotFoundError")
            kind = ImportError if missing else OSError
            raise kind(answer["refused"].partition(": ")[2])

    def find(self, image: np.ndarray) -> list[tuple[np.ndarray, float]]:
        """Corners (4, 2) and scores in a picture.

        Args:
            image: uint8 RGB (height, width, 3), scaled.

        Raises:
            WorkerEnded: it took too much memory or time, or crashed; it is gone then.
            RuntimeError: the network failed; the worker goes on.
        """
        answer = self._ask({"size": image.shape[:2]}, image.tobytes())
        self.memory = int(answer["memory"])
        self.peak = max(self.peak, self.memory)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return [
            (np.array(corners, dtype=np.float64), float(score))
            for corners, score in answer["boxes"]
        ]

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid

    def close(self) -> None:
        """End the process."""
        self._finalizer()

    def _ask(self, message: dict[str, Any], payload: bytes | None) -> dict[str, Any]:
        inbox, outbox = self._process.stdin, self._process.stdout
        assert inbox is not None
        assert outbox is not None
        with _Watch(self._process, self.settings) as watch:
            try:
                send(inbox, message, payload)
                answer = receive(outbox)
            except (OSError, json.JSONDecodeError):
                answer = None
            except BaseException:
                # Its answer may still come, and would be taken for the next one.
                self.close()
                raise
        self.peak = max(self.peak, watch.peak)
        if answer is None:
            self._process.kill()
            code = self._process.wait()
            ended = f"its process ended with code {code}{self._last_words()}"
            what = watch.what or ended
            self.close()
            raise WorkerEnded(watch.why or "crash", what)
        return answer

    def _last_words(self) -> str:
        """The last line that the worker wrote to its error output."""
        self._stderr.seek(0)
        text = self._stderr.read()[-4096:].decode(errors="replace")
        lines = text.strip().splitlines()
        return f": {lines[-1].strip()}" if lines else ""


class _Watch(threading.Thread):
    """Ends a process that takes more memory or time than it may, while a block runs."""

    def __init__(
        self, process: subprocess.Popen[bytes], settings: DetectorSettings
    ) -> None:
        super().__init__(daemon=True)
        self.process, self.settings = process, settings
        self.why = self.what = ""
        self.peak = 0
        self._over = threading.Event()

    def __enter__(self) -> "_Watch":
        self.start()
        return self

    def __exit__(self, *exception: object) -> None:
        self._over.set()
        self.join()

    def run(self) -> None:
        """Look, again and again."""
        memory, timeout = self.settings.memory, self.settings.timeout
        late = time.monotonic() + timeout
        while not self._over.wait(POLL_SECONDS):
            used = memory_of(self.process.pid) or 0
            self.peak = max(self.peak, used)
            if used > memory * MIB:
                self._end_it("memory", f"it needs more than {memory:,} MiB of memory")
            elif time.monotonic() > late:
                self._end_it("time", f"it takes longer than {timeout:g} s")

    def _end_it(self, why: str, what: str) -> None:
        self.why, self.what = why, what
        self.process.kill()
        self._over.set()


def _environment(settings: DetectorSettings) -> dict[str, str]:
    """The environment of a worker: the same packages as here, and few threads."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        environment[name] = str(settings.n_threads)
    return environment


def _end(process: subprocess.Popen[bytes], stderr: IO[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, stderr):
        try:
            if stream is not None:
                stream.close()
        except OSError:
            # A picture may have been on its way when the process ended.
            continue
