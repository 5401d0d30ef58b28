"""Takes out of an executed notebook what would differ from run to run or from machine to machine."""

import hashlib
import json

import nbformat
from nbformat import NotebookNode

WIDGET_STATE = "application/vnd.jupyter.widget-state+json"


def normalise(notebook: NotebookNode) -> None:
    """Gives cells and widgets ids that depend on their content, and drops versions and timings."""
    for index, cell in enumerate(notebook.cells):
        cell.id = cell_id(index, cell.source)
        kept = {key: cell.metadata.get(key) for key in ("nbgrader", "tags")}
        cell.metadata = NotebookNode({key: v for key, v in kept.items() if v})
        for output in cell.get("outputs", []):
            output.get("metadata", {}).pop("execution", None)
    widgets = notebook.metadata.get("widgets")
    notebook.metadata = NotebookNode(
        kernelspec={
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        },
        language_info={
            "file_extension": ".py",
            "mimetype": "text/x-python",
            "name": "python",
            "pygments_lexer": "ipython3",
        },
    )
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    if widgets and widgets.get(WIDGET_STATE, {}).get("state"):
        notebook.metadata["widgets"] = widgets
        _rename_widgets(notebook)


def cell_id(index: int, source: str) -> str:
    """An id that only an edit or a move of the cell changes."""
    return hashlib.sha256(f"{index}\n{source}".encode()).hexdigest()[:12]


def code_hash(notebook: NotebookNode) -> str:
    """Changes when a code cell changes, and not with the text between them."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return hashlib.sha256("\0".join(code).encode()).hexdigest()[:12]


def _rename_widgets(notebook: NotebookNode) -> None:
    """Widget ids are random: number them in the order in which the state lists them, and sort their states."""
    state = notebook.metadata["widgets"][WIDGET_STATE]["state"]
    text = json.dumps(notebook)
    for number, name in enumerate(state):
        text = text.replace(name, f"{number:032x}")
    renamed = nbformat.from_dict(json.loads(text))
    notebook.cells = renamed.cells
    notebook.metadata = renamed.metadata
