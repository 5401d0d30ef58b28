"""Bring the message catalogues of book/locale up to date with the English pages, and count what is translated.

    make catalogues                    after the text of a translated page has changed
    make catalogues PAGE=book/notation begins the catalogue of one more page

A message whose English has changed loses its translation: the page shows it in English until it is translated again.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import normalize, read_po

ROOT = Path(__file__).resolve().parents[1]
LOCALE = ROOT / "book" / "locale"
TEMPLATES = ROOT / "_build" / "gettext" / "_build" / "gettext"
INTERFACE = "sphinx"
"""The catalogue with the words of the interface; it belongs to no page."""
HEADER = """msgid ""
msgstr ""
"Language: {language}\\n"
"MIME-Version: 1.0\\n"
"Content-Type: text/plain; charset=utf-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"
"""


def load(path: Path) -> Catalog:
    """The messages of one file."""
    with path.open("rb") as file:
        return read_po(file)


def pages(language: str) -> list[str]:
    """The pages that have a catalogue."""
    folder = LOCALE / language / "LC_MESSAGES"
    found = (
        path.relative_to(folder).with_suffix("").as_posix()
        for path in folder.rglob("*.po")
    )
    return sorted(page for page in found if page != INTERFACE)


def catalogue(language: str, page: str) -> Path:
    """The file of one page's messages."""
    return LOCALE / language / "LC_MESSAGES" / f"{page}.po"


def translations(language: str, page: str) -> dict[str, str]:
    """The messages of a page with their translations, empty where there is none."""
    path = catalogue(language, page)
    return {
        str(message.id): str(message.string) for message in load(path) if message.id
    }


def written(language: str, messages: dict[str, str]) -> str:
    """The text of a catalogue."""
    entries = [
        f"msgid {normalize(message)}\nmsgstr {normalize(translation)}\n"
        for message, translation in messages.items()
    ]
    return "\n".join([HEADER.format(language=language), *entries])


def update(language: str, page: str) -> None:
    """Give a catalogue the messages that its page has now, with the translations that it has already."""
    template = TEMPLATES / f"{page}.pot"
    if not template.is_file():
        raise SystemExit(
            f"error: the book has no page {page}; pages are named as in _toc.yml"
        )
    path = catalogue(language, page)
    known = translations(language, page) if path.is_file() else {}
    messages = {
        str(message.id): known.get(str(message.id), "")
        for message in load(template)
        if message.id
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(written(language, messages), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "pages", nargs="*", help="pages that get a catalogue now, named as in _toc.yml"
    )
    chosen = parser.parse_args()
    builder = [
        "--builder",
        "custom",
        "--custom-builder",
        "gettext",
        "--path-output",
        "_build/gettext",
    ]
    command = [
        Path(sys.prefix, "bin", "jupyter-book"),
        "build",
        ".",
        "--quiet",
        *builder,
    ]
    subprocess.run(command, cwd=ROOT, check=True)
    for language in sorted(path.name for path in LOCALE.iterdir()):
        for page in sorted({*pages(language), *chosen.pages}):
            update(language, page)
            found = translations(language, page)
            print(
                f"{language} {page}: {sum(map(bool, found.values()))} of {len(found)} messages translated"
            )


if __name__ == "__main__":
    main()
