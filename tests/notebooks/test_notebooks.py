"""The rules that every chapter's notebook keeps, and that each rule can fail."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output
from notebook_rules import (
    LARGEST,
    MOST_WORDS,
    MOST_WORDS_OF_ALL,
    broken_links,
    n_words,
    notebook_paths,
    problems,
)
from setup_cell import ROOT, first_cell

SECTIONS = {
    "formula": ("formula", "$$"),
    "cost": ("cost",),
    "limits": ("limits",),
    "real models": ("real models", "real systems", "in use"),
    "mistakes": ("common mistakes", "source reports got wrong"),
    "exercises": ("exercise",),
    "further reading": ("further reading",),
}


def test_the_table_of_contents_names_every_notebook() -> None:
    toc = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    listed = [chapter["file"] for part in toc["parts"] for chapter in part["chapters"]]
    found = [path.relative_to(ROOT).with_suffix("").as_posix() for path in notebook_paths()]
    assert sorted(file for file in listed if file.startswith("notebooks/")) == found


def test_rules(notebook_path: Path) -> None:
    assert problems(nbformat.read(notebook_path, as_version=4)) == []


def test_valid_and_small(notebook_path: Path) -> None:
    nbformat.validate(nbformat.read(notebook_path, as_version=nbformat.NO_CONVERT))
    assert notebook_path.stat().st_size < LARGEST


def test_links_lead_somewhere(notebook_path: Path) -> None:
    assert broken_links(nbformat.read(notebook_path, as_version=4), notebook_path) == []


def test_chapter_has_its_sections(notebook_path: Path) -> None:
    notebook = nbformat.read(notebook_path, as_version=4)
    text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown").lower()
    missing = [name for name, signs in SECTIONS.items() if not any(sign in text for sign in signs)]
    assert missing == []


def test_the_prose_is_short() -> None:
    words = {path.stem: n_words(nbformat.read(path, as_version=4)) for path in notebook_paths()}
    assert {name: own for name, (own, _) in words.items() if own > MOST_WORDS} == {}
    assert sum(total for _, total in words.values()) <= MOST_WORDS_OF_ALL


def test_words_are_counted_without_code_formulas_and_addresses() -> None:
    text = (
        "One *word*, [a link](far/away.ipynb) and $x + y$.\n\n```python\nno = 1\n```\n\n## Self-check\n\nWhy?"
    )
    assert n_words(new_notebook(cells=[new_markdown_cell(text), code("print(1)")])) == (5, 7)


def test_package_code_is_shown(notebook_path: Path) -> None:
    notebook = nbformat.read(notebook_path, as_version=4)
    assert any("show_source(" in cell.source for cell in notebook.cells if cell.cell_type == "code")


OPENING = "# Title\n\nObjectives. Prerequisites. 20 minutes."


def code(source: str = "1 + 1", outputs: list[Any] | None = None, count: int | None = 2) -> Any:
    return new_code_cell(source, outputs=outputs or [], execution_count=count)


def notebook_of(*cells: Any) -> Any:
    return new_notebook(cells=[new_markdown_cell(OPENING), code(first_cell(), count=1), *cells])


def test_a_plain_notebook_has_no_problems() -> None:
    text = "## Part\n\nMath $\\{a\\}$, `code {x}`, and\n\n```python\n# a comment in code\n```\n"
    assert problems(notebook_of(new_markdown_cell(text), code())) == []


def image(**data: str) -> Any:
    return new_output("display_data", data={key.replace("_", "/", 1): value for key, value in data.items()})


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        (new_markdown_cell("```{note}\nText\n```"), "MyST directive"),
        (new_markdown_cell(":::{note}\nText\n:::"), "MyST directive"),
        (new_markdown_cell("See {ref}`here`."), "MyST role"),
        (new_markdown_cell("(place)=\n## Part"), "MyST target"),
        (new_markdown_cell("Text\n\n% hidden"), "MyST comment"),
        (new_markdown_cell("Look in /tmp/results."), "path of one machine"),
        (new_markdown_cell("# Second title"), "2 cells have a '# ' heading"),
        (new_markdown_cell("<details><summary>Hint</summary>\n\nText"), "1 <details> but 0"),
        (
            new_markdown_cell("<details><summary>Hint</summary>\nText\n\n</details>"),
            "no blank line after </summary>",
        ),
        (new_markdown_cell("![](picture.png)"), "without alt text"),
        (code(count=None), "not executed"),
        (code("import os\n" * 13), "13 lines of imports; need at most 12"),
        (code("import os\n" * 4), "imports that no tag folds"),
        (code("x = " + "1 + " * 25 + "1"), "a line of more than 88 columns"),
        (code("assert 4 < seconds[-1] / seconds[-2] < 16"), "asserts what a clock says"),
        (code(outputs=[new_output("stream", name="stderr", text="careful")]), "writes to stderr: 'careful'"),
        (code(outputs=[new_output("stream", text="saved in /home/me/x")]), "path of one machine"),
        (code(outputs=[new_output("error", ename="KeyError", evalue="'a'")]), "raised KeyError"),
        (code(outputs=[image(image_png="AAAA")]), "image/png without alt text"),
        (
            code(outputs=[image(text_html='<img src="data:image/png;base64,AAAA">')]),
            "picture without alt text",
        ),
        (code(outputs=[image(text_html='<img alt="" src="x">')]), "picture without alt text"),
        (code(outputs=[image(text_plain="<Figure size 640x480 with 1 Axes>")]), "shows the object itself"),
        (code(outputs=[image(text_plain="<generator object f at 0x7f0a>")]), "shows the object itself"),
    ],
)
def test_each_rule_can_fail(cell: Any, message: str) -> None:
    assert message in "\n".join(problems(notebook_of(cell)))


@pytest.mark.parametrize("word", ["Objectives", "Prerequisites", "minutes"])
def test_the_opening_is_complete(word: str) -> None:
    notebook = notebook_of()
    notebook.cells[0].source = OPENING.replace(word, "")
    assert problems(notebook) == [f"the opening does not state {word.lower()!r}"]


def test_setup_cell_is_the_template() -> None:
    notebook = notebook_of()
    notebook.cells[1].source += "\n# edited"
    assert problems(notebook) == ["the first code cell is not scripts/first_cell.py (run `make links`)"]


def test_a_link_to_no_file(tmp_path: Path) -> None:
    (tmp_path / "there.ipynb").touch()
    text = "[a](there.ipynb#part), [b](https://example.org), [c](#part), [d](gone.ipynb)"
    found = broken_links(new_notebook(cells=[new_markdown_cell(text)]), tmp_path / "here.ipynb")
    assert found == ["cell 0: link to 'gone.ipynb' leads to no file"]


def test_a_link_to_a_file_of_this_machine(tmp_path: Path) -> None:
    (tmp_path / "there.ipynb").touch()
    text = f"[a]({tmp_path}/there.ipynb), [b](file://{tmp_path}/there.ipynb)"
    found = broken_links(new_notebook(cells=[new_markdown_cell(text)]), tmp_path / "here.ipynb")
    assert [one.endswith("a file of one machine") for one in found] == [True, True]
