"""The process that holds the network: pictures in, boxes out, one after the other, until its input ends.

Run as `python -m coursepkg.projects.ocr.detector.worker`. A message is the length of a JSON text in eight bytes, the
text, and, after a picture's, its pixels. What libraries print goes to the error output, never between the messages.
"""

import json
import os
import struct
import sys
from collections.abc import Callable
from typing import IO, Any

import numpy as np

from coursepkg.projects.ocr.detector.engines import Engine, open_engine
from coursepkg.projects.ocr.detector.settings import DetectorSettings

_LENGTH = struct.Struct("<Q")


def send(stream: IO[bytes], message: dict[str, Any], payload: bytes | None = None) -> None:
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
    inbox: IO[bytes], outbox: IO[bytes], opened: Callable[[DetectorSettings], Engine] = open_engine
) -> None:
    """Answer pictures with boxes until the input ends; the first message holds the settings.

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
            # Whatever a library raises must reach the user with the name of the picture.
            send(outbox, {"error": _one_line(reason), "memory": _used()})
        else:
            send(outbox, {"boxes": boxes, "memory": _used()})


def _used() -> int:
    """Resident memory in bytes now, its peak where only that is known, or 0 where nothing is."""
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
