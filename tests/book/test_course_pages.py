"""The directives that write reference pages out of the repository, and the script that vendors assets."""

import json
import re
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sphinx.application import Sphinx

from tests.book.sources import ROOT, load, toc

sys.path.insert(0, str(ROOT / "book" / "_ext"))

pages = load("book/_ext/course_pages.py")
charts = load("book/_ext/charts.py")
teaching = load("book/_ext/teaching_pages.py")
vendor = load("scripts/vendor_assets.py")

ROW = {
    "case": "causal",
    "candidate": "tiled",
    "baseline": "sdpa",
    "ratio": 0.8123,
    "low": 0.79,
    "high": 0.83,
    "candidate_ms": 1234.5,
    "percent_of_peak": None,
    "target": 0.75,
    "at_most": False,
    "met": True,
    "note": "",
}
RESULT: dict[str, Any] = {
    "suite": "attention",
    "machine": {"name": "A CPU", "device": "cpu", "threads": 1},
    "versions": {"torch": "2.13.0"},
    "commit": "abc1234",
    "rows": [ROW],
}


def test_chapter_paths_are_the_notebooks_in_order() -> None:
    paths = pages.chapter_paths(toc())
    assert paths[0] == "notebooks/foundations/tensors"
    assert all(path.startswith("notebooks/") for path in paths)


def test_exercises_are_read_with_difficulty_and_minutes() -> None:
    cells = [
        "# Title\n\nSee *Exercise 9: not a heading*.",
        "### Exercise 1: Scale the scores!\n\n**Difficulty:** easy. **Time:** 5 minutes.",
        "### Exercise 2: Bare\n\nNo more is said.",
    ]
    first, second = pages.exercises_of("notebooks/a", cells)
    assert (first.number, first.name, first.difficulty, first.minutes) == (
        1,
        "Scale the scores!",
        "easy",
        "5",
    )
    assert first.anchor == "exercise-1-scale-the-scores"
    assert (second.difficulty, second.minutes) == ("", "")


def test_an_anchor_leaves_formulas_out_as_myst_does() -> None:
    assert pages.anchor_of("Exercise 2: In $O(n)$ with `torch`") == "exercise-2-in--with-torch"


def test_an_exercise_does_not_borrow_the_time_of_the_next() -> None:
    cell = "### Exercise 1: A\n\ntext\n\n### Exercise 2: B\n\nDifficulty: hard, 20 minutes"
    first, second = pages.exercises_of("c", [cell])
    assert (first.difficulty, first.minutes) == ("", "")
    assert (second.difficulty, second.minutes) == ("hard", "20")


def test_notebook_without_title_is_refused() -> None:
    with pytest.raises(ValueError, match="no title"):
        pages.title_of(["## Only a section"])


def test_exercise_index_links_to_every_exercise(tmp_path: Path) -> None:
    chapter = "notebooks/attention/mqa"
    contents = f"format: jb-book\nroot: book/intro\nparts:\n  - chapters:\n      - file: {chapter}\n"
    (tmp_path / "_toc.yml").write_text(contents, encoding="utf-8")
    sources = [
        "# Multi-query attention",
        "### Exercise 1: Share\n\nDifficulty: easy, 5 minutes",
        "### Exercise 2: Size",
    ]
    cells = [{"cell_type": "markdown", "source": [text]} for text in sources]
    path = tmp_path / f"{chapter}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"cells": cells}), encoding="utf-8")
    lines = pages.exercise_lines(tmp_path, "../")
    assert lines[2:] == [
        "| [Multi-query attention](../notebooks/attention/mqa.ipynb)"
        " | [1. Share](../notebooks/attention/mqa.ipynb#exercise-1-share) |  | easy | 5 |",
        "|  | [2. Size](../notebooks/attention/mqa.ipynb#exercise-2-size) |  |  |  |",
    ]


CHAPTER = [
    "# Rotary position embedding\n\n**Objectives.** After this chapter you can\n\n- rotate by hand;\n- move weights."
    "\n\n**Time and device.** About 80 minutes; the cells run in 2 minutes.",
    "### Exercise 1: Rotate\n\nKind: by hand. Difficulty: easy, 5 minutes. Objective 1.",
    "### Exercise 2: Both\n\nDifficulty: hard, 20 minutes. Objectives 1 and 2.",
    "### Exercise 3: Untold",
    "## Self-check\n\n**1.** Why?\n\n<details><summary>Answer</summary>\n\nTherefore. Objective 2.\n\n</details>",
]
ASSIGNMENT = [
    "# Assignment 2: Attention\n\n**Time and device:** about 150 minutes, CPU.",
    "## Task 1: Turn\n\nDifficulty: easy (2 of 5), about 20 minutes, 30 points.\n\n"
    "Chapters: [RoPE](../../attention/rope.ipynb), objectives 1\nand 2; [GQA](../../attention/gqa.ipynb), objective 4.",
    "## Task 2: Untold\n\nabout 5 minutes, 10 points. See [RoPE](../../attention/rope.ipynb), objective 2.",
]


@pytest.fixture
def small_book(tmp_path: Path) -> Path:
    """A book of one chapter with one assignment."""
    contents = "parts:\n  - caption: 2. Attention\n    chapters:\n      - file: notebooks/attention/rope\n"
    (tmp_path / "_toc.yml").write_text(contents, encoding="utf-8")
    for name, cells in (("attention/rope", CHAPTER), ("exercises/attention/attention", ASSIGNMENT)):
        path = tmp_path / "notebooks" / f"{name}.ipynb"
        path.parent.mkdir(parents=True)
        nbformat.write(new_notebook(cells=[new_markdown_cell(text) for text in cells]), path)
    return tmp_path


class TestPointMap:
    """Objective, exercise, question, graded task."""

    def test_each_objective_has_what_trains_and_what_tests_it(self, small_book: Path) -> None:
        lines = teaching.point_map_lines(small_book, "../")
        assert lines[1] == "**2. Attention**"
        first, second = lines[5:]
        link = "../notebooks/attention/rope.ipynb"
        both = f"[2]({link}#exercise-2-both)"
        task = "2. Attention, task 1 (30)"
        rotate = f"[1]({link}#exercise-1-rotate)"
        title = f"[Rotary position embedding]({link})"
        assert first == f"| {title} | 1. rotate by hand | {rotate}, {both} |  | {task} |"
        assert second == f"|  | 2. move weights | {both} | 1 | {task} |"

    def test_a_capstone_has_milestones(self, small_book: Path) -> None:
        path = small_book / "notebooks/exercises/attention/attention.ipynb"
        texts = ["# Capstone: Attention", ASSIGNMENT[1].replace("Task", "Milestone")]
        nbformat.write(new_notebook(cells=[new_markdown_cell(text) for text in texts]), path)
        for line in teaching.point_map_lines(small_book, "../")[5:]:
            assert line.endswith("| Capstone: Attention, milestone 1 (30) |")

    def test_a_task_that_names_no_chapter_trains_nothing(self, small_book: Path) -> None:
        first, second = teaching.tasks_of(teaching.assignments(small_book)["attention"])
        assert first.trains == {("attention/rope", 1), ("attention/rope", 2), ("attention/gqa", 4)}
        assert (second.points, second.trains) == (10, frozenset())

    @pytest.mark.parametrize("name", sorted(teaching.assignments(ROOT)))
    def test_tasks_name_objectives_that_exist(self, name: str) -> None:
        tasks = list(teaching.tasks_of(teaching.assignments(ROOT)[name]))
        assert len({bool(task.trains) for task in tasks}) <= 1, (
            "some tasks name their chapters, others do not"
        )
        for chapter, number in {pair for task in tasks for pair in task.trains}:
            objectives = teaching.read_objectives(teaching.read(ROOT / f"notebooks/{chapter}.ipynb"))
            assert 1 <= number <= len(objectives), f"{chapter} has no objective {number}"

    def test_every_chapter_has_its_objectives_in_the_map(self) -> None:
        lines = teaching.point_map_lines(ROOT, "../")
        for chapter in pages.chapter_paths(toc()):
            assert sum(f"(../{chapter}.ipynb)" in line for line in lines) == 1, chapter
            assert teaching.read_objectives(teaching.read(ROOT / f"{chapter}.ipynb")), chapter
        assert len("\n".join(lines)) < 150_000, "the page would become too large"


LESSON: dict[str, Any] = {"when": 1, "read": ["attention/rope"], "show": "it", "due": "attention"}


class TestSchedule:
    """Weeks with the time that chapters and assignments state."""

    def lines(self, root: Path, *, in_class: bool = False, **changes: Any) -> list[str]:
        lessons = [LESSON | changes]
        return teaching.schedule_lines(root, "../", lessons, unit="week", hours=3.0, in_class=in_class)

    def test_hours_are_teaching_reading_and_what_is_due(self, small_book: Path) -> None:
        row, _, whole = self.lines(small_book)[2:]
        link = "[Rotary position embedding](../notebooks/attention/rope.ipynb)"
        assert row == f"| 1 | {link} | 80 | 3 |  | it | 6.8 |"
        assert whole == "Together 7 hours."

    def test_reading_in_class_costs_no_further_hours(self, small_book: Path) -> None:
        assert self.lines(small_book, in_class=True, extra=1)[2].endswith("| it | 6.5 |")

    def test_a_page_without_a_stated_time_is_counted_by_its_words(self, small_book: Path) -> None:
        (small_book / "book").mkdir()
        (small_book / "book/own.md").write_text("# Your own\n" + "word " * 1990, encoding="utf-8")
        assert "| [Your own](../book/own.md) | 10 | 0 |" in self.lines(small_book, read=["book/own"])[2]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"read": ["attention/ropes"]}, "attention/ropes: no such chapter"),
            ({"due": "x"}, "x: no such assignment"),
        ],
    )
    def test_what_does_not_exist_is_refused(
        self, small_book: Path, change: dict[str, Any], message: str
    ) -> None:
        with pytest.raises(ValueError, match=message):
            self.lines(small_book, **change)

    def test_prerequisites_that_the_plan_leaves_out_are_named(self, small_book: Path) -> None:
        opening = "# Chapter\n\n**Prerequisites.** [RoPE](../attention/rope.ipynb#x).\n\n[It](c.ipynb)"
        for name in ("by_hand", "in_code"):
            path = small_book / f"notebooks/attention/{name}.ipynb"
            nbformat.write(new_notebook(cells=[new_markdown_cell(opening)]), path)
        toc = small_book / "_toc.yml"
        more = "".join(f"      - file: notebooks/attention/{name}\n" for name in ("by_hand", "in_code"))
        toc.write_text(toc.read_text("utf-8") + more, encoding="utf-8")
        found = self.lines(small_book, read=["attention/by_hand", "attention/in_code"])[-1]
        assert found.startswith("Prerequisites that this plan leaves out, with the week that needs")
        assert found.endswith(" first: [Rotary position embedding](../notebooks/attention/rope.ipynb) (1).")
        with pytest.raises(ValueError, match="by_hand needs attention/rope, which the plan has later"):
            self.lines(small_book, read=["attention/by_hand", "attention/rope"])

    def test_no_plan_of_the_book_has_a_prerequisite_later(self) -> None:
        text = (ROOT / "book/syllabus.md").read_text("utf-8")
        plans = re.findall(r"^```\{schedule\}\n.*?^(- .*?)^```", text, re.DOTALL | re.MULTILINE)
        assert len(plans) == 2
        for plan in plans:
            assert teaching.left_out(ROOT, yaml.safe_load(plan))


def test_messages_are_collected_where_no_model_was_exported(tmp_path: Path) -> None:
    (tmp_path / "index.rst").write_text("Try it\n======\n\n.. try-it:: translation\n\n   <form></form>\n")
    app = Sphinx(
        tmp_path,
        None,
        tmp_path / "_build" / "gettext",
        tmp_path / "_build" / "doctrees",
        "gettext",
        confoverrides={"extensions": ["live_models"]},
        status=None,
        warningiserror=True,
    )
    app.build()
    assert app.statuscode == 0
    messages = (tmp_path / "_build" / "gettext" / "index.pot").read_text(encoding="utf-8")
    assert re.findall(r'msgid "(.+)"', messages) == ["Try it"]


def test_every_chapter_has_a_deck_in_the_list(small_book: Path) -> None:
    row = teaching.deck_lines(small_book, "../")[2]
    assert row == '| 2. Attention | <a href="../slides/rope.html">Rotary position embedding</a> |'


def test_a_table_keeps_its_columns_when_a_cell_holds_a_bar() -> None:
    assert pages.table(["a"], [["x | y"]])[2] == "| x \\| y |"


def test_bench_lines_name_machine_versions_and_commit() -> None:
    text = "\n".join(pages.bench_lines(RESULT))
    for part in (
        "A CPU",
        "1 thread",
        "torch 2.13.0",
        "`abc1234`",
        "0.812",
        "0.79 to 0.83",
        "1,234",
        "at least 0.75: met",
    ):
        assert part in text
    assert "% of peak" not in text, "a column without figures is left out"


@pytest.mark.parametrize(("met", "verdict"), [(False, "missed"), (None, "not measured")])
def test_bench_says_when_a_target_was_not_met(met: bool | None, verdict: str) -> None:
    assert f"at least 0.75: {verdict}" in pages.bench_row({**ROW, "met": met})


def test_a_chart_has_a_dot_and_a_line_for_every_timed_row() -> None:
    counted = {**ROW, "case": "memory", "low": None, "high": None, "target": None}
    growth = {**ROW, "case": "growth", "at_most": True}
    rows = [ROW, {**ROW, "ratio": 2.0, "high": 4.0}, counted, growth]
    drawn = ElementTree.fromstring(charts.ratio_chart(rows))
    dots = [float(dot.attrib["cx"]) for dot in drawn.iter("circle")]
    assert len(dots) == 2
    assert dots[0] < dots[1]
    assert "causal, tiled: 0.812" in drawn.attrib["aria-label"]
    assert not [name for name in ("memory", "growth") if name in drawn.attrib["aria-label"]]
    assert charts.ratio_chart([counted]) == ""


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [(0.6, 3.0, [1, 2]), (0.9, 11, [1, 2, 5, 10]), (0.5, 2000, [1, 10, 100, 1000])],
)
def test_an_axis_has_few_round_numbers(low: float, high: float, expected: list[float]) -> None:
    assert charts.ticks(low, high) == expected


def test_stored_results_can_be_shown() -> None:
    for path in (ROOT / "book" / "_data" / "bench").glob("*.json"):
        result = json.loads(path.read_text(encoding="utf-8"))
        assert len(pages.bench_lines(result)) == 4 + len(result["rows"]), path.name


RUN: dict[str, Any] = {
    "seconds": 90.0,
    "peak_memory": 3 * 2**29,
    "machine": "A CPU, 2 cores, cpu",
    "versions": {"torch": "2.13.0", "python": "3.13.0"},
}


def status_of(root: Path, runs: dict[str, dict[str, Any]]) -> list[str]:
    """The status of two chapters, `one` and `two`, after these runs by Python version."""
    names = ["notebooks/one", "notebooks/two"]
    files = "".join(f"      - file: {name}\n" for name in names)
    contents = f"format: jb-book\nroot: book/intro\nparts:\n  - chapters:\n{files}"
    (root / "_toc.yml").write_text(contents, encoding="utf-8")
    (root / "notebooks").mkdir()
    for name in names:
        cells = [new_markdown_cell(f"# {name[-3:].title()}"), new_code_cell("1 + 1")]
        nbformat.write(new_notebook(cells=cells), root / f"{name}.ipynb")
    for version, found in runs.items():
        file = root / "book/_data/notebooks" / f"python-{version}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(found), encoding="utf-8")
    return pages.status_lines(root, "../")


def test_status_names_minutes_memory_and_versions(tmp_path: Path) -> None:
    code = pages.code_hash(new_notebook(cells=[new_code_cell("1 + 1")]))
    runs = {
        "3.11": {"notebooks/one": {**RUN, "code": code, "seconds": 30.0}},
        "3.13": {"notebooks/one": {**RUN, "code": code}, "notebooks/two": {**RUN, "code": "another"}},
    }
    lines = status_of(tmp_path, runs)
    assert "- python 3.13.0, torch 2.13.0; A CPU, 2 cores, cpu" in lines
    assert "| chapter | minutes, Python 3.11 | minutes, Python 3.13 | peak memory, GiB |" in lines
    assert "| [One](../notebooks/one.ipynb) | 0.5 | 1.5 | 1.5 |" in lines
    assert "| [Two](../notebooks/two.ipynb) | not run | 1.5, code changed since | 1.5 |" in lines


def test_status_without_a_run_says_how_to_make_one(tmp_path: Path) -> None:
    (line,) = status_of(tmp_path, {})
    assert "`make alone`" in line


def test_stored_runs_are_of_chapters_that_exist() -> None:
    known = set(pages.chapter_paths(toc()))
    files = list((ROOT / "book/_data/notebooks").glob("python-*.json"))
    assert files
    for path in files:
        assert set(json.loads(path.read_text(encoding="utf-8"))) <= known, path.name


def test_downloads_are_listed_where_they_are(tmp_path: Path) -> None:
    assert pages.download_lines(tmp_path, "../") == []
    (tmp_path / "coursepkg-0.1.0-py3-none-any.whl").write_bytes(bytes(2_400_000))
    (tmp_path / "book.pdf.part").touch()
    lines = pages.download_lines(tmp_path, "../")
    link = '<a href="../downloads/coursepkg-0.1.0-py3-none-any.whl" download>coursepkg-0.1.0-py3-none-any.whl</a>'
    assert lines[2:] == [f"| {link} | the package, for the first cell of a chapter | 2 |"]


@pytest.mark.parametrize(
    ("index", "member", "target"),
    [
        (0, "package/dist/katex.min.js", "book/vendor/katex/katex.min.js"),
        (0, "package/dist/fonts/KaTeX_Main-Bold.woff2", "book/vendor/katex/fonts/KaTeX_Main-Bold.woff2"),
        (0, "package/dist/fonts/KaTeX_Main-Bold.ttf", None),
        (0, "package/src/katex.js", None),
        (1, "package/axe.min.js", "tests/book/axe/axe.min.js"),
        (1, "../../etc/passwd", None),
        (3, "package/dist/plugin/notes.js", "book/vendor/reveal/plugin/notes.js"),
        (3, "package/dist/plugin/highlight.js", None),
    ],
)
def test_only_wanted_files_are_vendored(index: int, member: str, target: str | None) -> None:
    found = vendor.wanted(vendor.PACKAGES[index], member)
    assert (None if found is None else str(found)) == target


def test_an_archive_with_another_hash_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def packed(command: list[str], **_: object) -> None:
        (tmp_path / "katex-0.16.22.tgz").write_bytes(b"something else")

    monkeypatch.setattr(vendor.subprocess, "run", packed)
    with pytest.raises(ValueError, match=r"katex 0\.16\.22: sha512 is"):
        vendor.download(vendor.PACKAGES[0], tmp_path)
