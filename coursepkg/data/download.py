"""Download a file so that it arrives whole, checked and under its own name, or not at all.

It grows in `PATH.part`. A connection that breaks off or stalls is tried again after a pause, and what has arrived is
kept, also when the program is stopped: the same call goes on from there.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from tqdm import tqdm

from coursepkg.data.transfer import Broken, Piece, check_address, transfer
from coursepkg.files import file_sha256

_LONGEST_PAUSE = 60.0


class Downloaded(NamedTuple):
    """What is known about a file that was downloaded."""

    sha256: str
    n_bytes: int


def download(
    url: str,
    path: str | Path,
    *,
    sha256: str | None = None,
    size_limit: int = 2_000_000_000,
    retries: int = 4,
    timeout: int | float = 30.0,
    pause: int | float = 1.0,
    check: Callable[[Path], None] | None = None,
    show_progress: bool = True,
) -> Downloaded:
    """Download a file; an older one of this name is replaced at the end.

    Args:
        url: address, http or https.
        path: where the file goes; its folder exists.
        sha256: SHA-256 that it must have; None accepts what comes.
        size_limit: largest file that is accepted, in bytes.
        retries: how often in a row a transfer may fail without getting further than any before, 0 or more.
        timeout: seconds without news after which a connection counts as stalled.
        pause: seconds before the first new try; every further one waits twice as long, at most a minute.
        check: looks at the complete file before it gets its name, and raises what is wrong with it.
        show_progress: draw a bar on standard error, where that is a terminal.

    Raises:
        ValueError: the address, the size, the checksum or the content is wrong; nothing of the file stays.
        OSError: the server cannot be reached or breaks off again and again, or the disk refuses; what has arrived
            stays.
    """
    check_address(url)
    path = Path(path)
    for name, value, least in (("size_limit", size_limit, 1), ("retries", retries, 0)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    if timeout <= 0 or pause < 0:
        raise ValueError(
            f"timeout must be above 0 and pause at least 0 seconds, got {timeout:g} and {pause:g}"
        )
    piece = Piece(path.with_name(path.name + ".part"))
    with _bar(path.name, show_progress) as progress:

        def once() -> None:
            transfer(
                url,
                piece,
                checked=sha256 is not None,
                size_limit=size_limit,
                timeout=float(timeout),
                progress=progress,
            )

        _persist(once, piece, retries, float(pause))
    return _accept(url, piece, path, sha256, check)


def _persist(once: Callable[[], None], piece: Piece, retries: int, pause: float) -> None:
    """Try until it works, or has failed too often without getting any further."""
    failures, furthest = 0, piece.size
    while True:
        try:
            return once()
        except Broken as reason:
            if piece.size > furthest:
                failures, furthest = 0, piece.size
            failures += 1
            if failures > retries:
                tries = "1 try" if failures == 1 else f"{failures} tries in a row"
                raise OSError(f"{reason} ({tries}); run the same command again to go on") from reason
        time.sleep(min(pause * 2 ** (failures - 1), _LONGEST_PAUSE))


def _accept(
    url: str, piece: Piece, path: Path, sha256: str | None, check: Callable[[Path], None] | None
) -> Downloaded:
    """Check the complete file and give it its name."""
    found = Downloaded(file_sha256(piece.path), piece.size)
    try:
        if sha256 is not None and found.sha256 != sha256:
            raise ValueError(
                f"{url}: the SHA-256 of the {found.n_bytes} bytes that came is {found.sha256} instead of {sha256}; "
                "the file was changed or damaged, and nothing of it was kept"
            )
        if check is not None:
            check(piece.path)
    except ValueError:
        piece.forget()
        raise
    with piece.path.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(piece.path, path)
    piece.forget()
    return found


@contextmanager
def _bar(name: str, show: bool) -> Iterator[Callable[[int, int | None], None]]:
    """A bar that appears with the first bytes, so that a mistake before them stays one line."""
    bar: tqdm | None = None

    def progress(have: int, total: int | None) -> None:
        nonlocal bar
        if show and bar is None:
            bar = tqdm(desc=name, total=total, unit="B", unit_scale=True, disable=None, leave=False)
        if bar is not None:
            bar.total = total
            bar.update(have - bar.n)

    try:
        yield progress
    finally:
        if bar is not None:
            bar.close()
