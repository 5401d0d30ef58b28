"""The checks of the chapter on word vectors accept what is right and say what is wrong."""

import math
import unicodedata

import torch

from coursepkg.text.cleaning import clean
from coursepkg.text.spacing import unjoin
from coursepkg.text.vietnamese import place_tones
from tests.checks.solutions import solution_tests


def cosine_row(table, row):
    unit = table / table.norm(dim=1, keepdim=True)
    cosines = unit @ unit[row]
    cosines[row] = -math.inf
    return int(cosines.argmax())


def zeroed(table, row):
    unit = table / table.norm(dim=1, keepdim=True)
    cosines = unit @ unit[row]
    cosines[row] = 0.0
    return int(cosines.argmax())


def dot(table, row):
    scores = table @ table[row]
    scores[row] = -math.inf
    return int(scores.argmax())


def pmi(counts):
    by_chance = counts.sum(dim=1, keepdim=True) * counts.sum(dim=0, keepdim=True) / counts.sum()
    return torch.where(counts > 0, counts / by_chance, 1.0).log()


def careless(counts):
    by_chance = counts.sum(dim=1, keepdim=True) * counts.sum(dim=0, keepdim=True) / counts.sum()
    return (counts / by_chance).log().clamp(min=0)


def nfc(text):
    return unjoin(place_tones(unicodedata.normalize("NFC", text), "new")).lower()


def gradient(v, u, negatives):
    true_error = torch.sigmoid(v @ u) - 1
    false_errors = torch.sigmoid(negatives @ v)
    return true_error * u + false_errors @ negatives, true_error * v, torch.outer(false_errors, v)


def skipgram_gradient_forgets_the_negatives(v, u, negatives):
    _, of_u, of_negatives = gradient(v, u, negatives)
    return (torch.sigmoid(v @ u) - 1) * u, of_u, of_negatives


def skipgram_gradient_with_the_wrong_sign(v, u, negatives):
    return tuple(-part for part in gradient(v, u, negatives))


RIGHT = {
    "nearest_row": cosine_row,
    "positive_pmi": lambda counts: pmi(counts).clamp(min=0),
    "one_spelling": lambda text: unjoin(place_tones(clean(text).text, "new")).lower(),
    "skipgram_gradient": gradient,
    "narrow_table": "15.75 MB",
    "narrow_table in another unit": "15.02 MiB",
    "skipgram_gradient as a list": lambda *a: list(gradient(*a)),
}

WRONG = {
    "nearest_row by dot product": (dot, "divide by the lengths"),
    "nearest_row is itself": (lambda table, row: row, "leave out the row itself"),
    "positive_pmi keeps negative values": (pmi, "at least 0"),
    "positive_pmi divides zero by zero": (careless, "NaN"),
    "positive_pmi in bits": (lambda counts: pmi(counts).clamp(min=0) / math.log(2), "log of count"),
    "one_spelling with nfc alone": (nfc, "clean"),
    "one_spelling in the old style": (
        lambda text: unjoin(place_tones(clean(text).text, "old")).lower(),
        "new tone style",
    ),
    "one_spelling cleans too late": (
        lambda text: clean(unjoin(place_tones(text, "new"))).text.lower(),
        "clean before placing the tone",
    ),
    "skipgram_gradient forgets the negatives": (
        skipgram_gradient_forgets_the_negatives,
        "negatives add up in v",
    ),
    "skipgram_gradient with the wrong sign": (skipgram_gradient_with_the_wrong_sign, "error of the score"),
    "narrow_table without the matrix": ("15.36 MB", "the matrix that widens the rows is missing"),
    "narrow_table of the full width": ("92.2 MB", "the full width"),
    "narrow_table in half precision": ("7.88 MB", "half precision"),
    "narrow_table in numbers": ("3.94 MB", "takes 4 bytes"),
    "narrow_table in seconds": ("15.75 s", "MB is expected"),
    "nearest_row with a cosine of 0 for itself": (zeroed, "all other cosines are negative"),
    "skipgram_gradient of v alone": (lambda *a: gradient(*a)[0], "three gradients are expected"),
}

test_right, test_wrong = solution_tests("word_vectors", RIGHT, WRONG)
