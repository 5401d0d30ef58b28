"""The directives that write reference pages out of the repository, and the script that vendors assets."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.book.sources import ROOT, toc


def load(path: str) -> ModuleType:
    name = Path(path).stem
    spec = importlib.util.spec_from_file_location(name, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


pages = load("book/_ext/course_pages.py")
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
        " | [1. Share](../notebooks/attention/mqa.ipynb#exercise-1-share) | easy | 5 |",
        "|  | [2. Size](../notebooks/attention/mqa.ipynb#exercise-2-size) |  |  |",
    ]


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


def test_stored_results_can_be_shown() -> None:
    for path in (ROOT / "book" / "_data" / "bench").glob("*.json"):
        result = json.loads(path.read_text(encoding="utf-8"))
        assert len(pages.bench_lines(result)) == 4 + len(result["rows"]), path.name


@pytest.mark.parametrize(
    ("index", "member", "target"),
    [
        (0, "package/es5/tex-chtml.js", "mathjax/tex-chtml.js"),
        (0, "package/es5/tex-svg.js", None),
        (1, "package/require.js", "widgets/require.js"),
        (2, "package/dist/embed-amd.js", "widgets/embed-amd.js"),
        (2, "package/src/embed-amd.js", None),
        (2, "../../etc/passwd", None),
    ],
)
def test_only_wanted_files_are_vendored(index: int, member: str, target: str | None) -> None:
    found = vendor.wanted(vendor.PACKAGES[index], member)
    assert (None if found is None else str(found)) == target


def test_an_archive_with_another_hash_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def packed(command: list[str], **_: object) -> None:
        (tmp_path / "requirejs-2.3.8.tgz").write_bytes(b"something else")

    monkeypatch.setattr(vendor.subprocess, "run", packed)
    with pytest.raises(ValueError, match=r"requirejs 2\.3\.8: sha512 is"):
        vendor.download(vendor.PACKAGES[1], tmp_path)
