"""Viterbi and sampling against going through every segmentation."""

import math
import random
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coursepkg.text.unigram import best_segmentation, sample_segmentation

UNKNOWN = -20.0
PIECES = st.dictionaries(st.text("ab", min_size=1, max_size=4), st.floats(-9, -0.1), max_size=12)
TEXT = st.text("abc", max_size=9)


def all_segmentations(text: str, log_probs: dict[str, float]) -> dict[tuple[str, ...], float]:
    """Every segmentation with its log-probability; single characters are always pieces."""
    if not text:
        return {(): 0.0}
    found = {}
    for end in range(1, len(text) + 1):
        log_prob = log_probs.get(text[:end], UNKNOWN if end == 1 else None)
        if log_prob is not None:
            for rest, rest_log_prob in all_segmentations(text[end:], log_probs).items():
                found[text[:end], *rest] = log_prob + rest_log_prob
    return found


@given(TEXT, PIECES)
def test_viterbi_finds_the_most_probable_segmentation(text: str, log_probs: dict[str, float]) -> None:
    pieces, log_prob = best_segmentation(text, log_probs, longest=4, unknown=UNKNOWN)
    every = all_segmentations(text, log_probs)
    assert "".join(pieces) == text
    assert log_prob == pytest.approx(max(every.values()))
    assert every[tuple(pieces)] == pytest.approx(log_prob)


@pytest.mark.parametrize("alpha", [0, 0.3, 1.0, 3])
def test_samples_have_the_stated_distribution(alpha: float) -> None:
    log_probs = {"a": -2.0, "b": -2.5, "ab": -2.2, "ba": -3.0, "aba": -4.0, "bab": -3.5}
    every = all_segmentations("ababc", log_probs)
    total = sum(math.exp(alpha * log_prob) for log_prob in every.values())
    draw, n = random.Random(1).random, 4000
    options = {"longest": 3, "unknown": UNKNOWN, "alpha": alpha, "draw": draw}
    seen = Counter(tuple(sample_segmentation("ababc", log_probs, **options)) for _ in range(n))
    assert set(seen) <= set(every)
    for pieces, log_prob in every.items():
        chance = math.exp(alpha * log_prob) / total
        assert abs(seen[pieces] / n - chance) < 4 * math.sqrt(chance * (1 - chance) / n) + 1 / n


@given(TEXT, PIECES, st.floats(0, 5), st.sampled_from([0.0, 0.5, 1 - 2**-53]))
def test_any_draw_gives_a_segmentation(
    text: str, log_probs: dict[str, float], alpha: float, value: float
) -> None:
    options = {"longest": 4, "unknown": UNKNOWN, "alpha": alpha, "draw": lambda: value}
    assert tuple(sample_segmentation(text, log_probs, **options)) in all_segmentations(text, log_probs)


def test_a_long_text_takes_one_pass() -> None:
    text = "ab" * 20_000
    log_probs = {"a": -2.0, "b": -2.0, "ab": -3.0}
    pieces, log_prob = best_segmentation(text, log_probs, longest=2, unknown=UNKNOWN)
    assert pieces == ["ab"] * 20_000
    assert log_prob == -60_000
    options = {"longest": 2, "unknown": UNKNOWN, "draw": random.Random(0).random}
    assert sample_segmentation(text, log_probs, alpha=50.0, **options) == pieces
