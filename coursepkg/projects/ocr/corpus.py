"""A set of labelled lines in three parts: what they say is there at once, their pictures when they are asked for."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from coursepkg.projects.ocr.data.audit import LabelledText
from coursepkg.projects.ocr.data.mc_ocr_lines import Sorted, Unreadable, sort_lines
from coursepkg.projects.ocr.data.table_row import Fault
from coursepkg.projects.ocr.line import TextLine

PARTS = ("train", "dev", "test")
ReadPart = Callable[[str], Iterable[TextLine | Unreadable]]
"""The lines of a part by its name, one after another."""
Sizes = Callable[[], list[tuple[float, float]]]
"""Width and height in pixels of pictures, as far as they are known without much work."""


@dataclass(frozen=True)
class Corpus:
    """Lines by part. Texts are there at once; pictures are drawn or read when a part is asked for."""

    name: str
    """Of the set that was read; of a user's own folder the folder's name."""
    protocol: str
    """How it is parted, in a word or two: for signatures."""
    labels: Mapping[str, tuple[LabelledText, ...]]
    """What the lines of each part say, pictures that cannot be read included."""
    read: ReadPart
    """Gives the lines of a part, in the order of its labels."""
    source: Mapping[str, str]
    """What the lines are made from, by name and hash: equal for equal corpora."""
    sizes: Sizes
    """Of some pictures: what `describe` needs."""
    notes: tuple[str, ...] = ()
    """What stands in for something else, or must be known beside a score, one line each."""
    faults: tuple[Fault, ...] = ()
    """What is wrong with the table."""
    generate: int = 0
    """How many lines or receipts were asked for; 0 for the usual number, and where nothing is generated."""

    def part(self, name: str) -> Sorted:
        """The lines of a part with their pictures, and those whose pictures cannot be read.

        Raises:
            ValueError: it has no line.
        """
        return sort_lines(self.lines(name))

    def lines(self, name: str, limit: int = 0) -> list[TextLine | Unreadable]:
        """The lines of a part in their order, whether their pictures can be read or not.

        Args:
            name: train, dev or test.
            limit: so many of them, the first ones; 0 takes all.

        Raises:
            ValueError: it has no line.
        """
        if not self.labels[name]:
            raise ValueError(
                f"--data {self.name} has no {name} part under --split {self.protocol}; choose another --split or --part"
            )
        return list(islice(self.read(name), limit or None))

    @property
    def texts(self) -> dict[str, list[str]]:
        """What the lines of each part say."""
        return {part: [one.text for one in self.labels[part]] for part in PARTS}

    def described(self) -> dict[str, Any]:
        """What a model's card says of the data it learnt from."""
        return {
            "name": self.name,
            "protocol": self.protocol,
            "generate": self.generate,
            "source": dict(self.source),
            "n_lines": {part: len(self.labels[part]) for part in PARTS},
        }


def sizes_of(lines: Iterable[TextLine | Unreadable]) -> list[tuple[float, float]]:
    """Width and height of the pictures of some lines."""
    return [(float(line.width), float(line.height)) for line in lines if isinstance(line, TextLine)]
