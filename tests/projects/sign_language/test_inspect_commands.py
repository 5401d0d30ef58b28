"""`coursepkg sign-language audit`, `describe` and `survey`: what they find, exit codes, JSON as the last line."""

import json
from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.sign_language.model.build import build_model
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.training.weights import parameter_counts
from tests.projects.sign_language.folders import (
    SIGNERS,
    WORDS,
    add_clip,
    sign_language,
    write_film,
    write_folder,
)
from tests.projects.sign_language.quality.scenes import scene


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("signs"))


def test_the_audit_exits_1_where_the_split_leaks(folder: Path) -> None:
    clean, leaking = (
        sign_language("audit", "--data", folder, "--split", split, "--json") for split in ("auto", "clip")
    )
    assert (clean.code, leaking.code) == (0, 1)
    assert (clean.document["leaks"], leaking.document["leaks"]) == (False, True)
    assert "leaks: none" in clean.out
    assert {leak["kind"] for leak in leaking.document["leaking"]} == {"signer"}
    assert "LEAKS: " in leaking.out
    assert sum(clean.document["parts"].values()) == clean.document["clips"] == len(WORDS) * len(SIGNERS)
    assert clean.document["absent"] == {part: [] for part in ("train", "dev", "test")}
    assert (clean.document["copies"], clean.document["unopened"], clean.document["problems"]) == (0, [], [])


def test_the_audit_names_what_is_wrong_with_single_clips(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "signs")
    # The same pictures by the same signer under another word, a clip in one colour, and no video at all.
    add_clip(folder, "uống", "An", scene(0, wall=0), "twice")
    add_clip(folder, "ăn", "Bình", np.full((24, 64, 64, 3), 120, np.uint8), "gray")
    (folder / "train/ăn/Chi.mp4").write_bytes(b"no video")
    (folder / "train/ăn/new.mp4").write_bytes(b"not in the table")
    said = sign_language("audit", "--data", folder, "--json")
    found = said.document
    assert said.code == 0
    assert (found["copies"], found["damaged"]) == (1, 1)
    (unopened,) = found["unopened"]
    assert unopened["path"] == str(folder / "train/ăn/Chi.mp4")
    assert unopened["reason"] in said.out
    (pair,) = found["contradictions"]
    assert {Path(path).name for path in pair} == {"An.mp4", "twice.mp4"}
    assert [problem["kind"] for problem in found["problems"]] == ["not in the table"]


def test_thresholds_decide_what_counts(folder: Path) -> None:
    audit = ["audit", "--data", folder, "--split", "clip", "--json"]
    alike = sign_language(*audit, "--same", "0.99").document
    assert (alike["copies"], alike["damaged"]) == (11, 0)
    plain = sign_language(*audit, "--solid-spread", "128").document
    assert (plain["copies"], plain["damaged"]) == (0, 12)


def test_describe_counts_clips_and_parameters(folder: Path) -> None:
    said = sign_language("describe", "--data", folder, "--json")
    assert said.code == 0
    found = said.document
    assert (found["clips"], found["words"], found["signers"]) == (12, 3, 4)
    assert found["resolutions"] == {"64 x 64": 12}
    assert found["frames"] == {"least": 24.0, "median": 24.0, "mean": 24.0, "greatest": 24.0}
    assert found["seconds"]["median"] == pytest.approx(2.0)
    assert (found["frames a second"]["median"], found["variable rate"], found["unreadable"]) == (12.0, 0, 0)
    assert found["parameters"] == parameter_counts(build_model(PRESETS["tiny"], 3))["total"]
    assert found["parameters"] == sum(n for name, n in found["parameters by part"].items() if name != "total")
    assert f"parameters: {found['parameters']:,}" in said.out
    assert Recipe.of(found["recipe"]) == PRESETS["tiny"]


def test_the_report_has_the_size_of_convnext_tiny(folder: Path) -> None:
    pytest.importorskip("transformers")
    found = sign_language("describe", "--preset", "report", "--data", folder, "--json").document
    assert 27.5e6 < found["parameters by part"]["backbone"] < 28.5e6


def test_describe_counts_what_cannot_be_read(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "signs")
    (folder / "train/ăn/Chi.mp4").write_bytes(b"no video")
    found = sign_language("describe", "--data", folder, "--json").document
    assert (found["clips"], found["unreadable"], found["resolutions"]) == (12, 1, {"64 x 64": 11})


def test_the_survey_writes_what_it_prints(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "survey.json"
    said = sign_language("survey", "--data", folder, "--out", out, "--json")
    assert said.code == 0
    assert json.loads(out.read_text("utf-8")) == said.document
    assert [path.name for path in out.parent.iterdir()] == ["survey.json"]
    assert said.document["class_counts"] == dict.fromkeys(WORDS, 4)
    assert said.document["resolutions"] == {"64 x 64": 12}
    assert "contest (source 002)" in said.out


def test_the_survey_needs_no_words(tmp_path: Path) -> None:
    write_film(tmp_path / "clips" / "0001.mp4", scene(1))
    said = sign_language("survey", "--data", tmp_path / "clips", "--json")
    assert said.code == 0
    assert (said.document["clips"], said.document["words"]) == (1, 0)
    for verb in ("audit", "describe"):
        assert "0001.mp4; put each into a folder" in sign_language(verb, "--data", tmp_path / "clips").mistake


def test_too_few_signers_cannot_be_parted(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "signs", signers=SIGNERS[:2])
    wrong = sign_language("audit", "--data", folder).mistake
    assert "at least 3 signers" in wrong
    assert "choose another --split or add clips" in wrong
    assert sign_language("audit", "--data", folder, "--split", "group").code == 1
