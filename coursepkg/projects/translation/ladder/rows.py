"""The rows of the ablation ladder: what each changes, and against which row it is held.

    random-split -> deduplicated, grouped          the same model on two preparations of the data
    gru-baseline -> gru-attention -> vaswani2017 -> modern
    modern -> one change at a time                 vocabulary, regularisation, both directions, decoding
    both-ways -> wrong-tags                        a negative control: the tutorials' fault
    both-ways -> continued -> contrastive, back-translation, hard examples      all from the same trained start

Every row that trains has the same budget (`small` may end before it, with its fourth epoch), and the others none, but
for `language-model`, whose language model takes
half a budget more, and `ensemble`, whose second model takes another whole one. `continued` spends a second budget on
nothing new: what fine-tuning gave is what it gave beyond that.

Source: Olympiad tutorials, first tutorial, sections III, V and VI.
"""

import dataclasses
from collections.abc import Sequence
from typing import Any

from coursepkg.projects.translation.ladder.row import LadderRow, Times
from coursepkg.projects.translation.recipe import PRESETS, Recipe


def _fine_tuning(**changes: Any) -> dict[str, Any]:
    return {"learning_rate": Times(0.3), "warmup": 50, **changes}


def _row(name: str, about: str, builds_on: str = "modern", **fields: Any) -> LadderRow:
    own = {field.name for field in dataclasses.fields(LadderRow)}
    changes = {key: value for key, value in fields.items() if key not in own}
    given = {key: value for key, value in fields.items() if key in own}
    return LadderRow(name, about, builds_on, given.pop("changes", {}) | changes, **given)


ROWS: dict[str, LadderRow] = {
    row.name: row
    for row in (
        _row("gru-baseline", "the contest's GRU without attention", "", preset="gru-baseline"),
        _row("gru-attention", "additive attention", "gru-baseline", architecture="gru-attention"),
        _row(
            "gru-attention-true-words",
            "and the decoder always reads the true word before, not in three steps of ten",
            "gru-attention",
            teacher_forcing=1.0,
        ),
        _row(
            "vaswani2017",
            "the Transformer of 2017, as many parameters as `modern`; a third of its rate, which post-norm bears",
            "gru-attention",
            preset="base",
            architecture="vaswani2017",
            learning_rate=Times(1 / 3),
            d_ff=Times(1.07),  # one matrix less than SwiGLU, but keys and values of every head
        ),
        _row("modern", "RMSNorm, RoPE, grouped-query attention, SwiGLU", "vaswani2017", preset="base"),
        _row(
            "decoder-only",
            "source and target as one text of one decoder, as many parameters as `modern`",
            architecture="decoder-only",
            n_decoder_layers=Times(2.25),  # 9 for 4 and 4: no encoder, and layers without cross-attention
        ),
        _row(
            "small",
            "the preset `small`: what helped, together; its cosine ends after four epochs",
            preset="small",
            max_epochs=4,  # 36 would be cut off in eight minutes, at a rate that is still high
        ),
        _row(
            "random-split",
            "raw lines split at random; its dev part leaks, so its score is flattered",
            preparation="random-split",
        ),
        _row("underscores-removed", "Vietnamese targets without underscores", underscores="remove"),
        _row("underscores-kept", "Vietnamese targets with underscores", underscores="keep"),
        _row("vocab-4000", "4,000 subwords", vocab_size=4000),
        _row("vocab-8000", "8,000 subwords", vocab_size=8000),
        _row("vocab-12000", "12,000 subwords", vocab_size=12000),
        _row("vocab-16000", "16,000 subwords", vocab_size=16000),
        _row("unigram", "unigram subwords instead of BPE", subword="unigram"),
        _row("separate-vocabularies", "a vocabulary for each language, no tags", joint=False),
        _row("bpe-dropout", "words cut at random, probability 0.1", subword_noise=0.1),
        _row("no-label-smoothing", "label smoothing off", label_smoothing=0.0),
        _row("no-averaging", "the last weights instead of their moving average", ema=0.0),
        _row("rope-cross", "queries and keys of cross-attention rotated, too", rope_cross=True),
        _row("span-mask", "one or two source tokens masked in a tenth of the sentences", span_mask=0.1),
        _row("r-drop", "R-Drop, alpha 1", r_drop=1.0),
        _row("sam", "sharpness-aware minimisation, radius 0.05", sam_rho=0.05),
        _row("reverse-0.7", "both directions, the rotating window of 0.7", reverse=0.7),
        _row("both-ways", "both directions, all pairs", reverse=1.0),
        _row(
            "wrong-tags",
            "every second pair with the other tag but not turned: a fault, as a control",
            "both-ways",
            reverse_fault="unswapped",
        ),
        _row(
            "continued",
            "`both-ways` trained for a second budget",
            "both-ways",
            start="both-ways",
            changes=_fine_tuning(),
        ),
        _row(
            "contrastive",
            "contrastive stage between a sentence and its translation",
            "continued",
            start="both-ways",
            contrastive=0.1,
        ),
        *(
            _row(
                f"self-contrastive-{versions}",
                f"and between two {made} of a sentence",
                "contrastive",
                start="both-ways",
                self_contrastive=0.1,
                versions=versions,
            )
            for versions, made in (("mask", "masked versions"), ("dropout", "dropout masks"))
        ),
        _row(
            "self-contrastive-round-trip",
            "and between a sentence and its round trip",
            "contrastive",
            start="both-ways",
            preparation="round-trips",
            self_contrastive=0.1,
            versions="round-trip",
        ),
        _row(
            "back-translation",
            "further target sentences, translated back by `both-ways`",
            "continued",
            start="both-ways",
            preparation="back-translation",
        ),
        _row(
            "hard-examples",
            "the worst third of the training sentences twice",
            "continued",
            start="both-ways",
            preparation="hard-examples",
        ),
        *(
            _row(f"beam-{n}", "greedy search" if n == 1 else f"{n} beams", decoding="search", beam_size=n)
            for n in (1, 4, 6, 8)
        ),
        *(
            _row(f"length-{alpha:g}", f"length penalty {alpha:g}", decoding="search", length_penalty=alpha)
            for alpha in (0.0, 0.6, 1.4)
        ),
        _row("top-k", "tokens drawn among the 10 likeliest", decoding="sample", draws={"top_k": 10}),
        _row("top-p", "tokens drawn from 0.9 of the probability", decoding="sample", draws={"top_p": 0.9}),
        _row("neighbours", "nearest neighbours in the training part mixed in", decoding="neighbours"),
        _row("ensemble", "decoded together with a second model of another seed", decoding="ensemble"),
        _row("repairs", "numbers, terms and repetitions repaired with a dictionary", decoding="repairs"),
        _row(
            "language-model",
            "the eight beams reranked with a language model, which trains for half a budget more",
            "beam-8",
            decoding="language-model",
        ),
        _row("both-ways-beam-8", "8 beams", "both-ways", decoding="search", beam_size=8),
        _row(
            "noisy-channel",
            "the eight beams reranked by how well the same model translates them back",
            "both-ways-beam-8",
            decoding="noisy-channel",
        ),
    )
}
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
        row: the row.
        base: what `base` stands for.

    Raises:
        ValueError: the changes do not fit the recipe.
    """
    if row.preset:
        recipe = base if row.preset == "base" else PRESETS[row.preset]
        limits = {name: getattr(base, name) for name in ("max_seconds", "max_epochs", "patience")}
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
