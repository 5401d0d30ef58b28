"""Measurements that come with the package: numbers with their conditions, and no picture of anybody.

    book/_data/sign_language/NAME.json                   a measurement, written by `store_document`
    book/_data/sign_language/evaluations/NAME.json       what `evaluate --out` wrote into evaluation.json

In an installed copy the folder lies in this package, as `stored_results`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coursepkg.bench.machine import circumstances
from coursepkg.stored import read_measurement, read_measurements, stored_results
from coursepkg.training.files import write_json

EVALUATIONS = "evaluations"


def stored_folder() -> Path | None:
    """Where the stored measurements are, or None where the package came without them."""
    return stored_results("sign_language", __file__)


def store_document(path: str | Path, schema: str, content: Mapping[str, Any]) -> None:
    """Write a measurement together with machine, versions and commit.

    Args:
        path: of the JSON file; its folder is made where it is missing.
        schema: what it is, for those who read it.
        content: what was measured, as JSON can hold it.

    Raises:
        OSError: it cannot be written.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, {"schema": schema, **content, **circumstances()})


def stored_document(name: str, folder: Path | None = None) -> dict[str, Any] | None:
    """A stored measurement, or None where there is none of this name.

    Args:
        name: of its file, without the ending; `evaluations/NAME` for an evaluation.
        folder: where to look, if not in `stored_folder()`.

    Raises:
        ValueError: the file is damaged, or does not say where it was measured.
    """
    return read_measurement(folder or stored_folder(), name)


def stored_evaluations(beginning: str = "", folder: Path | None = None) -> dict[str, dict[str, Any]]:
    """Stored evaluations by the names of their files, in order.

    Args:
        beginning: of the names.
        folder: where to look, if not in `stored_folder()`.

    Raises:
        ValueError: a file is damaged, or does not say where it was measured.
    """
    folder = folder or stored_folder()
    return read_measurements(folder / EVALUATIONS if folder else None, beginning)
