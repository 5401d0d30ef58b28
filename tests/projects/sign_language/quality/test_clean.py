"""The plan follows the rules, accounts for every clip, and says what it does."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.projects.sign_language.quality.plan import (
    CleaningPlan,
    KeptClip,
    plan_as_text,
    plan_cleaning,
)
from coursepkg.projects.sign_language.quality.survey import survey
from coursepkg.projects.sign_language.recipe import CleaningRules
from tests.projects.sign_language.quality.scenes import Library, as_clip, scene, times_of


def plan(library: Library, rules: CleaningRules | None = None) -> CleaningPlan:
    made = plan_cleaning(survey(library.files, decode=library.decode), rules)
    told = sorted(str(one.file.path) for one in (*made.kept, *made.removed))
    assert told == sorted(str(file.path) for file in library.files)
    return made


def black(share: float, n_frames: int = 20, motion: int = 0) -> np.ndarray:
    frames = scene(motion, n_frames)
    frames[2 : 2 + round(share * n_frames)] = 0
    return frames


def test_a_clean_set_stays_as_it_is() -> None:
    library = Library()
    for motion in range(3):
        library.add(scene(motion))
    made = plan(library)
    assert [one.file for one in made.kept] == library.files
    assert (made.removed, made.cut, made.shortened, made.strong) == ((), (), (), ())
    assert (
        plan_as_text(made)
        == "cleaning: 3 of 3 clips stay, 0 go\nwords: head 0 to 0, body 0 to 0, tail 1 to 1"
    )


def test_sixty_percent_of_broken_frames_go_and_less_is_left_out() -> None:
    library = Library()
    library.add(black(0.6))
    library.add(black(0.55, motion=1))
    library.add(scene(2, 10), lost=15)
    made = plan(library)
    assert [(one.file.path.name, one.reason) for one in made.removed] == [
        ("000.mp4", "broken frames"),
        ("002.mp4", "broken frames"),
    ]
    assert made.removed[0].detail == "60% of its frames: 12 solid"
    assert made.kept[0].left_out == tuple(times_of(20)[2:13].tolist())
    frames = black(0.55, motion=1)
    used = made.kept[0].apply(as_clip(frames))
    assert np.array_equal(used.frames, frames[[0, 1, *range(13, 20)]])
    assert np.array_equal(used.times, times_of(20)[[0, 1, *range(13, 20)]])
    whole = plan(library, CleaningRules(drop_frames=False)).kept[0]
    assert len(whole.apply(as_clip(frames)).frames) == 20


def test_a_clip_with_too_few_good_frames_goes() -> None:
    library = Library()
    library.add(black(0.5, 14))
    library.add(scene(1, 7))
    library.add(scene(2, 8))
    made = plan(library)
    assert made.removed_by_reason == {"too few frames": 2}
    assert made.removed[0].detail == "7 good frames of 14, fewer than 8"
    assert len(plan(library, CleaningRules(least_frames=7)).removed) == 0


def test_a_very_long_clip_is_cut_to_its_middle() -> None:
    library = Library()
    library.add(scene(0, 252))
    library.add(scene(1, 228))
    made = plan(library)
    (cut,) = made.cut
    assert (cut.file.path.name, cut.stop - cut.start) == ("000.mp4", pytest.approx(3.0))
    used = cut.apply(as_clip(scene(0, 252)))
    assert len(used.frames) == pytest.approx(36, abs=1)
    middle = (used.times[0] + used.times[-1]) / 2
    assert middle == pytest.approx(times_of(252)[-1] / 2, abs=1 / 24)
    assert "cut to their middle: 1\n  train/Ăn/000.mp4: 8.96 to 11.96 s" in plan_as_text(made)


def test_one_copy_stays_and_it_is_the_best_one() -> None:
    library = Library()
    damaged = scene(0)
    damaged[8:11] = 0
    library.add(damaged)
    library.add(scene(0))
    for motion in range(1, 21):
        library.add(scene(motion))
    made = plan(library)
    assert [(one.file.path.name, one.reason, one.detail) for one in made.removed] == [
        ("000.mp4", "copy", "of 001.mp4")
    ]
    assert made.before.counts == {"Ăn": 22}
    assert made.after.counts == {"Ăn": 21}


def test_copies_of_rare_words_stay_for_stronger_augmentation() -> None:
    library = Library()
    for frames in (scene(0), scene(0), scene(1)):
        library.add(frames)
    made = plan(library)
    assert made.removed == ()
    assert [one.file.path.name for one in made.strong] == ["001.mp4"]
    assert [one.file.path.name for one in plan(library, CleaningRules(copies="remove")).removed] == [
        "001.mp4"
    ]


def test_rare_is_what_has_few_different_clips() -> None:
    library = Library()
    for motion in [*range(19), 0, 1, 2]:
        library.add(scene(motion))
    made = plan(library)
    assert (len(made.removed), len(made.strong)) == (0, 3)
    library.add(scene(19))
    assert (len(plan(library).removed), len(plan(library).strong)) == (3, 0)
    assert len(plan(library, CleaningRules(copies="keep")).strong) == 3


def test_the_same_pictures_under_two_words_go_with_both() -> None:
    library = Library()
    for label in ("Ăn", "Mẹ", "Mẹ"):
        library.add(scene(0), label)
    library.add(scene(1), "Ăn")
    made = plan(library)
    assert made.removed_by_reason == {"contradiction": 3}
    assert made.removed[0].detail == "the same pictures stand under Mẹ and Ăn"
    assert made.after.missing == ("Mẹ",)
    assert "WORDS THAT LOSE ALL THEIR CLIPS: 1\n  Mẹ" in plan_as_text(made)
    kept = plan(library, CleaningRules(contradictions="keep", copies="remove"))
    assert [one.file.path.name for one in kept.removed] == ["002.mp4"]


def test_a_broken_copy_contradicts_nothing() -> None:
    library = Library()
    library.add(scene(0), "Ăn")
    library.add(scene(0, 24), "Mẹ", lost=40)
    assert plan(library).removed_by_reason == {"broken frames": 1}


def test_the_plan_says_what_it_does() -> None:
    library = Library()
    library.add(None)
    for motion in range(7):
        library.add(black(0.7, motion=motion))
    library.add(black(0.3, motion=8))
    made = plan(library)
    text = plan_as_text(made)
    assert "cleaning: 1 of 9 clips stay, 8 go" in text
    assert "gone, cannot be opened: 1\n  train/Ăn/000.mp4: the file is empty" in text
    assert "gone, broken frames: 7" in text
    assert "... and 2 more" in text
    assert len(made.removed) == 8
    assert made.removed_by_reason == {"cannot be opened": 1, "broken frames": 7}
    assert {str(one.file.path): len(one.left_out) for one in made.shortened} == {"train/Ăn/008.mp4": 6}
    assert made.rules.most_broken == 0.6


def test_frames_that_could_not_be_decoded_are_told_beside_those_that_are_left_out() -> None:
    library = Library()
    one_black = scene(0, 24)
    one_black[9] = 0
    library.add(one_black, lost=8)
    library.add(scene(1, 24), lost=3)
    made = plan(library)
    assert "without their broken frames: 2\n  train/Ăn/000.mp4: 1 left out, 8 could not be" in plan_as_text(
        made
    )
    assert "  train/Ăn/001.mp4: 3 could not be decoded\n" in plan_as_text(made)
    assert [one.undecodable for one in made.kept] == [8, 3]
    assert [one.file.path.name for one in made.shortened] == ["000.mp4"]


def test_another_plan_has_another_fingerprint() -> None:
    library = Library()
    library.add(black(0.5))
    library.add(scene(1))
    first, same = plan(library), plan(library)
    assert first.fingerprint == same.fingerprint
    assert first.fingerprint != plan(library, CleaningRules(drop_frames=False)).fingerprint


def test_a_kept_clip_finds_its_frames_by_time() -> None:
    kept = KeptClip(ClipFile(Path("a.mp4"), "Ăn"), 0.5, 1.5, (1.0,))
    times = np.array([0.0, 0.4, 0.5, 0.7, 1.0001, 1.2, 1.5, 1.6])
    assert kept.frames_of(times).tolist() == [2, 3, 5, 6]
    assert kept.frames_of(np.array([9.0, 10.0])).tolist() == [0, 1]
    assert replace(kept, left_out=()).frames_of(times).tolist() == [2, 3, 4, 5, 6]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("most_broken", 0.0),
        ("most_broken", 1.1),
        ("most_seconds", float("inf")),
        ("middle_seconds", 30.0),
        ("least_frames", 0),
    ],
)
def test_rules_out_of_range_are_named(field: str, value: object) -> None:
    with pytest.raises(ValueError, match=f"--{field.replace('_', '-')}"):
        replace(CleaningRules(), **{field: value})
