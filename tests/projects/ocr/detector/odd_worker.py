"""A worker whose network does what the first pixel of a picture says: the process around it is the real one."""

import os
import sys
import time
from pathlib import Path

import numpy as np

from coursepkg.projects.ocr.detector.engines import DetectorSettings, Engine, Found
from coursepkg.projects.ocr.detector.process import main

FINE, CRASH, GROW, SLEEP, RAISE, LEAK, CRASH_ONCE, TALK = range(8)
MODULE = __name__
_leaked: list[np.ndarray] = []


def _open(settings: DetectorSettings) -> Engine:
    if settings.unclip == 99:
        raise ImportError("a package is missing: pip install it")

    def find(image: np.ndarray) -> Found:
        what = int(image[0, 0, 0])
        marker = Path(os.environ.get("ODD_WORKER_MARKER", ""))
        if what == CRASH or (what == CRASH_ONCE and not marker.exists()):
            if what == CRASH_ONCE:
                marker.touch()
            print("the network broke", file=sys.stderr, flush=True)
            os._exit(7)
        if what == GROW:
            # At most half a gigabyte a second: a look that comes late on a busy machine is no matter.
            while True:
                _leaked.append(np.ones(2**17))
                time.sleep(0.002)
        if what == SLEEP:
            time.sleep(60)
        if what == RAISE:
            raise ValueError("first line\nthe picture is too odd")
        if what == LEAK:
            _leaked.append(np.ones(49 * 2**20))
        if what == TALK:
            print("libraries print what they like", flush=True)
        height, width = image.shape[:2]
        return [(np.array([[0, 0], [width, 0], [width, height / 2], [0, height / 2]]), 0.75)]

    return find


if __name__ == "__main__":
    main(_open)
