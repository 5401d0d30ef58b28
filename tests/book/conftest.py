"""The built book behind a local server, and one browser for all pages."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from tests.book.browser import launch, served
from tests.book.sources import HTML


@pytest.fixture(scope="session")
def site() -> Iterator[str]:
    """The address of the built book."""
    if not (HTML / "index.html").is_file():
        pytest.skip("no built book in _build/html: run `make book`")
    with served(HTML) as address:
        yield address


@pytest.fixture(scope="session")
def live(site: str) -> str:
    """The address of a site that was built with its models."""
    if not (HTML / "_static" / "models" / "translation" / "export.json").is_file():
        pytest.skip("the site was built without models: install the extra onnx and run `make book`")
    return site


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium."""
    with sync_playwright() as playwright:
        found = launch(playwright.chromium)
        if found is None:
            pytest.skip("no Chromium: install the system package `chromium`")
        yield found
        found.close()
