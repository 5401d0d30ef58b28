"""Stored rows of an ablation ladder: one JSON file a row and seed, in a folder for all of the same conditions.

    RESULTS/CONDITIONS/ROW.seedN.json

Rows are held against one another under the same conditions and with the same settings only, so both can be asked for
here; which settings there are, and what a row tells, is the matter of each project.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from coursepkg.training.files import read_json


def stored_rows(results: str | Path, order: Sequence[str], needs: Mapping[str, type]) -> list[dict[str, Any]]:
    """All stored rows under a folder: by conditions, then in an order of names, then by seed.

    Args:
        results: the folder that holds a folder for each kind of conditions.
        order: names of rows; others come behind these, by name.
        needs: entries that a stored row must have, and their kinds.

    Raises:
        ValueError: a file is damaged.
    """
    found = [read_json(path, needs=needs) for path in sorted(Path(results).glob("*/*.seed*.json"))]
    place = {name: i for i, name in enumerate(order)}
    return sorted(
        found, key=lambda row: (row["conditions"], place.get(row["row"], len(place)), row["row"], row["seed"])
    )


def check_same_settings(
    path: Path, stored: Mapping[str, Any], now: Mapping[str, Any], defaults: Mapping[str, Any]
) -> None:
    """Refuse a stored row of other settings than are asked for.

    Args:
        path: of the stored row.
        stored: its settings.
        now: those that are asked for.
        defaults: a setting that came into being after the row was stored had its default then.

    Raises:
        ValueError: they differ; the settings in which they do are named.
    """
    old = {**defaults, **stored}
    differ = sorted(name for name in now if old[name] != now[name])
    if differ:
        raise ValueError(
            f"{path} holds this row with other settings (it differs in {', '.join(differ)}); choose another --results"
        )
