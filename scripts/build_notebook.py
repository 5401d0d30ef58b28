"""Makes a chapter's notebook: percent-format source in, executed and normalised .ipynb out.

    python scripts/build_notebook.py SOURCE.py NOTEBOOK.ipynb     from a source
    python scripts/build_notebook.py --execute NOTEBOOK.ipynb...  again, in place (`make notebooks`)

The source holds `# %%` code cells and `# %% [markdown]` cells (comment lines, or one triple-quoted string), both with
optional `tags=["..."]`. The setup cell is inserted. Nothing is written when the result breaks a rule of notebook_rules.
"""

import argparse
import ast
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import nbformat
from links import write_notebook_links
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from notebook_normal import normalise
from notebook_rules import problems
from setup_cell import ROOT, first_cell, place_first_cell, repository_url

CELL_LINE = re.compile(
    r"# %%(?P<markdown> \[markdown\])?(?: tags=(?P<tags>\[.*\]))?\s*"
)


def read_percent(text: str) -> NotebookNode:
    """The notebook of a percent-format source, without the setup cell.

    Raises:
        ValueError: for text before the first cell, or a cell line that is not understood.
    """
    cells: list[NotebookNode] = []
    kind, tags, lines = "", [], []

    def close(line_number: int) -> None:
        body = "\n".join(lines).strip("\n")
        if not kind and body:
            raise ValueError(f"line {line_number}: text before the first '# %%'")
        if body:
            cell = (
                new_markdown_cell(_uncommented(body))
                if kind == "markdown"
                else new_code_cell(body)
            )
            cell.metadata = NotebookNode({"tags": tags} if tags else {})
            cells.append(cell)

    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("# %%"):
            lines.append(line)
            continue
        match = CELL_LINE.fullmatch(line)
        if match is None:
            raise ValueError(
                f"line {number}: {line!r}; need '# %%' or '# %% [markdown]', then tags=[\"...\"] or nothing"
            )
        close(number)
        kind = "markdown" if match["markdown"] else "code"
        tags, lines = ast.literal_eval(match["tags"] or "[]"), []
    close(len(text.splitlines()))
    return new_notebook(cells=cells)


def _uncommented(body: str) -> str:
    """Markdown out of comment lines, or out of one triple-quoted string (raw, so that formulas keep a backslash)."""
    quoted = re.fullmatch(r'r?"""\n?(?P<text>.*?)\n?"""', body.strip(), flags=re.DOTALL)
    if quoted:
        return quoted["text"]
    return "\n".join(re.sub(r"^# ?", "", line) for line in body.splitlines())


def formatted(notebook: NotebookNode) -> NotebookNode:
    """The notebook as ruff formats its code, which the style check asks for.

    Raises:
        ValueError: for code that is not Python.
    """
    result = _ruff("format", notebook)
    if result.returncode:
        raise ValueError(result.stderr.strip())
    return nbformat.reads(result.stdout, as_version=4)


def style_problems(notebook: NotebookNode) -> list[str]:
    """What ruff's rules say of the notebook's code, by cell."""
    result = _ruff("check", notebook, "--quiet", "--output-format", "concise")
    return (
        [line.partition(":")[2] for line in result.stdout.splitlines()]
        if result.returncode
        else []
    )


def _ruff(
    command: str, notebook: NotebookNode, *options: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "ruff",
            command,
            *options,
            "--stdin-filename",
            "notebooks/chapter.ipynb",
            "-",
        ],
        input=nbformat.writes(notebook),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def execute(notebook: NotebookNode, folder: Path) -> None:
    """Runs every cell in a fresh kernel of the readers' environment, in the notebook's folder.

    Raises:
        CellExecutionError: for a cell that raises.
    """
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    client = NotebookClient(
        notebook,
        timeout=600,
        kernel_name="chapters",
        resources={"metadata": {"path": str(folder)}},
        store_widget_state=True,
        coalesce_streams=True,
        record_timing=False,
        extra_arguments=["--log-level=ERROR"],
    )
    notebook.metadata.pop("widgets", None)
    client.execute()


def build(notebook: NotebookNode, target: Path) -> list[str]:
    """Formats, executes, normalises and writes the notebook, unless it breaks a rule; returns the broken rules."""
    url = repository_url()
    place_first_cell(notebook, first_cell(url))
    if url and target.resolve().is_relative_to(ROOT):
        write_notebook_links(
            notebook, target.resolve().relative_to(ROOT).as_posix(), url
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    try:
        notebook = formatted(notebook)
        execute(notebook, target.parent.resolve())
    except (CellExecutionError, ValueError) as error:
        return [str(error)]
    normalise(notebook)
    broken = [*problems(notebook), *style_problems(notebook)]
    rejected = target.with_suffix(".rejected.ipynb")
    nbformat.write(notebook, rejected if broken else target)
    if not broken:
        rejected.unlink(missing_ok=True)
        seconds, size = time.perf_counter() - start, target.stat().st_size / 1e6
        print(f"{target}: {len(notebook.cells)} cells, {seconds:.0f} s, {size:.2f} MB")
    return broken


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--execute", action="store_true", help="run notebooks again, in place"
    )
    parser.add_argument(
        "files",
        nargs="+",
        type=Path,
        help="SOURCE.py NOTEBOOK.ipynb, or notebooks with --execute",
    )
    arguments = parser.parse_args()
    failed = False
    if arguments.execute:
        jobs = [(nbformat.read(path, as_version=4), path) for path in arguments.files]
    elif len(arguments.files) == 2:
        source, target = arguments.files
        jobs = [(read_percent(source.read_text(encoding="utf-8")), target)]
    else:
        parser.error(
            f"{len(arguments.files)} files; need SOURCE.py and NOTEBOOK.ipynb, or --execute"
        )
    for notebook, target in jobs:
        for problem in build(notebook, target):
            failed = True
            print(f"error: {target}: {problem}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
