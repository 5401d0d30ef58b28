"""On generated films, packed by a real codec: what was put in is found, and what is whole is called whole."""

from pathlib import Path

import pytest

from coursepkg.projects.sign_language.data.clip import ClipFile
from coursepkg.projects.sign_language.quality.plan import plan_cleaning
from coursepkg.projects.sign_language.quality.survey import ClipFacts, Survey, survey
from coursepkg.projects.sign_language.synthetic.clips import PlannedClip, clip_gap, plan_clips, write_signers
from coursepkg.projects.sign_language.synthetic.signer import SignersConfig

pytest.importorskip("av")

SEED = 5
CONFIG = SignersConfig(
    words=3, signers=3, most_clips=12, size=128, least_frames=20, most_frames=24,
    solid=0.15, frozen=0.15, duplicate=0.2,
)  # fmt: skip


@pytest.fixture(scope="module")
def planned() -> list[PlannedClip]:
    return list(plan_clips(SEED, CONFIG))


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory, planned: list[PlannedClip]) -> Survey:
    folder = write_signers(tmp_path_factory.mktemp("signers") / "set", SEED, CONFIG)
    paths = [folder / "train" / clip.word / clip.file for clip in planned]
    return survey([ClipFile(path, clip.word) for path, clip in zip(paths, planned, strict=True)])


def with_fault(found: Survey, planned: list[PlannedClip], fault: str) -> list[tuple[ClipFacts, range]]:
    """The clips with a fault, and the frames that are broken in them."""
    chosen = []
    for facts, clip in zip(found.clips, planned, strict=True):
        if clip.fault == fault:
            gap = clip_gap(SEED, clip.number, CONFIG, clip.fault)
            chosen.append((facts, range(gap.begin, gap.begin + gap.length)))
    assert chosen
    return chosen


def test_frames_in_one_colour_are_found_to_the_frame(found: Survey, planned: list[PlannedClip]) -> None:
    for facts, gap in with_fault(found, planned, "solid"):
        assert facts.broken.solid == tuple(gap)


def test_frames_that_stand_are_found_but_for_what_the_codec_refines(
    found: Survey, planned: list[PlannedClip]
) -> None:
    for facts, gap in with_fault(found, planned, "frozen"):
        assert set(facts.broken.frozen) <= set(gap)
        assert len(facts.broken.frozen) >= len(gap) / 2


def test_whole_clips_are_called_whole(found: Survey, planned: list[PlannedClip]) -> None:
    for fault in ("", "duplicate"):
        for facts, _ in with_fault(found, planned, fault):
            assert facts.broken.numbers == ()
            assert facts.n_frames >= CONFIG.least_frames


def test_copies_are_found_with_their_originals_and_nothing_else(
    found: Survey, planned: list[PlannedClip]
) -> None:
    families: dict[int, list[int]] = {}
    for i, clip in enumerate(planned):
        families.setdefault(clip.original, []).append(i)
    expected = {tuple(members) for members in families.values() if len(members) > 1}
    assert set(found.groups) == expected
    assert any(planned[i].is_second_hand for group in found.groups for i in group)


def test_the_plan_removes_what_is_mostly_broken(found: Survey, planned: list[PlannedClip]) -> None:
    heavy = {
        facts.file.path
        for facts, gap in with_fault(found, planned, "solid")
        if len(gap) >= 0.6 * facts.n_frames
    }
    plan = plan_cleaning(found)
    assert {one.file.path for one in plan.removed if one.reason == "broken frames"} == heavy
    assert len(plan.kept) + len(plan.removed) == len(planned)
    assert all(isinstance(one.file.path, Path) for one in plan.kept)
