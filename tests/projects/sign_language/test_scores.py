"""Scores as they are printed and stored."""

import json

import pytest

from coursepkg.projects.sign_language.scores import SHOWN, SignScores, from_rows
from coursepkg.projects.sign_language.scoring import score_answers
from tests.projects.sign_language.answered import COUNTS, LABELS, answer, drawn_answers


@pytest.fixture(scope="module")
def scores() -> SignScores:
    told = [*drawn_answers(5, lacking=("ngủ",)), answer("mẹ", None, "signer 0", "lost")]
    return score_answers(told, LABELS, COUNTS, protocol="drawn", n_resamples=100)


def test_everything_is_stored_and_can_be_scored_again(scores: SignScores) -> None:
    document = json.loads(json.dumps(scores.as_json()))
    again = score_answers(
        from_rows(document, "it"),
        document["labels"],
        document["counts"],
        protocol="drawn",
        n_resamples=100,
    )
    assert again.as_json() == document
    assert (document["n"], document["n_unreadable"], document["absent"]) == (121, 1, ["ngủ"])
    for name in ("macro_f1", "accuracy"):
        low, high = document[name]["interval"]
        assert low <= document[name]["value"] <= high
    assert document["macro_f1"]["signature"].startswith("macro-F1|nrefs:1|bs:100|")
    assert document["bands"]["tail"]["signature"].startswith("macro-F1 tail|")
    assert document["words"]["ngủ"] == {
        "band": "body",
        "n_counted": 30,
        "n_clips": 0,
        "precision": 0.0,
        "recall": 0.0,
        "f1": 0.0,
    }
    assert sum(one["n"] for one in document["confusions"]) == sum(
        not one.is_right and one.said is not None for one in scores.answers
    )


def test_what_is_printed(scores: SignScores) -> None:
    lines = str(scores).splitlines()
    assert lines[0] == str(scores.macro_f1)
    assert lines[1].startswith("  with these signers, draws of clips: [")
    assert lines[2] == f"  over the 5 words that the part has: {scores.present:.4f}"
    assert [line.partition(":")[0] for line in lines if ": macro-F1 " in line] == ["head", "body", "tail"]
    (signers,) = [line for line in lines if line.startswith("signers, worst first: ")]
    assert signers.count(" of ") == SHOWN
    assert signers.endswith(f"; {12 - SHOWN} more")
    (confused,) = [line for line in lines if line.startswith("taken for another: ")]
    first = scores.confusions[0]
    assert f"{first.label} for {first.said} {first.n} times" in confused
    assert lines[-1].startswith("note: ")


def test_a_perfect_score_names_no_confusion() -> None:
    told = [answer(word, word, f"signer {i}", f"{word} {i}") for i in range(3) for word in LABELS]
    text = str(score_answers(told, LABELS, COUNTS, n_resamples=20))
    assert "taken for" not in text
    assert "over the" not in text
    assert "tail: macro-F1 1.0000 [1.00, 1.00] at 95% over 2 words" in text
