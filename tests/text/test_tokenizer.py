"""What all tokenizers share: one interface, one clean-up of text, fingerprints."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.bpe import BPE
from coursepkg.text.subword import SentencePiece
from coursepkg.text.tokenizer import LANGUAGE_TAGS, WORD_MARK, Tokenizer, check_tags, normalize
from coursepkg.text.vocabulary import EOS, SPECIALS, Vocabulary

LINES = ["tôi đi học", "tôi đi làm", "我 去 上学"]


@pytest.mark.parametrize(
    "tokenizer",
    [BPE.train(LINES, vocab_size=40), SentencePiece.train(LINES, vocab_size=22)],
    ids=["own", "library"],
)
def test_both_tokenizers_have_the_same_interface(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode(LINES[0], eos=True, tag="<2zh>")
    assert ids[0] == len(SPECIALS)
    assert ids[-1] == EOS
    assert max(ids) < len(tokenizer)
    assert tokenizer.decode(ids) == LINES[0]
    assert len(tokenizer.fingerprint) == 64


def test_a_vocabulary_s_fingerprint_depends_on_tokens_and_order() -> None:
    tokens = [("a", "b"), ("b", "a"), ("a",), ("a b",), ("ab",)]
    prints = [Vocabulary((*SPECIALS, *some)).fingerprint for some in tokens]
    assert len(set(prints)) == len(tokens)
    assert prints[0] == Vocabulary((*SPECIALS, "a", "b")).fingerprint


@given(st.text().filter(lambda text: WORD_MARK not in text), st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_normalizing_twice_changes_nothing(text: str, form: str) -> None:
    once = normalize(text, form)
    assert normalize(once, form) == once
    assert once == " ".join(once.split())


def test_white_space_of_all_kinds_becomes_one_space() -> None:
    assert normalize(" a\t\u00a0b\u3000\n c ") == "a b c"
    assert normalize("kha\u0301ch") == "khách"
    with pytest.raises(ValueError, match="form must be one of NFC, NFD, NFKC, NFKD, got 'nfc'"):
        normalize("a", "nfc")


@pytest.mark.parametrize("tag", ["", "v", "<2 vi>", " <2vi>", "<▁>", "<unk>"])
def test_a_tag_that_could_be_text_is_refused(tag: str) -> None:
    with pytest.raises(
        ValueError, match="tags must be two or more signs without space, such as '<2vi>', got"
    ):
        check_tags([*LANGUAGE_TAGS, tag])
