"""Splits: complete, repeatable, and each as strict as it says."""

import pytest

from coursepkg.projects.ocr.data.splits import PROTOCOLS, split_lines

GROUPS = [f"receipt {i // 5}" for i in range(1500)]
SELLERS = {f"receipt {i}": (f"Quán số {i % 40}",) for i in range(300)}


def shop(line: int) -> int:
    return line // 5 % 40


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_every_line_is_in_one_part_and_parts_have_their_shares(protocol: str) -> None:
    split = split_lines(GROUPS, protocol, sellers=SELLERS)
    numbers = [i for part in split.parts.values() for i in part]
    assert sorted(numbers) == list(range(1500))
    assert [len(part) / 1500 for part in split.parts.values()] == pytest.approx([0.8, 0.1, 0.1], abs=0.04)


def test_by_line_is_exact() -> None:
    split = split_lines(GROUPS, "line")
    assert [len(part) for part in split.parts.values()] == [1200, 150, 150]


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_seed_gives_the_same_split_and_another_seed_another(protocol: str) -> None:
    one, same, other = (split_lines(GROUPS, protocol, sellers=SELLERS, seed=seed) for seed in (1, 1, 2))
    assert one.fingerprint == same.fingerprint
    assert one.fingerprint != other.fingerprint


def test_what_each_protocol_keeps_together() -> None:
    together = {}
    for protocol in PROTOCOLS:
        parts = split_lines(GROUPS, protocol, sellers=SELLERS).parts.values()
        receipts = [{GROUPS[i] for i in part} for part in parts]
        shops = [{shop(i) for i in part} for part in parts]
        together[protocol] = [
            all(not a & b for a, b in ((x[0], x[1]), (x[0], x[2]), (x[1], x[2]))) for x in (receipts, shops)
        ]
    assert together == {"line": [False, False], "receipt": [True, False], "seller": [True, True]}


def test_receipts_keep_their_part_when_others_are_added() -> None:
    before, after = split_lines(GROUPS[:1000], "receipt"), split_lines(GROUPS, "receipt")
    assert {i for i in after.train if i < 1000} == set(before.train)


def test_one_seller_written_in_several_ways_is_one_shop() -> None:
    sellers = {
        f"receipt {i}": ("MINIMART ANAN", "Minimart  An An", "mínimart-anan")[i % 3 :][:1] for i in range(6)
    }
    sellers |= {f"receipt {i}": (f"Quán {i}",) for i in range(6, 300)}
    split = split_lines(GROUPS, "seller", sellers=sellers)
    places = [{i // 5 for i in part} & set(range(6)) for part in split.parts.values()]
    assert sorted(map(len, places)) == [0, 0, 6]


def test_a_chain_goes_into_training() -> None:
    sellers = {f"receipt {i}": ("VinCommerce",) if i < 100 else (f"Quán {i}",) for i in range(300)}
    for seed in range(5):
        assert set(range(500)) <= set(split_lines(GROUPS, "seller", sellers=sellers, seed=seed).train)


def test_receipts_without_a_seller_stand_alone() -> None:
    split = split_lines(GROUPS, "seller", sellers={})
    assert sorted(i for part in split.parts.values() for i in part) == list(range(1500))
    assert not {GROUPS[i] for i in split.train} & {GROUPS[i] for i in split.test}


def test_seen_texts_are_marked() -> None:
    split = split_lines(["a", "b"] * 50, "line")
    texts = ["same"] * 100
    assert split.seen(texts) == [True] * 10
    assert split.seen([f"text {i}" for i in range(100)], "dev") == [False] * 10


def test_mistakes_are_named() -> None:
    with pytest.raises(ValueError, match="protocol must be one of line, receipt, seller"):
        split_lines(["a"], "shop")
    with pytest.raises(ValueError, match="at least one line"):
        split_lines([])
    with pytest.raises(ValueError, match="sellers must be given"):
        split_lines(["a"], "seller")


@pytest.mark.parametrize("sizes", [[2] * 20, [30, 5, 5], [1, 1, 1], [10] * 12])
def test_a_small_set_leaves_no_part_empty_and_cuts_no_receipt(sizes: list[int]) -> None:
    groups = [f"r{i}" for i, size in enumerate(sizes) for _ in range(size)]
    split = split_lines(groups, "receipt")
    assert all(split.parts.values())
    assert sorted(i for part in split.parts.values() for i in part) == list(range(len(groups)))
    sides = [{groups[i] for i in part} for part in split.parts.values()]
    assert sum(map(len, sides)) == len(sizes)
