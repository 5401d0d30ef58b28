"""What a configuration search tries: combinations in order, draws within their ranges, mistakes named."""

import random
import statistics

import pytest

from coursepkg.projects.translation.studies.search_space import (
    Range,
    all_combinations,
    described,
    drawn,
    parse_fixed,
    parse_grid,
    parse_ranges,
)


def test_values_take_the_kind_of_their_field() -> None:
    found = parse_fixed(
        ["d-model=128", "learning_rate=3e-4", "joint=off", "rope-cross=true", "architecture=gru"]
    )
    assert found == {
        "d_model": 128,
        "learning_rate": 3e-4,
        "joint": False,
        "rope_cross": True,
        "architecture": "gru",
    }
    assert [type(value) for value in found.values()] == [int, float, bool, bool, str]


def test_a_grid_is_every_combination_the_last_name_fastest() -> None:
    grid = parse_grid(["vocab-size=4000,8000", "d-model=192,256,320"])
    found = all_combinations(grid)
    assert [tuple(one.values()) for one in found] == [(v, d) for v in (4000, 8000) for d in (192, 256, 320)]
    assert all_combinations({}) == [{}]


def test_settings_are_written_as_they_are_read() -> None:
    settings = {"learning_rate": 0.0003271, "dropout": 0.25, "n_heads": 8, "joint": True, "subword": "bpe"}
    assert parse_fixed(described(settings).split()) == settings


def test_draws_stay_inside_and_reach_both_ends() -> None:
    ranges = parse_ranges(["n-heads=2..4", "dropout=0.1..0.4", "learning-rate=3e-4..3e-3:log"])
    found = drawn({"joint": [True, False]}, ranges, 200, seed=3)
    assert {one["n_heads"] for one in found} == {2, 3, 4}
    assert {one["joint"] for one in found} == {True, False}
    assert all(0.1 <= one["dropout"] <= 0.4 and 3e-4 <= one["learning_rate"] <= 3e-3 for one in found)
    assert all(isinstance(one["n_heads"], int) for one in found)
    assert len({tuple(one.values()) for one in found}) == 200


def test_a_logarithmic_range_gives_each_factor_its_share() -> None:
    state, one = random.Random(0), Range(1e-4, 1e-2, log=True)
    values = [one.draw(state) for _ in range(2000)]
    assert statistics.median(values) == pytest.approx(1e-3, rel=0.15)
    assert sum(value < 10**-3.5 for value in values) / 2000 == pytest.approx(0.25, abs=0.04)
    evenly = [Range(1e-4, 1e-2).draw(state) for _ in range(2000)]
    assert statistics.median(evenly) == pytest.approx(5e-3, rel=0.1)


def test_an_integer_range_on_a_logarithmic_scale_gives_integers() -> None:
    state, one = random.Random(0), Range(100, 10000, log=True)
    values = [one.draw(state) for _ in range(500)]
    assert all(isinstance(value, int) and 100 <= value <= 10000 for value in values)
    assert 700 < statistics.median(values) < 1400


def test_draws_follow_the_seed_and_a_longer_search_begins_like_a_shorter_one() -> None:
    ranges = parse_ranges(["dropout=0.1..0.4"])
    longer = drawn({"d_model": [64, 128]}, ranges, 12, seed=5)
    assert drawn({"d_model": [64, 128]}, ranges, 5, seed=5) == longer[:5]
    assert drawn({"d_model": [64, 128]}, ranges, 12, seed=6) != longer


def test_more_draws_than_combinations_are_refused() -> None:
    assert len(drawn({"n_heads": [2, 4], "joint": [True, False]}, {}, 4, seed=0)) == 4
    with pytest.raises(ValueError, match=r"--random 5: only 4 different combinations"):
        drawn({"n_heads": [2, 4], "joint": [True, False]}, {}, 5, seed=0)


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parse_grid, "vocab-sise=4000", r"--grid vocab-sise: no setting of a recipe; use one of vocab-size"),
        (parse_grid, "vocab-size", r"--grid takes name=value, got 'vocab-size'"),
        (parse_grid, "vocab-size=4k,8k", r"--grid vocab-size must be an integer, got '4k'"),
        (parse_grid, "vocab-size=4000,4000", r"--grid vocab-size must have different values"),
        (parse_fixed, "joint=maybe", r"--set joint must be true or false, got 'maybe'"),
        (parse_fixed, "dropout=", r"--set takes name=value"),
        (parse_ranges, "dropout=0.1", r"--range dropout=0.1: write low..high"),
        (parse_ranges, "dropout=0.1..0.4:linear", r"write low..high or low..high:log"),
        (parse_ranges, "joint=0..1", r"for a setting that is a number"),
        (parse_ranges, "dropout=0.4..0.1", r"from a smaller to a larger number"),
        (parse_ranges, "dropout=0..0.1:log", r"must be above 0 for :log"),
        (parse_ranges, "dropout=nan..0.1", r"from a smaller to a larger number"),
    ],
)
def test_a_mistake_is_named(parse, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse([text])


def test_a_name_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="--grid d-model is given twice"):
        parse_grid(["d-model=64", "d_model=128"])
