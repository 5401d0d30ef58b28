"""A corpus: its parts, its counts, what it lacks; in a folder, decoded once and cleaned."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from coursepkg.projects.sign_language import corpus as corpus_files
from coursepkg.projects.sign_language.corpus import SignCorpus, open_corpus, store_corpus
from coursepkg.projects.sign_language.data.video import CacheConfig
from coursepkg.projects.sign_language.quality.plan import CleaningPlan, KeptClip, RemovedClip
from coursepkg.projects.sign_language.recipe import CleaningRules
from tests.projects.sign_language.blocks import COUNTS, make_corpus, write_parts
from tests.projects.sign_language.signed import WORDS


def test_parts_and_what_they_lack(blocks: SignCorpus) -> None:
    assert blocks.counts == COUNTS
    assert {name: len(clips) for name, clips in blocks.parts.items()} == {"train": 10, "dev": 6, "test": 6}
    assert blocks.absent("train") == ()
    assert blocks.mapping.number("xuống") == 2
    more = replace(blocks, labels=("ngủ", *WORDS), test=None)
    assert more.counts == (0, *COUNTS)
    assert (more.absent("train"), more.absent("test")) == (("ngủ",), ("ngủ", *WORDS))
    assert more.part("dev") is blocks.dev
    with pytest.raises(
        ValueError, match=r"--data blocks has no clip in its test part \(parted by signer\); choose"
    ):
        more.part("test")


def test_the_fingerprint_tells_corpora_apart(blocks: SignCorpus) -> None:
    others = (
        replace(blocks, labels=tuple(reversed(WORDS))),
        replace(blocks, test=None),
        replace(blocks, dev=blocks.test, test=blocks.dev),
    )
    assert len({blocks.fingerprint, *(other.fingerprint for other in others)}) == 4
    assert replace(blocks, notes=("one",)).fingerprint == blocks.fingerprint


def test_the_report_names_parts_words_and_notes(blocks: SignCorpus) -> None:
    lines = replace(blocks, labels=("ngủ", *WORDS), test=None, notes=("by hand",)).report()
    assert lines == [
        "blocks: clips of 4 words, parted by signer",
        "  train: 10 clips of 2 signers; lacks 1 word: ngủ",
        "  dev: 6 clips of 2 signers; lacks 1 word: ngủ",
        "  test: no clip",
        "  removed from the training part: none",
        "note: by hand",
    ]


def test_signers_that_are_not_known_are_no_number(films: Callable[[], dict], tmp_path: Path) -> None:
    files = {part: [replace(one, signer="") for one in found] for part, found in films().items()}
    lines = make_corpus(tmp_path, files).report()
    assert lines[1:4] == ["  train: 10 clips", "  dev: 6 clips", "  test: 6 clips"]
    assert lines[-1].startswith("note: signers are not known: parted by recordings and copies only")


@pytest.fixture(scope="module")
def films(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], dict]:
    found = write_parts(tmp_path_factory.mktemp("films"))
    return lambda: {part: list(files) for part, files in found.items()}


def test_a_folder_gives_back_what_was_stored(films: Callable[[], dict], tmp_path: Path) -> None:
    files = films()
    stored = make_corpus(tmp_path / "clips", files)
    found = open_corpus(tmp_path / "clips")
    assert found.fingerprint == stored.fingerprint
    assert (found.name, found.protocol, found.labels) == ("blocks", "signer", WORDS)
    assert found.described() == stored.described()
    # A part that lost its clips leaves no folder behind.
    fewer = make_corpus(tmp_path / "clips", files | {"test": []})
    assert fewer.test is None
    assert not (tmp_path / "clips/test").exists()
    assert fewer.part("train").fingerprint == stored.part("train").fingerprint


def test_cleaning_is_of_the_training_part(films: Callable[[], dict], tmp_path: Path) -> None:
    files = films()
    first, second, third, *rest = files["train"]
    kept = (KeptClip(first, stop=0.5), KeptClip(second, strong=True), *(KeptClip(one) for one in rest))
    plan = CleaningPlan(CleaningRules(), kept, (RemovedClip(third, "broken frames", "70% of its frames"),))
    config = CacheConfig(size=16, frames=12)
    corpus = store_corpus(tmp_path, files, WORDS, config, name="blocks", protocol="signer", plan=plan)
    assert corpus.counts == (4, 4, 1)
    (gone,) = corpus.removed
    assert gone == (third.path.name, "lên", "broken frames", "70% of its frames")
    assert "  removed from the training part: 1 for broken frames" in corpus.report()
    train = corpus.part("train")
    assert [clip.strong for clip in train.clips] == [False, True] + [False] * 7
    assert train.times(0).max() <= 0.5 < train.times(1).max()
    assert len(corpus.part("dev")) == 6


def test_a_folder_that_is_not_finished_or_damaged_is_refused(
    films: Callable[[], dict], tmp_path: Path
) -> None:
    make_corpus(tmp_path, films())
    card = tmp_path / "corpus.json"
    whole = json.loads(card.read_text("utf-8"))
    card.write_text(json.dumps(whole | {"kind": "lines"}), "utf-8")
    with pytest.raises(ValueError, match="is 'lines', not 'signed words'; prepare the clips again"):
        open_corpus(tmp_path)
    card.write_text(json.dumps({name: value for name, value in whole.items() if name != "labels"}), "utf-8")
    with pytest.raises(ValueError, match="it has no labels"):
        open_corpus(tmp_path)
    card.unlink()
    with pytest.raises(FileNotFoundError, match=r"corpus\.json is missing"):
        open_corpus(tmp_path)


def test_the_card_is_written_last(
    films: Callable[[], dict], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_corpus(tmp_path, films())
    real = corpus_files.cache_clips

    def full(files: list, folder: Path, *others: object, **options: object) -> object:
        if folder.name == "dev":
            raise OSError(28, "No space left on device", str(folder))
        return real(files, folder, *others, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(corpus_files, "cache_clips", full)
    with pytest.raises(OSError, match="No space left"):
        make_corpus(tmp_path, films())
    with pytest.raises(FileNotFoundError):
        open_corpus(tmp_path)
