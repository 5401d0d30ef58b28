"""Where the sources and the pages of the book lie, and the table of contents."""

import importlib.util
import sys
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

import yaml
from bs4 import BeautifulSoup

ROOT = Path(__file__).resolve().parents[2]
HTML = ROOT / "_build" / "html"


def load(path: str) -> ModuleType:
    """A file of the repository outside the package as a module named after it."""
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@lru_cache(maxsize=4)
def parsed(page: Path) -> BeautifulSoup:
    """A built page. The last ones stay in memory: a test asks several things of each."""
    return BeautifulSoup(page.read_text(encoding="utf-8"), "lxml")


def config() -> dict[str, Any]:
    """The configuration of Jupyter Book."""
    return yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))


def toc() -> dict[str, Any]:
    """The table of contents."""
    return yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))


def documents() -> list[str]:
    """Every page of the book, by path without suffix, in reading order."""
    contents = toc()
    return [contents["root"]] + [item["file"] for part in contents["parts"] for item in part["chapters"]]


def source(document: str) -> Path:
    """The file that a page is made of."""
    found = [ROOT / f"{document}{suffix}" for suffix in (".md", ".ipynb")]
    return next((path for path in found if path.is_file()), found[0])


def prose(name: str) -> str:
    """The Markdown of a page under book/."""
    return (ROOT / "book" / f"{name}.md").read_text(encoding="utf-8")


def table_rows(markdown: str) -> list[list[str]]:
    """The cells of every table row below a header."""
    rows = []
    body = False
    for line in markdown.splitlines():
        if not line.startswith("|"):
            body = False
        elif set(line) <= set("|-: "):
            body = True
        elif body:
            rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return rows
