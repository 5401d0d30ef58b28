"""Packs the built book into one zip that opens from a folder, without a server or a network (`make offline`).

python scripts/zip_book.py [--html _build/html] [--out FILE]

The files to download are left out, and so is the table that links to them; the models, too, because a page
that is opened from a folder cannot load them.
"""

import argparse
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from bs4 import BeautifulSoup
from setup_cell import ROOT

FOLDER = "from-attention-to-applications"
"""What unpacking makes; its index.html is the page to open."""
LEFT_OUT = ("downloads", "reports", "_static/models")
"""Folders of the site, in every language, that are no part of the pages."""


def without_downloads(text: str) -> str:
    """A page without the table of files that are not in the zip."""
    if 'class="downloads' not in text:
        return text
    page = BeautifulSoup(text, "html.parser")
    for table in page.select("div.downloads"):
        table.decompose()
    return str(page)


def is_left_out(name: str) -> bool:
    """Whether a file lies in one of these folders.

    Args:
        name: its path below the site.
    """
    return any(f"/{folder}/" in f"/{name}" for folder in LEFT_OUT)


def zip_book(folder: Path, out: Path) -> int:
    """Writes the zip; returns the number of files in it.

    Raises:
        ValueError: for a folder without a built book.
    """
    if not (folder / "index.html").is_file():
        raise ValueError(f"{folder}: no index.html; run `make book` first")
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    kept = [
        path for path in paths if not is_left_out(path.relative_to(folder).as_posix())
    ]
    out.parent.mkdir(parents=True, exist_ok=True)
    part = out.with_suffix(".part")
    with ZipFile(part, "w", ZIP_DEFLATED) as archive:
        for path in kept:
            name = f"{FOLDER}/{path.relative_to(folder).as_posix()}"
            if path.suffix == ".html":
                archive.writestr(name, without_downloads(path.read_text("utf-8")))
            else:
                archive.write(path, name)
    part.replace(out)
    return len(kept)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--html", type=Path, default=ROOT / "_build/html", help="the built book"
    )
    parser.add_argument(
        "--out", type=Path, default=ROOT / f"_build/downloads/{FOLDER}.zip"
    )
    options = parser.parse_args()
    try:
        count = zip_book(options.html, options.out)
    except ValueError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{options.out}: {count} files, {options.out.stat().st_size / 1e6:.1f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
