"""Leaves the assertions of a chapter out of its page.

In a notebook a cell asserts what its output must show on any machine. The page shows the output itself, so a cell that
prints or draws something is shown without its assertions; the notebook keeps them. A cell without an output keeps its
assertions on the page too: there they are what the reader is told.
"""

import ast
import re

from docutils import nodes
from sphinx.application import Sphinx


def without_assertions(code: str) -> str:
    """The code without its assertions outside functions and loops, and without the comments just above them.

    Code that is nothing but assertions, or no plain Python, comes back as it is.
    """
    try:
        statements = ast.parse(code).body
    except SyntaxError:
        return code
    asserts = [one for one in statements if isinstance(one, ast.Assert)]
    if not asserts or len(asserts) == len(statements):
        return code
    lines: list[str | None] = list(code.splitlines())
    for one in asserts:
        first, last = one.lineno - 1, one.end_lineno or one.lineno
        while first > 0 and (lines[first - 1] or "").startswith("#"):
            first -= 1
        lines[first:last] = [None] * (last - first)
    kept = "\n".join(line for line in lines if line is not None)
    return re.sub(r"\n{4,}", "\n\n\n", kept).strip("\n")


def shorten_cells(app: Sphinx, doctree: nodes.document) -> None:
    """Take the assertions out of every code cell that is not folded and has an output."""
    for cell in doctree.findall(nodes.container):
        kinds = {
            kind: part
            for part in cell.children
            if isinstance(part, nodes.container)
            for kind in part["classes"]
        }
        folded = {"tag_hide-cell", "tag_hide-input"} & set(cell["classes"])
        if folded or not {"cell_input", "cell_output"} <= kinds.keys():
            continue
        for block in kinds["cell_input"].findall(nodes.literal_block):
            shown = without_assertions(block.astext())
            block.clear()
            block += nodes.Text(shown)
            block.rawsource = shown


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("doctree-read", shorten_cells)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
