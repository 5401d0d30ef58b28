"""Grouped splits: nothing shared across parts, whatever the order; shares; bad input."""

import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.data.split import group_records, grouped_split, split_fingerprint

RECORDS = st.lists(st.lists(st.integers(0, 40), min_size=1, max_size=3), min_size=1, max_size=60)
SHARES = {"train": 0.8, "dev": 0.1, "test": 0.1}


@given(RECORDS, st.integers(0, 5))
def test_no_key_is_in_two_parts_and_no_record_is_lost(keys: list[list[int]], seed: int) -> None:
    parts = grouped_split(keys, SHARES, seed=seed)
    found = [{key for i in records for key in keys[i]} for records in parts.values()]
    assert sum(map(len, found)) == len(set().union(*found))
    assert sorted(i for records in parts.values() for i in records) == list(range(len(keys)))


@given(RECORDS)
def test_groups_are_the_connected_components(keys: list[list[int]]) -> None:
    groups = group_records(keys)
    # Independent: spread the smallest number along shared keys until nothing changes.
    label, changed = list(range(len(keys))), True
    while changed:
        changed = False
        for i, own in enumerate(keys):
            for j, other in enumerate(keys):
                if set(own) & set(other) and label[j] > label[i]:
                    label[j], changed = label[i], True
    assert groups == label


@given(RECORDS, st.randoms(use_true_random=False))
def test_the_order_of_the_records_does_not_matter(keys: list[list[int]], draw: random.Random) -> None:
    order = list(range(len(keys)))
    draw.shuffle(order)
    shuffled = grouped_split([keys[i] for i in order], SHARES)
    back = {name: sorted(order[i] for i in records) for name, records in shuffled.items()}
    assert back == grouped_split(keys, SHARES)


def test_shares_are_met_and_the_seed_changes_who_goes_where() -> None:
    keys = [[i] for i in range(5000)]
    one, other = (grouped_split(keys, SHARES, seed=seed) for seed in (0, 1))
    for parts in (one, other):
        assert all(abs(len(parts[name]) / 5000 - share) < 0.02 for name, share in SHARES.items())
    assert split_fingerprint(one) != split_fingerprint(other)
    assert split_fingerprint(one) == split_fingerprint(grouped_split(keys, SHARES, seed=0))


def test_a_giant_group_goes_to_the_first_part() -> None:
    keys = [["all", i] for i in range(300)] + [[f"own {i}"] for i in range(700)]
    for seed in range(10):
        assert set(range(300)) <= set(grouped_split(keys, SHARES, seed=seed)["train"])


@pytest.mark.parametrize(
    ("keys", "shares", "message"),
    [
        ([], SHARES, "at least one record, got none"),
        ([[1], []], SHARES, "keys[1] must hold at least one key"),
        ([[1]], {}, "got none"),
        ([[1]], {"a": 0.5, "b": 0.4}, "add up to 1, got a 0.5, b 0.4"),
        ([[1]], {"a": 1.5, "b": -0.5}, "above 0"),
    ],
)
def test_bad_input_is_named(keys: list[list[int]], shares: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=re.escape(message)):
        grouped_split(keys, shares)
