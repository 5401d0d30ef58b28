"""Sinusoidal and learned positions: the printed numbers, the properties that the formula promises, bad input."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.blocks.position import LearnedPosition, SinusoidalPosition, sinusoidal_table


def test_first_rows_and_columns_equal_the_formula_by_hand() -> None:
    """The table that two source reports print for d_model 512; its base is 10000 (one prints 1000 by mistake)."""
    printed = [
        [f(m / 10000 ** (exponent / 512)) for exponent in (0, 2, 4) for f in (math.sin, math.cos)]
        for m in range(3)
    ]
    torch.testing.assert_close(sinusoidal_table(3, 512)[:, :6], torch.tensor(printed))
    rounded = [[0, 1, 0, 1, 0, 1], [0.8415, 0.5403, 0.8219, 0.5697, 0.8020, 0.5974]]
    torch.testing.assert_close(sinusoidal_table(2, 512)[:, :6], torch.tensor(rounded), rtol=0, atol=5e-5)
    with_1000 = sinusoidal_table(2, 512, base=1000.0)[1, 2]
    assert abs(with_1000 - 0.8219) > 0.004


@given(st.integers(0, 300), st.integers(0, 100))
def test_a_shift_is_a_rotation_that_does_not_depend_on_the_position(position: int, shift: int) -> None:
    table = sinusoidal_table(401, 8).double()
    sin, cos = table[:, 0::2], table[:, 1::2]
    moved = sin[position] * cos[shift] + cos[position] * sin[shift]
    torch.testing.assert_close(sin[position + shift], moved, rtol=0, atol=1e-5)


def test_distances_depend_on_the_offset_alone() -> None:
    table = sinusoidal_table(50, 64).double()
    distances = torch.cdist(table, table)
    for offset in (1, 7, 20):
        diagonal = distances.diagonal(offset)
        torch.testing.assert_close(diagonal, diagonal[:1].expand_as(diagonal), rtol=1e-5, atol=1e-5)
    assert (distances[0, 1:] > 0).all()


@pytest.mark.parametrize("kind", [SinusoidalPosition, LearnedPosition])
def test_offset_continues_where_the_text_before_ended(kind: type) -> None:
    position, x = kind(12, 6), torch.randn(2, 10, 6)
    whole = position(x)
    parts = torch.cat([position(x[:, :4]), position(x[:, 4:], offset=4)], dim=1)
    torch.testing.assert_close(parts, whole, rtol=0, atol=0)
    torch.testing.assert_close(whole[0] - x[0], whole[1] - x[1], rtol=0, atol=1e-6)


def test_sinusoids_are_no_state_and_learned_positions_learn() -> None:
    assert SinusoidalPosition(5, 4).state_dict() == {}
    learned = LearnedPosition(5, 4)
    learned(torch.zeros(3, 2, 4), offset=1).sum().backward()
    assert learned.table.grad.sum(dim=1).tolist() == [0.0, 12.0, 12.0, 0.0, 0.0]


@pytest.mark.parametrize("kind", [SinusoidalPosition, LearnedPosition])
@pytest.mark.parametrize(("length", "offset", "got"), [(5, 0, "0..4"), (2, 3, "3..4"), (1, -1, "-1..-1")])
def test_a_position_outside_the_table_is_named(kind: type, length: int, offset: int, got: str) -> None:
    with pytest.raises(ValueError, match=rf"^positions must lie in 0..3, got {got}$"):
        kind(4, 6)(torch.zeros(1, length, 6), offset)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: sinusoidal_table(0, 4), "length must be at least 1, got 0"),
        (lambda: sinusoidal_table(3, 5), "d_model must be a positive even number, got 5"),
        (lambda: sinusoidal_table(3, 4, base=-1.0), "base must be positive, got -1.0"),
        (lambda: LearnedPosition(0, 4), "max_len must be a positive integer, got 0"),
        (lambda: LearnedPosition(4, 0), "d_model must be a positive integer, got 0"),
    ],
)
def test_bad_settings_are_named(make, message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}$"):
        make()
