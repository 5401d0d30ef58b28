"""Training a SentencePiece model: reproducible, quiet, with errors of one line."""

import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

import sentencepiece

from coursepkg.text.tokenizer import UNKNOWN, check_choice, check_tags, normalize
from coursepkg.text.vocabulary import BOS, EOS, PAD, SPECIALS, UNK
from coursepkg.wording import one_line

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
    # Longer lines would be left out without a word; the library's default is 4192 bytes.
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
    """The content of the model file; see `SentencePiece.train` for the arguments and errors."""
    if isinstance(lines, str):
        raise ValueError(f"lines must be several texts, got the string {lines[:60]!r}; put it in a list")
    if vocab_size < 1:
        raise ValueError(f"vocab_size must be at least 1, got {vocab_size}")
    check_choice("model_type", model_type, MODEL_TYPES)
    if not 0.98 <= character_coverage <= 1:
        raise ValueError(f"character_coverage must lie in [0.98, 1], got {character_coverage}")
    check_tags(tags)
    texts = [text for i, line in enumerate(lines) if (text := normalize(line, name=f"lines[{i}]"))]
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
    """What SentencePiece says of a training that failed, as an error of the argument to change."""
    if too_high := re.search(r"size too high \((\d+)\)\D*<= (\d+)", message):
        given, largest = too_high.groups()
        return f"vocab_size must be at most {largest} for this text, got {given}; lower it or give more text"
    if too_low := re.search(r"smaller than required_chars\. (\d+) vs (\d+)", message):
        given, smallest = too_low.groups()
        return (
            f"vocab_size must be at least {smallest} for the characters of this text, got {given}; "
            "raise it or lower character_coverage"
        )
    return f"lines must be text that SentencePiece can train on, but it says: {one_line(message)}"
