"""A notebook opened alone: one file in an empty folder, torch there, the package from a wheel by the first cell.

`make alone` does the same for every notebook, in an environment that pip fills from nothing.
"""

import ast
import json
import os
import re
import subprocess
import sys
import sysconfig
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from notebook_normal import code_hash
from run_alone import lacks, run_alone, store
from setup_cell import ROOT, first_cell

KINDS = [
    "attention/flash_attention",
    "translation/t5",
    "ocr/receipt_data",
    "sign_language/sign_augmentation",
]
"""A chapter on attention, and one of each system."""


def imported(notebook: NotebookNode) -> Iterator[str]:
    """Top-level modules that its cells import, but for those inside `try`, which say what to do without them."""
    todo: list[ast.AST] = [ast.parse(cell.source) for cell in notebook.cells if cell.cell_type == "code"]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module).partition(".")[0]
        elif not isinstance(node, ast.Try):
            todo.extend(ast.iter_child_nodes(node))


@pytest.fixture(scope="module")
def declared() -> set[str]:
    """Modules of the package, of its requirements and of the extra `chapters`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = [*project["dependencies"], *project["optional-dependencies"]["chapters"]]
    names = {re.split(r"[^\w-]", line)[0].lower() for line in lines}
    brought = packages_distributions().items()
    return {"coursepkg"} | {module for module, owners in brought if names & {one.lower() for one in owners}}


def test_what_chapters_import_is_declared(notebook_path: Path, declared: set[str]) -> None:
    """So it is there after `make lab`, on Binder and after the first cell: all three install these requirements."""
    modules = set(imported(nbformat.read(notebook_path, as_version=4)))
    assert modules - sys.stdlib_module_names - declared == set()


def readers_packages() -> Path:
    """What `make book` installed, or what these tests themselves run with."""
    python = ROOT / ".venv" / "bin" / "python"
    if not python.exists():
        return Path(sysconfig.get_path("purelib"))
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(subprocess.check_output([python, "-c", code], text=True).strip())


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A fresh environment with the readers' packages, all but coursepkg. Nothing is fetched."""
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    below = folder / "packages"
    below.mkdir()
    for one in readers_packages().iterdir():
        if "coursepkg" not in one.name:
            (below / one.name).symlink_to(one)
    interpreter = folder / "venv" / "bin" / "python"
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    above = Path(subprocess.check_output([interpreter, "-c", code], text=True).strip())
    (above / "below.pth").write_text(f"import site; site.addsitedir({str(below)!r})\n")
    return str(interpreter)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--wheel-dir", folder, ROOT], check=True)
    (built,) = folder.glob("coursepkg-*.whl")
    return built


@pytest.mark.parametrize("chapter", KINDS)
def test_runs_from_top_to_bottom(chapter: str, python: str, wheel: Path) -> None:
    run = run_alone(ROOT / "notebooks" / f"{chapter}.ipynb", python, wheel)
    assert Path(run.found["package"]).is_relative_to(Path(python).parents[1])
    assert run.left == []


def test_names_the_cell_that_fails_and_uses_no_clone(python: str, wheel: Path, tmp_path: Path) -> None:
    cells = [
        new_markdown_cell("# Title"),
        new_code_cell(first_cell("")),
        new_code_cell(
            "import os\nassert os.environ.get('PYTHONPATH') is None\nassert os.listdir() == ['one.ipynb']"
        ),
        new_code_cell("1 / 0"),
    ]
    nbformat.write(new_notebook(cells=cells), tmp_path / "one.ipynb")
    with pytest.raises(CellExecutionError, match="ZeroDivisionError"):
        run_alone(tmp_path / "one.ipynb", os.path.relpath(python), wheel)


def test_refuses_an_environment_that_proves_nothing(tmp_path: Path) -> None:
    assert "this is no Python" in lacks(str(tmp_path / "python"))
    bare = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", bare], check=True)
    assert lacks(f"{bare}/bin/python").endswith(
        "torch and ipykernel not installed; need an environment that has them"
    )


def test_a_row_is_stored_beside_the_others(tmp_path: Path) -> None:
    file = tmp_path / "results" / "python-3.13.json"
    store(file, "notebooks/b", {"seconds": 1.0})
    store(file, "notebooks/a", {"seconds": 2.0})
    store(file, "notebooks/b", {"seconds": 3.0})
    assert json.loads(file.read_text()) == {"notebooks/a": {"seconds": 2.0}, "notebooks/b": {"seconds": 3.0}}
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_only_code_changes_the_mark_of_a_notebook() -> None:
    one = new_notebook(cells=[new_markdown_cell("a"), new_code_cell("x = 1")])
    other = new_notebook(cells=[new_markdown_cell("b"), new_code_cell("x = 1")])
    changed = new_notebook(cells=[new_markdown_cell("a"), new_code_cell("x = 2")])
    assert code_hash(one) == code_hash(other) != code_hash(changed)
