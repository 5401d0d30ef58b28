"""SentencePiece as a tokenizer of the course: ids, tags, one-line errors, sampling.

Library: Kudo and Richardson 2018, arXiv 1808.06226. Unigram model: Kudo 2018, arXiv
1804.10959: a segmentation x = (x_1, ..., x_n) of a text has probability P(x) = p(x_1)
... p(x_n). Both functions walk over the text once, from left to right, keeping one
number for each place where a piece may end: n L steps for n characters and pieces of L
at most.

The library's own draws follow a seed in some of its versions only, and through one
generator for the whole process. Here what is drawn depends on text, strength and seed.
"""

import hashlib
import io
import math
import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import sentencepiece
from torch import Tensor

from coursepkg.files import whole_file
from coursepkg.text.bpe import apply_merges
from coursepkg.text.tokenizer import (
    BYTE_TOKENS,
    LANGUAGE_TAGS,
    UNKNOWN,
    WORD_MARK,
    check_tags,
    content,
    frame,
    normalize,
    to_byte_tokens,
)
from coursepkg.text.vocabulary import BOS, EOS, PAD, SPECIALS, UNK
from coursepkg.validation import check_choice, one_line


def best_segmentation(
    text: str, log_probs: Mapping[str, float], *, longest: int, unknown: float
) -> tuple[list[str], float]:
    """The segmentation of largest P(x), by the Viterbi algorithm, and its log P(x).

    best(0) = 0 and best(j) = max over pieces text[i:j] of best(i) + log p(text[i:j]).

    Args:
        text: what to cut; SentencePiece marks the start of each word in it.
        log_probs: log-probability of each piece.
        longest: length of the longest piece, in characters.
        unknown: what a character costs that is no piece by itself.
    """
    best = [0.0] + [-math.inf] * len(text)
    start = [0] * (len(text) + 1)
    for j in range(1, len(text) + 1):
        for i, log_prob in _pieces_ending_at(j, text, log_probs, longest, unknown):
            if best[i] + log_prob > best[j]:
                best[j], start[j] = best[i] + log_prob, i
    starts = []
    j = len(text)
    while j:
        j = start[j]
        starts.append(j)
    return _cut(text, starts[::-1]), best[-1]


def sample_segmentation(
    text: str,
    log_probs: Mapping[str, float],
    *,
    longest: int,
    unknown: float,
    alpha: int | float,
    draw: Callable[[], float],
) -> list[str]:
    """A segmentation drawn with probability proportional to P(x)^alpha.

    total(j) = log of the sum over pieces text[i:j] of exp(total(i) + alpha log
    p(text[i:j])); then, from the end to the front, the last piece is drawn in
    proportion to its share of the total.

    Args:
        text: what to cut.
        log_probs: log-probability of each piece.
        longest: length of the longest piece, in characters.
        unknown: what a character costs that is no piece by itself.
        alpha: 0 draws uniformly from all segmentations, a large value almost always the
            best.
        draw: gives a number in [0, 1).
    """
    endings = [
        list(_pieces_ending_at(j, text, log_probs, longest, unknown))
        for j in range(len(text) + 1)
    ]
    total = [0.0] + [-math.inf] * len(text)
    for j in range(1, len(text) + 1):
        weights = [total[i] + alpha * log_prob for i, log_prob in endings[j]]
        largest = max(weights)
        total[j] = largest + math.log(
            sum(math.exp(weight - largest) for weight in weights)
        )

    starts = []
    j = len(text)
    while j:
        left = draw()
        for i, log_prob in endings[j]:
            left -= math.exp(total[i] + alpha * log_prob - total[j])
            if left < 0:
                break
        starts.append(i)
        j = i
    return _cut(text, starts[::-1])


def _pieces_ending_at(
    j: int, text: str, log_probs: Mapping[str, float], longest: int, unknown: float
) -> Iterator[tuple[int, float]]:
    """Where each piece that ends at j may start, and its log-probability."""
    for i in range(j - 1, max(0, j - longest) - 1, -1):
        log_prob = log_probs.get(text[i:j], unknown if i == j - 1 else None)
        if log_prob is not None:
            yield i, log_prob


def _cut(text: str, starts: list[int]) -> list[str]:
    """The pieces of a text, given where each of them starts."""
    return [text[i:j] for i, j in pairwise([*starts, len(text)])]


MODEL_TYPES = ("unigram", "bpe")

FIXED: dict[str, Any] = {
    "pad_id": PAD,
    "bos_id": BOS,
    "eos_id": EOS,
    "unk_id": UNK,
    "pad_piece": SPECIALS[PAD],
    "bos_piece": SPECIALS[BOS],
    "eos_piece": SPECIALS[EOS],
    "unk_piece": SPECIALS[UNK],
    "unk_surface": UNKNOWN,
    "normalization_rule_name": "identity",
    # Longer lines would be left out without a word; the library's default is 4192
    # bytes.
    "max_sentence_length": 1 << 30,
    "num_threads": 1,
    "minloglevel": 2,
}


def train_model(
    lines: Iterable[str],
    *,
    vocab_size: int,
    model_type: str,
    character_coverage: int | float,
    tags: Sequence[str],
    byte_fallback: bool,
) -> bytes:
    """The content of the model file; for arguments see `SentencePiece.train`."""
    if isinstance(lines, str):
        raise ValueError(
            f"lines must be several texts, got the string {lines[:60]!r}; put it in a"
            " list"
        )
    if vocab_size < 1:
        raise ValueError(f"vocab_size must be at least 1, got {vocab_size}")
    check_choice("model_type", model_type, MODEL_TYPES)
    if not 0.98 <= character_coverage <= 1:
        raise ValueError(
            f"character_coverage must lie in [0.98, 1], got {character_coverage}"
        )
    check_tags(tags)
    texts = [
        text
        for i, line in enumerate(lines)
        if (text := normalize(line, name=f"lines[{i}]"))
    ]
    if not texts:
        raise ValueError("lines must hold at least one word, got none")
    written = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(texts),
            model_writer=written,
            vocab_size=vocab_size,
            model_type=model_type,
            character_coverage=character_coverage,
            control_symbols=list(tags),
            byte_fallback=byte_fallback,
            **FIXED,
        )
    except (RuntimeError, ValueError) as reason:
        raise ValueError(_in_one_line(str(reason))) from reason
    return written.getvalue()


def _in_one_line(message: str) -> str:
    """A failed training's message as an error that names the argument to change."""
    if too_high := re.search(r"size too high \((\d+)\)\D*<= (\d+)", message):
        given, largest = too_high.groups()
        return (
            f"vocab_size must be at most {largest} for this text, got {given}; lower it"
            " or give more text"
        )
    if too_low := re.search(r"smaller than required_chars\. (\d+) vs (\d+)", message):
        given, smallest = too_low.groups()
        return (
            f"vocab_size must be at least {smallest} for the characters of this text,"
            f" got {given}; raise it or lower character_coverage"
        )
    return (
        "lines must be text that SentencePiece can train on, but it says:"
        f" {one_line(message)}"
    )


UNKNOWN_PENALTY = 10.0
"""By how much an unknown character scores below the rarest piece, as in
SentencePiece."""


class PieceSampler:
    """The pieces of a model, and draws among the ways to spell a text with them."""

    def __init__(self, library: Any) -> None:
        ordinary = [
            i
            for i in range(len(library))
            if not (
                library.is_control(i) or library.is_unknown(i) or library.is_byte(i)
            )
        ]
        self.ids: dict[str, int] = {library.id_to_piece(i): i for i in ordinary}
        self.scores: dict[str, float] = {
            library.id_to_piece(i): float(library.get_score(i)) for i in ordinary
        }
        # BPE scores a piece by minus the rank of its merge; log-probabilities are no
        # whole numbers.
        whole = all(score.is_integer() for score in self.scores.values())
        self.model_type = "bpe" if whole else "unigram"
        self.longest = max(map(len, self.ids), default=1)
        self.unknown = min(self.scores.values(), default=0.0) - UNKNOWN_PENALTY
        self.byte_ids = {token: library.piece_to_id(token) for token in BYTE_TOKENS}
        self.byte_fallback = library.is_byte(self.byte_ids[BYTE_TOKENS[0]])
        self._merges = self._find_merges() if whole else {}

    def draw(
        self, text: str, *, alpha: int | float | None, dropout_p: int | float, seed: int
    ) -> list[int]:
        """Ids of a random segmentation of a normalised text."""
        marked = "".join(WORD_MARK + word for word in text.split())
        generator = random.Random(seed)
        if self.model_type == "bpe":
            if alpha is not None:
                raise ValueError(
                    f"alpha must not be set for a model of type bpe, got {alpha}; set"
                    " dropout_p"
                )
            if not 0 <= dropout_p <= 1:
                raise ValueError(f"dropout_p must lie in [0, 1], got {dropout_p}")
            ids = [i for character in marked for i in self._piece_ids(character)]
            return _join_unknown(
                apply_merges(
                    ids, self._merges, 0, dropout_p=dropout_p, draw=generator.random
                )
            )
        if dropout_p or alpha is None:
            raise ValueError(
                "dropout_p must not be set for a model of type unigram, got"
                f" {dropout_p}; set alpha"
            )
        if not 0 <= alpha < float("inf"):
            raise ValueError(f"alpha must be 0 or more, got {alpha}")
        pieces = sample_segmentation(
            marked,
            self.scores,
            longest=self.longest,
            unknown=self.unknown,
            alpha=alpha,
            draw=generator.random,
        )
        return _join_unknown([i for piece in pieces for i in self._piece_ids(piece)])

    def _piece_ids(self, piece: str) -> list[int]:
        """The id of a piece; an unknown character as UNK or as bytes."""
        if piece in self.ids:
            return [self.ids[piece]]
        return (
            [self.byte_ids[token] for token in to_byte_tokens(piece)]
            if self.byte_fallback
            else [UNK]
        )

    def _find_merges(self) -> dict[tuple[int, int], int]:
        """For each pair of pieces that spells a piece, its id, which is its rank."""
        return {
            (self.ids[piece[:cut]], self.ids[piece[cut:]]): i
            for piece, i in self.ids.items()
            for cut in range(1, len(piece))
            if piece[:cut] in self.ids and piece[cut:] in self.ids
        }


def _join_unknown(ids: list[int]) -> list[int]:
    """One UNK for each run of unknown characters, as SentencePiece gives it."""
    return [i for i, run in groupby(ids) for _ in ([i] if i == UNK else run)]


class SentencePiece:
    """A trained SentencePiece model.

    Text is brought to NFC and single spaces before the model sees it, and the model
    itself changes no character: SentencePiece's own default (NFKC) would turn a Chinese
    full-width comma into an ASCII one. Tags are control symbols: they have ids, but no
    text that a user types is encoded to one.

    Example:
        >>> pieces = SentencePiece.train(read_lines(["train.vi"]), vocab_size=8000)
        >>> ids = pieces.encode("酒店在哪里？", tag="<2vi>", eos=True)

    Raises:
        ValueError: `model` holds no SentencePiece model, or one whose ids 0 to 3 are
            not those of `SPECIALS`.
    """

    def __init__(self, model: bytes) -> None:
        try:
            if not model:
                raise RuntimeError("there is nothing in it")
            self._library = sentencepiece.SentencePieceProcessor(model_proto=model)
        except RuntimeError as reason:
            raise ValueError(
                "model must be the content of a SentencePiece model file"
            ) from reason
        self.model = model
        self.pieces: tuple[str, ...] = tuple(
            map(self._library.id_to_piece, range(len(self._library)))
        )
        """All pieces in the order of their ids."""
        if self.pieces[: len(SPECIALS)] != SPECIALS:
            front = ", ".join(self.pieces[: len(SPECIALS)])
            raise ValueError(
                f"model must have {', '.join(SPECIALS)} as ids 0 to 3, got {front}"
            )
        self.tags = tuple(
            piece
            for i, piece in enumerate(self.pieces)
            if self._library.is_control(i) and i >= len(SPECIALS)
        )

    @classmethod
    def train(
        cls,
        lines: Iterable[str],
        *,
        vocab_size: int,
        model_type: str = "unigram",
        character_coverage: int | float = 1.0,
        tags: Sequence[str] = LANGUAGE_TAGS,
        byte_fallback: bool = False,
    ) -> "SentencePiece":
        """Train on texts of the training part, `read_lines` of its files for instance.

        The same texts in the same order give the same model, byte for byte. Nothing is
        written to the terminal.

        Args:
            lines: texts as they are read, however long.
            vocab_size: the exact number of pieces, everything included.
            model_type: `unigram` or `bpe`.
            character_coverage: share of all characters that keep a piece of their own,
                in [0.98, 1].
            tags: symbols with an id that no text is ever encoded to.
            byte_fallback: spell unknown characters in bytes instead of UNK; takes 256
                ids.

        Raises:
            ValueError: there is no text, or a size that does not fit it; the message
                names the size that does.
        """
        return cls(
            train_model(
                lines,
                vocab_size=vocab_size,
                model_type=model_type,
                character_coverage=character_coverage,
                tags=tags,
                byte_fallback=byte_fallback,
            )
        )

    def __len__(self) -> int:
        return len(self.pieces)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the model."""
        return hashlib.sha256(self.model).hexdigest()

    @property
    def model_type(self) -> str:
        """`unigram` or `bpe`."""
        return self._sampler.model_type

    @property
    def scores(self) -> dict[str, float]:
        """Each piece's log-probability, or minus the rank of its merge."""
        return self._sampler.scores

    @cached_property
    def _sampler(self) -> PieceSampler:
        return PieceSampler(self._library)

    def encode(
        self,
        text: str,
        *,
        bos: bool = False,
        eos: bool = False,
        tag: str | None = None,
        alpha: int | float | None = None,
        dropout_p: int | float = 0.0,
        seed: int = 0,
    ) -> list[int]:
        """Ids of a text; an empty text has none.

        Args:
            text: a sentence as it is read.
            bos: put BOS in front.
            eos: put EOS at the end.
            tag: put the id of this tag in front of the text.
            alpha: for training with a unigram model: draw one of all segmentations,
                each with probability proportional to P(segmentation)^alpha; 0 is
                uniform, 1 the model's own. None takes the best.
            dropout_p: for training with a BPE model: BPE-dropout in [0, 1].
            seed: decides what is drawn, together with the text and nothing else.

        Raises:
            ValueError: the text cannot be normalised, the tag is unknown, or an option
                does not fit the model.
        """
        text = normalize(text)
        if alpha is None and not dropout_p:
            ids = self._library.encode(text)
        else:
            ids = self._sampler.draw(text, alpha=alpha, dropout_p=dropout_p, seed=seed)
        return frame(ids, self.tags, tag, bos=bos, eos=eos)

    def encode_batch(
        self,
        texts: Sequence[str],
        *,
        bos: bool = False,
        eos: bool = False,
        tag: str | None = None,
    ) -> list[list[int]]:
        """Ids of several texts, as `encode` gives them one by one, in less time."""
        clean = [normalize(text, name=f"texts[{i}]") for i, text in enumerate(texts)]
        return [
            frame(ids, self.tags, tag, bos=bos, eos=eos)
            for ids in self._library.encode(clean)
        ]

    def split(self, text: str) -> list[str]:
        """The pieces of a text as strings, to look at."""
        return [self.pieces[i] for i in self.encode(text)]

    def decode(self, ids: Sequence[int] | Tensor) -> str:
        """Text of ids up to the first EOS; UNK reads `UNKNOWN`.

        Raises:
            ValueError: an id is outside the vocabulary.
        """
        return str(self._library.decode(content(ids, len(self), len(self.tags))))

    def decode_batch(self, rows: Sequence[Sequence[int]] | Tensor) -> list[str]:
        """Texts of several rows of ids, in order."""
        return [
            self.decode(ids)
            for ids in (rows.tolist() if isinstance(rows, Tensor) else rows)
        ]

    def save(self, path: str | Path) -> None:
        """Write a `.model` file for the library; it appears whole or not at all."""
        with whole_file(path) as file:
            file.write(self.model)

    @classmethod
    def load(cls, path: str | Path) -> "SentencePiece":
        """Read a `.model` file.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: the file is no SentencePiece model with the special tokens; the
                message names it.
        """
        try:
            return cls(Path(path).read_bytes())
        except ValueError as reason:
            raise ValueError(
                f"{path} is not a usable SentencePiece file: {reason}"
            ) from reason
