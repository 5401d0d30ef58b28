"""Batches of lines for training, and the characters of a recogniser.

A line's width is rounded up to the next step, and only lines of the same rounded width
share a batch. So a line is padded alike whatever stands beside it.

The alphabet is that of the training part and a declared Vietnamese one, nothing of the
test. A character outside it becomes UNK; it is counted and named before training.
"""

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
import torch
from torch import Tensor

from coursepkg.data.batching import LazyBatches
from coursepkg.projects.ocr.data.images import fit_image, width_at
from coursepkg.projects.ocr.line import TextLine, bucket_width, pad_images
from coursepkg.projects.ocr.recipe import STEP
from coursepkg.text.cleaning import UnknownCharacter, find_unknown
from coursepkg.text.languages import language_of
from coursepkg.text.vocabulary import BOS, EOS, SPECIALS, Vocabulary, pad_batch
from coursepkg.validation import check_count

DECLARED = "".join(dict.fromkeys(language_of("vi").alphabet + "•·±²³≤≥′″©®™§→"))
"""All 67 accented letters and 26 plain ones in both cases, digits, ASCII punctuation,
the space, and signs of print."""


def character_vocabulary(
    train_texts: Iterable[str], declared: Collection[str] = DECLARED
) -> Vocabulary:
    """A vocabulary of single characters, in the order of their code points.

    Args:
        train_texts: texts of the training part, in Unicode form NFC.
        declared: characters that get an id in any case.

    Raises:
        ValueError: the texts are one string.
    """
    if isinstance(train_texts, str):
        raise ValueError(
            "train_texts must be a list of texts, got one string; put it into a list"
        )
    found = set(declared).union(*map(set, train_texts))
    return Vocabulary((*SPECIALS, *sorted(found)))


def characters_outside(
    texts: Iterable[str], known: Vocabulary | Collection[str] = DECLARED
) -> list[UnknownCharacter]:
    """Characters that an alphabet lacks, most frequent first, with advice."""
    alphabet = known.tokens[len(SPECIALS) :] if isinstance(known, Vocabulary) else known
    return sorted(find_unknown(texts, alphabet), key=lambda one: -one.count)


def encode_text(text: str, vocabulary: Vocabulary) -> list[int]:
    """Ids of the characters of a text, without BOS and EOS; UNK for unknown ones."""
    return vocabulary.encode(list(text))


def seen_texts(train_texts: Iterable[str], texts: Iterable[str]) -> list[bool]:
    """For each text whether exactly it stands in the training part.

    A recogniser may know such a line by heart: its character error rate is to be
    reported apart.
    """
    known = set(train_texts)
    return [text in known for text in texts]


def character_counts(texts: Iterable[str]) -> Counter[str]:
    """How often each character occurs."""
    return Counter(character for text in texts for character in text)


Augment = Callable[[np.ndarray, np.random.Generator], np.ndarray]
"""A picture, uint8 (height, width), and where chance comes from, to another picture of
the same size."""


@dataclass(frozen=True)
class LineBatch:
    """Lines side by side, padded with white on the right."""

    images: Tensor
    """Float32 (B, 1, height, width) in [-1, 1]: black is -1, white paper and padding
    +1."""
    widths: Tensor
    """Columns of each picture that are no padding (B,)."""
    tgt_in: Tensor
    """What the decoder reads (B, T), each row begins with BOS."""
    tgt_out: Tensor
    """What it is to say (B, T), each row ends with EOS, then PAD."""
    n_tokens: int
    """Positions of `tgt_out` that are no padding: what a loss sums over."""

    def to(self, device: torch.device | str, non_blocking: bool = False) -> "LineBatch":
        """The same batch on a device."""
        tensors = (self.images, self.widths, self.tgt_in, self.tgt_out)
        images, widths, tgt_in, tgt_out = (
            one.to(device, non_blocking=non_blocking) for one in tensors
        )
        return LineBatch(images, widths, tgt_in, tgt_out, self.n_tokens)


class LineBatches:
    """The training data of `fit`; an epoch is a function of (seed, number) alone.

    Every line is in exactly one batch of an epoch; a width with few lines gives a small
    batch, none is dropped.

    Args:
        lines: the training lines; `PackedLines` at the model's height are sliced and
            not resized.
        vocabulary: characters; one that it lacks becomes UNK.
        height: of the pictures, in pixels.
        max_columns: most columns of a batch, padding included: B * width; a wider line
            comes alone.
        step: see `bucket_width`.
        box_width: 0 keeps the proportions; above 0 every picture is squeezed or
            stretched to this width, as in the OCR report.
        seed: of order and augmentation.
        shuffle: False keeps one order for all epochs, narrow lines first, as validation
            wants it.
        augment: changes the pictures, in every epoch anew; None leaves them.

    Raises:
        ValueError: there is no line, or one has no text; it is named.
    """

    def __init__(
        self,
        lines: Sequence[TextLine],
        vocabulary: Vocabulary,
        *,
        height: int = 40,
        max_columns: int = 16_384,
        step: int = STEP,
        box_width: int = 0,
        seed: int = 0,
        shuffle: bool = True,
        augment: Augment | None = None,
    ) -> None:
        for name, value in (
            ("height", height),
            ("max_columns", max_columns),
            ("step", step),
        ):
            check_count(name, value)
        check_count("seed", seed, least=0)
        check_count("box_width", box_width, least=0)
        if not len(lines):
            raise ValueError("lines must hold at least one line, got none")
        self.lines, self.height, self.box_width = lines, height, box_width
        self.max_columns, self.step, self.seed = max_columns, step, seed
        self.shuffle, self.augment = shuffle, augment
        self._ids: list[list[int]] = []
        self._widths: list[int] = []
        for line in lines:
            if not line.text:
                raise ValueError(f"{line.name}: the line has no text; leave it out")
            self._ids.append(encode_text(line.text, vocabulary))
            self._widths.append(width_at(line.width, line.height, height, box_width))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of texts, pictures and options."""
        digest = hashlib.sha256(json.dumps(self._ids).encode())
        known = getattr(self.lines, "fingerprint", None)
        if known is not None:  # packed lines have hashed their pixels already
            digest.update(known.encode())
        else:
            for line in self.lines:
                digest.update(
                    json.dumps(line.image.shape).encode() + line.image.tobytes()
                )
        sizes = [self.height, self.max_columns, self.step, self.box_width]
        options = [*sizes, self.seed, self.shuffle, self.augment is not None]
        digest.update(json.dumps(options).encode())
        return digest.hexdigest()

    def epoch(self, number: int) -> LazyBatches[LineBatch]:
        """The batches of epoch `number`."""
        draw = random.Random(f"{self.seed} {number}")
        order = list(range(len(self.lines)))
        if self.shuffle:
            draw.shuffle(order)
        else:
            order.sort(key=lambda i: (self._widths[i], i))
        buckets: dict[int, list[int]] = {}
        for i in order:
            buckets.setdefault(bucket_width(self._widths[i], self.step), []).append(i)
        groups = []
        for width, members in buckets.items():
            size = max(1, self.max_columns // width)
            groups += [
                members[start : start + size] for start in range(0, len(members), size)
            ]
        if self.shuffle:
            draw.shuffle(groups)
        return LazyBatches(groups, partial(self.build, number=number))

    def build(self, group: Sequence[int], number: int) -> LineBatch:
        """The batch of some lines, by their numbers, in epoch `number`."""
        images = [self._image(i, number) for i in group]
        width = bucket_width(self._widths[group[0]], self.step)
        pixels, widths = pad_images(images, width)
        ids = [self._ids[i] for i in group]
        tgt_in, _ = pad_batch([[BOS, *row] for row in ids])
        tgt_out, _ = pad_batch([[*row, EOS] for row in ids])
        n_tokens = sum(len(row) + 1 for row in ids)
        return LineBatch(pixels, widths, tgt_in, tgt_out, n_tokens)

    def _image(self, i: int, number: int) -> np.ndarray:
        line = self.lines[i]
        image = fit_image(line.image, self.height, self.box_width, line.name)
        if self.augment is None:
            return image
        # Chance belongs to the line and the epoch, so a resumed run draws what the
        # first one drew.
        rng = np.random.Generator(np.random.PCG64([self.seed, number, i]))
        changed = self.augment(image, rng)
        if changed.shape != image.shape or changed.dtype != np.uint8:
            raise ValueError(
                f"augment must return uint8 {image.shape}, got {changed.dtype}"
                f" {changed.shape} for {line.name}"
            )
        return changed
