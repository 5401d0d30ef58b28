"""Runs notebooks as a reader on Colab has them: the file alone, the package from a wheel (`make alone`).

    python scripts/run_alone.py --python PYTHON --wheel WHEEL [--store FILE] [NOTEBOOK ...]

PYTHON is the interpreter of an environment with torch and ipykernel and without coursepkg: the first cell of the first
notebook installs the package there. Every notebook is copied into an empty folder and run from top to bottom in a fresh
kernel. With --store its time, peak memory and versions are written down for the status page of the book.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell
from notebook_normal import code_hash
from notebook_rules import notebook_paths
from setup_cell import ROOT

USED = """\
import resource, sys

def used(start=0.0):
    "Peak memory in bytes, and seconds of CPU time since a start, of the kernel and what it started."
    both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    seconds = sum(one.ru_utime + one.ru_stime for one in both)
    # Linux counts in KiB, macOS in bytes.
    unit = 1 if sys.platform == "darwin" else 1024
    return max(one.ru_maxrss for one in both) * unit, seconds - start
"""
BEGIN = USED + "sys.began_alone = used()[1]"
"""A cell after the first, for the copy only."""
REPORT = (
    USED
    + """\
peak, seconds = used(sys.began_alone)
import json
import coursepkg, numpy
from coursepkg.bench.machine import circumstances

found = circumstances()
found["versions"] |= {"numpy": numpy.__version__, "coursepkg": coursepkg.__version__}
found |= {"seconds": seconds, "peak_memory": peak, "package": coursepkg.__file__}
print(json.dumps(found))
"""
)
"""A last cell, for the copy only: what the run took, and where the package came from."""


@dataclass(frozen=True)
class Run:
    """One notebook that ran to its end."""

    found: dict[str, Any]
    """What `REPORT` printed; the time is that of all cells after the first, which may have installed the package."""
    left: list[str]
    """Files that the notebook left in its folder."""


def kernel_manager(python: str) -> type[AsyncKernelManager]:
    """Starts ipykernel of an interpreter; no kernel has to be registered."""
    # The kernel starts in another folder; a link into an environment stays one.
    python = os.path.abspath(shutil.which(python) or python)
    command = [python, "-m", "ipykernel_launcher", "--log-level=ERROR"]
    spec = KernelSpec(argv=[*command, "-f", "{connection_file}"], language="python")
    return type("KernelManager", (AsyncKernelManager,), {"kernel_spec": spec})


def environment(wheel: Path, home: Path) -> dict[str, str]:
    """The variables of a machine that knows nothing of the clone or of downloaded data."""
    ours = ("COURSEPKG_", "PYTHONPATH", "VIRTUAL_ENV", "JUPYTER", "IPYTHON", "MPL")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(ours)
    }
    folders = {
        "COURSEPKG_DATA": home / "data",
        "IPYTHONDIR": home,
        "MPLCONFIGDIR": home,
    }
    return {
        **kept,
        **{name: str(folder) for name, folder in folders.items()},
        "COURSEPKG_SOURCE": str(wheel),
        "OMP_NUM_THREADS": "1",
        "PYDEVD_DISABLE_FILE_VALIDATION": "1",
    }


def run_alone(path: Path, python: str, wheel: Path) -> Run:
    """Copies a notebook into an empty folder and runs all its cells there.

    Raises:
        CellExecutionError: for a cell that raises.
    """
    with tempfile.TemporaryDirectory() as home, tempfile.TemporaryDirectory() as folder:
        copy = Path(shutil.copy(path, folder))
        notebook = nbformat.read(copy, as_version=4)
        first = next(
            i for i, cell in enumerate(notebook.cells) if cell.cell_type == "code"
        )
        notebook.cells.insert(first + 1, new_code_cell(BEGIN))
        notebook.cells.append(new_code_cell(REPORT))
        client = NotebookClient(
            notebook,
            kernel_manager_class=kernel_manager(python),
            timeout=900,
            resources={"metadata": {"path": folder}},
        )
        client.execute(env=environment(wheel, Path(home)))
        left = sorted(
            str(one.relative_to(folder))
            for one in Path(folder).rglob("*")
            if one.is_file() and one != copy
        )
    # A print may reach the notebook as several outputs, and a warning as one more.
    outputs = notebook.cells[-1].outputs
    printed = "".join(one.text for one in outputs if one.get("name") == "stdout")
    return Run(json.loads(printed), left)


def entry(notebook: NotebookNode, run: Run) -> dict[str, Any]:
    """What the status page needs to know of a run."""
    machine, versions = run.found["machine"], run.found["versions"]
    return {
        "seconds": round(run.found["seconds"], 1),
        "peak_memory": run.found["peak_memory"],
        "machine": f"{machine['name']}, {machine['cores']} cores, {machine['device']}",
        "versions": versions,
        "code": code_hash(notebook),
    }


def store(file: Path, name: str, row: dict[str, Any]) -> None:
    """Puts the row of a notebook into a results file, beside the rows of the others."""
    rows = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    rows[name] = row
    file.parent.mkdir(parents=True, exist_ok=True)
    part = file.with_suffix(".part")
    text = json.dumps(dict(sorted(rows.items())), indent=1, ensure_ascii=False)
    part.write_text(text + "\n", encoding="utf-8")
    part.replace(file)


def lacks(python: str) -> str:
    """What keeps an interpreter from running notebooks alone; empty when nothing does."""
    code = (
        "from importlib.util import find_spec as find\n"
        "print(*[n for n in ('torch', 'ipykernel') if not find(n)], *['coursepkg'] * bool(find('coursepkg')))"
    )
    try:
        asked = subprocess.run(
            [python, "-P", "-c", code], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return f"{python}: this is no Python 3.11 or newer"
    words = asked.stdout.split()
    missing = [word for word in words if word != "coursepkg"]
    if missing:
        return f"{python}: {' and '.join(missing)} not installed; need an environment that has them"
    return (
        f"{python}: coursepkg is there already; pip uninstall it, the first cell installs it"
        if words
        else ""
    )


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--python", required=True, help="interpreter that runs the notebooks"
    )
    parser.add_argument("--wheel", required=True, type=Path, help="the package")
    parser.add_argument(
        "--store", type=Path, help="results file to write times and memory into"
    )
    parser.add_argument(
        "notebooks", nargs="*", type=Path, help="all chapters when none is named"
    )
    options = parser.parse_args()
    paths = [path.resolve() for path in options.notebooks] or notebook_paths()
    absent = [path for path in [options.wheel, *paths] if not path.is_file()]
    problem = f"no such file: {absent[0]}" if absent else lacks(options.python)
    if problem:
        print(f"error: {problem}", file=sys.stderr)
        return 2
    failed = 0
    for path in paths:
        try:
            run = run_alone(path, options.python, options.wheel.resolve())
        except CellExecutionError as error:
            failed += 1
            print(f"error: {path.name}: {error}", file=sys.stderr, flush=True)
            continue
        name = path.relative_to(ROOT).with_suffix("").as_posix()
        memory = run.found["peak_memory"] / 2**30
        litter = f", left behind: {', '.join(run.left)}" if run.left else ""
        print(
            f"{name}: {run.found['seconds']:.0f} s of CPU time, {memory:.2f} GiB{litter}",
            flush=True,
        )
        if options.store:
            store(options.store, name, entry(nbformat.read(path, as_version=4), run))
    print(f"{len(paths) - failed} of {len(paths)} notebooks ran alone")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
