"""The vocabulary of a T5: trained on some texts, and asked what it cannot write.

A T5 fine-tuned on a language that its vocabulary lacks reads <unk> and can never write what it lost. The vocabulary of
the original T5 was made for English, German, French and Romanian. So coverage is reported before anything is trained.
"""

import io
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from coursepkg.arguments import check_count
from coursepkg.projects.translation.t5.text import PREFIXES
from coursepkg.text.chinese import HAN, PRIVATE
from coursepkg.text.subword_train import FIXED
from coursepkg.text.tokenizer import WORD_MARK, normalize
from coursepkg.text.vietnamese import ACCENTED

LETTERS = ACCENTED + ACCENTED.upper()
"""The 134 letters that Vietnamese has and ASCII lacks: 67 in either case."""
LOUD_SHARE = 0.005
"""Share of lost characters from which on `Coverage.warning` speaks."""
PAD_PIECE, EOS_PIECE, UNK_PIECE = "<pad>", "</s>", "<unk>"
"""Pieces 0, 1 and 2 of every T5."""

_WORD = re.compile(r"(?<!\S)\w+")
_HAN = re.compile(f"[{HAN}{PRIVATE}]")


@dataclass(frozen=True)
class Coverage:
    """What a tokenizer makes of some texts."""

    n_texts: int
    """Texts that were looked at."""
    n_characters: int
    """Characters, without spaces."""
    lost: Counter[str]
    """Characters that become <unk>, and how often."""
    n_words: int
    """Words, as spaces separate them: in Vietnamese syllables, in Chinese and Nom whole sentences."""
    n_lost_words: int
    """Words in which something becomes <unk>."""
    n_pieces: int
    """Pieces of all words, without EOS."""
    lost_letters: str
    """Those of the 134 accented Vietnamese letters that the vocabulary lacks, whether the texts have them or not."""

    @property
    def lost_share(self) -> float:
        """Share of the characters that are lost."""
        return self.lost.total() / max(1, self.n_characters)

    @property
    def lost_word_share(self) -> float:
        """Share of the words that lose something."""
        return self.n_lost_words / max(1, self.n_words)

    @property
    def pieces_per_word(self) -> float:
        """How finely words are cut, 1 being not at all."""
        return self.n_pieces / max(1, self.n_words)

    @property
    def warning(self) -> str:
        """One loud line if more than `LOUD_SHARE` of the characters are lost, else nothing."""
        if self.lost_share <= LOUD_SHARE:
            return ""
        worst = " ".join(character for character, _ in self.lost.most_common(8))
        return (
            f"WARNING: {self.lost_share:.1%} of the characters become <unk> ({worst} ...); a model with this "
            "vocabulary can neither read nor write them: choose another, such as google/mt5-small"
        )

    def __str__(self) -> str:
        return (
            f"{self.n_texts} texts: {self.lost_share:.2%} of {self.n_characters} characters and "
            f"{self.lost_word_share:.2%} of {self.n_words} words lost to <unk>, {self.pieces_per_word:.2f} pieces a "
            f"word; {len(LETTERS) - len(self.lost_letters)} of {len(LETTERS)} Vietnamese letters known"
        )


def coverage(tokenizer: Any, texts: Sequence[str]) -> Coverage:
    """Count what is lost.

    A character is asked for by itself. That is exact for SentencePiece vocabularies, whose pieces are made of single
    characters that are in the vocabulary, too. What the tokenizer replaces by itself, such as a full-width letter by
    a narrow one, does not count as lost.

    Args:
        tokenizer: of a T5, see `load_t5`.
        texts: some sentences.

    Raises:
        ValueError: the texts are one string.
    """
    if isinstance(texts, str):
        raise ValueError(f"texts must be a list of texts, got the string {texts[:40]!r}; put it into a list")
    words = Counter(word for text in texts for word in text.split())
    characters = Counter[str]()
    for word, count in words.items():
        for character, times in Counter(word).items():
            characters[character] += times * count
    unknown = {c for c in {*characters, *LETTERS} if loses(tokenizer, c)}
    ids = {word: tokenizer.encode(word, add_special_tokens=False) for word in words}
    return Coverage(
        n_texts=len(texts),
        n_characters=characters.total(),
        lost=Counter({c: n for c, n in characters.items() if c in unknown}),
        n_words=words.total(),
        n_lost_words=sum(n for word, n in words.items() if tokenizer.unk_token_id in ids[word]),
        n_pieces=sum(n * len(ids[word]) for word, n in words.items()),
        lost_letters="".join(letter for letter in LETTERS if letter in unknown),
    )


def loses(tokenizer: Any, text: str) -> bool:
    """Whether something in a text becomes <unk>."""
    return tokenizer.unk_token_id in tokenizer.encode(text, add_special_tokens=False)


def train_tokenizer(texts: Iterable[str], vocab_size: int = 4000) -> Any:
    """A unigram vocabulary of some texts as a Hugging Face tokenizer, with the special pieces where T5 has them.

    Every character of the texts gets a piece, those of Nom that lie outside Unicode's first plane as well, and so do
    the characters of the prefixes. A Han character is always a piece by itself, as it is a syllable by itself;
    everything else is cut by pieces that SentencePiece learns, and by the most frequent words.

    Args:
        texts: the training part.
        vocab_size: most pieces; more where the characters alone need more.

    Raises:
        ImportError: transformers is not installed.
        ValueError: there is no text, or one holds what no piece can (see `text.tokenizer.normalize`).
    """
    check_count("vocab_size", vocab_size)
    given = [text for i, line in enumerate(texts) if (text := normalize(line, name=f"texts[{i}]"))]
    if not given:
        raise ValueError("texts must hold at least one word, got none")
    lines = [*given, *(prefix.strip() for prefix in PREFIXES.values())]
    ideographs = Counter(sign for line in lines for sign in _HAN.findall(line))
    lines = [_HAN.sub(" ", line) for line in lines]
    n_letters = len({letter for line in lines for letter in line}) + 3
    model = _learn(lines, max(vocab_size - len(ideographs), n_letters))
    pieces = [(model.id_to_piece(i), model.get_score(i)) for i in range(len(model))]
    total = ideographs.total()
    pieces += [(sign, math.log(n / total)) for sign, n in sorted(ideographs.items())]
    return _wrap(_with_words(pieces, lines, vocab_size))


def _learn(lines: Sequence[str], vocab_size: int) -> Any:
    """A SentencePiece model; `hard_vocab_limit` off lets it have fewer pieces than asked for."""
    import sentencepiece

    special = {"pad_id": 0, "eos_id": 1, "unk_id": 2, "bos_id": -1}
    pieces = {"pad_piece": PAD_PIECE, "eos_piece": EOS_PIECE, "unk_piece": UNK_PIECE}
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        vocab_size=vocab_size,
        model_type="unigram",
        character_coverage=1.0,
        hard_vocab_limit=False,
        **FIXED | special | pieces,
    )
    return sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())


def _with_words(
    pieces: Sequence[tuple[str, float]], lines: Sequence[str], vocab_size: int
) -> list[tuple[str, float]]:
    """The pieces, and in the room that is left the most frequent words, each with the logarithm of its frequency.

    SentencePiece looks for pieces that different words share, so in a small text the syllable `tôi`, a word that is
    part of no other, never becomes one; Vietnamese consists of such words.
    """
    counts = Counter(WORD_MARK + word for line in lines for word in _WORD.findall(line))
    known = {piece for piece, _ in pieces}
    found = [(word, n) for word, n in counts.most_common() if n > 1 and word not in known]
    room = max(0, vocab_size - len(pieces))
    return [*pieces, *((word, math.log(n / counts.total())) for word, n in found[:room])]


def _wrap(pieces: Sequence[tuple[str, float]]) -> Any:
    """Scored pieces as the tokenizer that T5 has: words at white space, a mark in front of each, EOS behind all."""
    from coursepkg.projects.translation.t5.model import transformers_module

    library = transformers_module()
    from tokenizers import Regex, Tokenizer, decoders, pre_tokenizers, processors
    from tokenizers.models import Unigram

    core = Tokenizer(Unigram(list(pieces), unk_id=2, byte_fallback=False))
    core.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.WhitespaceSplit(),
            pre_tokenizers.Metaspace(WORD_MARK, prepend_scheme="always"),
            pre_tokenizers.Split(Regex(_HAN.pattern), "isolated"),
        ]
    )
    core.decoder = decoders.Metaspace(WORD_MARK, prepend_scheme="always")
    core.post_processor = processors.TemplateProcessing(
        single=f"$A {EOS_PIECE}", pair=f"$A {EOS_PIECE} $B {EOS_PIECE}", special_tokens=[(EOS_PIECE, 1)]
    )
    return library.PreTrainedTokenizerFast(
        tokenizer_object=core, pad_token=PAD_PIECE, eos_token=EOS_PIECE, unk_token=UNK_PIECE
    )
