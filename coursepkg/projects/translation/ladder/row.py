"""What a row of the ablation ladder is: one change of the recipe, of the data, or of the decoding."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Preparation = Literal["", "random-split", "back-translation", "round-trips", "hard-examples"]
Decoding = Literal[
    "", "search", "sample", "repairs", "language-model", "noisy-channel", "neighbours", "ensemble"
]


@dataclass(frozen=True)
class LadderRow:
    """One row."""

    name: str
    """As `--rows` takes it."""
    about: str
    """What it tries, in a few words."""
    builds_on: str = ""
    """Row whose recipe it changes and whose score it is compared with; empty for the first."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the recipe; a `Times` multiplies the value that is there."""
    preset: str = ""
    """Begin with a recipe instead of that of `builds_on`: a preset, or `base` for the one of --preset."""
    start: str = ""
    """Row whose trained model it begins with."""
    preparation: Preparation = ""
    """What is done to the training data, see `ladder.data`."""
    decoding: Decoding = ""
    """Decode the model behind `builds_on` in another way instead of training one, see `ladder.decoding`."""
    draws: Mapping[str, Any] = field(default_factory=dict)
    """Settings of `Method` where tokens are drawn."""

    @property
    def needs(self) -> str:
        """Row that must be made first, for the model that this one begins with or decodes; empty where none must."""
        return self.builds_on if self.decoding else self.start


@dataclass(frozen=True)
class Times:
    """A field of the recipe times a factor."""

    factor: float

    def of(self, value: int | float) -> int | float:
        """The product, an integer where the field is one."""
        return round(value * self.factor) if isinstance(value, int) else value * self.factor
