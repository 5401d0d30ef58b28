"""The rules that every notebook of the book keeps; the builder and the tests read them from here."""

import ast
import re
from pathlib import Path
from urllib.parse import unquote

from nbformat import NotebookNode
from setup_cell import ROOT, first_cell

LARGEST = 5_000_000
"""Bytes of the largest notebook that GitHub still shows and a phone still loads."""
MOST_IMPORTS = 12
"""Lines of imports that a cell may have; more belong behind a front door."""
FOLDED = {"hide-input", "hide-cell"}
"""Tags by which a page folds a cell."""
WIDEST = 88
"""Columns of the longest line of code: what a page shows at 1280 pixels."""

MOST_WORDS = 4_500
"""Words of prose that a chapter may have before its self-check and its exercises."""
MOST_WORDS_OF_ALL = 155_000
"""Words of prose of all chapters together, exercises and their solutions included."""

MYST = {
    "a MyST directive": re.compile(r"^\s*(?:`{3,}|~{3,}|:{3,})\s*\{", re.MULTILINE),
    "a MyST colon fence": re.compile(r"^\s*:{3,}", re.MULTILINE),
    "a MyST role": re.compile(r"\{[A-Za-z][\w:.+-]*\}`"),
    "a MyST target": re.compile(r"^\([\w-]+\)=\s*$", re.MULTILINE),
    "a MyST comment or block break": re.compile(r"^(?:%|\+\+\+)", re.MULTILINE),
}
MACHINE_PATH = re.compile(
    r"(?<![\w.:/~-])/(?:work|root|tmp|home|Users|opt|mnt|private|var|usr|content)/|[A-Z]:\\Users"
)
PICTURE = re.compile(r"data:image/[\w+.-]+;base64,[A-Za-z0-9+/=]+")
IMAGE_TAG = re.compile(r"<img\b[^>]*>", re.IGNORECASE)
ALT = re.compile(r"""\balt=(["'])(?P<text>.*?)\1""", re.DOTALL)
MARKDOWN_IMAGE = re.compile(r"!\[(?P<alt>[^\]]*)\]\(")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\((?P<target>[^)\s]+)\)")
CODE_BLOCK = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[\w-]*\n.*?^(?P=fence)\s*$", re.MULTILINE | re.DOTALL
)
# A code span; one that follows `}` is the argument of a role and stays.
CODE_SPAN = re.compile(
    r"(?<![`}])(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)", re.DOTALL
)
# A claim about a clock would fail on a busy machine; print the time and assert a count.
ON_A_CLOCK = re.compile(r"^[ \t]*assert\b.*?(?:seconds|_ms\b|elapsed)", re.MULTILINE)
MATH = re.compile(r"\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
WORD = re.compile(r"[^\W\d_][\w'’-]*")
PRACTICE = re.compile(r"^## (?:Self-check|Exercises)$", re.MULTILINE)
"""Where a chapter's own text ends."""


def notebook_paths(root: Path = ROOT) -> list[Path]:
    """Every chapter's notebook, sorted."""
    exercises = root / "notebooks" / "exercises"
    return [
        path
        for path in _stored(root / "notebooks")
        if not path.is_relative_to(exercises)
    ]


def assignment_paths(root: Path = ROOT) -> list[Path]:
    """The source notebook of every assignment, sorted; none is a page of the book."""
    return _stored(root / "notebooks" / "exercises")


def _stored(folder: Path) -> list[Path]:
    return [
        path
        for path in sorted(folder.rglob("*.ipynb"))
        if ".ipynb_checkpoints" not in path.parts and ".rejected" not in path.suffixes
    ]


def problems(notebook: NotebookNode) -> list[str]:
    """What is wrong with a notebook, one line each, with the number of the cell (from 0)."""
    found = [*_opening(notebook)]
    for index, cell in enumerate(notebook.cells):
        rules = _markdown(cell.source) if cell.cell_type == "markdown" else _code(cell)
        found += [f"cell {index}: {problem}" for problem in rules]
    return found


def broken_links(notebook: NotebookNode, path: Path) -> list[str]:
    """Relative links that lead to no file, and absolute ones to a file of this machine."""
    found = []
    for index, cell in enumerate(notebook.cells):
        if cell.cell_type != "markdown":
            continue
        for match in LINK.finditer(CODE_BLOCK.sub("", cell.source)):
            target = unquote(match["target"]).split("#")[0]
            if not target or re.match(r"(?!file:)[a-z]+:", target):
                continue
            if re.match("/|file:", target):
                found.append(f"cell {index}: link to {target!r}, a file of one machine")
            elif not (path.parent / target).exists():
                found.append(f"cell {index}: link to {target!r} leads to no file")
    return found


def n_words(notebook: NotebookNode) -> tuple[int, int]:
    """Words of prose before self-check and exercises, and in all, without code, formulas and addresses of links."""
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    text = re.sub(r"<[^>]+>", " ", MATH.sub(" ", _prose("\n\n".join(cells))))
    text = re.sub(r"\]\([^)]*\)", "]", text)
    own = PRACTICE.split(text)[0]
    return len(WORD.findall(own)), len(WORD.findall(text))


def _opening(notebook: NotebookNode) -> list[str]:
    """Title, objectives, prerequisites, time and device; then the setup cell before all other code."""
    opening = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            break
        opening.append(cell.source)
    text = "\n".join(opening)
    found = []
    if not re.match(r"# \S", text):
        found.append("the first cell does not begin with '# Title'")
    words = text.lower()
    found += [
        f"the opening does not state {word!r}"
        for word in ("objectives", "prerequisites", "minutes")
        if word not in words
    ]
    code = next((cell for cell in notebook.cells if cell.cell_type == "code"), None)
    if code is None or code.source != first_cell():
        found.append(
            "the first code cell is not scripts/first_cell.py (run `make links`)"
        )
    titles = [
        cell
        for cell in notebook.cells
        if cell.cell_type == "markdown" and re.search(r"^# ", _prose(cell.source), re.M)
    ]
    if len(titles) != 1:
        found.append(f"{len(titles)} cells have a '# ' heading; need one, the title")
    return found


def _prose(source: str) -> str:
    return CODE_BLOCK.sub("", source)


def _markdown(source: str) -> list[str]:
    found = []
    if MYST["a MyST directive"].search(source):
        found.append("a MyST directive")
    prose = MATH.sub("", CODE_SPAN.sub("", _prose(source)))
    found += [
        name
        for name, pattern in MYST.items()
        if pattern.search(prose) and name not in found
    ]
    found += _paths(source)
    for tag in ("details", "div", "table"):
        opened, closed = len(re.findall(rf"<{tag}\b", prose)), prose.count(f"</{tag}>")
        if opened != closed:
            found.append(f"{opened} <{tag}> but {closed} </{tag}>")
    if re.search(r"</summary>[ \t]*\n(?!\s*\n)", prose):
        found.append(
            "no blank line after </summary>: the text below it would not be read as Markdown"
        )
    if any(not match["alt"].strip() for match in MARKDOWN_IMAGE.finditer(prose)):
        found.append("a picture without alt text")
    return found


def _code(cell: NotebookNode) -> list[str]:
    found = _paths(cell.source)
    if cell.execution_count is None:
        found.append("not executed")
    n_imports = sum(
        node.end_lineno - node.lineno + 1
        for node in ast.parse(cell.source).body
        if isinstance(node, ast.Import | ast.ImportFrom)
    )
    if n_imports > MOST_IMPORTS:
        found.append(f"{n_imports} lines of imports; need at most {MOST_IMPORTS}")
    if n_imports > 3 and not FOLDED & set(cell.metadata.get("tags", [])):
        found.append("imports that no tag folds; need hide-input")
    long = [line for line in cell.source.splitlines() if len(line) > WIDEST]
    found += [f"a line of more than {WIDEST} columns: {line.strip()}" for line in long]
    if ON_A_CLOCK.search(cell.source):
        found.append("asserts what a clock says: print it, and assert a count")
    for output in cell.outputs:
        if output.output_type == "error":
            found.append(f"raised {output.ename}: {output.evalue}")
        elif output.output_type == "stream":
            if output.name == "stderr":
                found.append(
                    f"writes to stderr: {output.text.strip().splitlines()[0]!r}"
                )
            found += _paths(output.text)
        else:
            found += _shown(output)
    return found


def _shown(output: NotebookNode) -> list[str]:
    found = []
    for kind, value in output.data.items():
        if kind.startswith("image/"):
            found.append(
                f"{kind} without alt text: display the figure with coursepkg.viz.show(figure, alt=...)"
            )
        if not kind.startswith("text/"):
            continue
        text = PICTURE.sub("", "".join(value))
        found += _paths(text)
        if kind == "text/html":
            found += [
                "a picture without alt text"
                for tag in IMAGE_TAG.findall(text)
                if not _has_alt(tag)
            ]
        if kind == "text/plain" and re.search(r"\bat 0x[0-9a-f]+>|<Figure size", text):
            found.append(
                f"shows the object itself: {text[:60]!r}; end the line with ';' or print what matters"
            )
    return found


def _has_alt(tag: str) -> bool:
    match = ALT.search(tag)
    return match is not None and bool(match["text"].strip())


def _paths(text: str) -> list[str]:
    match = MACHINE_PATH.search(text)
    return (
        [f"a path of one machine: {text[match.start() : match.start() + 40]!r}"]
        if match
        else []
    )
