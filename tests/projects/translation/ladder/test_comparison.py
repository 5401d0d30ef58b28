"""Two kinds of fairness: verdicts by intervals over seeds, equally many steps, a table and learning curves."""

import json
from pathlib import Path
from typing import Any

import matplotlib
import pytest

from coursepkg.app.ladder import verdict
from coursepkg.projects.translation.ladder.comparison import (
    change_at_equal_steps,
    change_between_parts,
    comparison_table,
    equal_steps,
    learning_curves,
    verdict_lines,
    verdicts,
)
from coursepkg.projects.translation.published_results import RESULTS, ladder_table, read_ladder
from coursepkg.projects.translation.studies.measured_run import Curve
from tests.projects.translation.test_published_results import document

matplotlib.use("Agg")


def curve(*bleu: float, every: int = 100) -> Curve:
    return {"steps": [every * (i + 1) for i in range(len(bleu))], "bleu": list(bleu)}


def converged(row: str, value: float, **changes: Any) -> dict[str, Any]:
    given = {"conditions": "zh-vi_zh2vi_small_converged_cpu", "converged": True, "curve": curve(1.0, value)}
    return document(
        row, value, **(given | {"cpu_seconds": 50.0, "timed_steps": 200, "steps_taken": 200} | changes)
    )


def seeds(row: str, *values: float, make: Any = converged, **changes: Any) -> list[dict[str, Any]]:
    return [make(row, value, seed=seed, **changes) for seed, value in enumerate(values)]


@pytest.mark.parametrize(
    ("interval", "n", "word"),
    [
        ((0.1, 2.0), 3, "up"),
        ((-2.0, -0.1), 2, "down"),
        ((-0.1, 2.0), 3, "undecided"),
        ((0.0, 2.0), 3, "undecided"),
        ((0.5, 2.0), 1, "undecided"),
        (None, 3, "undecided"),
    ],
)
def test_a_verdict_needs_an_interval_without_0_over_seeds(
    interval: tuple[float, float] | None, n: int, word: str
) -> None:
    assert verdict(interval, n) == word


def test_one_seed_is_undecided_whatever_its_bootstrap_says() -> None:
    against = {"row": "modern", "seed": 0, "interval": [0.5, 2.5], "p_value": 0.001}
    rows = [document("modern", 30.0), document("r-drop", 31.5, against=against)]
    (change,) = verdicts(rows).values()
    assert (change.value, change.interval, change.verdict) == (1.5, (0.5, 2.5), "undecided")
    assert verdict_lines(rows) == [
        "up: none",
        "undecided: r-drop +1.50 [+0.50, +2.50] against modern",
        "down: none",
    ]


def test_several_seeds_decide_by_students_t_over_their_differences() -> None:
    rows = (
        seeds("modern", 30.0, 31.0, 32.0) + seeds("r-drop", 32.0, 33.1, 33.9) + seeds("sam", 33.0, 30.0, 32.0)
    )
    rows += seeds("span-mask", 20.0, 21.2, 21.9) + seeds("random-split", 60.0, 61.0, data="other")
    told = verdicts(rows)
    assert {name: change.verdict for name, change in told.items()} == {
        "r-drop": "up",
        "sam": "undecided",
        "span-mask": "down",
    }
    # 2.0, 2.1 and 1.9: t of two degrees of freedom, 4.303, times 0.1 / sqrt(3).
    assert told["r-drop"].interval == pytest.approx((2.0 - 0.2484, 2.0 + 0.2484), abs=1e-3)


def test_an_unfinished_row_says_so_wherever_it_is_shown() -> None:
    rows = seeds("modern", 30.0, 31.0) + seeds("r-drop", 33.0, 34.0, converged=False)
    assert verdict_lines(rows)[-1].startswith("unfinished: r-drop +3.00")
    table = comparison_table([], rows)
    assert "34.00" not in table
    assert ", 2 seeds, unfinished" in table
    assert "| r-drop (unfinished) |" in ladder_table(rows)
    figure = learning_curves(rows)
    assert "r-drop (unfinished)" in [text.get_text() for text in figure.legends[0].get_texts()]


def test_equal_steps_are_read_at_the_largest_common_number() -> None:
    longer, shorter = (
        converged("a", 3.0, curve=curve(1.0, 3.0, 2.0, 5.0)),
        converged("b", 4.0, curve=curve(4.0, every=250)),
    )
    # At 250 steps between 200 and 300: the best so far is 3.0 at both, though 2.0 came then.
    assert equal_steps([longer, shorter]) == (250, [3.0, 4.0])
    shorter["curve"] = curve(4.0, every=350)
    assert equal_steps([longer, shorter]) == (350, [4.0, 4.0])
    with pytest.raises(
        ValueError, match=r"^equal steps need rows with learning curves, but modern has none$"
    ):
        equal_steps([longer, document("modern", 1.0)])


def test_changes_at_equal_steps_take_the_seeds_of_both_rows() -> None:
    below = seeds("modern", 30.0, 31.0, 32.0, curve=curve(10.0, 20.0))
    row = [*seeds("r-drop", 40.0, 41.0, curve=curve(11.0, 23.0, 40.0)), document("r-drop", 9.0, seed=2)]
    found = change_at_equal_steps(row, below)
    assert found is not None
    steps, change = found
    assert (steps, change.value, change.n_seeds, change.verdict) == (200, 3.0, 2, "up")
    assert change_at_equal_steps(row[:1], below)[1].verdict == "undecided"
    assert change_at_equal_steps(row[2:], below) is None
    assert change_at_equal_steps(seeds("random-split", 50.0, data="other"), below) is None
    continued = seeds("continued", 40.0, curve=curve(38.0, 40.0), start="modern")
    assert change_at_equal_steps(continued, below) is None
    contrastive = seeds("contrastive", 41.0, curve=curve(39.0, 41.0), start="modern")
    assert change_at_equal_steps(contrastive, continued)[1].value == 1.0


def test_rows_on_different_sentences_differ_by_their_means_with_welchs_interval() -> None:
    row, other = seeds("random-split", 40.0, 42.0, 44.0, data="other"), seeds("modern", 30.0, 31.0, 32.0)
    found = change_between_parts(row, other)
    # Standard deviations of 2 and 1; t of two degrees of freedom is 4.303.
    half = 4.303 * (2.0**2 / 3 + 1.0**2 / 3) ** 0.5
    assert found.interval == pytest.approx((11.0 - half, 11.0 + half))
    assert (found.value, found.n_seeds, found.against, found.verdict) == (11.0, 3, "modern", "up")
    single = change_between_parts(row[:1], other)
    assert (single.value, single.interval, single.verdict) == (9.0, None, "undecided")


def test_a_table_of_two_corpora_names_them() -> None:
    timed = [document("modern", 30.0)]
    conditions = "tatoeba_en2vi_tiny_converged_cpu"
    head = comparison_table(timed, seeds("modern", 30.0, 31.0, conditions=conditions)).splitlines()[0]
    assert "| zh-vi zh2vi small, 8 minutes: BLEU" in head
    assert "| tatoeba en2vi tiny, converged: BLEU" in head


def test_the_table_puts_time_enough_beside_equal_time() -> None:
    timed = [document("modern", 30.0), document("r-drop", 29.0), document("random-split", 60.0, data="other")]
    rows = seeds("modern", 30.0, 31.0, 32.0) + seeds("r-drop", 32.0, 33.1, 33.9)
    head, _, *lines = comparison_table(timed, rows).splitlines()
    assert "| 8 minutes: BLEU" in head
    short = [row | {"recipe": row["recipe"] | {"max_seconds": 60.0}} for row in timed]
    assert "| 1 minute: BLEU" in comparison_table(short, rows)
    assert "| equal time: BLEU" in comparison_table([timed[0], short[1]], rows)
    found = {line.split("|")[1].strip(): [cell.strip() for cell in line.split("|")[2:-1]] for line in lines}
    assert found["modern"][0:3] == ["", "30.00 [29.00, 31.00]", ""]
    assert found["modern"][3] == "31.00 [28.52, 33.48], 3 seeds"
    assert found["r-drop"][:3] == ["modern", "29.00 [28.00, 30.00]", "-1.00, undecided"]
    assert found["r-drop"][4:] == ["+2.00 [+1.75, +2.25], up", "+2.00 [+1.75, +2.25] at 200, up"]
    assert found["random-split"][1:] == ["60.00 [59.00, 61.00]", "other sentences", *[""] * 3]
    with pytest.raises(ValueError, match="rows must be of the same conditions, got zh-vi_zh2vi_small_4"):
        comparison_table([*timed, *rows], rows)


def test_curves_are_drawn_by_step_and_by_second() -> None:
    rows = seeds("modern", 30.0, 31.0, curve=curve(1.0, 2.0, 3.0)) + seeds("r-drop", 32.0)
    timed = [document("modern", 2.5, steps_taken=250)]
    axis = learning_curves([*rows, document("sam", 1.0)], timed=timed).axes[0]
    lines = [line.get_xydata().tolist() for line in axis.lines]
    assert lines[0] == [[100.0, 1.0], [200.0, 2.0], [300.0, 3.0]]
    assert lines[1] == [[250.0, 2.5]]  # where the clock stopped seed 0
    assert len(lines) == 4
    (*_, last) = learning_curves(rows, by="cpu_seconds").axes[0].lines
    assert last.get_xydata().tolist() == [[25.0, 1.0], [50.0, 32.0]]
    with pytest.raises(ValueError, match="rows must have learning curves of 1 to 7 names, got 0"):
        learning_curves([document("modern", 1.0)])
    with pytest.raises(ValueError, match="modern has no timed steps; draw it by steps"):
        learning_curves([converged("modern", 1.0, timed_steps=0)], by="cpu_seconds")
    with pytest.raises(ValueError, match="by must be one of steps, cpu_seconds, got 'epochs'"):
        learning_curves(rows, by="epochs")


def test_rows_from_before_the_curves_still_load_and_are_undecided(tmp_path: Path) -> None:
    folder = RESULTS.folder()
    assert folder is not None
    stored = json.loads(next(folder.glob("*480s*/r-drop.seed0.json")).read_text("utf-8"))
    stored.pop("curve", None)
    place = tmp_path / stored["conditions"]
    place.mkdir()
    (place / "r-drop.seed0.json").write_text(json.dumps(stored), "utf-8")
    rows = [row for row in read_ladder(folder) if "480s" in row["conditions"]]
    assert [row["row"] for row in read_ladder(tmp_path)] == ["r-drop"]
    assert {change.verdict for change in verdicts(rows).values()} <= {"up", "down", "undecided"}
    single = {row["row"] for row in rows} - {row["row"] for row in rows if row["seed"]}
    told = verdicts(rows)
    assert all(told[name].verdict == "undecided" for name in single if name in told)
    assert "undecided" in comparison_table(rows, [])
