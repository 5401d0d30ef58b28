"""Batches of pairs: what is in them, that nothing is lost, that order is random and repeatable, and bad input."""

import random
from itertools import pairwise

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.data.batching import Epoch, Pair, TextBatch, TokenBatches, make_batch, padded_random_batches
from coursepkg.text.vocabulary import BOS, EOS, PAD

ids = st.lists(st.integers(3, 99), min_size=1, max_size=12)
pair_lists = st.lists(st.tuples(ids, ids), min_size=1, max_size=60)


def random_pairs(n: int, seed: int = 0) -> list[Pair]:
    """Pairs whose target is about as long as the source."""
    draw = random.Random(seed)
    lengths = [draw.randint(1, 30) for _ in range(n)]
    return [
        (
            [draw.randint(4, 99) for _ in range(length)],
            [draw.randint(4, 99) for _ in range(max(1, length + draw.randint(-2, 2)))],
        )
        for length in lengths
    ]


def pairs_in(batch: TextBatch) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """The pairs of a batch, read back from its tensors."""
    found = []
    for src, tgt in zip(batch.src.tolist(), batch.tgt_out.tolist(), strict=True):
        found.append((tuple(src[: src.index(EOS)]), tuple(tgt[: tgt.index(EOS)])))
    return found


def as_tuples(pairs) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    return [(tuple(source), tuple(target)) for source, target in pairs]


def test_a_batch_holds_what_its_docstring_shows() -> None:
    batch = make_batch([([4, 9, 7], [5, 6]), ([8], [5])])
    assert batch.src.tolist() == [[4, 9, 7, EOS], [8, EOS, PAD, PAD]]
    assert batch.tgt_in.tolist() == [[BOS, 5, 6], [BOS, 5, PAD]]
    assert batch.tgt_out.tolist() == [[5, 6, EOS], [5, EOS, PAD]]
    assert batch.n_tokens == 5 == int((batch.tgt_out != PAD).sum())
    assert batch.src_lengths.tolist() == [4, 2]
    assert batch.src.dtype == batch.tgt_in.dtype == batch.tgt_out.dtype == torch.int64


def test_a_batch_moves_to_a_device_as_fabric_moves_it() -> None:
    from lightning_fabric.utilities import move_data_to_device

    batch = make_batch([([4, 9, 7], [5, 6])])
    moved = move_data_to_device(batch, torch.device("meta"))
    assert isinstance(moved, TextBatch)
    assert {moved.src.device.type, moved.tgt_in.device.type, moved.tgt_out.device.type} == {"meta"}
    assert moved.n_tokens == 3


@given(
    pairs=pair_lists,
    max_tokens=st.integers(26, 200),
    seed=st.integers(0, 5),
    number=st.integers(0, 5),
    shuffle=st.booleans(),
)
def test_every_pair_once_an_epoch_and_no_batch_too_large(
    pairs: list[Pair], max_tokens: int, seed: int, number: int, shuffle: bool
) -> None:
    epoch = TokenBatches(pairs, max_tokens, seed, shuffle=shuffle).epoch(number)
    found = [pair for batch in epoch for pair in pairs_in(batch)]
    assert sorted(found) == sorted(as_tuples(pairs))
    assert sorted(i for group in epoch.groups for i in group) == list(range(len(pairs)))
    for batch in epoch:
        assert batch.src.numel() + batch.tgt_out.numel() <= max_tokens
        assert batch.n_tokens == int((batch.tgt_out != PAD).sum())


@given(pairs=pair_lists, max_tokens=st.integers(26, 100), number=st.integers(0, 9), first=st.integers(0, 9))
def test_an_epoch_depends_on_seed_and_number_alone(
    pairs: list[Pair], max_tokens: int, number: int, first: int
) -> None:
    batches = TokenBatches(pairs, max_tokens, 3)
    batches.epoch(first)
    state = torch.get_rng_state()
    found = batches.epoch(number).groups
    assert found == TokenBatches(pairs, max_tokens, 3).epoch(number).groups
    assert torch.equal(torch.get_rng_state(), state)


def test_epochs_and_seeds_differ_in_order_and_in_composition() -> None:
    pairs = random_pairs(400)
    epochs = [TokenBatches(pairs, 300, 0).epoch(number) for number in range(4)]
    epochs.append(TokenBatches(pairs, 300, 1).epoch(0))
    compositions = [{frozenset(group) for group in epoch.groups} for epoch in epochs]
    for i, one in enumerate(compositions):
        for other in compositions[:i]:
            assert len(one & other) < 0.2 * len(one)


def test_composition_changes_even_where_no_two_pairs_are_equally_long() -> None:
    pairs = [([7] * n, [7] * n) for n in range(1, 40)]
    batches = TokenBatches(pairs, 400, 0)
    compositions = {frozenset(frozenset(group) for group in batches.epoch(n).groups) for n in range(10)}
    assert len(compositions) > 5


def test_batches_come_in_random_order_of_length() -> None:
    lengths = [batch.src.shape[1] for batch in TokenBatches(random_pairs(400), 300, 0).epoch(0)]
    rising = sum(a <= b for a, b in pairwise(lengths))
    assert 0.3 < rising / len(lengths) < 0.75


def test_without_shuffling_every_epoch_is_the_same_short_batches_first() -> None:
    pairs = random_pairs(200)
    batches = TokenBatches(pairs, 200, 0, shuffle=False)
    assert batches.epoch(0).groups == batches.epoch(7).groups
    assert batches.epoch(0).groups == TokenBatches(pairs, 200, 9, shuffle=False).epoch(0).groups
    longest = [batch.tgt_out.shape[1] for batch in batches.epoch(0)]
    assert longest == sorted(longest)


def test_buckets_save_padding() -> None:
    pairs = random_pairs(2000)
    bucketed = TokenBatches(pairs, 1000, 0).epoch(0)
    plain = padded_random_batches(pairs, round(len(pairs) / len(bucketed)))
    assert bucketed.padding_share < 0.1
    assert plain.padding_share > 0.35


@given(pairs=pair_lists, size=st.integers(1, 9))
def test_padding_share_is_the_share_of_padding(pairs: list[Pair], size: int) -> None:
    epoch = padded_random_batches(pairs, size)
    tensors = [ids for batch in epoch for ids in (batch.src, batch.tgt_out)]
    cells, padding = sum(t.numel() for t in tensors), sum(int((t == PAD).sum()) for t in tensors)
    assert epoch.padding_share == pytest.approx(padding / cells)


@given(pairs=pair_lists, size=st.integers(1, 9), epoch=st.integers(0, 3))
def test_random_batches_hold_every_pair_once_in_equal_numbers(
    pairs: list[Pair], size: int, epoch: int
) -> None:
    batches = padded_random_batches(pairs, size, seed=1, epoch=epoch)
    assert sorted(i for group in batches.groups for i in group) == list(range(len(pairs)))
    assert {len(group) for group in batches.groups[:-1]} <= {size}
    assert batches.groups == padded_random_batches(pairs, size, seed=1, epoch=epoch).groups


def test_an_epoch_is_a_sequence() -> None:
    epoch = TokenBatches(random_pairs(100), 200, 0).epoch(0)
    assert isinstance(epoch[1:4], Epoch)
    assert len(epoch[1:4]) == 3
    assert torch.equal(epoch[1:4][0].src, epoch[1].src)
    assert torch.equal(epoch[-1].src, list(epoch)[-1].src)
    with pytest.raises(IndexError):
        _ = epoch[len(epoch)]


GOOD: Pair = ([5, 6], [7])


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "pairs must hold at least one pair, got none"),
        ([GOOD, ([], [7])], r"pairs\[1\] must have a source of at least one token, got none"),
        ([GOOD, GOOD, ([7], [])], r"pairs\[2\] must have a target of at least one token, got none"),
        (
            [GOOD, ([5, PAD], [7])],
            r"pairs\[1\] must have source ids above 2, as special tokens are added here, got 0",
        ),
        (
            [GOOD, ([5], [7, EOS])],
            r"pairs\[1\] must have target ids above 2, as special tokens are added here, got 2",
        ),
        (
            [GOOD, ([5] * 9, [7] * 10)],
            r"pairs\[1\] must fit into max_tokens \(20\), got 10 source and 11 target tokens with EOS; .+",
        ),
    ],
)
def test_a_bad_pair_is_named(pairs: list[Pair], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        TokenBatches(pairs, 20)


def test_the_longest_pair_that_fits_is_taken() -> None:
    (batch,) = TokenBatches([([5] * 9, [7] * 9)], 20).epoch(0)
    assert batch.src.numel() + batch.tgt_out.numel() == 20


def test_random_batches_name_a_bad_size() -> None:
    with pytest.raises(ValueError, match=r"^batch_size must be at least 1, got 0$"):
        padded_random_batches([GOOD], 0)
