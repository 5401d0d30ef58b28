"""Sets of clips by name: parts that share nobody, decoded once; folders of one's own; one signer left out."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coursepkg.projects.sign_language import corpora
from coursepkg.projects.sign_language.corpora import FULL, SETS, TINY, SignerSet, load_corpus, signer_folds
from coursepkg.projects.sign_language.corpus import SignCorpus
from coursepkg.projects.sign_language.data.scan import scan_clips
from coursepkg.projects.sign_language.data.splits import split_clips
from coursepkg.projects.sign_language.synthetic.clips import clip_counts
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig
from tests.projects.sign_language.blocks import FAST, make_corpus, write_parts
from tests.projects.sign_language.folders import SIGNERS, WORDS, write_folder

FEW = {"words": 2, "size": 64, "least_frames": 12, "most_frames": 12, "solid": 0.0, "frozen": 0.0}


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpora, "cache_folder", lambda: tmp_path / "cache")


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """A generated set of two people to train on and four others."""
    known = SignersConfig(signers=2, most_clips=3, least_clips=2, **FEW)
    unseen = SignersConfig(signers=4, most_clips=4, least_clips=4, duplicate=0.0, **FEW)
    monkeypatch.setitem(SETS, "signers-tiny", SignerSet("signers-tiny", known, unseen))


def people(corpus: SignCorpus, part: str) -> set[str]:
    return {clip.signer for clip in corpus.part(part).clips}


def names(corpus: SignCorpus) -> list[str]:
    return [clip.name for clips in corpus.parts.values() for clip in clips.clips]


def quietly(name: str | Path, **options: Any) -> SignCorpus:
    return load_corpus(str(name), options.pop("recipe", FAST), log=lambda line: None, **options)


@pytest.mark.usefixtures("few")
def test_generated_parts_share_nobody_and_have_every_word(monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = quietly("signers-tiny")
    assert [len(people(corpus, part)) for part in ("train", "dev", "test")] == [2, 2, 2]
    assert len(set.union(*(people(corpus, part) for part in corpus.parts))) == 6
    assert all(corpus.absent(part) == () for part in corpus.parts)
    assert corpus.is_generated
    assert corpus.part("train").size == FAST.size
    assert [len(clips) for clips in corpus.parts.values()] == [5, 4, 4]

    def never(*others: object, **options: object) -> object:
        raise AssertionError("clips that were decoded are looked at again")

    monkeypatch.setattr(corpora, "survey", never)
    monkeypatch.setattr(corpora, "generated_parts", never)
    assert quietly("signers-tiny", split="auto").fingerprint == corpus.fingerprint
    with pytest.raises(AssertionError):
        quietly("signers-tiny", recipe=replace(FAST, size=24))


@pytest.mark.usefixtures("few")
def test_a_random_split_cuts_the_clips_of_the_known_people() -> None:
    corpus = quietly("signers-tiny", split="clip")
    assert corpus.protocol == "clip"
    assert sum(len(clips) for clips in corpus.parts.values()) == 5
    assert len(set.union(*(people(corpus, part) for part in corpus.parts))) == 2


def test_the_sets_have_the_tail_to_learn_and_no_tail_to_score() -> None:
    for chosen in (FULL, TINY):
        learnt, scored = clip_counts(chosen.known), clip_counts(chosen.unseen)
        assert learnt.keys() == scored.keys()
        assert min(scored.values()) >= chosen.unseen.signers  # everybody signs every word
        assert max(scored.values()) <= 1.5 * min(scored.values())
        assert max(learnt.values()) > 2 * min(learnt.values())
    assert (len(clip_counts(FULL.known)), max(clip_counts(FULL.known).values())) == (24, 60)
    assert FULL.fingerprint != TINY.fingerprint


def test_a_folder_is_parted_by_signer_and_made_anew_when_it_changes(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "own")
    corpus = quietly(folder)
    assert corpus.labels == WORDS
    assert set.union(*(people(corpus, part) for part in corpus.parts)) == set(SIGNERS)
    assert sum(len(people(corpus, part)) for part in corpus.parts) == 4
    assert all(corpus.absent(part) == () for part in corpus.parts)
    assert not corpus.is_generated
    assert len(names(corpus)) == 12
    (folder / "train/uống/An.mp4").unlink()
    changed = quietly(folder)
    assert len(names(changed)) == 11
    assert quietly(folder).fingerprint == changed.fingerprint != corpus.fingerprint


def test_a_folder_is_read_anew_when_its_label_mapping_changes(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "own")
    before = quietly(folder)
    for words in (WORDS[::-1], (*WORDS, "mới")):
        mapping = {word: number for number, word in enumerate(words)}
        (folder / "label_mapping.json").write_text(json.dumps(mapping), "utf-8")
        changed = quietly(folder)
        assert changed.labels == words
        assert changed.fingerprint != before.fingerprint
        assert names(changed) == names(before)


def test_words_that_can_be_read_in_the_pictures_are_noted(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "own")
    assert quietly(folder).notes == ()
    head, *rows = (folder / "manifest.csv").read_text("utf-8").splitlines()
    rows = [f"{row},{'Yes ' if 'Chi' in row else 'no'}" for row in rows]
    (folder / "manifest.csv").write_text("\n".join([f"{head},burned_in_text", *rows]), "utf-8")
    (note,) = quietly(folder).notes
    assert note.startswith(f"{len(WORDS)} of 12 clips show their word in writing")


def test_clips_without_a_word_are_refused(tmp_path: Path) -> None:
    films = write_folder(tmp_path / "own", SIGNERS[:1]) / "train" / WORDS[0]
    for mapping in ("", json.dumps({WORDS[0]: 0})):
        if mapping:
            (films / "label_mapping.json").write_text(mapping, "utf-8")
        with pytest.raises(ValueError, match="no clip has a word; put the clips of each word into a folder"):
            quietly(films)


def test_an_empty_file_that_is_scored_is_left_out_by_name_and_not_forgotten(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "own")
    files = scan_clips(folder).files
    dev = split_clips(files, "signer").dev
    files[dev[0]].path.write_bytes(b"")
    part = quietly(folder).part("dev")
    assert (len(part), len(dev)) == (2, 3)
    assert [one.reason for one in part.left_out] == [
        f"{files[dev[0]].path}: the file is empty; copy it again or leave it out"
    ]


def test_what_prepare_wrote_is_opened(tmp_path: Path) -> None:
    stored = make_corpus(tmp_path / "ready", write_parts(tmp_path / "films"))
    assert quietly(tmp_path / "ready").fingerprint == stored.fingerprint
    with pytest.raises(
        ValueError, match=r"holds clips of 16 pixels; give --size 16, or prepare them with --size 32"
    ):
        quietly(tmp_path / "ready", recipe=replace(FAST, size=32))
    with pytest.raises(ValueError, match=r"ready holds no frames in one colour; give --skip-solid$"):
        quietly(tmp_path / "ready", recipe=replace(FAST, skip_solid=False))
    with pytest.raises(ValueError, match="ready is parted by signer already; leave --split clip out"):
        quietly(tmp_path / "ready", split="clip")


def test_each_signer_is_left_out_once(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "own", SIGNERS[:3])
    folds = dict(signer_folds(str(folder), FAST, log=lambda line: None))
    assert set(folds) == set(SIGNERS[:3])
    for signer, corpus in folds.items():
        assert people(corpus, "test") == {signer}
        assert people(corpus, "train") == set(SIGNERS[:3]) - {signer}
        assert corpus.dev is None
        assert corpus.labels == tuple(sorted(WORDS))
    alone = write_folder(tmp_path / "alone", SIGNERS[:1])
    with pytest.raises(ValueError, match="no word is signed by two signers, so none can be left out"):
        next(signer_folds(str(alone), FAST))


def test_names_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--split must be one of auto, clip, group, signer, got fold"):
        quietly("signers", split="fold")
    with pytest.raises(FileNotFoundError, match=r"--data signs: .*signs is not there; .* set COURSEPKG_DATA"):
        quietly("signs", folder=tmp_path)
    with pytest.raises(
        FileNotFoundError,
        match=r"--data takes one of signers, signers-tiny, signers-hard, signs, or a folder$",
    ):
        quietly(tmp_path / "nowhere")
