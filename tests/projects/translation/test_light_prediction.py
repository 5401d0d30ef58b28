"""A prediction loads what it needs, and nothing of training, data generation or studies."""

import json
import subprocess
import sys

import pytest

MOST_FILES, MOST_MODULES = 35, 72
KEPT_OUT = ("synthetic", "phrasebook", "ladder", "studies", "quality", "back_translation", "errors")
HEAVY = ("lightning_fabric", "torch._dynamo", "matplotlib", "sacrebleu", "scipy", "sklearn", "transformers")
PROBE = """
import json, sys
from pathlib import Path
import coursepkg
root, files = str(Path(coursepkg.__file__).parent), set()
def seen(frame, event, argument):
    code = frame.f_code
    if event == "call" and code.co_name != "<module>" and code.co_filename.startswith(root):
        files.add(code.co_filename[len(root) + 1:])
{before}
sys.setprofile(seen)
{call}
sys.setprofile(None)
print(json.dumps({{"files": sorted(files), "modules": sorted(sys.modules)}}))
"""
SYSTEMS = {
    "translation": (
        "from coursepkg.projects.translation import Translator",
        "found = Translator.load_default().translate(['酒店在哪里？'])[0].text",
    ),
    "translation command": (
        "from coursepkg.cli import main",
        "main(['translation', 'predict', '--text', '酒店在哪里？'])",
    ),
}


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_prediction_is_light(system: str) -> None:
    before, call = SYSTEMS[system]
    code = PROBE.format(before=before, call=call)
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    found = json.loads(run.stdout.splitlines()[-1])
    own = [name for name in found["modules"] if name.split(".")[0] == "coursepkg"]
    assert len(own) <= MOST_MODULES, own
    assert not [name for name in own if set(name.split(".")) & set(KEPT_OUT)]
    assert not set(HEAVY) & set(found["modules"])
    if system == "translation":  # the command adds what parses options
        assert len(found["files"]) <= MOST_FILES, found["files"]


def test_every_name_of_the_front_door_is_there() -> None:
    from coursepkg.projects import translation

    assert not [name for name in translation.__all__ if getattr(translation, name) is None]
    assert {"Translator", "Recipe", "load_parts"} <= set(dir(translation))
