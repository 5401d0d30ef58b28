"""`coursepkg sign-language`: verbs, training by the command line, one line for a mistake and nothing left behind."""

import sys
from pathlib import Path

import pytest

from coursepkg.cli import parse
from coursepkg.command_table import COMMANDS, Group
from coursepkg.projects.sign_language.options import Common, Predict, Train
from coursepkg.projects.sign_language.recipe import PRESETS
from coursepkg.projects.sign_language.recognizer import read_model
from tests.projects.sign_language.folders import QUICK, WORDS, sign_language, write_folder

GROUP = COMMANDS["sign-language"]
assert isinstance(GROUP, Group)


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
    monkeypatch.delenv("COURSEPKG_DATA", raising=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("signs"))


@pytest.mark.parametrize("verb", sorted(GROUP.verbs))
def test_every_verb_has_its_own_help(verb: str) -> None:
    said = sign_language(verb, "--help")
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith(f"usage: coursepkg sign-language {verb}")


def test_verbs_and_order_are_those_of_the_other_projects() -> None:
    shared = ["audit", "describe", "train", "evaluate", "predict", "export"]
    assert isinstance(GROUP, Group)
    assert [verb for verb in GROUP.verbs if verb in shared] == shared
    assert set(GROUP.verbs) - set(shared) == {"survey", "prepare", "enroll", "ladder"}


def test_presets_give_the_flags_of_train_their_defaults() -> None:
    small = parse("sign-language train", ["--preset", "small", "--views", "3"])
    assert isinstance(small, Train)
    assert small.recipe.channels == PRESETS["small"].channels
    assert (small.recipe.views, small.common.run_folder.name) == (3, "sign-language-small")


def test_models_are_given_one_by_one() -> None:
    found = parse("sign-language predict", ["--model", "a", "clip.mp4", "--model", "b"])
    assert isinstance(found, Predict)
    assert (found.inputs, found.use.folders(found.common)) == ((Path("clip.mp4"),), (Path("a"), Path("b")))
    assert found.use.folders(Common(preset="small")) == (Path("a"), Path("b"))
    shipped = parse("sign-language predict", ["clip.mp4"])
    assert isinstance(shipped, Predict)
    assert shipped.use.folders(shipped.common) == ()
    assert [path.name for path in shipped.use.folders(Common(preset="small"))] == ["sign-language-small"]


@pytest.mark.parametrize(
    ("data", "preset", "name"),
    [
        ("auto", None, "signers-tiny"),
        ("auto", "tiny", "signers-tiny"),
        ("auto", "small", "signers"),
        ("signers", None, "signers"),
        ("signs", "small", "signs"),
    ],
)
def test_auto_is_the_generated_set_of_the_presets_size(data: str, preset: str | None, name: str) -> None:
    assert Common(preset=preset, data=data).corpus_name == name


def test_train_and_resume(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "run"
    train = ["train", "--data", folder, "--out", out, *QUICK, "--seed", "3", "--json"]
    first = sign_language(*train)
    assert first.code == 0, first.err
    card = first.document["card"]
    assert (card["seed"], card["labels"]) == (3, list(WORDS))
    assert first.document["dev"]["macro_f1"]["value"] == card["dev_macro_f1"]
    assert f"coursepkg sign-language evaluate --model {out} --part test" in first.out
    assert "holds a run already; add --resume" in sign_language(*train).err
    resumed = sign_language(*train, "--resume")
    assert resumed.document["card"]["steps"] == card["steps"]
    begun = sign_language(
        "train", "--data", folder, "--out", tmp_path / "more", *QUICK, "--start", out, "--json"
    )
    assert begun.document["card"]["start"] == "run"
    assert read_model(tmp_path / "more").labels == WORDS


def test_a_taken_folder_is_refused_before_clips_are_read(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "recipe.json").write_text("{}", "utf-8")
    done = sign_language("train", "--data", tmp_path / "nowhere", "--out", tmp_path / "run", *QUICK)
    assert done.code == 2
    assert "holds a run already; add --resume to go on with it, or choose another --out" in done.err


@pytest.mark.parametrize(
    ("arguments", "part"),
    [
        (["audit", "--data", "nowhere"], "--data nowhere: nowhere is not there"),
        (["audit", "--data", "signs"], "set COURSEPKG_DATA"),
        (["audit", "--split", "person"], "--split"),
        (["audit", "--same", "2"], "--same must be at least 0 and below 1"),
        (["survey", "--still-run", "0"], "--still-run"),
        (["survey", "--data", "nowhere"], "nowhere"),
        (["describe", "--data", "nowhere"], "nowhere"),
        (["describe", "--preset", "huge"], "--preset"),
        (["prepare"], "--out FOLDER must be given"),
        (["prepare", "--data", "nowhere", "--out", "x"], "nowhere"),
        (["train", "--data", "nowhere"], "--data nowhere"),
        (["train", "--dropout", "2"], "--dropout must be in [0, 1), got 2.0"),
        (["train", "--threads", "-1"], "--threads"),
        (["train", "--start", "nowhere"], "nowhere: no finished model in it"),
        (["evaluate", "--model", "nowhere"], "nowhere: no finished model in it"),
        (["evaluate", "--limit", "-1"], "--limit"),
        (["evaluate", "--worst", "-1"], "--worst"),
        (["evaluate", "--batch-size", "0"], "--batch-size"),
        (["predict"], "error: "),
        (["predict", "nowhere.mp4"], "nowhere.mp4"),
        (["predict", "nowhere.mp4", "--model", "nowhere"], "nowhere"),
        (["export"], "--out FOLDER must be given"),
        (["export", "--model", "nowhere", "--out", "x"], "nowhere: no finished model in it"),
    ],
)
def test_a_mistake_gets_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, arguments: list[str], part: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert part in sign_language(*arguments).mistake
    assert not list(tmp_path.iterdir())


def test_a_folder_without_clips_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for verb in ("audit", "describe", "survey", "train"):
        assert (
            f"{tmp_path / 'empty'} holds no clip" in sign_language(verb, "--data", tmp_path / "empty").mistake
        )


def test_a_missing_package_is_one_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    assert "video" in sign_language("audit", "--data", folder).mistake
