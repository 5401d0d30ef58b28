"""Random segmentations with the pieces of a SentencePiece model, the same for a seed on every machine.

The library can draw them, too, but its draws follow a seed in some of its versions only, and through one generator
for the whole process. Here each call has its own: what is drawn depends on text, strength and seed alone.
"""

import random
from itertools import groupby
from typing import Any

from coursepkg.text.bpe_apply import apply_merges
from coursepkg.text.byte_fallback import BYTE_TOKENS, to_byte_tokens
from coursepkg.text.tokenizer import WORD_MARK
from coursepkg.text.unigram import sample_segmentation
from coursepkg.text.vocabulary import UNK

UNKNOWN_PENALTY = 10.0
"""By how much an unknown character scores below the rarest piece, as in SentencePiece."""


class PieceSampler:
    """The pieces of a model that stand for text, and draws among the ways to spell a text with them.

    Args:
        library: a `sentencepiece.SentencePieceProcessor`.
    """

    def __init__(self, library: Any) -> None:
        ordinary = [
            i
            for i in range(len(library))
            if not (library.is_control(i) or library.is_unknown(i) or library.is_byte(i))
        ]
        self.ids: dict[str, int] = {library.id_to_piece(i): i for i in ordinary}
        self.scores: dict[str, float] = {
            library.id_to_piece(i): float(library.get_score(i)) for i in ordinary
        }
        # BPE scores a piece by minus the rank of its merge; log-probabilities are no whole numbers.
        whole = all(score.is_integer() for score in self.scores.values())
        self.model_type = "bpe" if whole else "unigram"
        self.longest = max(map(len, self.ids), default=1)
        self.unknown = min(self.scores.values(), default=0.0) - UNKNOWN_PENALTY
        self.byte_ids = {token: library.piece_to_id(token) for token in BYTE_TOKENS}
        self.byte_fallback = library.is_byte(self.byte_ids[BYTE_TOKENS[0]])
        self._merges = self._find_merges() if whole else {}

    def draw(self, text: str, *, alpha: int | float | None, dropout_p: int | float, seed: int) -> list[int]:
        """Ids of a random segmentation of a normalised text; see `SentencePiece.encode` for the arguments."""
        marked = "".join(WORD_MARK + word for word in text.split())
        generator = random.Random(seed)
        if self.model_type == "bpe":
            if alpha is not None:
                raise ValueError(f"alpha must not be set for a model of type bpe, got {alpha}; set dropout_p")
            if not 0 <= dropout_p <= 1:
                raise ValueError(f"dropout_p must lie in [0, 1], got {dropout_p}")
            ids = [i for character in marked for i in self._piece_ids(character)]
            return _join_unknown(
                apply_merges(ids, self._merges, 0, dropout_p=dropout_p, draw=generator.random)
            )
        if dropout_p or alpha is None:
            raise ValueError(
                f"dropout_p must not be set for a model of type unigram, got {dropout_p}; set alpha"
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
        return [self.byte_ids[token] for token in to_byte_tokens(piece)] if self.byte_fallback else [UNK]

    def _find_merges(self) -> dict[tuple[int, int], int]:
        """For each pair of pieces that spells a piece, that piece's id: the lower it is, the sooner the merge."""
        return {
            (self.ids[piece[:cut]], self.ids[piece[cut:]]): i
            for piece, i in self.ids.items()
            for cut in range(1, len(piece))
            if piece[:cut] in self.ids and piece[cut:] in self.ids
        }


def _join_unknown(ids: list[int]) -> list[int]:
    """One UNK for each run of unknown characters, as SentencePiece gives it."""
    return [i for i, run in groupby(ids) for _ in ([i] if i == UNK else run)]
