"""The command that reads pages, with a model that writes nonsense and a detector that needs no weights."""

from pathlib import Path

import pytest

from coursepkg.command_table import COMMANDS, Command, Group
from coursepkg.projects.ocr.detector import detector as bounded
from tests.projects.ocr.page.pages import InkDetector, model_folder
from tests.projects.ocr.page.world import World
from tests.projects.ocr.sets import ocr
from tests.said import Said

VERB = Command(
    "coursepkg.projects.ocr.options:Predict",
    "read photographs",
    "coursepkg.projects.ocr.page.command:predict_command",
)
GROUP = COMMANDS["ocr"]
assert isinstance(GROUP, Group)


@pytest.fixture(scope="session")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return model_folder(tmp_path_factory.mktemp("ocr") / "model")


@pytest.fixture
def world(model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A folder to work in, and the command with a detector that sees ink."""
    detector = InkDetector()
    monkeypatch.setitem(GROUP.verbs, "predict", VERB)
    monkeypatch.setattr(bounded, "open_detector", lambda settings: detector)
    monkeypatch.chdir(tmp_path)

    def predict(*arguments: str | Path, trained: bool = True) -> Said:
        return ocr("predict", *arguments, *(["--model", model] if trained else []))

    return World(tmp_path, detector, predict)
