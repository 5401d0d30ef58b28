"""Byte-pair encoding: text to subword ids and back, with BPE-dropout.

Sennrich et al. 2016, arXiv 1508.07909; BPE-dropout: Provilkov et al. 2020, arXiv
1910.13267. `bpe_train` learns the merges. Ids: the four special tokens, the tags, the
256 bytes where asked for, the alphabet by code point, then one id a merge. Between two
words stands no token of its own: each word carries `WORD_MARK`.
"""

import hashlib
import heapq
import json
import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from coursepkg.files import whole_file
from coursepkg.text.bpe_train import MARK_PLACES, Merge, learn_bpe, split_words
from coursepkg.text.tokenizer import (
    BYTE_TOKENS,
    LANGUAGE_TAGS,
    UNICODE_FORMS,
    UNKNOWN,
    WORD_MARK,
    check_tags,
    content,
    frame,
    join_bytes,
    normalize,
    to_byte_tokens,
)
from coursepkg.text.vocabulary import SPECIALS, UNK
from coursepkg.validation import check_choice

Ranks = Mapping[tuple[int, int], int]
"""For each pair of ids that a merge joins, the place of that merge in the order of
learning."""


def index_merges(
    front: Sequence[str],
    alphabet: Sequence[str],
    merges: Sequence[tuple[str, str, int]],
) -> tuple[tuple[str, ...], dict[tuple[int, int], int]]:
    """All tokens in the order of their ids, and the rank of each pair of ids.

    Raises:
        ValueError: a token occurs twice, or a merge uses one that is not there before
            it.
    """
    ids = {character: len(front) + i for i, character in enumerate(alphabet)}
    ranks = {}
    for rank, (left, right, _) in enumerate(merges):
        if left not in ids or right not in ids:
            raise ValueError(
                f"merges[{rank}] must join earlier tokens, got {left!r} and {right!r}"
            )
        ranks[ids[left], ids[right]] = rank
        ids[left + right] = len(front) + len(alphabet) + rank
    tokens = (*front, *alphabet, *(left + right for left, right, _ in merges))
    if len(set(tokens)) < len(tokens):
        repeated = next(token for i, token in enumerate(tokens) if token in tokens[:i])
        raise ValueError(
            f"tokens must be distinct, but {repeated!r} occurs more than once"
        )
    return tokens, ranks


class Step(NamedTuple):
    """One merge on the way from the characters of a word to its tokens."""

    rank: int
    ids: list[int]
    """The word after the merge."""


def merge_steps(ids: Sequence[int], ranks: Ranks, first: int) -> Iterator[Step]:
    """Apply the earliest learned merge that fits, at all its places, until none fits.

    This is the definition; `apply_merges` gives the last of its steps in less time.
    """
    word = list(ids)
    while fitting := [ranks[pair] for pair in pairwise(word) if pair in ranks]:
        rank = min(fitting)
        merged: list[int] = []
        for i in word:
            if merged and ranks.get((merged[-1], i)) == rank:
                merged[-1] = first + rank
            else:
                merged.append(i)
        word = merged
        yield Step(rank, word)


def apply_merges(
    ids: Sequence[int],
    ranks: Ranks,
    first: int,
    *,
    dropout_p: int | float = 0.0,
    draw: Callable[[], float] | None = None,
) -> list[int]:
    """The tokens of a word, in time n log n for n characters.

    BPE-dropout (Provilkov et al. 2020, arXiv 1910.13267, algorithm 1): at each step
    every merge that fits, place by place, is ignored with probability `dropout_p`; the
    best of the rest is made; the word is done when none is left. Drawing in the order
    of rank until one is kept gives the same distribution with fewer draws.

    Args:
        ids: the characters of the word.
        ranks: the merges.
        first: id of the token that the merge of rank 0 makes.
        dropout_p: 0 makes every merge, 1 none.
        draw: gives a number in [0, 1); needed where `dropout_p` is not 0.
    """
    word = list(ids)
    gone = -1
    after = list(range(1, len(word) + 1))
    before = list(range(-1, len(word) - 1))
    queue = [
        (ranks[pair], place)
        for place, pair in enumerate(pairwise(word))
        if pair in ranks
    ]
    heapq.heapify(queue)
    ignored: list[tuple[int, int]] = []
    while queue:
        rank, place = heapq.heappop(queue)
        right = after[place]
        if (
            word[place] == gone
            or right == len(word)
            or ranks.get((word[place], word[right])) != rank
        ):
            continue
        if draw is not None and draw() < dropout_p:
            ignored.append((rank, place))
            continue
        word[place], word[right] = first + rank, gone
        after[place] = after[right]
        if after[place] < len(word):
            before[after[place]] = place
        for entry in ignored:
            heapq.heappush(queue, entry)
        ignored.clear()
        for left in (before[place], place):
            if left >= 0 and after[left] < len(word):
                pair = (word[left], word[after[left]])
                if pair in ranks:
                    heapq.heappush(queue, (ranks[pair], left))
    return [i for i in word if i != gone]


CACHED_WORDS = 65_536


@dataclass(frozen=True)
class BPE:
    """A learned byte-pair encoding.

    An unknown character becomes UNK, one id a character, or with `byte_fallback` the
    bytes of its UTF-8 form, so that nothing is lost. `decode(encode(text))` is
    `normalize(text, form)` where no UNK stands.

    Example:
        >>> bpe = BPE.train(["low lower", "low slow"], vocab_size=14, tags=())
        >>> bpe.split("slower")
        ['▁', 's', 'low', 'e', 'r']
    """

    alphabet: tuple[str, ...]
    """All characters, `WORD_MARK` among them, in the order of their code points."""
    merges: tuple[Merge, ...]
    """The rules in the order in which they were learned and are applied."""
    tags: tuple[str, ...] = LANGUAGE_TAGS
    """Tokens with an id that no text is ever encoded to, for the front of a
    sentence."""
    mark: str = "start"
    """Where a word carries its mark, one of `MARK_PLACES`."""
    byte_fallback: bool = False
    form: str = "NFC"
    """The Unicode form that text is brought to before anything else, one of
    `UNICODE_FORMS`."""
    tokens: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """All tokens in the order of their ids."""
    _ids: dict[str, int] = field(init=False, repr=False, compare=False)
    _ranks: dict[tuple[int, int], int] = field(init=False, repr=False, compare=False)
    _cache: dict[str, list[int]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )

    def __post_init__(self) -> None:
        check_tags(self.tags)
        check_choice("mark", self.mark, MARK_PLACES)
        check_choice("form", self.form, UNICODE_FORMS)
        if WORD_MARK not in self.alphabet or any(
            len(character) != 1 for character in self.alphabet
        ):
            raise ValueError(
                f"alphabet must be single characters, {WORD_MARK!r} among them"
            )
        front = (*SPECIALS, *self.tags, *(BYTE_TOKENS if self.byte_fallback else ()))
        tokens, ranks = index_merges(front, self.alphabet, self.merges)
        ids = {token: i for i, token in enumerate(tokens)}
        for name, value in (("tokens", tokens), ("_ids", ids), ("_ranks", ranks)):
            object.__setattr__(self, name, value)

    @classmethod
    def train(
        cls,
        lines: Iterable[str],
        *,
        vocab_size: int,
        min_frequency: int = 2,
        limit_alphabet: int | None = None,
        initial_alphabet: str = "",
        tags: Sequence[str] = LANGUAGE_TAGS,
        mark: str = "start",
        byte_fallback: bool = False,
        form: str = "NFC",
    ) -> "BPE":
        """Learn from texts of the training part.

        Args:
            lines: texts as they are read; white space separates words.
            vocab_size: largest number of tokens, everything included; a small text may
                give fewer.
            min_frequency: a pair must occur so often to be merged.
            limit_alphabet: largest number of characters, the mark included; the rarest
                fall away. None keeps all.
            initial_alphabet: characters to include even where the text has none of
                them.
            tags: see the class, as for the rest.

        Raises:
            ValueError: there is no text, or `vocab_size` has no room for the alphabet.
        """
        settings: dict[str, Any] = {
            "mark": mark,
            "byte_fallback": byte_fallback,
            "form": form,
        }
        untrained = cls((WORD_MARK,), (), tuple(tags), **settings)
        alphabet, merges = learn_bpe(
            lines,
            vocab_size=vocab_size,
            fixed=untrained.tokens[:-1],
            min_frequency=min_frequency,
            limit_alphabet=limit_alphabet,
            initial_alphabet=initial_alphabet,
            mark=mark,
            form=form,
        )
        return cls(tuple(alphabet), tuple(merges), tuple(tags), **settings)

    def __len__(self) -> int:
        return len(self.tokens)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of all that decides ids."""
        return hashlib.sha256(self._json().encode()).hexdigest()

    def encode(
        self,
        text: str,
        *,
        bos: bool = False,
        eos: bool = False,
        tag: str | None = None,
        dropout_p: int | float = 0.0,
        seed: int = 0,
    ) -> list[int]:
        """Ids of a text; an empty text has none.

        Args:
            text: a sentence as it is read.
            bos: put BOS in front.
            eos: put EOS at the end.
            tag: put the id of this tag in front of the text.
            dropout_p: BPE-dropout for training, in [0, 1]: 0 gives the one plain
                encoding, 1 single characters.
            seed: decides the dropout, together with the text and nothing else.

        Raises:
            ValueError: the text cannot be normalised, the tag is unknown, or
                `dropout_p` is out of range.
        """
        if not 0 <= dropout_p <= 1:
            raise ValueError(f"dropout_p must lie in [0, 1], got {dropout_p}")
        words = split_words(normalize(text, self.form), self.mark)
        if dropout_p > 0:
            draw = random.Random(seed).random
            parts = [
                apply_merges(
                    self._spell(word),
                    self._ranks,
                    self._first,
                    dropout_p=dropout_p,
                    draw=draw,
                )
                for word in words
            ]
        else:
            parts = [self._encode_word(word) for word in words]
        return frame(
            [i for part in parts for i in part], self.tags, tag, bos=bos, eos=eos
        )

    def split(
        self, text: str, *, dropout_p: int | float = 0.0, seed: int = 0
    ) -> list[str]:
        """The tokens of a text as strings, to look at."""
        return [
            self.tokens[i] for i in self.encode(text, dropout_p=dropout_p, seed=seed)
        ]

    def trace(self, word: str) -> list[tuple[Merge | None, list[str]]]:
        """How one word is encoded: its characters, then each merge and its result.

        Raises:
            ValueError: `word` is not exactly one word.
        """
        words = split_words(normalize(word, self.form, "word"), self.mark)
        if len(words) != 1:
            raise ValueError(f"word must be one word without space, got {word!r}")
        ids = self._spell(words[0])
        steps = merge_steps(ids, self._ranks, self._first)
        return [
            (None, [self.tokens[i] for i in ids]),
            *(
                (self.merges[step.rank], [self.tokens[i] for i in step.ids])
                for step in steps
            ),
        ]

    def decode(self, ids: Sequence[int] | Tensor) -> str:
        """Text of ids up to the first EOS; UNK reads `UNKNOWN`.

        Raises:
            ValueError: an id is outside the vocabulary.
        """
        ids = content(ids, len(self), len(self.tags))
        tokens = [
            UNKNOWN if i == UNK else self.tokens[i].replace(WORD_MARK, " ") for i in ids
        ]
        return "".join(join_bytes(tokens) if self.byte_fallback else tokens).strip(" ")

    def save(self, path: str | Path) -> None:
        """Write a JSON file; it appears whole or not at all."""
        with whole_file(path) as file:
            file.write(self._json().encode())

    @classmethod
    def load(cls, path: str | Path) -> "BPE":
        """Read what `save` wrote.

        Raises:
            FileNotFoundError: there is no such file.
            ValueError: the file is no BPE file; the message names it.
        """
        try:
            stored: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
            stored["merges"] = tuple(
                Merge(str(a), str(b), int(n)) for a, b, n in stored["merges"]
            )
            for name in ("alphabet", "tags"):
                stored[name] = tuple(map(str, stored[name]))
            if not isinstance(stored.get("byte_fallback", False), bool):
                raise TypeError("byte_fallback is neither true nor false")
            return cls(**stored)
        except (
            AttributeError,
            KeyError,
            RecursionError,
            TypeError,
            ValueError,
        ) as reason:
            raise ValueError(f"{path} is not a BPE file: {reason}") from reason

    @property
    def _first(self) -> int:
        """Id of the token that the first merge makes."""
        return len(self.tokens) - len(self.merges)

    def _json(self) -> str:
        stored = {
            entry.name: getattr(self, entry.name)
            for entry in fields(self)
            if entry.init
        }
        return json.dumps(stored, ensure_ascii=False, indent=0)

    def _spell(self, word: str) -> list[int]:
        """Ids of the characters of a marked word; unknown ones as UNK or as bytes."""
        ids = []
        for character in word:
            if character in self._ids:
                ids.append(self._ids[character])
            elif self.byte_fallback:
                ids += [self._ids[token] for token in to_byte_tokens(character)]
            else:
                ids.append(UNK)
        return ids

    def _encode_word(self, word: str) -> list[int]:
        found = self._cache.get(word)
        if found is None:
            found = apply_merges(self._spell(word), self._ranks, self._first)
            if len(self._cache) < CACHED_WORDS:
                self._cache[word] = found
        return found
