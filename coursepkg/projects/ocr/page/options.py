"""How a page is read: what counts as text, who reads it, and how lines are made of boxes."""

from dataclasses import dataclass
from typing import Any, Literal

import tyro

from coursepkg.arguments import check_count, check_field, check_finite, check_share, flag_of
from coursepkg.projects.ocr.detector.lines import WORD_GAP
from coursepkg.projects.ocr.recipe import READERS


@dataclass(frozen=True)
class ReadOptions:
    """How a page is read."""

    min_score: float = 0.0
    """Boxes that the detector is less sure of are left out, in [0, 1]."""
    min_confidence: float = 0.0
    """Lines that the recogniser is less sure of are left out, in [0, 1]."""
    reader: Literal["ctc", "attention", "joint"] | None = None
    """Who reads: the CTC head (fastest), the decoder, or both. The model's recipe decides if it is not given."""
    beam_size: int | None = None
    """Beams; 1 is greedy. The model's recipe decides if it is not given."""
    second_look: float | None = None
    """Confidence in [0, 1] below which a line is read again, narrower and wider; 0 reads none again. Not given, it is
    0.9 for joint reading; the other readers have no second look."""
    batch_size: int = 64
    """Lines encoded at once; it changes the time and never the result."""
    word_gap: float = WORD_GAP
    """Boxes of one row are one line up to this gap between their letters, in heights of the lower letters."""
    margin: float = 0.0
    """Added to each box on every side before it is cut out, in heights of the line, from 0 to 1."""
    both_ways: tyro.conf.FlagCreatePairsOff[bool] = True
    """Do not look whether what reads badly stands upside down."""

    def __post_init__(self) -> None:
        for name in ("min_score", "min_confidence"):
            check_share(flag_of(name), getattr(self, name))
        check_finite("--word-gap", self.word_gap)
        check_field(self, "word_gap", self.word_gap >= 0, "at least 0")
        check_share("--margin", self.margin)
        check_count("--batch-size", self.batch_size)
        check_field(self, "reader", self.reader in (None, *READERS), f"one of {', '.join(READERS)}")
        if self.beam_size is not None:
            check_count("--beam-size", self.beam_size)
        if self.second_look is not None:
            check_share("--second-look", self.second_look)

    @property
    def way(self) -> dict[str, Any]:
        """Who reads and how, as `Recognizer.read_lines` takes it."""
        return {"reader": self.reader, "beam_size": self.beam_size, "second_look": self.second_look}
