"""The card of a run: begun once, gone on with by the same settings only; the ends of a run; schedules by name.

The log of calls: one entry for each that trained, none for one that found nothing to do.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from coursepkg.training import schedules
from coursepkg.training.run_card import (
    CALLS,
    CARD,
    add_call,
    open_run,
    open_run_or_rollback,
    read_calls,
    read_card,
    seconds_of,
)
from coursepkg.training.saved_model import take_weights
from tests.projects.translation.tiny import fast, quietly

RUN = {"recipe": {"width": 8, "patience": 3, "name": "lớp"}, "seed": 0}


def begin(
    out: Path, *, resume: bool = False, seed: int = 0, added: dict | None = None, **settings: object
) -> None:
    card = {"recipe": {**RUN["recipe"], **settings}, "seed": seed}
    open_run(out, card, resume, changeable=("patience",), added=added)


def test_a_run_goes_on_with_the_same_settings_and_those_that_may_change(tmp_path: Path) -> None:
    begin(tmp_path / "run")
    assert read_card(tmp_path / "run" / CARD) == RUN
    begin(tmp_path / "run", resume=True, patience=9)
    assert read_card(tmp_path / "run" / CARD) == RUN


def test_a_setting_that_came_later_had_its_value_then(tmp_path: Path) -> None:
    begin(tmp_path / "run")
    begin(tmp_path / "run", resume=True, added={"fault": "none"}, fault="none")
    with pytest.raises(ValueError, match=r"differs in fault\)"):
        begin(tmp_path / "run", resume=True, added={"fault": "none"}, fault="unswapped")


def test_another_run_and_a_run_that_is_there_are_refused(tmp_path: Path) -> None:
    begin(tmp_path / "run")
    with pytest.raises(ValueError, match="add --resume"):
        begin(tmp_path / "run")
    with pytest.raises(ValueError, match=r"another run \(it differs in seed, width\)"):
        begin(tmp_path / "run", resume=True, width=16, seed=1)


@pytest.mark.parametrize("content", ["{", "[1]", "[" * 100_000, '{"seed": 0}', json.dumps({"recipe": [1]})])
def test_a_damaged_card_is_named(tmp_path: Path, content: str) -> None:
    begin(tmp_path / "run")
    (tmp_path / "run" / CARD).write_text(content)
    with pytest.raises(ValueError, match=r"recipe\.json is damaged"):
        begin(tmp_path / "run", resume=True)


def test_weights_of_other_sizes_are_refused(tmp_path: Path) -> None:
    model, begun = nn.Linear(2, 3), nn.Linear(2, 3)
    torch.testing.assert_close(take_weights(model, begun, tmp_path).weight, begun.weight)
    with pytest.raises(ValueError, match=r"other sizes.*give the sizes of that model"):
        take_weights(nn.Linear(2, 4), begun, tmp_path)


@pytest.mark.parametrize(
    ("name", "same"),
    [
        ("constant", schedules.constant(0.1)),
        ("inverse-sqrt", schedules.inverse_sqrt(0.1, 4)),
        ("noam", schedules.noam(16, 4, 0.1)),
        ("staircase", schedules.staircase(0.1, 16, 4, 10, 0.8)),
        ("cosine", schedules.cosine(0.1, 4, 40)),
    ],
)
def test_a_recipe_names_its_schedule(name: str, same: schedules.Formula) -> None:
    named = schedules.by_name(name, 0.1, warmup=4, d_model=16, epoch_steps=5, total=40)
    assert [named(step) for step in range(1, 41)] == [same(step) for step in range(1, 41)]


@pytest.mark.parametrize("is_there", [False, True], ids=["new folder", "folder with a file"])
def test_a_start_that_is_refused_leaves_nothing(tmp_path: Path, is_there: bool) -> None:
    out = tmp_path / "run"
    if is_there:
        out.mkdir()
        (out / "notes.txt").write_text("mine")

    def begin() -> None:
        with open_run_or_rollback(out, {"recipe": {}}, False, changeable=()):
            (out / "vocabulary").mkdir()
            raise ValueError("too small a corpus")

    with pytest.raises(ValueError, match="too small a corpus"):
        begin()
    assert [path.name for path in tmp_path.rglob("*")] == (["run", "notes.txt"] if is_there else [])


def test_a_refusal_on_the_way_leaves_an_older_run_as_it_is(tmp_path: Path) -> None:
    open_run(tmp_path, {"recipe": {}}, False, changeable=())
    with (
        pytest.raises(ValueError, match="later"),
        open_run_or_rollback(tmp_path, {"recipe": {}}, True, changeable=()),
    ):
        raise ValueError("later")
    assert (tmp_path / CARD).exists()


def test_each_call_that_trained_is_noted(tmp_path: Path) -> None:
    out = tmp_path / "run"
    assert read_calls(out) == []
    first = quietly(fast(max_epochs=1), out)
    told = read_calls(out)
    assert [(one["step"], one["stopped"]) for one in told] == [(first.history.step, "max_epochs")]
    assert told[0]["seconds"] == pytest.approx(first.history.seconds, abs=0.1)
    assert {"machine", "versions", "commit"} <= told[0].keys()
    quietly(fast(max_epochs=1), out, resume=True)
    assert read_calls(out) == told
    second = quietly(fast(max_epochs=2), out, resume=True)
    assert [one["step"] for one in read_calls(out)] == [first.history.step, second.history.step]
    assert [one["from_step"] for one in read_calls(out)] == [0, first.history.step]
    assert seconds_of(read_calls(out)) == (
        pytest.approx(told[0]["seconds"] + second.history.seconds, abs=0.1),
        True,
    )
    assert told[0]["peak_memory"] > 2**20
    assert told[0]["cpu_seconds"] > 0
    add_call(out, second.history)
    assert len(read_calls(out)) == 2


@pytest.mark.parametrize(("content", "told"), [("{", "no JSON file"), ("{}", "no list of calls")])
def test_a_damaged_log_is_named(tmp_path: Path, content: str, told: str) -> None:
    (tmp_path / CALLS).write_text(content)
    with pytest.raises(ValueError, match=f"calls.json is damaged: .*{told}"):
        read_calls(tmp_path)


def test_a_call_that_left_no_line_is_known_to_be_missing() -> None:
    first, third = ({"from_step": a, "step": b, "seconds": 5.0} for a, b in ((0, 10), (20, 30)))
    assert seconds_of([first]) == (5.0, True)
    assert seconds_of([first, third]) == (10.0, False)
    assert seconds_of([third]) == (5.0, False)
    assert seconds_of([]) == (0, False)


def test_numbers_of_numpy_make_the_same_run(tmp_path: Path) -> None:
    card = {"recipe": {"size": np.int64(3), "rate": np.float32(0.5)}}
    open_run(tmp_path / "run", card, False, changeable=())
    open_run(tmp_path / "run", {"recipe": {"size": 3, "rate": 0.5}}, True, changeable=())
    assert read_card(tmp_path / "run" / "recipe.json") == {"recipe": {"size": 3, "rate": 0.5}}
