"""Encoding with learned merges: equal to tokenizers, reversible, random where asked, stored whole."""

import json
import math
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import BPE as TheirBPE
from tokenizers.pre_tokenizers import WhitespaceSplit

from coursepkg import Phrasebook
from coursepkg.text.bpe import BPE, apply_merges, merge_steps
from coursepkg.text.bpe_train import Merge, split_words
from coursepkg.text.tokenizer import LANGUAGE_TAGS, UNKNOWN, WORD_MARK, normalize
from coursepkg.text.vocabulary import BOS, EOS, PAD, SPECIALS, UNK

TRIPLES = Phrasebook().triples[:400]
LINES = [text for triple in TRIPLES for text in (triple.zh, triple.en, triple.vi)]
BPES = {
    "plain": BPE.train(LINES, vocab_size=1000),
    "end": BPE.train(LINES, vocab_size=1000, mark="end", tags=()),
    "bytes": BPE.train(LINES, vocab_size=1100, byte_fallback=True, limit_alphabet=200),
    "decomposed": BPE.train(LINES, vocab_size=900, form="NFD"),
}
KNOWN = "".join(sorted(set("".join(LINES))))
SENTENCES = st.one_of(st.sampled_from(LINES), st.text(KNOWN, max_size=40))
ANY_TEXT = st.text(max_size=40).filter(lambda text: WORD_MARK not in text and text.isprintable())

every_bpe = pytest.mark.parametrize("bpe", BPES.values(), ids=BPES)


def their_encoder(bpe: BPE) -> Tokenizer:
    model = TheirBPE(
        {token: i for i, token in enumerate(bpe.tokens)},
        [merge[:2] for merge in bpe.merges],
        unk_token=SPECIALS[UNK],
        byte_fallback=bpe.byte_fallback,
    )
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = WhitespaceSplit()
    return tokenizer


@every_bpe
@settings(max_examples=100, deadline=None)
@given(st.one_of(SENTENCES, ANY_TEXT))
def test_encoding_is_that_of_tokenizers(bpe: BPE, text: str) -> None:
    marked = " ".join(split_words(normalize(text, bpe.form), bpe.mark))
    assert bpe.encode(text) == their_encoder(bpe).encode(marked).ids


@every_bpe
@settings(max_examples=100, deadline=None)
@given(SENTENCES)
def test_decoding_returns_every_text_of_known_characters(bpe: BPE, text: str) -> None:
    ids = bpe.encode(text, bos=True, eos=True)
    assert bpe.decode(ids) == normalize(text, bpe.form)
    assert bpe.decode(torch.tensor([*ids, PAD, 9])) == normalize(text, bpe.form)


@settings(max_examples=200, deadline=None)
@given(ANY_TEXT)
def test_bytes_lose_nothing_and_unk_is_one_id_a_character(text: str) -> None:
    assert BPES["bytes"].decode(BPES["bytes"].encode(text)) == normalize(text)
    plain = BPES["plain"]
    unknown = sum(sign not in plain.alphabet and sign != " " for sign in normalize(text))
    assert plain.encode(text).count(UNK) == unknown
    assert plain.decode(plain.encode(text)).count(UNKNOWN) == unknown + text.count(UNKNOWN) * (
        UNKNOWN in KNOWN
    )


@settings(max_examples=200, deadline=None)
@given(st.text("abc", max_size=14), st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=9))
def test_the_heap_gives_the_last_step_of_the_definition(word: str, pairs: list[tuple[int, int]]) -> None:
    ids = ["abc".index(sign) for sign in word]
    known = [pair for i, pair in enumerate(pairs) if max(pair) < 3 + i]
    ranks = {pair: rank for rank, pair in enumerate(known)}
    steps = list(merge_steps(ids, ranks, 3))
    assert apply_merges(ids, ranks, 3) == (steps[-1].ids if steps else ids)


def test_the_trace_names_each_merge_in_the_order_of_learning() -> None:
    bpe = BPE.train(["low lower", "low slow"], vocab_size=14, tags=())
    assert bpe.split("slower") == ["▁", "s", "low", "e", "r"]
    assert bpe.trace("slower") == [
        (None, ["▁", "s", "l", "o", "w", "e", "r"]),
        (Merge("l", "o", 4), ["▁", "s", "lo", "w", "e", "r"]),
        (Merge("lo", "w", 4), ["▁", "s", "low", "e", "r"]),
    ]
    with pytest.raises(ValueError, match="word must be one word without space, got 'a b'"):
        bpe.trace("a b")


def exact_outcomes(
    word: tuple[int, ...], ranks: dict[tuple[int, int], int], p: float
) -> Counter[tuple[int, ...]]:
    """Probability of each result of algorithm 1 of arXiv 1910.13267, by going through all draws."""
    places = sorted((ranks[pair], i) for i, pair in enumerate(pairwise(word)) if pair in ranks)
    found: Counter[tuple[int, ...]] = Counter({word: p ** len(places)})
    for n, (rank, i) in enumerate(places):
        for result, chance in exact_outcomes((*word[:i], 10 + rank, *word[i + 2 :]), ranks, p).items():
            found[result] += p**n * (1 - p) * chance
    return found


@pytest.mark.parametrize("p", [0.1, 0.5])
def test_dropout_has_the_distribution_of_the_paper_s_algorithm(p: float) -> None:
    ranks = {(0, 1): 0, (1, 2): 1, (10, 2): 2, (0, 11): 3, (12, 12): 4, (2, 0): 5}
    word, n = (0, 1, 2, 0, 1, 2), 4000
    draw = random.Random(0).random
    seen = Counter(tuple(apply_merges(word, ranks, 10, dropout_p=p, draw=draw)) for _ in range(n))
    exact = exact_outcomes(word, ranks, p)
    assert sum(exact.values()) == pytest.approx(1)
    assert set(seen) <= set(exact)
    for result, chance in exact.items():
        assert abs(seen[result] / n - chance) < 4 * math.sqrt(chance * (1 - chance) / n) + 1 / n


@every_bpe
@settings(max_examples=60, deadline=None)
@given(SENTENCES, st.integers(0, 2**40))
def test_dropout_keeps_the_text_and_follows_its_seed(bpe: BPE, text: str, seed: int) -> None:
    assert bpe.encode(text, dropout_p=0, seed=seed) == bpe.encode(text)
    assert bpe.encode(text, dropout_p=1, seed=seed) == [
        i for word in split_words(normalize(text, bpe.form), bpe.mark) for i in bpe._spell(word)
    ]
    drawn = bpe.encode(text, dropout_p=0.3, seed=seed)
    assert drawn == bpe.encode(text, dropout_p=0.3, seed=seed)
    assert len(drawn) >= len(bpe.encode(text))
    assert bpe.decode(drawn) == normalize(text, bpe.form)


def test_more_dropout_gives_longer_encodings_and_other_seeds_other_ones() -> None:
    bpe = BPES["plain"]
    lengths = [
        sum(len(bpe.encode(line, dropout_p=p, seed=i)) for i, line in enumerate(LINES))
        for p in (0.0, 0.1, 0.3, 0.6, 1.0)
    ]
    assert lengths == sorted(set(lengths))
    assert len({tuple(bpe.encode(LINES[1], dropout_p=0.3, seed=seed)) for seed in range(20)}) > 5


def test_marks_and_tags_stand_in_front_and_have_no_text() -> None:
    bpe = BPES["plain"]
    assert bpe.tokens[:7] == (*SPECIALS, *LANGUAGE_TAGS)
    text = TRIPLES[0].zh
    assert bpe.encode(text, bos=True, eos=True, tag="<2vi>") == [BOS, 5, *bpe.encode(text), EOS]
    assert bpe.decode(bpe.encode(text, bos=True, eos=True, tag="<2vi>")) == text
    assert 5 not in bpe.encode("<2vi>")
    assert bpe.encode("") == bpe.encode(" \n") == []
    assert bpe.encode("", tag="<2en>", eos=True) == [6, EOS]
    assert bpe.decode([]) == bpe.decode([EOS, 400]) == ""


def test_a_character_in_two_unicode_forms_is_one_word() -> None:
    assert BPES["plain"].encode("khách sạn") == BPES["plain"].encode("kha\u0301ch sa\u0323n")
    assert BPES["decomposed"].encode("khách sạn") == BPES["decomposed"].encode("kha\u0301ch sa\u0323n")


@every_bpe
def test_a_saved_bpe_loads_equal(bpe: BPE, tmp_path: Path) -> None:
    path = tmp_path / "bpe.json"
    bpe.save(path)
    bpe.save(path)
    loaded = BPE.load(path)
    assert loaded == bpe
    assert loaded.tokens == bpe.tokens
    assert loaded.fingerprint == bpe.fingerprint
    assert [file.name for file in tmp_path.iterdir()] == ["bpe.json"]


def test_every_field_changes_the_fingerprint() -> None:
    options = [
        {},
        {"mark": "end"},
        {"byte_fallback": True},
        {"form": "NFD"},
        {"tags": ("<2vi>",)},
        {"vocab_size": 999},
    ]
    prints = {BPE.train(LINES, **{"vocab_size": 1000, **option}).fingerprint for option in options}
    assert len(prints) == len(options)
    assert {len(found) for found in prints} == {64}


def test_a_failed_save_leaves_the_old_file_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bpe.json"
    BPES["plain"].save(path)
    before = path.read_bytes()

    def fill_disk(part: Path, target: Path) -> None:
        raise OSError(28, "No space left on device", str(target))

    monkeypatch.setattr("os.replace", fill_disk)
    with pytest.raises(OSError, match="No space left on device"):
        BPES["end"].save(path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["bpe.json"]


GOOD = {"alphabet": ["a", "b", "▁"], "merges": [["a", "b", 2]], "tags": [], "mark": "start"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "Expecting value"),
        (json.dumps(GOOD)[:30], "is not a BPE file"),
        ("[1]", "is not a BPE file"),
        ("[" * 100_000, "is not a BPE file"),
        ('{"tokens": []}', "is not a BPE file: 'merges'"),
        (json.dumps({**GOOD, "size": 3}), "unexpected keyword argument 'size'"),
        (
            json.dumps({**GOOD, "merges": [["a", "c", 2]]}),
            r"merges\[0\] must join earlier tokens, got 'a' and 'c'",
        ),
        (json.dumps({**GOOD, "merges": [["a", "b", 2]] * 2}), "tokens must be distinct, but 'ab' occurs"),
        (json.dumps({**GOOD, "merges": [["a", "b"]]}), "not enough values"),
        (json.dumps({**GOOD, "alphabet": ["a", "b"]}), "alphabet must be single characters, '▁' among them"),
        (json.dumps({**GOOD, "mark": "middle"}), "mark must be one of start, end, got 'middle'"),
        (json.dumps({**GOOD, "form": "ABC"}), "form must be one of NFC, NFD, NFKC, NFKD, got 'ABC'"),
        (json.dumps({**GOOD, "byte_fallback": "no"}), "byte_fallback is neither true nor false"),
        (json.dumps({**GOOD, "tags": ["<eos>"]}), "tags must be two or more signs"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "bpe.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=message) as error:
        BPE.load(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        BPE.load(tmp_path / "nowhere.json")


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda bpe: bpe.decode([len(bpe)]), r"ids must lie in 0\.\.999, got 1000"),
        (lambda bpe: bpe.decode([-1]), r"ids must lie in 0\.\.999, got -1"),
        (lambda bpe: bpe.encode("a", tag="<2fr>"), "tag must be one of <2zh>, <2vi>, <2en>, got '<2fr>'"),
        (lambda _: BPES["end"].encode("a", tag="<2vi>"), "tag must be one of none"),
        (lambda bpe: bpe.encode("a", dropout_p=1.5), r"dropout_p must lie in \[0, 1\], got 1\.5"),
        (lambda bpe: bpe.encode("a\udc80"), "text must be valid Unicode, got a lone surrogate at position 1"),
        (lambda bpe: bpe.encode("a▁b"), r"text must not contain '▁' \(U\+2581\)"),
    ],
)
def test_bad_input_is_named(work, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        work(BPES["plain"])


def test_words_are_remembered_without_being_shared() -> None:
    bpe = BPES["plain"]
    ids = bpe.encode("hotel")
    ids.append(0)
    assert bpe.encode("hotel") == ids[:-1]
