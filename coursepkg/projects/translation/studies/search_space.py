"""What a configuration search tries: settings of a recipe, every combination of lists or drawn from ranges.

    grid    vocab-size=4000,8000 d-model=192,256                    4 combinations, in this order
    random  learning-rate=3e-4..3e-3:log dropout=0.1..0.4           drawn evenly, `:log` on a logarithmic scale

Random search tries more values of the settings that matter than a grid of the same size: Bergstra and Bengio (JMLR
2012), "Random Search for Hyper-Parameter Optimization".
"""

import dataclasses
import itertools
import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coursepkg.projects.translation.recipe import Recipe

Settings = dict[str, Any]
"""By field of the recipe the value that a trial takes."""

FIELDS = {field.name: field.type for field in dataclasses.fields(Recipe)}
SWITCH = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}


@dataclass(frozen=True)
class Range:
    """Numbers from low to high, both ends included."""

    low: int | float
    high: int | float
    log: bool = False
    """Draw the logarithm evenly, so that every factor is as probable as any other."""

    def draw(self, random_state: random.Random) -> int | float:
        """One number; of real ones four significant digits, so that a table can show what was tried."""
        if self.log:
            value = math.exp(random_state.uniform(math.log(self.low), math.log(self.high)))
        elif isinstance(self.low, int):
            return random_state.randint(self.low, int(self.high))
        else:
            value = random_state.uniform(self.low, self.high)
        if isinstance(self.low, int):
            return min(max(round(value), self.low), self.high)
        return min(max(float(f"{value:.4g}"), self.low), self.high)


def parse_fixed(texts: Sequence[str], flag: str = "--set") -> Settings:
    """Settings from `name=value` texts.

    Raises:
        ValueError: a text has another form, a name is no field of the recipe or comes twice, or a value does not fit.
    """
    return {name: parse_value(name, value, flag) for name, value in _named(texts, flag)}


def parse_grid(texts: Sequence[str]) -> dict[str, list[Any]]:
    """Lists of values from `name=value,value,...` texts.

    Raises:
        ValueError: as `parse_fixed`; or a value comes twice.
    """
    found = {}
    for name, values in _named(texts, "--grid"):
        found[name] = [parse_value(name, value, "--grid") for value in values.split(",")]
        if len(set(found[name])) < len(found[name]):
            raise ValueError(f"--grid {_spelt(name)} must have different values, got {values}")
    return found


def parse_ranges(texts: Sequence[str]) -> dict[str, Range]:
    """Ranges from `name=low..high` texts, `:log` behind them for a logarithmic scale.

    Raises:
        ValueError: as `parse_fixed`; or the field is no number, or the ends are out of order or not above 0 for a
            logarithm.
    """
    found = {}
    for name, text in _named(texts, "--range"):
        ends, _, scale = text.partition(":")
        low, dots, high = ends.partition("..")
        if not dots or scale not in ("", "log") or FIELDS[name] not in (int, float):
            raise ValueError(
                f"--range {_spelt(name)}={text}: write low..high or low..high:log, for a setting that is a number"
            )
        one = Range(parse_value(name, low, "--range"), parse_value(name, high, "--range"), scale == "log")
        if not one.low < one.high:
            raise ValueError(f"--range {_spelt(name)} must go from a smaller to a larger number, got {text}")
        if one.log and one.low <= 0:
            raise ValueError(f"--range {_spelt(name)} must be above 0 for :log, got {text}")
        found[name] = one
    return found


def parse_value(name: str, text: str, flag: str) -> Any:
    """A value of a field of the recipe.

    Raises:
        ValueError: the text is no value of its kind. Whether it is in range, `Recipe` says.
    """
    kind: Any = FIELDS[name]
    text = text.strip()
    readers: dict[Any, Callable[[str], Any]] = {int: int, float: float, bool: lambda t: SWITCH[t.lower()]}
    try:
        return readers.get(kind, str)(text)
    except (ValueError, KeyError):
        what = {int: "an integer", float: "a number", bool: "true or false"}[kind]
        raise ValueError(f"{flag} {_spelt(name)} must be {what}, got {text!r}") from None


def all_combinations(grid: Mapping[str, Sequence[Any]]) -> list[Settings]:
    """Every combination of the values, the last name changing fastest."""
    return [dict(zip(grid, values, strict=True)) for values in itertools.product(*grid.values())]


def drawn(
    grid: Mapping[str, Sequence[Any]], ranges: Mapping[str, Range], n: int, seed: int
) -> list[Settings]:
    """n different combinations, each value drawn from its list or its range.

    The first ones stay the same where n grows, so a search that is called again with a larger n adds to what it has.

    Raises:
        ValueError: there are not n different combinations, as far as 100 draws for each can tell.
    """
    random_state = random.Random(seed)
    found: list[Settings] = []
    for _ in range(100 * n):
        one = {name: random_state.choice(list(values)) for name, values in grid.items()}
        one |= {name: values.draw(random_state) for name, values in ranges.items()}
        if one not in found:
            found.append(one)
        if len(found) == n:
            return found
    raise ValueError(
        f"--random {n}: only {len(found)} different combinations; ask for fewer, or give more values"
    )


def described(settings: Mapping[str, Any]) -> str:
    """Settings as they are written on a command line."""
    return " ".join(f"{_spelt(name)}={spelt_value(value)}" for name, value in settings.items())


def spelt_value(value: Any) -> str:
    """A value as a table and a command line show it."""
    return f"{value:g}" if isinstance(value, float) else str(value).lower()


def _named(texts: Sequence[str], flag: str) -> list[tuple[str, str]]:
    """Field names and what stands behind the sign of equality."""
    found: dict[str, str] = {}
    for text in texts:
        spelt, equals, value = text.partition("=")
        name = spelt.strip().removeprefix("--").replace("-", "_")
        if not equals or not value:
            raise ValueError(f"{flag} takes name=value, got {text!r}")
        if name not in FIELDS:
            known = ", ".join(_spelt(field) for field in FIELDS)
            raise ValueError(f"{flag} {spelt}: no setting of a recipe; use one of {known}")
        if name in found:
            raise ValueError(f"{flag} {_spelt(name)} is given twice; give it once")
        found[name] = value
    return list(found.items())


def _spelt(name: str) -> str:
    return name.replace("_", "-")
