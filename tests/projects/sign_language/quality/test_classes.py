"""Counts of words, and what is head, body and tail."""

import pytest

from coursepkg.projects.sign_language.data.label_mapping import band_of, count_classes

LABELS = ["Ăn"] * 50 + ["Mẹ"] * 49 + ["Bố"] * 20 + ["Đi"] * 19 + ["Nhà"] * 4 + [""] * 7


def test_bands_have_the_borders_of_the_contest() -> None:
    found = count_classes(LABELS)
    assert found.bands == {"Ăn": "head", "Mẹ": "body", "Bố": "body", "Đi": "tail", "Nhà": "tail"}
    assert found.words_by_band == {"head": 1, "body": 2, "tail": 2}
    assert found.clips_by_band == {"head": 50, "body": 69, "tail": 23}
    assert (found.n_clips, found.imbalance, found.missing) == (142, 12.5, ())
    assert list(found.counts.values()) == [50, 49, 20, 19, 4]


def test_a_word_without_a_clip_is_counted_and_named() -> None:
    found = count_classes(["Ăn", "Ăn"], {"Ăn": 0, "Mẹ": 1})
    assert found.counts == {"Ăn": 2, "Mẹ": 0}
    assert (found.missing, found.words_by_band["tail"]) == (("Mẹ",), 2)
    assert found.imbalance == 1.0
    assert count_classes([]).imbalance == 0.0


def test_a_label_outside_the_list_is_named() -> None:
    with pytest.raises(ValueError, match="label 'Bố' is not in the label list of 1 words"):
        count_classes(["Ăn", "Bố"], ["Ăn"])
    with pytest.raises(ValueError, match="count must be"):
        band_of(-1)
