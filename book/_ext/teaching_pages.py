"""Directives of the pages for instructors.

- `point-map`: every objective of a chapter, with the exercises, self-check questions and graded tasks that train it
- `schedule`: a syllabus; its body says which chapters stand in which week, the rest is read from the chapters
- `slide-decks`: the slides of every chapter

What a chapter or an assignment does not state is left open, and a page never says more than its sources.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from posixpath import dirname, normpath
from typing import Any, ClassVar

import nbformat
import yaml
from course_pages import (
    MINUTES,
    chapter_paths,
    exercises_of,
    load_toc,
    parsed,
    read_notebook,
    table,
    title_of,
)
from docutils import nodes
from docutils.parsers.rst import directives
from exercises import read_objectives, read_self_check
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

TASK = re.compile(
    r"^## (?P<kind>Task|Milestone) (?P<number>\d+): (?P<name>\S.*)$", re.MULTILINE
)
"""Heading of a task; the tasks of a capstone are its milestones."""
POINTS = re.compile(r"\b(\d+) points\b")
TRAINED = re.compile(
    r"\[[^\]]*\]\((?:\.\./)*(?P<chapter>[\w/]+)\.ipynb\),\s+(?P<which>objectives?\s+\d(?:(?:,\s+|\s+and\s+)\d)*)",
)
"""A chapter that a task names, with the objectives of it that it trains."""
CHAPTERS = re.compile(r"^Chapters?: (.*?)(?:\n\n|\Z)", re.MULTILINE | re.DOTALL)
WORDS_A_MINUTE = 200
"""Speed of reading, for the pages that do not state their time."""
PREREQUISITES = re.compile(r"\*\*Prerequisites\.\*\*(.*?)(?:\n\n|\Z)", re.DOTALL)


@dataclass(frozen=True)
class GradedTask:
    """One task of an assignment, or milestone of a capstone."""

    assignment: str
    """Title of the assignment."""
    kind: str
    """`task` or `milestone`."""
    number: int
    name: str
    points: int
    trains: frozenset[tuple[str, int]]
    """Chapters, as paths below notebooks/, each with the number of an objective."""


def tasks_of(notebook: NotebookNode) -> Iterator[GradedTask]:
    """The tasks of an assignment, with the objectives that each names under `Chapters:`."""
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    title = title_of(cells)
    for text in cells:
        heading = TASK.search(text)
        if heading is None:
            continue
        points, named = POINTS.search(text), CHAPTERS.search(text)
        yield GradedTask(
            assignment=title,
            kind=heading["kind"].lower(),
            number=int(heading["number"]),
            name=heading["name"].strip(),
            points=int(points[1]) if points else 0,
            trains=frozenset(
                (found["chapter"], int(number))
                for found in TRAINED.finditer(named[1] if named else "")
                for number in re.findall(r"\d", found["which"])
            ),
        )


@cache
def read_cached(path: Path, changed: float) -> NotebookNode:
    """A notebook; `changed` is the time of its last change, so that a new one is read anew."""
    return nbformat.read(path, as_version=4)


def read(path: Path) -> NotebookNode:
    """A notebook."""
    return read_cached(path, path.stat().st_mtime)


def assignments(root: Path) -> dict[str, NotebookNode]:
    """The assignments by name, in the order of their titles: by number, then the capstones."""
    files = (root / "notebooks/exercises").glob("*/*.ipynb")
    books = {path.stem: read(path) for path in files}
    return dict(sorted(books.items(), key=lambda one: one[1].cells[0].source))


@cache
def short_titles(root: Path) -> dict[str, str]:
    """By path the title of each chapter, without what stands behind its colon where no other chapter begins alike."""
    files = chapter_paths(load_toc(root))
    titles = {file: title_of(read_notebook(root / f"{file}.ipynb")) for file in files}
    beginnings = Counter(title.partition(":")[0] for title in titles.values())
    return {
        file: title.partition(":")[0]
        if beginnings[title.partition(":")[0]] == 1
        else title
        for file, title in titles.items()
    }


def point_map_lines(root: Path, up: str) -> list[str]:
    """For each part of the book a table of its objectives; `up` leads from the page to the root."""
    tasks = [task for book in assignments(root).values() for task in tasks_of(book)]
    lines = []
    for part in load_toc(root)["parts"]:
        rows = [
            row
            for file in chapter_paths({"parts": [part]})
            for row in objective_rows(root, up, file, tasks)
        ]
        if rows:
            head = [
                "chapter",
                "objective",
                "exercises",
                "questions",
                "graded tasks (points)",
            ]
            lines += ["", f"**{part['caption']}**", "", *table(head, rows)]
    return lines


def objective_rows(
    root: Path, up: str, file: str, tasks: Iterable[GradedTask]
) -> Iterator[list[str]]:
    """The rows of one chapter, one for each objective."""
    notebook, link = read(root / f"{file}.ipynb"), f"{up}{file}.ipynb"
    cells = [cell.source for cell in notebook.cells if cell.cell_type == "markdown"]
    exercises = list(exercises_of(file, cells))
    questions = read_self_check(notebook)
    for number, objective in enumerate(read_objectives(notebook), 1):
        trained = [
            f"[{item.number}]({link}#{item.anchor})"
            for item in exercises
            if number in item.objectives
        ]
        asked = [str(item.number) for item in questions if number in item.objectives]
        key = (file.removeprefix("notebooks/"), number)
        graded = [
            f"{assignment_name(task.assignment)}, {task.kind} {task.number} ({task.points})"
            for task in tasks
            if key in task.trains
        ]
        title = f"[{title_of(cells)}]({link})" if number == 1 else ""
        text = f"{number}. {objective.rstrip('.;')}"
        yield [title, text, ", ".join(trained), ", ".join(asked), "; ".join(graded)]


def assignment_name(title: str) -> str:
    """`2. Attention` for the title `Assignment 2: Attention`; a capstone keeps its title."""
    return re.sub(r"^Assignment (\d+): ", r"\1. ", title)


@dataclass(frozen=True)
class Lesson:
    """What is read in one week or half-day."""

    links: list[str]
    minutes: int
    """Minutes that its chapters state, reading and exercises together."""
    n_exercises: int


def minutes_stated(text: str) -> int:
    """The first number of minutes that a text names; 0 where it names none."""
    found = MINUTES.search(text)
    return int(found[1]) if found else 0


def read_lesson(root: Path, up: str, chapters: Iterable[str]) -> Lesson:
    """The chapters of a week, as links, with their time and the number of their exercises.

    Raises:
        ValueError: for a chapter that the book does not have.
    """
    links, minutes, n_exercises = [], 0, 0
    for name in chapters:
        notebook, page = root / f"notebooks/{name}.ipynb", root / f"{name}.md"
        if notebook.is_file():
            cells = read_notebook(notebook)
            minutes += minutes_stated(cells[0].partition("**Time")[2])
            n_exercises += len(list(exercises_of(name, cells)))
            title = short_titles(root)[f"notebooks/{name}"]
            links.append(f"[{title}]({up}notebooks/{name}.ipynb)")
        elif page.is_file():
            text = page.read_text(encoding="utf-8")
            minutes += round(len(text.split()) / WORDS_A_MINUTE / 5) * 5
            links.append(f"[{title_of([text])}]({up}{name}.md)")
        else:
            raise ValueError(
                f"{name}: no such chapter; need a path such as attention/rope or book/your_own_signs"
            )
    return Lesson(links, minutes, n_exercises)


def schedule_lines(
    root: Path,
    up: str,
    lessons: Iterable[Mapping[str, Any]],
    *,
    unit: str,
    hours: float,
    in_class: bool,
) -> list[str]:
    """A syllabus as Markdown.

    Args:
        root: folder of the book.
        up: leads from the page to the root.
        lessons: of each week or half-day `when`, `read`, `show` and, where there is one, `work`: what is handed
            out or in; `due`: the assignment whose time counts here; `extra`: further hours.
        unit: head of the first column.
        hours: of teaching in each of them.
        in_class: whether reading and exercises are done in these hours, and not in others.

    Raises:
        ValueError: for a chapter or an assignment that does not exist, or a chapter whose prerequisite comes later.
    """
    known, lessons = assignments(root), list(lessons)
    rows = []
    for lesson in lessons:
        found = read_lesson(root, up, lesson["read"])
        work = lesson.get("extra", 0) + assignment_hours(known, lesson.get("due", ""))
        total = hours + work + (0 if in_class else found.minutes / 60)
        rows.append(
            [
                str(lesson["when"]),
                ", ".join(found.links),
                str(found.minutes),
                str(found.n_exercises),
                lesson.get("work", ""),
                lesson["show"],
                f"{total:.1f}",
            ]
        )
    head = [unit, "read", "minutes", "exercises", "assignment", "show live", "hours"]
    whole = sum(float(row[-1]) for row in rows)
    lines = [*table(head, rows), "", f"Together {whole:.0f} hours."]
    missing = left_out(root, lessons)
    if missing:
        links = read_lesson(root, up, missing).links
        told = (
            f"{link} ({missing[name]})"
            for name, link in zip(missing, links, strict=True)
        )
        lines += [
            "",
            f"Prerequisites that this plan leaves out, with the {unit} that needs them first: {', '.join(told)}.",
        ]
    return lines


def prerequisites_of(root: Path, name: str) -> list[str]:
    """The chapters that a chapter names as its prerequisites, as paths below notebooks/; a page names none."""
    notebook = root / f"notebooks/{name}.ipynb"
    named = notebook.is_file() and PREREQUISITES.search(read_notebook(notebook)[0])
    links = re.findall(r"\]\(([^)#]+)\.ipynb", named[1]) if named else []
    return [normpath(f"{dirname(name)}/{link}") for link in links]


def left_out(root: Path, lessons: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Chapters that a plan leaves out although a planned one needs them, each with the `when` of that lesson.

    Raises:
        ValueError: for a prerequisite that the plan has later.
    """
    lessons = list(lessons)
    found: dict[str, str] = {}
    coming = [name for lesson in lessons for name in lesson["read"]]
    planned = set(coming)
    for lesson in lessons:
        for name in lesson["read"]:
            for needed in prerequisites_of(root, name):
                if needed in coming:
                    raise ValueError(f"{name} needs {needed}, which the plan has later")
                if needed not in planned:
                    found.setdefault(needed, str(lesson["when"]))
            coming.remove(name)
    return found


def assignment_hours(known: Mapping[str, NotebookNode], name: str) -> float:
    """The hours that an assignment states.

    Raises:
        ValueError: for an assignment that does not exist.
    """
    if not name:
        return 0.0
    if name not in known:
        raise ValueError(f"{name}: no such assignment; there are {', '.join(known)}")
    return minutes_stated(known[name].cells[0].source.partition("**Time")[2]) / 60


def deck_lines(root: Path, up: str) -> list[str]:
    """A link to the slides of each chapter; `up` leads from the page to the root of its site."""
    rows = []
    for part in load_toc(root)["parts"]:
        decks = [
            f'<a href="{up}slides/{Path(file).name}.html">{short_titles(root)[file]}</a>'
            for file in chapter_paths({"parts": [part]})
        ]
        if decks:
            rows.append([part["caption"], ", ".join(decks)])
    return table(["part", "slides"], rows)


class TeachingDirective(SphinxDirective):
    """A table that is read from chapters and assignments."""

    def lines(self, root: Path, up: str) -> list[str]:
        """Its Markdown."""
        raise NotImplementedError

    def run(self) -> list[nodes.Node]:
        """The table; the page is written anew when a chapter or an assignment changes."""
        root = Path(self.env.srcdir)
        self.env.note_dependency("_toc.yml")
        for path in (root / "notebooks").glob("**/*.ipynb"):
            self.env.note_dependency(str(path))
        try:
            lines = self.lines(root, "../" * self.env.docname.count("/"))
        except ValueError as error:
            raise self.error(str(error)) from error
        return parsed(self, lines)


class PointMap(TeachingDirective):
    """Objectives, exercises, questions, graded tasks."""

    def lines(self, root: Path, up: str) -> list[str]:
        """A table for each part."""
        return point_map_lines(root, up)


class Schedule(TeachingDirective):
    """A syllabus: its body is a YAML list of weeks."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {
        "unit": directives.unchanged_required,
        "hours": float,
        "in-class": directives.flag,
    }

    def lines(self, root: Path, up: str) -> list[str]:
        """The table."""
        return schedule_lines(
            root,
            up,
            yaml.safe_load("\n".join(self.content)),
            unit=self.options["unit"],
            hours=self.options["hours"],
            in_class="in-class" in self.options,
        )


class SlideDecks(TeachingDirective):
    """The slides, which `scripts/slides.py` writes beside the pages of each language."""

    def lines(self, root: Path, up: str) -> list[str]:
        """A row for each part."""
        return deck_lines(root, up)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("point-map", PointMap)
    app.add_directive("schedule", Schedule)
    app.add_directive("slide-decks", SlideDecks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
