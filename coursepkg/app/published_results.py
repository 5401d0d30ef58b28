"""Measurements that come with the package: numbers with their conditions.

    book/_data/PROJECT/NAME.json          a measurement
    book/_data/PROJECT/KIND/NAME.json     measurements of one kind, as evaluations

In an installed copy the folder lies in the package of the project, as
`stored_results`. No real text, picture or voice of anybody is among them.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coursepkg.files import read_json, write_json

INSTALLED = "stored_results"
"""Name of the folder in an installed copy."""
PACKAGE = Path(__file__).parents[1]
CHECKOUT = PACKAGE.parent / "book" / "_data"
"""Folder of all of them in a checkout."""


@dataclass(frozen=True)
class PublishedResults:
    """The stored measurements of a project."""

    name: str
    """Of the folder below `book/_data`."""
    package: str
    """Folder below `coursepkg` beside whose modules the wheel puts them."""

    def folder(self) -> Path | None:
        """Where they are, or None where the package came without them."""
        folders = (PACKAGE / self.package / INSTALLED, CHECKOUT / self.name)
        return next((folder for folder in folders if folder.is_dir()), None)

    def document(self, name: str, folder: Path | None = None) -> dict[str, Any] | None:
        """A measurement, or None where there is none of this name.

        Args:
            name: of its file, without the ending; `KIND/NAME` for one of a kind.
            folder: where to look, if not in `folder()`.

        Raises:
            ValueError: the file is damaged, or does not say where it was measured.
        """
        folder = folder or self.folder()
        path = folder / f"{name}.json" if folder else None
        return _read(path) if path is not None and path.is_file() else None

    def documents(
        self, kind: str = "", beginning: str = "", folder: Path | None = None
    ) -> dict[str, dict[str, Any]]:
        """The measurements of a kind by the names of their files, in order.

        Args:
            kind: name of the folder, such as `evaluations`; empty for those in none.
            beginning: of the names.
            folder: where to look, if not in `folder()`.

        Raises:
            ValueError: a file is damaged, or does not say where it was measured.
        """
        folder = folder or self.folder()
        files = sorted((folder / kind).glob(f"{beginning}*.json")) if folder else []
        return {path.stem: _read(path) for path in files}

    def place_of_new_rows(self, kind: str = "") -> Path | None:
        """The folder for new measurements: that of a checkout, None elsewhere."""
        return CHECKOUT / self.name / kind if CHECKOUT.is_dir() else None


def write_measurement(path: str | Path, content: Mapping[str, Any]) -> None:
    """Write a measurement; its folder is made where it is missing.

    Args:
        path: of the JSON file.
        content: `schema`, what was measured, and `bench.machine.circumstances()`.

    Raises:
        OSError: it cannot be written.
    """
    path = Path(path)
    write_json(path, content)


def _read(path: Path) -> dict[str, Any]:
    return read_json(path, needs={"schema": str, "machine": dict})
