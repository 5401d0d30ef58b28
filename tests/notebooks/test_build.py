"""The builder: reads percent-format sources, and gives the same file twice."""

from pathlib import Path

import nbformat
import pytest
from build_notebook import build, read_percent
from nbformat.v4 import new_code_cell, new_notebook
from notebook_normal import WIDGET_STATE, normalise

SOURCE = '''\
# %% [markdown]
# # Title
#
# Objectives, prerequisites, 5 minutes.

# %%
import matplotlib.pyplot as plt

from coursepkg.viz import flipbook

# %% [markdown]
r"""
A formula: $\\alpha$.
"""

# %% tags=["nbval-ignore-output"]
frames = []
for height in (1, 2):
    figure, axis = plt.subplots()
    axis.plot([0, height])
    frames.append((str(height), figure))
flipbook(frames, title="height", alt="A rising line.")
'''


def test_reads_cells_tags_and_both_kinds_of_markdown() -> None:
    cells = read_percent(SOURCE).cells
    assert [cell.cell_type for cell in cells] == ["markdown", "code", "markdown", "code"]
    assert cells[0].source == "# Title\n\nObjectives, prerequisites, 5 minutes."
    assert cells[2].source == "A formula: $\\alpha$."
    assert cells[3].metadata.tags == ["nbval-ignore-output"]
    assert cells[3].source.endswith('alt="A rising line.")')


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import torch\n# %%\n1", "line 2: text before the first"),
        ("# %% [raw]\nx", r"line 1: '# %% \[raw\]'"),
    ],
)
def test_names_the_line_that_is_wrong(source: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_percent(source)


def test_builds_the_same_file_twice(tmp_path: Path) -> None:
    first, second = tmp_path / "first.ipynb", tmp_path / "second.ipynb"
    assert build(read_percent(SOURCE), first) == []
    assert build(read_percent(SOURCE), second) == []
    assert first.read_text() == second.read_text()
    notebook = nbformat.read(first, as_version=4)
    nbformat.validate(notebook)
    state = notebook.metadata.widgets[WIDGET_STATE].state
    shown = notebook.cells[-1].outputs[0].data["application/vnd.jupyter.widget-view+json"]
    assert shown.model_id in state
    assert notebook.metadata.kernelspec.name == "python3"


def test_a_failing_cell_writes_nothing(tmp_path: Path) -> None:
    target = tmp_path / "chapter.ipynb"
    (problem,) = build(read_percent("# %% [markdown]\n# # T\n\n# %%\n1 / 0"), target)
    assert "ZeroDivisionError" in problem
    assert not target.exists()


def test_a_broken_rule_keeps_the_old_notebook(tmp_path: Path) -> None:
    target = tmp_path / "chapter.ipynb"
    target.write_text("old")
    problems = build(
        read_percent("# %% [markdown]\n# # T\n\n# %%\nimport sys; print(1, file=sys.stderr)"), target
    )
    assert any("writes to stderr" in problem for problem in problems)
    assert target.read_text() == "old"


def test_code_that_ruff_rejects_is_named_by_cell(tmp_path: Path) -> None:
    problems = build(read_percent("# %% [markdown]\n# # T\n\n# %%\nimport math"), tmp_path / "chapter.ipynb")
    assert any("cell 3:1:8: F401" in problem for problem in problems)


def test_code_that_is_not_python_is_not_run(tmp_path: Path) -> None:
    (problem,) = build(read_percent("# %% [markdown]\n# # T\n\n# %%\nx = ("), tmp_path / "chapter.ipynb")
    assert "Failed to parse" in problem


def test_ids_depend_on_content_alone() -> None:
    notebooks = [new_notebook(cells=[new_code_cell("1"), new_code_cell("1")]) for _ in range(2)]
    for notebook in notebooks:
        normalise(notebook)
    ids = [[cell.id for cell in notebook.cells] for notebook in notebooks]
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 2
