"""What a trained model that ships with the package may weigh."""

from pathlib import Path

MOST_BYTES = 15_000_000
"""Of all files of a shipped folder together."""


def check_weight(part: Path, folder: Path) -> None:
    """Refuse a folder that is too heavy to ship.

    Args:
        part: where its files lie.
        folder: what the message calls it.

    Raises:
        ValueError: it weighs more than `MOST_BYTES`.
    """
    weight = sum(path.stat().st_size for path in part.rglob("*") if path.is_file())
    if weight > MOST_BYTES:
        raise ValueError(
            f"{folder} would weigh {weight:,} bytes, more than {MOST_BYTES:,}; train a smaller network"
        )
