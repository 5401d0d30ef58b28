"""Decoded clips grow beside their place: nothing half-written has the name of a whole corpus."""

from collections.abc import Callable
from pathlib import Path

import pytest

from coursepkg.projects.sign_language import corpora
from coursepkg.projects.sign_language import corpus as corpus_files
from coursepkg.projects.sign_language.corpora import load_corpus
from coursepkg.projects.sign_language.corpus import SignCorpus, growing_folder
from coursepkg.projects.sign_language.data import cache
from coursepkg.projects.sign_language.data.scan import scan_clips
from coursepkg.projects.sign_language.data.splits import split_clips
from tests.projects.sign_language.blocks import FAST
from tests.projects.sign_language.folders import QUICK, sign_language, write_folder


@pytest.fixture(autouse=True)
def _cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are decoded for the cache."""
    names: list[str] = []
    real: Callable[..., object] = cache.decode_needed

    def noted(path: Path, *others: object, **options: object) -> object:
        names.append(f"{path.parent.name}/{path.name}")
        return real(path, *others, **options)

    monkeypatch.setattr(cache, "decode_needed", noted)
    return names


def kept(tmp_path: Path) -> list[Path]:
    """What lies in the cache."""
    return list((tmp_path / "cache" / "coursepkg" / "sign-language").glob("*"))


def quietly(folder: Path) -> SignCorpus:
    return load_corpus(str(folder), FAST, log=lambda line: None)


def test_a_part_of_which_no_clip_can_be_decoded_leaves_nothing(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "signs")
    files = scan_clips(folder).files
    for i in split_clips(files, "signer").dev:
        files[i].path.write_text("<html>404</html>")
    for verb, options in (("train", QUICK), ("prepare", ["--size", "16"])):
        done = sign_language(verb, "--data", folder, "--out", tmp_path / "out", *options)
        assert done.code == 2
        assert "a web page" in done.err
        assert "train: decoding 6 clips (those of an earlier run are kept)" in done.out
        assert kept(tmp_path) == []
        assert {path.name for path in tmp_path.iterdir()} <= {"signs", "cache"}


def test_a_run_that_was_stopped_leaves_a_part_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decoded: list[str]
) -> None:
    folder = write_folder(tmp_path / "signs")

    def stop(*others: object, **options: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(corpus_files, "write_json", stop)
        with pytest.raises(KeyboardInterrupt):
            quietly(folder)
    (part,) = kept(tmp_path)
    assert part.name.endswith(".part")
    assert len(decoded) == 12
    corpus = quietly(folder)
    assert len(decoded) == 12
    (place,) = kept(tmp_path)
    assert f"{place.name}.part" == part.name
    assert {clips.folder.parent for clips in corpus.parts.values()} == {place}


def test_clips_that_are_still_the_same_are_not_decoded_again(tmp_path: Path, decoded: list[str]) -> None:
    folder = write_folder(tmp_path / "signs")
    before = quietly(folder)
    for path in folder.rglob("*.mp4"):
        path.touch()
    scan = scan_clips(folder)
    assert corpora.state_of(scan.files, "signer", scan.words.words, ()) != before.source
    decoded.clear()
    assert quietly(folder).fingerprint == before.fingerprint
    assert decoded == []
    assert len(kept(tmp_path)) == 1


def test_the_place_is_taken_by_what_is_whole(tmp_path: Path) -> None:
    place, part = tmp_path / "clips", tmp_path / "clips.part"
    for old in (place, part):
        old.mkdir()
        (old / "name.txt").write_text(old.name)
    with growing_folder(place) as folder:
        assert folder == part
        assert (place / "name.txt").read_text() == "clips"
    assert (place / "name.txt").read_text() == "clips.part"
    assert not part.exists()
    with pytest.raises(OSError, match="full"), growing_folder(place):
        raise OSError("the disk is full")
    assert (part.is_dir(), place.exists()) == (True, False)
