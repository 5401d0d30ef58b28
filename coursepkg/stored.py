"""Where measurements lie that come with the package: in a checkout under `book/_data`, else beside what reads them."""

from pathlib import Path
from typing import Any

INSTALLED = "stored_results"
"""Name of the folder in an installed copy."""
CHECKOUT = Path(__file__).parents[1] / "book" / "_data"
"""Folder of all of them in a checkout."""


def stored_results(name: str, reader: str) -> Path | None:
    """The folder of some measurements, or None where the package came without them.

    Args:
        name: of the folder below `book/_data`.
        reader: path of the module that reads them, beside which the wheel puts them.
    """
    folders = (Path(reader).parent / INSTALLED, CHECKOUT / name)
    return next((folder for folder in folders if folder.is_dir()), None)


def read_measurement(folder: Path | None, name: str) -> dict[str, Any] | None:
    """A stored measurement, or None where there is none of this name.

    Args:
        folder: where to look; None where the package came without measurements.
        name: of its file, without the ending.

    Raises:
        ValueError: the file is damaged, or does not say where it was measured.
    """
    path = folder / f"{name}.json" if folder else None
    return _read(path) if path is not None and path.is_file() else None


def read_measurements(folder: Path | None, beginning: str = "") -> dict[str, dict[str, Any]]:
    """Stored measurements by the names of their files, in order.

    Args:
        folder: where to look; None where the package came without measurements.
        beginning: of the names.

    Raises:
        ValueError: a file is damaged, or does not say where it was measured.
    """
    files = sorted(folder.glob(f"{beginning}*.json")) if folder else []
    return {path.stem: _read(path) for path in files}


def _read(path: Path) -> dict[str, Any]:
    from coursepkg.training.files import read_json  # it loads torch, and whoever asks for a folder needs none

    return read_json(path, needs={"schema": str, "machine": dict})
