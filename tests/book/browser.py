"""Opens built pages in Chromium, and writes down what a reader would run into."""

import functools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, BrowserType, Page, Request, Response

FLAGS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No name leads to another host; asking Python about each request instead would double the time of a visit.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
]
SYSTEM_CHROMIUM = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
PROBE = (Path(__file__).parent / "probe.js").read_text(encoding="utf-8")
AXE = (Path(__file__).parent / "axe" / "axe.min.js").read_text(encoding="utf-8")
# What KaTeX and Pygments write is alike on every page; reading each span of it would take minutes.
CONTEXT = {"exclude": [".katex", ".highlight"]}
EAGER = """
async () => {
  const images = [...document.querySelectorAll("img")];
  images.forEach((image) => (image.loading = "eager"));
  await Promise.allSettled(images.map((image) => image.decode()));
}
"""
"""Loads the pictures that a page leaves until they are scrolled to."""


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
    """Requests to another host; they fail."""
    loaded: dict[str, int] = field(default_factory=dict)
    """Bytes of each file that arrived, nothing compressed."""
    found: dict[str, Any] = field(default_factory=dict)
    """What probe.js measured in the page."""
    faults: list[str] = field(default_factory=list)
    """Serious and critical faults that axe-core found, each with its first element."""


@contextmanager
def opened(
    browser: Browser, site: str, document: str, width: int, scheme: str
) -> Iterator[tuple[Page, Visit]]:
    """A page that has come to rest, and the record of its visit."""
    visit = Visit(document, width, scheme)
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)

    def asked(request: Request) -> None:
        if not request.url.startswith((site, "data:", "blob:")):
            visit.foreign.append(request.url)

    def answered(response: Response) -> None:
        visit.loaded[response.url] = int(response.headers.get("content-length", 0))
        if response.status >= 400:
            visit.failed.append(response.url)

    page = context.new_page()
    page.on("console", lambda line: visit.errors.append(line.text) if line.type == "error" else None)
    page.on("pageerror", lambda error: visit.errors.append(str(error)))
    context.on("request", asked)
    page.on("requestfailed", lambda request: visit.failed.append(request.url))
    page.on("response", answered)
    try:
        page.goto(f"{site}{document}.html", wait_until="load")
        page.wait_for_load_state("networkidle")
        yield page, visit
    finally:
        context.close()


def faults(page: Page, colours: bool) -> list[str]:
    """Serious and critical faults that axe-core finds, each with its first element.

    Its two rules about colours take as long as all others; probe.js measures the colours of an article in a fraction
    of the time. The rule "region" is off: its faults are only moderate.
    """
    page.add_style_tag(content="* { transition: none !important }")
    page.evaluate(AXE)
    enabled = {
        "label-content-name-mismatch": True,
        "color-contrast": colours,
        "link-in-text-block": colours,
        "region": False,
    }
    options = {
        "resultTypes": ["violations"],
        "elementRef": False,
        "rules": {rule: {"enabled": on} for rule, on in enabled.items()},
    }
    violations = page.evaluate(
        f"axe.run({json.dumps(CONTEXT)}, {json.dumps(options)}).then(found => found.violations)"
    )
    return [
        f"{fault['id']}: {fault['nodes'][0]['html'][:160]}"
        for fault in violations
        if fault["impact"] in ("serious", "critical")
    ]


def visit_page(
    browser: Browser, site: str, document: str, width: int, scheme: str, *, axe: bool, colours: bool
) -> Visit:
    """Open a page, load its pictures and measure it; with `axe`, axe-core judges it, with `colours` its colours too."""
    with opened(browser, site, document, width, scheme) as (page, visit):
        page.evaluate(EAGER)
        visit.found = page.evaluate(PROBE)
        visit.faults = faults(page, colours) if axe else []
    return visit
