"""Directives that keep the reference pages of the book true to the repository.

- `letters`: the legend of dimension letters, from `coursepkg.shapes`
- `exercise-index`: every exercise of every chapter, from the notebooks
- `bench-results`: the stored results of `coursepkg bench`, from book/_data/bench
- `notebook-status`: time, peak memory and versions of each notebook, from book/_data/notebooks
- `downloads`: the wheel, the PDF and the zip of the book, where `make downloads` has made them

Each writes Markdown out of what the repository holds when the book is built, so no page can fall behind.
"""

import json
import re
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
import yaml
from charts import ratio_chart
from docutils import nodes
from docutils.statemachine import StringList
from myst_parser.mdit_to_docutils.base import default_slugify
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from coursepkg.shapes import LEGEND

sys.path.append(str(Path(__file__).resolve().parents[2] / "scripts"))

from exercises import objectives_of
from notebook_normal import code_hash

EXERCISE = re.compile(r"^###\s+(Exercise\s+(\d+):\s*(.+?))\s*$", re.MULTILINE)
FORMULA = re.compile(r"\$[^$]+\$")
DIFFICULTY = re.compile(r"difficulty\W+(\w+)", re.IGNORECASE)
MINUTES = re.compile(r"(\d+)\s*min", re.IGNORECASE)
KIND = re.compile(r"^Kind: ([^.\n]+)\.", re.MULTILINE)


@dataclass(frozen=True)
class Exercise:
    """One exercise heading of a chapter."""

    chapter: str
    """Path of the notebook below the root, without its suffix."""
    number: int
    name: str
    anchor: str
    difficulty: str
    minutes: str
    kind: str
    objectives: tuple[int, ...]
    """Which of the chapter's objectives it trains, counted from 1; none where its text names none."""


def load_toc(root: Path) -> dict[str, Any]:
    """The table of contents."""
    return yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8"))


def chapter_paths(toc: Mapping[str, Any]) -> list[str]:
    """The notebooks of a table of contents, in reading order."""
    files = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    return [file for file in files if file.startswith("notebooks/")]


def read_notebook(path: Path) -> list[str]:
    """The Markdown cells of a notebook."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [
        "".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"
    ]


def title_of(cells: Iterable[str]) -> str:
    """The first top heading of a notebook."""
    for cell in cells:
        found = re.search(r"^#\s+(.+)$", cell, re.MULTILINE)
        if found:
            return found.group(1).strip()
    raise ValueError("the notebook has no title: no Markdown cell starts with '# '")


def anchor_of(heading: str) -> str:
    """The anchor that MyST gives a heading: formulas are no part of it."""
    return default_slugify(FORMULA.sub("", heading))


def exercises_of(chapter: str, cells: Iterable[str]) -> Iterator[Exercise]:
    """The exercises of one chapter, with what their text says of difficulty and time."""
    for cell in cells:
        for heading in EXERCISE.finditer(cell):
            following = EXERCISE.search(cell, heading.end())
            text = cell[heading.end() : following.start() if following else None]
            difficulty, minutes = DIFFICULTY.search(text), MINUTES.search(text)
            kind = KIND.search(text)
            yield Exercise(
                chapter=chapter,
                number=int(heading.group(2)),
                name=heading.group(3),
                anchor=anchor_of(heading.group(1)),
                difficulty=difficulty.group(1).lower() if difficulty else "",
                minutes=minutes.group(1) if minutes else "",
                kind=kind.group(1) if kind else "",
                objectives=objectives_of(text),
            )


def table(header: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    """A Markdown table."""
    head = list(header)
    lines = [head, ["---"] * len(head), *(list(row) for row in rows)]
    return [
        "| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |"
        for line in lines
    ]


def exercise_lines(root: Path, up: str) -> list[str]:
    """The exercise index as Markdown; `up` leads from the page to the root."""
    rows = []
    for chapter in chapter_paths(load_toc(root)):
        cells = read_notebook(root / f"{chapter}.ipynb")
        link = f"{up}{chapter}.ipynb"
        for item in exercises_of(chapter, cells):
            name = f"[{item.number}. {item.name}]({link}#{item.anchor})"
            chapter_link = f"[{title_of(cells)}]({link})" if item.number == 1 else ""
            rows.append([chapter_link, name, item.kind, item.difficulty, item.minutes])
    return table(["chapter", "exercise", "kind", "difficulty", "minutes"], rows)


def number(value: float | None) -> str:
    """A figure with three significant digits; nothing where nothing was measured."""
    return (
        ""
        if value is None
        else f"{value:.3g}"
        if abs(value) < 1000
        else f"{value:,.0f}"
    )


NO_GPU = (
    "No GPU was at hand for this edition. The Triton kernels are checked for their results in float32 and float16 "
    "under Triton's interpreter and compiled for Hopper GPUs; their speed, and bfloat16, have not been measured. "
    "`make bench DEVICE=cuda` measures and stores them on a machine with one."
)
"""Stands above the results while none comes from a GPU."""


def bench_row(row: Mapping[str, Any]) -> list[str]:
    """The cells of one row of a stored result."""
    spread = (
        "" if row["low"] is None else f"{number(row['low'])} to {number(row['high'])}"
    )
    limit = "at most" if row["at_most"] else "at least"
    verdict = {True: "met", False: "missed", None: "not measured"}[row["met"]]
    target = "" if row["target"] is None else f"{limit} {row['target']:g}: {verdict}"
    figures = [
        number(row["ratio"]),
        spread,
        number(row["candidate_ms"]),
        number(row["percent_of_peak"]),
    ]
    return [
        row["case"],
        row["candidate"],
        row["baseline"],
        *figures,
        target,
        row["note"],
    ]


def bench_lines(result: Mapping[str, Any]) -> list[str]:
    """One stored result as Markdown: where and with what it was measured, then its rows."""
    machine, versions = result["machine"], result["versions"]
    place = f"{machine['name']} ({machine['device']}), {machine['threads']} thread(s)"
    software = ", ".join(f"{name} {version}" for name, version in versions.items())
    header = [
        "case",
        "candidate",
        "against",
        "ratio",
        "range",
        "ms",
        "% of peak",
        "target",
        "note",
    ]
    rows = [bench_row(row) for row in result["rows"]]
    used = [column for column in range(len(header)) if any(row[column] for row in rows)]
    lines = [
        f"Measured on {place}, with {software}, at commit `{result['commit']}`.",
        "",
    ]
    return lines + table(
        [header[i] for i in used], ([row[i] for i in used] for row in rows)
    )


def run_cells(row: Mapping[str, Any] | None, code: str) -> str:
    """The minutes of one run of a notebook, or why there are none."""
    if row is None:
        return "not run"
    changed = "" if row["code"] == code else ", code changed since"
    return f"{row['seconds'] / 60:.1f}{changed}"


def status_lines(root: Path, up: str) -> list[str]:
    """Time, peak memory and versions of each notebook, as `make alone` stored them."""
    files = sorted((root / "book/_data/notebooks").glob("python-*.json"))
    if not files:
        return ["No run is stored yet. `make alone` runs every notebook and stores it."]
    runs = {
        file.stem.removeprefix("python-"): json.loads(file.read_text("utf-8"))
        for file in files
    }
    lines, rows = [], []
    for found in runs.values():
        kinds = {
            (*sorted(row["versions"].items()), row["machine"]) for row in found.values()
        }
        for *versions, machine in sorted(kinds):
            software = ", ".join(f"{name} {version}" for name, version in versions)
            lines += [f"- {software}; {machine}"]
    for chapter in chapter_paths(load_toc(root)):
        path = root / f"{chapter}.ipynb"
        code = code_hash(nbformat.read(path, as_version=4))
        own = [found.get(chapter) for found in runs.values()]
        peak = max((row["peak_memory"] for row in own if row), default=None)
        link = f"[{title_of(read_notebook(path))}]({up}{chapter}.ipynb)"
        memory = f"{peak / 2**30:.1f}" if peak else ""
        rows.append([link, *(run_cells(row, code) for row in own), memory])
    minutes = [f"minutes, Python {version}" for version in runs]
    return [*lines, "", *table(["chapter", *minutes, "peak memory, GiB"], rows)]


DOWNLOADS = {
    "*.pdf": "the whole book, to print or to read",
    "*.zip": "these pages, to unpack and to open without a network",
    "*.whl": "the package, for the first cell of a chapter",
}
"""What `make downloads` leaves in _build/downloads, and what it is good for."""


def download_lines(folder: Path, up: str) -> list[str]:
    """The files to carry away, each with its size; `up` leads from the page to the root."""
    rows = [
        [
            f'<a href="{up}downloads/{path.name}" download>{path.name}</a>',
            meaning,
            f"{path.stat().st_size / 1e6:.0f}",
        ]
        for pattern, meaning in DOWNLOADS.items()
        for path in sorted(folder.glob(pattern))
    ]
    return table(["file", "what it is", "MB"], rows) if rows else []


def letter_lines(legend: Mapping[str, str]) -> list[str]:
    """The legend of dimension letters as Markdown."""
    return table(
        ["letter", "dimension"],
        ([f"${letter}$", meaning] for letter, meaning in legend.items()),
    )


def parsed(directive: SphinxDirective, lines: list[str]) -> list[nodes.Node]:
    """Nodes of Markdown that stands in the place of a directive."""
    holder = nodes.Element()
    content = StringList(lines, directive.env.docname)
    directive.state.nested_parse(content, directive.content_offset, holder)
    return holder.children


class Letters(SphinxDirective):
    """The legend of `coursepkg.shapes`."""

    def run(self) -> list[nodes.Node]:
        """The table."""
        return parsed(self, letter_lines(LEGEND))


class ExerciseIndex(SphinxDirective):
    """All exercises, chapter by chapter."""

    def run(self) -> list[nodes.Node]:
        """The table; the page is written anew when a chapter changes."""
        root = Path(self.env.srcdir)
        self.env.note_dependency("_toc.yml")
        for chapter in chapter_paths(load_toc(root)):
            self.env.note_dependency(f"{chapter}.ipynb")
        return parsed(self, exercise_lines(root, "../" * self.env.docname.count("/")))


class BenchResults(SphinxDirective):
    """One section for every result file, or a sentence saying that there is none."""

    def run(self) -> list[nodes.Node]:
        """A section for each file."""
        files = sorted((Path(self.env.srcdir) / "book/_data/bench").glob("*.json"))
        if not files:
            return parsed(
                self,
                [
                    "No result is stored yet. `coursepkg bench` measures on your own machine."
                ],
            )
        sections: list[nodes.Node] = [self.section(path) for path in files]
        if any(path.stem.endswith("-cuda") for path in files):
            return sections
        return [*parsed(self, [NO_GPU]), *sections]

    def section(self, path: Path) -> nodes.section:
        """One stored result."""
        self.env.note_dependency(str(path))
        result = json.loads(path.read_text(encoding="utf-8"))
        section = nodes.section(ids=[nodes.make_id(path.stem)], names=[path.stem])
        section += nodes.title(text=f"{result['suite']}: {result['machine']['name']}")
        where, *lines = bench_lines(result)
        section += parsed(self, [where])
        if chart := ratio_chart(result["rows"]):
            section += nodes.raw("", chart, format="html")
        section += parsed(self, lines)
        return section


class NotebookStatus(SphinxDirective):
    """What a run of each notebook takes."""

    def run(self) -> list[nodes.Node]:
        """The table; the page is written anew when a chapter or a stored run changes."""
        root = Path(self.env.srcdir)
        self.env.note_dependency("_toc.yml")
        for path in (root / "book/_data/notebooks").glob("*.json"):
            self.env.note_dependency(str(path))
        for chapter in chapter_paths(load_toc(root)):
            self.env.note_dependency(f"{chapter}.ipynb")
        return parsed(self, status_lines(root, "../" * self.env.docname.count("/")))


class Downloads(SphinxDirective):
    """The files to carry away, or nothing where none was made."""

    def run(self) -> list[nodes.Node]:
        """The table; the page is read anew in every build, for files come and go."""
        self.env.note_reread()
        # The files lie beside the English pages; those of another language are one folder deeper.
        depth = self.env.docname.count("/") + (self.config.language != "en")
        up = "../" * depth
        lines = download_lines(Path(self.env.srcdir) / "_build/downloads", up)
        return [nodes.container("", *parsed(self, lines), classes=["downloads"])]


def copy_downloads(app: Sphinx, error: Exception | None) -> None:
    """Put the files to carry away beside the pages, and take away those of an earlier build."""
    if error is not None or app.builder.name != "html" or app.config.language != "en":
        return
    source, target = (
        Path(app.srcdir) / "_build/downloads",
        Path(app.outdir) / "downloads",
    )
    shutil.rmtree(target, ignore_errors=True)
    for pattern in DOWNLOADS:
        for path in source.glob(pattern):
            target.mkdir(exist_ok=True)
            shutil.copy(path, target)


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("letters", Letters)
    app.add_directive("exercise-index", ExerciseIndex)
    app.add_directive("bench-results", BenchResults)
    app.add_directive("notebook-status", NotebookStatus)
    app.add_directive("downloads", Downloads)
    app.connect("build-finished", copy_downloads)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
