"""Files and folders that appear whole or not at all, and digests of files."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


def file_sha256(path: str | Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def part_of(path: Path) -> Path:
    """Where a file or folder grows before it gets its name."""
    return path.with_name(path.name + ".part")


def check_new(path: Path, to_do: str = "remove it or choose another --out") -> None:
    """Look, before the work begins, whether something stands where nothing may be replaced.

    Args:
        path: a file or folder to be.
        to_do: what the message advises.

    Raises:
        ValueError: it is there.
    """
    if path.exists():
        raise ValueError(f"{path} already exists; {to_do}")


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write into, which gets its name when the block ends well; otherwise an older one stays as it was.

    Raises:
        OSError: it cannot be written, as on a full disk; the message names it, and nothing half-written stays.
    """
    part = part_of(Path(path))
    try:
        with part.open("wb") as file:
            yield file
        os.replace(part, path)
    except BaseException as reason:
        if part.is_file():
            part.unlink()
        if isinstance(reason, OSError) and reason.errno is not None and reason.filename is None:
            # A failed write says what is wrong, but not with which file.
            raise OSError(reason.errno, reason.strerror, str(path)) from reason
        raise


@contextmanager
def whole_folder(folder: str | Path) -> Iterator[Path]:
    """A folder to write into, which gets its name when the block ends well, in place of an older one.

    Otherwise the older one stays as it was, and nothing half-written stays behind.

    Raises:
        OSError: it cannot be made.
    """
    folder = Path(folder)
    part = part_of(folder)
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        yield part
        shutil.rmtree(folder, ignore_errors=True)
        os.rename(part, folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)
