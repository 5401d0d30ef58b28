"""A page of the worst answers: one HTML file that needs nothing else.

Pictures are inside it, it runs no script, and it follows the reader's light or dark
setting. It shows data of a test part: keep it as private as these.
"""

from collections.abc import Iterable
from html import escape
from pathlib import Path

from coursepkg.files import whole_file
from coursepkg.viz.image import page_head

STYLE = """
:root { color-scheme: light dark; --back: #fff; --text: #1b1b1f; --soft: #5a5d66;
  --line: #d5d8de; --panel: #f5f6f8; --bar: #2f6fb2; --most: #c2500a; }
@media (prefers-color-scheme: dark) { :root { --back: #17181b; --text: #e9eaee;
  --soft: #a6abb6; --line: #3b3e46; --panel: #202227; --bar: #7db4ee;
  --most: #f0a060; } }
body { background: var(--back); color: var(--text);
  font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; padding: 1rem;
  overflow-wrap: anywhere; }
p { margin: .2rem 0; }
small { color: var(--soft); }
"""
"""What all pages share: colours as variables, light and dark, and plain text."""


def write_gallery(
    path: str | Path,
    *,
    title: str,
    opening: str,
    entries: Iterable[str],
    closing: str,
    style: str = "",
) -> None:
    """Write a page, entry by entry; it appears whole or not at all.

    Args:
        path: of the HTML file.
        title: heading of the page, in plain text.
        opening: HTML between the heading and the entries.
        entries: HTML of each; they are asked for one after another.
        closing: HTML behind the entries.
        style: CSS of the entries, beside `STYLE`.

    Raises:
        OSError: the file cannot be written.
    """
    with whole_file(path) as file:
        file.write(page_head(title, STYLE + style).encode())
        file.write(f"<h1>{escape(title)}</h1>\n{opening}\n".encode())
        for entry in entries:
            file.write(entry.encode())
        file.write(f"{closing}\n</body>\n</html>\n".encode())
