"""A recipe is checked by the types of its fields, and says of a mistake which flag it is."""

from dataclasses import dataclass
from typing import Literal

import pytest

from coursepkg.app.options import value_in
from coursepkg.app.recipe import (
    ClipNorm,
    Count,
    Fraction,
    NonNegative,
    Share,
    Size0,
    Warmup,
    check_fields,
    recipe_from,
)


@dataclass(frozen=True)
class Small:
    """A recipe."""

    n_layers: Count = 2
    n_extra: Size0 = 0
    dropout: Fraction = 0.1
    share: Share = 1.0
    decay: NonNegative = 0.0
    free: float = 1.0
    kind: Literal["a", "b"] = "a"
    sizes: tuple[int, ...] = ()
    warmup: Warmup = 10
    clip_norm: ClipNorm = 1.0

    def __post_init__(self) -> None:
        check_fields(self)


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("n_layers", 0, r"^--n-layers must be an integer of at least 1, got 0$"),
        ("n_layers", True, r"^--n-layers must be an integer of at least 1, got True$"),
        ("n_extra", -1, r"^--n-extra must be an integer of at least 0, got -1$"),
        ("dropout", 1.0, r"^--dropout must be in \[0, 1\), got 1.0$"),
        ("dropout", float("nan"), r"^--dropout must be a finite number, got nan$"),
        ("share", 1.5, r"^--share must be in \[0, 1\], got 1.5$"),
        ("decay", -1.0, r"^--decay must be at least 0, got -1.0$"),
        ("free", float("inf"), r"^--free must be a finite number, got inf$"),
        ("kind", "c", r"^--kind must be one of a, b, got c$"),
        ("warmup", 0, r"^--warmup must be an integer of at least 1, got 0$"),
        ("clip_norm", 0.0, r"^--clip-norm must be above 0, got 0.0$"),
    ],
)
def test_what_a_field_is_not_is_told(field: str, value: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Small(**{field: value})


def test_a_recipe_comes_back_from_its_file() -> None:
    assert recipe_from(Small, {"sizes": [1, 2], "share": 0.5}, "card") == Small(share=0.5, sizes=(1, 2))
    with pytest.raises(ValueError, match=r"^card has a recipe that this version does not know: .*'new'"):
        recipe_from(Small, {"new": 1}, "card")


@pytest.mark.parametrize(
    ("arguments", "value"),
    [
        ("--preset=small --preset tiny", "tiny"),
        ("--preset tiny --preset=small", "small"),
        ("--preset tiny --preset", "tiny"),
        ("--presets=x --out --preset", None),
    ],
)
def test_the_last_value_of_a_flag_counts_however_it_is_given(arguments: str, value: str | None) -> None:
    assert value_in(arguments.split(), "--preset") == value
