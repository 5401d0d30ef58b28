"""Scores of a part: equal to scikit-learn's, honest about what is missing, with intervals that hold the score."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, f1_score

from coursepkg.projects.sign_language.scores import SignScores
from coursepkg.projects.sign_language.scoring import compare, confusions, evaluate, score_answers
from tests.projects.sign_language.answered import COUNTS, LABELS, Guessed, Told, answer, drawn_answers

BANDS = {"head": LABELS[:2], "body": LABELS[2:4], "tail": LABELS[4:]}


def scored(seed: int, **options: object) -> SignScores:
    return score_answers(drawn_answers(seed, **options), LABELS, COUNTS, protocol="drawn", n_resamples=200)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("lacking", [(), ("ngủ",), ("bố", "chào")])
def test_scores_are_those_of_scikit_learn(seed: int, lacking: tuple) -> None:
    found = scored(seed, lacking=lacking)
    truths, said = found.truths, found.said
    assert found.absent == lacking

    def macro(labels: tuple[str, ...]) -> float:
        return f1_score(truths, said, labels=list(labels), average="macro", zero_division=0)

    assert found.macro_f1.value == pytest.approx(macro(LABELS))
    assert found.present == pytest.approx(macro(tuple(w for w in LABELS if w not in lacking)))
    assert found.accuracy.value == accuracy_score(truths, said)
    assert {band: one.value for band, one in found.bands.items()} == pytest.approx(
        {band: macro(words) for band, words in BANDS.items()}
    )
    for signer, one in found.signers.items():
        own = [(t, s) for t, s, a in zip(truths, said, found.answers, strict=True) if a.signer == signer]
        right, guessed = zip(*own, strict=True)
        words = sorted(set(right))
        theirs = f1_score(right, guessed, labels=words, average="macro", zero_division=0)
        assert one.macro_f1 == pytest.approx(theirs)
        assert (one.n_clips, one.n_words) == (len(own), len(words))
        assert one.accuracy == pytest.approx(accuracy_score(right, guessed))
    assert sum(one.n_clips for one in found.signers.values()) == len(truths)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("share", [0.1, 0.6, 1.0])
def test_intervals_hold_the_score(seed: int, share: float) -> None:
    found = scored(seed, share=share)
    for one in (found.macro_f1.interval, found.by_clip):
        assert one is not None
        assert one.lower <= found.macro_f1.value <= one.upper
    assert found.accuracy.interval is not None
    assert found.accuracy.interval.lower <= found.accuracy.value <= found.accuracy.interval.upper
    assert "bsgroups:12|" in found.macro_f1.signature
    assert "protocol:drawn" in found.macro_f1.signature


def test_a_perfect_recogniser_of_a_long_tail_has_no_doubt() -> None:
    told = [answer(word, word, f"signer {i}", f"{word} {i}") for word in LABELS[:3] for i in range(3)]
    told.append(answer("chào", "chào", "signer 0", "the only one"))
    found = score_answers(told, LABELS[:3] + LABELS[5:], (60, 50, 30, 4))
    assert found.macro_f1.value == 1.0
    assert found.macro_f1.interval is not None
    assert (found.macro_f1.interval.lower, found.macro_f1.interval.upper) == (1.0, 1.0)
    assert found.bands["tail"].interval is None, "some draws have no clip of it"
    assert "no interval for tail" in str(found)
    assert "3 signers give few different draws" in str(found)


def test_a_word_that_the_part_lacks_counts_nothing_and_is_named() -> None:
    found = score_answers([answer("ăn", "ăn", "An"), answer("ăn", "ăn", "Bình")], ("ăn", "mẹ"), (60, 4))
    assert (found.macro_f1.value, found.present, found.accuracy.value) == (0.5, 1.0, 1.0)
    assert found.bands["tail"].value == 0.0
    assert found.words["mẹ"].n_clips == 0
    assert "1 of 2 words have no clip here and count 0: mẹ" in found.notes
    assert "no word belongs to body" in str(found)
    assert found.macro_f1.interval is not None
    assert found.macro_f1.interval.upper == 0.5


def test_a_signer_with_one_clip() -> None:
    told = [*drawn_answers(1), answer("mẹ", "bố", "Once", "once")]
    found = score_answers(told, LABELS, COUNTS, n_resamples=50)
    assert next(iter(found.signers)) == "Once", "understood worst"
    one = found.signers["Once"]
    assert (one.n_clips, one.n_words, one.macro_f1, one.accuracy) == (1, 1, 0.0, 0.0)
    assert "Once 0.0000 (1 clip of 1 word)" in str(found)
    alone = score_answers([answer("mẹ", "mẹ", "Once")], LABELS, COUNTS)
    assert alone.macro_f1.interval is None
    assert alone.signers["Once"].macro_f1 == 1.0
    assert "all clips are by one signer" in str(alone)


def test_signers_who_are_not_known_are_drawn_one_by_one() -> None:
    told = [one._replace(signer="") for one in drawn_answers(2)]
    found = score_answers(told, LABELS, COUNTS, n_resamples=100)
    assert found.signers == {}
    assert found.macro_f1.interval == found.by_clip
    assert f"the signer of {len(told)} clips is not known" in str(found)


def test_a_clip_that_cannot_be_read_counts_as_wrong() -> None:
    told = [answer("ăn", "ăn"), answer("ăn", None), answer("mẹ", "mẹ")]
    found = score_answers(told, ("ăn", "mẹ"), (60, 60), n_resamples=0)
    assert found.accuracy.value == pytest.approx(2 / 3)
    assert found.macro_f1.value == pytest.approx((2 / 3 + 1) / 2)
    assert "n:3/3" in found.macro_f1.signature
    assert (found.n_unreadable, found.confusions) == (1, ())
    assert "1 clip could not be read, counted as wrong" in found.notes


def test_confusions_come_the_most_frequent_first() -> None:
    told = [answer("mẹ", "bố")] * 2 + [answer("ăn", "uống")] * 2 + [answer("ăn", "ăn")] + [answer("bố", "ăn")]
    rows = confusions(told)
    assert [(one.label, one.said, one.n) for one in rows] == [
        ("mẹ", "bố", 2),
        ("ăn", "uống", 2),
        ("bố", "ăn", 1),
    ]
    assert rows[1].share == pytest.approx(2 / 3)


def test_from_probabilities_to_words_and_bands() -> None:
    clips = [Told("a", "ăn", "An"), Told("b", "chào", "Bình")]
    odds = np.eye(6)[[0, 4]] * 0.5 + 0.5 / 6
    found = evaluate(Guessed(odds), clips, LABELS, COUNTS, n_resamples=20)
    assert found.accuracy.value == 0.5
    assert found.top5 == 0.5, "chào is the sixth: of equal probabilities the first number"
    assert [one.band for one in found.words.values()] == ["head", "head", "body", "body", "tail", "tail"]
    assert [one.n_counted for one in found.words.values()] == list(COUNTS)
    assert found.words["bố"].precision == 0.0


def test_a_system_against_itself_makes_no_difference() -> None:
    found = scored(3)
    for options in ({}, {"by": "clip"}, {"metric": "accuracy"}, {"band": "head"}):
        same = compare(found, found, n_resamples=100, **options)
        assert (same.baseline, same.difference.lower, same.difference.upper) == (same.system, 0.0, 0.0)
        assert same.p_value == 1.0


def test_a_better_system_is_seen_to_be_better() -> None:
    worse = scored(4, share=0.3)
    right = [one._replace(said=one.label) if i % 2 else one for i, one in enumerate(worse.answers)]
    better = score_answers(right, LABELS, COUNTS)
    found = compare(worse, better, n_resamples=200)
    assert found.system - found.baseline == pytest.approx(better.macro_f1.value - worse.macro_f1.value)
    assert 0 < found.difference.lower <= found.system - found.baseline <= found.difference.upper
    assert found.share_higher == 1.0
    assert compare(better, worse, n_resamples=200).difference.upper == -found.difference.lower


def test_what_cannot_be_compared_is_refused() -> None:
    found = scored(0)
    with pytest.raises(ValueError, match="different clips"):
        compare(found, scored(1))
    alone = score_answers([answer("ăn", "ăn"), answer("mẹ", "mẹ")], LABELS, COUNTS)
    with pytest.raises(ValueError, match="one signer only"):
        compare(alone, alone)
    told = [answer("ăn", "ăn", f"signer {i}", str(i)) for i in range(3)] + [answer("chào", "ăn", "signer 0")]
    rare = score_answers(told, ("ăn", "chào"), (60, 4))
    with pytest.raises(ValueError, match="may have no clip of a tail word"):
        compare(rare, rare, band="tail")
    with pytest.raises(ValueError, match="band head goes with macro-F1"):
        compare(found, found, metric="accuracy", band="head")
    with pytest.raises(ValueError, match="band body goes with macro-F1, and must have a word"):
        compare(*[score_answers([answer("ăn", "ăn")], ("ăn",), (60,))] * 2, band="body")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([], LABELS, COUNTS), "at least one clip"),
        (([answer("ăn", "ăn")], LABELS, COUNTS[:5]), "counts must be 6"),
        (([answer("ăn", "ăn")], LABELS, (-1, *COUNTS[1:])), "counts of 'ăn' must be an integer"),
        (([answer("ăn", "phở")], LABELS, COUNTS), "'phở' must be among the 6 words"),
        (([answer("ăn", "ăn")], ("ăn", "ăn"), (1, 1)), "occurs more than once"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: tuple, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score_answers(*arguments)
