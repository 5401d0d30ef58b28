"""Decoding a GRUSeq2Seq step by step, against teacher forcing and its own greedy search."""

import pytest
import torch

from coursepkg.blocks.seq2seq import GRUSeq2Seq
from coursepkg.text.vocabulary import BOS, EOS, PAD, pad_batch
from tests.blocks.test_seq2seq import SOURCES, make

ATTENTIONS = ["none", "additive", "general"]


def forced(model: GRUSeq2Seq, sentences: list[int], tokens: torch.Tensor) -> torch.Tensor:
    """The logits after `tokens` (N, T), each row with a source of its own."""
    src, lengths = pad_batch([SOURCES[i] for i in sentences])
    return model(src, lengths, tokens)[:, -1]


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_steps_and_selections_equal_teacher_forcing(attention: str) -> None:
    model = make(attention)
    state = model.start(pad_batch(SOURCES)[0], max_len=12)
    tokens = torch.tensor([[BOS, 4], [BOS, 6], [BOS, 7]])
    torch.testing.assert_close(state.step(tokens), forced(model, [0, 1, 2], tokens))

    def go(rows: list[int], kept: list[int] | None, owners: list[int], n_tokens: int) -> None:
        nonlocal tokens
        state.select(torch.tensor(rows), None if kept is None else torch.tensor(kept))
        new = torch.randint(4, 13, (len(rows), n_tokens), generator=torch.Generator().manual_seed(len(rows)))
        tokens = torch.cat([tokens[rows], new], dim=1)
        torch.testing.assert_close(state.step(new), forced(model, owners, tokens))
        assert state.n_rows == len(rows)

    go([0, 0, 1, 1, 2, 2], None, [0, 0, 1, 1, 2, 2], 1)
    go([1, 0, 2, 2, 5, 4], None, [0, 0, 1, 1, 2, 2], 2)
    go([0, 1, 1, 4, 4, 5], [0, 2], [0, 0, 0, 2, 2, 2], 1)
    go([2, 3], None, [0, 2], 1)
    go([1], [1], [2], 1)


@pytest.mark.parametrize("attention", ATTENTIONS)
def test_the_most_probable_tokens_are_those_of_greedy(attention: str) -> None:
    model, (src, lengths) = make(attention), pad_batch(SOURCES)
    expected, _ = model.greedy(src, lengths, BOS, EOS, max_len=10)
    state, token, is_open = model.start(src, max_len=10), torch.full((3, 1), BOS), torch.ones(3, 1).bool()
    for t in range(expected.shape[1]):
        token = state.step(token).argmax(-1, keepdim=True)
        assert torch.where(is_open, token, PAD)[:, 0].tolist() == expected[:, t].tolist()
        is_open &= token != EOS


def test_bad_input_is_named_in_one_line() -> None:
    model, src = make("general"), pad_batch(SOURCES)[0]
    with pytest.raises(ValueError, match=r"^max_len must be at least 1, got 0$"):
        model.start(src, max_len=0)
    with pytest.raises(
        ValueError, match=r"^src must be padded behind its last token only, got padding before"
    ):
        model.start(src.flip(1), max_len=3)
    with pytest.raises(ValueError, match=r"^src must hold ids in 0..10, got 2..99$"):
        model.start(torch.tensor([[99, EOS]]), max_len=3)
    state = model.start(src, max_len=3)
    with pytest.raises(ValueError, match=r"^tokens must be \(3, T\), one row alive each, with T in 1..3"):
        state.step(torch.ones(2, 1, dtype=torch.long))
    with pytest.raises(ValueError, match=r"^tokens must hold ids in 0..12, got 13..13$"):
        state.step(torch.full((3, 1), 13))
    with pytest.raises(
        ValueError, match=r"^rows must each continue a row of the same sentence, got \[2, 1, 0\]"
    ):
        state.select(torch.tensor([2, 1, 0]))
    state.step(torch.full((3, 2), 5))
    with pytest.raises(ValueError, match=r"with T in 1..1, the room that max_len leaves; got \(3, 2\)$"):
        state.step(torch.full((3, 2), 5))
