"""Fetch a data set: download what has a public address, check it, unpack it, and remember what came.

`fetched.json` in the folder of the set records the SHA-256 of every download. Where the registry knows none, the first
download is trusted and later ones must equal it.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from coursepkg.data.download import Downloaded, download
from coursepkg.data.registry import DataFile, DataSet
from coursepkg.data.unpack import unpack
from coursepkg.files import file_sha256, whole_file

LOCK = "fetched.json"
"""Name of the record in the folder of a set."""
_FORMAT = 1


@dataclass(frozen=True)
class Arrival:
    """What became of a file."""

    path: str
    """Place in the folder of the set."""
    how: str
    """`downloaded`, `present` or `on request`."""
    sha256: str | None = None
    """SHA-256 of the download; None where it is not known."""
    first_seen: bool = False
    """Whether this download is the first and decides what later ones must equal."""


def fetch(
    wanted: DataSet, folder: Path, *, load: Callable[..., Downloaded] = download
) -> tuple[Arrival, ...]:
    """Bring the files of a set that have an address into its folder.

    Args:
        wanted: the set.
        folder: its folder, made where it does not exist.
        load: what downloads a file; `download` or a partial of it with other patience.

    Raises:
        ValueError: no file of the set has an address, or one that came or lies there is another than it should be.
        OSError: a server cannot be reached, or the disk refuses.
    """
    if not wanted.downloadable:
        raise ValueError(f"{wanted.name} cannot be downloaded: {wanted.ask}; put the files into {folder}")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise OSError(
            f"{folder} cannot be made: {reason.strerror}; choose another folder with --out"
        ) from reason
    lock = folder / LOCK
    record = _read_record(lock)
    arrivals = []
    for file in wanted.files:
        if not file.url:
            arrivals.append(Arrival(file.path, "present" if (folder / file.path).exists() else "on request"))
            continue
        known = record.get(file.path, {})
        # What was recorded under another address says nothing about this one.
        seen = known["sha256"] if known.get("url") == file.url else None
        arrival = _fetch_file(file, folder, seen, load)
        if arrival.how == "downloaded":
            record[file.path] = {"url": file.url, "sha256": arrival.sha256}
            _write_record(lock, record)
        arrivals.append(arrival)
    return tuple(arrivals)


def _fetch_file(file: DataFile, folder: Path, seen: str | None, load: Callable[..., Downloaded]) -> Arrival:
    place, wanted = folder / file.path, file.sha256 or seen
    if place.exists():
        if not file.unpacked_limit:
            _check_present(place, file, wanted)
        return Arrival(file.path, "present", wanted)
    place.parent.mkdir(parents=True, exist_ok=True)
    target = place if not file.unpacked_limit else place.parent / file.url.rpartition("/")[2]
    try:
        found = load(
            file.url, target, sha256=wanted, size_limit=file.size_limit, check=partial(check_lines, file=file)
        )
    except ValueError as reason:
        if wanted is None or file.sha256 or wanted not in str(reason):
            raise
        raise ValueError(
            f"{reason}; that one was recorded at the first download in {folder / LOCK}: "
            "remove it there if the new file is right"
        ) from reason
    if file.unpacked_limit:
        try:
            unpack(target, place, size_limit=file.unpacked_limit)
        finally:
            target.unlink()
    return Arrival(file.path, "downloaded", found.sha256, first_seen=wanted is None)


def check_lines(path: Path, file: DataFile) -> None:
    """Raises a ValueError unless a text file has as many lines as the registry says."""
    if file.lines is None:
        return
    with path.open("rb") as text:
        found = sum(1 for _ in text)
    if found != file.lines:
        raise ValueError(
            f"{file.url}: {found} lines instead of {file.lines}; the file was changed or damaged, and nothing of "
            "it was kept"
        )


def _check_present(place: Path, file: DataFile, wanted: str | None) -> None:
    if wanted is not None and place.is_file() and file_sha256(place) != wanted:
        raise ValueError(
            f"{place} is not the file that {file.url} gives (its SHA-256 is not {wanted}); move it away and fetch again"
        )


def _read_record(lock: Path) -> dict[str, dict[str, Any]]:
    if not lock.exists():
        return {}
    try:
        content = json.loads(lock.read_text(encoding="utf-8"))
        files = {
            str(name): {"url": one["url"], "sha256": one["sha256"]} for name, one in content["files"].items()
        }
        version = int(content["format"])
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        raise ValueError(f"{lock} is damaged; remove it to trust the next downloads") from reason
    if version > _FORMAT:
        raise ValueError(f"{lock} has format {version}, newer than {_FORMAT}; update coursepkg to read it")
    return files


def _write_record(lock: Path, record: dict[str, dict[str, Any]]) -> None:
    text = json.dumps({"format": _FORMAT, "files": record}, indent=1, sort_keys=True) + "\n"
    with whole_file(lock) as out:
        out.write(text.encode())
