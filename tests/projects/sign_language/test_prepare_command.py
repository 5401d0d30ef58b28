"""`coursepkg sign-language prepare`: cleaned, decoded once, trained from; nothing half-written."""

import json
from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.sign_language import data_verbs
from coursepkg.projects.sign_language.corpus import open_corpus
from coursepkg.projects.sign_language.data.scan import scan_clips
from coursepkg.projects.sign_language.data_verbs import PLAN
from coursepkg.projects.sign_language.quality.plan import read_plan
from tests.projects.sign_language.folders import QUICK, WORDS, add_clip, sign_language, write_folder
from tests.projects.sign_language.quality.scenes import scene
from tests.said import Said


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every signer also has a clip in one colour, so that the training part has some, whoever is in it."""
    folder = write_folder(tmp_path_factory.mktemp("signs"))
    for number, signer in enumerate(("An", "Bình", "Chi", "Dũng")):
        gray = np.full((24, 64, 64, 3), 60 + 30 * number, np.uint8)
        add_clip(folder, "ăn", signer, gray, f"gray-{number}")
        add_clip(folder, "uống", signer, scene(90 + number, 90), f"more-{number}")
    return folder


@pytest.fixture(scope="module")
def prepared(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Said, Path]:
    """What the command said, and the folder that it wrote."""
    out = tmp_path_factory.mktemp("out") / "prepared"
    return sign_language("prepare", "--data", folder, "--size", "16", "--out", out, "--json"), out


def test_training_clips_are_cleaned_and_others_are_not(folder: Path, prepared: tuple[Said, Path]) -> None:
    said, out = prepared
    assert said.code == 0
    corpus = open_corpus(out)
    assert corpus.labels == WORDS
    n_signers = {part: len({clip.signer for clip in clips.clips}) for part, clips in corpus.parts.items()}
    assert sum(n_signers.values()) == 4
    # Five clips a signer; the gray ones go where clips are trained on, and stay where they are scored.
    assert len(corpus.part("train")) == 4 * n_signers["train"]
    assert {part: len(corpus.part(part)) for part in ("dev", "test")} == {
        part: 5 * n_signers[part] for part in ("dev", "test")
    }
    assert [(one.label, one.reason) for one in corpus.removed] == [("ăn", "broken frames")] * n_signers[
        "train"
    ]
    assert said.document["removed"] == [one._asdict() for one in corpus.removed]
    assert said.document["data"] == corpus.described()
    assert f"gone, broken frames: {n_signers['train']}" in said.out
    assert f"coursepkg sign-language train --preset tiny --data {out} --size 16" in said.out
    people = {clip.signer for clip in corpus.part("train").clips}
    files = [file for file in scan_clips(folder).files if file.signer in people]
    plan = read_plan(out / PLAN, files, folder)
    assert (len(plan.kept), len(plan.removed)) == (len(corpus.part("train")), len(corpus.removed))
    assert [path.name for path in out.parent.iterdir()] == ["prepared"]


def test_again_it_is_there_already_and_other_options_are_refused(
    folder: Path, prepared: tuple[Said, Path]
) -> None:
    first, out = prepared
    command = ["prepare", "--data", folder, "--size", "16", "--out", out]
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    again = sign_language(*command, "--json")
    assert "holds these clips already" in again.out
    assert again.document == first.document
    for other in (["--most-broken", "1"], ["--same", "0"], ["--split", "group"], ["--frames", "9"]):
        assert "holds other clips, or these by other options" in sign_language(*command, *other).mistake
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_rules_and_thresholds_decide_what_goes(folder: Path, tmp_path: Path) -> None:
    command = [
        "prepare",
        "--data",
        folder,
        "--size",
        "16",
        "--split",
        "clip",
        "--out",
        tmp_path / "out",
        "--json",
    ]
    said = sign_language(*command, "--solid-spread", "128", "--solid-share", "0.5", "--most-broken", "1")
    # Every frame counts as of one colour, so nothing is left to train on, and nothing is written.
    assert (said.code, said.err.count("\n")) == (2, 1)
    assert "the rules leave none of" in said.err
    assert said.err.endswith("; loosen them\n")
    assert "gone, broken frames: " in said.out
    assert not list(tmp_path.iterdir())
    said = sign_language(*command, "--longest-rest", "1", "--solid-spread", "0", "--least-frames", "24")
    assert said.document["data"]["protocol"] == "clip"
    assert {one["label"] for one in said.document["removed"]} <= {"ăn"}


def test_what_was_prepared_trains_the_same_model(
    folder: Path, prepared: tuple[Said, Path], tmp_path: Path
) -> None:
    runs = [
        sign_language("train", "--data", data, "--out", tmp_path / name, *QUICK, "--json")
        for name, data in (("one", folder), ("other", prepared[1]))
    ]
    assert [run.code for run in runs] == [0, 0], [run.err for run in runs]
    one, other = (run.document["card"] for run in runs)
    assert one["data"]["fingerprint"] == other["data"]["fingerprint"]
    weights = [(tmp_path / name / "model" / "model.safetensors").read_bytes() for name in ("one", "other")]
    assert weights[0] == weights[1]
    wrong = sign_language("train", "--data", prepared[1], "--out", tmp_path / "large", *QUICK, "--size", "24")
    assert "holds clips of 16 pixels" in wrong.mistake
    for verb in ("audit", "survey", "describe"):
        assert "holds decoded clips" in sign_language(verb, "--data", prepared[1]).mistake


def test_a_run_that_was_stopped_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, out = write_folder(tmp_path / "signs", signers=("An", "Bình", "Chi")), tmp_path / "prepared"
    command = ["prepare", "--data", folder, "--size", "16", "--out", out]

    def stop(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(data_verbs, "write_plan", stop)
        assert sign_language(*command).code == 130
    assert not out.exists()
    assert (tmp_path / "prepared.part").is_dir()
    assert sign_language(*command).code == 0
    assert {path.name for path in tmp_path.iterdir()} == {"signs", "prepared"}


def test_another_label_mapping_makes_other_clips(tmp_path: Path) -> None:
    folder, out = write_folder(tmp_path / "signs", signers=("An", "Bình", "Chi")), tmp_path / "prepared"
    command = ["prepare", "--data", folder, "--size", "16", "--out", out]
    assert sign_language(*command).code == 0
    mapping = {word: number for number, word in enumerate(reversed(WORDS))}
    (folder / "label_mapping.json").write_text(json.dumps(mapping), "utf-8")
    assert "holds other clips, or these by other options" in sign_language(*command).mistake


def test_mistakes_get_one_line(folder: Path, tmp_path: Path) -> None:
    assert "--out FOLDER must be given" in sign_language("prepare", "--data", folder).mistake
    taken = tmp_path / "taken"
    taken.mkdir()
    (taken / "letter.txt").write_text("mine")
    assert (
        "nothing that `prepare` wrote" in sign_language("prepare", "--data", folder, "--out", taken).mistake
    )
    out = ["--out", tmp_path / "new"]
    for flag, value in (("--size", "-4"), ("--frames", "0"), ("--most-broken", "2"), ("--same", "1")):
        assert flag in sign_language("prepare", "--data", folder, *out, flag, value).mistake
    assert {path.name for path in tmp_path.iterdir()} == {"taken"}
