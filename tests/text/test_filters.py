import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.filters import PairLimits, filter_pairs

LINES = st.lists(
    st.tuples(*[st.lists(st.sampled_from(["a", "b"]), max_size=6).map(" ".join)] * 2), max_size=12
)


def test_every_reason_is_counted_and_named() -> None:
    sources = ["a b", "", "a", "a b c d e", "a b", "a b", "a b", "a b", "  "]
    targets = ["x y", "x y", "x y", "x y", "", "x", "x y z u v w", "x y z u v", "x"]
    limits = PairLimits(min_source=2, max_source=4, min_target=2, max_target=5, max_ratio=2.0)
    kept, report = filter_pairs(sources, targets, limits)
    assert kept == [(1, "a b", "x y")]
    assert report.n_kept == 1
    assert report.left_out == {
        "empty source": (2, 9),
        "source shorter than 2 tokens": (3,),
        "source longer than 4 tokens": (4,),
        "empty target": (5,),
        "target shorter than 2 tokens": (6,),
        "target longer than 5 tokens": (7,),
        "one side more than 2 times as long as the other": (8,),
    }
    assert str(report).splitlines()[:3] == [
        "1 of 9 pairs kept",
        "2 left out, empty source: lines 2, 9",
        "1 left out, source shorter than 2 tokens: line 3",
    ]
    assert len(str(report).splitlines()) == 8


def test_a_long_list_of_lines_is_cut_in_print_only() -> None:
    _, report = filter_pairs([""] * 12, ["x"] * 12, PairLimits())
    assert str(report).endswith("12 left out, empty source: lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, ...")
    assert report.left_out["empty source"] == tuple(range(1, 13))


@given(LINES)
def test_every_line_is_kept_or_named_once(pairs: list[tuple[str, str]]) -> None:
    sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
    kept, report = filter_pairs(sources, targets, PairLimits(max_source=4, max_target=4, max_ratio=1.5))
    lines = [pair.line for pair in kept] + [line for lines in report.left_out.values() for line in lines]
    assert sorted(lines) == list(range(1, len(pairs) + 1))
    assert report.n_kept == len(kept)
    for line, source, target in kept:
        assert (source, target) == pairs[line - 1]
        sizes = sorted((len(source.split()), len(target.split())))
        assert sizes[0] >= 1
        assert sizes[1] <= min(4, 1.5 * sizes[0])


def test_another_tokenizer_counts() -> None:
    kept, _ = filter_pairs(["你好吗"], ["a b c"], PairLimits(max_source=1, max_target=3))
    assert len(kept) == 1
    kept, report = filter_pairs(["你好吗"], ["abc"], PairLimits(max_source=2, max_target=3), tokenize=list)
    assert kept == []
    assert list(report.left_out) == ["source longer than 2 tokens"]


def test_no_pairs_are_no_mistake() -> None:
    kept, report = filter_pairs([], [], PairLimits())
    assert kept == []
    assert str(report) == "0 of 0 pairs kept"


def test_sides_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="equally many lines, got 2 and 3; a line is missing on one side"):
        filter_pairs(["a", "b"], ["x", "y", "z"], PairLimits())
    with pytest.raises(ValueError, match="targets must be a list of lines, got the string"):
        filter_pairs(["a"], "x", PairLimits())


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ({"min_source": 0}, "min_source must be at least 1, got 0"),
        ({"max_target": 2, "min_target": 3}, r"max_target must be at least min_target \(3\), got 2"),
        ({"max_ratio": 0.5}, "max_ratio must be at least 1 or None, got 0.5"),
        ({"max_ratio": float("nan")}, "max_ratio must be at least 1 or None, got nan"),
    ],
)
def test_bad_limits(limits: dict[str, int], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        PairLimits(**limits)
