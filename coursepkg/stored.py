"""Where measurements lie that come with the package: in a checkout under `book/_data`, else beside what reads them."""

from pathlib import Path

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
