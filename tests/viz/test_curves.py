"""Curves of runs: which numbers end up in which panel, from a history and from a folder."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from coursepkg.training.log import CsvLog
from coursepkg.viz import figure_html, training_curves


@dataclass
class History:
    """As much of what `fit` returns as a figure needs."""

    steps: list[dict[str, int | float]]
    validations: list[dict[str, int | float]]


def history(offset: float = 0.0) -> History:
    steps = [
        {
            "step": n,
            "epoch": 0,
            "loss": 10.0 - n + offset,
            "learning_rate": n / 100,
            "grad_norm": 1.0,
            "units": 7,
        }
        for n in range(1, 7)
    ]
    validations = [{"step": n, "epoch": 0, "loss": 9.0 - n + offset, "bleu": 3.0 * n} for n in (3, 6)]
    return History(steps, validations)


def lines(axis) -> dict[str, list[tuple[float, float]]]:
    return {line.get_label(): list(zip(*line.get_data(), strict=True)) for line in axis.lines}


def test_one_run_has_a_panel_for_loss_scores_and_learning_rate() -> None:
    loss, bleu, rate = training_curves(history()).axes
    assert [axis.get_title() for axis in (loss, bleu, rate)] == ["loss", "bleu", "learning rate"]
    assert lines(loss) == {
        "training": [(n, 10.0 - n) for n in range(1, 7)],
        "validation": [(3, 6.0), (6, 3.0)],
    }
    assert lines(bleu) == {"validation": [(3, 9.0), (6, 18.0)]}
    assert lines(rate) == {"training": [(n, n / 100) for n in range(1, 7)]}
    assert loss.get_legend() is not None
    assert bleu.get_legend() is None


def test_several_runs_share_the_panels_each_in_its_colour() -> None:
    figure = training_curves({"pre-norm": history(), "post-norm": history(1.0)}, columns=["loss"])
    (axis,) = figure.axes
    found = lines(axis)
    names = ["pre-norm training", "pre-norm validation", "post-norm training", "post-norm validation"]
    assert list(found) == names
    assert found["post-norm validation"] == [(3, 7.0), (6, 4.0)]
    colours = [line.get_color() for line in axis.lines]
    assert colours[0] == colours[1] != colours[2] == colours[3]


def test_smoothing_averages_the_training_rows_before_and_leaves_validation() -> None:
    (axis,) = training_curves(history(), columns=["loss"], smooth=3).axes
    found = lines(axis)
    assert found["training"] == [(1, 9.0), (2, 8.5), (3, 8.0), (4, 7.0), (5, 6.0), (6, 5.0)]
    assert found["validation"] == [(3, 6.0), (6, 3.0)]


def test_a_folder_shows_what_its_history_shows(tmp_path: Path) -> None:
    run = history()
    for name, rows in (("log.csv", run.steps), ("validation.csv", run.validations)):
        log = CsvLog(tmp_path / name)
        for row in rows:
            log.add(row)
    of_folder, of_history = training_curves(tmp_path).axes, training_curves(run).axes
    assert [lines(axis) for axis in of_folder] == [lines(axis) for axis in of_history]
    (tmp_path / "validation.csv").unlink()
    assert len(training_curves(str(tmp_path)).axes) == 2


def test_show_can_embed_it() -> None:
    assert "<img" in figure_html(training_curves(history()), alt="The loss falls from 9 to 4.")


def test_bad_input_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^columns must be of bleu, epoch, .*, got 'blue'$"):
        training_curves(history(), columns=["blue"])
    with pytest.raises(ValueError, match=r"^columns must be of none, as the logs are empty, got 'loss'$"):
        training_curves(History([], []))
    with pytest.raises(ValueError, match=r"^runs must hold at least one run, got none$"):
        training_curves({})
    with pytest.raises(ValueError, match=r"^smooth must be at least 1, got 0$"):
        training_curves(history(), smooth=0)
    with pytest.raises(FileNotFoundError, match=r"log\.csv"):
        training_curves(tmp_path)
