"""Key information extraction by a model: a Transformer that labels lines of a page.

    lines (B, N): characters + place + dictionary -> (B, N, E)
                  -> encoder -> labels (B, N, 5)

Each line is one token. Its vector is the sum of three: the mean of learnt vectors of
its character n-grams, hashed into buckets as fastText does; a linear map of its place;
and a linear map of what the dictionary of the rules (`keywords`) and the parsers of
dates and amounts say of it. Its place is left, top, right, bottom, width and height
over those of the page, and its row over the number of rows, each as sinusoids.
Attention then sees all lines at once.

The typed values are those of the rules (`values`), and so is the check by arithmetic.

Sources: Xu et al., "LayoutLM" (arXiv 1912.13318), section 2.2, for two-dimensional
positions; Bojanowski et al. (arXiv 1607.04606), section 3.2, for hashed n-grams;
Ratinov and Roth, "Design Challenges and Misconceptions in Named Entity Recognition"
(CoNLL 2009), for what a dictionary says as an input (gazetteers).
"""

import math
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn

from coursepkg.app.model_folder import check_finished, weights_sha256
from coursepkg.attention.pattern import padding
from coursepkg.blocks.config import TransformerConfig
from coursepkg.blocks.encoder import Encoder
from coursepkg.blocks.layer_parts import initialise
from coursepkg.projects.ocr.data.table_row import LABELS
from coursepkg.projects.ocr.fields import keywords as kw
from coursepkg.projects.ocr.fields.arithmetic import find_items
from coursepkg.projects.ocr.fields.lines import (
    LEAST_SUM,
    FieldLine,
    as_field_lines,
    joined,
)
from coursepkg.projects.ocr.fields.page_kind import cut_edges, why_unreadable
from coursepkg.projects.ocr.fields.rules import (
    FIELDS,
    Field,
    Fields,
    checked_total,
    no_fields,
    with_cuts,
    without_name,
)
from coursepkg.projects.ocr.fields.values import Parsed, parse_amount, parse_timestamp
from coursepkg.text.vietnamese import without_marks
from coursepkg.training.saved_model import load_model

if TYPE_CHECKING:
    from coursepkg.projects.ocr.page.read import PageLine

TAGS = (*LABELS, "")
"""What a line can be; the last one is no field."""
N_PLACES = 7
"""Numbers that say where a line stands."""
LONGEST_NGRAM = 4
STRENGTHS = (kw.WEAK, kw.HOUSE, kw.STRONG)
"""Of an address (`keywords.address_strength`), from which a feature is set."""
N_FEATURES = len(kw.LINE_KINDS) + len(STRENGTHS) + 10
"""Numbers that say what the dictionary knows of a line (`dictionary_features`)."""


@dataclass(frozen=True)
class LineTaggerConfig:
    """Sizes of a `LineTagger`."""

    n_buckets: int = 2048
    """Vectors that the hashed n-grams share."""
    n_frequencies: int = 6
    """Sinusoids of a place: pi, 2 pi, 4 pi and so on over the page."""
    d_model: int = 64
    """Width of a line's vector (E)."""
    n_heads: int = 4
    n_layers: int = 2
    d_ff: int = 128
    dropout_p: float = 0.1


@dataclass(frozen=True, eq=False)
class PageFeatures:
    """A page as the network takes it."""

    ngrams: tuple[tuple[int, ...], ...]
    """Hashes of the n-grams of each line."""
    places: Tensor
    """float32 (N, N_PLACES), in [0, 1]."""
    features: Tensor
    """float32 (N, N_FEATURES), 0 or 1."""


@dataclass(frozen=True, eq=False)
class PageBatch:
    """Pages side by side, padded with empty lines."""

    ngrams: Tensor
    """Hashes (L,), line after line."""
    starts: Tensor
    """Where the n-grams of each of B * N lines begin in `ngrams` (B * N,)."""
    places: Tensor
    """(B, N, N_PLACES)."""
    features: Tensor
    """(B, N, N_FEATURES)."""
    lengths: Tensor
    """Lines of each page (B,)."""
    tags: Tensor
    """Numbers in `TAGS` (B, N), -100 behind the last line; -100 alone where nobody
    knows them."""

    def to(self, device: Any) -> "PageBatch":
        """The same batch on a device."""
        names = ("ngrams", "starts", "places", "features", "lengths", "tags")
        return PageBatch(*(getattr(self, name).to(device) for name in names))


@lru_cache(100_000)
def hashed_ngrams(text: str) -> tuple[int, ...]:
    """Hashes of the runs of 1 to 4 characters in the words of a text, and of the words.

    Marks and case are dropped, since readers lose marks first, and every digit is a 0.
    """
    plain = re.sub(r"\d", "0", without_marks(text).casefold())
    words = [f"<{word}>" for word in plain.split()]
    grams = [
        word[start : start + n]
        for word in words
        for n in range(1, LONGEST_NGRAM + 1)
        for start in range(len(word) - n + 1)
    ]
    return tuple(zlib.crc32(gram.encode()) for gram in [*grams, *words])


def dictionary_features(line: FieldLine) -> list[bool]:
    """What the dictionary and the parsers say of a line: N_FEATURES flags.

    What it is about (`FieldLine.kind`), whether it may be a shop or an address, and
    which values it holds.
    """
    strength = kw.address_strength(line.text)
    return [
        *(line.kind == kind for kind in kw.LINE_KINDS),
        *(strength >= least for least in STRENGTHS),
        kw.seller_words(line.text) > 0,
        kw.begins_address(line.text),
        kw.names_address(line.text),
        line.has_date,
        line.has_time,
        line.says_when,
        line.has_price,
        line.is_amount,
        line.may_be_head,
        any(abs(one.value) >= LEAST_SUM for one in line.amounts),
    ]


def page_features(lines: Sequence[FieldLine]) -> PageFeatures:
    """What the network sees of the lines of a page; there must be one at least."""
    sides = [(one.left, one.top, one.right, one.bottom) for one in lines]
    boxes = torch.tensor(sides)
    low, high = boxes[:, :2].amin(dim=0), boxes[:, 2:].amax(dim=0)
    boxes = (boxes - low.repeat(2)) / (high - low).clamp(min=1e-6).repeat(2)
    rows = torch.tensor([[float(one.row)] for one in lines])
    rows /= rows.max().clamp(min=1.0)
    places = torch.cat([boxes, boxes[:, 2:] - boxes[:, :2], rows], dim=1)
    features = torch.tensor([dictionary_features(one) for one in lines]).float()
    ngrams = tuple(hashed_ngrams(one.text) for one in lines)
    return PageFeatures(ngrams, places, features)


def collate(
    pages: Sequence[PageFeatures], tags: Sequence[Sequence[int]] | None = None
) -> PageBatch:
    """Pages to a batch.

    Args:
        pages: with one line at least.
        tags: of the lines of each page, as numbers in `TAGS`.
    """
    lengths = [len(page.ngrams) for page in pages]
    size = max(lengths)
    places = torch.zeros(len(pages), size, N_PLACES)
    features = torch.zeros(len(pages), size, N_FEATURES)
    known = torch.full((len(pages), size), -100)
    bags: list[tuple[int, ...]] = []
    for number, page in enumerate(pages):
        n = lengths[number]
        places[number, :n] = page.places
        features[number, :n] = page.features
        bags += [*page.ngrams, *([()] * (size - n))]
        if tags is not None:
            known[number, :n] = torch.tensor(tags[number])
    ends = torch.tensor([0, *map(len, bags)]).cumsum(0)
    ngrams = torch.tensor([gram for bag in bags for gram in bag], dtype=torch.long)
    n_lines = torch.tensor(lengths)
    return PageBatch(ngrams, ends[:-1], places, features, n_lines, known)


class LineTagger(nn.Module):
    """Lines of pages to the labels of `TAGS`.

    Args:
        config: its sizes.
    """

    frequencies: Tensor
    data: dict[str, Any]
    """What it learnt from, as `training` stored it; empty before."""

    def __init__(self, config: LineTaggerConfig | None = None) -> None:
        super().__init__()
        self.config = config = config or LineTaggerConfig()
        self.data = {}
        self.characters = nn.EmbeddingBag(config.n_buckets, config.d_model)
        angles = math.pi * 2.0 ** torch.arange(config.n_frequencies)
        self.register_buffer("frequencies", angles, persistent=False)
        self.place = nn.Linear(2 * N_PLACES * config.n_frequencies, config.d_model)
        self.dictionary = nn.Linear(N_FEATURES, config.d_model, bias=False)
        self.encoder = Encoder(
            TransformerConfig(
                vocab_size=1,
                d_model=config.d_model,
                n_heads=config.n_heads,
                n_encoder_layers=config.n_layers,
                d_ff=config.d_ff,
                dropout_p=config.dropout_p,
                norm_first=True,
                final_norm=True,
                activation="gelu",
                position="none",
            )
        )
        self.output = nn.Linear(config.d_model, len(TAGS))
        for part in (self.place, self.dictionary, self.output):
            initialise(part)

    def forward(self, batch: PageBatch) -> Tensor:
        """Pages of at most N lines -> logits (B, N, len(TAGS))."""
        n_pages, size = batch.places.shape[:2]
        buckets = batch.ngrams % self.config.n_buckets
        text = self.characters(buckets, batch.starts)  # (B * N, E)
        angles = (batch.places[..., None] * self.frequencies).flatten(-2)
        place = self.place(torch.cat([angles.sin(), angles.cos()], dim=-1))
        known = self.dictionary(batch.features)
        x = text.view(n_pages, size, -1) + place + known
        return self.output(self.encoder(x, padding(batch.lengths)))

    @classmethod
    def load(cls, folder: str | Path) -> "LineTagger":
        """Read the folder that `coursepkg ocr train-fields --out` wrote.

        Raises:
            FileNotFoundError: there is no finished model in it, or a file is missing.
            ValueError: a file is damaged, or it is a model of another kind.
        """

        def build(fields: dict[str, Any]) -> nn.Module:
            try:
                return cls(LineTaggerConfig(**fields))
            except TypeError:
                raise ValueError(
                    f"{folder}: its model labels no lines of receipts; give a folder"
                    " that `coursepkg ocr train-fields` wrote"
                ) from None

        model, card = load_model(check_finished(folder) / "model", build)
        assert isinstance(model, LineTagger)
        model.data = card.get("data", {})
        return model

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the weights."""
        return weights_sha256("", [self])

    @torch.no_grad()
    def tag(self, lines: Sequence[FieldLine]) -> list[tuple[str, float]]:
        """The label of each line of a page, one of `TAGS`, and its probability."""
        if not lines:
            return []
        logits = self.eval()(collate([page_features(lines)]))[0]
        best, numbers = logits.softmax(dim=-1).max(dim=-1)
        names = [TAGS[number] for number in numbers.tolist()]
        return list(zip(names, best.tolist(), strict=True))

    def extract_fields(
        self,
        page_lines: "Sequence[PageLine]",
        size: tuple[int, int] | None = None,
        *,
        is_receipt: bool = False,
    ) -> Fields:
        """The fields of the receipt that a page shows, as `rules.extract_fields`.

        Args:
            page_lines: of the page, in reading order.
            size: width and height of its picture in pixels.
            is_receipt: whether it is known that the page shows one receipt.
        """
        lines = as_field_lines(page_lines)
        if reason := why_unreadable(lines, is_receipt=is_receipt):
            return no_fields(reason)
        tags = self.tag(lines)
        found: dict[str, Field] = {}
        notes: tuple[str, ...] = ()
        for name, label in zip(FIELDS, LABELS, strict=True):
            there = zip(lines, tags, strict=True)
            chosen = [(line, p) for line, (tag, p) in there if tag == label]
            found[name], more = _field(name, chosen)
            notes += more
        used = {number for field in found.values() for number in field.lines}
        items = find_items(lines, used)
        found["total"], more = checked_total(found["total"], lines, items)
        fields = Fields(**found, items=tuple(items), notes=(*notes, *more))
        if size is None:
            return fields
        return with_cuts(fields, cut_edges(page_lines, lines, size))


def _field(
    name: str, chosen: Sequence[tuple[FieldLine, float]]
) -> tuple[Field, tuple[str, ...]]:
    """A field of the lines that were labelled so, and notes.

    Args:
        name: one of `FIELDS`.
        chosen: lines in reading order with the probability of the label.
    """
    if not chosen:
        return Field(reason=f"no line is labelled as the {name}"), ()
    text = joined(line for line, _ in chosen)
    numbers = tuple(line.number for line, _ in chosen)
    parsed = _PARSERS[name](text)
    if parsed.value is None:
        return Field(None, text, 0.0, numbers, parsed.reason), parsed.notes
    sure = min(line.confidence * p for line, p in chosen)
    return Field(parsed.value, text, sure, numbers), parsed.notes


def _parse_name(text: str, names: frozenset[str]) -> Parsed[str]:
    """A text without the words that announce it."""
    value = without_name(text, names)
    return Parsed(value) if value else Parsed(None, f"{text!r} has a name alone")


_PARSERS: dict[str, Callable[[str], Parsed[Any]]] = {
    "seller": partial(_parse_name, names=kw.SELLER_NAMES),
    "address": partial(_parse_name, names=kw.ADDRESS_NAMES),
    "timestamp": parse_timestamp,
    "total": parse_amount,
}
