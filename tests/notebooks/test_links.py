"""The repository's address: written everywhere from one place, and taken out again without a trace."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import nbformat
import pytest
from bs4 import BeautifulSoup
from links import BINDER, COLAB, write_links
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from notebook_normal import normalise
from notebook_rules import assignment_paths, notebook_paths
from setup_cell import ROOT, first_cell

URL = "https://github.com/owner/name"
CONFIG = """\
repository:
  url: ""
  branch: main
launch_buttons:
  binderhub_url: ""
  colab_url: ""
html:
  use_issues_button: false
  use_repository_button: false
  use_edit_page_button: false
sphinx:
  config:
    html_baseurl: ""
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    (tmp_path / "README.md").write_text("# Name\n\nText.\n")
    (tmp_path / "_config.yml").write_text(CONFIG)
    (tmp_path / "CITATION.cff").write_text("cff-version: 1.2.0\n")
    chapter = tmp_path / "notebooks" / "attention" / "rope.ipynb"
    chapter.parent.mkdir(parents=True)
    cells = [
        new_markdown_cell("# RoPE\n\nObjectives."),
        new_code_cell(first_cell(""), metadata={"tags": ["setup"]}),
    ]
    notebook = new_notebook(cells=cells)
    normalise(notebook)
    nbformat.write(notebook, chapter)
    write_links(tmp_path, "")
    return tmp_path


def contents(root: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in root.rglob("*") if path.is_file()}


def test_writes_the_address_everywhere(repository: Path) -> None:
    changed = write_links(repository, URL)
    assert {path.name for path in changed} == {"README.md", "_config.yml", "CITATION.cff", "rope.ipynb"}
    notebook = nbformat.read(repository / "notebooks" / "attention" / "rope.ipynb", as_version=4)
    title, setup = notebook.cells[0].source, notebook.cells[1].source
    assert (
        "https://colab.research.google.com/github/owner/name/blob/main/notebooks/attention/rope.ipynb"
        in title
    )
    assert (
        "https://mybinder.org/v2/gh/owner/name/main?urlpath=lab/tree/notebooks/attention/rope.ipynb" in title
    )
    assert title.startswith("# RoPE\n")
    assert title.endswith("Objectives.")
    assert f'REPOSITORY = "{URL}"' in setup
    config = (repository / "_config.yml").read_text()
    assert f'url: "{URL}"' in config
    assert 'colab_url: "https://colab.research.google.com"' in config
    for button in ("repository", "issues", "edit_page"):
        assert f"use_{button}_button: true" in config
    assert 'html_baseurl: "https://owner.github.io/name/"' in config
    assert f'repository-code: "{URL}"' in (repository / "CITATION.cff").read_text()


def test_an_assignment_gets_the_address_and_no_link_to_its_solutions(repository: Path) -> None:
    source = repository / "notebooks" / "exercises" / "rope" / "rope.ipynb"
    source.parent.mkdir(parents=True)
    shutil.copy(repository / "notebooks" / "attention" / "rope.ipynb", source)
    assert source in write_links(repository, URL)
    cells = nbformat.read(source, as_version=4).cells
    assert cells[0].source == "# RoPE\n\nObjectives."
    assert f'REPOSITORY = "{URL}"' in cells[1].source


def test_a_second_time_changes_nothing(repository: Path) -> None:
    write_links(repository, URL)
    assert write_links(repository, URL) == []


def test_an_empty_address_takes_the_links_out(repository: Path) -> None:
    before = contents(repository)
    write_links(repository, URL)
    write_links(repository, "")
    assert contents(repository) == before


@pytest.mark.parametrize("url", ["http://github.com/owner/name", "https://example.org", "owner/name"])
def test_refuses_an_address_that_colab_cannot_open(repository: Path, url: str) -> None:
    with pytest.raises(ValueError, match="need https://github"):
        write_links(repository, url)


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what the address is written into, and of what a page is built from, exported models included."""
    root = tmp_path_factory.mktemp("repository")
    for name in ("README.md", "_config.yml", "CITATION.cff"):
        shutil.copy(ROOT / name, root)
    for name in ("book", "notebooks", "scripts"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("*.rejected.ipynb"))
    (root / "coursepkg").symlink_to(ROOT / "coursepkg")
    if (ROOT / "_build" / "models").is_dir():
        shutil.copytree(ROOT / "_build" / "models", root / "_build" / "models")
    return root


def sources(root: Path) -> list[list[str]]:
    notebooks = (nbformat.read(path, as_version=4) for path in notebook_paths(root))
    return [[cell.source for cell in notebook.cells] for notebook in notebooks]


@pytest.mark.skipif(first_cell() != first_cell(""), reason="the address is known: nothing has to be made up")
def test_every_chapter_of_this_repository_gets_its_links(copy: Path) -> None:
    assert write_links(copy, "") == [], "without an address `make links` has nothing to do"
    before = sources(copy)
    changed = {path.relative_to(copy).as_posix() for path in write_links(copy, URL)}
    names = [path.relative_to(copy).as_posix() for path in notebook_paths(copy)]
    tasks = {path.relative_to(copy).as_posix() for path in assignment_paths(copy)}
    assert changed == {"README.md", "_config.yml", "CITATION.cff", *names} | tasks
    for name, (title, *others) in zip(names, sources(copy), strict=True):
        assert f"{COLAB}/github/owner/name/blob/main/{name}" in title
        assert f"{BINDER}/v2/gh/owner/name/main?urlpath=lab/tree/{name}" in title
        assert first_cell(URL) in others
    write_links(copy, "")
    assert sources(copy) == before


@pytest.mark.parametrize("url", ["", URL])
def test_a_built_page_has_buttons_once_there_is_an_address(copy: Path, url: str) -> None:
    write_links(copy, url)
    chapter = "notebooks/attention/mqa"
    (copy / "_toc.yml").write_text(f"format: jb-book\nroot: book/notation\nchapters:\n  - file: {chapter}\n")
    build = [
        sys.executable,
        "-c",
        "from jupyter_book.cli.main import main; main()",
        "build",
        "--all",
        "--quiet",
    ]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    subprocess.run([*build, copy], check=True, capture_output=True, env=environment)
    page = BeautifulSoup((copy / f"_build/html/{chapter}.html").read_text(), "html.parser")
    buttons = {str(link["href"]) for link in page.select(".article-header-buttons a[href]")}
    colab = f"{COLAB}/github/owner/name/blob/main/{chapter}.ipynb"
    binder = f"{BINDER}/v2/gh/owner/name/main?urlpath=lab/tree/{chapter}.ipynb"
    assert {colab, binder, URL} & buttons == ({colab, binder, URL} if url else set())
    text = str(page)
    assert ("colab.research.google.com" in text, URL in text) == (bool(url), bool(url))


def extras_of(text: str) -> set[str]:
    """The extras of the package that a command installs."""
    return set(
        re.search(r"\.\[([\w,-]+)\]|setup_env\.sh ([\w,-]+)", text)
        .group(0)
        .strip(".[]")
        .split()[-1]
        .split(",")
    )


def test_binder_installs_what_make_lab_installs() -> None:
    post_build = ROOT / "binder" / "postBuild"
    lab = re.search(r"^lab:\n(.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE).group(1)
    text = post_build.read_text()
    assert extras_of(text) == extras_of(lab) == {"book", "chapters"}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert extras_of(text) <= project["optional-dependencies"].keys()
    assert "-c constraints.txt" in text
    assert os.access(post_build, os.X_OK)
    python = (ROOT / "binder" / "runtime.txt").read_text().strip().removeprefix("python-")
    assert f"Programming Language :: Python :: {python}" in project["classifiers"]
