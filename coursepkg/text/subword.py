"""SentencePiece as a tokenizer of the course: its ids, its tags, one-line errors, seeded sampling.

Library: Kudo and Richardson 2018, arXiv 1808.06226. Unigram model: Kudo 2018, arXiv 1804.10959. BPE: see `bpe`.
"""

import hashlib
from collections.abc import Iterable, Sequence
from functools import cached_property
from pathlib import Path

import sentencepiece
from torch import Tensor

from coursepkg.files import whole_file
from coursepkg.text.subword_sampling import PieceSampler
from coursepkg.text.subword_train import train_model
from coursepkg.text.tokenizer import LANGUAGE_TAGS, content, frame, normalize
from coursepkg.text.vocabulary import SPECIALS


class SentencePiece:
    """A trained SentencePiece model.

    Text is brought to NFC and single spaces before the model sees it, and the model itself changes no character:
    SentencePiece's own default (NFKC) would turn a Chinese full-width comma into an ASCII one. Tags are control
    symbols: they have ids, but no text that a user types is encoded to one.

    Example:
        >>> pieces = SentencePiece.train(read_lines(["train.zh", "train.vi"]), vocab_size=8000)
        >>> ids = pieces.encode("酒店在哪里？", tag="<2vi>", eos=True)

    Raises:
        ValueError: `model` holds no SentencePiece model, or one whose ids 0 to 3 are not those of `SPECIALS`.
    """

    def __init__(self, model: bytes) -> None:
        try:
            if not model:
                raise RuntimeError("there is nothing in it")
            self._library = sentencepiece.SentencePieceProcessor(model_proto=model)
        except RuntimeError as reason:
            raise ValueError("model must be the content of a SentencePiece model file") from reason
        self.model = model
        self.pieces: tuple[str, ...] = tuple(map(self._library.id_to_piece, range(len(self._library))))
        """All pieces in the order of their ids."""
        if self.pieces[: len(SPECIALS)] != SPECIALS:
            front = ", ".join(self.pieces[: len(SPECIALS)])
            raise ValueError(f"model must have {', '.join(SPECIALS)} as ids 0 to 3, got {front}")
        self.tags = tuple(
            piece for i, piece in enumerate(self.pieces) if self._library.is_control(i) and i >= len(SPECIALS)
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

        The same texts in the same order give the same model, byte for byte. Nothing is written to the terminal.

        Args:
            lines: texts as they are read, however long.
            vocab_size: the exact number of pieces, everything included.
            model_type: `unigram` or `bpe`.
            character_coverage: share of all characters that keep a piece of their own, in [0.98, 1].
            tags: symbols with an id that no text is ever encoded to.
            byte_fallback: spell unknown characters in bytes instead of UNK; takes 256 ids.

        Raises:
            ValueError: there is no text, or a size that does not fit it; the message names the size that does.
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
        """Score of each piece that stands for text: its log-probability, or minus the rank of its merge."""
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
            alpha: for training with a unigram model: draw one of all segmentations, each with probability
                proportional to P(segmentation)^alpha; 0 is uniform, 1 the model's own. None takes the best.
            dropout_p: for training with a BPE model: BPE-dropout in [0, 1].
            seed: decides what is drawn, together with the text and nothing else.

        Raises:
            ValueError: the text cannot be normalised, the tag is unknown, or an option does not fit the model.
        """
        text = normalize(text)
        if alpha is None and not dropout_p:
            ids = self._library.encode(text)
        else:
            ids = self._sampler.draw(text, alpha=alpha, dropout_p=dropout_p, seed=seed)
        return frame(ids, self.tags, tag, bos=bos, eos=eos)

    def encode_batch(
        self, texts: Sequence[str], *, bos: bool = False, eos: bool = False, tag: str | None = None
    ) -> list[list[int]]:
        """Ids of several texts, in order: what `encode` gives one by one, in less time."""
        clean = [normalize(text, name=f"texts[{i}]") for i, text in enumerate(texts)]
        return [frame(ids, self.tags, tag, bos=bos, eos=eos) for ids in self._library.encode(clean)]

    def split(self, text: str) -> list[str]:
        """The pieces of a text as strings, to look at."""
        return [self.pieces[i] for i in self.encode(text)]

    def decode(self, ids: Sequence[int] | Tensor) -> str:
        """Text of ids up to the first EOS, without BOS, padding and tags; UNK reads `UNKNOWN`.

        Raises:
            ValueError: an id is outside the vocabulary.
        """
        return str(self._library.decode(content(ids, len(self), len(self.tags))))

    def decode_batch(self, rows: Sequence[Sequence[int]] | Tensor) -> list[str]:
        """Texts of several rows of ids, in order."""
        return [self.decode(ids) for ids in (rows.tolist() if isinstance(rows, Tensor) else rows)]

    def save(self, path: str | Path) -> None:
        """Write a `.model` file as the library reads it; it appears whole or not at all."""
        with whole_file(path) as file:
            file.write(self.model)

    @classmethod
    def load(cls, path: str | Path) -> "SentencePiece":
        """Read a `.model` file.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: the file is no SentencePiece model with the special tokens; the message names it.
        """
        try:
            return cls(Path(path).read_bytes())
        except ValueError as reason:
            raise ValueError(f"{path} is not a usable SentencePiece file: {reason}") from reason
