"""One signer left out at a time: each clip is asked about once, by a network that does not know its signer."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from coursepkg.projects.sign_language.corpora import signer_folds
from coursepkg.projects.sign_language.leave_one_signer_out import (
    Fold,
    leave_signers_out,
    marked_files,
    together,
)
from coursepkg.projects.sign_language.recognizer import read_model
from tests.projects.sign_language.answered import answer
from tests.projects.sign_language.signed import RECIPE, WORDS, write_film

QUICK = replace(RECIPE, max_epochs=2, warmup=1, warp=0.0, crop=1.0, colour=0.0, rotation=0.0, batch_clips=2)
SIGNED = {"An": (0, 1), "Bình": (0, 2), "Chi": (1,), "Dũng": (2, 2)}
"""The words that each signer signs, by their numbers. In the second one nothing moves, so cleaning removes it."""
STILL = 1


@pytest.fixture
def signs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Clips with a table; the word of one more clip is signed by nobody else."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "signs"
    rows = [("path", "label", "signer", "burned_in_text")]
    for i, (signer, words) in enumerate(SIGNED.items()):
        for j, number in enumerate(words):
            name = f"{signer}-{j}.mp4"
            write_film(folder / name, WORDS[number], number=300 + 5 * i + j)
            rows.append((name, WORDS[number], signer, "yes" if signer == "Chi" else "no"))
    write_film(folder / "alone.mp4", WORDS[0], number=400)
    rows.append(("alone.mp4", "một mình", "Chi", "no"))
    with (folder / "manifest.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)
    return folder


def test_each_signer_is_asked_about_by_a_network_of_the_others(signs: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    found = leave_signers_out(str(signs), QUICK, tmp_path / "runs", n_resamples=50, log=lines.append)
    assert [fold.signer for fold in found.folds] == sorted(SIGNED)
    by_name = {fold.signer: fold for fold in found.folds}
    for signer, words in SIGNED.items():
        fold = by_name[signer]
        assert sorted(one.label for one in fold.answers) == sorted(WORDS[number] for number in words)
        assert {one.signer for one in fold.answers} == {signer}
        others = [number for name, signed in SIGNED.items() if name != signer for number in signed]
        assert fold.n_train == sum(number != STILL for number in others)
        assert fold.n_unlearnt == words.count(STILL)
        assert len(fold.labels) == 3
        assert fold.steps == 2 * -(-fold.n_train // 2)
    assert len(found.scores.answers) == 7
    assert set(found.scores.labels) == set(WORDS), "nobody else signs the other word"
    assert found.chance == pytest.approx(1 / 3)
    assert set(found.scores.signers) == set(SIGNED)
    assert found.apart["word in the picture"][1] == 1
    assert found.apart["no word in the picture"][1] == 6
    assert "one signer left out at a time" in found.scores.macro_f1.signature
    assert any(line.startswith("without Dũng: 3 clips of 3 words") for line in lines)
    _goes_on(signs, tmp_path, found.as_json())


def _goes_on(signs: Path, tmp_path: Path, before: dict) -> None:
    """Called again it trains nothing and says the same."""
    folder = tmp_path / "runs" / "without-An"
    weights = (folder / "model" / "model.safetensors").read_bytes()
    calls = (folder / "calls.json").read_text("utf-8")
    again = leave_signers_out(
        str(signs), QUICK, tmp_path / "runs", n_resamples=50, log=lambda line: None
    ).as_json()
    assert again == before
    assert (folder / "model" / "model.safetensors").read_bytes() == weights
    assert (folder / "calls.json").read_text("utf-8") == calls
    assert read_model(folder).card["data"]["protocol"] == "signer An"
    with pytest.raises(ValueError, match="is of another run"):
        leave_signers_out(str(signs), QUICK, tmp_path / "runs", seed=1, log=lambda line: None)


def test_the_clips_of_a_fold_do_not_show_its_signer(signs: Path) -> None:
    folds = dict(signer_folds(str(signs), QUICK, log=lambda line: None))
    assert set(folds) == set(SIGNED)
    for signer, corpus in folds.items():
        assert signer not in {clip.signer for clip in corpus.part("train").clips}
        assert corpus.dev is None


def test_words_in_pictures_are_told_by_the_table(signs: Path) -> None:
    assert marked_files(str(signs)) == {"Chi-0.mp4"}


def test_folds_are_scored_as_one() -> None:
    folds = [
        Fold("An", 5, ("ăn", "mẹ"), 3, (answer("ăn", "ăn", "An", "1"), answer("mẹ", "ăn", "An", "2"))),
        Fold("Bình", 6, ("ăn", "mẹ", "bố", "ngủ"), 3, (answer("mẹ", "mẹ", "Bình", "3"),)),
    ]
    found = together(folds, n_resamples=100)
    assert found.scores.accuracy.value == pytest.approx(2 / 3)
    assert found.chance == pytest.approx((0.5 + 0.5 + 0.25) / 3)
    assert found.scores.labels == ("bố", "mẹ", "ngủ", "ăn")
    assert found.scores.macro_f1.value == pytest.approx((2 / 3 + 2 / 3) / 4)
    assert found.scores.present == pytest.approx(2 / 3)
    assert found.scores.macro_f1.interval is not None
    assert found.apart == {}
    assert "An: 1 of 2 clips right, 1.0 by chance (2 words from 5 clips of others)" in str(found)
    document = found.as_json()
    assert [fold["right"] for fold in document["folds"]] == [1, 1]
    assert document["chance"] == found.chance


def test_somebody_must_share_a_word(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "one"
    write_film(folder / "a.mp4", WORDS[0])
    (folder / "manifest.csv").write_text(f"path,label,signer\na.mp4,{WORDS[0]},An\n", "utf-8")
    with pytest.raises(ValueError, match="no word is signed by two signers"):
        leave_signers_out(str(folder), QUICK, tmp_path / "runs", log=lambda line: None)
