"""The ladder's engine: recipes of rows, what they need, what is stored and what failed."""

import dataclasses
import json
import math
import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from coursepkg.app.ladder import AS_PRESET, Ladder, LadderRow, LadderRun, Times, ladder_row
from coursepkg.app.report import mean_interval
from coursepkg.files import write_json


@dataclass(frozen=True)
class Recipe:
    """A recipe."""

    width: int = 8
    rate: float = 1.0
    seconds: float = 5.0

    def described(self) -> dict[str, Any]:
        """All fields."""
        return dataclasses.asdict(self)


BASE = Recipe(width=4, seconds=2.0)
LADDER = Ladder(
    [
        ladder_row("first", "narrow", "", width=2),
        ladder_row("wide", "as wide as the preset", "first", width=AS_PRESET),
        ladder_row("slow", "half the rate, twice as wide", "wide", rate=Times(0.5), width=Times(2.0)),
        ladder_row("other", "another preset", "slow", preset="large"),
        ladder_row("same", "nothing", "wide"),
        ladder_row("both", "two networks together", "wide", needs=("wide", "slow"), trains=False),
    ],
    presets={"large": Recipe(width=64, seconds=99.0)},
    limits=("seconds",),
)


def test_a_row_changes_the_recipe_below() -> None:
    found = {name: LADDER.recipe(row, BASE) for name, row in LADDER.rows.items()}
    assert found["first"] == Recipe(2, 1.0, 2.0)
    assert found["wide"] == BASE
    assert found["slow"] == Recipe(8, 0.5, 2.0)
    assert found["other"] == Recipe(64, 1.0, 2.0)  # the budget is that of the base
    assert LADDER.changes(LADDER.row("slow"), BASE) == {"width": 8, "rate": 0.5}
    assert LADDER.changes(LADDER.row("first"), BASE) == {"width": 2}


def test_rows_are_new_or_are_there_already() -> None:
    assert {name for name, row in LADDER.rows.items() if not LADDER.is_new(row, BASE)} == {"same"}
    assert not LADDER.is_new(LADDER.row("slow"), Recipe(width=0, rate=0.0))
    with pytest.raises(ValueError, match=r"^--rows must be of first, wide, .*, got none$"):
        LADDER.row("none")


def test_rows_bring_those_that_they_need() -> None:
    assert [row.name for row in LADDER.with_needed(["both", "first"])] == ["first", "wide", "slow", "both"]


class Maker:
    """Makes rows, but for those that shall fail."""

    def __init__(self, run: LadderRun, *fail: str) -> None:
        self.run, self.fail, self.made = run, fail, []

    def __call__(self, row: LadderRow, seed: int) -> dict[str, Any]:
        if row.name in self.fail:
            raise ValueError("no\nluck")
        self.made.append(row.name)
        if row.trains:
            (self.run.folder(row.name, seed) / "model").mkdir(parents=True)
        document = {
            "row": row.name,
            "seed": seed,
            "conditions": self.run.scored,
            "recipe": LADDER.recipe(row, BASE).described(),
        }
        path = self.run.file(row.name, seed)
        path.parent.mkdir(parents=True, exist_ok=True)
        write_json(path, document)
        return document


def run_of(folder: Path, log: list[str]) -> LadderRun:
    needs = {"row": str, "recipe": dict}
    return LadderRun(LADDER, BASE, "here", folder / "runs", folder / "results", needs, "dev", log.append)


def test_rows_are_made_once_and_a_failure_stops_those_that_need_it(tmp_path: Path) -> None:
    log: list[str] = []
    run = run_of(tmp_path, log)
    maker = Maker(run, "slow")
    failed = run.make((), 3, maker, lambda document: f"made {document['row']}")
    assert maker.made == ["first", "wide", "other"]
    assert failed == [
        {"row": "slow", "seed": 3, "error": "no luck"},
        {"row": "both", "seed": 3, "error": "it asks the network of slow, which could not be trained"},
    ]
    assert log[:2] == ["first, seed 3: narrow", "  made first"]
    assert "same: this is wide already, with these settings" in log
    assert "  error: no luck" in log
    assert [row["row"] for row in run.read()] == ["first", "wide", "other"]
    log.clear()
    again = Maker(run)
    assert run.make(("both", "first"), 3, again, lambda document: "") == []
    assert again.made == ["slow", "both"]
    assert log[:2] == ["first: stored already", "wide: stored already"]


def test_a_network_that_is_needed_is_made_again(tmp_path: Path) -> None:
    run = run_of(tmp_path, [])
    run.make(("wide",), 0, Maker(run), lambda document: "")
    (run.folder("wide", 0) / "model").rmdir()
    maker = Maker(run)
    run.make(("both",), 0, maker, lambda document: "")
    assert maker.made == ["wide", "slow", "both"]


def test_stored_rows_of_other_settings_are_refused(tmp_path: Path) -> None:
    run = run_of(tmp_path, [])
    run.make(("wide",), 0, Maker(run), lambda document: "")
    path = run.file("wide", 0)
    document = json.loads(path.read_text())
    del document["recipe"]["rate"]  # it came later, and had its default
    path.write_text(json.dumps(document))
    assert run.stored(LADDER.row("wide"), 0) is not None
    other = dataclasses.replace(run, base=Recipe(width=5))
    with pytest.raises(
        ValueError, match=r"other settings \(it differs in seconds, width\); choose another --res"
    ):
        other.stored(LADDER.row("wide"), 0)


def test_a_new_row_is_not_compared_with_one_of_other_settings(tmp_path: Path) -> None:
    run = run_of(tmp_path, [])
    run.make(("wide",), 1, Maker(run), lambda document: "")
    run.check_comparable(("wide", "slow"), [0, 1])
    other = dataclasses.replace(run, base=Recipe(width=5, seconds=2.0))
    told = (
        r"slow is compared with wide, which .*wide.seed1.json holds with other settings .*differs in width\)"
    )
    for seeds in ([0], [1], [0, 1]):
        with pytest.raises(ValueError, match=told):
            other.check_comparable(("slow",), seeds)
    run.make(("slow",), 0, Maker(run), lambda document: "")
    other.check_comparable(("slow",), [0])  # stored already, so nothing new is made


@pytest.mark.parametrize(("n", "wanted"), [(2, 12.706), (10, 2.262), (11, 2.228), (21, 2.086), (61, 2.000)])
def test_an_interval_takes_student_s_t_of_its_number_of_values(n: int, wanted: float) -> None:
    values = [float(i) for i in range(n)]
    _, half = mean_interval(values)
    assert half / (statistics.stdev(values) / math.sqrt(n)) == pytest.approx(wanted, abs=0.003)
