"""The rows of the ablation ladder: what each changes, and against which row it is held.

    lstm-last -> lstm-mean -> lstm-attention -> transformer -> improved      from the baseline to the preset
    improved -> one change at a time                                         pictures, time, mixing, smoothing, schedule
    improved -> plain-sampler -> the losses and adjustments of the long tail
    improved -> sampler-and-weights, sampler-and-post-hoc                    corrects twice, as controls
    improved -> second-seed -> ensemble                                      what chance alone does, and its mean

The backbone is that of the preset in every row. All rows see equally many clips, save those that train nothing.

Source: source 002, second tutorial, sections IV to VIII.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coursepkg.projects.sign_language.recipe import Recipe

AS_PRESET = "as the preset"
"""Stands in `changes` for the value that the preset has."""


@dataclass(frozen=True)
class LadderRow:
    """One row."""

    name: str
    """As `--rows` takes it."""
    about: str
    """What it tries, in a few words."""
    builds_on: str = ""
    """Row whose recipe it changes and with which it is compared; empty for the first."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the recipe; `AS_PRESET` takes them back."""
    models: tuple[str, ...] = ()
    """Rows whose trained networks answer together instead of one of its own; empty for a row that trains."""
    seed_shift: int = 0
    """What is added to the seed."""
    speed: float = 0.0
    """Strength of plain resampling in training, see `augment.resampling`; 0 has none."""

    @property
    def trains(self) -> bool:
        """Whether a network is trained for it."""
        return not self.models


def _row(name: str, about: str, builds_on: str = "improved", **fields: Any) -> LadderRow:
    own = {one.name for one in dataclasses.fields(LadderRow)}
    changes = {key: value for key, value in fields.items() if key not in own}
    given = {key: value for key, value in fields.items() if key in own}
    return LadderRow(name, about, builds_on, changes, **given)


ROWS: dict[str, LadderRow] = {
    row.name: row
    for row in (
        _row(
            "lstm-last",
            "an LSTM of one layer and its last state, on the backbone, sampler and augmentation of the preset",
            "",
            temporal="lstm",
            n_layers=1,
            n_convolutions=0,
            pooling="last",
        ),
        _row("lstm-mean", "the mean of its states", "lstm-last", pooling="mean"),
        _row("lstm-attention", "attention pooling over its states", "lstm-mean", pooling="attention"),
        _row(
            "transformer",
            "a Transformer instead of the LSTM",
            "lstm-attention",
            temporal=AS_PRESET,
            n_layers=AS_PRESET,
            pooling=AS_PRESET,
        ),
        _row("improved", "1D convolutions before it: the preset", "transformer", n_convolutions=AS_PRESET),
        _row("motion-beside", "frames, and beside them what changed since the frame before", motion="beside"),
        _row("no-motion", "frames alone", "motion-beside", motion="none"),
        _row("places-mean", "the mean of the last map instead of its places", places="mean"),
        _row(
            "no-warp",
            "time as it is",
            warp=0.0,
        ),
        _row(
            "resampling",
            "clips played faster or slower as a whole, as much as the warp was strong; even sampling undoes it",
            "no-warp",
            speed=0.3,
        ),
        _row("no-pictures", "no crop, colour and rotation", crop=1.0, colour=0.0, rotation=0.0),
        _row("no-augmentation", "and time as it is", "no-pictures", warp=0.0),
        _row("flip", "half of the clips mirrored", flip=0.5),
        _row("mixup", "pairs of clips blended", mix="mixup"),
        _row("mixup-time", "one clip blended into another over time", mix="mixup-time"),
        _row("cutmix-space", "a box of one clip in another", mix="cutmix-space"),
        _row("cutmix-time", "a run of frames of one clip in another", mix="cutmix-time"),
        _row("no-smoothing", "label smoothing off", label_smoothing=0.0),
        _row("plateau", "the rate halved where the dev part stops improving", schedule="plateau"),
        _row("adam", "no decay of the weights: AdamW is Adam then", weight_decay=0.0),
        _row("plain-sampler", "every clip once an epoch, plain cross-entropy", balanced=False),
        _row("plain-unsmoothed", "and label smoothing off", "plain-sampler", label_smoothing=0.0),
        _row("weighted", "cross-entropy weighted by 1 / count", "plain-sampler", loss="weighted"),
        _row("weighted-unsmoothed", "and label smoothing off", "weighted", label_smoothing=0.0),
        _row("focal", "focal loss", "plain-sampler", loss="focal"),
        _row("weighted-focal", "focal loss weighted by 1 / count", "plain-sampler", loss="weighted-focal"),
        _row("logit-adjusted", "logits adjusted in the loss", "plain-sampler", loss="logit-adjusted"),
        _row(
            "post-hoc",
            "logits of the trained network adjusted",
            "plain-sampler",
            adjust=1.0,
            models=("plain-sampler",),
        ),
        _row("sampler-and-weights", "balanced sampler and weights: corrects twice", loss="weighted"),
        _row(
            "sampler-and-post-hoc",
            "balanced sampler and adjusted logits: corrects twice",
            adjust=1.0,
            models=("improved",),
        ),
        _row("test-time", "four views of a clip averaged", views=4, models=("improved",)),
        _row("second-seed", "nothing but another seed: what chance does", seed_shift=1000),
        _row("ensemble", "both seeds together", models=("improved", "second-seed")),
    )
}
"""By name, in the order of the table; every row stands behind the one it builds on and those it asks."""

FIRST = next(iter(ROWS))
"""The baseline: every row is held against it as well."""


def row_named(name: str) -> LadderRow:
    """A row.

    Raises:
        ValueError: there is none of that name.
    """
    if name not in ROWS:
        raise ValueError(f"--rows must be of {', '.join(ROWS)}, got {name}")
    return ROWS[name]


def recipe_of(row: LadderRow, base: Recipe) -> Recipe:
    """The recipe of a row.

    Args:
        row: the row.
        base: the preset with its budget.

    Raises:
        ValueError: the changes do not fit the preset.
    """
    recipe = recipe_of(row_named(row.builds_on), base) if row.builds_on else base
    changes: dict[str, Any] = {
        name: getattr(base, name) if value == AS_PRESET else value for name, value in row.changes.items()
    }
    return dataclasses.replace(recipe, **changes)


def changes_of(row: LadderRow, base: Recipe) -> dict[str, Any]:
    """What a row's recipe has other than that of the row below; of the first row, than the preset."""
    below = recipe_of(row_named(row.builds_on), base) if row.builds_on else base
    own, other = recipe_of(row, base).described(), below.described()
    return {name: value for name, value in own.items() if value != other[name]}


def is_new(row: LadderRow, base: Recipe) -> bool:
    """Whether a row is another system than the one below; with some presets its setting is there already."""
    return not row.builds_on or bool(
        row.seed_shift or row.speed or len(row.models) > 1 or changes_of(row, base)
    )


def with_needed(names: Sequence[str]) -> list[LadderRow]:
    """The rows by these names, each behind the rows whose networks it asks.

    Raises:
        ValueError: there is no row of a name.
    """
    wanted = {name: row_named(name) for name in names}
    needed = {one for row in wanted.values() for one in row.models}
    return [row for row in ROWS.values() if row.name in wanted or row.name in needed]
