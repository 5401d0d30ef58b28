"""Cached decoding against the full pass: step by step, by prefill, and after any reordering of rows."""

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from coursepkg.blocks.cache import CachedState
from coursepkg.blocks.language_model import LanguageModel
from tests.blocks.models import CONFIGS, SOURCES, V, make, source, target


def steps(state: CachedState, tokens: Tensor, sizes: list[int]) -> Tensor:
    """The logits after each piece of `tokens` (N, T), cut into pieces of these sizes."""
    return torch.stack([state.step(piece) for piece in tokens.split(sizes, dim=1)], dim=1)


@pytest.mark.parametrize("sizes", [[1] * 9, [4, 1, 1, 1, 1, 1], [1, 3, 1, 4], [9]], ids=str)
@pytest.mark.parametrize("kind", CONFIGS)
def test_cached_equals_the_full_pass(kind: str, sizes: list[int]) -> None:
    model = make(kind)
    full = model(source(), target())
    found = steps(model.start(source(), max_len=9), target(), sizes)
    ends = torch.tensor(sizes).cumsum(0) - 1
    torch.testing.assert_close(found, full[:, ends])


@pytest.mark.parametrize("sizes", [[1] * 9, [5, 1, 3]], ids=str)
@pytest.mark.parametrize("kind", ["2017", "learned", "t5 grouped", "modern", "no positions"])
def test_a_language_model_too(kind: str, sizes: list[int]) -> None:
    model = make(kind, LanguageModel)
    ends = torch.tensor(sizes).cumsum(0) - 1
    torch.testing.assert_close(steps(model.start(3, max_len=9), target(), sizes), model(target())[:, ends])


class Replay:
    """What the rows of a state have read, so that the full pass can be asked for the same logits."""

    def __init__(self, model, kind: str) -> None:
        self.model, self.state = model, model.start(source(), max_len=24)
        self.tokens = torch.zeros(3, 0, dtype=torch.long)
        self.sentences = torch.arange(3)
        self.generator = torch.Generator().manual_seed(0)

    def step(self, n_tokens: int) -> None:
        new = torch.randint(4, V, (self.state.n_rows, n_tokens), generator=self.generator)
        self.tokens = torch.cat([self.tokens, new], dim=1)
        per_sentence = self.state.n_rows // len(self.sentences)
        src = source()[self.sentences].repeat_interleave(per_sentence, dim=0)
        expected = self.model(src, self.tokens)[:, -1]
        torch.testing.assert_close(self.state.step(new), expected)

    def select(self, rows: list[int], sentences: list[int] | None = None) -> None:
        kept = None if sentences is None else torch.tensor(sentences)
        self.state.select(torch.tensor(rows), kept)
        self.tokens = self.tokens[rows]
        self.sentences = self.sentences if sentences is None else self.sentences[kept]
        assert self.state.n_rows == len(rows)


@pytest.mark.parametrize("kind", CONFIGS)
def test_reordered_enlarged_shrunk_and_dropped_rows_equal_recomputation(kind: str) -> None:
    replay = Replay(make(kind), kind)
    replay.step(2)
    replay.select([0, 0, 0, 1, 1, 1, 2, 2, 2])
    replay.step(1)
    replay.select([2, 0, 0, 3, 4, 5, 7, 7, 7])
    replay.step(1)
    replay.step(2)
    replay.select([1, 0, 2, 8, 6, 6], sentences=[0, 2])
    replay.step(1)
    replay.select([2, 2, 1, 0, 5, 4, 3, 3])
    replay.step(1)
    replay.select([3, 5])
    replay.step(3)
    replay.select([1], sentences=[1])
    replay.step(1)


@settings(max_examples=15)
@given(st.data())
def test_any_history_of_selections_equals_recomputation(data: st.DataObject) -> None:
    replay = Replay(make("rope_cross"), "rope_cross")
    for _ in range(data.draw(st.integers(1, 6))):
        replay.step(data.draw(st.integers(1, 3)))
        n_sentences, old = len(replay.sentences), replay.state.n_rows // len(replay.sentences)
        kept = sorted(data.draw(st.sets(st.integers(0, n_sentences - 1), min_size=1)))
        new = data.draw(st.integers(1, 4))
        beams = data.draw(
            st.lists(st.integers(0, old - 1), min_size=new * len(kept), max_size=new * len(kept))
        )
        rows = [kept[i // new] * old + beam for i, beam in enumerate(beams)]
        replay.select(rows, kept if data.draw(st.booleans()) or len(kept) < n_sentences else None)
    replay.step(1)


def test_the_source_is_kept_once_a_sentence_and_never_copied_but_by_dropping() -> None:
    model = make("modern")
    state = model.start(source(), max_len=12)
    before = [part.data_ptr() for part in (*state.source.keys, *state.source.values)]
    assert {tuple(k.shape) for k in state.source.keys} == {(3, 2, len(SOURCES[0]), 4)}
    state.step(target()[:, :1])
    state.select(torch.arange(3).repeat_interleave(4))
    state.step(torch.full((12, 1), 5))
    state.select(torch.arange(11, -1, -1).view(3, 4).flip(0).flatten(), torch.arange(3))
    assert [part.data_ptr() for part in (*state.source.keys, *state.source.values)] == before
    state.select(torch.tensor([0, 1, 8, 9]), torch.tensor([0, 2]))
    assert {tuple(k.shape) for k in state.source.keys} == {(2, 2, len(SOURCES[0]), 4)}


def test_self_attention_keys_are_written_once_and_never_moved_by_reordering() -> None:
    state = make("modern").start(source(), max_len=12)
    state.step(target()[:, :1])
    state.select(torch.arange(3).repeat_interleave(2))
    state.step(torch.arange(4, 10)[:, None])
    pool = state.cache.open(0).pool
    before, place = pool.clone(), pool.data_ptr()
    state.select(torch.tensor([1, 0, 3, 3, 5, 4]))
    after = state.cache.open(0).pool
    assert after.data_ptr() == place
    used = 1 + 2
    torch.testing.assert_close(after[..., :used, :], before[..., :used, :], rtol=0, atol=0)


def test_no_gradient_is_recorded() -> None:
    state = make("2017").start(source(), max_len=4)
    assert not state.step(target()[:, :1]).requires_grad


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        (torch.ones(2, 1, dtype=torch.long), "tokens must be (3, T), one row alive each, with T in 1..4"),
        (torch.ones(3, 5, dtype=torch.long), "tokens must be (3, T), one row alive each, with T in 1..4"),
        (torch.ones(3, 0, dtype=torch.long), "tokens must be (3, T), one row alive each, with T in 1..4"),
        (torch.ones(3, dtype=torch.long), "tokens must be (3, T), one row alive each, with T in 1..4"),
        (torch.full((3, 1), V), "tokens must hold ids in 0..22, got 23..23"),
        (torch.ones(3, 1), "tokens must be integer ids (B, length), got torch.float32 (3, 1)"),
    ],
)
def test_bad_tokens_are_named_in_one_line(tokens: Tensor, message: str) -> None:
    state = make("2017").start(source(), max_len=4)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}[^\n]*$"):
        state.step(tokens)
    assert state.step(target()[:, :4]).shape == (3, V), "the refused step left something behind"


@pytest.mark.parametrize(
    ("rows", "sentences", "message"),
    [
        ([0, 1, 2, 2], None, "rows must be (N,), equally many for each of 3 sentences, got (4,)"),
        ([1, 0, 2], None, "rows must each continue a row of the same sentence, got [1, 0, 2]"),
        ([0, 1, 3], None, "rows must each continue a row of the same sentence, got [0, 1, 3]"),
        ([-1, 1, 2], None, "rows must each continue a row of the same sentence, got [-1, 1, 2]"),
        ([], None, "rows must be (N,), equally many for each of 3 sentences, got (0,)"),
        ([0, 1], [1, 2], "rows must each continue a row of the same sentence, got [0, 1]"),
        ([2, 1], [2, 1], "sentences must be ascending places in 0..2, got [2, 1]"),
        ([0, 3], [0, 3], "sentences must be ascending places in 0..2, got [0, 3]"),
        ([0], [], "sentences must be ascending places in 0..2, got []"),
    ],
)
def test_bad_selections_are_named_in_one_line(
    rows: list[int], sentences: list[int] | None, message: str
) -> None:
    state = make("2017").start(source(), max_len=4)
    kept = None if sentences is None else torch.tensor(sentences, dtype=torch.long)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}$"):
        state.select(torch.tensor(rows, dtype=torch.long), kept)
    assert state.n_rows == 3


@pytest.mark.parametrize("max_len", [0, 25])
def test_a_bad_limit_is_named(max_len: int) -> None:
    message = f"^max_len must be in 1..24, the max_len of the model, got {max_len}$"
    with pytest.raises(ValueError, match=message):
        make("2017").start(source(), max_len=max_len)
    with pytest.raises(ValueError, match=message):
        make("2017", LanguageModel).start(2, max_len=max_len)
    with pytest.raises(ValueError, match=r"^n_rows must be at least 1, got 0$"):
        make("2017", LanguageModel).start(0, max_len=5)
