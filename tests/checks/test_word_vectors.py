"""The checks of the chapter on word vectors accept what is right and say what is wrong."""

import math
import unicodedata

import torch

from coursepkg.text.cleaning import clean
from coursepkg.text.spacing import unjoin
from coursepkg.text.vietnamese import place_tones


def cosine_row(table, row):
    unit = table / table.norm(dim=1, keepdim=True)
    cosines = unit @ unit[row]
    cosines[row] = -math.inf
    return int(cosines.argmax())


def test_nearest_row_right(assert_accepts):
    assert_accepts("word_vectors.nearest_row", cosine_row)


def test_nearest_row_by_dot_product(assert_rejects):
    def dot(table, row):
        scores = table @ table[row]
        scores[row] = -math.inf
        return int(scores.argmax())

    assert_rejects("word_vectors.nearest_row", dot, "divide by the lengths")


def test_nearest_row_is_itself(assert_rejects):
    assert_rejects("word_vectors.nearest_row", lambda table, row: row, "leave out the row itself")


def pmi(counts):
    by_chance = counts.sum(dim=1, keepdim=True) * counts.sum(dim=0, keepdim=True) / counts.sum()
    return torch.where(counts > 0, counts / by_chance, 1.0).log()


def test_positive_pmi_right(assert_accepts):
    assert_accepts("word_vectors.positive_pmi", lambda counts: pmi(counts).clamp(min=0))


def test_positive_pmi_keeps_negative_values(assert_rejects):
    assert_rejects("word_vectors.positive_pmi", pmi, "at least 0")


def test_positive_pmi_divides_zero_by_zero(assert_rejects):
    def careless(counts):
        by_chance = counts.sum(dim=1, keepdim=True) * counts.sum(dim=0, keepdim=True) / counts.sum()
        return (counts / by_chance).log().clamp(min=0)

    assert_rejects("word_vectors.positive_pmi", careless, "NaN")


def test_positive_pmi_in_bits(assert_rejects):
    assert_rejects(
        "word_vectors.positive_pmi", lambda counts: pmi(counts).clamp(min=0) / math.log(2), "log of count"
    )


def test_one_spelling_right(assert_accepts):
    assert_accepts(
        "word_vectors.one_spelling", lambda text: unjoin(place_tones(clean(text).text, "new")).lower()
    )


def test_one_spelling_with_nfc_alone(assert_rejects):
    def nfc(text):
        return unjoin(place_tones(unicodedata.normalize("NFC", text), "new")).lower()

    assert_rejects("word_vectors.one_spelling", nfc, "clean")


def test_one_spelling_in_the_old_style(assert_rejects):
    assert_rejects(
        "word_vectors.one_spelling",
        lambda text: unjoin(place_tones(clean(text).text, "old")).lower(),
        "new tone style",
    )


def test_one_spelling_cleans_too_late(assert_rejects):
    assert_rejects(
        "word_vectors.one_spelling",
        lambda text: clean(unjoin(place_tones(text, "new"))).text.lower(),
        "clean before placing the tone",
    )


def gradient(v, u, negatives):
    true_error = torch.sigmoid(v @ u) - 1
    false_errors = torch.sigmoid(negatives @ v)
    return true_error * u + false_errors @ negatives, true_error * v, torch.outer(false_errors, v)


def test_skipgram_gradient_right(assert_accepts):
    assert_accepts("word_vectors.skipgram_gradient", gradient)


def test_skipgram_gradient_forgets_the_negatives(assert_rejects):
    def wrong(v, u, negatives):
        _, of_u, of_negatives = gradient(v, u, negatives)
        return (torch.sigmoid(v @ u) - 1) * u, of_u, of_negatives

    assert_rejects("word_vectors.skipgram_gradient", wrong, "negatives add up in v")


def test_skipgram_gradient_with_the_wrong_sign(assert_rejects):
    def wrong(v, u, negatives):
        return tuple(-part for part in gradient(v, u, negatives))

    assert_rejects("word_vectors.skipgram_gradient", wrong, "error of the score")
