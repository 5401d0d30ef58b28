"""The real clips of three sign languages, where the data folder has them: all open, are sampled, cleaned, predicted."""

import pytest

from coursepkg.data.registry import data_folder
from coursepkg.projects.sign_language.data.scan import Scan, scan_clips
from coursepkg.projects.sign_language.data.splits import leave_one_signer_out
from coursepkg.projects.sign_language.quality.plan import plan_cleaning
from coursepkg.projects.sign_language.quality.survey import Survey, copy_keys, survey
from tests.projects.sign_language.signed import RECIPE, WORDS, recognizer

SIGNS = data_folder() / "signs"
pytestmark = pytest.mark.skipif(not SIGNS.is_dir(), reason=f"no real clips in {SIGNS}; set COURSEPKG_DATA")


@pytest.fixture(scope="module")
def scan() -> Scan:
    return scan_clips(SIGNS)


@pytest.fixture(scope="module")
def found(scan: Scan) -> Survey:
    return survey(scan.files)


def test_every_clip_opens_and_the_broken_one_is_named(scan: Scan, found: Survey) -> None:
    assert (len(scan.files), len(found.clips), found.unopened) == (63, 63, ())
    assert {clip.file.path.name for clip in found.clips if clip.broken.n_broken} == {"muhendis_02_T2.mp4"}
    plan = plan_cleaning(found)
    assert len(plan.kept) + len(plan.removed) == 63


def test_every_clip_is_named(scan: Scan) -> None:
    answers = recognizer().recognize([file.path for file in scan.files])
    assert len(answers) == 63
    for one in answers:
        assert one.label in WORDS
        assert one.error == ""
        assert len(one.times) == RECIPE.n_frames


def test_folds_cover_the_words_that_several_people_sign(scan: Scan, found: Survey) -> None:
    people: dict[str, set[str]] = {}
    for file in scan.files:
        people.setdefault(file.label, set()).add(file.signer)
    shared = {word for word, signers in people.items() if len(signers) > 1}
    files = [file for file in scan.files if file.label in shared]
    asked: list[int] = []
    for signer, fold in leave_one_signer_out(files, copies=copy_keys(found, files)):
        assert {files[i].signer for i in fold.test} == {signer}
        assert signer not in {files[i].signer for i in fold.train}
        assert {files[i].label for i in fold.test} <= {files[i].label for i in fold.train}
        asked += fold.test
    assert sorted(asked) == list(range(len(files)))
    assert len(shared) > 20
