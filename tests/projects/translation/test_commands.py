"""`coursepkg translation`: its verbs, exit codes, JSON as the last line, one line for a mistake."""

import json
import shutil
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest

from coursepkg.bench.machine import circumstances
from coursepkg.cli import COMMANDS, Group
from tests.projects.translation.tiny import environment, sentences, translation, write_lines

GROUP = COMMANDS["translation"]
assert isinstance(GROUP, Group)
SIZES = ["--d-model", "16", "--d-ff", "32", "--n-heads", "2", "--n-kv-heads", "1"]
LAYERS = ["--n-encoder-layers", "1", "--n-decoder-layers", "1"]
QUICK = [*SIZES, *LAYERS, "--vocab-size", "170", "--max-epochs", "1", "--underscores", "keep"]


@pytest.mark.parametrize("verb", sorted(GROUP.verbs))
def test_every_verb_has_its_own_help(verb: str) -> None:
    said = translation(verb, "--help")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"usage: coursepkg translation {verb}")


def test_the_help_of_the_group_lists_the_verbs() -> None:
    said = translation("--help")
    assert said.code == 0
    for name, verb in GROUP.verbs.items():
        assert f"  {name} " in said.out
        assert verb.summary in said.out


def test_describe_prints_the_size_of_the_baseline(zh_vi: Path) -> None:
    for preset, size in (("gru-baseline", 919_992), ("report", 157_179_200)):
        said = translation("describe", "--preset", preset, "--json")
        assert said.code == 0
        assert said.document["parameters"] == size
        assert f"parameters: {size:,}" in said.out
        assert said.document["corpus"] == "zh-vi"
        assert sum(said.document["pairs"].values()) == 240


def test_a_description_goes_into_a_file_as_well(zh_vi: Path, tmp_path: Path) -> None:
    said = translation("describe", "--data", "zh-vi", "--json", "--out", tmp_path / "describe.json")
    assert json.loads((tmp_path / "describe.json").read_text("utf-8")) == said.document


def test_the_audit_finds_no_leak_in_our_split_and_exits_1_on_a_random_one(zh_vi: Path) -> None:
    said = translation("audit", "--json")
    assert said.code == 0
    assert said.document["corpus"] == "zh-vi"
    for language in ("zh", "vi"):
        path = zh_vi / "zh_vi" / f"train.{language}"
        lines = path.read_text("utf-8").splitlines()
        # Each Chinese sentence has two translations, so a random split parts many groups.
        again = lines[:240] if language == "zh" else [f"Vâng {line}" for line in lines[:240]]
        write_lines(path, [*lines, *again])
    assert translation("audit").code == 0
    assert translation("audit", "--random-split").code == 1


def test_train_then_resume_then_evaluate(zh_vi: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    train = ["train", "--data", "zh-vi", "--out", out, *QUICK, "--contest-rules", "--json"]
    said = translation(*train)
    assert said.code == 0
    assert said.document["card"]["directions"] == [["zh", "vi"]]
    assert said.document["card"]["contest_rules"] is True
    assert "holds a run already; add --resume" in translation(*train).err
    assert translation(*train, "--resume").document["card"]["steps"] == said.document["card"]["steps"]
    scored = translation("evaluate", "--model", out, "--data", "zh-vi", "--out", tmp_path / "eval", "--json")
    assert scored.document["scores"]["BLEU"]["value"] == said.document["dev"]["scores"]["BLEU"]["value"]
    stored = json.loads((tmp_path / "eval" / "evaluation.json").read_text("utf-8"))
    assert stored == scored.document
    run = json.loads((out / "recipe.json").read_text("utf-8"))
    assert (stored["model"], stored["recipe"], stored["seed"]) == ("run", run["recipe"], run["seed"])
    assert stored["training"]["corpora"] == ["zh-vi"]
    assert stored["search"]["beam_size"] == run["recipe"]["beam_size"]
    here = circumstances()
    assert stored["versions"] == here["versions"]
    assert stored["machine"]["name"] == here["machine"]["name"]
    assert stored.keys() >= here.keys()
    assert len((tmp_path / "eval" / "hypotheses.txt").read_text("utf-8").splitlines()) == scored.document["n"]


def test_predict_says_alternatives_and_alignments(tiny_run: Path) -> None:
    text = "你们看见三只猫。"
    said = translation(
        "predict", "--model", tiny_run, "--text", text, "--n-best", "2", "--alignments", "--json"
    )
    (one,) = said.document
    assert (one["source"], one["text"]) == (text, "Các bạn nhìn thấy ba con mèo.")
    assert len(one["n_best"]) == 2
    assert len(one["alignment"]) == len(one["tokens"])
    assert translation("predict", "--model", tiny_run, "--text", text).out == one["text"] + "\n"


def test_text_in_another_unicode_form_is_said_and_composed(tiny_run: Path) -> None:
    composed = "你们看见三只猫\u00e9。"
    there = translation("predict", "--model", tiny_run, "--text", composed)
    split = translation("predict", "--model", tiny_run, "--text", unicodedata.normalize("NFD", composed))
    assert split.out == there.out
    assert there.err == ""
    assert split.err == "note: sentence 1: not in Unicode form NFC; composed before translating\n"


def test_systems_are_compared_on_files_too(zh_vi: Path, tiny_run: Path, tmp_path: Path) -> None:
    evaluate = ["evaluate", "--model", tiny_run, "--data", "zh-vi", "--limit", "4", "--json"]
    mine = translation(*evaluate, "--out", tmp_path / "eval")
    assert mine.document["n"] == 4
    said = translation(*evaluate, "--against", tmp_path / "eval" / "hypotheses.txt")
    assert said.code == 0
    assert "against" in said.document
    theirs = translation(*evaluate, "--hypotheses", tmp_path / "eval" / "hypotheses.txt", "--beam-size", "2")
    # Nothing is known of what wrote a file; the machine that scored it is.
    assert theirs.document["model"] == "file hypotheses.txt"
    assert theirs.document["scores"]["BLEU"]["value"] == mine.document["scores"]["BLEU"]["value"]
    assert not theirs.document.keys() & {"recipe", "seed", "search"}
    assert theirs.document["versions"] == mine.document["versions"]
    short = write_lines(tmp_path / "short", ["a"])
    assert translation(*evaluate, "--against", short).code == 2


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["predict", "--text", "Hi", "--from", "en"], "does not translate English into Vietnamese"),
        (["predict"], "give either --text SENTENCE... or --file FILE"),
        (["predict", "--text", "Hi", "--form", "scored"], "--form scored goes with --file"),
        (["predict", "--file", "nowhere.zh"], "--file needs --out FILE"),
        (["predict", "--file", "nowhere.zh", "--out", "nowhere/out"], "the folder does not exist"),
        (
            ["predict", "--file", "nowhere.zh", "--out", "out"],
            "nowhere.zh: no such file; give the path of a UTF-8 file",
        ),
        (["predict", "--text", "我", "--to", "fr"], "--to"),
        (["predict", "--text", "我", "--beam-size", "0"], "beam_size"),
        (["evaluate", "--data", "wmt"], "--data must be auto or one of"),
        (["export"], "--out FOLDER must be given"),
    ],
)
def test_a_mistake_gets_one_line(
    tiny_run: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], part: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert part in translation(*arguments, "--model", tiny_run).mistake
    assert not list(tmp_path.iterdir())


def test_a_confidence_is_never_written_into_the_package() -> None:
    assert "--model FOLDER is needed" in translation("calibrate").mistake


def test_a_bad_recipe_or_corpus_is_refused_before_a_folder_is_made(zh_vi: Path, tmp_path: Path) -> None:
    train = ["train", "--data", "zh-vi", "--out", tmp_path / "run"]
    assert "--dropout must be in [0, 1), got 2.0" in translation(*train, "--dropout", "2").mistake
    assert "--preset" in translation(*train, "--preset", "huge").mistake
    path = zh_vi / "zh_vi" / "train.vi"
    path.write_bytes(path.read_bytes() + b"more\n")
    assert "line i of one must translate line i of the other" in translation(*train).mistake
    assert not (tmp_path / "run").exists()


def test_in_a_process_of_its_own_a_file_killed_half_way_goes_on(tiny_run: Path, tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.zh", [row[0] for row in sentences()[:200]] * 4)
    options = ["--model", str(tiny_run), "--file", str(source), "--beam-size", "1"]
    command = [sys.executable, "-m", "coursepkg", "translation", "predict", *options]
    out, environ = tmp_path / "out", environment(tmp_path / "none")
    with subprocess.Popen(
        [*command, "--out", str(out)], stderr=subprocess.PIPE, text=True, env=environ
    ) as process:
        assert process.stderr is not None
        assert process.stderr.readline() == "512 lines\n"
        process.kill()
    shutil.copy(f"{out}.part", tmp_path / "seen")
    assert not out.exists()
    done = subprocess.run(
        [*command, "--out", str(out)], capture_output=True, text=True, timeout=120, env=environ, check=True
    )
    assert "where an earlier run had stopped" in done.stderr
    assert translation("predict", *options, "--out", tmp_path / "whole").code == 0
    assert out.read_bytes() == (tmp_path / "whole").read_bytes()
    assert out.read_bytes().startswith((tmp_path / "seen").read_bytes()[:1000])
    assert not list(tmp_path.glob("*.part*"))
