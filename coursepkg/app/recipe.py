"""The fields of recipes: their limits, the help that all systems share, their checks.

A recipe is a frozen dataclass. The type of a field says what it must be, and
`check_fields` reads the types:

    size: Count = 96              an integer of at least 1
    n_convolutions: Size0 = 2     an integer of at least 0
    dropout: Fraction = 0.1       a number in [0, 1)
    warmup: Warmup = 100          a field of every recipe, with its help

A field without such a type is checked, too: every float is finite, and a `Literal` has
one of its values.
"""

import dataclasses
from collections.abc import Callable, Hashable, Mapping
from functools import cache
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

import tyro

from coursepkg.validation import (
    check_count,
    check_finite,
    check_largest,
    describe,
    flag_of,
    one_line,
    with_tuples,
)

C = TypeVar("C")


class Limit(NamedTuple):
    """What a number must be."""

    said: str
    """In a message, such as `in [0, 1)`."""
    holds: Callable[[Any], bool]


class AtLeast(NamedTuple):
    """What an integer must be."""

    least: int
    most: int | None = None


Count = Annotated[int, AtLeast(1)]
Size0 = Annotated[int, AtLeast(0)]
Fraction = Annotated[float, Limit("in [0, 1)", lambda x: 0 <= x < 1)]
Share = Annotated[float, Limit("in [0, 1]", lambda x: 0 <= x <= 1)]
NonNegative = Annotated[float, Limit("at least 0", lambda x: x >= 0)]
Positive = Annotated[float, Limit("above 0", lambda x: x > 0)]

PositiveShare = Annotated[float, Limit("above 0 and at most 1", lambda x: 0 < x <= 1)]


def within(low: int | float, high: int | float) -> Limit:
    """The limit of a number that lies between two others, or at them."""
    return Limit(f"in [{low:g}, {high:g}]", lambda x: low <= x <= high)


Precision = Annotated[
    Literal["auto", "32-true", "bf16-mixed", "16-mixed"],
    tyro.conf.arg(
        help="What the forward pass computes in; auto is bf16-mixed where the "
        "processor multiplies bfloat16 itself."
    ),
]
Warmup = Annotated[
    Count, tyro.conf.arg(help="Steps until the learning rate is highest.")
]
WeightDecay = Annotated[
    NonNegative, tyro.conf.arg(help="AdamW's decoupled decay, at least 0.")
]
ClipNorm = Annotated[
    Positive, tyro.conf.arg(help="Largest norm of the gradient, above 0.")
]
Ema = Annotated[
    Fraction,
    tyro.conf.arg(
        help="Decay of the averaged weights that are kept, in [0, 1); 0 keeps the last "
        "ones."
    ),
]
MaxEpochs = Annotated[
    Count, tyro.conf.arg(help="Passes over the training part, at least 1.")
]
MaxSeconds = Annotated[
    Positive, tyro.conf.arg(help="Wall-clock seconds of training, above 0.")
]
FeedForwardWidth = Annotated[
    Count, tyro.conf.arg(help="Width inside the feed-forward networks.")
]
AttentionDropout = Annotated[
    Fraction,
    tyro.conf.arg(help="Probability of dropping an attention weight, in [0, 1)."),
]


def check_fields(config: Any, name_of: Callable[[str], str] = flag_of) -> None:
    """Check every field of a dataclass by its type.

    Args:
        config: a recipe or another dataclass of settings.
        name_of: from the name of a field to what a message calls it; `str` where the
            dataclass has no flags.

    Raises:
        ValueError: a field is not what its type says; one line names it.
    """
    kind: Any = type(config)
    for check, name, limit in _checks(kind):
        value = getattr(config, name)
        if check == "kind":
            check_kind(name_of(name), value, limit)
        elif check == "integer":
            check_count(name_of(name), value, limit.least, limit.most)
        elif check == "finite":
            check_finite(name_of(name), value)
        elif not limit.holds(value):
            raise ValueError(f"{name_of(name)} must be {limit.said}, got {value}")
    for field in dataclasses.fields(kind):
        check_largest(field.name, getattr(config, field.name), name_of(field.name))


KINDS: dict[Any, str] = {
    bool: "True or False",
    str: "a text",
    tuple[int, ...]: "a list of integers",
}
"""Types of fields without numbers of their own, and what messages call them."""


def check_kind(name: str, value: Any, kind: Any) -> None:
    """Raises a ValueError unless a value, perhaps from a file, is of a type."""
    if get_origin(kind) is tuple:
        fits = isinstance(value, tuple) and all(type(one) is int for one in value)
    else:
        fits = isinstance(value, kind)
    if not fits:
        raise ValueError(f"{name} must be {KINDS[kind]}, got {describe(value)}")


def recipe_from(kind: type[C], fields: Any, where: str) -> C:
    """The recipe that a file holds.

    Args:
        kind: class of the recipe.
        fields: as JSON gives them back; anything but a mapping is refused.
        where: what a message calls the file.

    Raises:
        ValueError: a field is unknown or out of range.
    """
    if not isinstance(fields, Mapping):
        raise ValueError(f"{where} is damaged: its recipe is {describe(fields)}")
    try:
        return kind(**with_tuples(fields))
    except TypeError as reason:
        raise ValueError(
            f"{where} has a recipe that this version does not know: {one_line(reason)}"
        ) from None


@cache
def _checks(kind: Hashable) -> list[tuple[str, str, Any]]:
    """What is checked of a dataclass, in order: integers, finite numbers, limits."""
    found: list[tuple[str, str, Any]] = []
    bare: Any
    extras: tuple[Any, ...]
    for name, hint in get_type_hints(kind, include_extras=True).items():
        bare, extras = hint, ()
        if get_origin(hint) is Annotated:
            bare, extras = hint.__origin__, hint.__metadata__
        found += [("integer", name, one) for one in extras if isinstance(one, AtLeast)]
        found += [("finite", name, None)] if bare is float else []
        found += [("kind", name, bare)] if bare in KINDS else []
        found += [("limit", name, one) for one in extras if isinstance(one, Limit)]
        if get_origin(bare) is Literal:
            choices = get_args(bare)
            said = f"one of {', '.join(map(str, choices))}"
            found.append(("limit", name, Limit(said, choices.__contains__)))
    order = ("kind", "integer", "finite", "limit")
    return sorted(found, key=lambda one: order.index(one[0]))
