"""Ctrl-C as a wish: the loop ends the step that it is in and stores a checkpoint first."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def noticed_interrupt() -> Iterator[Callable[[], bool]]:
    """Inside `with`, the first Ctrl-C is only noted, and the function that this yields says so; a second one stops.

    Outside the main thread Python delivers no signals, so there is nothing to note.
    """
    noted = False

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal noted
        noted = True
        signal.signal(signal.SIGINT, before)

    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, note)
    try:
        yield lambda: noted
    finally:
        signal.signal(signal.SIGINT, before)
