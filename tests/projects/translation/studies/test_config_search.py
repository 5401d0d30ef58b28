"""The search from the command line to its table: resumed, ordered by dev, and not stopped by one bad trial.

What a configuration search tries: combinations in order, draws within their ranges, mistakes named.
"""

import hashlib
import json
import random
import statistics
from pathlib import Path

import pytest

from coursepkg.projects.translation.corpora import load_parts
from coursepkg.projects.translation.evaluate import evaluate, translate_pairs
from coursepkg.projects.translation.models import count_parameters
from coursepkg.projects.translation.predict import Translator
from coursepkg.projects.translation.recipe import ADDED_SETTINGS
from coursepkg.projects.translation.studies.config_search import (
    Range,
    all_combinations,
    described,
    drawn,
    parse_fixed,
    parse_grid,
    parse_ranges,
    trial_key,
)
from tests.projects.translation.tiny import pairs, recipe, run_command, toy_parts, translation

SMALL = ["vocab-size=170", "d-model=16", "d-ff=32", "n-heads=2", "n-encoder-layers=1", "n-decoder-layers=1"]
SMALL += ["max-len=24", "batch-tokens=512", "warmup=5", "ema=0.5", "learning-rate=0.01"]


def search(out: Path, *arguments: str) -> int:
    given = ["--data", "zh-vi", "--max-epochs", "1", "--out", str(out), *arguments]
    return run_command("search", *given)


def fixed(*without: str) -> list[str]:
    return ["--set", *(one for one in SMALL if not one.startswith(without or ("-",)))]


def results(out: Path) -> list[dict]:
    return json.loads((out / "results.json").read_text("utf-8"))["trials"]


def stamps(out: Path) -> dict[str, int]:
    return {path.parent.name: path.stat().st_mtime_ns for path in out.glob("trials/*/trial.json")}


def test_a_grid_is_trained_sorted_and_not_trained_again(
    zh_vi: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "search"
    settings = fixed("d-model", "n-heads")
    assert search(out, "--grid", "d-model=16,24", "n-heads=2,3", *settings) == 0
    found = results(out)
    done = [one for one in found if "error" not in one]
    assert len(found) == 4
    assert len(done) == 2
    values = [one["scores"]["BLEU"]["value"] for one in done]
    assert found[:2] == done
    assert values == sorted(values, reverse=True)
    assert all(one["settings"]["n_heads"] == 3 and "n_kv_heads" in one["error"] for one in found[2:])
    assert all(one["epochs"] == 1 and one["stopped"] == "max_epochs" for one in done)
    table = (out / "results.md").read_text("utf-8")
    assert table in capsys.readouterr().out
    assert table.count("error: n_kv_heads must divide n_heads = 3, got 2") == 2
    assert table.index(f"{done[0]['parameters']:,}") < table.index("error: ")

    before = stamps(out)
    assert search(out, "--grid", "d-model=16,24,32", "n-heads=2", *settings) == 0
    after = stamps(out)
    assert len(after) == 3
    assert {key: after[key] for key in before} == before
    assert {one["settings"]["d_model"] for one in results(out)} == {16, 24, 32}


def test_a_trial_is_scored_on_the_whole_dev_part_as_its_model_scores(zh_vi: Path, tmp_path: Path) -> None:
    out = tmp_path / "search"
    assert search(out, "--grid", "dropout=0.1", *fixed()) == 0
    (trial,) = results(out)
    parts = load_parts("zh-vi", "zh", "vi")
    translator = Translator.load(out / "trials" / trial["key"])
    found, _ = translate_pairs(translator, parts.dev, "zh", "vi")
    lines = [one.n_best[0].line for one in found]
    again = evaluate(lines, parts.dev, "zh", "vi", protocol="zh-vi dev, beam 4", seen=parts.train)
    assert trial["scores"] == again.as_json()["scores"]
    assert f"n:{len(parts.dev)}/{len(parts.dev)}" in trial["scores"]["BLEU"]["signature"]
    assert trial["parameters"] == count_parameters(translator.model)
    assert trial["recipe"]["dropout"] == 0.1
    assert trial["machine"]["device"] in ("cpu", "cuda")


def test_a_trial_that_was_cut_off_begins_again(zh_vi: Path, tmp_path: Path) -> None:
    out = tmp_path / "search"
    assert search(out, "--grid", "dropout=0.1", *fixed()) == 0
    (first,) = results(out)
    (out / "trials" / first["key"] / "trial.json").unlink()
    assert search(out, "--grid", "dropout=0.1", *fixed()) == 0
    (again,) = results(out)
    lasting = {name for name in first if not name.endswith("seconds")} - {"machine", "commit", "peak_memory"}
    assert {"settings", "steps"} < lasting
    assert {name: again[name] for name in lasting} == {name: first[name] for name in lasting}


def test_random_search_follows_its_seed_and_a_search_without_a_result_says_so(
    zh_vi: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # Every trial asks for more subwords than the text has, so that nothing is trained.
    ranges = ["--random", "3", "--range", "vocab-size=50000..60000", "dropout=0.1..0.4", "--json"]
    tried = []
    for name, seed in (("a", "1"), ("b", "1"), ("c", "2")):
        assert search(tmp_path / name, *ranges, "--seed", seed, *fixed("vocab-size")) == 1
        document = json.loads(capsys.readouterr().out.splitlines()[-1])
        assert all("vocab_size must be at most" in one["error"] for one in document["trials"])
        tried.append([one["settings"] for one in document["trials"]])
    assert tried[0] == tried[1]
    assert tried[0] != tried[2]
    assert not list(tmp_path.glob("*/trials/*/trial.json"))


def test_a_trial_from_before_a_setting_is_still_the_same_trial() -> None:
    described = recipe().described()
    for later in ADDED_SETTINGS:
        del described[later]
    decides = [described, "toy", "zh", "vi", 240, 0]
    wanted = hashlib.sha256(json.dumps(decides, sort_keys=True).encode()).hexdigest()[:12]
    assert trial_key(recipe(), toy_parts(), 0) == wanted
    assert trial_key(recipe(reverse_fault="unswapped"), toy_parts(), 0) != wanted


def test_another_text_of_the_user_is_another_trial(tmp_path: Path) -> None:
    def key(sentence: str) -> str:
        rows = [f"{pair.source}\t{pair.target}" for pair in pairs("zh", "vi")[:40]]
        (tmp_path / "own.tsv").write_text("\n".join([sentence, *rows]) + "\n", "utf-8")
        return trial_key(recipe(), load_parts(str(tmp_path / "own.tsv"), "zh", "vi"), 0)

    assert key("你好\tXin chào") == key("你好\tXin chào") != key("你们好\tXin chào")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give settings to try"),
        (["--range", "dropout=0.1..0.4"], "--range needs --random N"),
        (["--grid", "dropout=0.1,0.2", "--set", "dropout=0.1"], "dropout is in two of"),
        (["--grid", "d-model=16,32", "--random", "2", "--range", "d-model=16..32"], "d-model is in two of"),
        (["--random", "-1"], "--random must be an integer of at least 0, got -1"),
        (["--grid", "dropout=0.1", "--max-seconds", "0"], "--max-seconds must be above 0"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    arguments: list[str], message: str, tmp_path: Path, zh_vi: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        search(tmp_path / "out", *arguments)
    except ValueError as reason:
        said = str(reason)
    except SystemExit:  # tyro prints what __post_init__ refuses
        said = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert message in said
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", [["search", "--grid", "dropout=0.1,0.2"], ["lm-train"], ["ladder"]])
def test_a_file_is_no_folder_of_runs(command: list[str], tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    said = translation(*command, "--out", tmp_path / "file")
    assert f"--out {tmp_path / 'file'} is a file; name a folder" in said.mistake


def test_values_take_the_kind_of_their_field() -> None:
    found = parse_fixed(
        ["d-model=128", "learning_rate=3e-4", "joint=off", "rope-cross=true", "architecture=gru"]
    )
    expected = {"d_model": 128, "learning_rate": 3e-4, "joint": False, "rope_cross": True}
    assert found == {**expected, "architecture": "gru"}
    assert [type(value) for value in found.values()] == [int, float, bool, bool, str]


def test_a_grid_is_every_combination_the_last_name_fastest() -> None:
    grid = parse_grid(["vocab-size=4000,8000", "d-model=192,256,320"])
    found = all_combinations(grid)
    assert [tuple(one.values()) for one in found] == [(v, d) for v in (4000, 8000) for d in (192, 256, 320)]
    assert all_combinations({}) == [{}]


def test_settings_are_written_as_they_are_read() -> None:
    settings = {"learning_rate": 0.0003271, "dropout": 0.25, "n_heads": 8, "joint": True, "subword": "bpe"}
    assert parse_fixed(described(settings).split()) == settings


def test_draws_stay_inside_and_reach_both_ends() -> None:
    ranges = parse_ranges(["n-heads=2..4", "dropout=0.1..0.4", "learning-rate=3e-4..3e-3:log"])
    found = drawn({"joint": [True, False]}, ranges, 200, seed=3)
    assert {one["n_heads"] for one in found} == {2, 3, 4}
    assert {one["joint"] for one in found} == {True, False}
    assert all(0.1 <= one["dropout"] <= 0.4 and 3e-4 <= one["learning_rate"] <= 3e-3 for one in found)
    assert all(isinstance(one["n_heads"], int) for one in found)
    assert len({tuple(one.values()) for one in found}) == 200


def test_a_logarithmic_range_gives_each_factor_its_share() -> None:
    state, one = random.Random(0), Range(1e-4, 1e-2, log=True)
    values = [one.draw(state) for _ in range(2000)]
    assert statistics.median(values) == pytest.approx(1e-3, rel=0.15)
    assert sum(value < 10**-3.5 for value in values) / 2000 == pytest.approx(0.25, abs=0.04)
    evenly = [Range(1e-4, 1e-2).draw(state) for _ in range(2000)]
    assert statistics.median(evenly) == pytest.approx(5e-3, rel=0.1)


def test_an_integer_range_on_a_logarithmic_scale_gives_integers() -> None:
    state, one = random.Random(0), Range(100, 10000, log=True)
    values = [one.draw(state) for _ in range(500)]
    assert all(isinstance(value, int) and 100 <= value <= 10000 for value in values)
    assert 700 < statistics.median(values) < 1400


def test_draws_follow_the_seed_and_a_longer_search_begins_like_a_shorter_one() -> None:
    ranges = parse_ranges(["dropout=0.1..0.4"])
    longer = drawn({"d_model": [64, 128]}, ranges, 12, seed=5)
    assert drawn({"d_model": [64, 128]}, ranges, 5, seed=5) == longer[:5]
    assert drawn({"d_model": [64, 128]}, ranges, 12, seed=6) != longer


def test_more_draws_than_combinations_are_refused() -> None:
    assert len(drawn({"n_heads": [2, 4], "joint": [True, False]}, {}, 4, seed=0)) == 4
    with pytest.raises(ValueError, match=r"--random 5: only 4 different combinations"):
        drawn({"n_heads": [2, 4], "joint": [True, False]}, {}, 5, seed=0)


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (parse_grid, "vocab-sise=4000", r"--grid vocab-sise: no setting of a recipe; use one of vocab-size"),
        (parse_grid, "vocab-size", r"--grid takes name=value, got 'vocab-size'"),
        (parse_grid, "vocab-size=4k,8k", r"--grid vocab-size must be an integer, got '4k'"),
        (parse_grid, "vocab-size=4000,4000", r"--grid vocab-size must have different values"),
        (parse_fixed, "joint=maybe", r"--set joint must be true or false, got 'maybe'"),
        (parse_fixed, "dropout=", r"--set takes name=value"),
        (parse_ranges, "dropout=0.1", r"--range dropout=0.1: write low..high"),
        (parse_ranges, "dropout=0.1..0.4:linear", r"write low..high or low..high:log"),
        (parse_ranges, "joint=0..1", r"for a setting that is a number"),
        (parse_ranges, "dropout=0.4..0.1", r"from a smaller to a larger number"),
        (parse_ranges, "dropout=0..0.1:log", r"must be above 0 for :log"),
        (parse_ranges, "dropout=nan..0.1", r"from a smaller to a larger number"),
    ],
)
def test_a_mistake_is_named(parse, text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse([text])


def test_a_name_twice_is_refused() -> None:
    with pytest.raises(ValueError, match="--grid d-model is given twice"):
        parse_grid(["d-model=64", "d_model=128"])
