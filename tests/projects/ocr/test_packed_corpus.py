"""A packed corpus is the corpus: same parts, same texts, same pictures at its height; and it is finished or nothing."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.ocr.corpora import load_corpus
from coursepkg.projects.ocr.corpus import CARD, PARTS, Corpus, open_packed, pack_corpus
from coursepkg.projects.ocr.data.images import resize_to_height


@pytest.fixture
def corpus(labelled: Path) -> Corpus:
    return load_corpus(str(labelled))


def pack(corpus: Corpus, out: Path, **options: int) -> tuple[Corpus, list[str]]:
    said: list[str] = []
    return pack_corpus(corpus, out, log=said.append, **({"height": 24} | options)), said


def test_parts_texts_and_pictures_are_kept(corpus: Corpus, tmp_path: Path) -> None:
    packed, _ = pack(corpus, tmp_path / "packed")
    assert packed.described() == corpus.described()
    assert load_corpus(str(tmp_path / "packed")).labels == corpus.labels
    for part in PARTS:
        for one, other in zip(packed.part(part).lines, corpus.part(part).lines, strict=True):
            assert (one.text, one.group, one.name) == (other.text, other.group, other.name)
            assert np.array_equal(one.image, resize_to_height(other.image, 24))


def test_what_is_packed_is_not_packed_again_and_what_differs_is(corpus: Corpus, tmp_path: Path) -> None:
    def fail(part: str) -> list:
        raise AssertionError(f"{part} is read again")

    pack(corpus, tmp_path / "packed")
    _, said = pack(replace(corpus, read=fail), tmp_path / "packed")
    assert all("there already" in line for line in said)
    with pytest.raises(AssertionError, match="train is read again"):
        pack(replace(corpus, read=fail), tmp_path / "packed", height=32)
    assert not (tmp_path / "packed" / CARD).exists()
    with pytest.raises(ValueError, match=r"no corpus\.json"):
        load_corpus(str(tmp_path / "packed"))


def test_a_part_without_its_pixels_is_packed_again(corpus: Corpus, tmp_path: Path) -> None:
    pack(corpus, tmp_path / "packed")
    (pixels,) = (tmp_path / "packed" / "dev").glob("pixels-*.bin")
    pixels.unlink()
    packed, said = pack(corpus, tmp_path / "packed")
    assert [line for line in said if "there already" not in line] == ["dev: 4 lines packed, 0 not"]
    assert [line.text for line in packed.part("dev").lines] == corpus.texts["dev"]


def test_pictures_that_cannot_be_read_stay_counted(corpus: Corpus, labelled: Path, tmp_path: Path) -> None:
    from coursepkg.projects.ocr.line import Unreadable

    first = corpus.labels["test"][0]

    def read(part: str) -> list:
        lines = list(corpus.read(part))
        return (
            [Unreadable(first.name, first.text, first.group, "gone"), *lines[1:]] if part == "test" else lines
        )

    packed, said = pack(replace(corpus, read=read), tmp_path / "packed")
    assert [one.reason for one in packed.part("test").unreadable] == ["gone"]
    assert f"  {first.name}: gone" in said
    assert sorted(packed.texts["test"]) == sorted(corpus.texts["test"])


def test_a_part_without_lines_has_no_folder(corpus: Corpus, tmp_path: Path) -> None:
    tested = replace(corpus, labels={"train": (), "dev": (), "test": corpus.labels["test"]})
    packed, _ = pack(tested, tmp_path / "packed")
    assert sorted(path.name for path in (tmp_path / "packed").iterdir()) == [CARD, "test"]
    assert packed.texts["train"] == []


def test_a_damaged_card_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    pack(corpus, tmp_path / "packed")
    card = json.loads((tmp_path / "packed" / CARD).read_text("utf-8"))
    (tmp_path / "packed" / CARD).write_text(json.dumps(card | {"version": 2}), "utf-8")
    with pytest.raises(ValueError, match="is no packed corpus of version 1; pack the lines again"):
        open_packed(tmp_path / "packed")
    (tmp_path / "packed" / CARD).write_text("{", "utf-8")
    with pytest.raises(ValueError, match=r"corpus\.json"):
        open_packed(tmp_path / "packed")
