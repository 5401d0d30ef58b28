"""Leakage between parts, for records of any kind."""

from hypothesis import given
from hypothesis import strategies as st

from coursepkg.data.leaks import Leak, find_leaks, leaking_records
from coursepkg.data.split import group_records, grouped_split

records = st.lists(st.lists(st.integers(0, 12), min_size=1, max_size=3), min_size=1, max_size=12)


def test_a_key_in_two_parts_is_a_leak() -> None:
    parts = {"train": [["Anna", 1], ["Ben", 2], ["Anna", 3]], "dev": [["Cleo", 1]], "test": [["Anna", 9]]}
    leaks = find_leaks(parts)
    assert leaks == [
        Leak("Anna", {"train": (0, 2), "test": (0,)}),
        Leak(1, {"train": (0,), "dev": (0,)}),
    ]
    assert leaking_records(leaks, "train") == {0, 2}
    assert leaking_records(leaks, "dev") == {0}
    assert leaking_records(leaks, "elsewhere") == set()


def test_a_key_twice_in_one_record_or_part_is_none() -> None:
    assert find_leaks({"train": [["a", "a"], ["a"]], "dev": []}) == []
    assert find_leaks({"train": [["a", "a"]], "dev": [["a"]]})[0].records == {"train": (0,), "dev": (0,)}


@given(st.lists(records, min_size=1, max_size=3))
def test_leaks_are_what_a_comparison_of_all_records_finds(several) -> None:
    parts = {f"part {i}": own for i, own in enumerate(several)}
    found = {leak.key for leak in find_leaks(parts)}
    slow = {
        key
        for a, ours in parts.items()
        for b, theirs in parts.items()
        if a != b
        for one in ours
        for other in theirs
        for key in set(one) & set(other)
    }
    assert found == slow
    for leak in find_leaks(parts):
        for part, numbers in leak.records.items():
            assert numbers == tuple(i for i, keys in enumerate(parts[part]) if leak.key in keys)


@given(records, st.integers(0, 9))
def test_a_split_by_group_never_leaks(keys, seed: int) -> None:
    split = grouped_split(keys, {"train": 0.5, "dev": 0.5}, seed=seed)
    assert find_leaks({part: [keys[i] for i in own] for part, own in split.items()}) == []


@given(records)
def test_splitting_a_group_leaks(keys) -> None:
    groups = group_records(keys)
    large = next((g for g in groups if groups.count(g) > 1), None)
    if large is not None:
        first = groups.index(large)
        assert find_leaks({"dev": [keys[first]], "train": [k for i, k in enumerate(keys) if i != first]})
