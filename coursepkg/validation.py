"""Checks of arguments for every part of the package.

A mistake becomes a ValueError of one line that names the argument. Two forms of message
are in use, "x must be ..., got ..." and "x: got ..., needs ...".
"""

import dataclasses
import math
from collections.abc import Collection, Iterable, Mapping
from numbers import Integral, Real
from typing import Any

LONGEST = 60
"""Characters of a text that a message repeats."""


def describe(value: Any) -> str:
    """A plain value as it is written, of a long text and anything else the type."""
    if isinstance(value, Real):
        return str(value)  # NumPy's numbers as Python's
    plain = value is None or isinstance(value, str)
    is_long = isinstance(value, str) and len(value) > LONGEST
    return repr(value) if plain and not is_long else type(value).__name__


def is_integer(value: Any) -> bool:
    """Whether the value is an integer, of Python or NumPy, and no bool."""
    return isinstance(value, int | Integral) and not isinstance(value, bool)


def is_number(value: Any) -> bool:
    """Whether the value is an integer or a float, of Python or NumPy, and no bool."""
    return isinstance(value, int | float | Real) and not isinstance(value, bool)


def python_number(value: Any) -> int | float:
    """Python's own number for one of NumPy: the `default` of `json.dumps`.

    Raises:
        TypeError: the value is no number.
    """
    if not isinstance(value, Real):
        raise TypeError(
            f"Object of type {type(value).__name__} is not JSON serializable"
        )
    return int(value) if isinstance(value, Integral) else float(value)


def use_python_numbers(config: Any) -> None:
    """Put Python's own numbers in place of NumPy's in a frozen dataclass."""
    for name, value in list(vars(config).items()):
        if is_number(value):
            object.__setattr__(config, name, python_number(value))


def check_count(name: str, value: Any, least: int = 1, most: int | None = None) -> None:
    """Raises a ValueError unless the value is an integer in least..most, no bool."""
    good = is_integer(value) and value >= least
    if not good or (most is not None and value > most):
        wanted = f"of at least {least}" if most is None else f"in {least}..{most}"
        raise ValueError(f"{name} must be an integer {wanted}, got {describe(value)}")


def check_counts(**values: Any) -> None:
    """Raises a ValueError unless every value, given by name, is a positive integer."""
    for name, value in values.items():
        if not is_integer(value) or value < 1:
            raise ValueError(
                f"{name} must be a positive integer, got {describe(value)}"
            )


def check_integer(name: str, value: Any, least: int | None = None) -> None:
    """Raises a ValueError unless the value is an integer, of at least `least`."""
    if not is_integer(value):
        raise ValueError(f"{name}: got {describe(value)}, needs an integer")
    if least is not None and value < least:
        needed = f"at least {least}" if least else "0 or more"
        raise ValueError(f"{name}: got {value}, needs {needed}")


def check_number(name: str, value: Any) -> None:
    """Raises a ValueError unless the value is an integer or a float, no bool."""
    if not is_number(value):
        raise ValueError(f"{name}: got {describe(value)}, needs a number")


def check_finite(name: str, value: Any) -> None:
    """Raises a ValueError unless the value is a finite number."""
    if not is_number(value) or not math.isfinite(value):
        raise ValueError(f"{name} must be a finite number, got {describe(value)}")


def check_positive(name: str, value: Any) -> None:
    """Raises a ValueError unless the value is a finite number above 0."""
    check_finite(name, value)
    if value <= 0:
        raise ValueError(f"{name} must be above 0, got {value}")


def check_share(name: str, value: Any) -> None:
    """Raises a ValueError unless the value is a finite number in [0, 1]."""
    check_finite(name, value)
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must be in [0, 1], got {value}")


def check_at_least(name: str, value: int | float, least: int) -> None:
    """Raises a ValueError unless the value is finite and at least `least`."""
    if not least <= value < math.inf:
        raise ValueError(f"{name} must be at least {least}, got {value}")


def check_factor(name: str, value: int | float) -> None:
    """Raises a ValueError unless the value is above 0 and at most 1."""
    if not 0 < value <= 1:
        raise ValueError(f"{name} must be above 0 and at most 1, got {value}")


def check_probability(name: str, value: int | float) -> None:
    """Raises a ValueError unless the value lies between 0 and 1."""
    if not 0 <= value <= 1:
        raise ValueError(f"{name} must lie between 0 and 1, got {value}")


def check_choice(name: str, value: Any, choices: Collection[str]) -> None:
    """Raises a ValueError unless the value is one of the choices."""
    if value not in choices:
        raise ValueError(
            f"{name} must be one of {', '.join(choices)}, got {describe(value)}"
        )


def as_list(name: str, values: Any, kinds: Any, what: str) -> list[Any]:
    """What a caller gave as several inputs, as a list.

    Args:
        name: of the argument.
        values: what was given for it.
        kinds: types of one input.
        what: several of them in words, such as `sentences`.

    Raises:
        ValueError: it is one input instead of a list, no list at all, or one of its
            entries is of another type.
    """
    if isinstance(values, kinds):
        raise ValueError(
            f"{name} must be a list of {what}, got one; put it into a list"
        )
    if isinstance(values, Mapping | bytes) or not isinstance(values, Iterable):
        raise ValueError(f"{name} must be a list of {what}, got {describe(values)}")
    found = list(values)
    for number, one in enumerate(found, start=1):
        if not isinstance(one, kinds):
            raise ValueError(
                f"{name} must be a list of {what}, got {describe(one)} as number"
                f" {number}"
            )
    return found


LARGEST: dict[str, int | float] = {
    "batch_clips": 65_536,
    "batch_columns": 10**8,
    "batch_size": 65_536,
    "batch_tokens": 10**7,
    "beam_size": 1_000,
    "box_width": 100_000,
    "channels": 65_536,
    "d_ff": 262_144,
    "d_model": 65_536,
    "epochs": 10**6,
    "frames": 4_096,
    "frozen": 1_000,
    "generate": 10**7,
    "height": 4_096,
    "k": 10_000,
    "kernel_size": 1_001,
    "learning_rate": 1_000,
    "max_epochs": 10**6,
    "max_len": 100_000,
    "max_seconds": 10**8,
    "max_tokens": 10_000,
    "max_width": 100_000,
    "n_best": 1_000,
    "n_blocks": 1_000,
    "n_convolutions": 1_000,
    "n_decoder_layers": 1_000,
    "n_encoder_layers": 1_000,
    "n_frames": 4_096,
    "n_heads": 1_024,
    "n_kv_heads": 1_024,
    "n_layers": 1_000,
    "patience": 10**6,
    "random": 100_000,
    "seconds": 10**8,
    "seed": 2**32 - 1,
    "seeds": 10_000,
    "size": 4_096,
    "validate_every": 10**7,
    "views": 100,
    "vocab_size": 10**6,
    "warmup": 10**7,
    "worst": 100_000,
}
"""The largest value of an option or argument, by its name, which means the same in
every verb; `LARGEST_OTHER` of all others."""
LARGEST_OTHER = 10**9


def check_largest(name: str, value: Any, shown: str | None = None) -> None:
    """Check that a number is not beyond the largest of its name.

    Args:
        name: of the field or argument.
        value: a number or a tuple of them; anything else passes.
        shown: what a message calls it; None: its name.

    Raises:
        ValueError: it is larger, or not finite.
    """
    if isinstance(value, tuple):
        for one in value:
            check_largest(name, one, shown)
    elif is_number(value):
        most = LARGEST.get(name, LARGEST_OTHER)
        if value != value:
            raise ValueError(f"{shown or name} must be a finite number, got nan")
        if value > most:
            got = str(value) if len(str(value)) <= LONGEST else "a longer number"
            raise ValueError(f"{shown or name} must be at most {most:,}, got {got}")


def check_options(options: Any) -> None:
    """Raises a ValueError that names the flag of a number beyond its largest value.

    Args:
        options: a dataclass, whose fields may be dataclasses.
    """
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if dataclasses.is_dataclass(value):
            check_options(value)
        else:
            check_largest(field.name, value, flag_of(field.name))


def flag_of(name: str) -> str:
    """The flag of the command line that sets a field."""
    return f"--{name.replace('_', '-')}"


def check_field(config: Any, name: str, holds: bool, what: str) -> None:
    """Raises a ValueError that names the field's flag, unless `holds`."""
    if not holds:
        raise ValueError(f"{flag_of(name)} must be {what}, got {getattr(config, name)}")


def check_choices(config: Any) -> None:
    """Raises a ValueError unless each field whose type is a Literal has its values."""
    for field in dataclasses.fields(config):
        choices = getattr(field.type, "__args__", ())
        if choices and all(isinstance(choice, str) for choice in choices):
            check_field(
                config,
                field.name,
                getattr(config, field.name) in choices,
                f"one of {', '.join(choices)}",
            )


def as_json(config: Any) -> dict[str, Any]:
    """All fields of a dataclass as JSON can hold them: tuples become lists."""
    fields = dataclasses.asdict(config)
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in fields.items()
    }


def with_tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The fields with tuples where JSON has lists."""
    return {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in fields.items()
    }


def counted(n: int, what: str) -> str:
    """A number with its noun.

    Example:
        >>> [counted(n, "clip") for n in (0, 1, 3875)]
        ['0 clips', '1 clip', '3,875 clips']
    """
    return f"{n:,} {what}" if n == 1 else f"{n:,} {what}s"


def one_line(reason: object) -> str:
    r"""What a library says, in one line; of an exception that says nothing, its name.

    Example:
        >>> one_line(ValueError("no such\n  thing")), one_line(MemoryError())
        ('no such thing', 'MemoryError')
    """
    text = " ".join(str(reason).split())
    return text or (type(reason).__name__ if isinstance(reason, BaseException) else "")


def error_line(reason: BaseException, most: int = 300) -> str:
    r"""The kind of an exception, and at most `most` letters of what it says, in a line.

    Example:
        >>> error_line(ValueError("no such\n  thing")), error_line(MemoryError())
        ('ValueError: no such thing', 'MemoryError')
    """
    kind, said = type(reason).__name__, one_line(reason)
    return kind if said == kind else f"{kind}: {said[:most]}"


def differences(old: dict[str, Any], new: dict[str, Any], form: str) -> str:
    """The entries in which two sets of settings differ, told by a format string.

    The format takes `name`, `old` and `new`; what one side lacks is "absent".
    """
    pairs = {
        name: (old.get(name, "absent"), new.get(name, "absent"))
        for name in sorted(old.keys() | new.keys())
    }
    return "; ".join(
        form.format(name=name, old=before, new=now)
        for name, (before, now) in pairs.items()
        if before != now
    )
