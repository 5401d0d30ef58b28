"""Halves of dev: what is chosen on one says nothing yet about the other."""

import pytest

from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.corpus import SentencePair
from coursepkg.projects.translation.halves import cross_chosen, dev_halves


def parts_of(pairs: tuple[SentencePair, ...]) -> Parts:
    return Parts("toy", "zh", "vi", pairs, pairs, pairs, ())


def test_each_half_is_chosen_by_the_other() -> None:
    pairs = tuple(SentencePair(f"句 {i}", f"câu số {i} ở đây .", "toy", i) for i in range(12))
    parts = parts_of(pairs)
    first = set(dev_halves(parts)[0])
    right = [pair.target for pair in pairs]
    wrong = ["sai hoàn toàn rồi nhé"] * 12
    # One weight is right on the first half, the other one on the second.
    one = [r if pair in first else w for pair, r, w in zip(pairs, right, wrong, strict=True)]
    two = [w if pair in first else r for pair, r, w in zip(pairs, right, wrong, strict=True)]
    lines, weights = cross_chosen({0.0: one, 0.5: two}, parts)
    assert weights == (0.5, 0.0)
    assert lines == wrong
    assert cross_chosen({0.0: wrong, 0.5: right}, parts) == (right, (0.5, 0.5))


def test_too_few_pairs_are_named() -> None:
    for count in (0, 1):
        with pytest.raises(ValueError, match=f"has {count} pairs, too few for two halves"):
            cross_chosen({0.0: []}, parts_of((SentencePair("句", "câu", "toy", 1),) * count))
