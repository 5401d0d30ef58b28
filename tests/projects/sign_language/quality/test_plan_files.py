"""A plan that is read is the plan that was written, and only of the clips that it is about."""

import json
from pathlib import Path

import pytest

from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.projects.sign_language.quality.plan import (
    CleaningPlan,
    KeptClip,
    RemovedClip,
    read_plan,
    write_plan,
)
from coursepkg.projects.sign_language.recipe import CleaningRules


def files(folder: Path) -> list[ClipFile]:
    return [ClipFile(folder / "train" / "Ăn" / f"{i}.mp4", "Ăn") for i in range(4)]


def plan(folder: Path) -> CleaningPlan:
    first, second, third, fourth = files(folder)
    kept = (
        KeptClip(first),
        KeptClip(second, 9.1, 12.1, (9.5, 10 / 3)),
        KeptClip(third, strong=True, undecodable=4),
    )
    return CleaningPlan(CleaningRules(least_frames=6), kept, (RemovedClip(fourth, "copy", "of 0.mp4"),))


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "plan.json"
    write_plan(path, plan(tmp_path / "here"), tmp_path / "here")
    return path


def test_a_plan_comes_back_whole_wherever_the_data_lie(written: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "another" / "machine"
    found = read_plan(written, files(elsewhere)[::-1], elsewhere)
    assert found == plan(elsewhere)
    assert found.fingerprint == plan(tmp_path / "here").fingerprint


def test_other_clips_are_named(written: Path, tmp_path: Path) -> None:
    own = files(tmp_path)
    with pytest.raises(ValueError, match=r"plan.json: the plan is about train/Ăn/3.mp4, which is not among"):
        read_plan(written, own[:3], tmp_path)
    more = ClipFile(tmp_path / "train" / "Mẹ" / "7.mp4", "Mẹ")
    with pytest.raises(ValueError, match=r"plan.json: the plan does not know train/Mẹ/7.mp4"):
        read_plan(written, [*own, more], tmp_path)


def test_a_clip_with_another_word_is_another_clip(written: Path, tmp_path: Path) -> None:
    relabelled = [ClipFile(file.path, "Mẹ") for file in files(tmp_path)]
    with pytest.raises(ValueError, match="the plan was changed, or clips have other words now"):
        read_plan(written, relabelled, tmp_path)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda told: told.update(kind="recipe"), "a recipe, not a cleaning plan"),
        (lambda told: told["kept"][0].pop("strong"), "not a cleaning plan of this version"),
        (lambda told: told["rules"].update(most_holes=3), "not a cleaning plan of this version"),
        (lambda told: told["kept"][0].update(start=1.0), "the plan was changed"),
        (lambda told: told.pop("kept"), "plan.json"),
    ],
)
def test_what_is_no_plan_is_one_line(written: Path, tmp_path: Path, change, said: str) -> None:  # type: ignore[no-untyped-def]
    told = json.loads(written.read_text(encoding="utf-8"))
    change(told)
    written.write_text(json.dumps(told), encoding="utf-8")
    with pytest.raises(ValueError, match=said) as raised:
        read_plan(written, files(tmp_path), tmp_path)
    assert "\n" not in str(raised.value)
    with pytest.raises(FileNotFoundError):
        read_plan(tmp_path / "none.json", files(tmp_path), tmp_path)
