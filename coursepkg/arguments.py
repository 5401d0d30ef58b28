"""Checks of arguments for every part of the package: a mistake becomes a ValueError of one line that names it."""

import dataclasses
import math
from collections.abc import Mapping
from typing import Any


def describe(value: Any) -> str:
    """What came, on one line: a plain value as it is written, of anything else only the type."""
    plain = value is None or isinstance(value, str | int | float)
    return repr(value) if plain else type(value).__name__


def check_count(name: str, value: Any, least: int = 1, most: int | None = None) -> None:
    """Raises a ValueError unless the value is an integer in least..most; True and False are none."""
    good = isinstance(value, int) and not isinstance(value, bool) and value >= least
    if not good or (most is not None and value > most):
        wanted = f"of at least {least}" if most is None else f"in {least}..{most}"
        raise ValueError(f"{name} must be an integer {wanted}, got {describe(value)}")


def check_finite(name: str, value: Any) -> None:
    """Raises a ValueError unless the value is a finite number."""
    good = isinstance(value, int | float) and not isinstance(value, bool)
    if not good or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {describe(value)}")


def check_share(name: str, value: Any) -> None:
    """Raises a ValueError unless the value is a finite number in [0, 1]."""
    check_finite(name, value)
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be in [0, 1], got {value}")


def flag_of(name: str) -> str:
    """The flag of the command line that sets a field."""
    return f"--{name.replace('_', '-')}"


def check_field(config: Any, name: str, holds: bool, what: str) -> None:
    """Raises a ValueError that names the field's flag, what it must be and what it is, unless `holds`."""
    if not holds:
        raise ValueError(f"{flag_of(name)} must be {what}, got {getattr(config, name)}")


def check_choices(config: Any) -> None:
    """Raises a ValueError unless every field of a dataclass whose type lists its values has one of them."""
    for field in dataclasses.fields(config):
        choices = getattr(field.type, "__args__", ())
        if choices and all(isinstance(choice, str) for choice in choices):
            check_field(
                config, field.name, getattr(config, field.name) in choices, f"one of {', '.join(choices)}"
            )


def as_json(config: Any) -> dict[str, Any]:
    """All fields of a dataclass as JSON can hold them: tuples become lists."""
    fields = dataclasses.asdict(config)
    return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}


def with_tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with tuples where JSON has lists."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
