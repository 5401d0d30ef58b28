"""The demos of the page "Try it", as tests press their buttons."""

from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Locator, Page

PAGE = "book/try_it"
MINUTE = 60_000


def demo(page: Page, name: str) -> Locator:
    """The frame of a demo."""
    return page.locator(f".try-it[data-demo={name}]")


def load(page: Page, name: str) -> None:
    """Click, and wait until the form is there."""
    demo(page, name).locator(".try-it-load").click()
    demo(page, name).locator("form").wait_for(timeout=MINUTE)


@contextmanager
def without_network(page: Page) -> Iterator[list[str]]:
    """Requests that were tried; none gets through."""
    tried: list[str] = []
    # What the page still fetches when it goes offline would be an error of its own.
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    page.on("request", lambda request: tried.append(request.url))
    yield tried
    page.context.set_offline(False)
