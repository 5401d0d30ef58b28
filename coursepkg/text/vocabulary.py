"""Word-level vocabulary: tokens to ids and back, with four special tokens in front.

Cutting text into tokens is not its business: it takes and returns lists of strings.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor

from coursepkg.files import whole_file

PAD, BOS, EOS, UNK = range(4)
"""Ids of padding, beginning and end of a sentence, and every unknown token."""
SPECIALS = ("<pad>", "<bos>", "<eos>", "<unk>")


@dataclass(frozen=True)
class Vocabulary:
    """A fixed list of tokens; the id of a token is its place in the list.

    Example:
        >>> words = Vocabulary.build([["how", "much", "is", "this"], ["how", "far"]])
        >>> words.encode(["how", "big"], eos=True)
        [4, 3, 2]
        >>> words.decode([4, 3, 2])
        ['how', '<unk>']
    """

    tokens: tuple[str, ...]
    """All tokens, the four of `SPECIALS` first."""
    ids: dict[str, int] = field(init=False, repr=False, compare=False)
    """The id of each token."""

    def __post_init__(self) -> None:
        if self.tokens[: len(SPECIALS)] != SPECIALS:
            raise ValueError(
                f"tokens must begin with {', '.join(SPECIALS)}, got"
                f" {self.tokens[: len(SPECIALS)]}"
            )
        repeated = [token for token, count in Counter(self.tokens).items() if count > 1]
        if repeated:
            raise ValueError(
                f"tokens must be distinct, but {repeated[0]!r} occurs more than once"
            )
        object.__setattr__(
            self, "ids", {token: i for i, token in enumerate(self.tokens)}
        )

    @classmethod
    def build(
        cls,
        sentences: Iterable[Sequence[str]],
        *,
        min_count: int = 1,
        max_size: int | None = None,
    ) -> "Vocabulary":
        """The tokens of some sentences, by frequency, then in alphabetical order.

        Build it from the training part only: a test word that has an id is a word that
        the test gave away.

        Args:
            sentences: lists of tokens.
            min_count: a token must occur at least so often.
            max_size: largest size, special tokens included; None sets no limit.

        Raises:
            ValueError: a sentence is a string instead of a list of tokens, or a limit
                is out of range.
        """
        if min_count < 1:
            raise ValueError(f"min_count must be at least 1, got {min_count}")
        if max_size is not None and max_size < len(SPECIALS):
            raise ValueError(
                f"max_size must be at least {len(SPECIALS)}, the special tokens, got"
                f" {max_size}"
            )
        counts: Counter[str] = Counter()
        for sentence in sentences:
            _check_is_list("sentences", sentence)
            counts.update(sentence)
        found = [
            token
            for token, count in counts.items()
            if count >= min_count and token not in SPECIALS
        ]
        found.sort(key=lambda token: (-counts[token], token))
        return cls((*SPECIALS, *found)[:max_size])

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the tokens in order; a checkpoint refuses another one."""
        return hashlib.sha256(json.dumps(self.tokens).encode()).hexdigest()

    def __contains__(self, token: object) -> bool:
        return token in self.ids

    def encode(
        self, tokens: Sequence[str], *, bos: bool = False, eos: bool = False
    ) -> list[int]:
        """Tokens to ids; a token that is not in the vocabulary becomes UNK.

        Raises:
            ValueError: `tokens` is a string.
        """
        _check_is_list("tokens", tokens)
        return (
            [BOS] * bos + [self.ids.get(token, UNK) for token in tokens] + [EOS] * eos
        )

    def decode(self, ids: Sequence[int] | Tensor) -> list[str]:
        """Ids to tokens, up to the first EOS, without BOS and padding.

        Raises:
            ValueError: an id is outside the vocabulary.
        """
        found = []
        for i in ids.tolist() if isinstance(ids, Tensor) else ids:
            if not 0 <= i < len(self.tokens):
                raise ValueError(f"ids must lie in 0..{len(self.tokens) - 1}, got {i}")
            if i == EOS:
                break
            if i not in (PAD, BOS):
                found.append(self.tokens[i])
        return found

    def save(self, path: str | Path) -> None:
        """Write a JSON file; it appears whole or not at all."""
        with whole_file(path) as file:
            file.write(
                json.dumps(
                    {"tokens": self.tokens}, ensure_ascii=False, indent=0
                ).encode()
            )

    @classmethod
    def load(cls, path: str | Path) -> "Vocabulary":
        """Read what `save` wrote.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: the file is no vocabulary; the message names it.
        """
        try:
            tokens = json.loads(Path(path).read_text(encoding="utf-8"))["tokens"]
            if not all(isinstance(token, str) for token in tokens):
                raise TypeError("a token is not a string")
            return cls(tuple(tokens))
        except (KeyError, TypeError, ValueError, RecursionError) as reason:
            raise ValueError(f"{path} is not a vocabulary file: {reason}") from reason


def pad_batch(sequences: Sequence[Sequence[int]]) -> tuple[Tensor, Tensor]:
    """Sequences of ids as one matrix, filled up with PAD.

    Returns:
        ids (B, S) and lengths (B,), both int64; S is the longest length.

    Raises:
        ValueError: there is no sequence, or one is empty.
    """
    if not sequences:
        raise ValueError("sequences must hold at least one sequence, got none")
    for row, sequence in enumerate(sequences):
        if not sequence:
            raise ValueError(f"sequences[{row}] must hold at least one id, got none")
    lengths = torch.tensor([len(sequence) for sequence in sequences])
    ids = torch.full((len(sequences), int(lengths.max())), PAD)
    for row, sequence in enumerate(sequences):
        ids[row, : len(sequence)] = torch.tensor(sequence)
    return ids, lengths


def _check_is_list(name: str, tokens: object) -> None:
    if isinstance(tokens, str):
        raise ValueError(
            f"{name} must be lists of tokens, got the string {tokens!r}; split it first"
        )
