"""The setup cell that every notebook begins with: `first_cell.py`, with the repository's address in it."""

import tomllib
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = Path(__file__).with_name("first_cell.py")
EMPTY_ADDRESS = 'REPOSITORY = ""'


def repository_url() -> str:
    """The public address in `[project.urls]` of pyproject.toml; empty while there is none."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))[
        "project"
    ]
    return project.get("urls", {}).get("Repository", "").rstrip("/")


def first_cell(url: str | None = None) -> str:
    """The text of the setup cell."""
    text = TEMPLATE.read_text(encoding="utf-8").strip("\n")
    address = repository_url() if url is None else url
    return text.replace(EMPTY_ADDRESS, f'REPOSITORY = "{address}"')


def place_first_cell(notebook: NotebookNode, text: str) -> None:
    """Puts the setup cell before the first code cell, or in place of an older version of it."""
    index = next(
        (i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"),
        len(notebook.cells),
    )
    cell = new_code_cell(text, metadata={"tags": ["setup", "hide-cell"]})
    if index < len(notebook.cells) and "setup" in notebook.cells[index].metadata.get(
        "tags", []
    ):
        cell.execution_count = notebook.cells[index].execution_count
        cell.id = notebook.cells[index].id
        notebook.cells[index] = cell
    else:
        notebook.cells.insert(index, cell)
