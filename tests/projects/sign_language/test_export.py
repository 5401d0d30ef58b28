"""The exported program gives the numbers of the model, for any number of clips and frames, without this package."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from coursepkg.app.export import CARD, ONNX_PROGRAM, PROGRAM, read_program
from coursepkg.projects.sign_language.data.clip import Clip, normalise
from coursepkg.projects.sign_language.export import ExportedRecognizer, export_program
from coursepkg.projects.sign_language.model.classifier import build_model
from coursepkg.projects.sign_language.recognizer import SignRecognizer
from coursepkg.training.saved_model import save_model
from tests.projects.sign_language.signed import COUNTS, FPS, RECIPE, WORDS, clip, recognizer, write_model
from tests.said import said

OTHERS = {
    "lstm": {"temporal": "lstm", "n_convolutions": 0, "pooling": "last", "padding": "loop"},
    "last": {"pooling": "last"},
    "bare": {
        "temporal": "none",
        "n_convolutions": 0,
        "pooling": "mean",
        "motion": "none",
        "places": "mean",
    },
}
"""Networks of other kinds; untrained."""
EXPORT = """
import sys
from pathlib import Path
from coursepkg.cli import main
root = Path(sys.argv[1])
for model in sorted(root.glob("models/*")):
    code = main(["sign-language", "export", "--model", str(model), "--out", str(root / "out" / model.name), "--json"])
    assert code == 0
for name in ("usual", "lstm"):
    model, out = str(root / "models" / name), str(root / "onnx" / name)
    code = main(["sign-language", "export", "--format", "onnx", "--model", model, "--out", out])
    assert code == 0
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models and their programs, made in another process: shape checks of tests cannot follow traced sizes."""
    root = tmp_path_factory.mktemp("exported")
    write_model(root / "models" / "usual")
    adjusted = dataclasses.replace(RECIPE, adjust=1.0, views=2)
    write_model(root / "models" / "adjusted", recipe=adjusted.described())
    for name, changes in OTHERS.items():
        recipe = dataclasses.replace(RECIPE, **changes)
        torch.manual_seed(0)
        meta = {"recipe": recipe.described(), "labels": list(WORDS), "counts": list(COUNTS)}
        save_model(root / "models" / name / "model", build_model(recipe, len(WORDS)).eval(), **meta)
    (root / "out").mkdir()
    (root / "onnx").mkdir()
    done = subprocess.run([sys.executable, "-c", EXPORT, str(root)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (root / "said").write_text(done.stdout)
    return root


@pytest.mark.parametrize(
    "folder", ["out/usual", "out/adjusted", *(f"out/{name}" for name in OTHERS), "onnx/usual", "onnx/lstm"]
)
def test_any_number_of_clips_and_frames(root: Path, folder: str) -> None:
    """Within 1e-5 in either format: the same sums in float32, in another order."""
    program, _ = read_program(root / folder, {"labels": list})
    name = Path(folder).name
    network = SignRecognizer.load(root / "models" / name)
    draw = np.random.default_rng(0)
    for n_clips, n_frames in ((1, 6), (3, 6), (3, 3), (5, 4)):
        if name == "lstm" and n_frames < RECIPE.n_frames:
            continue
        frames = draw.integers(0, 256, (n_clips, n_frames, 16, 16, 3), dtype=np.uint8)
        with torch.no_grad():
            probabilities, weights = program(torch.from_numpy(frames))
            found = network.model(normalise(frames))
        expected = found.logits.softmax(dim=-1)
        if name == "adjusted":
            expected = expected / torch.tensor(COUNTS)
            expected = expected / expected.sum(dim=-1, keepdim=True)
        torch.testing.assert_close(probabilities, expected, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(weights, found.weights, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("folder", ["out/usual", "out/lstm", "onnx/usual"])
def test_clips_of_any_size_and_length_are_named_as_the_recognizer_does(root: Path, folder: str) -> None:
    clips = [clip(word, 50, n, side) for word in WORDS for n, side in ((12, 16), (3, 16), (40, 24), (5, 33))]
    network = SignRecognizer.load(root / "models" / Path(folder).name)
    exported = ExportedRecognizer(root / folder)
    found = exported.probabilities(clips).numpy()
    np.testing.assert_allclose(found, [network.probabilities(one) for one in clips], atol=1e-5)
    assert exported.label(clips[0]) == network.recognize_clips(clips[:1])[0].label


def test_of_a_very_short_clip_the_last_frame_is_repeated(root: Path) -> None:
    two = clip("lên", 50, 2)
    frames = two.frames[[0, 1, 1]]
    three = Clip(frames, np.arange(3) / FPS, "", "", "three")
    exported = ExportedRecognizer(root / "out" / "usual")
    assert torch.equal(exported.probabilities([two]), exported.probabilities([three]))
    assert exported.frames_of(clip("lên", 50, 1)).shape == (1, 3, 16, 16, 3)


def test_the_card_says_what_was_exported(root: Path) -> None:
    card = json.loads((root / "out" / "usual" / CARD).read_text("utf-8"))
    assert card["labels"] == list(WORDS)
    assert card["fingerprint"] == recognizer().fingerprint
    assert card["torch"] == torch.__version__
    assert card["frames"]["count"] == RECIPE.n_frames
    assert (card["frames"]["size"], card["frames"]["padding"]) == (16, "mask")
    lines = (root / "said").read_text().splitlines()
    documents = [json.loads(line) for line in lines if line.startswith("{")]
    assert [one["model"] for one in documents] == sorted(["usual", "adjusted", *OTHERS])
    assert documents[-1]["sha256"] == card["sha256"]
    assert sum("the program looks once" in line for line in lines) == 1


def test_the_onnx_card_says_what_goes_in_and_out(root: Path) -> None:
    for name, n_frames in (("usual", "T"), ("lstm", RECIPE.n_frames)):
        told = json.loads((root / "onnx" / name / CARD).read_text("utf-8"))["files"][ONNX_PROGRAM]
        assert told["inputs"] == {"frames": {"dtype": "uint8", "shape": ["B", n_frames, 16, 16, 3]}}
        assert told["outputs"] == {
            "probabilities": {"dtype": "float32", "shape": ["B", 3]},
            "weights": {"dtype": "float32", "shape": ["B", n_frames]},
        }


def test_the_program_runs_without_this_package(root: Path) -> None:
    code = (
        "import sys, torch; program = torch.export.load(sys.argv[1]).module(); "
        "frames = torch.zeros(2, 5, 16, 16, 3, dtype=torch.uint8); "
        "print([tuple(x.shape) for x in program(frames)], any('coursepkg' in name for name in sys.modules))"
    )
    out = root / "out" / "usual"
    command = [sys.executable, "-c", code, PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=out)
    assert done.stdout.strip() == "[(2, 3), (2, 5)] False"


def test_a_changed_program_and_a_taken_folder_are_refused(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="already exists; choose another --out"):
        export_program(recognizer(), root / "out" / "usual")
    for name in (PROGRAM, CARD):
        (tmp_path / name).write_bytes((root / "out" / "usual" / name).read_bytes())
    with (tmp_path / PROGRAM).open("ab") as file:
        file.write(b"more")
    with pytest.raises(ValueError, match="was changed or cut short; export the model again"):
        ExportedRecognizer(tmp_path)


def test_mistakes_are_one_line_and_leave_nothing(root: Path, tmp_path: Path) -> None:
    model, second = root / "models" / "usual", root / "models" / "adjusted"
    with pytest.raises(ValueError, match="an ensemble is no single program"):
        export_program(SignRecognizer.load(model, second), tmp_path / "out")
    for arguments, message in (
        (["--model", model], "--out FOLDER must be given"),
        (["--model", model, "--out", root], "already exists; choose another --out"),
        (["--model", tmp_path / "none", "--out", tmp_path / "out"], "none: no finished model in it"),
        (["--data", "signs", "--out", tmp_path / "out"], "--data names clips, and export needs none"),
    ):
        assert message in said("sign-language", "export", *arguments).mistake
    assert not list(tmp_path.iterdir())
