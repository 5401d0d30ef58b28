"""The form that every assignment's source notebook keeps, so that a student edition can be made of it."""

import re
from importlib import import_module
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat import NotebookNode
from notebook_rules import LARGEST, assignment_paths, broken_links, problems

from coursepkg.checks.assignments import Task
from coursepkg.grading.release import leaks
from coursepkg.grading.source import Assignment

BEGIN, END = "### BEGIN SOLUTION", "### END SOLUTION"
HIDE, SHOW = "### BEGIN HIDDEN TESTS", "### END HIDDEN TESTS"
TOTAL = 100
LEAST_MUTANTS = 5

paths = assignment_paths()
each = pytest.mark.parametrize("path", paths, ids=[path.stem for path in paths])


def read(path: Path) -> NotebookNode:
    return nbformat.read(path, as_version=4)


def graded_cells(notebook: NotebookNode) -> list[tuple[NotebookNode, dict[str, Any]]]:
    return [(cell, dict(cell.metadata.nbgrader)) for cell in notebook.cells if "nbgrader" in cell.metadata]


def tasks(path: Path) -> dict[str, Task]:
    module = import_module(f"coursepkg.checks.assignments.{path.stem}")
    return {value.name: value for value in vars(module).values() if isinstance(value, Task)}


@each
def test_keeps_the_rules_of_the_book(path: Path) -> None:
    notebook = read(path)
    assert path.parent.name == path.stem
    assert problems(notebook) == []
    assert broken_links(notebook, path) == []
    assert path.stat().st_size < LARGEST
    nbformat.validate(nbformat.read(path, as_version=nbformat.NO_CONVERT))


@each
def test_metadata_are_those_of_nbgrader(path: Path) -> None:
    cells = graded_cells(read(path))
    ids = [data["grade_id"] for _, data in cells]
    assert len(ids) == len(set(ids))
    for _, data in cells:
        wanted = {"schema_version", "grade", "solution", "locked", "task", "grade_id"}
        assert set(data) == wanted | ({"points"} if data["grade"] else set()), data["grade_id"]
        assert data["schema_version"] == 3
        assert re.fullmatch(r"[a-z][a-z0-9_]*", data["grade_id"])
        assert data["solution"] != data["locked"], data["grade_id"]
        assert not data["task"]


@each
def test_points_add_up_and_are_those_of_the_table(path: Path) -> None:
    notebook = read(path)
    assert sum(data.get("points", 0) for _, data in graded_cells(notebook)) == TOTAL
    rows = re.findall(r"^\| (\d+)\. .* \| (\d+) \|$", notebook.cells[0].source, flags=re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    given: dict[int, int] = {}
    number = 0
    for cell in notebook.cells:
        if heading := re.match(r"## (?:Task|Milestone) (\d+): ", cell.source):
            number = int(heading[1])
            assert re.search(
                r"^Difficulty: \w+ \([1-5] of 5\), about \d+ minutes(?: with a pencil)?, \d+ points",
                cell.source,
                re.M,
            ), f"task {number}: no difficulty, minutes and points"
            assert "Objective: " in cell.source, f"task {number}: no objective"
        given[number] = given.get(number, 0) + cell.metadata.get("nbgrader", {}).get("points", 0)
    assert given == {0: 0} | {int(number): int(points) for number, points in rows}


@each
def test_every_solution_is_marked_as_one(path: Path) -> None:
    for cell in read(path).cells:
        data = cell.metadata.get("nbgrader", {})
        lines = cell.source.splitlines()
        n_solutions = sum(line.strip() == BEGIN for line in lines)
        assert n_solutions == sum(line.strip() == END for line in lines) == int(data.get("solution", False))
        n_hidden = sum(line.strip() == HIDE for line in lines)
        assert n_hidden == sum(line.strip() == SHOW for line in lines)
        is_test = data.get("grade", False) and not data.get("solution", False)
        assert n_hidden == int(is_test)


@each
def test_every_task_has_its_cells(path: Path) -> None:
    cells = {data["grade_id"]: cell for cell, data in graded_cells(read(path))}
    for name, task in tasks(path).items():
        assert f"def {name}(" in cells[name].source
        assert "@hidden_test" in cells[f"test_{name}"].source
        if task.public:
            assert f"{path.stem}.{name}.check({name})" in cells[f"test_{name}"].source
            assert "seed" in cells[f"hidden_{name}"].source
    tested = {name.removeprefix("test_") for name in cells if name.startswith("test_")}
    assert tested == set(tasks(path))


@each
def test_the_class_kit_reads_it(path: Path) -> None:
    verdicts = Assignment.read(path).judge()
    assert len(verdicts) >= 4
    for name, found in verdicts.items():
        assert found, f"{name} has no hidden test"
        assert [verdict.message for verdict in found] == [""] * len(found), name


@each
def test_a_starter_gets_no_point(path: Path) -> None:
    assignment = Assignment.read(path)
    starters = {
        cell.grade_id: re.sub(
            f"( *){BEGIN}.*{END}", r"\1raise NotImplementedError()", cell.source, flags=re.DOTALL
        )
        for cell in assignment.cells
        if cell.solution and cell.kind == "code"
    }
    for name, found in assignment.judge(starters).items():
        assert any(verdict.message for verdict in found), name


@each
def test_what_students_see_holds_no_line_of_a_solution(path: Path) -> None:
    notebook = read(path)
    for cell in notebook.cells:
        for begin, end in ((BEGIN, END), (HIDE, SHOW)):
            cell.source = re.sub(f" *{begin}.*{end}", "", cell.source, flags=re.DOTALL)
    assert leaks(Assignment.read(path), nbformat.writes(notebook)) == []


@each
def test_a_person_grades_by_a_rubric(path: Path) -> None:
    notebook = read(path)
    rubrics = [
        int(points)
        for cell in notebook.cells
        for table in re.findall(
            r"^\| criterion \| points \|\n\| --- \| --- \|\n((?:\|.*\n?)+)", cell.source, re.M
        )
        for points in re.findall(r"\| (\d+) \|$", table, flags=re.MULTILINE)
    ]
    by_hand = sum(data["points"] for _, data in graded_cells(notebook) if data["grade"] and data["solution"])
    assert sum(rubrics) == by_hand > 0


@each
def test_every_task_has_wrong_and_right_solutions(path: Path) -> None:
    module = import_module(f"tests.notebooks.assignments.test_{path.stem}")
    for name in tasks(path):
        wrong, right = (
            [case for case in table if case.split()[0] == name] for table in (module.WRONG, module.RIGHT)
        )
        assert len(wrong) >= LEAST_MUTANTS, f"{name}: {len(wrong)} wrong solutions"
        assert len(right) >= 2, f"{name}: {len(right)} right solutions"
