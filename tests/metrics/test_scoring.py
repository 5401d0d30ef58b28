"""The examples in the documentation, and what importing costs.

What a score says of itself.

Bootstrap: equal to scoring the resampled sentences again, and to SacreBLEU's intervals and p-values.
"""

import doctest
import importlib
import pkgutil
import random
import re
import subprocess
import sys

import numpy as np
import pytest
import sacrebleu
from sacrebleu.significance import PairedTest, _bootstrap_resample

import coursepkg
import coursepkg.metrics
from coursepkg.metrics import (
    BLEU,
    CER,
    CHRF,
    METEOR,
    ROUGE,
    TER,
    WER,
    Accuracy,
    Interval,
    MacroF1,
    Metric,
    Score,
    compare,
    score,
    scoring,
    sentence_scores,
)
from coursepkg.metrics.scoring import data_hash, format_values, interval_of, resampled_values, signature
from tests.metrics.texts import WORDS, disturb, exactly

MODULES = [module.name for module in pkgutil.iter_modules(coursepkg.metrics.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    names = {name: getattr(coursepkg.metrics, name) for name in coursepkg.metrics.__all__}
    module = importlib.import_module(f"coursepkg.metrics.{name}")
    result = doctest.testmod(module, extraglobs=names, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_metrics_need_no_torch() -> None:
    probe = (
        "import sys, coursepkg.metrics as m; assert 'numpy' not in sys.modules;"
        "m.score(m.BLEU(), ['a'], ['a'], n_resamples=10); m.score(m.CER(), ['a'], ['a']); print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_no_interval_unless_asked_for() -> None:
    assert score(CER(), ["a"], ["b"]).interval is None
    assert "bs:" not in score(CER(), ["a"], ["b"]).signature


def test_corpus_bleu_is_not_the_mean_of_its_sentences() -> None:
    hypotheses = ["tôi đi học ở Hà Nội mỗi ngày", "mưa"]
    references = ["tôi đi học ở Hà Nội mỗi ngày", "nắng"]
    metric = BLEU(effective_order=True)
    assert sentence_scores(metric, hypotheses, references).tolist() == pytest.approx([100, 0])
    assert score(metric, hypotheses, references).value == pytest.approx(100 * (8 / 9) ** 0.25)


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


N = 40


def lines(seed: int, n: int = N) -> list[str]:
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(3, 9))) for _ in range(n)]


def worse(seed: int, texts: list[str], rounds: int = 1) -> list[str]:
    rng = random.Random(seed)
    for _ in range(rounds):
        texts = [disturb(rng, text) for text in texts]
    return texts


METRICS = [
    BLEU(),
    BLEU(effective_order=True, smooth="floor"),
    CHRF(),
    TER(),
    ROUGE(),
    METEOR(),
    CER(),
    WER(),
    Accuracy(),
]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_equals_scoring_the_resampled_sentences(metric) -> None:
    references = lines(0)
    hypotheses = worse(1, references)
    statistics = metric.statistics(hypotheses, references)
    found = resampled_values(metric, statistics, n_resamples=5, seed=3)
    for value, chosen in zip(found, np.random.default_rng(3).choice(N, size=(5, N)), strict=True):
        again = score(metric, [hypotheses[i] for i in chosen], [references[i] for i in chosen])
        assert value == pytest.approx(again.value, rel=1e-12)


def test_macro_f1_too() -> None:
    rng = random.Random(0)
    truths, predictions = rng.choices("aaaabc", k=N), rng.choices("aaaabc", k=N)
    metric = MacroF1(("a", "b", "c"))
    found = resampled_values(metric, metric.statistics(predictions, truths), n_resamples=5, seed=3)
    for value, chosen in zip(found, np.random.default_rng(3).choice(N, size=(5, N)), strict=True):
        again = score(metric, [predictions[i] for i in chosen], [truths[i] for i in chosen])
        assert value == pytest.approx(again.value)


def test_blocks_do_not_change_the_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    references = lines(0, 17)
    statistics = BLEU().statistics(worse(1, references), references)
    whole = resampled_values(BLEU(), statistics, n_resamples=100, seed=1)
    monkeypatch.setattr(scoring, "_BLOCK_CELLS", 17 * 3)
    assert (resampled_values(BLEU(), statistics, n_resamples=100, seed=1) == whole).all()


@pytest.mark.parametrize(
    ("ours", "theirs"), [(BLEU(), sacrebleu.BLEU()), (CHRF(), sacrebleu.CHRF())], ids=["BLEU", "chrF"]
)
def test_interval_equals_sacrebleu(ours, theirs) -> None:
    """Its draws come from seed 12345, its counts are float32, and it tells half the width of the interval."""
    references = lines(2)
    hypotheses = worse(3, references)
    statistics = theirs._extract_corpus_statistics(hypotheses, [references])
    _, resampled = _bootstrap_resample(statistics, theirs, 200)
    values = resampled_values(ours, ours.statistics(hypotheses, references), n_resamples=200, seed=12345)
    assert values.tolist() == pytest.approx([one.score for one in resampled], abs=1e-3)
    interval = score(ours, hypotheses, references, n_resamples=200).interval
    expected = theirs.corpus_score(hypotheses, [references], n_bootstrap=200)
    assert (interval.upper - interval.lower) / 2 == pytest.approx(expected._ci, abs=1e-3)
    assert (interval.confidence, interval.n_resamples, interval.seed) == (0.95, 200, 12345)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [(BLEU(), sacrebleu.BLEU()), (CHRF(), sacrebleu.CHRF()), (TER(), sacrebleu.TER())],
    ids=["BLEU", "chrF", "TER"],
)
@pytest.mark.parametrize("rounds", [1, 2])
def test_p_value_equals_sacrebleu(ours, theirs, rounds: int) -> None:
    references = lines(4)
    baseline, system = worse(5, references), worse(6, references, rounds)
    test = PairedTest(
        [("first", baseline), ("second", system)],
        {"metric": theirs},
        [references],
        test_type="bs",
        n_samples=300,
    )
    _, table = test()
    (_, expected) = next(results for name, results in table.items() if name != "System")
    found = compare(ours, baseline, system, references, n_resamples=300)
    assert found.system == pytest.approx(expected.score, abs=1e-9)
    assert found.p_value == pytest.approx(expected.p_value, abs=1e-12)


def test_a_system_against_itself_is_no_difference() -> None:
    references = lines(7)
    hypotheses = worse(8, references)
    found = compare(BLEU(), hypotheses, hypotheses, references, n_resamples=50)
    assert (found.difference.lower, found.difference.upper, found.share_higher) == (0, 0, 0)


def test_a_clear_difference_is_seen() -> None:
    references = lines(9)
    found = compare(BLEU(), worse(10, references, 4), references, references, protocol="made up")
    assert found.baseline < found.system
    assert found.difference.lower > 0
    assert found.share_higher == 1
    assert found.p_value == 1 / 1001
    assert str(found).startswith("BLEU|nrefs:1|bs:1000|seed:12345|")
    assert str(found).endswith("p = 0.0010")
    assert "\n" not in str(found)


def test_the_interval_covers_the_share_asked_for() -> None:
    references = lines(11)
    metric = CER()
    statistics = metric.statistics(worse(12, references), references)
    values = resampled_values(metric, statistics, n_resamples=1000, seed=5)
    for confidence in (0.5, 0.9, 0.95):
        interval = interval_of(metric, statistics, confidence=confidence, seed=5)
        inside = np.mean((values >= interval.lower) & (values <= interval.upper))
        assert confidence <= inside <= confidence + 0.02


def test_known_coverage_of_a_mean() -> None:
    """Of many test sets from one population, about 95% have the true accuracy in their interval."""
    rng = np.random.default_rng(0)
    covered = 0
    for trial in range(200):
        right = rng.random(200) < 0.7
        statistics = np.stack([right, np.ones(200)], axis=1)
        interval = interval_of(Accuracy(), statistics, n_resamples=400, seed=trial)
        covered += interval.lower <= 0.7 <= interval.upper
    assert 0.90 <= covered / 200 <= 0.99


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_resamples": 1}, "n_resamples must be an integer of at least 2, got 1"),
        ({"n_resamples": -5}, "n_resamples must be an integer of at least 2, got -5"),
        ({"n_resamples": 10, "confidence": 1.0}, "confidence must lie between 0 and 1, got 1.0"),
        ({"n_resamples": 10, "confidence": 95.0}, "confidence must lie between 0 and 1, got 95.0"),
        ({"n_resamples": 10, "seed": -1}, "seed must be an integer of at least 0, got -1"),
    ],
)
def test_bad_options(options: dict, message: str) -> None:
    with pytest.raises(ValueError, match=exactly(message)):
        score(CER(), ["a"], ["b"], **options)


def test_systems_of_different_size() -> None:
    with pytest.raises(ValueError, match="got 1 hypotheses and 2 references"):
        compare(BLEU(), ["a", "b"], ["a"], ["a", "b"])


def test_a_system_does_not_differ_from_itself() -> None:
    said, true = ["a b c d e", "f g h i"], ["a b c d f", "f g h i"]
    assert compare(BLEU(), said, said, true, n_resamples=50).p_value == 1.0


def test_drawing_groups_is_drawing_their_sums() -> None:
    said, true = lines(1), lines(2)
    groups = [f"photograph {i // 5}" for i in range(N)]
    found = score(CER(), said, true, n_resamples=200, groups=groups)
    rows = CER().statistics(said, true)
    sums = np.stack([rows[start : start + 5].sum(axis=0) for start in range(0, N, 5)])
    assert found.interval == interval_of(CER(), sums, n_resamples=200)
    assert found.value == score(CER(), said, true).value
    assert "bsgroups:8" in found.signature
    assert "bsgroups" not in score(CER(), said, true, n_resamples=200).signature


def test_a_group_of_equal_lines_counts_once() -> None:
    wrong = ["a", "b", "c", "d"] * 20  # all lines of a group are right, or all are wrong
    right = ["a", "x", "c", "y"] * 20
    groups = [i % 4 for i in range(80)]
    alone, together = (score(Accuracy(), wrong, right, n_resamples=500, groups=g) for g in (None, groups))
    widths = [one.interval.upper - one.interval.lower for one in (alone, together)]
    assert widths[1] > 2 * widths[0]
    own = [list(range(80)), groups]
    finest, coarse = (compare(Accuracy(), wrong, right, right, n_resamples=500, groups=g) for g in own)
    assert finest.p_value < coarse.p_value
    assert finest.difference == compare(Accuracy(), wrong, right, right, n_resamples=500).difference


def test_every_sentence_has_one_group() -> None:
    with pytest.raises(ValueError, match="one group a sentence, got 2 for 40"):
        score(CER(), lines(1), lines(2), n_resamples=50, groups=["a", "b"])
