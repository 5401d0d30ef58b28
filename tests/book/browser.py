"""Opens built pages in Chromium, and writes down what a reader would run into."""

import functools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserType, Page, Route

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SYSTEM_CHROMIUM = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
PROBE = (Path(__file__).parent / "probe.js").read_text(encoding="utf-8")


class QuietHandler(SimpleHTTPRequestHandler):
    """Serves files without a line for each request."""

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def served(folder: Path) -> Iterator[str]:
    """The address of a local server over a folder."""
    handler = functools.partial(QuietHandler, directory=str(folder))
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def launch(chromium: BrowserType, *flags: str) -> Browser | None:
    """The system's Chromium, or playwright's own, with further flags; None where there is neither."""
    for path in [*SYSTEM_CHROMIUM, chromium.executable_path]:
        if Path(path).exists():
            return chromium.launch(executable_path=path, args=[*FLAGS, *flags])
    return None


@dataclass
class Visit:
    """What happened when a page was opened at one width in one color scheme."""

    document: str
    width: int
    scheme: str
    errors: list[str] = field(default_factory=list)
    """Console errors and uncaught exceptions."""
    failed: list[str] = field(default_factory=list)
    """Requests that failed or were answered with an error."""
    foreign: list[str] = field(default_factory=list)
    """Requests to another host; they are cut off."""
    found: dict[str, Any] = field(default_factory=dict)
    """What probe.js measured in the page."""


@contextmanager
def opened(
    browser: Browser, site: str, document: str, width: int, scheme: str
) -> Iterator[tuple[Page, Visit]]:
    """A page that has come to rest, and the record of its visit."""
    visit = Visit(document, width, scheme)
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)

    def keep_home(route: Route) -> None:
        if route.request.url.startswith((site, "data:", "blob:")):
            route.continue_()
        else:
            visit.foreign.append(route.request.url)
            route.abort()

    context.route("**/*", keep_home)
    page = context.new_page()
    page.on("console", lambda line: visit.errors.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda error: visit.errors.append(str(error)))
    page.on("requestfailed", lambda request: visit.failed.append(request.url))
    page.on("response", lambda answer: visit.failed.append(answer.url) if answer.status >= 400 else None)
    try:
        page.goto(f"{site}{document}.html", wait_until="load")
        page.wait_for_load_state("networkidle")
        yield page, visit
    finally:
        context.close()


def visit_page(browser: Browser, site: str, document: str, width: int, scheme: str) -> Visit:
    """Open a page, measure it, close it."""
    with opened(browser, site, document, width, scheme) as (page, visit):
        visit.found = page.evaluate(PROBE)
    return visit
