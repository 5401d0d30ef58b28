"""Files and folders that appear whole or not at all, and their SHA-256."""

import hashlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from coursepkg.validation import one_line

if TYPE_CHECKING:
    from torch import Tensor


def cache_folder() -> Path:
    """The user's folder for what can be made again; it may not exist yet."""
    return _user_cache() / "coursepkg"


def _user_cache() -> Path:
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def name_kernel_folder() -> None:
    """Let torch's compiler keep its kernels in the user's cache.

    Fabric imports the compiler, and that makes a folder at once: in the temporary one,
    unless another is named. Where the cache cannot be written it stays so.
    """
    folder = cache_folder() / "kernels"
    # Unlike `Path.exists` this raises nothing for a folder that is closed to the user.
    there = next(p for p in (folder, *folder.parents) if os.path.exists(p))
    if there.is_dir() and os.access(there, os.W_OK):
        os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(folder))


def file_sha256(path: str | Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def part_of(path: Path) -> Path:
    """Where a file or folder grows before it gets its name."""
    return path.with_name(path.name + ".part")


def check_regular(path: Path) -> None:
    """Refuse what is there and no file of bytes: a pipe, a device, a socket, a folder.

    Reading one may never end.

    Raises:
        ValueError: it is such a thing.
    """
    if path.exists() and not path.is_file():
        kind = "a folder" if path.is_dir() else "no regular file"
        raise ValueError(f"{path} is {kind}; name a file")


def check_new(path: Path, to_do: str = "remove it or choose another --out") -> None:
    """Refuse, before the work begins, a path where something stands.

    Args:
        path: a file or folder to be.
        to_do: what the message advises.

    Raises:
        ValueError: it is there.
    """
    if path.exists():
        raise ValueError(f"{path} already exists; {to_do}")


@contextmanager
def _folders_of(path: Path) -> Iterator[None]:
    """Make the folders that a path lies in; a failure takes those away again."""
    missing = [folder for folder in path.parents if not os.path.exists(folder)]
    try:
        for folder in reversed(missing):
            folder.mkdir(exist_ok=True)
        yield
    except BaseException:
        for folder in missing:
            # It may not have been made, or hold by now what another process wrote.
            with suppress(OSError):
                folder.rmdir()
        raise


@contextmanager
def whole_file(path: str | Path) -> Iterator[BinaryIO]:
    """A file to write into, which gets its name only when the block ends well.

    Its folder is made where it is missing.

    Raises:
        OSError: it cannot be written, as on a full disk; the message names it, and
            nothing half-written stays, nor a folder made for it.
    """
    part = part_of(Path(path))
    with _folders_of(part):
        try:
            with part.open("wb") as file:
                yield file
            os.replace(part, path)
        except BaseException as reason:
            if part.is_file():
                part.unlink()
            if (
                isinstance(reason, OSError)
                and reason.errno is not None
                and reason.filename is None
            ):
                # A failed write says what is wrong, but not with which file.
                raise OSError(reason.errno, reason.strerror, str(path)) from reason
            raise


@contextmanager
def whole_folder(folder: str | Path) -> Iterator[Path]:
    """A folder to write into, which gets its name only when the block ends well.

    Otherwise the older one stays as it was, and nothing half-written stays behind, nor
    a folder made for it.

    Raises:
        OSError: it cannot be made.
    """
    folder = Path(folder)
    part = part_of(folder)
    shutil.rmtree(part, ignore_errors=True)
    with _folders_of(part):
        try:
            part.mkdir()
            yield part
            _replace_folder(part, folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)


def _replace_folder(part: Path, folder: Path) -> None:
    """Give a folder its name; the older one goes when the new one is in its place."""
    if not folder.is_dir() or folder.is_symlink():
        os.rename(part, folder)
        return
    with tempfile.TemporaryDirectory(
        dir=folder.parent, prefix=f".{folder.name}-", ignore_cleanup_errors=True
    ) as aside:
        older = Path(aside) / folder.name
        try:
            os.rename(folder, older)
            os.rename(part, folder)
        except BaseException:  # also Ctrl-C between the two
            if older.exists() and not folder.exists():
                os.rename(older, folder)
            raise


FORMAT = 1
"""Version of everything that is written here. A reader refuses what is newer than
itself.
"""

Fingerprint = dict[str, Any]
"""Size in bytes and SHA-256 of a file."""


def write_tensors(path: Path, tensors: "Mapping[str, Tensor]") -> Fingerprint:
    """Write a safetensors file, wait for the disk, and return its fingerprint.

    Raises:
        OSError: it cannot be written, as on a full disk.
    """
    # Imported here, so that reading text files does not load torch.
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    try:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    except SafetensorError as reason:
        raise OSError(
            f"{path} could not be written: {reason}; free some space and try again"
        ) from reason
    return _sealed(path)


def write_json(path: Path, content: Mapping[str, Any]) -> Fingerprint:
    """Replace a JSON file at once, wait for the disk, return its fingerprint.

    Raises:
        OSError: it cannot be written.
    """
    text = json.dumps({"format": FORMAT, **content}, indent=1) + "\n"
    try:
        with whole_file(path) as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
    except OSError as reason:
        raise OSError(
            f"{path} could not be written: {reason}; free some space and try again"
        ) from reason
    sync_folder(path.parent)
    return _sealed(path)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_tensors(path: Path, seal: Fingerprint) -> "dict[str, Tensor]":
    """Read a safetensors file that has this fingerprint.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is cut short, was changed, or is no safetensors file.
    """
    check_seal(path, seal)
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except (SafetensorError, KeyError, AttributeError) as reason:
        # Bytes that were changed together with their fingerprint; the library has a
        # KeyError for an unknown kind of number.
        raise ValueError(
            f"{path} is damaged: it is no safetensors file ({one_line(reason)}); copy"
            " it again"
        ) from reason


def read_json(
    path: Path,
    seal: Fingerprint | None = None,
    *,
    needs: Mapping[str, type] | None = None,
) -> dict[str, Any]:
    """Read a JSON file with entries of these kinds, checked by fingerprint if known.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is damaged, was changed, or is of a newer format.
    """
    if seal is not None:
        check_seal(path, seal)
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing")
    try:
        content = dict(json.loads(path.read_text(encoding="utf-8")))
        version = content["format"]
        if not isinstance(version, int) or version < 1:
            raise TypeError("the format is a number from 1")
    except (ValueError, KeyError, TypeError, RecursionError) as reason:
        raise ValueError(
            f"{path} is damaged: it is no JSON file of this package; copy it again"
        ) from reason
    if version > FORMAT:
        raise ValueError(
            f"{path} has format {version}, newer than {FORMAT}; update coursepkg to"
            " read it"
        )
    if missing := missing_entry(content, needs or {}):
        raise ValueError(f"{path} is damaged: it has no {missing}; copy it again")
    return content


def missing_entry(content: Any, needs: Mapping[str, type]) -> str | None:
    """Name of the first entry that is missing or of another type; None if all are fine.

    Args:
        content: as it was read; what is no object has no entries.
        needs: entries that it must have, and their types.
    """
    for name, kind in needs.items():
        if not isinstance(content, dict) or not isinstance(content.get(name), kind):
            return name
    return None


def check_seal(path: Path, seal: Fingerprint) -> None:
    """Raises a FileNotFoundError or ValueError unless the file has this fingerprint."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; copy the whole folder again")
    if not isinstance(seal.get("bytes"), int) or not isinstance(
        seal.get("sha256"), str
    ):
        raise ValueError(
            f"the size and SHA-256 on record for {path} are damaged; copy the whole"
            " folder again"
        )
    size = path.stat().st_size
    if size != seal["bytes"]:
        said = "is cut short" if size < seal["bytes"] else "is too long"
        raise ValueError(
            f"{path} {said}: {size} bytes instead of {seal['bytes']}; copy it again"
        )
    if file_sha256(path) != seal["sha256"]:
        raise ValueError(
            f"{path} was changed: its SHA-256 is not the one on record; copy it again"
        )


def _sealed(path: Path) -> Fingerprint:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
    return {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
