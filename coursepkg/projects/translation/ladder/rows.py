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

`converged_ladder` has the same rows without a budget: each trains until its dev BLEU
stops rising, with a learning rate chosen for it.

Source: Olympiad tutorials, first tutorial, sections III, V and VI.
"""

import dataclasses
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from coursepkg.app.ladder import Ladder, LadderRow, Times
from coursepkg.projects.translation.recipe import PRESETS, Recipe

SETTINGS = ("start", "preparation", "decoding", "draws")
"""Of a row, beside the changes of its recipe: the row whose trained model it begins
with; what is done to the training data, see `ladder.run`; how else the model behind
`builds_on` decodes, see `ladder.decoding`; settings of `Method` where it draws."""

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
report < modern: preset=report
    the model and settings of the source reports: 157 million parameters, for a GPU
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
r-drop-3 < modern: r_drop=3.0
    R-Drop, alpha 3
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
    for head, about in re.findall(r"^(\S.*)\n((?: +.*\n)+)", table, re.MULTILINE):
        first, _, more = about.partition("    : ")[2].partition("\n")
        names, _, given = f"{head} {first}".partition(":")
        name, below = names.split(" < ")
        below = below.strip("-")
        settings: dict[str, Any] = dict.fromkeys(SETTINGS[:3], "") | {"draws": {}}
        changes: dict[str, Any] = {}
        for key, _, text in (setting.partition("=") for setting in given.split()):
            if key.startswith("draws."):
                settings["draws"][key.removeprefix("draws.")] = _value(text)
            elif key in SETTINGS:
                settings[key] = text
            else:
                changes[key] = _value(text)
        needs = below if settings["decoding"] else settings["start"]
        yield LadderRow(
            name,
            " ".join((more or about).split()),
            below,
            changes,
            changes.pop("preset", ""),
            needs=(needs,) if needs else (),
            trains=not settings["decoding"],
            settings=settings,
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


def _stands_apart(row: LadderRow) -> bool:
    """Whether more than its recipe sets a row apart from the one below."""
    own = row.settings
    is_search = own["decoding"] in ("", "search")
    return bool(own["start"] or own["preparation"] or not is_search)


def _ladder(rows: Iterable[LadderRow]) -> Ladder:
    return Ladder(
        rows,
        presets=PRESETS,
        limits=("max_seconds", "max_epochs", "patience"),
        stands_apart=_stands_apart,
    )


LADDER = _ladder(_read_table(_TABLE))
ROWS = LADDER.rows
"""By name, in the order of the table."""


def trained_row(row: LadderRow) -> LadderRow:
    """The row whose model a row decodes: below it the first one that trains."""
    while not row.trains:
        row = LADDER.row(row.builds_on)
    return row


MOST_EPOCHS = 200
"""Of a row that trains until dev stops rising; whoever gets here is unfinished."""
NO_LIMIT = 1e7
"""Seconds that no training here reaches: a recipe needs a limit."""
_CONVERGED: dict[str, tuple[str, dict[str, Any]]] = {
    "small": (
        "the preset `small`: what helped, together; its cosine ends after 36 epochs",
        {"max_epochs": 36, "patience": 36},
    ),
    "continued": ("`both-ways` trained on until dev stops rising again", {}),
    "language-model": ("the eight beams reranked with a language model", {}),
}
"""What the converged ladder says of a row, and changes in it, other than `_TABLE`."""


def converged_ladder(rates: Mapping[str, float]) -> Ladder:
    """The rows as they are trained until dev stops rising.

    A row without a learning rate of its own takes that of the row whose recipe it
    changes, as all its other settings.

    Args:
        rates: learning rates by row, see `ladder.rates`.
    """
    rows = []
    for row in ROWS.values():
        about, changes = _CONVERGED.get(row.name, (row.about, {}))
        if row.name in rates:
            changes = changes | {"learning_rate": rates[row.name]}
        changes = {**row.changes, **changes}
        rows.append(dataclasses.replace(row, about=about, changes=changes))
    return _ladder(rows)


def without_limit(base: Recipe) -> Recipe:
    """A recipe that only its patience ends."""
    return dataclasses.replace(base, max_seconds=NO_LIMIT, max_epochs=MOST_EPOCHS)


def has_converged(recipe: Recipe, stopped: str) -> bool:
    """Whether a run ended by itself: its dev BLEU had stopped rising.

    A cosine ends with its epochs, where the learning rate is 0.
    """
    is_over = recipe.schedule == "cosine" and stopped == "max_epochs"
    return stopped == "patience" or is_over
