"""Files that appear whole or not at all, and that are known again by their SHA-256."""

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from coursepkg.files import file_sha256, whole_file

FORMAT = 1
"""Version of everything that is written here. A reader refuses what is newer than itself."""

Fingerprint = dict[str, Any]
"""Size in bytes and SHA-256 of a file."""


def write_tensors(path: Path, tensors: Mapping[str, Tensor]) -> Fingerprint:
    """Write a safetensors file, wait for the disk, and return its fingerprint.

    Raises:
        OSError: it cannot be written, as on a full disk.
    """
    try:
        save_file({name: tensor.contiguous() for name, tensor in tensors.items()}, path)
    except SafetensorError as reason:
        raise OSError(f"{path} could not be written: {reason}; free some space and try again") from reason
    return _sealed(path)


def write_json(path: Path, content: Mapping[str, Any]) -> Fingerprint:
    """Write a JSON file, replacing one of this name at once, wait for the disk, and return its fingerprint.

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
        raise OSError(f"{path} could not be written: {reason}; free some space and try again") from reason
    sync_folder(path.parent)
    return _sealed(path)


def sync_folder(folder: Path) -> None:
    """Wait until the names in a folder are on the disk."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def read_tensors(path: Path, seal: Fingerprint) -> dict[str, Tensor]:
    """Read a safetensors file that has this fingerprint.

    Raises:
        FileNotFoundError: there is no such file.
        ValueError: it is cut short, or was changed.
    """
    check_seal(path, seal)
    return load_file(path)


def read_json(
    path: Path, seal: Fingerprint | None = None, *, needs: Mapping[str, type] | None = None
) -> dict[str, Any]:
    """Read a JSON file of ours that has entries of these kinds, checked against its fingerprint where one is known.

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
        version = int(content["format"])
    except (ValueError, KeyError, TypeError) as reason:
        raise ValueError(f"{path} is damaged: it is no JSON file of this package; copy it again") from reason
    if version > FORMAT:
        raise ValueError(f"{path} has format {version}, newer than {FORMAT}; update coursepkg to read it")
    for name, kind in (needs or {}).items():
        if not isinstance(content.get(name), kind):
            raise ValueError(f"{path} is damaged: it has no {name}; copy it again")
    return content


def check_seal(path: Path, seal: Fingerprint) -> None:
    """Raises a FileNotFoundError or ValueError unless the file has this fingerprint."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is missing; copy the whole folder again")
    if not isinstance(seal.get("bytes"), int) or not isinstance(seal.get("sha256"), str):
        raise ValueError(
            f"the size and SHA-256 on record for {path} are damaged; copy the whole folder again"
        )
    size = path.stat().st_size
    if size != seal["bytes"]:
        said = "is cut short" if size < seal["bytes"] else "is too long"
        raise ValueError(f"{path} {said}: {size} bytes instead of {seal['bytes']}; copy it again")
    if file_sha256(path) != seal["sha256"]:
        raise ValueError(f"{path} was changed: its SHA-256 is not the one on record; copy it again")


def _sealed(path: Path) -> Fingerprint:
    with path.open("rb+") as file:
        os.fsync(file.fileno())
    return {"bytes": path.stat().st_size, "sha256": file_sha256(path)}
