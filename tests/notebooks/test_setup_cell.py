"""The setup cell: what it says where there is neither package nor network, and that it leaves torch and numpy alone."""

import subprocess
import sys
from importlib.metadata import distributions, version
from pathlib import Path
from typing import Any

import pytest
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat.v4 import new_code_cell, new_notebook
from setup_cell import first_cell, place_first_cell

# Neither site-packages nor the current folder is searched (-I -S): no coursepkg, no pip, no network is used.
BARE = [sys.executable, "-I", "-S", "-c"]


def run_bare(cell: str, folder: Path, source: str | None = None) -> subprocess.CompletedProcess[str]:
    environment = {"COURSEPKG_SOURCE": source} if source else {}
    return subprocess.run(
        [*BARE, cell], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def last_line(result: subprocess.CompletedProcess[str]) -> str:
    return result.stderr.strip().splitlines()[-1]


def test_says_what_to_do_without_package_and_address(tmp_path: Path) -> None:
    result = run_bare(first_cell(url=""), tmp_path)
    assert result.returncode != 0
    assert "coursepkg is not installed, and no place to install it from is known" in last_line(result)
    assert "set COURSEPKG_SOURCE to a wheel, folder or URL of it" in last_line(result)


def test_says_what_to_do_when_the_source_cannot_be_installed(tmp_path: Path) -> None:
    result = run_bare(first_cell(url=""), tmp_path, source="gone.whl")
    assert "coursepkg could not be installed from gone.whl" in last_line(result)
    assert "connect to the network, or set COURSEPKG_SOURCE" in last_line(result)


def test_the_address_is_the_source_once_it_is_known(tmp_path: Path) -> None:
    result = run_bare(first_cell(url="https://github.com/owner/name"), tmp_path)
    assert "could not be installed from git+https://github.com/owner/name" in last_line(result)


def test_jupyter_shows_one_line_and_no_traceback(tmp_path: Path) -> None:
    hide = "import sys\nsys.modules['coursepkg'] = None"
    notebook = new_notebook(cells=[new_code_cell(hide), new_code_cell(first_cell(url=""))])
    client = NotebookClient(notebook, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    with pytest.raises(CellExecutionError):
        client.execute()
    (shown,) = notebook.cells[1].outputs
    assert len(shown.traceback) == 1
    assert shown.traceback[0].startswith("error: coursepkg is not installed")
    assert "\n" not in shown.traceback[0]


def test_pip_is_held_to_the_installed_torch_and_numpy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    commands: list[list[str]] = []
    pinned: list[str] = []

    class Recorded:
        def __init__(self, command: list[str], **_: Any) -> None:
            commands.append(command)
            pinned.append(Path(command[command.index("-c") + 1]).read_text())
            self.stdout = iter(["Collecting coursepkg\n", "Successfully installed\n"])

        def wait(self) -> int:
            return 0

    monkeypatch.setattr(subprocess, "Popen", Recorded)
    monkeypatch.setenv("COURSEPKG_SOURCE", "coursepkg.whl")
    monkeypatch.chdir(tmp_path)
    scope = definitions()
    scope["install_packages"](["coursepkg"])
    assert commands[0][-1] == "coursepkg.whl[chapters]"
    assert pinned == [f"torch=={version('torch')}\nnumpy=={version('numpy')}\n"]
    assert "Collecting coursepkg" in capsys.readouterr().out
    scope["install_packages"](["av>=13", "kornia>=0.8"])
    assert commands[1][-2:] == ["av>=13", "kornia>=0.8"]


def definitions() -> dict[str, Any]:
    """What the cell defines, without what it does."""
    text = first_cell(url="").partition("if packages := missing")[0]
    scope: dict[str, Any] = {}
    exec(compile(text, "setup cell", "exec"), scope)
    return scope


def test_only_what_the_chapters_lack_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    scope = definitions()
    assert scope["find_missing"]() == []
    here = [one for one in distributions() if one.name not in ("av", "scikit-learn")]
    monkeypatch.setattr("importlib.metadata.distributions", lambda: here)
    assert [line.partition(">")[0] for line in scope["find_missing"]()] == ["av", "scikit-learn"]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert scope["find_missing"]() == ["coursepkg"]


def test_inside_a_clone_the_clone_is_the_source(tmp_path: Path) -> None:
    (tmp_path / "coursepkg").mkdir()
    (tmp_path / "coursepkg" / "__init__.py").touch()
    chapter = tmp_path / "notebooks" / "attention"
    chapter.mkdir(parents=True)
    assert f"could not be installed from {tmp_path}" in last_line(run_bare(first_cell(url=""), chapter))


def test_replaces_an_older_setup_cell() -> None:
    old = new_code_cell("old", metadata={"tags": ["setup"]})
    notebook = new_notebook(cells=[old, new_code_cell("1 + 1")])
    place_first_cell(notebook, "new")
    assert [cell.source for cell in notebook.cells] == ["new", "1 + 1"]
