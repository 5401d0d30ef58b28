"""A worker process and the watch over it: started when it is needed, ended when it takes too much or too long."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from dataclasses import asdict
from typing import IO, Any

import numpy as np

from coursepkg.projects.ocr.detector.settings import DetectorSettings
from coursepkg.projects.ocr.detector.worker import memory_of, receive, send

MIB = 2**20
_LOOK = 0.02
"""Seconds between two looks at the worker's memory while it works."""
_MODULE = "coursepkg.projects.ocr.detector.worker"


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
        OSError: the process cannot be started, or refuses, as where weights are missing.
        ImportError: a package is missing.
        WorkerEnded: it ended while it started.
    """

    def __init__(self, settings: DetectorSettings, module: str = _MODULE) -> None:
        self.settings = settings
        self.memory = 0
        """Resident bytes after the last picture."""
        self.peak = 0
        """Most resident bytes that were seen."""
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - it lives as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            env=_environment(settings),
        )
        # A detector that nobody closed must not leave a process behind.
        self._finalizer = weakref.finalize(self, _end, self._process, self._said)
        answer = self._ask({"settings": asdict(settings)}, None)
        if "refused" in answer:
            self.close()
            kind = ImportError if answer["kind"] in ("ImportError", "ModuleNotFoundError") else OSError
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
        return [(np.array(corners, dtype=np.float64), float(score)) for corners, score in answer["boxes"]]

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
        self.peak = max(self.peak, watch.peak)
        if answer is None:
            self._process.kill()
            code = self._process.wait()
            what = watch.what or f"its process ended with code {code}{self._last_words()}"
            self.close()
            raise WorkerEnded(watch.why or "crash", what)
        return answer

    def _last_words(self) -> str:
        """The last line that the worker wrote to its error output."""
        self._said.seek(0)
        lines = self._said.read()[-4096:].decode(errors="replace").strip().splitlines()
        return f": {lines[-1].strip()}" if lines else ""


class _Watch(threading.Thread):
    """Ends a process that takes more memory or time than it may, while a block runs."""

    def __init__(self, process: subprocess.Popen[bytes], settings: DetectorSettings) -> None:
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
        most, late = self.settings.memory * MIB, time.monotonic() + self.settings.timeout
        while not self._over.wait(_LOOK):
            used = memory_of(self.process.pid) or 0
            self.peak = max(self.peak, used)
            if used > most:
                self._end_it("memory", f"it needs more than {self.settings.memory:,} MiB of memory")
            elif time.monotonic() > late:
                self._end_it("time", f"it takes longer than {self.settings.timeout:g} s")

    def _end_it(self, why: str, what: str) -> None:
        self.why, self.what = why, what
        self.process.kill()
        self._over.set()


def _environment(settings: DetectorSettings) -> dict[str, str]:
    """The environment of a worker: the same packages as here, and few threads."""
    environment = dict(os.environ)
    environment["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        environment[name] = str(settings.threads)
    return environment


def _end(process: subprocess.Popen[bytes], said: IO[bytes]) -> None:
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, said):
        try:
            if stream is not None:
                stream.close()
        except OSError:
            # A picture may have been on its way when the process ended.
            continue
