"""Writes the repository's address into everything that names it (`make links`).

The address lives in one place, `[project.urls] Repository` of pyproject.toml. From there it goes into the setup cell of
every notebook, the launch links under every title, the README, CITATION.cff and the buttons of the book. While it is
empty, the links are absent. Running this again changes nothing.
"""

import re
import sys
from pathlib import Path

import nbformat
from nbformat import NotebookNode
from notebook_normal import cell_id
from notebook_rules import assignment_paths, notebook_paths
from setup_cell import ROOT, first_cell, place_first_cell, repository_url

BRANCH = "main"
COLAB, BINDER = "https://colab.research.google.com", "https://mybinder.org"
BLOCK = re.compile(r"<!-- links -->.*?<!-- /links -->\n*", re.DOTALL)


def launch_links(url: str, path: str) -> str:
    """Links that open a notebook, or with an empty path the repository, on Colab and on Binder."""
    place = url.removeprefix("https://github.com/")
    file = f"/blob/{BRANCH}/{path}" if path else ""
    start = f"?urlpath=lab/tree/{path}" if path else ""
    return f"[Open in Colab]({COLAB}/github/{place}{file}) · [Open in Binder]({BINDER}/v2/gh/{place}/{BRANCH}{start})"


def pages_address(url: str) -> str:
    """Where .github/workflows/book.yml publishes the book of a repository."""
    owner, name = url.removeprefix("https://github.com/").split("/")
    return f"https://{owner.lower()}.github.io/{name}/"


def under_title(text: str, links: str) -> str:
    """The text with the links below its first line, in place of those that it has; with empty links without any."""
    if not links and not BLOCK.search(text):
        return text
    title, _, rest = BLOCK.sub("", text).partition("\n")
    rest = rest.lstrip("\n")
    block = f"<!-- links -->\n\n{links}\n\n<!-- /links -->\n\n" if links else ""
    return f"{title}\n\n{block}{rest}"


def write_notebook_links(notebook: NotebookNode, path: str, url: str) -> None:
    """Puts the setup cell and the launch links of this address into a notebook; other cells stay as they are.

    The source of an assignment has no links: it holds the solutions.
    """
    before = [cell.source for cell in notebook.cells]
    place_first_cell(notebook, first_cell(url))
    title = notebook.cells[0]
    if title.cell_type == "markdown":
        is_linked = url and not path.startswith("notebooks/exercises/")
        links = launch_links(url, path) if is_linked else ""
        title.source = under_title(title.source, links)
    for index, cell in enumerate(notebook.cells):
        if cell.source not in before:
            cell.id = cell_id(index, cell.source)


def config_with(text: str, url: str) -> str:
    """The book's configuration with its buttons pointing at the address."""
    values = {
        "url": url,
        "binderhub_url": BINDER if url else "",
        "colab_url": COLAB if url else "",
        "html_baseurl": pages_address(url) if url else "",
    }
    for key, value in values.items():
        text, found = re.subn(
            rf'^( +{key}: )".*"$', rf'\g<1>"{value}"', text, flags=re.MULTILINE
        )
        if found != 1:
            raise ValueError(f"_config.yml: {found} lines '{key}: \"...\"'; need one")
    shown = str(bool(url)).lower()
    return re.sub(
        r"^(  use_(?:repository|issues|edit_page)_button: )\w+$",
        rf"\g<1>{shown}",
        text,
        flags=re.MULTILINE,
    )


def citation_with(text: str, url: str) -> str:
    """The citation file with the address, or without the line while there is none."""
    text = re.sub(r"^repository-code:.*\n", "", text, flags=re.MULTILINE)
    return f'{text.rstrip()}\nrepository-code: "{url}"\n' if url else text


def write_links(root: Path, url: str) -> list[Path]:
    """Writes the address into every file below a root; returns the files that changed.

    Raises:
        ValueError: for an address that Colab and Binder cannot open.
    """
    if url and not re.fullmatch(r"https://github\.com/[\w.-]+/[\w.-]+", url):
        raise ValueError(
            f"Repository in pyproject.toml: {url!r}; need https://github.com/OWNER/NAME"
        )
    changed = []
    for path in [*notebook_paths(root), *assignment_paths(root)]:
        notebook = nbformat.read(path, as_version=4)
        write_notebook_links(notebook, path.relative_to(root).as_posix(), url)
        changed += _write(path, nbformat.writes(notebook) + "\n")
    texts = {
        "README.md": lambda text: under_title(
            text, launch_links(url, "") if url else ""
        ),
        "_config.yml": lambda text: config_with(text, url),
        "CITATION.cff": lambda text: citation_with(text, url),
    }
    for name, edit in texts.items():
        changed += _write(root / name, edit((root / name).read_text(encoding="utf-8")))
    return changed


def _write(path: Path, text: str) -> list[Path]:
    if path.read_text(encoding="utf-8") == text:
        return []
    path.write_text(text, encoding="utf-8")
    return [path]


def main() -> int:
    try:
        changed = write_links(ROOT, repository_url())
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    for path in changed:
        print(f"wrote {path.relative_to(ROOT)}")
    print(f"{len(changed)} files changed; address: {repository_url() or 'none yet'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
