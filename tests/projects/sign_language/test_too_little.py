"""A training part from which nothing can be learnt is refused before clips are decoded, and nothing stays behind."""

from pathlib import Path

import pytest

from coursepkg.projects.sign_language.data.scan import scan_clips
from coursepkg.projects.sign_language.data.splits import split_clips
from coursepkg.projects.sign_language.quality.plan import check_plan, check_words, plan_cleaning
from coursepkg.projects.sign_language.quality.survey import survey
from coursepkg.projects.sign_language.recipe import CleaningRules
from tests.projects.sign_language.folders import QUICK, sign_language, write_film, write_folder
from tests.projects.sign_language.quality.scenes import Library, scene


@pytest.fixture(autouse=True)
def _own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def kept(tmp_path: Path) -> list[Path]:
    """What lies in the cache."""
    return list((tmp_path / "cache" / "coursepkg" / "sign-language").glob("*"))


@pytest.mark.parametrize("verb", ["train", "prepare"])
def test_a_training_part_of_which_no_clip_opens_is_named(tmp_path: Path, verb: str) -> None:
    folder = write_folder(tmp_path / "signs")
    files = scan_clips(folder).files
    learnt = split_clips(files, "signer").train
    for i in learnt:
        files[i].path.write_text("<html>404</html>")
    options = QUICK if verb == "train" else ["--size", "16"]
    done = sign_language(verb, "--data", folder, "--out", tmp_path / "out", *options)
    assert (done.code, done.err.count("\n")) == (2, 1)
    assert f"none of the {len(learnt)} training clips can be opened; the first: " in done.err
    assert ".mp4: a web page, perhaps of a failed download" in done.err
    assert "loosen" not in done.err
    assert "decoding" not in done.out
    if verb == "prepare":
        assert "signs: 12 clips, 3 words, 4 signers" in done.out
        assert f"gone, cannot be opened: {len(learnt)}" in done.out
    assert kept(tmp_path) == []
    assert {path.name for path in tmp_path.iterdir()} <= {"signs", "cache"}


def test_one_word_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    for number in range(6):
        write_film(folder / "Cảm ơn" / f"{number}.mp4", scene(number, wall=number))
    said = f"--data {folder} has one word to learn, 'Cảm ơn'; a recogniser needs at least two"
    for verb, options in (("train", QUICK), ("prepare", ["--size", "16"])):
        done = sign_language(verb, "--data", folder, "--split", "clip", "--out", tmp_path / "out", *options)
        assert (done.code, done.err) == (2, f"error: {said}\n")
    assert {path.name for path in tmp_path.iterdir()} <= {"one", "cache"}
    with pytest.raises(ValueError, match="has one word to learn, 'ăn'"):
        check_words("own", ["ăn", "ăn"])
    check_words("own", ["ăn", "uống"])


def test_rules_are_blamed_only_for_what_they_decide() -> None:
    library = Library()
    library.add(None, "Ăn")
    library.add(None, "Mẹ")
    with pytest.raises(
        ValueError,
        match=r"none of the 2 training clips can be opened; the first: train/Ăn/000\.mp4: the file",
    ):
        check_plan("own", plan_cleaning(survey(library.files, decode=library.decode)))
    library.add(scene(0), "Mẹ")
    found = survey(library.files, decode=library.decode)
    with pytest.raises(
        ValueError,
        match=r"leave none of 3 training clips \(2 for cannot be opened, 1 for too few.*\); loosen",
    ):
        check_plan("own", plan_cleaning(found, CleaningRules(least_frames=99)))
    with pytest.raises(ValueError, match="has one word to learn, 'Mẹ'"):
        check_plan("own", plan_cleaning(found))
