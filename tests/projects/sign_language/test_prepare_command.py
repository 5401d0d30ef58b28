"""`coursepkg sign-language prepare`: cleaned, decoded once, trained from; nothing half-written."""

from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.sign_language.corpus_files import open_corpus
from coursepkg.projects.sign_language.data.scan import scan_clips
from coursepkg.projects.sign_language.prepare_command import PLAN
from coursepkg.projects.sign_language.quality.plan_files import read_plan
from tests.projects.sign_language.folders import QUICK, WORDS, add_clip, sign_language, write_folder
from tests.projects.sign_language.quality.scenes import scene


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


def test_training_clips_are_cleaned_and_others_are_not(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "prepared"
    said = sign_language("prepare", "--data", folder, "--size", "16", "--out", out, "--json")
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
    trained = {clip.name for clip in corpus.part("train").clips} | {one.name for one in corpus.removed}
    files = [
        file
        for file in scan_clips(folder).files
        if file.signer in {c.signer for c in corpus.part("train").clips}
    ]
    assert len(files) == len(trained) == 5 * n_signers["train"]
    plan = read_plan(out / PLAN, files, folder)
    assert len(plan.kept) == len(corpus.part("train"))
    assert [path.name for path in tmp_path.iterdir()] == ["prepared"]


def test_again_it_is_there_already_and_other_options_are_refused(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "prepared"
    command = ["prepare", "--data", folder, "--size", "16", "--out", out]
    first = sign_language(*command, "--json")
    before = {path: path.stat().st_mtime_ns for path in out.rglob("*")}
    again = sign_language(*command, "--json")
    assert "holds these clips already" in again.out
    assert again.document == first.document
    assert (
        "holds other clips, or these by other options"
        in sign_language(*command, "--most-broken", "1").mistake
    )
    assert {path: path.stat().st_mtime_ns for path in out.rglob("*")} == before


def test_rules_decide_what_goes(folder: Path, tmp_path: Path) -> None:
    rules = ["--most-broken", "1", "--least-frames", "1", "--no-drop-frames", "--copies", "keep"]
    said = sign_language(
        "prepare", "--data", folder, "--size", "16", "--out", tmp_path / "all", *rules, "--json"
    )
    # Twenty-three of twenty-four frames of a gray clip repeat the one before; all of them have one colour.
    assert [one["reason"] for one in said.document["removed"]] == ["broken frames"] * len(
        said.document["removed"]
    )
    parts = ["--split", "clip", "--solid-spread", "0", "--still-change", "0", *rules]
    whole = sign_language(
        "prepare", "--data", folder, "--size", "16", "--out", tmp_path / "clip", *parts, "--json"
    )
    assert whole.document["data"]["protocol"] == "clip"


def test_what_was_prepared_trains_the_same_model(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "prepared"
    assert sign_language("prepare", "--data", folder, "--size", "16", "--out", out).code == 0
    runs = [
        sign_language("train", "--data", data, "--out", tmp_path / name, *QUICK, "--json")
        for name, data in (("one", folder), ("other", out))
    ]
    assert [run.code for run in runs] == [0, 0], [run.err for run in runs]
    one, other = (run.document["card"] for run in runs)
    assert one["data"]["fingerprint"] == other["data"]["fingerprint"]
    weights = [(tmp_path / name / "model" / "model.safetensors").read_bytes() for name in ("one", "other")]
    assert weights[0] == weights[1]


def test_a_run_that_was_stopped_goes_on(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from coursepkg.projects.sign_language import prepare_command

    out = tmp_path / "prepared"
    command = ["prepare", "--data", folder, "--size", "16", "--out", out]

    def stop(*_arguments: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(prepare_command, "write_plan", stop)
        assert sign_language(*command).code == 130
    assert not out.exists()
    assert (tmp_path / "prepared.part").is_dir()
    assert sign_language(*command).code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["prepared"]


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
