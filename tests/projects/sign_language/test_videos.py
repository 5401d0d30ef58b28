"""The videos that a name stands for: generated ones with their parts, folders as they are."""

import csv
from dataclasses import replace
from pathlib import Path

import pytest

from coursepkg.projects.sign_language.corpora import GENERATED, SETS, SignerSet, find_videos
from coursepkg.projects.sign_language.data.label_mapping import ClassCounts
from coursepkg.projects.sign_language.synthetic.clips import clip_counts
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig
from tests.projects.sign_language.folders import WORDS, sign_language, write_folder

FEW = SignersConfig(
    words=2, signers=3, most_clips=3, least_clips=3, size=32, least_frames=12, most_frames=12, full_length=1.0
)


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A generated set of a few small films."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setitem(SETS, "signers-tiny", SignerSet("signers-tiny", FEW, FEW))


def test_generated_people_are_parted_as_they_are_for_training(generated: None) -> None:
    found = find_videos("signers-tiny", "signer", log=lambda line: None)
    assert (found.is_generated, found.notes, len(found.labels)) == (True, (GENERATED,), 2)
    parts = found.parts("signer", [[] for _ in found.files])
    assert sorted(i for numbers in parts.values() for i in numbers) == list(range(12))
    signers = {part: {found.files[i].signer for i in numbers} for part, numbers in parts.items()}
    assert {part: len(people) for part, people in signers.items()} == {"train": 3, "dev": 1, "test": 2}
    assert len(set.union(*signers.values())) == 6
    # Any other protocol cuts the people whom training sees.
    by_clip = find_videos("signers-tiny", "clip", log=lambda line: None)
    assert len(by_clip.files) == 6
    assert {file.signer for file in by_clip.files} == signers["train"]


def test_the_audit_of_generated_people_finds_no_leak(generated: None) -> None:
    said = sign_language("audit", "--json")
    assert said.code == 0
    assert (said.document["corpus"], said.document["generated"]) == ("signers-tiny", True)
    assert f"note: {GENERATED}" in said.out


def test_words_of_generated_people_are_counted_in_the_training_part(
    generated: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    # With the clips of dev and test the frequent word would be of the body.
    known, unseen = (
        replace(FEW, most_clips=19, least_clips=2),
        replace(FEW, most_clips=6, least_clips=6, duplicate=0.0),
    )
    monkeypatch.setitem(SETS, "signers-tiny", SignerSet("signers-tiny", known, unseen))
    counts = ClassCounts(clip_counts(known))
    described, surveyed = (
        sign_language(verb, "--data", "signers-tiny", "--json") for verb in ("describe", "survey")
    )
    found = described.document
    assert found["words by band"] == counts.words_by_band == {"head": 0, "body": 0, "tail": 2}
    assert found["clips by band"] == counts.clips_by_band
    assert (found["most clips of a word"], found["fewest clips of a word"]) == (19, 2)
    assert found["clips by part"] == {"train": 21, "dev": 4, "test": 8}
    assert found["words counted in"] == "training part"
    assert "words by band, training part: head 0, body 0, tail 2\n" in described.out
    told = surveyed.document
    assert told["class_counts"] == counts.counts
    assert (told["words_by_band"], told["clips"]) == (counts.words_by_band, 33)
    assert told["clips_by_part"] == found["clips by part"]
    rows = [" ".join(line.split()) for line in surveyed.out.splitlines()]
    assert "clips of each part train 21, dev 4, test 8 train 3,875" in rows
    assert "tail, training part 2 words (100%), 21 clips 31% of the words" in rows


def test_a_word_that_can_be_read_in_the_picture_is_said(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "signs")
    assert find_videos(str(folder), "signer").notes == ()
    rows = list(csv.reader((folder / "manifest.csv").read_text("utf-8").splitlines()))
    marked = [[*rows[0], "burned_in_text"], *([*row, "yes" if "Chi" in row else "no"] for row in rows[1:])]
    with (folder / "manifest.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(marked)
    (note,) = find_videos(str(folder), "signer").notes
    assert note.startswith(f"{len(WORDS)} of 12 clips show their word in writing")
