"""The log of calls: one entry for each that trained, none for one that found nothing to do."""

from pathlib import Path

import pytest

from coursepkg.training.call_log import CALLS, add_call, read_calls, seconds_of
from tests.projects.translation.tiny import fast, quietly


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
