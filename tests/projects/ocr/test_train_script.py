"""The script that makes the shipped model: it refuses to train with too few fonts, and its options are a plan."""

import sys
from pathlib import Path

import pytest
import train_ocr_checkpoint as script


def test_too_few_fonts_stop_it_before_anything_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("COURSEPKG_FONTS", raising=False)
    monkeypatch.setattr(sys, "argv", ["train", "--out", str(tmp_path / "run"), "--threads", "1"])
    with pytest.raises(SystemExit, match=r"font families; run scripts/install_fonts\.sh"):
        script.main()
    assert not (tmp_path / "run").exists()


def test_the_defaults_are_those_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "argv", ["train"])
    chosen = script.options()
    assert chosen.checkpoint == script.DEFAULT
    assert chosen.learning_rate == script.PRESETS["small"].learning_rate
    assert script.small(chosen).max_seconds == 86400.0  # a call is bounded by its own option
    assert chosen.seed > 2 * script.ShardPlan().n_shards  # far from the seeds of the sets that are measured


def test_a_model_that_learns_on_keeps_the_story_of_the_one_before() -> None:
    before = script.lineage(script.DEFAULT)
    assert before["lines"]["n_lines"] > 0
    assert all(before[name] for name in ("calls", "fonts", "scores"))
