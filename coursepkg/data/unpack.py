"""Unpack an archive from somewhere else: nothing outside the folder, no link, no bomb, all of it or nothing.

The archive's own word is not taken for anything: bytes are counted while they are written, and owners, modes and
times are left out.

Source: CVE-2007-4559 (members named `../x` in Python's tarfile) and the documentation of `tarfile`'s filters.
"""

import gzip
import lzma
import os
import re
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import Any, Protocol, runtime_checkable

_CHUNK = 1 << 16
_HEADERS = 2048
"""Bytes that a tar file may spend on one member beside its content."""
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, lzma.LZMAError, zlib.error, EOFError, gzip.BadGzipFile)


@runtime_checkable
class _Stream(Protocol):
    """What can be read piece by piece."""

    def read(self, size: int, /) -> bytes: ...


class _Budget:
    """What an archive may still become."""

    def __init__(self, name: str, n_bytes: int, n_members: int) -> None:
        self.name, self.n_bytes, self.n_members = name, n_bytes, n_members
        self.bytes_left, self.members_left = n_bytes, n_members

    def take_member(self) -> None:
        self.members_left -= 1
        if self.members_left < 0:
            raise ValueError(
                f"{self.name} holds more than {self.n_members} files; it was not unpacked, in case it is a bomb"
            )

    def take_bytes(self, count: int) -> None:
        self.bytes_left -= count
        if self.bytes_left < 0:
            raise ValueError(
                f"{self.name} unpacks to more than {self.n_bytes} bytes; it was not unpacked, in case it is a bomb"
            )


class _Counted:
    """A stream that stops where the budget does; for what tarfile reads into memory before it can be asked."""

    def __init__(self, stream: _Stream, budget: _Budget) -> None:
        self._stream, self._budget = stream, budget

    def read(self, size: int, /) -> bytes:
        block = self._stream.read(size)
        self._budget.take_bytes(len(block))
        return block


def unpack(
    archive: str | Path, folder: str | Path, *, size_limit: int = 4_000_000_000, member_limit: int = 200_000
) -> list[Path]:
    """Unpack a .zip, .tar, .tar.gz, .tgz, .tar.xz or .gz file into a folder of its own.

    Args:
        archive: the file; its name says of which kind it is.
        folder: the folder that it becomes, which does not exist yet.
        size_limit: largest sum of all files, in bytes.
        member_limit: largest number of files and folders.

    Returns:
        the files, as paths relative to the folder, sorted.

    Raises:
        ValueError: the archive is damaged, too large, of another kind, or holds something that is neither file nor
            folder or lies outside; nothing of it was unpacked.
        FileExistsError: the folder exists and is not empty.
    """
    archive, folder = Path(archive), Path(folder)
    read = _reader(archive)
    if not archive.stat().st_size:
        raise ValueError(f"{archive} is damaged (it is empty); download it again")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise FileExistsError(
            f"{folder} exists and is not empty; move it away to unpack {archive.name} again"
        )
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".part", dir=folder.parent))
    try:
        read(archive, work, _Budget(archive.name, size_limit, member_limit))
        files = sorted(path.relative_to(work) for path in work.rglob("*") if path.is_file())
        work.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        os.replace(work, folder)
    except _DAMAGED as reason:
        raise ValueError(f"{archive} is damaged ({reason}); download it again") from reason
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return files


def _reader(archive: Path) -> Callable[[Path, Path, _Budget], None]:
    name = archive.name.lower()
    if name.endswith(".zip"):
        return _read_zip
    if name.endswith((".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz")):
        return _read_tar
    if name.endswith(".gz"):
        return _read_gzip
    raise ValueError(
        f"{archive.name} is no archive that can be unpacked; needs .zip, .tar, .tar.gz, .tar.xz or .gz"
    )


def _read_zip(archive: Path, work: Path, budget: _Budget) -> None:
    with zipfile.ZipFile(archive) as source:
        for member in source.infolist():
            budget.take_member()
            place = _place(work, member.filename, archive.name)
            kind = stat.S_IFMT(member.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise ValueError(
                    f"{archive.name}: {member.filename!r} is a link or device; it was not unpacked"
                )
            if member.flag_bits & 1:
                raise ValueError(f"{archive.name}: {member.filename!r} is encrypted; unpack it by hand")
            if member.is_dir():
                _make_folder(place, archive.name)
                continue
            try:
                content = source.open(member)
            except NotImplementedError as reason:
                raise ValueError(
                    f"{archive.name}: {member.filename!r}: {reason}; unpack it by hand"
                ) from reason
            with content:
                _copy(content, place, budget, archive.name)


def _read_tar(archive: Path, work: Path, budget: _Budget) -> None:
    name = archive.name.lower()
    opener: Any = gzip.open if name.endswith("gz") else lzma.open if name.endswith("xz") else open
    stream_budget = _Budget(archive.name, budget.n_bytes, budget.n_members)
    stream_budget.bytes_left += _HEADERS * (budget.n_members + 10)
    with opener(archive, "rb") as raw:
        counted: Any = _Counted(raw, stream_budget)
        # A stream is read once, front to back, so that nothing is skipped over uncounted.
        with tarfile.open(fileobj=counted, mode="r|") as source:
            _read_members(source, work, budget, archive.name)


def _read_members(source: tarfile.TarFile, work: Path, budget: _Budget, archive: str) -> None:
    for member in source:
        budget.take_member()
        place = _place(work, member.name, archive)
        if member.isdir():
            _make_folder(place, archive)
            continue
        content = source.extractfile(member) if member.isreg() else None
        if content is None:
            raise ValueError(f"{archive}: {member.name!r} is a link or device; it was not unpacked")
        _copy(content, place, budget, archive)


def _read_gzip(archive: Path, work: Path, budget: _Budget) -> None:
    budget.take_member()
    with gzip.open(archive, "rb") as content:
        _copy(content, work / archive.name[: -len(".gz")], budget, archive.name)


def _place(work: Path, name: str, archive: str) -> Path:
    """Where a member goes; refuses every name that could lead outside on any system."""
    place = PurePosixPath(name.replace("\\", "/"))
    if not name or "\0" in name or place.is_absolute() or ".." in place.parts or re.match("[A-Za-z]:", name):
        raise ValueError(f"{archive}: {name!r} lies outside the folder; nothing was unpacked")
    return work / place


def _make_folder(place: Path, archive: str) -> None:
    try:
        place.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as reason:
        raise ValueError(
            f"{archive} holds {place.name!r} as file and folder; nothing was unpacked"
        ) from reason


def _copy(content: _Stream, place: Path, budget: _Budget, archive: str) -> None:
    _make_folder(place.parent, archive)
    try:
        file = place.open("xb")
    except (FileExistsError, IsADirectoryError) as reason:
        raise ValueError(f"{archive} holds {place.name!r} twice; nothing was unpacked") from reason
    with file:
        while block := content.read(_CHUNK):
            budget.take_bytes(len(block))
            file.write(block)
