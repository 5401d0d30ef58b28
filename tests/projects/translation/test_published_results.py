"""Stored rows: never overwritten, held against the right row, in a table and a picture.

The stored numbers: found beside the checkout, chosen by name, shown as a table; no sentence among them.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from coursepkg.files import read_json
from coursepkg.projects.translation.evaluate import Evaluation, compare_systems
from coursepkg.projects.translation.predict import DEFAULT
from coursepkg.projects.translation.published_results import (
    RESULTS,
    add_comparison,
    check_same_recipe,
    differences_to,
    evaluation_table,
    keep_sentences,
    ladder_figure,
    ladder_table,
    pretraining_table,
    read_ladder,
    read_row,
    store_row,
    stored_documents,
    stored_rows,
)
from coursepkg.projects.translation.recipe import Recipe
from tests.projects.translation.tiny import SmallBook, fast, quietly, translation


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with one row of the ladder and nothing else."""
    monkeypatch.setattr("coursepkg.app.published_results.PACKAGE", tmp_path / "checkout" / "coursepkg")
    results = tmp_path / "checkout" / "book" / "_data" / "translation"
    results.mkdir(parents=True)
    monkeypatch.setattr("coursepkg.app.published_results.CHECKOUT", results.parent)
    return results


def test_where_nothing_is_stored_nothing_is_found(folder: Path) -> None:
    folder.rmdir()
    assert RESULTS.folder() is None
    assert stored_rows() == []
    assert stored_documents("t5") == {}


def test_rows_are_chosen_by_name_and_conditions(folder: Path) -> None:
    row = {"seed": 0, "changes": {}, "recipe": {}, "machine": {}}
    for conditions, name, scores in (
        ("zh-vi_zh2vi_plain_1s_cpu", "modern", {"BLEU": {"value": 3.0}}),
        ("zh-vi_zh2vi_plain_1s_cpu", "sam", {}),
        ("en-vi_en2vi_plain_1s_cpu", "modern", {"BLEU": {"value": 4.0}}),
    ):
        (folder / conditions).mkdir(exist_ok=True)
        document = row | {"format": 1, "row": name, "conditions": conditions, "scores": scores}
        (folder / conditions / f"{name}.seed0.json").write_text(json.dumps(document))
    assert [one["row"] for one in stored_rows()] == ["modern"]
    assert stored_rows("sam") == []
    assert [one["scores"]["BLEU"]["value"] for one in stored_rows("modern", conditions="en-vi")] == [4.0]


def test_an_evaluation_is_a_row_of_the_table(folder: Path, small_book: SmallBook, tmp_path: Path) -> None:
    run, out = tmp_path / "run", tmp_path / "evaluated"
    quietly(fast(max_epochs=1), run)
    assert translation("evaluate", "--model", run, "--data", "phrasebook", "--out", out).code == 0
    (folder / "evaluations").mkdir()
    document = (out / "evaluation.json").read_bytes()
    (folder / "evaluations" / "zh-vi_one.json").write_bytes(document)
    found = stored_documents("evaluations", "zh-vi")
    assert stored_documents("evaluations", "en-vi") == {}
    table = evaluation_table(found).splitlines()
    assert len(table) == 3
    value = json.loads(document)["scores"]["BLEU"]["value"]
    assert "zh-vi_one" in table[2]
    assert f"{value:.2f}" in table[2]
    assert "beam 4" in table[2]
    assert found["zh-vi_one"]["training"]["calls"][0]["stopped"] == "max_epochs"


def test_what_pretraining_brought_is_a_mean_over_seeds_with_its_interval() -> None:
    def run(loss: float, chrf: float) -> dict[str, Any]:
        return {"dev_loss": loss, "scores": {"chrF": {"value": chrf}}}

    losses = ((6.0, 5.0), (6.2, 5.1), (6.4, 5.5))
    rows: list[dict[str, Any]] = [
        {"pairs": 1000, "seed": seed, "from nothing": run(a, 4), "pre-trained": run(b, 7)}
        for seed, (a, b) in enumerate(losses)
    ]
    rows.append({"pairs": 4000, "seed": 0, "from nothing": run(5, 10), "pre-trained": run(4, 12)})
    head, _, few, many = pretraining_table({"rows": rows}).splitlines()
    assert "dev loss: random" in head
    cells = [cell.strip() for cell in few.strip("|").split("|")]
    # The changes are -1, -1.1 and -0.9: a mean of -1, s = 0.1, and t = 4.303 for two degrees of freedom.
    assert cells == [
        "1,000",
        "3",
        "6.20",
        "5.20",
        "-1.00 [-1.25, -0.75]",
        "4.00",
        "7.00",
        "+3.00 [+3.00, +3.00]",
    ]
    assert [cell.strip() for cell in many.strip("|").split("|")][-1] == "+2.00, one seed"


def test_the_files_that_ship_hold_numbers_and_no_sentence() -> None:
    for kind in ("evaluations", "t5"):
        for name, document in stored_documents(kind).items():
            texts = [text for text in _texts(document) if len(text.split()) > 12]
            assert not [text for text in texts if not text.isascii()], name


def _texts(value: object) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        return [text for one in value.values() for text in _texts(one)]
    return [text for one in value for text in _texts(one)] if isinstance(value, list) else []


REFERENCES = ("tôi thích quyển sách này .", "anh ấy mua hai quả táo .", "cô giáo đi đến trường .") * 4


def document(row: str, value: float, *, seed: int = 0, **changes: Any) -> dict[str, Any]:
    signature = f"BLEU|n:900/900|data:{changes.pop('data', 'abc')}|version:1"
    score = {"value": value, "signature": signature, "interval": [value - 1, value + 1]}
    given = {
        "row": row,
        "seed": seed,
        "conditions": "zh-vi_zh2vi_small_480s_cpu",
        "builds_on": "" if row == "modern" else "modern",
        "changes": {},
        "start": "",
        "preparation": "",
        "decoding": "",
        "recipe": {"max_seconds": 480.0},
        "parameters": 8_246_784,
        "steps": 400,
        "seconds": 481.0,
        "scores": {"BLEU": score},
        "machine": {"name": "CPU", "threads": 2},
    }
    return given | changes


def row_file(results: Path, conditions: str, row: str, seed: int) -> Path:
    return results / conditions / f"{row}.seed{seed}.json"


def evaluation(hypotheses: tuple[str, ...], references: tuple[str, ...] = REFERENCES) -> Evaluation:
    return Evaluation("zh", "vi", {}, None, (0, 0), 0, (0, 0), (), hypotheses, references, ())


def cells(table: str, name: str) -> list[str]:
    line = next(line for line in table.splitlines() if line.startswith(f"| {name} "))
    return [cell.strip() for cell in line.strip("|").split("|")]


def test_the_stored_curve_ends_with_the_model_that_ships() -> None:
    curve, card = RESULTS.document("learning_curve"), read_json(DEFAULT / "model" / "model.json")["meta"]
    assert curve is not None
    last = curve["stages"][-1]
    assert (last["steps"], last["dev_bleu"]) == (card["steps"], card["dev_bleu"])
    for stage in curve["stages"]:
        steps = [row["step"] for row in stage["rows"]]
        assert steps == [
            *range(curve["steps_a_point"], stage["steps"], curve["steps_a_point"]),
            stage["steps"],
        ]
        assert stage["rows"][-1]["loss"] < stage["rows"][0]["loss"]


def test_rows_come_back_in_the_order_of_the_ladder_and_are_not_overwritten(tmp_path: Path) -> None:
    for row, seed in (("r-drop", 0), ("own-idea", 0), ("modern", 1), ("modern", 0)):
        one = document(row, 30.0, seed=seed)
        store_row(row_file(tmp_path, one["conditions"], row, seed), one)
    found = [(row["row"], row["seed"]) for row in read_ladder(tmp_path)]
    assert found == [("modern", 0), ("modern", 1), ("r-drop", 0), ("own-idea", 0)]
    path = row_file(tmp_path, document("modern", 30.0)["conditions"], "modern", 0)
    before = path.read_bytes()
    with pytest.raises(
        ValueError, match=r"modern.seed0.json already exists; a stored row is not overwritten"
    ):
        store_row(path, document("modern", 31.0))
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", ["", "{", '{"format": 1, "row": "modern"}'])
def test_a_damaged_row_is_named(tmp_path: Path, content: str) -> None:
    (tmp_path / "conditions").mkdir()
    path = tmp_path / "conditions" / "modern.seed0.json"
    path.write_text(content, "utf-8")
    with pytest.raises(ValueError, match=r"modern.seed0.json is damaged"):
        read_ladder(tmp_path)


def test_a_row_is_the_same_if_its_recipe_is_whatever_settings_came_later() -> None:
    recipe = Recipe(dropout=0.2)
    old = {name: value for name, value in recipe.described().items() if name != "length_penalty"}
    check_same_recipe(Path("row.json"), {"recipe": old | {"no_longer_there": 3}}, recipe)
    for other, name in ((Recipe(), "dropout"), (Recipe(dropout=0.2, length_penalty=0.6), "length_penalty")):
        with pytest.raises(ValueError, match=rf"row.json holds this row .* \(it differs in {name}\)"):
            check_same_recipe(Path("row.json"), {"recipe": old}, other)


def test_a_row_from_before_the_negative_control_had_no_fault() -> None:
    recipe = Recipe(reverse=1.0)
    old = {name: value for name, value in recipe.described().items() if name != "reverse_fault"}
    check_same_recipe(Path("row.json"), {"recipe": old}, recipe)
    with pytest.raises(ValueError, match=r"it differs in reverse_fault\)"):
        check_same_recipe(Path("row.json"), {"recipe": old}, Recipe(reverse=1.0, reverse_fault="unswapped"))


def test_a_comparison_is_added_once_and_only_on_equal_sentences(tmp_path: Path) -> None:
    worse = tuple(line.replace("thích", "mua") for line in REFERENCES)
    runs = {"below": evaluation(worse), "own": evaluation(REFERENCES)}
    runs["apart"] = evaluation(REFERENCES[:6], REFERENCES[:6])
    for name, result in runs.items():
        (tmp_path / name).mkdir()
        keep_sentences(tmp_path / name, result)
    path = row_file(tmp_path / "results", "c", "r-drop", 0)
    one = document("r-drop", 100.0)
    store_row(path, one)
    add_comparison(path, "modern", tmp_path / "own", tmp_path / "nothing")
    add_comparison(path, "modern", tmp_path / "own", tmp_path / "apart")
    assert "against" not in read_row(path)
    add_comparison(path, "modern", tmp_path / "own", tmp_path / "below")
    wanted = compare_systems(runs["below"], runs["own"])
    found = read_row(path)
    assert found["against"]["difference"] == pytest.approx(100.0 - wanted.baseline)
    assert found["against"]["difference"] > 0
    assert found["against"]["p_value"] == wanted.p_value
    assert {name: value for name, value in found.items() if name not in ("against", "format")} == one
    add_comparison(path, "modern", tmp_path / "below", tmp_path / "own")
    assert read_row(path) == found
    assert not any(line in path.read_text("utf-8") for line in (*worse, *REFERENCES))


def test_equal_outputs_are_no_difference(tmp_path: Path) -> None:
    for name in ("below", "own"):
        (tmp_path / name).mkdir()
        keep_sentences(tmp_path / name, evaluation(REFERENCES))
    path = row_file(tmp_path / "results", "c", "r-drop", 0)
    store_row(path, document("r-drop", 100.0))
    add_comparison(path, "modern", tmp_path / "own", tmp_path / "below")
    assert (read_row(path)["against"]["difference"], read_row(path)["against"]["p_value"]) == (0.0, 1.0)


def test_differences_are_taken_seed_by_seed_on_equal_sentences() -> None:
    below = [document("modern", value, seed=seed) for seed, value in ((0, 30.0), (1, 32.0), (2, 99.0))]
    row = [document("r-drop", value, seed=seed) for seed, value in ((1, 33.0), (0, 32.0), (3, 0.0))]
    assert sorted(differences_to(row, below)) == [1.0, 2.0]
    assert differences_to([document("random-split", 60.0, data="other")], below) == []
    assert differences_to(row, []) == []


def test_the_table_shows_intervals_of_the_difference_and_the_range_of_several_seeds() -> None:
    against = {"row": "modern", "seed": 0, "interval": [0.5, 2.5], "p_value": 0.012}
    rows = [document("modern", 30.0), document("modern", 32.0, seed=1)]
    rows += [document("r-drop", 31.5, against=against), document("random-split", 60.0, data="other")]
    rows += [document("sam", value, seed=seed) for seed, value in ((0, 31.0), (1, 31.5))]
    table = ladder_table(rows)
    assert cells(table, "modern")[1:] == [
        "2",
        "8,246,784",
        "400",
        "481",
        "31.00 (30.00 to 32.00)",
        "",
        "",
        "",
    ]
    assert cells(table, "r-drop")[5:] == ["31.50 [30.50, 32.50]", "modern", "+1.50 [+0.50, +2.50]", "0.012"]
    assert cells(table, "sam")[6:] == ["modern", "+0.25 [-9.28, +9.78]", ""]
    assert cells(table, "random-split")[6:] == ["modern", "other sentences", ""]
    assert len({len(line) for line in table.splitlines() if line.startswith("|")}) == 1


def test_rows_of_other_conditions_are_not_held_against_one_another() -> None:
    rows = [document("modern", 30.0), document("r-drop", 31.0, conditions="zh-vi_zh2vi_small_3000s_cpu")]
    table = ladder_table(rows)
    assert table.count("| row ") == 2
    assert cells(table, "r-drop")[7:] == ["", ""]
    with pytest.raises(ValueError, match="conditions must be one of zh-vi_zh2vi_small_480s_cpu, zh-vi_"):
        ladder_figure(rows)
    assert ladder_figure(rows, conditions="zh-vi_zh2vi_small_3000s_cpu").axes[0].get_yticks().tolist() == [0]


def test_the_picture_puts_each_row_at_its_score() -> None:
    import matplotlib

    matplotlib.use("Agg")
    rows = [document("modern", 30.0), document("modern", 32.0, seed=1), document("r-drop", 33.5)]
    rows += [document("continued", 34.0, start="both-ways"), document("beam-1", 29.0, decoding="search")]
    figure = ladder_figure(rows)
    (axis,) = figure.axes
    assert [tick.get_text() for tick in axis.get_yticklabels()] == ["modern", "r-drop", "continued", "beam-1"]
    dots = [container.lines[0].get_xydata()[0].tolist() for container in axis.containers]
    assert dots == [[31.0, 0.0], [33.5, 1.0], [34.0, 2.0], [29.0, 3.0]]
    bars = [container.lines[2][0].get_segments()[0][:, 0].tolist() for container in axis.containers]
    assert bars == [[30.0, 32.0], [32.5, 34.5], [33.0, 35.0], [28.0, 30.0]]
    undecided = [f"{value} (undecided)" for value in (33.5, 34.0, 29.0)]  # of one seed each
    assert [text.get_text() for text in axis.texts] == ["31.0", *undecided]
    assert len({container.lines[0].get_color() for container in axis.containers}) == 3
    figure.canvas.draw()
    with pytest.raises(ValueError, match="there is no stored row"):
        ladder_figure([])
