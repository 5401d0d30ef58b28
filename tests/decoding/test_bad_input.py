"""Mistakes of a caller, and models that return nonsense: one line each."""

import math

import pytest
import torch

from coursepkg.decoding import RecomputedState, Temperature, TopK, beam_search, greedy, sample, source_limits
from tests.decoding.tables import Table
from tests.refusals import assert_equal, assert_refused


def start(n_sentences: int = 2) -> RecomputedState:
    return Table(6, 0).start(n_sentences)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"max_len": 0}, "max_len must be an integer of at least 1, got 0"),
        ({"max_len": True}, "max_len must be an integer of at least 1, got True"),
        ({"max_len": torch.tensor([3, 0])}, "max_len must be at least 1 for every sentence, got 0"),
        ({"max_len": torch.tensor([3])}, r"max_len must be an integer or integers \(2,\), one a sentence"),
        ({"max_len": torch.tensor([3.0, 3.0])}, r"max_len must be .* got torch.float32 \(2,\)"),
        ({"bos": -1}, "bos must be an integer of at least 0, got -1"),
        ({"eos": -2}, "eos must be an integer of at least 0, got -2"),
        ({"eos": 6}, "eos must be below the vocabulary size 6, got 6"),
        ({"prefix": [[4]]}, r"prefix must hold one list of ids a sentence \(2\), got 1"),
        ({"prefix": [[4], [-1]]}, r"prefix\[1\]'s id must be an integer of at least 0, got -1"),
        ({"prefix": [[4], [3, 2]]}, r"prefix\[1\] must not hold the end token 2: nothing would follow it"),
        ({"prefix": [[4], [77]]}, "prefix ids must be below the vocabulary size 6, got 77"),
    ],
)
def test_arguments_of_all_decoders(options, message) -> None:
    options = {"max_len": 3} | options
    for decode in (
        greedy,
        lambda state, **o: sample(state, seed=0, **o),
        lambda state, **o: beam_search(state, beam_size=2, **o),
    ):
        with pytest.raises(ValueError, match=f"^{message}") as caught:
            decode(start(), **options)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"beam_size": 0}, "beam_size must be an integer of at least 1, got 0"),
        ({"n_best": 0}, r"n_best must be an integer in 1\.\.3, got 0"),
        ({"n_best": 4}, r"n_best must be an integer in 1\.\.3, got 4"),
        ({"length_penalty": math.nan}, "length_penalty must be a finite number, got nan"),
        ({"length_penalty": math.inf}, "length_penalty must be a finite number, got inf"),
    ],
)
def test_arguments_of_beam_search(options, message) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        beam_search(start(), **{"beam_size": 3, "max_len": 3} | options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seed": -1}, "seed must be an integer of at least 0, got -1"),
        ({"n_samples": 0}, "n_samples must be an integer of at least 1, got 0"),
        ({"temperature": 0.0}, r"temperature must be above 0, got 0.0; for the limit at 0 use greedy\(\)"),
        ({"top_k": 0}, "top_k must be an integer of at least 1, got 0"),
        ({"top_p": 1.5}, "top_p must be above 0 and at most 1, got 1.5"),
        ({"repetition_penalty": -1.0}, "repetition_penalty must be above 0, got -1.0"),
        ({"sentence_numbers": [3]}, r"sentence_numbers must be one a sentence \(2\), got 1"),
        ({"sentence_numbers": [3, -3]}, r"sentence_numbers\[1\] must be an integer of at least 0, got -3"),
    ],
)
def test_arguments_of_sampling(options, message) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        sample(start(), **{"seed": 0, "max_len": 3} | options)


def broken(value: float, *, everywhere: bool, step: int = 2) -> RecomputedState:
    """Sentence 1 gets a bad logit, or bad logits, at its third token."""

    def predict(tokens: torch.Tensor, sentence: torch.Tensor) -> torch.Tensor:
        logits = torch.zeros(len(tokens), 5, dtype=torch.float64)
        logits[:, 2] = -9.0
        bad = (sentence == 1) & (tokens.shape[1] == step + 1)
        if everywhere:
            logits[bad] = value
        else:
            logits[bad, 3] = value
        return logits

    return RecomputedState(predict, 3)


@pytest.mark.parametrize(
    ("value", "everywhere"),
    [(math.nan, True), (math.nan, False), (math.inf, True), (math.inf, False), (-math.inf, True)],
)
@pytest.mark.parametrize("name", ["greedy", "sample", "beam"])
def test_unusable_logits_name_the_sentence_and_the_token(value, everywhere, name) -> None:
    decode = {
        "greedy": lambda state: greedy(state, max_len=5),
        "sample": lambda state: sample(state, max_len=5, seed=0, n_samples=2),
        "beam": lambda state: beam_search(state, beam_size=2, max_len=5),
    }[name]
    with pytest.raises(ValueError, match=r"got none for sentence 1 at token 2$") as caught:
        decode(broken(value, everywhere=everywhere))
    assert "\n" not in str(caught.value)


def test_minus_infinity_at_some_tokens_only_forbids_them() -> None:
    state = broken(-math.inf, everywhere=False)
    assert 3 not in beam_search(state, beam_size=2, max_len=5)[1][0].ids[2:3]


def test_filters_that_leave_nothing_are_named() -> None:
    def nothing(logits: torch.Tensor, history: torch.Tensor) -> torch.Tensor:
        return torch.full_like(logits, -torch.inf)

    for decode in (greedy, lambda state, **o: beam_search(state, beam_size=2, **o)):
        with pytest.raises(ValueError, match=r"sentence 0 at token 0, or let the filters leave a token$"):
            decode(start(), max_len=3, filters=[TopK(3), nothing, Temperature(2.0)])


@pytest.mark.parametrize(
    ("logits", "shown"),
    [
        (torch.zeros(2, 3, 5), r"torch.float32 \(2, 3, 5\)"),
        (torch.zeros(1, 5), r"torch.float32 \(1, 5\)"),
        (torch.zeros(2, 5, dtype=torch.int64), r"torch.int64 \(2, 5\)"),
    ],
)
def test_a_state_that_returns_no_logits(logits, shown) -> None:
    with pytest.raises(ValueError, match=rf"^state.step must return logits \(2, V\), got {shown}$"):
        greedy(RecomputedState(lambda tokens, sentence: logits, 2), max_len=3)


def test_a_vocabulary_of_the_end_token_alone() -> None:
    state = RecomputedState(lambda tokens, sentence: torch.zeros(len(tokens), 1), 1)
    with pytest.raises(ValueError, match="the vocabulary must hold a token besides eos, got 1 token"):
        beam_search(state, beam_size=2, max_len=3, eos=0)


def test_source_limits() -> None:
    src = torch.tensor([[5, 6, 2], [5, 2, 0]])
    assert source_limits(src).tolist() == [13, 12]
    assert source_limits(src, 0).tolist() == [3, 2]
    assert source_limits(src, most=12).tolist() == [12, 12]
    with pytest.raises(ValueError, match="extra_decode_length must be an integer of at least 0, got -1"):
        source_limits(src, -1)
    with pytest.raises(ValueError, match=r"src must be ids \(B, S\), got shape \(3,\)"):
        source_limits(src[0])


def test_arguments_of_a_wrong_type() -> None:
    preparation = """
from coursepkg.decoding import beam_search, greedy, sample, TopP, Temperature
from tests.decoding.tables import Table
start = lambda: Table(6, 0).start(2)
"""
    assert_refused(
        preparation,
        {
            "greedy(start(), max_len=2.5)": "max_len must be an integer of at least 1, got 2.5",
            'greedy(start(), max_len="3")': "max_len must be an integer of at least 1, got '3'",
            "greedy(start(), max_len=3, bos=None)": "bos must be an integer of at least 0, got None",
            "greedy(start(), max_len=3, prefix=[[1.5], []])": (
                "prefix[0]'s id must be an integer of at least 0, got 1.5"
            ),
            "beam_search(start(), max_len=3, beam_size=2.0)": "beam_size must be an integer of at least 1, got 2.0",
            "beam_search(start(), max_len=3, beam_size=2, length_penalty=None)": (
                "length_penalty must be a finite number, got None"
            ),
            "sample(start(), max_len=3, seed=None)": "seed must be an integer of at least 0, got None",
            'TopP("0.9")': "top_p must be a finite number, got '0.9'",
            "Temperature([1.0])": "temperature must be a finite number, got list",
        },
    )


def test_numbers_of_numpy_are_numbers() -> None:
    preparation = """
from coursepkg.decoding import *
table = torch.randn(7, 7, generator=torch.Generator().manual_seed(0))
def start():
    return RecomputedState(lambda tokens, sentence: table[tokens[:, -1]], 2)
few = {"max_len": 4, "seed": 5, "n_samples": 2, "top_k": 3, "top_p": 0.5, "temperature": 0.5}
few_of_numpy = {name: f32(x) if isinstance(x, float) else i64(x) for name, x in few.items()}
beams = {"beam_size": 3, "n_best": 2, "max_len": 4, "length_penalty": 0.5}
beams_of_numpy = {name: f32(x) if isinstance(x, float) else i64(x) for name, x in beams.items()}
"""
    assert_equal(
        preparation,
        {
            "sample(start(), sentence_numbers=np.arange(2), **few_of_numpy)": "sample(start(), **few)",
            "beam_search(start(), **beams_of_numpy)": "beam_search(start(), **beams)",
            "greedy(start(), max_len=i64(4), filters=[Forbid((i64(4),))])": (
                "greedy(start(), max_len=4, filters=[Forbid((4,))])"
            ),
        },
    )
