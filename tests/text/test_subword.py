"""SentencePiece: ids as promised, reversible, reproducible, quiet, one line for each mistake.

Viterbi and sampling against going through every segmentation.
"""

import io
import math
import random
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg import Phrasebook
from coursepkg.text.subword import SentencePiece, best_segmentation, sample_segmentation
from coursepkg.text.tokenizer import LANGUAGE_TAGS, UNKNOWN, WORD_MARK, normalize, read_lines
from coursepkg.text.vocabulary import BOS, EOS, PAD, SPECIALS, UNK

TRIPLES = Phrasebook().triples[:400]
LINES = [text for triple in TRIPLES for text in (triple.zh, triple.en, triple.vi)]
MODELS = {
    "unigram": SentencePiece.train(LINES, vocab_size=800),
    "bpe": SentencePiece.train(LINES, vocab_size=800, model_type="bpe"),
    "unigram with bytes": SentencePiece.train(
        LINES, vocab_size=900, byte_fallback=True, character_coverage=0.98
    ),
    "bpe with bytes": SentencePiece.train(
        LINES, vocab_size=900, model_type="bpe", byte_fallback=True, character_coverage=0.98, tags=()
    ),
}
KNOWN = "".join(sorted(set("".join(LINES))))
SENTENCES = st.one_of(st.sampled_from(LINES), st.text(KNOWN, max_size=40))
ANY_TEXT = st.text(max_size=40).filter(lambda text: WORD_MARK not in text and text.isprintable())

every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@every_model
@settings(max_examples=60, deadline=None)
@given(SENTENCES)
def test_decoding_returns_every_text_of_known_characters(model: SentencePiece, text: str) -> None:
    ids = model.encode(text, bos=True, eos=True)
    assert model.decode(ids) == normalize(text)
    assert model.decode(torch.tensor([*ids, PAD, 9])) == normalize(text)
    assert (len(ids) == 2) == (not text.strip())


@settings(max_examples=100, deadline=None)
@given(ANY_TEXT)
def test_bytes_lose_nothing(text: str) -> None:
    for name in ("unigram with bytes", "bpe with bytes"):
        assert MODELS[name].decode(MODELS[name].encode(text)) == normalize(text)


def test_no_character_is_changed() -> None:
    text = "你好，世界！ ① ﬁ"
    model = SentencePiece.train([text], vocab_size=16)
    assert model.decode(model.encode(text)) == text
    assert model.encode("kha\u0301ch") == model.encode("khách")


@every_model
def test_specials_and_tags_come_first_and_no_text_is_encoded_to_them(model: SentencePiece) -> None:
    assert model.pieces[:4] == SPECIALS
    assert model.tags == model.pieces[4 : 4 + len(model.tags)] == LANGUAGE_TAGS[: len(model.tags)]
    for name in (*SPECIALS, *LANGUAGE_TAGS):
        assert set(model.encode(name)) & set(range(4 + len(model.tags))) <= {UNK}


def test_tags_stand_in_front_and_have_no_text() -> None:
    model, text = MODELS["unigram"], TRIPLES[0].zh
    ids = model.encode(text, bos=True, eos=True, tag="<2vi>")
    assert ids == [BOS, 5, *model.encode(text), EOS]
    assert model.decode(ids) == text
    assert model.decode([6, UNK]).strip() == UNKNOWN
    assert model.encode("") == model.encode(" \n") == []
    assert model.encode("", tag="<2zh>", eos=True) == [4, EOS]


@every_model
def test_a_batch_is_its_texts_one_by_one(model: SentencePiece) -> None:
    texts = [*LINES[:50], "", "  "]
    rows = model.encode_batch(texts, bos=True, eos=True)
    assert rows == [model.encode(text, bos=True, eos=True) for text in texts]
    assert model.decode_batch(rows) == [normalize(text) for text in texts]
    assert model.decode_batch(torch.tensor([[9, EOS], [10, 11]])) == [
        model.decode([9]),
        model.decode([10, 11]),
    ]
    assert model.encode_batch([]) == model.decode_batch([]) == []


def test_training_is_reproducible_and_quiet(capfd: pytest.CaptureFixture[str]) -> None:
    for model_type in ("unigram", "bpe"):
        first, again = (SentencePiece.train(LINES, vocab_size=700, model_type=model_type) for _ in range(2))
        assert first.model == again.model
        assert first.fingerprint == again.fingerprint
        assert first.model_type == model_type
        with pytest.raises(ValueError, match="vocab_size"):
            SentencePiece.train(LINES, vocab_size=10**6, model_type=model_type)
        first.decode(first.encode("龘 ok"))
    assert capfd.readouterr() == ("", "")
    assert len({model.fingerprint for model in MODELS.values()}) == len(MODELS)


def test_lines_of_any_length_count() -> None:
    model = SentencePiece.train(["很" * 3000, "长" * 9000], vocab_size=15, model_type="bpe")
    assert {"很", "长"} <= set(model.pieces)


def test_the_unigram_model_s_best_is_viterbi_s() -> None:
    model = MODELS["unigram"]
    longest, unknown = max(map(len, model.scores)), min(model.scores.values()) - 10
    for line in LINES:
        marked = "".join(WORD_MARK + word for word in line.split())
        _, best = best_segmentation(marked, model.scores, longest=longest, unknown=unknown)
        assert sum(model.scores[piece] for piece in model.split(line)) == pytest.approx(best, abs=1e-3)


@pytest.mark.parametrize("name", ["bpe", "bpe with bytes"])
@settings(max_examples=150, deadline=None)
@given(st.one_of(SENTENCES, ANY_TEXT))
def test_bpe_without_dropout_is_the_library_s(name: str, text: str) -> None:
    model = MODELS[name]
    assert model._sampler.draw(normalize(text), alpha=None, dropout_p=0, seed=0) == model.encode(text)


@every_model
@settings(max_examples=40, deadline=None)
@given(st.one_of(SENTENCES, ANY_TEXT), st.integers(0, 2**40))
def test_sampling_keeps_the_text_and_follows_its_seed(model: SentencePiece, text: str, seed: int) -> None:
    options: dict[str, Any] = {"dropout_p": 0.3} if model.model_type == "bpe" else {"alpha": 0.2}
    drawn = model.encode(text, seed=seed, **options)
    torch.rand(1)
    sentencepiece.set_random_generator_seed(7)
    assert drawn == model.encode(text, seed=seed, **options)
    assert model.decode(drawn) == model.decode(model.encode(text))


def test_sampling_strength_goes_from_the_best_to_anything() -> None:
    unigram, bpe, text = MODELS["unigram"], MODELS["bpe"], LINES[1]
    best = unigram.encode(text)
    draws = {
        alpha: [unigram.encode(text, alpha=alpha, seed=seed) for seed in range(50)]
        for alpha in (0.0, 0.5, 200.0)
    }
    assert all(ids == best for ids in draws[200.0])
    assert len(set(map(tuple, draws[0.0]))) > len(set(map(tuple, draws[0.5]))) > 1
    assert [bpe.pieces[i] for i in bpe.encode(text, dropout_p=1)] == list(
        WORD_MARK + text.replace(" ", WORD_MARK)
    )
    assert len({tuple(bpe.encode(text, dropout_p=0.2, seed=seed)) for seed in range(50)}) > 5
    assert Counter(map(tuple, draws[0.5])).most_common(1)[0][1] < 50


@every_model
def test_a_saved_model_loads_equal(model: SentencePiece, tmp_path: Path) -> None:
    path = tmp_path / "zh_vi.model"
    model.save(path)
    loaded = SentencePiece.load(path)
    assert (loaded.fingerprint, loaded.tags, loaded.pieces) == (model.fingerprint, model.tags, model.pieces)
    assert loaded.encode(LINES[0]) == model.encode(LINES[0])
    assert [file.name for file in tmp_path.iterdir()] == ["zh_vi.model"]


def foreign_model(**options: Any) -> bytes:
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(LINES),
        model_writer=written,
        vocab_size=700,
        minloglevel=2,
        num_threads=1,
        **options,
    )
    return written.getvalue()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "model must be the content of a SentencePiece model file"),
        (b"no model", "model must be the content of a SentencePiece model file"),
        (MODELS["bpe"].model[:2000], "model must be the content of a SentencePiece model file"),
        (foreign_model(), "model must have <pad>, <bos>, <eos>, <unk> as ids 0 to 3, got <unk>, <s>, </s>"),
        (
            foreign_model(pad_id=0, unk_id=1, bos_id=2, eos_id=3),
            "model must have <pad>, <bos>, <eos>, <unk> as ids 0 to 3, got <pad>, <unk>, <s>, </s>",
        ),
    ],
)
def test_a_file_that_does_not_fit_is_named(tmp_path: Path, content: bytes, message: str) -> None:
    path = tmp_path / "other.model"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        SentencePiece.load(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        SentencePiece.load(tmp_path / "nowhere.model")


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_the_size_that_a_message_names_works(model_type: str) -> None:
    with pytest.raises(
        ValueError, match=r"^vocab_size must be at most \d+ for this text, got 99999; lower"
    ) as high:
        SentencePiece.train(LINES, vocab_size=99999, model_type=model_type)
    largest = int(re.findall(r"\d+", str(high.value))[0])
    assert len(SentencePiece.train(LINES, vocab_size=largest, model_type=model_type)) == largest
    with pytest.raises(
        ValueError, match=r"^vocab_size must be at least \d+ for the characters of this text, got 9;"
    ):
        SentencePiece.train(LINES, vocab_size=9, model_type=model_type)


@pytest.mark.parametrize(
    ("work", "message"),
    [
        (lambda: SentencePiece.train([], vocab_size=9), "lines must hold at least one word, got none"),
        (lambda: SentencePiece.train(["", " "], vocab_size=9), "lines must hold at least one word, got none"),
        (lambda: SentencePiece.train("ab", vocab_size=9), "lines must be several texts, got the string 'ab'"),
        (lambda: SentencePiece.train(["a", "▁"], vocab_size=9), r"lines\[1\] must not contain '▁'"),
        (lambda: SentencePiece.train(["a"], vocab_size=0), "vocab_size must be at least 1, got 0"),
        (
            lambda: SentencePiece.train(["a"], vocab_size=50),
            "vocab_size must be at most 9 for this text, got 50",
        ),
        (
            lambda: SentencePiece.train(["a"], vocab_size=9, model_type="word"),
            "model_type must be one of unigram, bpe",
        ),
        (
            lambda: SentencePiece.train(["a"], vocab_size=9, character_coverage=0.5),
            r"character_coverage must lie in \[0\.98, 1\], got 0\.5",
        ),
        (lambda: SentencePiece.train(["a"], vocab_size=9, tags=("<2vi>",) * 2), "tags must be distinct"),
        (lambda: MODELS["bpe"].decode([800]), r"ids must lie in 0\.\.799, got 800"),
        (lambda: MODELS["bpe"].decode([-1]), r"ids must lie in 0\.\.799, got -1"),
        (
            lambda: MODELS["bpe"].encode("a\ud800"),
            "text must be valid Unicode, got a lone surrogate at position 1",
        ),
        (lambda: MODELS["bpe"].encode_batch(["a", "▁"]), r"texts\[1\] must not contain '▁'"),
        (
            lambda: MODELS["bpe"].encode("a", tag="<2fr>"),
            "tag must be one of <2zh>, <2vi>, <2en>, got '<2fr>'",
        ),
        (
            lambda: MODELS["bpe"].encode("a", alpha=0.1),
            "alpha must not be set for a model of type bpe, got 0.1",
        ),
        (lambda: MODELS["bpe"].encode("a", dropout_p=2), r"dropout_p must lie in \[0, 1\], got 2"),
        (
            lambda: MODELS["unigram"].encode("a", dropout_p=0.1),
            "dropout_p must not be set for a model of type unigram",
        ),
        (lambda: MODELS["unigram"].encode("a", alpha=-0.1), "alpha must be 0 or more, got -0.1"),
        (lambda: MODELS["unigram"].encode("a", alpha=float("nan")), "alpha must be 0 or more, got nan"),
    ],
)
def test_bad_input_is_named(work, message: str) -> None:
    with pytest.raises(ValueError, match=message) as error:
        work()
    assert "\n" not in str(error.value)


def test_training_reads_files_line_by_line(tmp_path: Path) -> None:
    for name, lines in (("a.zh", LINES[:200]), ("b.vi", LINES[200:])):
        (tmp_path / name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    files = [tmp_path / "a.zh", tmp_path / "b.vi"]
    assert SentencePiece.train(read_lines(files), vocab_size=800).fingerprint == MODELS["unigram"].fingerprint
    (tmp_path / "b.vi").write_bytes(b"ok\n\xff\xfe\n")
    with pytest.raises(ValueError, match=r"b\.vi must be UTF-8: invalid start byte"):
        list(read_lines(files))
    with pytest.raises(FileNotFoundError, match=r"c\.en"):
        list(read_lines([tmp_path / "c.en"]))


UNKNOWN_COST = -20.0
PIECES = st.dictionaries(st.text("ab", min_size=1, max_size=4), st.floats(-9, -0.1), max_size=12)
TEXT = st.text("abc", max_size=9)


def all_segmentations(text: str, log_probs: dict[str, float]) -> dict[tuple[str, ...], float]:
    """Every segmentation with its log-probability; single characters are always pieces."""
    if not text:
        return {(): 0.0}
    found = {}
    for end in range(1, len(text) + 1):
        log_prob = log_probs.get(text[:end], UNKNOWN_COST if end == 1 else None)
        if log_prob is not None:
            for rest, rest_log_prob in all_segmentations(text[end:], log_probs).items():
                found[text[:end], *rest] = log_prob + rest_log_prob
    return found


@given(TEXT, PIECES)
def test_viterbi_finds_the_most_probable_segmentation(text: str, log_probs: dict[str, float]) -> None:
    pieces, log_prob = best_segmentation(text, log_probs, longest=4, unknown=UNKNOWN_COST)
    every = all_segmentations(text, log_probs)
    assert "".join(pieces) == text
    assert log_prob == pytest.approx(max(every.values()))
    assert every[tuple(pieces)] == pytest.approx(log_prob)


@pytest.mark.parametrize("alpha", [0, 0.3, 1.0, 3])
def test_samples_have_the_stated_distribution(alpha: float) -> None:
    log_probs = {"a": -2.0, "b": -2.5, "ab": -2.2, "ba": -3.0, "aba": -4.0, "bab": -3.5}
    every = all_segmentations("ababc", log_probs)
    total = sum(math.exp(alpha * log_prob) for log_prob in every.values())
    draw, n = random.Random(1).random, 4000
    options = {"longest": 3, "unknown": UNKNOWN_COST, "alpha": alpha, "draw": draw}
    seen = Counter(tuple(sample_segmentation("ababc", log_probs, **options)) for _ in range(n))
    assert set(seen) <= set(every)
    for pieces, log_prob in every.items():
        chance = math.exp(alpha * log_prob) / total
        assert abs(seen[pieces] / n - chance) < 4 * math.sqrt(chance * (1 - chance) / n) + 1 / n


@given(TEXT, PIECES, st.floats(0, 5), st.sampled_from([0.0, 0.5, 1 - 2**-53]))
def test_any_draw_gives_a_segmentation(
    text: str, log_probs: dict[str, float], alpha: float, value: float
) -> None:
    options = {"longest": 4, "unknown": UNKNOWN_COST, "alpha": alpha, "draw": lambda: value}
    assert tuple(sample_segmentation(text, log_probs, **options)) in all_segmentations(text, log_probs)


def test_a_long_text_takes_one_pass() -> None:
    text = "ab" * 20_000
    log_probs = {"a": -2.0, "b": -2.0, "ab": -3.0}
    pieces, log_prob = best_segmentation(text, log_probs, longest=2, unknown=UNKNOWN_COST)
    assert pieces == ["ab"] * 20_000
    assert log_prob == -60_000
    options = {"longest": 2, "unknown": UNKNOWN_COST, "draw": random.Random(0).random}
    assert sample_segmentation(text, log_probs, alpha=50.0, **options) == pieces
