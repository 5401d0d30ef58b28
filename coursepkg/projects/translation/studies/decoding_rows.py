"""What a study of decoding found: its rows, and how they are written."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

COLUMNS = {
    "BLEU": ("bleu", ".2f"),
    "chrF": ("chrf", ".2f"),
    "length": ("length_ratio", ".3f"),
    "distinct": ("n_distinct", "d"),
    "cut": ("n_cut", "d"),
    "log p": ("log_prob", ".2f"),
    "seconds": ("seconds", ".2f"),
    "per s": ("sentences_per_second", ".1f"),
}
"""Of the table: heading, field and format."""


@dataclass(frozen=True)
class MethodRow:
    """One method on the dev part."""

    method: str
    """In words."""
    seed: int | None
    """Of the draws; None for a search."""
    bleu: float
    """Of the corpus, 0 to 100."""
    chrf: float
    """Of the corpus, 0 to 100."""
    length_ratio: float
    """Mean over the sentences of words of the translation / words of the reference; characters for Chinese."""
    n_distinct: int
    """Different translations among all."""
    n_cut: int
    """Translations that the limit of tokens cut off."""
    log_prob: float
    """Mean of log p(y | x) under the model itself, before any filter, natural logarithm."""
    seconds: float
    """Wall-clock time of decoding, scores not counted."""
    sentences_per_second: float
    """Of the same."""


@dataclass(frozen=True)
class BeamRow:
    """A beam search against greedy decoding, sentence by sentence."""

    method: str
    """The search."""
    n: int
    """Sentences."""
    n_more_probable: int
    """Of them those for which the search found a translation of higher log p(y | x)."""
    n_better: int
    """Of these those whose sentence BLEU is higher, too."""
    n_worse: int
    """Of these those whose sentence BLEU is lower."""
    n_less_probable: int
    """Sentences for which it returned one of lower log p(y | x): the length penalty wants that, or the beam lost it."""


@dataclass(frozen=True)
class DecodingStudy:
    """All rows, in the order of the methods."""

    rows: tuple[MethodRow, ...]
    beams: tuple[BeamRow, ...]
    n: int
    """Sentences."""
    n_source_cut: int
    """Sources that were longer than the model takes, and were cut."""
    signature: str
    """Of the BLEU scores, up to the method."""
    device: str
    """Where it ran."""
    threads: int
    """Threads of PyTorch on the CPU."""

    def as_json(self) -> dict[str, Any]:
        """All of it, as JSON can hold it."""
        return asdict(self)

    def __str__(self) -> str:
        names = [row.method + ("" if row.seed is None else f", seed {row.seed}") for row in self.rows]
        table = [["method", *COLUMNS]]
        for name, row in zip(names, self.rows, strict=True):
            table.append([name, *(format(getattr(row, field), form) for field, form in COLUMNS.values())])
        lines = [
            _aligned(table),
            "",
            f"{self.n} sentences, {self.device}, {self.threads} threads; {self.signature}",
        ]
        if self.n_source_cut:
            lines.append(f"{self.n_source_cut} sources were cut, being longer than the model takes")
        lines += [
            f"{one.method}: more probable than greedy for {one.n_more_probable} of {one.n} sentences, of which BLEU is "
            f"higher for {one.n_better} and lower for {one.n_worse}; less probable for {one.n_less_probable}"
            for one in self.beams
        ]
        return "\n".join(lines)


def _aligned(table: Sequence[Sequence[str]]) -> str:
    """Columns of equal width, the first to the left, the others to the right."""
    widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
    return "\n".join(
        "  ".join(
            [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
        )
        for row in table
    )
