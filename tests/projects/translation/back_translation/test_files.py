"""Files of synthetic pairs: whole or not at all, with a card that says where they come from."""

import json
from pathlib import Path
from typing import Any

import pytest

from coursepkg.projects.translation.back_translation.files import (
    check_prefix,
    held_out_keys,
    mono_text,
    origins,
    write_pairs,
)
from coursepkg.projects.translation.back_translation.generate import Synthetic
from coursepkg.projects.translation.corpora import load_parts
from coursepkg.projects.translation.corpus import read_parallel, sentence_key
from tests.projects.translation.memorised import PAIRS
from tests.projects.translation.test_open_corpus import write_open, write_wikipedia
from tests.projects.translation.tiny import SmallBook


@pytest.fixture(autouse=True)
def _no_data(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path / "none"))


def write_corpus(folder: Path, name: str, ending: str, n: int, word: str) -> None:
    """A corpus of n pairs, as its files lie on the disk."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.{ending}").write_text("".join(f"{word} {i} .\n" for i in range(n)), "utf-8")
    (folder / f"{name}.vi").write_text("".join(f"câu {name} {i} .\n" for i in range(n)), "utf-8")


def test_what_is_written_can_be_read_for_training(tmp_path: Path) -> None:
    prefix = tmp_path / "bt"
    card = write_pairs(prefix, Synthetic(list(PAIRS), {"empty": 2}), "zh", "vi", {"corpora": ["zh-vi"]})
    found = read_parallel(f"{prefix}.zh", f"{prefix}.vi")
    assert [pair[:2] for pair in found] == [pair[:2] for pair in PAIRS]
    assert json.loads(Path(f"{prefix}.json").read_text("utf-8")) == card
    assert (card["corpora"], card["n_pairs"], card["counts"]) == (["zh-vi"], 10, {"empty": 2})
    assert (card["from"], card["to"]) == ("zh", "vi")


def test_all_files_or_none(tmp_path: Path) -> None:
    prefix = tmp_path / "bt"
    (tmp_path / "bt.json.part").mkdir()  # the card, the last to be opened, cannot be written
    with pytest.raises(OSError, match=r"bt\.json"):
        write_pairs(prefix, Synthetic(list(PAIRS), {}), "zh", "vi", {})
    assert [path.name for path in tmp_path.iterdir()] == ["bt.json.part"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full, a disk without space")
def test_a_full_disk_leaves_no_file_either(tmp_path: Path) -> None:
    (tmp_path / "bt.zh.part").symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left"):
        write_pairs(tmp_path / "bt", Synthetic(list(PAIRS), {}), "zh", "vi", {})
    assert [path.name for path in tmp_path.iterdir()] == ["bt.zh.part"]


def test_no_pair_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"no pair is left to write \(0 pairs; 3 empty\)"):
        write_pairs(tmp_path / "bt", Synthetic([], {"empty": 3}), "zh", "vi", {})
    assert list(tmp_path.iterdir()) == []


def test_the_prefix_is_checked_before_the_work(tmp_path: Path) -> None:
    assert check_prefix(tmp_path / "bt", ("zh", "vi")) == tmp_path / "bt"
    with pytest.raises(ValueError, match="--out PREFIX must be given"):
        check_prefix(None, ("zh", "vi"))
    with pytest.raises(ValueError, match="the folder does not exist"):
        check_prefix(tmp_path / "gone" / "bt", ("zh", "vi"))
    for ending in ("zh", "vi", "json"):
        path = tmp_path / f"{ending}.{ending}"
        path.touch()
        with pytest.raises(ValueError, match=f"{ending}.{ending} already exists"):
            check_prefix(tmp_path / ending, ("zh", "vi"))


@pytest.mark.parametrize(
    ("meta", "expected"),
    [
        ({"corpora": ["zh-vi"], "n_extra": 0, "start": None}, ["zh-vi"]),
        ({"corpora": ["zh-vi"], "n_extra": 5, "start": None}, ["zh-vi", "unknown"]),
        ({"corpora": ["zh-vi"], "n_extra": 0, "start": "older"}, ["zh-vi", "unknown"]),
        ({"corpora": ["zh-vi"], "n_extra": 5, "start": "older", "contest_rules": True}, ["zh-vi"]),
        ({}, ["unknown"]),
    ],
)
def test_origins_are_those_of_the_cards(meta: dict[str, Any], expected: list[str]) -> None:
    assert origins([meta]) == set(expected)
    assert origins([{"corpora": ["en-vi"]}, meta]) == {"en-vi", *expected}


def test_the_corpus_of_the_neighbours_is_an_origin() -> None:
    assert origins([{"corpora": ["zh-vi"], "neighbours_of": "en-vi"}]) == {"zh-vi", "en-vi"}


def test_mono_text_is_the_training_part_of_a_corpus_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_book: SmallBook
) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path))
    for name in ("dev2010", "tst2010", "tst2011", "tst2012"):
        write_corpus(tmp_path / "en_vi", name, "en", 40, f"sentence {name}")
    lines, name, notes = mono_text("en-vi", "zh", "vi")
    assert name == "en-vi"
    assert "train is dev2010, tst2010, tst2011" in notes[0]
    # The phrasebook, which fills up this corpus, has its own name and is left out; so are dev and test.
    assert all(line.startswith("câu ") for line in lines)
    assert not any("tst2012" in line for line in lines)
    assert 60 < len(lines) < 120


def test_a_missing_corpus_is_called_by_what_stands_in(small_book: SmallBook) -> None:
    lines, name, notes = mono_text("zh-vi", "zh", "vi")
    assert name == "phrasebook"
    train, *_ = small_book.split("random")
    assert lines == [triple.line("vi") for triple in train]
    assert "stands in for zh-vi" in notes[0]


def test_a_file_is_mono_text_too(tmp_path: Path) -> None:
    path = tmp_path / "news.vi"
    path.write_text("Xin chào .\n\nTạm biệt .\n", "utf-8")
    assert mono_text(str(path), "zh", "vi") == (["Xin chào .", "", "Tạm biệt ."], "file news.vi", ())
    with pytest.raises(
        FileNotFoundError, match="no such file; give a file, wikipedia, or one of the corpora"
    ):
        mono_text(str(tmp_path / "gone.vi"), "zh", "vi")
    path.write_text("Xin chào .\nTạm ▁ biệt .\n", "utf-8")
    with pytest.raises(
        ValueError, match=r"news\.vi, line 2: holds ▁ \(U\+2581\), .* put a space in its place"
    ):
        mono_text(str(path), "zh", "vi")
    with pytest.raises(ValueError, match="--mono en-vi has no sentences in zh; it has en and vi"):
        mono_text("en-vi", "vi", "zh")


def test_the_wikipedia_is_mono_text_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(tmp_path))
    write_wikipedia(tmp_path)
    lines, name, notes = mono_text("wikipedia", "zh", "vi")
    assert (len(lines), name, notes) == (3, "wikipedia", ())
    with pytest.raises(ValueError, match=r"^--mono wikipedia has no sentences in zh; it has vi$"):
        mono_text("wikipedia", "vi", "zh")


def test_what_a_machine_made_is_no_mono_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_book: SmallBook
) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(write_open(tmp_path)))
    lines, name, _ = mono_text("open", "en", "vi")
    assert name == "open"
    assert {line.split()[0] for line in lines} == {
        "chung",
        "tatoeba",
        "ms_ht",
        "docs_react",
        "l10n_perm",
        "l10n_mpl",
    }


def test_rows_without_chinese_are_held_out_from_chinese_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small_book: SmallBook
) -> None:
    monkeypatch.setenv("COURSEPKG_DATA", str(write_open(tmp_path)))
    parts, held = load_parts("open", "en", "vi"), held_out_keys("zh", "vi")
    assert held.issuperset(sentence_key(pair.target, "vi") for pair in (*parts.dev, *parts.test))


def test_dev_and_test_of_the_phrasebook_are_held_out_in_both_of_its_splits(small_book: SmallBook) -> None:
    held = held_out_keys("zh", "vi")
    for kind in ("random", "compositional"):
        _, dev, test = small_book.split(kind)
        for language in ("zh", "vi"):
            assert held.issuperset(sentence_key(one.line(language), language) for one in (*dev, *test))
