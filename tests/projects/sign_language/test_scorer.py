"""Single scores: what they are over, and where an interval cannot be drawn."""

from coursepkg.metrics.classification import Accuracy
from coursepkg.projects.sign_language.scoring import Scorer
from tests.projects.sign_language.answered import LABELS, answer, drawn_answers


def test_only_absent_words_that_count_are_counted() -> None:
    found = Scorer(drawn_answers(0, lacking=("mẹ", "chào")), LABELS)
    assert found.absent == ("mẹ", "chào")
    assert found.metric().absent == ("mẹ", "chào")
    assert found.metric(("ăn", "mẹ"), "some").absent == ("mẹ",)
    assert found.metric(("ăn",)).absent == ()


def test_an_interval_needs_two_signers_and_draws_that_can_be_scored() -> None:
    alone = Scorer([answer("ăn", "ăn"), answer("mẹ", "mẹ")], ("ăn", "mẹ"), n_resamples=50)
    assert alone.score(alone.metric()).interval is None
    assert alone.score(alone.metric(), "clip").interval is not None
    assert "bs:" not in alone.score(alone.metric()).signature
    two = Scorer([answer("ăn", "ăn", "An"), answer("mẹ", "mẹ", "Bình")], ("ăn", "mẹ"), "here", 50)
    assert two.score(two.metric()).interval is not None
    assert "bs:50|seed:12345|bsgroups:2|" in two.score(Accuracy()).signature
    only_an = two.metric(("ăn",))
    assert two.score(only_an).interval is None, "half of the draws of signers lack the word"
    assert two.score(only_an).value == 1.0
    assert Scorer(two.answers, two.labels).score(two.metric()).interval is None, "none was asked for"
