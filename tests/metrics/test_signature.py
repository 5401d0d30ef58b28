"""What a score says of itself."""

import re

import numpy as np
import pytest

import coursepkg
from coursepkg.metrics import BLEU, CER, Accuracy, Interval, MacroF1, Metric, Score, score
from coursepkg.metrics.signature import data_hash, format_values, signature
from tests.metrics.texts import exactly


def test_every_field() -> None:
    found = score(
        BLEU(), ["a b c"], ["a b d"], n_in_file=4, protocol="tst2013, beam 4", n_resamples=10, seed=7
    )
    fields = dict(field.split(":", 1) for field in found.signature.split("|"))
    assert fields == {
        "nrefs": "1",
        "bs": "10",
        "seed": "7",
        "case": "mixed",
        "eff": "no",
        "tok": "13a",
        "smooth": "exp",
        "unicode": "raw",
        "n": "1/4",
        "data": data_hash(["a b d"]),
        "protocol": "tst2013, beam 4",
        "version": f"coursepkg-{coursepkg.__version__}",
    }


def test_prints_one_line() -> None:
    line = str(score(CER(), ["Xin chao"], ["Xin chào"]))
    assert re.fullmatch(
        r"CER\|nrefs:1\|unit:character\|unicode:NFC\|n:1/1\|data:[0-9a-f]{12}\|version:coursepkg-[\d.]+ = 0\.1250",
        line,
    )
    interval = Interval(29.8, 32.714, 0.95, 1000, 1)
    assert str(Score("BLEU", 31.254, "nrefs:1", interval)) == "BLEU|nrefs:1 = 31.25 [29.80, 32.71] at 95%"


def test_decimals() -> None:
    assert format_values(31.254) == ["31.25"]
    assert format_values(0.15023) == ["0.1502"]
    assert format_values(-0.5, 0.25) == ["-0.5000", "0.2500"]
    assert format_values(0.5016, 4.2162) == ["0.50", "4.22"]


def test_data_hash_tells_test_sets_apart() -> None:
    lines = ["tôi đi học", "trời mưa"]
    assert data_hash(lines) == data_hash([[line] for line in lines]) == data_hash(tuple(lines))
    others = (lines[::-1], lines[:1], ["tôi đi học", "trời mưa "], [lines], [7, 8])
    assert len({data_hash(lines), *map(data_hash, others)}) == 6


def test_data_hash_does_not_know_numpy_from_python() -> None:
    assert data_hash([0, 2, True]) == data_hash([*np.array([0, 2]), np.True_])
    assert data_hash([0, 2]) != data_hash([2, 0])


def test_number_of_references() -> None:
    def n_references(references: list) -> str:
        return signature(BLEU(), references, n_in_file=2).split("|")[0]

    assert n_references(["a", "b"]) == "nrefs:1"
    assert n_references([["a", "b"], ["c", "d"]]) == "nrefs:2"
    assert n_references([["a", "b"], "c"]) == "nrefs:var"


def test_metrics_are_metrics() -> None:
    assert all(isinstance(metric, Metric) for metric in (BLEU(), CER(), Accuracy(), MacroF1(("a",))))
    assert not isinstance("BLEU", Metric)


def test_fewer_in_the_file_than_scored() -> None:
    with pytest.raises(ValueError, match=exactly("n_in_file must be an integer of at least 2, got 1")):
        score(CER(), ["a", "b"], ["a", "b"], n_in_file=1)


@pytest.mark.parametrize("protocol", ["a|b", "two\nlines"])
def test_a_protocol_that_would_break_the_signature(protocol: str) -> None:
    with pytest.raises(ValueError, match=r"^protocol must be one line without '\|', got "):
        score(CER(), ["a"], ["a"], protocol=protocol)
