"""What the worker says of its memory, spoken to in this process."""

import sys
from dataclasses import asdict
from tempfile import TemporaryFile
from typing import Any

import numpy as np
import pytest

from coursepkg.projects.ocr.detector import process as worker
from coursepkg.projects.ocr.detector.engines import DetectorSettings

CORNERS = np.array([[1, 1], [5, 1], [5, 3], [1, 3]], np.float64)


def answers() -> list[dict[str, Any]]:
    """What a worker that finds one box answers to one picture."""
    with TemporaryFile() as inbox, TemporaryFile() as outbox:
        worker.send(inbox, {"settings": asdict(DetectorSettings())})
        worker.send(inbox, {"size": [4, 6]}, np.zeros((4, 6, 3), np.uint8).tobytes())
        inbox.seek(0)
        worker.serve(inbox, outbox, lambda settings: lambda image: [(CORNERS, 0.5)])
        outbox.seek(0)
        return list(iter(lambda: worker.receive(outbox), None))


def test_the_memory_is_that_of_this_process() -> None:
    ready, found = answers()
    assert ready == {"ready": True}
    assert found["boxes"] == [[CORNERS.tolist(), 0.5]]
    assert found["memory"] > 10_000_000


def test_a_system_that_does_not_tell_its_memory_still_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "memory_of", lambda process: None)
    assert answers()[1]["memory"] > 10_000_000
    monkeypatch.setitem(sys.modules, "resource", None)
    ready, found = answers()
    assert (ready, found["memory"]) == ({"ready": True}, 0)
    assert found["boxes"] == [[CORNERS.tolist(), 0.5]]
