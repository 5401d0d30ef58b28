"""One request for one file: what arrives is appended to `PATH.part`, so that the next request goes on from there.

A piece is continued only where a mix of two versions would be noticed: the server names the version (ETag or date),
or the checksum is known.

Source: RFC 9110, "HTTP Semantics", sections 13 (conditional requests) and 14 (range requests).
"""

import json
import re
import socket
import ssl
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage, HTTPResponse
from pathlib import Path
from typing import Any, BinaryIO
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import HTTPRedirectHandler, Request, build_opener

from coursepkg import __version__

_CHUNK = 1 << 16
_LEAST_RATE = 100
"""Bytes per second below which a connection counts as stalled."""
_TRY_AGAIN = (408, 425, 429)


class Broken(OSError):
    """A transfer that ended early; another request may go on from where it stopped."""


@dataclass(frozen=True)
class Piece:
    """What has arrived of a file, and beside it a note which version of which address it is a piece of."""

    path: Path
    """Where the bytes grow."""

    @property
    def note(self) -> Path:
        """The file that names address and version."""
        return self.path.with_name(self.path.name + ".json")

    @property
    def size(self) -> int:
        """Bytes that have arrived."""
        return self.path.stat().st_size if self.path.is_file() else 0

    def version(self, url: str) -> str | None:
        """The version that the bytes belong to, "" where the server named none; None if they are of another address."""
        try:
            note = json.loads(self.note.read_text(encoding="utf-8"))
            return str(note["version"]) if note["url"] == url else None
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def begin(self, url: str, version: str) -> None:
        """Note what is about to arrive."""
        self.note.write_text(json.dumps({"url": url, "version": version}), encoding="utf-8")

    def forget(self) -> None:
        """Remove bytes and note."""
        self.path.unlink(missing_ok=True)
        self.note.unlink(missing_ok=True)


def check_address(url: str, came_from: str = "") -> None:
    """Raises a ValueError unless the address is one of HTTP, and none that a redirect makes less safe."""
    parts = urlsplit(url)
    via = f", where {came_from} leads," if came_from else ""
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{url}{via} is no address that begins with https:// or http://")
    if parts.scheme == "http" and came_from.startswith("https:"):
        raise ValueError(f"{url}{via} is not encrypted; the download was refused")


class _Redirects(HTTPRedirectHandler):
    """Follows redirects to HTTP addresses only."""

    def redirect_request(
        self, req: Request, fp: Any, code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> Request | None:
        check_address(newurl, came_from=req.full_url)
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def transfer(
    url: str,
    piece: Piece,
    *,
    checked: bool,
    size_limit: int,
    timeout: float,
    progress: Callable[[int, int | None], None],
) -> None:
    """Ask once for the bytes that are missing, and return when the file is complete.

    Args:
        url: address of the file.
        piece: what has arrived.
        checked: whether the checksum is known.
        size_limit: largest file that is accepted, in bytes.
        timeout: seconds without news after which the connection counts as stalled.
        progress: told the bytes that are there and those of the whole file, where they are known.

    Raises:
        Broken: the connection broke off or stalled, or the server is busy.
        ValueError: the server refuses, or the file is too large.
        OSError: the disk refuses.
    """
    version = piece.version(url)
    if not piece.size or version is None or not (version or checked):
        piece.forget()
    offset = piece.size
    headers = {"User-Agent": f"coursepkg/{__version__}", "Accept-Encoding": "identity"}
    if offset:
        headers |= {"Range": f"bytes={offset}-"} | ({"If-Range": version} if version else {})
    answer = _open(Request(url, headers=headers), timeout)
    with closing(answer):
        if isinstance(answer, HTTPError):
            _judge_refusal(answer, url, piece)
            return
        offset, total = _where(answer, url, piece, checked=checked)
        if total is not None and total > size_limit:
            piece.forget()
            raise ValueError(f"{url} is too large: {total} bytes, at most {size_limit} are accepted")
        if not offset:
            piece.begin(url, _version(answer))
        _receive(answer, url, piece, offset, total, size_limit, timeout, progress)


def _open(request: Request, timeout: float) -> HTTPResponse | HTTPError:
    url = request.full_url
    try:
        answer = build_opener(_Redirects).open(request, timeout=timeout)
    except HTTPError as refusal:
        return refusal
    except URLError as reason:
        if isinstance(reason.reason, ssl.SSLCertVerificationError | socket.gaierror):
            raise OSError(f"{url} cannot be reached: {reason.reason}; is there a network?") from reason
        raise Broken(f"{url}: {reason.reason}") from reason
    except (OSError, HTTPException) as reason:
        raise Broken(f"{url}: {_said(reason)}") from reason
    assert isinstance(answer, HTTPResponse)
    return answer


def _judge_refusal(refusal: HTTPError, url: str, piece: Piece) -> None:
    """Return where "nothing follows" means that all is there."""
    if refusal.code == 416 and piece.size:
        whole = re.fullmatch(r"bytes \*/(\d+)", refusal.headers.get("Content-Range", ""))
        if whole and int(whole[1]) == piece.size:
            return
        piece.forget()
        raise Broken(f"{url}: the part that is here does not fit the file that is there")
    said = f"{url}: the server answers {refusal.code} {refusal.reason}"
    if refusal.code >= 500 or refusal.code in _TRY_AGAIN:
        raise Broken(said)
    raise ValueError(f"{said}; the address may have changed")


def _where(answer: HTTPResponse, url: str, piece: Piece, *, checked: bool) -> tuple[int, int | None]:
    """Where in the file the answer begins, and how long the file is."""
    if answer.status == 206:
        found = re.fullmatch(r"bytes (\d+)-\d+/(\d+)", answer.headers.get("Content-Range", ""))
        known, told = piece.version(url), _version(answer)
        if not found or int(found[1]) != piece.size or (known and told and known != told):
            piece.forget()
            raise Broken(f"{url}: the server sent another part of the file, or of another version")
        return piece.size, int(found[2])
    if answer.status != 200:
        raise ValueError(f"{url}: the server answers {answer.status} {answer.reason}; there is no file in it")
    if (coding := answer.headers.get("Content-Encoding", "identity")) != "identity":
        raise ValueError(f"{url}: the server sends the file encoded as {coding}, which was not asked for")
    piece.forget()
    length = answer.headers.get("Content-Length", "")
    if length.isdecimal():
        return 0, int(length)
    if not answer.chunked and not checked:
        raise ValueError(
            f"{url}: neither length nor checksum is known, so that a broken file would not be seen"
        )
    return 0, None


def _version(answer: HTTPResponse) -> str:
    """What names a version in an answer; a weak ETag does not, since equal meaning is not equal bytes."""
    tag = answer.headers.get("ETag", "")
    return tag if tag.startswith('"') else answer.headers.get("Last-Modified", "")


def _receive(
    answer: HTTPResponse,
    url: str,
    piece: Piece,
    have: int,
    total: int | None,
    size_limit: int,
    timeout: float,
    progress: Callable[[int, int | None], None],
) -> None:
    since, at_since = time.monotonic(), have
    with piece.path.open("ab" if have else "wb") as file:
        while block := _read(answer, url):
            have += len(block)
            if have > size_limit:
                break
            _write(file, block, piece.path)
            progress(have, total)
            if (waited := time.monotonic() - since) > timeout:
                if have - at_since < _LEAST_RATE * waited:
                    raise Broken(f"{url}: the connection stalled at {have} bytes")
                since, at_since = time.monotonic(), have
    if have > size_limit:
        piece.forget()
        raise ValueError(f"{url} is too large: at most {size_limit} bytes are accepted")
    if total is not None and have != total:
        if have > total:
            piece.forget()
        raise Broken(f"{url}: the connection ended at {have} of {total} bytes")


def _write(file: BinaryIO, block: bytes, path: Path) -> None:
    try:
        file.write(block)
        file.flush()
    except OSError as reason:
        # A failed write says what is wrong, but not with which file.
        raise OSError(reason.errno, reason.strerror, str(path)) from reason


def _read(answer: HTTPResponse, url: str) -> bytes:
    try:
        # Unlike read, read1 returns what is there, so that a slow trickle is seen as one.
        return answer.read1(_CHUNK)
    except (OSError, HTTPException) as reason:
        raise Broken(f"{url}: {_said(reason)}") from reason


def _said(reason: Exception) -> str:
    if isinstance(reason, TimeoutError):
        return "the connection stalled"
    return str(reason) or type(reason).__name__
