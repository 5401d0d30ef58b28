"""A web server on this machine that breaks off, lies and stalls as it is told."""

import hashlib
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def sha256_of(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass
class Site:
    """One file and how it is served. Lists are used up, one entry a request; an empty list means the usual."""

    content: bytes = b""
    etag: str | None = '"v1"'
    ranges: bool = True
    """Whether ranges are honoured."""
    if_range: bool = True
    """Whether a range of another version is refused."""
    statuses: list[int] = field(default_factory=list)
    """Codes to answer with in place of the file; 200 serves it."""
    cut_after: list[int] = field(default_factory=list)
    """Bytes of the body after which the connection breaks off."""
    stall_after: list[int] = field(default_factory=list)
    """Bytes of the body after which nothing more comes."""
    length_error: int = 0
    """Added to the length that is announced."""
    announce: bool = True
    """Whether a length is announced at all."""
    trickle: bool = False
    """One byte every twentieth of a second."""
    shift: int = 0
    """Added to where a range is said to begin."""
    redirect: str = ""
    encoding: str = ""
    seen: list[dict[str, str]] = field(default_factory=list)
    """Headers of each request."""
    url: str = ""
    stop: threading.Event = field(default_factory=threading.Event)


class _Handler(BaseHTTPRequestHandler):
    site: Site

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        site = self.site
        site.seen.append(dict(self.headers))
        status = site.statuses.pop(0) if site.statuses else 200
        if site.redirect and self.path == "/file":
            self.send_response(302)
            self.send_header("Location", site.redirect)
            self.end_headers()
        elif status != 200:
            self.send_error(status)
        else:
            self.serve(site)

    def serve(self, site: Site) -> None:
        start = 0
        asked = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        same = not site.if_range or self.headers.get("If-Range", site.etag) == site.etag
        if asked and site.ranges and same:
            start = int(asked[1])
            if start >= len(site.content):
                self.send_response(416)
                self.send_header("Content-Range", f"bytes */{len(site.content)}")
                self.end_headers()
                return
        self.send_response(206 if start else 200)
        body = site.content[start:]
        if start:
            last = len(site.content) - 1
            self.send_header("Content-Range", f"bytes {start + site.shift}-{last}/{len(site.content)}")
        if site.announce:
            self.send_header("Content-Length", str(len(body) + site.length_error))
        if site.encoding:
            self.send_header("Content-Encoding", site.encoding)
        if site.etag:
            self.send_header("ETag", site.etag)
        self.end_headers()
        self.send_body(site, body)

    def send_body(self, site: Site, body: bytes) -> None:
        if site.trickle:
            for i in range(len(body)):
                self.wfile.write(body[i : i + 1])
                if site.stop.wait(0.05):
                    return
        elif site.stall_after:
            self.wfile.write(body[: site.stall_after.pop(0)])
            site.stop.wait(20)
        elif site.cut_after:
            self.wfile.write(body[: site.cut_after.pop(0)])
        else:
            self.wfile.write(body)


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Stay silent where the client hung up, which is what several tests make it do."""


@contextmanager
def serving(site: Site) -> Iterator[Site]:
    """Serve the file of a site; its address is `site.url`."""
    handler = type("Handler", (_Handler,), {"site": site})
    server = _Server(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    site.url = f"http://127.0.0.1:{server.server_port}/file"
    try:
        yield site
    finally:
        site.stop.set()
        server.shutdown()
        thread.join()
        server.server_close()
