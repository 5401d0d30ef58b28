"""Every file is looked at once, and none is left out silently."""

import json

import numpy as np
import pytest

from coursepkg.projects.sign_language.quality.report import as_json, as_text, damage_degrees, is_large
from coursepkg.projects.sign_language.quality.survey import Survey, copy_keys, look_at_all, survey
from tests.projects.sign_language.quality.scenes import Library, scene


@pytest.fixture(scope="module")
def library() -> Library:
    """Ten files: two copies in one word, one under another word, a black one, a lost one and one that is empty."""
    made = Library()
    for motion in range(4):
        made.add(scene(motion), "Ăn", "AB"[motion % 2])
    made.add(np.clip(scene(0).astype(int) + 12, 0, 255).astype(np.uint8), "Ăn", "A")
    made.add(scene(1), "Mẹ", "B")
    black = scene(7)
    black[4:20] = 0
    made.add(black, "Mẹ", "A")
    made.add(scene(8, 12), "Mẹ", "A", lost=3)
    made.add(None, "Mẹ", "A")
    made.add(scene(9, size=32), "Mẹ", "")
    return made


@pytest.fixture(scope="module")
def found(library: Library) -> Survey:
    return survey(library.files, decode=library.decode)


def test_every_file_is_in_one_of_two_lists(library: Library, found: Survey) -> None:
    told = [clip.file for clip in found.clips] + [one.file for one in found.unopened]
    assert sorted(file.path for file in told) == sorted(file.path for file in library.files)
    assert [one.reason for one in found.unopened] == [
        "train/Mẹ/008.mp4: the file is empty; copy it again or leave it out"
    ]


def test_facts_of_a_clip(found: Survey) -> None:
    first = found.clips[0]
    assert (first.width, first.height, first.n_frames) == (64, 64, 24)
    assert first.fps == pytest.approx(12)
    assert first.seconds == pytest.approx(2)
    assert found.clips[6].broken.kinds == {"solid": 16}
    assert found.clips[7].broken.kinds == {"undecodable": 3}


def test_copies_are_grouped_and_contradictions_named(found: Survey, library: Library) -> None:
    assert found.groups == ((0, 4), (1, 5))
    assert found.contradictions == ((1, 5),)
    keys = copy_keys(found, library.files)
    assert keys[0] == keys[4] != keys[1] == keys[5]
    assert [bool(own) for own in keys] == [True, True, False, False, True, True, False, False, False, False]


def test_a_part_has_its_own_findings_alone(found: Survey, library: Library) -> None:
    part = found.part([library.files[i] for i in (0, 1, 4, 7, 8)])
    assert [clip.file.path.stem for clip in part.clips] == ["000", "001", "004", "007"]
    assert [one.file.path.stem for one in part.unopened] == ["008"]
    assert part.groups == ((0, 2),)
    assert part.contradictions == ()


def test_clips_are_looked_at_one_after_another(library: Library) -> None:
    asked = []

    def decode(path):  # type: ignore[no-untyped-def]
        asked.append(path)
        return library.decode(path)

    findings = look_at_all(library.files, decode=decode)
    next(findings)
    assert len(asked) == 1
    next(findings)
    assert len(asked) == 2


def test_an_empty_data_set_is_refused() -> None:
    with pytest.raises(ValueError, match="files must hold at least one clip"):
        survey([])


def test_a_missing_package_is_no_broken_file(library: Library) -> None:
    def decode(path):  # type: ignore[no-untyped-def]
        raise ImportError("reading videos needs av")

    with pytest.raises(ImportError, match="needs av"):
        survey(library.files, decode=decode)


def test_the_report_has_our_figures_beside_the_contests(found: Survey) -> None:
    text = as_text(found, ["Ăn", "Mẹ", "Bố"])
    rows = {line.split("  ")[0]: line for line in text.splitlines()}
    assert rows["clips"].split()[1:] == ["10", "3,875"]
    assert rows["words"].split()[1:] == ["3", "100"]
    assert "64 x 64 and 1 other size, none greater " in rows["resolution"]
    assert "12 to 24, median 24" in rows["frames"]
    assert " ".join(rows["tail"].split()) == "tail 3 words (100%), 10 clips 31% of the words"
    assert "7 (78%)" in rows["clips without broken frames"]
    assert "2 (solid 1, undecodable 1)" in rows["clips with broken frames"]
    assert "60% to 100% 1" in rows["share of broken frames in them"]
    assert "2 repeat another one" in rows["copies"]
    assert "broken frames: 2\n  train/Mẹ/006.mp4: 67%, 16 solid\n" in text
    assert rows["clips of variable rate"].split()[4:] == ["0", "not", "stated"]
    assert "words without a clip: 1\n  Bố" in text
    assert "the same pictures under several words: 1\n  train/Ăn/001.mp4, train/Mẹ/005.mp4" in text


def test_the_document_names_everything(found: Survey) -> None:
    told = json.loads(json.dumps(as_json(found)))
    assert told["clips"] == 10
    assert told["resolutions"] == {"64 x 64": 8, "32 x 32": 1}
    assert told["copies_by_word"] == {"Ăn": 0.2}
    assert told["copies"] == [
        ["train/Ăn/000.mp4", "train/Ăn/004.mp4"],
        ["train/Ăn/001.mp4", "train/Mẹ/005.mp4"],
    ]
    assert [one["path"] for one in told["damaged"]] == ["train/Mẹ/006.mp4", "train/Mẹ/007.mp4"]
    assert sum(told["damage_degrees"].values()) == 9
    assert told["signers"] == 2
    assert told["contest"]["n_clips"] == 3875


def test_words_and_copies_are_of_the_training_part_where_there_is_one(
    found: Survey, library: Library
) -> None:
    parts = {"train": library.files[:4], "dev": library.files[4:], "test": []}
    told = as_json(found, ["Ăn", "Mẹ"], parts)
    assert told["class_counts"] == {"Ăn": 4, "Mẹ": 0}
    assert (told["words_counted_in"], told["clips"], told["repeats"]) == ("training part", 10, 0)
    assert told["clips_by_part"] == {"train": 4, "dev": 6, "test": 0}
    assert told["copies_by_word"] == {}
    assert len(told["copies"]) == 2
    assert (as_json(found)["words_counted_in"], as_json(found)["repeats"]) == ("all clips", 2)


def test_large_is_more_than_full_hd_lying_or_upright() -> None:
    assert not any(is_large(*size) for size in ((1920, 1080), (1080, 1920), (640, 480)))
    assert all(is_large(*size) for size in ((3840, 2160), (2160, 3840), (1921, 16), (1200, 1200)))


def test_degrees_of_damage_count_borders_upwards(found: Survey) -> None:
    assert damage_degrees(found.clips) == {
        "none": 7,
        "0% to under 20%": 0,
        "20% to under 40%": 1,
        "40% to under 60%": 0,
        "60% to 100%": 1,
    }
