"""The repository's address: written everywhere from one place, and taken out again without a trace."""

from pathlib import Path

import nbformat
import pytest
from links import write_links
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from setup_cell import first_cell

URL = "https://github.com/owner/name"
CONFIG = """\
repository:
  url: ""
  branch: main
launch_buttons:
  binderhub_url: ""
  colab_url: ""
html:
  use_repository_button: false
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
    nbformat.write(new_notebook(cells=cells), chapter)
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
    assert "use_repository_button: true" in config
    assert f'repository-code: "{URL}"' in (repository / "CITATION.cff").read_text()


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
