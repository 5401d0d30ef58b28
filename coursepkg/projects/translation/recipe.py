"""Recipes: all that decides a model besides its data and its seed; and the presets."""

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from coursepkg.app.recipe import (
    AttentionDropout,
    Count,
    Ema,
    Fraction,
    MaxEpochs,
    MaxSeconds,
    NonNegative,
    Positive,
    Precision,
    Share,
    Warmup,
    WeightDecay,
    check_fields,
)
from coursepkg.validation import flag_of

ADDED_SETTINGS = {
    "reverse_fault": "none",
    "norm_eps": 1e-6,
    "placeholders": "keep",
    "optimizer": "adamw",
    "reverse_weight": 0.0,
    "split_sentences": False,
}
"""Fields that files of older runs do not name, with the defaults that they had then."""


@dataclass(frozen=True)
class Recipe:
    """Text, model, training and decoding; the defaults are the preset `plain`."""

    vocab_size: Count = 4000
    """Subwords, special tokens and tags included; of both languages together, or of
    each where `joint` is off."""
    joint: bool = True
    """One vocabulary for both languages, with language tags; off: one for each, without
    tags."""
    subword: Literal["unigram", "bpe"] = "bpe"
    """How SentencePiece cuts words."""
    subword_noise: Share = 0.0
    """BPE-dropout probability, or 1 - alpha of unigram sampling, in training; 0 takes
    the best segmentation always."""
    underscores: Literal["keep", "remove"] = "keep"
    """Whether Vietnamese targets have word-segmentation underscores."""
    placeholders: Literal["keep", "mask"] = "keep"
    """Whether links, codes, tags and numbers stand in the model's text or are
    masked and copied, see `coursepkg.projects.translation.placeholders`."""
    max_len: Count = 64
    """Most tokens of a source and of a target, special tokens included; longer pairs
    are left out and counted."""
    architecture: Literal[
        "gru", "gru-attention", "vaswani2017", "modern", "decoder-only"
    ] = "modern"
    """Kind of model; decoder-only reads the source as the beginning of one long
    text."""
    d_model: Count = 256
    """Width of the residual stream; of the embeddings in a GRU."""
    n_heads: Count = 8
    """Query heads."""
    n_kv_heads: Count = 2
    """Key-value heads, a divisor of n_heads; vaswani2017 takes n_heads."""
    n_encoder_layers: Count = 4
    """Layers of the encoder."""
    n_decoder_layers: Count = 4
    """Layers of the decoder."""
    d_ff: Count = 688
    """Width inside the feed-forward networks; of the state in a GRU."""
    dropout: Fraction = 0.3
    """Probability of dropping a component of an embedding or a sublayer's output, in
    [0, 1)."""
    attention_dropout: AttentionDropout = 0.0
    activation_dropout: Fraction = 0.0
    """Probability of dropping a component inside a feed-forward network, in [0, 1)."""
    rope_cross: bool = False
    """Rotate queries and keys of cross-attention, too, as the report does."""
    norm_eps: Positive = 1e-6
    """What RMSNorm adds to the mean square, above 0; of `modern` and `decoder-only`."""
    output_bias: bool = False
    """Whether the output layer has a bias."""
    reverse: Share = 0.0
    """Share of the pairs that an epoch also trains the other way round, in [0, 1];
    needs `joint`."""
    reverse_fault: Literal["none", "unswapped"] = "none"
    """A negative control; unswapped gives every second pair the other tag but does not
    turn it, as the tutorials do."""
    span_mask: Share = 0.0
    """Probability of masking one or two tokens of a source, in [0, 1]."""
    batch_tokens: Count = 2048
    """Positions of a batch, padding included."""
    optimizer: Literal["adamw", "muon"] = "adamw"
    """What moves the weights, see `coursepkg.training.muon`."""
    learning_rate: NonNegative = 1.5e-3
    """The highest learning rate; the factor of `noam`, which is 1 in the paper."""
    schedule: Literal["constant", "inverse-sqrt", "noam", "cosine", "staircase"] = (
        "inverse-sqrt"
    )
    """How it moves from step to step."""
    warmup: Warmup = 400
    weight_decay: WeightDecay = 1e-4
    label_smoothing: Fraction = 0.1
    """Share of the target distribution that goes to other tokens, in [0, 1)."""
    smoothing_convention: Literal["pytorch", "olympiad"] = "pytorch"
    """How it is shared out: over all tokens, or over all but the right one."""
    teacher_forcing: Share = 1.0
    """Probability that the decoder's next input is the true token, in [0, 1]."""
    r_drop: NonNegative = 0.0
    """Weight of R-Drop's divergence, at least 0; above 0 a step takes two passes."""
    sam_rho: NonNegative = 0.0
    """Radius of sharpness-aware minimisation, at least 0; above 0 a step takes two
    passes."""
    contrastive: NonNegative = 0.0
    """Weight of the contrastive loss between a sentence and its translation, at least
    0; needs `joint`."""
    self_contrastive: NonNegative = 0.0
    """Weight of the contrastive loss between two versions of one sentence, at least 0;
    needs `joint`."""
    versions: Literal["mask", "dropout", "round-trip"] = "mask"
    """How the versions are made; round-trip translations come from `--round-trips`."""
    temperature: Positive = 0.1
    """Of the contrastive losses, above 0."""
    ema: Ema = 0.999
    max_epochs: MaxEpochs = 60
    max_seconds: MaxSeconds = 3000.0
    patience: Count = 10
    """Validations without a new best BLEU until training stops, at least 1."""
    precision: Precision = "auto"
    beam_size: Count = 5
    """Beams of the search that translates; 1 is greedy."""
    length_penalty: float = 1.0
    """Exponent alpha of the length penalty."""
    reverse_weight: NonNegative = 0.0
    """Weight of log p(source | translation) when translations are ranked; a model of
    one direction ignores it."""
    split_sentences: bool = False
    """Translate each sentence of a text by itself, for a model that learnt mostly
    single sentences."""

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("reverse", "contrastive", "self_contrastive"):
            if getattr(self, name) and not self.joint:
                raise ValueError(
                    f"{flag_of(name)} needs --joint: one vocabulary for both languages,"
                    " with tags"
                )
        if self.reverse_fault != "none" and (
            not self.reverse or self.contrastive or self.self_contrastive
        ):
            raise ValueError(
                "--reverse-fault needs --reverse above 0, whose examples it spoils, and"
                " no contrastive loss"
            )
        if self.architecture == "decoder-only" and not self.joint:
            raise ValueError(
                "--architecture decoder-only needs --joint: source and target are one"
                " text"
            )

    @property
    def reads_both(self) -> bool:
        """Whether the encoder reads targets: pairs must then fit either way round."""
        return bool(self.reverse or self.contrastive or self.self_contrastive)

    def described(self) -> dict[str, Any]:
        """All fields, as JSON can hold them."""
        return dataclasses.asdict(self)

    def decisive(self) -> dict[str, Any]:
        """The fields of a fingerprint, without `ADDED_SETTINGS` at their defaults."""
        usual = ADDED_SETTINGS.items()
        return {
            name: value
            for name, value in self.described().items()
            if (name, value) not in usual
        }


@dataclass(frozen=True)
class LanguageRecipe:
    """A small decoder-only language model with its training.

    The vocabulary is the translator's.
    """

    d_model: Count = 256
    """Width of the residual stream."""
    n_heads: Count = 4
    """Heads, a divisor of `d_model`."""
    n_layers: Count = 4
    """Layers."""
    d_ff: Count = 688
    """Width inside the feed-forward network."""
    dropout: Fraction = 0.2
    """Probability of dropping a component of an embedding or of a sublayer's output, in
    [0, 1)."""
    batch_tokens: Count = 4096
    """Positions of a batch, padding included."""
    learning_rate: Positive = 1e-3
    """The highest learning rate, above 0."""
    warmup: Warmup = 300
    weight_decay: WeightDecay = 0.01
    max_epochs: Count = 20
    """Passes over the sentences, at least 1."""
    max_seconds: MaxSeconds = 900.0
    patience: Count = 3
    """Validations without a new best perplexity until training stops, at least 1."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.d_model % (2 * self.n_heads):
            raise ValueError(
                "--n-heads must make heads of even width out of --d-model"
                f" {self.d_model}, got {self.n_heads}"
            )

    def described(self) -> dict[str, Any]:
        """All fields, as JSON can hold them."""
        return dataclasses.asdict(self)


GRU_BASELINE = Recipe(
    vocab_size=3000,
    joint=False,
    max_len=80,
    architecture="gru",
    precision="32-true",
    d_model=64,
    d_ff=128,
    batch_tokens=1536,
    learning_rate=0.01,
    schedule="constant",
    weight_decay=0.0,
    label_smoothing=0.0,
    teacher_forcing=0.3,
    ema=0.0,
    max_epochs=10,
    beam_size=1,
)
"""The contest's baseline: 3,000 BPE pieces a side, embedding 64, state 128; 919,992
parameters."""

TINY = Recipe(
    precision="32-true",
    vocab_size=2000,
    underscores="remove",
    d_model=128,
    n_heads=4,
    n_encoder_layers=2,
    n_decoder_layers=2,
    d_ff=344,
    dropout=0.1,
    batch_tokens=3072,
    learning_rate=3e-3,
    warmup=200,
    ema=0.99,
    max_epochs=20,
    max_seconds=75.0,
    beam_size=4,
)
"""For the phrasebook on a CPU, under two minutes."""

SMALL = Recipe(
    underscores="remove",
    subword_noise=0.1,
    schedule="cosine",
    warmup=600,
    ema=0.0,
    max_epochs=36,
    max_seconds=7200.0,
    patience=36,
    length_penalty=2.0,
)
"""For some 30,000 real pairs, in about an hour on one processor core: what helped most
among the settings tried."""

REPORT = Recipe(
    vocab_size=8000,
    d_model=768,
    n_heads=12,
    n_kv_heads=4,
    n_encoder_layers=8,
    n_decoder_layers=8,
    d_ff=3072,
    dropout=0.01,
    attention_dropout=0.01,
    rope_cross=True,
    norm_eps=1e-8,
    output_bias=True,
    max_len=32,
    reverse=0.7,
    span_mask=0.01,
    batch_tokens=4096,
    learning_rate=2e-4,
    warmup=200,
    weight_decay=0.01,
    label_smoothing=0.01,
    smoothing_convention="olympiad",
    ema=0.0,
    max_epochs=40,
    max_seconds=86400.0,
    precision="bf16-mixed",
)
"""The model of the Olympiad tutorials with their settings: 157,179,200 parameters, for
a GPU."""

PRESETS = {
    "gru-baseline": GRU_BASELINE,
    "tiny": TINY,
    "plain": Recipe(),
    "small": SMALL,
    "report": REPORT,
}
"""By the name that `--preset` takes; `plain` is `small` with the usual settings, where
the ladder begins."""
