"""Read pictures of lines: the class that an application imports.

>>> recognizer = Recognizer.load_default()
>>> [one.text for one in recognizer.read_lines(["line1.png", "line2.png"])]
['Phở bò tái', '45.000']
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from coursepkg.app.model_folder import (
    check_finished,
    default_device,
    read_trained,
    weights_sha256,
)
from coursepkg.projects.ocr.data.images import fit_image, read_gray
from coursepkg.projects.ocr.decode import encode_lines
from coursepkg.projects.ocr.line import (
    Alternative,
    LineReading,
    check_gray,
    decode_text,
)
from coursepkg.projects.ocr.model.recognizer import (
    LineTransformer,
    encoding_type,
    fast_copy,
    rebuild,
)
from coursepkg.projects.ocr.readers import (
    TTA_LINES,
    Candidate,
    Reader,
    read_augmented,
    read_encoded,
    tta_threshold,
)
from coursepkg.projects.ocr.recipe import Recipe
from coursepkg.text.vocabulary import Vocabulary
from coursepkg.validation import as_list, check_count, check_largest

DEFAULT = Path(__file__).parent / "checkpoint"
"""The model that ships with the package: small, trained on rendered lines."""
VOCABULARY = "vocabulary.json"

Picture = str | Path | np.ndarray
"""A file, or grayscale pixels, uint8 (height, width)."""


class Recognizer:
    """A trained network with its vocabulary.

    Args:
        model: the network.
        vocabulary: its characters.
        recipe: what it was trained by; its way of reading is the default here.
        precision: of reading. 32-true reads alike on every machine; auto encodes in
            bfloat16 where the processor multiplies that itself, which is faster and may
            read a doubtful letter otherwise.
    """

    def __init__(
        self,
        model: LineTransformer,
        vocabulary: Vocabulary,
        recipe: Recipe,
        *,
        precision: str = "32-true",
    ) -> None:
        if model.config.vocab_size != len(vocabulary):
            raise ValueError(
                f"vocabulary must have the model's {model.config.vocab_size}"
                f" characters, got {len(vocabulary)}"
            )
        self.model, self.vocabulary, self.recipe = model.eval(), vocabulary, recipe
        self.dtype = encoding_type(model, precision)
        """What it encodes in on this machine."""
        self.fast = fast_copy(model, self.dtype)
        """The same network made ready for reading."""

    @classmethod
    def load(cls, folder: str | Path, *, precision: str = "32-true") -> "Recognizer":
        """Read the folder that `coursepkg ocr train --out` wrote; `precision` as above.

        Raises:
            FileNotFoundError: there is no finished model in it, or a file of it is
                missing.
            ValueError: a file is damaged, or vocabulary and weights do not belong
                together.
        """
        folder = check_finished(folder)
        if not (folder / VOCABULARY).is_file():
            raise FileNotFoundError(
                f"{folder} has no {VOCABULARY}; copy the whole folder again"
            )
        vocabulary = Vocabulary.load(folder / VOCABULARY)
        model, recipe, _ = read_trained(
            folder,
            rebuild,
            Recipe,
            needs={},
            lacks="reads no lines",
            vocabulary=vocabulary.fingerprint,
        )
        model = cast(LineTransformer, model).to(default_device())
        return cls(model, vocabulary, recipe, precision=precision)

    @classmethod
    def load_default(cls, *, precision: str = "32-true") -> "Recognizer":
        """The model that ships with the package; `precision` as above."""
        return cls.load(DEFAULT, precision=precision)

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of weights, vocabulary, fixed width of pictures and bfloat16."""
        box = f" box {self.recipe.box_width}" if self.recipe.box_width else ""
        half = " bfloat16" if self.dtype == torch.bfloat16 else ""
        told = f"{self.vocabulary.fingerprint}{box}{half}"
        return weights_sha256(told, [self.model])

    def read_lines(
        self,
        pictures: Sequence[Picture],
        *,
        n_best: int = 1,
        batch_size: int = 64,
        reader: str | None = None,
        beam_size: int | None = None,
        second_look: int | float | None = None,
        keep_going: bool = False,
        names: Sequence[str] | None = None,
    ) -> list[LineReading]:
        """Read pictures that show one line each, in order.

        A picture is scaled to the model's height and padded to a width that it chooses
        alone, and padding is hidden from every layer: what else is read in the same
        call changes nothing but the last digits of its confidence.

        Args:
            pictures: files, or grayscale pixels uint8 (height, width), of any width.
            n_best: readings of each line; there may be fewer. More than one needs as
                many beams, which are then the default.
            batch_size: lines encoded at once; they are read in groups of at most
                `LINES_AT_ONCE`.
            reader: ctc (fastest), attention or joint; None takes the recipe's.
            beam_size: beams of the search; None takes the recipe's, or `n_best` if that
                is more.
            second_look: lines read with less confidence are read again, in several
                widths (test-time augmentation); 0 reads none again. None is `TTA_BELOW`
                for the joint reader, and 0 for the others, who have no second look.
            keep_going: a picture that cannot be read gives a reading with its `error`
                instead of stopping all.
            names: what messages call pixels, one for each picture; None counts them
                from 1. Files have their own.

        Raises:
            ValueError: a picture cannot be read, or an option is out of range.
            FileNotFoundError: there is no such picture.
        """
        pictures = as_list("pictures", pictures, Picture, "pictures")
        check_count("batch_size", batch_size)
        way = self._way(n_best, reader, beam_size)
        limit = self.tta_below(reader, beam_size, second_look)
        images, found = prepare_all(pictures, self.prepare, names, keep_going)
        ids: dict[int, list[tuple[int, ...]]] = {}
        order = sorted(images, key=lambda i: (images[i].shape[1], i))
        for first in range(0, len(order), batch_size):
            chosen = order[first : first + batch_size]
            memory = encode_lines(self.fast, [images[i] for i in chosen])
            readings = read_encoded(self.fast, memory, way, n_best)
            for i, line in zip(chosen, readings, strict=True):
                found[i] = line_reading(line, self.vocabulary)
                ids[i] = [one.ids for one in line]
        unsure = [i for i in order if found[i].is_doubtful(limit)]
        for first in range(0, len(unsure), TTA_LINES):
            chosen = unsure[first : first + TTA_LINES]
            known, shown = [ids[i] for i in chosen], [images[i] for i in chosen]
            readings = read_augmented(self.fast, shown, way, n_best, known=known)
            for i, line in zip(chosen, readings, strict=True):
                found[i] = line_reading(line, self.vocabulary)
        return [found[i] for i in range(len(pictures))]

    def tta_below(
        self,
        reader: str | None = None,
        beam_size: int | None = None,
        second_look: int | float | None = None,
    ) -> float:
        """Confidence below which `read_lines` reads a line again; 0 for never.

        Raises:
            ValueError: this way of reading has no second look, or pictures of one fixed
                width can have none.
        """
        below = tta_threshold(self._way(1, reader, beam_size), second_look)
        if below and self.recipe.box_width:
            if second_look is not None:
                raise ValueError(
                    "second_look needs other widths, and this model reads pictures of"
                    f" {self.recipe.box_width} pixels alone; take second_look 0"
                )
            return 0.0
        return below

    def reading_settings(
        self,
        reader: str | None = None,
        beam_size: int | None = None,
        second_look: int | float | None = None,
    ) -> dict[str, Any]:
        """Reader, beam_size, second_look and dtype of `read_lines` with these options.

        Raises:
            ValueError: an option is out of range, or the model cannot read so.
        """
        way = self._way(1, reader, beam_size)
        return {
            "reader": way.kind,
            "beam_size": way.beam_size,
            "second_look": self.tta_below(reader, beam_size, second_look),
            "dtype": str(self.dtype).removeprefix("torch."),
        }

    def describe_reading(
        self,
        reader: str | None = None,
        beam_size: int | None = None,
        second_look: int | float | None = None,
    ) -> str:
        """How `read_lines` reads with these options, for the signature of a score."""
        found = self.reading_settings(reader, beam_size, second_look)
        below = found["second_look"]
        looks = f", second look below {below:g}" if below else ""
        half = ", bfloat16" if found["dtype"] == "bfloat16" else ""
        return f"{found['reader']} beam {found['beam_size']}{looks}{half}"

    def _way(self, n_best: int, reader: str | None, beam_size: int | None) -> Reader:
        """How to read: as the recipe says, where nothing else is asked for."""
        check_count("n_best", n_best)
        beams = max(n_best, self.recipe.beam_size) if beam_size is None else beam_size
        check_count("beam_size", beams)
        check_largest("beam_size", beams)
        check_count("n_best", n_best, most=beams)
        way = replace(
            Reader.of(self.recipe), kind=reader or self.recipe.reader, beam_size=beams
        )
        if way.kind != "attention" and not self.recipe.ctc_weight:
            raise ValueError(
                f"reader {way.kind} needs a model with a trained CTC head; take reader"
                " attention"
            )
        return way

    def prepare(self, picture: Picture, name: str = "picture") -> np.ndarray:
        """One picture as the network takes it: grayscale, of its height, not too wide.

        A model that was trained on pictures of one fixed width gets such pictures here,
        too.

        Raises:
            ValueError: it cannot be read; it is named by its file or by `name`.
        """
        config = self.model.config
        return prepare_picture(
            picture, name, config.height, self.recipe.box_width, config.max_width
        )


def prepare_picture(
    picture: Picture, name: str, height: int, box_width: int, most_width: int
) -> np.ndarray:
    """A picture as a network takes it, uint8 (height, width).

    Args:
        picture: a file, or pixels.
        name: what messages call pixels.
        height: of the result, in pixels.
        box_width: of the result, in pixels; 0 keeps the proportions.
        most_width: of the result, in pixels, where the proportions are kept.

    Raises:
        ValueError: it cannot be read.
        FileNotFoundError: there is no such picture.
    """
    if isinstance(picture, np.ndarray):
        check_gray(picture, name)
        image = picture
    else:
        image, name = read_gray(picture), str(picture)
    return fit_image(image, height, box_width, name, most_width=most_width)


def prepare_all(
    pictures: Sequence[Picture],
    prepare: Callable[[Picture, str], np.ndarray],
    names: Sequence[str] | None,
    keep_going: bool,
) -> tuple[dict[int, np.ndarray], dict[int, LineReading]]:
    """By number the prepared pictures, and a reading with its error for each other.

    Args:
        pictures: files, or pixels.
        prepare: makes one ready, given with its name.
        names: what messages call pixels, one for each picture; None counts them.
        keep_going: whether a picture that cannot be read stops nothing.

    Raises:
        ValueError: there are not as many names, or a picture cannot be read.
        FileNotFoundError: there is no such picture.
    """
    if names is None:
        names = [f"picture {i + 1}" for i in range(len(pictures))]
    if len(names) != len(pictures):
        raise ValueError(
            f"names must be as many as pictures, {len(pictures)}, got {len(names)}"
        )
    images: dict[int, np.ndarray] = {}
    failed: dict[int, LineReading] = {}
    for i, (picture, name) in enumerate(zip(pictures, names, strict=True)):
        try:
            images[i] = prepare(picture, name)
        except (ValueError, OSError) as reason:
            if not keep_going:
                raise
            failed[i] = LineReading((), str(reason))
    return images, failed


def line_reading(
    candidates: Sequence[Candidate], vocabulary: Vocabulary
) -> LineReading:
    """What a line says, by its candidates, best first."""
    return LineReading(
        tuple(
            Alternative(decode_text(one.ids, vocabulary), one.confidence, one.score)
            for one in candidates
        )
    )
