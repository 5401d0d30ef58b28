"""`coursepkg sign-language audit`, `describe` and `survey`: what they find, exit codes, JSON as the last line."""

import json
from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.sign_language.model.classifier import build_model
from coursepkg.projects.sign_language.recipe import PRESETS, Recipe
from coursepkg.training.weights import parameter_counts
from tests.projects.sign_language.data import films
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
    assert "problems of folder and table: 1" in said.out
    assert said.out.count(", 1 of them cannot be opened, ") == 1


def test_a_word_without_a_clip_that_opens_is_lacking(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "signs")
    for signer in SIGNERS:
        (folder / f"train/ăn/{signer}.mp4").write_bytes(b"no video")
    said = sign_language("audit", "--data", folder, "--json")
    assert said.document["absent"] == {part: ["ăn"] for part in ("train", "dev", "test")}
    assert said.out.count("; lacks 1 word: ăn") == 3
    assert "problems of folder and table: none" in said.out
    assert "problems: none" not in said.out


def test_an_audit_needs_a_clip_that_opens(tmp_path: Path) -> None:
    path = tmp_path / "signs/train/ăn/1.mp4"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no video")
    one = sign_language("audit", "--data", tmp_path / "signs").mistake
    assert f"signs: its only clip cannot be opened: {path}: not a video" in one
    (path.parent / "2.mp4").write_bytes(b"no video")
    two = sign_language("audit", "--data", tmp_path / "signs").mistake
    assert f"signs: none of its 2 clips can be opened; the first: {path}: not a video" in two


def test_signers_that_are_not_known_are_not_counted(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "signs")
    (folder / "manifest.csv").unlink()
    said, by_clip = (
        sign_language("audit", "--data", folder, "--split", split, "--json") for split in ("signer", "clip")
    )
    assert (said.code, said.document["leaks"]) == (0, False)
    assert "12 clips, 3 words, signers not known" in said.out
    assert "signers;" not in said.out
    assert "note: signers are not known: parted by recordings and copies only; a person may" in said.out
    assert "no recording or copy stands in two parts; signers could not be looked at" in said.out
    assert "parted by recordings" not in by_clip.out


def test_clips_of_variable_rate_and_large_ones_are_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "signs")
    uneven, large = folder / "train/ăn/Chi.mp4", folder / "train/uống/An.mp4"
    films.write_film(uneven, 8, stamps=[0, 80, 160, 240, 700, 780, 860, 940])
    films.write_film(large, 12, size=(1984, 64), fps=12)
    audit, survey = (sign_language(verb, "--data", folder, "--json") for verb in ("audit", "survey"))
    assert audit.document["variable_rate"] == survey.document["variable_rate"] == [str(uneven)]
    assert f"clips of variable frame rate: 1\n  {uneven}\n" in audit.out
    assert f"\nvariable frame rate: 1\n  {uneven}\n" in survey.out
    assert survey.document["large"] == [str(large)]
    assert f"\nlarger than 1920 x 1080, scaled while decoding: 1\n  {large}\n" in survey.out
    row = next(line for line in survey.out.splitlines() if line.startswith("resolution"))
    assert "64 x 64 and 2 other sizes, the greatest 1984 x 64 " in row
    described = sign_language("describe", "--data", folder).out
    assert "resolution: 64 x 64 and 2 other sizes, the greatest 1984 x 64\n" in described
    assert "clips of variable rate: 1\n" in described


def test_thresholds_decide_what_counts(folder: Path) -> None:
    audit = ["audit", "--data", folder, "--split", "clip", "--json"]
    alike = sign_language(*audit, "--same", "0.99").document
    assert (alike["copies"], alike["damaged"]) == (11, 0)
    assert alike["copies_by_part"] == {part: n - 1 for part, n in alike["parts"].items()}
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
    assert "\nwords by band: head 0, body 0, tail 3\n" in said.out
    assert "\nframes: 24 to 24, median 24, mean 24\n" in said.out
    assert all("{" not in line for line in said.out.splitlines()[:-1])
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


@pytest.mark.parametrize("verb", ["audit", "describe", "survey"])
def test_what_is_printed_is_written_too(verb: str, folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "found.json"
    said = sign_language(verb, "--data", folder, "--out", out, "--json")
    assert said.code == 0
    assert f"\nwritten to {out}\n" in said.out
    assert json.loads(out.read_text("utf-8")) == said.document
    assert [path.name for path in out.parent.iterdir()] == ["found.json"]
    assert (
        f"such as {tmp_path / verb}.json" in sign_language(verb, "--data", folder, "--out", tmp_path).mistake
    )


def test_the_survey_counts_words_and_sizes(folder: Path) -> None:
    said = sign_language("survey", "--data", folder, "--json")
    assert said.document["class_counts"] == dict.fromkeys(WORDS, 4)
    assert said.document["resolutions"] == {"64 x 64": 12}
    assert ["these", "clips", "contest"] in [line.split() for line in said.out.splitlines()]


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
