"""What holds for the whole suite: examples, shapes, warnings, and whether a missing browser may be skipped."""

import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

import jaxtyping
import pytest
from hypothesis import settings

# The same examples on every machine, however slow: a red run can be repeated, and no test depends on time.
settings.register_profile("course", deadline=None, derandomize=True)
settings.load_profile("course")

ANNOTATED = [
    "coursepkg.attention.linear",
    "coursepkg.attention.position_bias",
    "coursepkg.attention.rope",
    "coursepkg.blocks.feedforward",
    "coursepkg.blocks.norm",
    "coursepkg.blocks.position",
    "coursepkg.text.skipgram",
    "coursepkg.text.word_vectors",
]
"""Modules with shape annotations, which are checked here and nowhere else. Checked code is several times as slow."""
assert not sys.modules.keys() & set(ANNOTATED), "imported before they could be checked"
jaxtyping.install_import_hook(ANNOTATED, "beartype.beartype")

BROWSER_TESTS = Path(__file__).parent / "book"
BROWSER_REQUIRED = os.environ.get("COURSEPKG_REQUIRE_BROWSER") == "1"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # A notebook under nbval runs in a kernel of its own; what warns here is the machinery that talks to it.
    for item in items:
        if item.path.suffix == ".ipynb":
            item.add_marker(pytest.mark.filterwarnings("default"))


def _refuse_skip(path: Path, report: Any) -> None:
    is_skip = report.skipped and not hasattr(report, "wasxfail")
    if BROWSER_REQUIRED and is_skip and path.is_relative_to(BROWSER_TESTS):
        report.outcome = "failed"
        report.longrepr = f"skipped although COURSEPKG_REQUIRE_BROWSER=1: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, Any]:
    report = yield
    _refuse_skip(item.path, report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Generator[None, Any, Any]:
    report = yield
    _refuse_skip(collector.path, report)
    return report
