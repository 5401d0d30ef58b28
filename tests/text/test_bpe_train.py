"""Learning merges: equal to those of Hugging Face tokenizers, ties and limits included."""

import json
from collections import Counter
from collections.abc import Sequence

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import BPE as TheirBPE
from tokenizers.pre_tokenizers import Metaspace, WhitespaceSplit
from tokenizers.pre_tokenizers import Sequence as PreTokenizers
from tokenizers.trainers import BpeTrainer

from coursepkg import Phrasebook
from coursepkg.text.bpe import BPE
from coursepkg.text.bpe_train import Merge, choose_alphabet, count_words, learn_merges, split_words
from coursepkg.text.tokenizer import WORD_MARK, normalize
from coursepkg.text.vocabulary import SPECIALS

LETTERS = {
    "few": "ab",
    "english": "etaoin",
    "vietnamese": "nhgcaăâđêôơưếộữ",
    "chinese": "我你的是了不在有人这",
}


def texts(letters: str, **size: int) -> st.SearchStrategy[list[str]]:
    word = st.text(letters, min_size=1, max_size=9)
    return st.lists(st.lists(word, max_size=8).map(" ".join), **size)


LINES = st.sampled_from(sorted(LETTERS.values())).flatmap(
    lambda letters: texts(letters, min_size=1, max_size=8)
)


def their_merges(
    lines: Sequence[str], mark: str = "start", **options
) -> tuple[list[str], list[tuple[str, str]]]:
    """Tokens in the order of their ids, and merges, as `tokenizers` learns them from marked words."""
    tokenizer = Tokenizer(TheirBPE())
    tokenizer.pre_tokenizer = WhitespaceSplit()
    marked = [" ".join(split_words(normalize(line), mark)) for line in lines]
    tokenizer.train_from_iterator(marked, BpeTrainer(show_progress=False, **options))
    model = json.loads(tokenizer.to_str())["model"]
    return sorted(model["vocab"], key=model["vocab"].get), [tuple(pair) for pair in model["merges"]]


def assert_equal_merges(lines: Sequence[str], n_merges: int, min_frequency: int, mark: str) -> None:
    words = count_words(lines, mark=mark)
    alphabet = choose_alphabet(words)
    merges = learn_merges(words, alphabet, n_merges=n_merges, min_frequency=min_frequency)
    tokens, pairs = their_merges(
        lines, mark, vocab_size=len(alphabet) + n_merges, min_frequency=min_frequency
    )
    assert [merge[:2] for merge in merges] == pairs
    assert [*alphabet, *(merge.token for merge in merges)] == tokens


@settings(max_examples=300, deadline=None)
@given(LINES, st.integers(0, 60), st.integers(1, 4), st.sampled_from(["start", "end"]))
def test_merges_are_those_of_tokenizers(lines: list[str], n_merges: int, least: int, mark: str) -> None:
    assume(any(lines))
    assert_equal_merges(lines, n_merges, least, mark)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(max_size=30), min_size=1, max_size=6), st.integers(0, 40))
def test_merges_are_those_of_tokenizers_in_any_script(lines: list[str], n_merges: int) -> None:
    assume(all(WORD_MARK not in line and line.isprintable() for line in lines) and any(map(str.split, lines)))
    assert_equal_merges(lines, n_merges, 1, "start")


@pytest.mark.parametrize("languages", ["zh", "en", "vi", "zh en vi"])
def test_merges_of_the_phrasebook_are_those_of_tokenizers(languages: str) -> None:
    lines = [triple.text(language) for triple in Phrasebook().triples[:700] for language in languages.split()]
    bpe = BPE.train(lines, vocab_size=1500)
    tokenizer = Tokenizer(TheirBPE())
    tokenizer.pre_tokenizer = PreTokenizers([WhitespaceSplit(), Metaspace(prepend_scheme="always")])
    special = [*SPECIALS, *bpe.tags]
    trainer = BpeTrainer(show_progress=False, vocab_size=1500, min_frequency=2, special_tokens=special)
    tokenizer.train_from_iterator(lines, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    assert {token: i for i, token in enumerate(bpe.tokens)} == model["vocab"]
    assert [list(merge[:2]) for merge in bpe.merges] == model["merges"]
    assert len(bpe.merges) > 300


@settings(max_examples=100, deadline=None)
@given(LINES, st.integers(1, 12), st.integers(0, 30))
def test_a_limited_alphabet_is_that_of_tokenizers(lines: list[str], limit: int, n_merges: int) -> None:
    assume(any(lines))
    words = count_words(lines)
    by_count = Counter(
        character for line in lines for word in line.split() for character in word
    ).most_common()
    assume(limit > len(by_count) or limit == 1 or by_count[limit - 2][1] > by_count[limit - 1][1])
    alphabet = choose_alphabet(words, always={WORD_MARK}, limit=limit)
    merges = learn_merges(words, alphabet, n_merges=n_merges)
    options = {
        "limit_alphabet": limit,
        "initial_alphabet": [WORD_MARK],
        "vocab_size": len(alphabet) + n_merges,
    }
    tokens, pairs = their_merges(lines, **options)
    assert len(alphabet) <= limit
    assert [merge[:2] for merge in merges] == pairs
    assert [*alphabet, *(merge.token for merge in merges)] == tokens


def test_an_initial_alphabet_is_that_of_tokenizers() -> None:
    lines, extra = ["ba na na"], "xyzđ"
    alphabet = choose_alphabet(count_words(lines), always=extra)
    tokens, _ = their_merges(lines, vocab_size=10, initial_alphabet=list(extra))
    assert alphabet == sorted("▁banxyzđ") == tokens[: len(alphabet)]


def test_equally_rare_characters_fall_away_from_the_last_code_point() -> None:
    assert choose_alphabet({"dcba": 1, "aa": 1}, limit=3) == ["a", "b", "c"]
    assert choose_alphabet({"dcba": 1}, always="dz", limit=3) == ["a", "d", "z"]


@pytest.mark.parametrize(
    ("words", "first"),
    [
        ({"cd": 1, "ab": 1, "ba": 1}, ("a", "b")),
        ({"zb": 1, "ay": 1, "az": 1}, ("a", "y")),
        ({"zb": 2, "ay": 1, "az": 1}, ("z", "b")),
        ({"mẹ": 1, "bà": 1, "má": 1}, ("b", "à")),
        ({"再见": 1, "你好": 1}, ("你", "好")),
    ],
)
def test_of_equally_frequent_pairs_the_smaller_ids_win(words: dict[str, int], first: tuple[str, str]) -> None:
    assert learn_merges(words, choose_alphabet(words), n_merges=1)[0][:2] == first


def test_older_tokens_go_before_younger_ones() -> None:
    words = {"ab": 3, "abz": 1, "yz": 1}
    merges = learn_merges(words, choose_alphabet(words), n_merges=3)
    assert merges == [Merge("a", "b", 4), Merge("y", "z", 1), Merge("ab", "z", 1)]


def test_overlapping_pairs_count_and_merge_from_the_left() -> None:
    merges = learn_merges({"aaa": 1, "aaaa": 1}, ["a"], n_merges=9)
    assert merges == [Merge("a", "a", 5), Merge("aa", "a", 1), Merge("aa", "aa", 1)]


def test_the_words_of_the_paper_s_program_merge_as_counted_by_hand() -> None:
    """Words of algorithm 1 in arXiv 1508.07909; four pairs tie at 9 on the way, so the order is that of ids."""
    words = {"low▁": 5, "lower▁": 2, "newest▁": 6, "widest▁": 3}
    merges = learn_merges(words, choose_alphabet(words), n_merges=5)
    assert merges == [
        Merge("e", "s", 9),
        Merge("t", "▁", 9),
        Merge("es", "t▁", 9),
        Merge("l", "o", 7),
        Merge("lo", "w", 7),
    ]


@settings(max_examples=50, deadline=None)
@given(LINES.flatmap(st.permutations))
def test_the_order_of_the_lines_does_not_matter(lines: list[str]) -> None:
    assume(any(lines))
    options = {"vocab_size": 60, "min_frequency": 1, "tags": ()}
    assert BPE.train(lines, **options) == BPE.train(sorted(lines), **options)


@settings(max_examples=50, deadline=None)
@given(LINES, st.integers(0, 15), st.integers(0, 15))
def test_a_smaller_vocabulary_is_the_beginning_of_a_larger_one(lines: list[str], few: int, more: int) -> None:
    assume(any(lines))
    words = count_words(lines)
    alphabet = choose_alphabet(words)
    long = learn_merges(words, alphabet, n_merges=few + more)
    assert learn_merges(words, alphabet, n_merges=few) == long[:few]
    assert [merge.frequency for merge in long] == sorted((merge.frequency for merge in long), reverse=True)


def test_no_merge_spells_a_special_token_a_tag_or_a_byte() -> None:
    lines = ["x<pad>y <2vi> <0x41>"] * 9
    bpe = BPE.train(lines, vocab_size=400, min_frequency=1, byte_fallback=True)
    assert len(set(bpe.tokens)) == len(bpe.tokens)
    ids = bpe.encode(lines[0])
    assert min(ids) > 262
    assert bpe.decode(ids) == lines[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"lines": []}, "lines must hold at least one word, got none"),
        ({"lines": ["", "  \n"]}, "lines must hold at least one word, got none"),
        ({"lines": "abc"}, "lines must be several texts, got the string 'abc'; put it in a list"),
        ({"lines": ["a", "x ▁ y"]}, r"lines\[1\] must not contain '▁' \(U\+2581\)"),
        ({"lines": ["\ud800"]}, r"lines\[0\] must be valid Unicode, got a lone surrogate at position 0"),
        (
            {"vocab_size": 9},
            r"vocab_size must be at least 11 \(7 special tokens, tags and bytes, 4 characters\)",
        ),
        ({"vocab_size": 20, "byte_fallback": True}, "vocab_size must be at least 267"),
        ({"min_frequency": 0}, "min_frequency must be at least 1, got 0"),
        (
            {"limit_alphabet": 1, "initial_alphabet": "xy"},
            "limit_alphabet must be at least 3, the characters",
        ),
        ({"tags": ("vi",) * 2}, "tags must be distinct, got vi, vi"),
        (
            {"tags": ("<2 vi>",)},
            "tags must be two or more signs without space, such as '<2vi>', got '<2 vi>'",
        ),
        ({"tags": ("<pad>",)}, "tags must be two or more signs"),
    ],
)
def test_bad_input_is_named(options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        BPE.train(**{"lines": ["ab ac"], "vocab_size": 20, **options})
    assert "\n" not in str(error.value)
