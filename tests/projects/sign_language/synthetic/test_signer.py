"""Signers: functions of seed and number, all different, left-handed at the stated share."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.projects.sign_language.synthetic.signer import (
    HAIR_STYLES,
    PATTERNS,
    SignersConfig,
    make_signer,
    shaded,
)


def test_a_signer_is_a_function_of_seed_and_number() -> None:
    assert make_signer(3, 7) == make_signer(3, 7)
    people = [make_signer(seed, number) for seed in range(3) for number in range(8)]
    assert len({person.name for person in people}) == len(people)
    for field in ("skin", "clothes", "speed", "amplitude", "camera", "shoulders"):
        assert len({getattr(person, field) for person in people}) == len(people), field


@given(seed=st.integers(0, 500), number=st.integers(0, 500))
def test_bodies_and_habits_stay_within_bounds(seed: int, number: int) -> None:
    person = make_signer(seed, number)
    for colour in (person.skin, person.hair, person.clothes, person.accent):
        assert all(0 <= part <= 255 for part in colour)
    assert person.hair_style in HAIR_STYLES
    assert person.pattern in PATTERNS
    assert 0.15 < person.scale < 0.3
    assert person.speed >= 1


@given(share=st.floats(0, 1), n_signers=st.integers(1, 100))
def test_left_handed_signers_come_at_their_share(share: float, n_signers: int) -> None:
    config = SignersConfig(left_handed=share)
    count = sum(config.is_left_handed(number) for number in range(n_signers))
    assert abs(count - share * n_signers) <= 1
    last = n_signers - 1
    assert make_signer(0, last, config).left_handed == config.is_left_handed(last)


def test_handedness_changes_nothing_else() -> None:
    right = make_signer(0, 2, SignersConfig(left_handed=0.0))
    left = make_signer(0, 2, SignersConfig(left_handed=1.0))
    assert dataclasses.replace(left, left_handed=False) == right


def test_a_shade_stays_a_colour() -> None:
    assert shaded((100, 200, 250), 0.5) == (50, 100, 125)
    assert shaded((100, 200, 250), 2.0) == (200, 255, 255)


@pytest.mark.parametrize("wrong", [(-1, 0), (0, -1)])
def test_numbers_from_zero(wrong: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="must be an integer of at least 0"):
        make_signer(*wrong)
