"""The examples in the documentation, and what importing costs."""

import doctest
import importlib
import pkgutil
import subprocess
import sys

import pytest

import coursepkg.metrics
from coursepkg.metrics import BLEU, CER, score, sentence_scores

MODULES = [module.name for module in pkgutil.iter_modules(coursepkg.metrics.__path__)]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    names = {name: getattr(coursepkg.metrics, name) for name in coursepkg.metrics.__all__}
    module = importlib.import_module(f"coursepkg.metrics.{name}")
    result = doctest.testmod(module, extraglobs=names, optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_every_name_leads_somewhere() -> None:
    for name in coursepkg.metrics.__all__:
        assert callable(getattr(coursepkg.metrics, name))


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
