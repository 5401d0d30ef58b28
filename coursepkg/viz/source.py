"""Source code as it stands in the package, so that a page cannot drift from it."""

import ast
import inspect
import re
import textwrap
from pathlib import PurePath
from typing import Any


def show_source(*objects: Any, docstring: bool = True) -> None:
    """Displays the source of functions, classes or modules, highlighted.

    The display is a Markdown code block: the book, JupyterLab, Colab and GitHub each
    colour it in the reader's own light or dark theme. Its plain-text form is the code
    itself.

    Args:
        objects: functions, classes, methods or modules, shown in this order.
        docstring: False leaves out the docstrings, where the chapter's text has just
            said the same.

    Raises:
        ValueError: for an object whose source cannot be found.
    """
    from IPython.display import display

    for item in objects:
        code = source_of(item, docstring=docstring)
        where = location(item)
        fence = "`" * max(
            3, 1 + max((len(run) for run in re.findall("`+", code)), default=0)
        )
        display(
            {
                "text/markdown": f"`{where}`\n\n{fence}python\n{code}\n{fence}",
                "text/plain": f"# {where}\n{code}",
            },
            raw=True,
        )


def source_of(item: Any, *, docstring: bool = True) -> str:
    """The source text of one object, unindented, optionally without docstrings.

    Raises:
        ValueError: for an object whose source cannot be found.
    """
    try:
        code = inspect.getsource(_plain(item))
    except (TypeError, OSError):
        raise ValueError(
            f"objects: {item!r} has no Python source; need a function, a class or a"
            " module"
        ) from None
    code = textwrap.dedent(code).strip("\n")
    return code if docstring else _without_docstrings(code)


def location(item: Any) -> str:
    """Where the object is defined: `coursepkg/attention/reference.py`."""
    plain = _plain(item)
    module = inspect.getmodule(plain)
    name = getattr(module, "__name__", "")
    file = inspect.getsourcefile(plain) or ""
    if not name or name == "__main__":
        return "this notebook"
    folders = (
        name.split(".") if PurePath(file).stem == "__init__" else name.split(".")[:-1]
    )
    return "/".join([*folders, PurePath(file).name])


def _plain(item: Any) -> Any:
    """The Python function below decorators; a Triton kernel keeps its own in `fn`."""
    if not callable(item):
        return item
    inner = getattr(item, "fn", None)
    return inspect.unwrap(inner if inspect.isfunction(inner) else item)


def _without_docstrings(code: str) -> str:
    lines = code.split("\n")
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    drop: set[int] = set()
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, documented) or ast.get_docstring(node) is None:
            continue
        first = node.body[0]
        # A body that is nothing but its docstring must keep it to stay valid Python.
        if len(node.body) > 1 and first.end_lineno is not None:
            drop.update(range(first.lineno - 1, first.end_lineno))
            if first.end_lineno < len(lines) and not lines[first.end_lineno].strip():
                drop.add(first.end_lineno)
    return "\n".join(line for index, line in enumerate(lines) if index not in drop)
