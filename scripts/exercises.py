"""Reads the exercises out of a chapter's notebook: hint, starter, solution and the name of the public check."""

import ast
import re
from dataclasses import dataclass

from nbformat import NotebookNode

HEADING = re.compile(r"^### Exercise (?P<number>\d+): (?P<name>\S.*)$", re.MULTILINE)
FOLDED = re.compile(
    r"<details>\s*<summary>(?P<title>[^<]*)</summary>\s*\n(?P<body>.*?)</details>",
    re.DOTALL,
)
PYTHON = re.compile(r"^```python\n(?P<code>.*?)^```\s*$", re.MULTILINE | re.DOTALL)
KINDS = (
    "write code",
    "find the bug",
    "by hand",
    "predict, then measure",
    "read a plot",
    "design under a budget",
    "classify errors",
    "open project",
)
KIND = re.compile(r"^Kind: (?P<kind>[^.\n]+)\.", re.MULTILINE)
OBJECTIVES = re.compile(r"\bObjectives? (\d(?:(?:, | and )\d)*)\b")
QUESTION = re.compile(
    r"^\*\*(?P<number>\d)\.\*\* (?P<text>.*?)^<details><summary>Answer</summary>\s*\n(?P<answer>.*?)^</details>",
    re.DOTALL | re.MULTILINE,
)


@dataclass(frozen=True)
class Exercise:
    """One exercise as the notebook states it."""

    number: int
    name: str
    text: str
    """The markdown cell with heading, task and hint."""
    hint: str
    starter: str
    """The code cell that the student completes."""
    printed: str
    """What the starter printed when the notebook was built."""
    solution: str
    """The Python code of the folded solution."""
    check: str
    """Name of the public check, "chapter.exercise"."""
    student: str
    """Name of what the check is given."""
    kind: str
    """One of `KINDS`."""
    objectives: tuple[int, ...]
    """Which of the chapter's objectives it trains, counted from 1."""


@dataclass(frozen=True)
class Question:
    """A question of the self-check of a chapter."""

    number: int
    text: str
    answer: str
    objectives: tuple[int, ...]
    """Which of the chapter's objectives it tests, counted from 1."""


def read_exercises(notebook: NotebookNode) -> list[Exercise]:
    """The exercises of a notebook in their order.

    Raises:
        ValueError: for an exercise that lacks a part; says which one and what is missing.
    """
    starters = [
        i
        for i, cell in enumerate(notebook.cells)
        if "exercise" in cell.metadata.get("tags", [])
    ]
    headings = sum(
        len(HEADING.findall(cell.source))
        for cell in notebook.cells
        if cell.cell_type == "markdown"
    )
    if headings != len(starters):
        raise ValueError(
            f"{headings} headings '### Exercise N: Name' but {len(starters)} code cells tagged 'exercise'"
        )
    return [_read(notebook.cells[: i + 2], i) for i in starters]


def _read(cells: list[NotebookNode], at: int) -> Exercise:
    task, starter = cells[at - 1], cells[at]
    heading = HEADING.search(task.source)
    if heading is None:
        raise ValueError(
            f"cell {at}: a starter without '### Exercise N: Name' in the cell before it"
        )
    where = f"exercise {heading['number']}"
    hint = _folded(task.source, "Hint", where)
    answer = _folded(
        cells[at + 1].source if len(cells) > at + 1 else "", "Solution", where
    )
    code = PYTHON.search(answer)
    if code is None:
        raise ValueError(f"{where}: no ```python block in its solution")
    check, student = _check_call(starter.source, where)
    return Exercise(
        number=int(heading["number"]),
        name=heading["name"].strip(),
        text=task.source,
        hint=hint,
        starter=starter.source,
        printed="".join(
            output.text for output in starter.outputs if output.output_type == "stream"
        ),
        solution=code["code"],
        check=check,
        student=student,
        kind=kind_of(task.source, where),
        objectives=objectives_of(task.source),
    )


def kind_of(text: str, where: str = "exercise") -> str:
    """The kind of an exercise, which its text states.

    Raises:
        ValueError: for a text without a kind, or with one that is not in `KINDS`.
    """
    found = KIND.search(text)
    if found is None or found["kind"] not in KINDS:
        said = "no kind" if found is None else f"the kind {found['kind']!r}"
        raise ValueError(
            f"{where}: its text states {said}; need 'Kind: {KINDS[0]}.', or one of {KINDS}"
        )
    return found["kind"]


def objectives_of(text: str) -> tuple[int, ...]:
    """The objectives that a text names last, as `Objective 2` or `Objectives 1 and 3`."""
    named = OBJECTIVES.findall(text)
    return tuple(map(int, re.findall(r"\d", named[-1]))) if named else ()


def read_objectives(notebook: NotebookNode) -> list[str]:
    """The objectives of a chapter, which its first cell lists."""
    _, _, behind = notebook.cells[0].source.partition("**Objectives.**")
    return re.findall(r"^- (.*)$", behind, re.MULTILINE)


def read_self_check(notebook: NotebookNode) -> list[Question]:
    """The questions of the section `## Self-check` of a chapter."""
    text = "\n".join(
        cell.source for cell in notebook.cells if cell.cell_type == "markdown"
    )
    _, _, behind = text.partition("## Self-check\n")
    section = re.split(r"^## ", behind, maxsplit=1, flags=re.MULTILINE)[0]
    return [
        Question(
            int(found["number"]),
            found["text"].strip(),
            found["answer"].strip(),
            objectives_of(found["answer"]),
        )
        for found in QUESTION.finditer(section)
    ]


def _folded(source: str, title: str, where: str) -> str:
    for match in FOLDED.finditer(source):
        if match["title"].strip().startswith(title) and match["body"].strip():
            return match["body"].strip() + "\n"
    raise ValueError(f"{where}: no <details><summary>{title}</summary> with text in it")


def _check_call(source: str, where: str) -> tuple[str, str]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Name(id="check"),
                args=[ast.Constant(value=str(name)), ast.Name(id=student)],
            ):
                return name, student
    raise ValueError(
        f'{where}: its starter does not call check("chapter.exercise", function)'
    )
