"""Patterns: the predicate written as a formula, composition, and block maps that never lie."""

import re

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from coursepkg.attention.pattern import (
    Pattern,
    Span,
    causal,
    dilated_window,
    from_predicate,
    full,
    global_tokens,
    padding,
    per_head,
    random_blocks,
    sliding_window,
)


def by_formula(n_queries, n_keys, rule):
    """The mask as a double loop over aligned positions: slow, and independent of the code under test."""
    rows = [[bool(rule(r + n_keys - n_queries, j)) for j in range(n_keys)] for r in range(n_queries)]
    return torch.tensor(rows).reshape(n_queries, n_keys)


FORMULAS = {
    "full": (full(), lambda i, j: True),
    "causal": (causal(), lambda i, j: j <= i),
    "window": (sliding_window(3), lambda i, j: abs(i - j) < 3),
    "dilated": (dilated_window(3, 2), lambda i, j: abs(i - j) < 6 and (i - j) % 2 == 0),
    "global": (global_tokens(2), lambda i, j: 0 <= i < 2 or j < 2),
    "causal window": (causal() & sliding_window(4), lambda i, j: 0 <= i - j < 4),
    "longformer": (
        (sliding_window(2) | global_tokens(1)) & causal(),
        lambda i, j: j <= i and (i - j < 2 or i == 0 or j == 0),
    ),
    "predicate": (
        from_predicate(lambda b, h, i, j: (i + j) % 3 == 0, "thirds"),
        lambda i, j: (i + j) % 3 == 0,
    ),
    "predicate of keys": (from_predicate(lambda b, h, i, j: j % 2 == 0, "even"), lambda i, j: j % 2 == 0),
}


@pytest.mark.parametrize("name", FORMULAS)
@pytest.mark.parametrize("sizes", [(7, 7), (3, 9), (9, 3), (1, 5), (5, 5)])
def test_mask_is_the_formula(name, sizes):
    pattern, rule = FORMULAS[name]
    if name in ("global", "longformer") and sizes[1] < 2:
        pytest.skip("fewer keys than global tokens")
    assert torch.equal(pattern.mask(*sizes)[0, 0], by_formula(*sizes, rule))


leaves = st.one_of(
    st.just(full()),
    st.just(causal()),
    st.builds(sliding_window, st.integers(1, 9)),
    st.builds(dilated_window, st.integers(1, 4), st.integers(1, 4)),
    st.builds(global_tokens, st.integers(1, 3)),
    st.builds(random_blocks, st.integers(1, 2), st.integers(1, 3), st.integers(0, 5)),
    st.just(padding([4, 6])),
    st.just(per_head([causal(), sliding_window(2), random_blocks(1, 2)])),
)
patterns = st.recursive(
    leaves,
    lambda inner: st.builds(lambda a, b, use_and: a & b if use_and else a | b, inner, inner, st.booleans()),
    max_leaves=4,
)


@settings(deadline=None, max_examples=150)
@given(patterns, st.integers(1, 12), st.integers(6, 12), st.integers(1, 5), st.integers(1, 5))
def test_block_map_is_sound(pattern: Pattern, n_queries, n_keys, block_q, block_k):
    """A tile called empty holds no visible pair; a tile called full holds only visible pairs."""
    mask = pattern.mask(n_queries, n_keys, batch=2, heads=3).broadcast_to(2, 3, n_queries, n_keys)
    may, must = pattern.block_map(n_queries, n_keys, block_q, block_k, batch=2, heads=3)
    for b in range(2):
        for h in range(3):
            for x, rows in enumerate(mask[b, h].split(block_q, 0)):
                for y, tile in enumerate(rows.split(block_k, 1)):
                    assert may[min(b, len(may) - 1), min(h, may.shape[1] - 1), x, y] or not tile.any()
                    assert not must[min(b, len(must) - 1), min(h, must.shape[1] - 1), x, y] or tile.all()


def test_block_map_skips_what_can_be_skipped():
    may, must = (causal() & sliding_window(256)).block_map(8192, 8192, 128, 128)
    assert may.sum() == 64 * 3 - 3, (
        "a window of 256 touches three tiles of 128 a row, fewer in the first two rows"
    )
    assert must.sum() == 63, "only the middle tile of a row is full"
    chosen, _ = random_blocks(3, 128).block_map(1024, 1024, 128, 128)
    assert chosen.sum(-1).tolist() == [[[3] * 8]]


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 8), st.integers(1, 8), st.integers(6, 10))
def test_band_equals_mask(window, n_queries, n_keys):
    for pattern in (
        full(),
        causal(),
        sliding_window(window),
        causal() & sliding_window(window),
        full() & causal(),
    ):
        left, right = (10**6 if side is None else side for side in pattern.band)
        inside = by_formula(n_queries, n_keys, lambda i, j, left=left, right=right: -right <= i - j <= left)
        assert torch.equal(pattern.mask(n_queries, n_keys)[0, 0], inside)
    assert (causal() | sliding_window(2)).band is None
    assert dilated_window(2, 3).band is None
    assert dilated_window(4, 1).band == (3, 3)


def test_window_as_long_as_the_sequence_is_causal():
    assert torch.equal((sliding_window(9) & causal()).mask(9, 9), causal().mask(9, 9))


def test_random_blocks_repeat_and_differ_by_seed():
    one, again, other = (random_blocks(2, 4, seed).mask(64, 64) for seed in (1, 1, 2))
    assert torch.equal(one, again)
    assert not torch.equal(one, other)
    assert (one[0, 0, ::4, ::4].sum(-1) == 2).all()


def test_padding_and_heads_keep_their_dimensions():
    assert padding([1, 3]).mask(2, 3, batch=2).shape == (2, 1, 2, 3)
    assert per_head([full(), causal()]).mask(2, 3, heads=2).shape == (1, 2, 2, 3)
    assert padding([1, 3]).mask(1, 3, batch=2)[:, 0, 0].tolist() == [[True, False, False], [True, True, True]]


def test_visible_pairs_counts():
    assert causal().visible_pairs(5, 5) == 15
    assert sliding_window(2).visible_pairs(4, 4) == 10


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sliding_window(0), "window must be an integer of at least 1, got 0"),
        (lambda: sliding_window(True), "window must be an integer of at least 1, got True"),
        (lambda: dilated_window(3, 0), "dilation must be"),
        (lambda: global_tokens(-1), "n_tokens must be"),
        (lambda: random_blocks(0, 4), "n_blocks must be"),
        (lambda: padding(torch.tensor([[1, 2]])), "lengths must be one integer a sequence"),
        (lambda: global_tokens(9).mask(4, 4), "global_tokens(9) is too large: there are only 4 keys"),
        (
            lambda: random_blocks(3, 4).mask(8, 8),
            "random_blocks(3, 4) is too large: 8 keys make only 2 blocks",
        ),
        (lambda: padding([1, 2]).mask(4, 4, batch=3), "padding has 2 lengths, but the batch has 3"),
        (lambda: padding([9]).mask(4, 4), "lengths in 0..4"),
        (lambda: per_head([causal()]).mask(4, 4, heads=2), "per_head has 1 patterns, but there are 2 heads"),
        (lambda: (causal() & global_tokens(9)).mask(4, 4), "too large"),
    ],
)
def test_bad_patterns_say_what_is_wrong(make, message):
    with pytest.raises(ValueError, match=re.escape(message)) as error:
        make()
    assert "\n" not in str(error.value)


def test_composing_with_something_else_is_a_type_error():
    with pytest.raises(TypeError):
        causal() & 3


def test_the_stride_divides_every_visible_distance():
    patterns = {
        6: dilated_window(3, 2) & dilated_window(4, 3),
        2: dilated_window(3, 4) | dilated_window(4, 6),
        3: per_head([dilated_window(2, 3), dilated_window(2, 9)]),
        4: dilated_window(3, 4) & causal(),
        1: dilated_window(3, 4) | causal(),
    }
    distance = torch.arange(30)[:, None] - torch.arange(30)
    for stride, pattern in patterns.items():
        visible = pattern.mask(30, 30, heads=2).any(dim=1)[0]
        assert pattern.stride == stride
        assert not (distance[visible] % stride).any()


def test_tiles_of_one_residue_class_can_be_full():
    pattern, zero = dilated_window(5, 3), torch.zeros(1, 1, 1, 1, dtype=torch.long)
    apart, one_class, next_class = (
        (
            Span(torch.tensor(9), torch.tensor(15), step),
            Span(torch.tensor(first), torch.tensor(first + 6), step),
        )
        for step, first in ((1, 6), (3, 6), (3, 7))
    )
    tiles = (apart, one_class, next_class)
    must = [bool(pattern.bounds(zero, zero, i, j, 30)[1]) for i, j in tiles]
    assert must == [False, True, False]


def test_any_integer_is_a_seed():
    assert torch.equal(random_blocks(1, 2, seed=2**64 + 5).mask(8, 8), random_blocks(1, 2, seed=5).mask(8, 8))


@pytest.mark.parametrize(
    ("answer", "got"),
    [(True, "True"), (torch.ones(3, 3), "torch.float32"), (torch.ones(3, 3).int(), "torch.int32")],
)
def test_a_predicate_must_return_a_bool_tensor(answer, got):
    pattern = from_predicate(lambda b, h, i, j: answer, "mine")
    with pytest.raises(ValueError, match=f"^pattern mine must return a bool tensor, got {got}$"):
        pattern.mask(3, 3)
