"""Settings: every field is checked, and the message names its flag."""

from typing import Any

import pytest

from coursepkg.projects.sign_language.synthetic.signer import WORDS, SignersConfig


def test_the_defaults_are_those_of_the_contest() -> None:
    config = SignersConfig()
    assert (config.size, config.least_frames, config.most_frames) == (224, 16, 30)
    assert (config.least_clips, config.most_clips) == (4, 60)
    assert config.words == len(WORDS) >= 20
    assert config.most_frames / config.fps == 2.5


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"words": 1}, "--words must be an integer in 2..24"),
        ({"words": 25}, "--words must be an integer in 2..24"),
        ({"signers": 0}, "--signers must be an integer of at least 1"),
        ({"size": 48}, "--size must be a multiple of 32, got 48"),
        ({"size": 16}, "--size must be an integer in 32..512"),
        ({"least_frames": 31}, "--most-frames must be at least the least number, 31, got 30"),
        ({"least_frames": 6}, "--least-frames must be an integer of at least 12"),
        ({"least_clips": 61}, "--most-clips must be at least the least number, 61, got 60"),
        ({"whole_clips": 0}, "--whole-clips must be at least 1 where clips are repeated, got 0"),
        ({"fps": 0}, "--fps must be an integer in 1..60"),
        ({"solid": -0.1}, r"--solid must be in \[0, 1\], got -0.1"),
        ({"frozen": float("nan")}, "--frozen must be a finite number"),
        ({"left_handed": 2.0}, r"--left-handed must be in \[0, 1\], got 2.0"),
        ({"solid": 0.5, "frozen": 0.4, "duplicate": 0.2}, r"--solid must be at most 1 together .* \(1.1\)"),
    ],
)
def test_faulty_settings(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        SignersConfig(**wrong)


def test_left_handed_numbers_are_spread() -> None:
    config = SignersConfig()
    assert [number for number in range(32) if config.is_left_handed(number)] == [7, 15, 23, 31]
    assert not any(SignersConfig(left_handed=0.0).is_left_handed(number) for number in range(50))
    assert all(SignersConfig(left_handed=1.0).is_left_handed(number) for number in range(50))
    assert sum(SignersConfig(left_handed=0.1).is_left_handed(number) for number in range(10)) == 1
