"""Download files and sets so that each arrives whole and checked, or not at all.

A file grows in `PATH.part`. A connection that breaks off or stalls is tried again after
a pause, and the same call goes on from what has arrived, also after the program was
stopped; pooch starts each file anew, so it does not serve here. A part is continued
only where a mix of two versions would be noticed: the server names the version (ETag or
date), or the checksum is known. Source: RFC 9110, sections 13 and 14.

`fetched.json` in the folder of a set records the SHA-256 of every download. Where the
registry knows none, the first download is trusted and later ones must equal it.
"""

import json
import os
import re
import socket
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import partial
from http.client import HTTPException, HTTPMessage, HTTPResponse
from pathlib import Path
from typing import Any, NamedTuple
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from tqdm import tqdm

from coursepkg import __version__
from coursepkg.data.registry import DataFile, DataSet
from coursepkg.files import file_sha256, whole_file

LOCK = "fetched.json"
"""Name of the record in the folder of a set."""
_FORMAT = 1
_CHUNK = 1 << 16
_LEAST_RATE = 100
"""Bytes per second below which a connection counts as stalled."""
_LONGEST_PAUSE = 60.0
_TRY_AGAIN = (408, 425, 429)


class Broken(OSError):
    """A transfer that ended early; another request may go on from where it stopped."""


class Downloaded(NamedTuple):
    """What is known about a file that was downloaded."""

    sha256: str
    n_bytes: int


@dataclass(frozen=True)
class Piece:
    """What has arrived of a file; a note beside it names its address and version."""

    path: Path

    @property
    def note(self) -> Path:
        """The file that names address and version."""
        return self.path.with_name(self.path.name + ".json")

    @property
    def size(self) -> int:
        """Bytes that have arrived."""
        return self.path.stat().st_size if self.path.is_file() else 0

    def version(self, url: str) -> str | None:
        """The version of the bytes, "" if unnamed, None if of another address."""
        try:
            note = json.loads(self.note.read_text(encoding="utf-8"))
            return str(note["version"]) if note["url"] == url else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def begin(self, url: str, version: str) -> None:
        """Note what is about to arrive."""
        text = json.dumps({"url": url, "version": version})
        self.note.write_text(text, encoding="utf-8")

    def forget(self) -> None:
        """Remove bytes and note."""
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


def check_address(url: str, came_from: str = "") -> None:
    """Raises a ValueError unless the address is HTTP, and no less safe redirect."""
    parts = urlsplit(url)
    via = f", where {came_from} leads," if came_from else ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            f"{url}{via} is no address that begins with https:// or http://"
        )
    if parts.scheme == "http" and came_from.startswith("https:"):
        raise ValueError(f"{url}{via} is not encrypted; the download was refused")


class _Redirects(HTTPRedirectHandler):
    """Follows redirects to HTTP addresses only."""

    def redirect_request(
        self,
        req: Request,
        fp: Any,
        code: int,
        msg: str,
        headers: HTTPMessage,
        newurl: str,
    ) -> Request | None:
        check_address(newurl, came_from=req.full_url)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


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
        retries: how often in a row a transfer may fail without getting further than any
            before, 0 or more.
        timeout: seconds without news after which a connection counts as stalled.
        pause: seconds before the first new try; every further one waits twice as long,
            at most a minute.
        check: looks at the complete file before it gets its name, and raises what is
            wrong with it.
        show_progress: draw a bar on standard error, where that is a terminal.

    Raises:
        ValueError: the address, the size, the checksum or the content is wrong; nothing
            of the file stays.
        OSError: the server cannot be reached or breaks off again and again, or the disk
            refuses; what has arrived stays.
    """
    check_address(url)
    path = Path(path)
    for name, value, least in (("size_limit", size_limit, 1), ("retries", retries, 0)):
        if value < least:
            raise ValueError(f"{name} must be at least {least}, got {value}")
    if timeout <= 0 or pause < 0:
        raise ValueError(
            f"timeout must be above 0 and pause at least 0 seconds, got {timeout:g} and"
            f" {pause:g}"
        )
    piece = Piece(path.with_name(path.name + ".part"))
    with _bar(path.name, show_progress) as progress:
        transfer = _Transfer(
            url, piece, sha256 is not None, size_limit, float(timeout), progress
        )
        _persist(transfer, retries, float(pause))
    return _accept(url, piece, path, sha256, check)


@dataclass(frozen=True)
class _Transfer:
    """One request for the bytes that are missing of a file."""

    url: str
    piece: Piece
    checked: bool
    """Whether the checksum is known."""
    size_limit: int
    timeout: float
    progress: Callable[[int, int | None], None]
    """Told the bytes that are there and, if known, those of the whole file."""

    def __call__(self) -> None:
        """Return when the file is complete; `Broken` says that another try may help."""
        piece, version = self.piece, self.piece.version(self.url)
        if not piece.size or version is None or not (version or self.checked):
            piece.forget()
        headers = {
            "User-Agent": f"coursepkg/{__version__}",
            "Accept-Encoding": "identity",
        }
        if piece.size:
            headers["Range"] = f"bytes={piece.size}-"
            if version:
                headers["If-Range"] = version
        answer = self._open(headers)
        with closing(answer):
            if isinstance(answer, HTTPError):
                self._refused(answer)
                return
            offset, total = self._place(answer)
            if total is not None and total > self.size_limit:
                raise self._too_large(f"{total} bytes, at most {self.size_limit}")
            if not offset:
                piece.begin(self.url, _version(answer))
            self._receive(answer, offset, total)

    def _open(self, headers: dict[str, str]) -> HTTPResponse | HTTPError:
        request = Request(self.url, headers=headers)
        try:
            answer = build_opener(_Redirects).open(request, timeout=self.timeout)
        except HTTPError as refusal:
            return refusal
        except URLError as error:
            why = error.reason
            if isinstance(why, ssl.SSLCertVerificationError | socket.gaierror):
                raise OSError(
                    f"{self.url} cannot be reached: {why}; is there a network?"
                ) from error
            raise Broken(f"{self.url}: {why}") from error
        except (OSError, HTTPException) as error:
            raise self._broken(error) from error
        assert isinstance(answer, HTTPResponse)
        return answer

    def _refused(self, refusal: HTTPError) -> None:
        """Return where "nothing follows" means that all is there."""
        if refusal.code == 416 and self.piece.size:
            sizes = refusal.headers.get("Content-Range", "")
            whole = re.fullmatch(r"bytes \*/(\d+)", sizes)
            if whole and int(whole[1]) == self.piece.size:
                return
            self.piece.forget()
            raise Broken(
                f"{self.url}: the part that is here does not fit the file that is there"
            )
        answers = f"{self.url}: the server answers {refusal.code} {refusal.reason}"
        if refusal.code >= 500 or refusal.code in _TRY_AGAIN:
            raise Broken(answers)
        raise ValueError(f"{answers}; the address may have changed")

    def _place(self, answer: HTTPResponse) -> tuple[int, int | None]:
        """Where in the file the answer begins, and how long the file is."""
        url, piece, headers = self.url, self.piece, answer.headers
        if answer.status == 206:
            span = headers.get("Content-Range", "")
            found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", span)
            known, now = piece.version(url), _version(answer)
            changed = known and now and known != now
            if not found or int(found[1]) != piece.size or changed:
                piece.forget()
                raise Broken(
                    f"{url}: the server sent another part of the file, or of another"
                    " version"
                )
            return piece.size, int(found[2])
        if answer.status != 200:
            raise ValueError(
                f"{url}: the server answers {answer.status} {answer.reason}; there is"
                " no file in it"
            )
        if (coding := headers.get("Content-Encoding", "identity")) != "identity":
            raise ValueError(
                f"{url}: the server sends the file encoded as {coding}, which was not"
                " asked for"
            )
        piece.forget()
        length = headers.get("Content-Length", "")
        if length.isdecimal():
            return 0, int(length)
        if not answer.chunked and not self.checked:
            raise ValueError(
                f"{url}: neither length nor checksum is known, so that a broken file"
                " would not be seen"
            )
        return 0, None

    def _receive(self, answer: HTTPResponse, have: int, total: int | None) -> None:
        since, at_since, path = time.monotonic(), have, self.piece.path
        with path.open("ab" if have else "wb") as file:
            while block := self._read(answer):
                have += len(block)
                if have > self.size_limit:
                    break
                try:
                    file.write(block)
                    file.flush()
                except OSError as error:
                    # A failed write says what is wrong, but not with which file.
                    raise OSError(error.errno, error.strerror, str(path)) from error
                self.progress(have, total)
                if (waited := time.monotonic() - since) > self.timeout:
                    if have - at_since < _LEAST_RATE * waited:
                        raise Broken(
                            f"{self.url}: the connection stalled at {have} bytes"
                        )
                    since, at_since = time.monotonic(), have
        if have > self.size_limit:
            raise self._too_large(f"at most {self.size_limit} bytes")
        if total is not None and have != total:
            if have > total:
                self.piece.forget()
            raise Broken(f"{self.url}: the connection ended at {have} of {total} bytes")

    def _read(self, answer: HTTPResponse) -> bytes:
        try:
            # Unlike read, read1 returns what is there, so that a slow trickle is seen.
            return answer.read1(_CHUNK)
        except (OSError, HTTPException) as error:
            raise self._broken(error) from error

    def _broken(self, error: Exception) -> Broken:
        stalled = isinstance(error, TimeoutError)
        why = "the connection stalled" if stalled else str(error)
        return Broken(f"{self.url}: {why or type(error).__name__}")

    def _too_large(self, sizes: str) -> ValueError:
        self.piece.forget()
        return ValueError(f"{self.url} is too large: {sizes} are accepted")


def _version(answer: HTTPResponse) -> str:
    """What names a version in an answer; a weak ETag does not."""
    tag = answer.headers.get("ETag", "")
    return tag if tag.startswith('"') else answer.headers.get("Last-Modified", "")


def _persist(transfer: _Transfer, retries: int, pause: float) -> None:
    """Try until it works, or has failed too often without getting any further."""
    failures, furthest = 0, transfer.piece.size
    while True:
        try:
            return transfer()
        except Broken as reason:
            if transfer.piece.size > furthest:
                failures, furthest = 0, transfer.piece.size
            failures += 1
            if failures > retries:
                tries = "1 try" if failures == 1 else f"{failures} tries in a row"
                raise OSError(
                    f"{reason} ({tries}); run the same command again to go on"
                ) from reason
        time.sleep(min(pause * 2 ** (failures - 1), _LONGEST_PAUSE))


def _accept(
    url: str,
    piece: Piece,
    path: Path,
    sha256: str | None,
    check: Callable[[Path], None] | None,
) -> Downloaded:
    """Check the complete file and give it its name."""
    found = Downloaded(file_sha256(piece.path), piece.size)
    try:
        if sha256 is not None and found.sha256 != sha256:
            raise ValueError(
                f"{url}: the SHA-256 of the {found.n_bytes} bytes that came is"
                f" {found.sha256} instead of {sha256}; the file was changed or damaged,"
                " and nothing of it was kept"
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
    """A bar that appears with the first bytes, so that an earlier error is one line."""
    bar: tqdm | None = None

    def progress(have: int, total: int | None) -> None:
        nonlocal bar
        if show and bar is None:
            bar = tqdm(desc=name, unit="B", unit_scale=True, disable=None, leave=False)
        if bar is not None:
            bar.total = total
            bar.update(have - bar.n)

    try:
        yield progress
    finally:
        if bar is not None:
            bar.close()


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

    Files that are there already are compared with their SHA-256.

    Args:
        wanted: the set.
        folder: its folder, made where it does not exist.
        load: what downloads a file; `download` or a partial of it with other patience.

    Raises:
        ValueError: no file of the set has an address or is there, or one that came or
            lies there is another than it should be.
        OSError: a server cannot be reached, or the disk refuses.
    """
    is_there = any((folder / file.path).exists() for file in wanted.files)
    if not wanted.downloadable and not is_there:
        raise ValueError(
            f"{wanted.name} cannot be downloaded: {wanted.ask}; put the files into"
            f" {folder}"
        )
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as reason:
        raise OSError(
            f"{folder} cannot be made: {reason.strerror}; choose another folder with"
            " --out"
        ) from reason
    lock = folder / LOCK
    record = _read_record(lock)
    arrivals = []
    for file in wanted.files:
        if not file.url:
            arrivals.append(_look_for_file(file, folder))
            continue
        known = record.get(file.path, {})
        # What was recorded under another address says nothing about this one.
        seen = known["sha256"] if known.get("url") == file.url else None
        arrival = _fetch_file(file, folder, seen, load)
        if arrival.how == "downloaded":
            record[file.path] = {"url": file.url, "sha256": arrival.sha256}
            text = json.dumps(
                {"format": _FORMAT, "files": record}, indent=1, sort_keys=True
            )
            with whole_file(lock) as out:
                out.write(f"{text}\n".encode())
        arrivals.append(arrival)
    return tuple(arrivals)


def _look_for_file(file: DataFile, folder: Path) -> Arrival:
    """A file that has no address: whether it is there, and the one it should be."""
    place = folder / file.path
    if not place.exists():
        return Arrival(file.path, "on request")
    if file.sha256 is not None and file_sha256(place) != file.sha256:
        raise ValueError(
            f"{place} is not the file on record (its SHA-256 is not {file.sha256});"
            " copy it again"
        )
    return Arrival(file.path, "present", file.sha256)


def _fetch_file(
    file: DataFile, folder: Path, seen: str | None, load: Callable[..., Downloaded]
) -> Arrival:
    place, wanted = folder / file.path, file.sha256 or seen
    if place.exists():
        if wanted is not None and place.is_file() and file_sha256(place) != wanted:
            raise ValueError(
                f"{place} is not the file that {file.url} gives (its SHA-256 is not"
                f" {wanted}); move it away and fetch again"
            )
        return Arrival(file.path, "present", wanted)
    place.parent.mkdir(parents=True, exist_ok=True)
    check = partial(_check_lines, file=file)
    try:
        found = load(
            file.url, place, sha256=wanted, size_limit=file.size_limit, check=check
        )
    except ValueError as reason:
        if wanted is None or file.sha256 or wanted not in str(reason):
            raise
        raise ValueError(
            f"{reason}; that one was recorded at the first download in {folder / LOCK}:"
            " remove it there if the new file is right"
        ) from reason
    return Arrival(file.path, "downloaded", found.sha256, first_seen=wanted is None)


def _check_lines(path: Path, file: DataFile) -> None:
    """Raises a ValueError unless a text file has as many lines as the registry says."""
    if file.lines is None:
        return
    with path.open("rb") as text:
        found = sum(1 for _ in text)
    if found != file.lines:
        raise ValueError(
            f"{file.url}: {found} lines instead of {file.lines}; the file was changed"
            " or damaged, and nothing of it was kept"
        )


def _read_record(lock: Path) -> dict[str, dict[str, Any]]:
    if not lock.exists():
        return {}
    try:
        content = json.loads(lock.read_text(encoding="utf-8"))
        files = {
            str(name): {"url": one["url"], "sha256": one["sha256"]}
            for name, one in content["files"].items()
        }
        version = int(content["format"])
    except (ValueError, KeyError, TypeError, AttributeError) as reason:
        raise ValueError(
            f"{lock} is damaged; remove it to trust the next downloads"
        ) from reason
    if version > _FORMAT:
        raise ValueError(
            f"{lock} has format {version}, newer than {_FORMAT}; update coursepkg to"
            " read it"
        )
    return files
