"""The rows of the ablation ladder: what each changes, and against which row it is held.

    random-split -> deduplicated, grouped     one model, two preparations of the data
    gru-baseline -> gru-attention -> vaswani2017 -> modern
    modern -> one change at a time            vocabulary, regularisation, decoding
    both-ways -> wrong-tags                   a negative control: the tutorials' fault
    both-ways -> continued -> contrastive, back-translation, hard examples

Every row that trains has the same budget (`small` may end before it, with its fourth
epoch), and the others none, but for `language-model`, whose language model takes half a
budget more, and `ensemble`, whose second model takes another whole one. `continued`
spends a second budget on nothing new: what fine-tuning gave is what it gave beyond
that.

Source: Olympiad tutorials, first tutorial, sections III, V and VI.
"""

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from coursepkg.projects.translation.recipe import PRESETS, Recipe

Preparation = Literal[
    "", "random-split", "back-translation", "round-trips", "hard-examples"
]
Decoding = Literal[
    "",
    "search",
    "sample",
    "repairs",
    "language-model",
    "noisy-channel",
    "neighbours",
    "ensemble",
]


@dataclass(frozen=True)
class LadderRow:
    """One row."""

    name: str
    """As `--rows` takes it."""
    about: str
    """What it tries, in a few words."""
    builds_on: str = ""
    """Row whose recipe it changes and whose score it is compared with; empty for the
    first."""
    changes: Mapping[str, Any] = field(default_factory=dict)
    """Fields of the recipe; a `Times` multiplies the value that is there."""
    preset: str = ""
    """Begin with a recipe instead of that of `builds_on`: a preset, or `base` for the
    one of --preset."""
    start: str = ""
    """Row whose trained model it begins with."""
    preparation: Preparation = ""
    """What is done to the training data, see `ladder.data`."""
    decoding: Decoding = ""
    """Decode the model behind `builds_on` in another way instead of training one, see
    `ladder.decoding`."""
    draws: Mapping[str, Any] = field(default_factory=dict)
    """Settings of `Method` where tokens are sampled."""

    @property
    def needs(self) -> str:
        """Row whose model this one begins with or decodes; may be empty."""
        return self.builds_on if self.decoding else self.start


@dataclass(frozen=True)
class Times:
    """A field of the recipe times a factor."""

    factor: float

    def of(self, value: int | float) -> int | float:
        """The product, an integer where the field is one."""
        return (
            round(value * self.factor)
            if isinstance(value, int)
            else value * self.factor
        )


_TABLE = """
gru-baseline < -: preset=gru-baseline
    the contest's GRU without attention
gru-attention < gru-baseline: architecture=gru-attention
    additive attention
gru-attention-true-words < gru-attention: teacher_forcing=1.0
    and the decoder always reads the true word before, not in three steps of ten
vaswani2017 < gru-attention:
    : preset=base architecture=vaswani2017 learning_rate=x1/3 d_ff=x1.07
    the Transformer of 2017, as many parameters as `modern`; a third of its rate,
    which post-norm bears
modern < vaswani2017: preset=base
    RMSNorm, RoPE, grouped-query attention, SwiGLU
decoder-only < modern: architecture=decoder-only n_decoder_layers=x2.25
    source and target as one text of one decoder, as many parameters as `modern`
small < modern: preset=small max_epochs=4
    the preset `small`: what helped, together; its cosine ends after four epochs
random-split < modern: preparation=random-split
    raw lines split at random; its dev part leaks, so its score is flattered
underscores-removed < modern: underscores=remove
    Vietnamese targets without underscores
underscores-kept < modern: underscores=keep
    Vietnamese targets with underscores
vocab-4000 < modern: vocab_size=4000
    4,000 subwords
vocab-8000 < modern: vocab_size=8000
    8,000 subwords
vocab-12000 < modern: vocab_size=12000
    12,000 subwords
vocab-16000 < modern: vocab_size=16000
    16,000 subwords
unigram < modern: subword=unigram
    unigram subwords instead of BPE
separate-vocabularies < modern: joint=false
    a vocabulary for each language, no tags
bpe-dropout < modern: subword_noise=0.1
    words cut at random, probability 0.1
no-label-smoothing < modern: label_smoothing=0.0
    label smoothing off
no-averaging < modern: ema=0.0
    the last weights instead of their moving average
rope-cross < modern: rope_cross=true
    queries and keys of cross-attention rotated, too
span-mask < modern: span_mask=0.1
    one or two source tokens masked in a tenth of the sentences
r-drop < modern: r_drop=1.0
    R-Drop, alpha 1
sam < modern: sam_rho=0.05
    sharpness-aware minimisation, radius 0.05
reverse-0.7 < modern: reverse=0.7
    both directions, the rotating window of 0.7
both-ways < modern: reverse=1.0
    both directions, all pairs
wrong-tags < both-ways: reverse_fault=unswapped
    every second pair with the other tag but not turned: a fault, as a control
continued < both-ways: start=both-ways learning_rate=x0.3 warmup=50
    `both-ways` trained for a second budget
contrastive < continued: start=both-ways contrastive=0.1
    contrastive stage between a sentence and its translation
self-contrastive-mask < contrastive:
    : start=both-ways self_contrastive=0.1 versions=mask
    and between two masked versions of a sentence
self-contrastive-dropout < contrastive:
    : start=both-ways self_contrastive=0.1 versions=dropout
    and between two dropout masks of a sentence
self-contrastive-round-trip < contrastive:
    : start=both-ways preparation=round-trips self_contrastive=0.1 versions=round-trip
    and between a sentence and its round trip
back-translation < continued: start=both-ways preparation=back-translation
    further target sentences, translated back by `both-ways`
hard-examples < continued: start=both-ways preparation=hard-examples
    the worst third of the training sentences twice
beam-1 < modern: decoding=search beam_size=1
    greedy search
beam-4 < modern: decoding=search beam_size=4
    4 beams
beam-6 < modern: decoding=search beam_size=6
    6 beams
beam-8 < modern: decoding=search beam_size=8
    8 beams
length-0 < modern: decoding=search length_penalty=0.0
    length penalty 0
length-0.6 < modern: decoding=search length_penalty=0.6
    length penalty 0.6
length-1.4 < modern: decoding=search length_penalty=1.4
    length penalty 1.4
top-k < modern: decoding=sample draws.top_k=10
    tokens drawn among the 10 likeliest
top-p < modern: decoding=sample draws.top_p=0.9
    tokens drawn from 0.9 of the probability
neighbours < modern: decoding=neighbours
    nearest neighbours in the training part mixed in
ensemble < modern: decoding=ensemble
    decoded together with a second model of another seed
repairs < modern: decoding=repairs
    numbers, terms and repetitions repaired with a dictionary
language-model < beam-8: decoding=language-model
    the eight beams reranked with a language model, which trains for half a budget
    more
both-ways-beam-8 < both-ways: decoding=search beam_size=8
    8 beams
noisy-channel < both-ways-beam-8: decoding=noisy-channel
    the eight beams reranked by how well the same model translates them back
"""
"""Name, row below, settings; then in words what it tries.

`x1.07` multiplies the value of the row below. Keys and values of every head cost
`vaswani2017` more than its one matrix less than SwiGLU saves, so d_ff grows. The 9
layers of `decoder-only` have no cross-attention. `small` would be cut off at a rate
that is still high if its cosine took 36 epochs."""


def _read_table(table: str) -> Iterator[LadderRow]:
    """The rows of a table like `_TABLE`."""
    own = {field.name for field in dataclasses.fields(LadderRow)}
    for head, about in re.findall(r"^(\S.*)\n((?: +.*\n)+)", table, re.MULTILINE):
        first, _, more = about.partition("    : ")[2].partition("\n")
        names, _, settings = f"{head} {first}".partition(":")
        name, below = names.split(" < ")
        given = dict(setting.split("=") for setting in settings.split())
        draws = {k[6:]: _value(v) for k, v in given.items() if k.startswith("draws.")}
        fields: dict[str, Any] = {k: v for k, v in given.items() if k in own}
        changes = {
            key: _value(text)
            for key, text in given.items()
            if key not in own and not key.startswith("draws.")
        }
        yield LadderRow(
            name,
            " ".join((more or about).split()),
            below.strip("-"),
            changes,
            draws=draws,
            **fields,
        )


def _value(text: str) -> Any:
    """A value of a setting: a factor, a JSON literal, or a word."""
    if factor := re.fullmatch(r"x([\d./]+)", text):
        over, _, under = factor[1].partition("/")
        return Times(float(over) / float(under or 1))
    try:
        return json.loads(text)
    except ValueError:
        return text


ROWS: dict[str, LadderRow] = {row.name: row for row in _read_table(_TABLE)}
"""By name, in the order of the table."""


def row_named(name: str) -> LadderRow:
    """A row.

    Raises:
        ValueError: there is none of that name.
    """
    if name not in ROWS:
        raise ValueError(f"--rows must be of {', '.join(ROWS)}, got {name}")
    return ROWS[name]


def trained_row(row: LadderRow) -> LadderRow:
    """The row whose model a row decodes: below it the first one that trains."""
    while row.decoding:
        row = row_named(row.builds_on)
    return row


def recipe_of(row: LadderRow, base: Recipe) -> Recipe:
    """The recipe of a row: that of its preset or of the row it builds on, changed.

    Args:
        base: what `base` stands for.

    Raises:
        ValueError: the changes do not fit the recipe.
    """
    if row.preset:
        recipe = base if row.preset == "base" else PRESETS[row.preset]
        limits = {
            name: getattr(base, name)
            for name in ("max_seconds", "max_epochs", "patience")
        }
        recipe = dataclasses.replace(recipe, **limits)
    else:
        recipe = recipe_of(row_named(row.builds_on), base)
    changes: dict[str, Any] = {
        name: value.of(getattr(recipe, name)) if isinstance(value, Times) else value
        for name, value in row.changes.items()
    }
    return dataclasses.replace(recipe, **changes)


def with_needed(names: Sequence[str]) -> list[LadderRow]:
    """The rows by these names, each after the rows whose models it needs.

    Raises:
        ValueError: there is no row of a name.
    """
    ordered: dict[str, LadderRow] = {}

    def visit(name: str) -> None:
        row = row_named(name)
        if row.needs:
            visit(row.needs)
        ordered.setdefault(name, row)

    for name in names:
        visit(name)
    return list(ordered.values())
