"""The command `calibrate`: its document, and what it refuses."""

import json

import pytest

from coursepkg.projects.translation.corpora import Parts
from coursepkg.projects.translation.studies import calibration
from coursepkg.projects.translation.studies.calibration import calibrate_command, reliability
from coursepkg.projects.translation.study_commands import Calibrate
from tests.projects.translation.memorised import memorised


def test_what_no_sentence_tells_is_null_in_the_document() -> None:
    def refuse(name: str) -> None:
        pytest.fail(f"{name} is no JSON")

    for found in (reliability([0.9, 0.8], [80.0, 20.0]), reliability([0.1, 0.9], [80.0, 90.0])):
        json.loads(json.dumps(found.as_json()), parse_constant=refuse)
    told = reliability([0.9, 0.8], [80.0, 20.0]).as_json()
    assert told["chrf"] == {"sure": 50.0, "doubtful": None}
    assert told["auc"] == 1.0


def test_a_direction_that_the_data_lack_is_told_before_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    folder, parts = memorised()

    def load(data: str, source: str, target: str) -> Parts:
        if source == "vi":
            raise ValueError("no such direction")
        return parts

    def work(*arguments: object) -> None:
        pytest.fail("the work has begun")

    monkeypatch.setattr(calibration, "load_parts", load)
    monkeypatch.setattr(calibration, "calibrate", work)
    with pytest.raises(ValueError, match="no such direction"):
        calibrate_command(Calibrate(model=folder))
