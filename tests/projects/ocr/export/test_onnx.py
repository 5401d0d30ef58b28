"""The ONNX program gives the numbers of the model, for any number of lines of any width."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnxruntime
import pytest
import torch

from coursepkg.app.export import CARD, ONNX_PROGRAM
from coursepkg.projects.ocr.data.batches import character_vocabulary
from coursepkg.projects.ocr.predict import Recognizer
from coursepkg.projects.ocr.recipe import PRESETS
from coursepkg.text.vocabulary import BOS, EOS, SPECIALS, UNK
from coursepkg.training.saved_model import save_model
from tests.projects.ocr.drawn import network
from tests.said import said

VOCABULARY = character_vocabulary([], declared="abcdefgh")
RECIPE = PRESETS["tiny"]
EXPORT = """
import sys
from coursepkg.cli import main
for model, out in zip(sys.argv[1::2], sys.argv[2::2]):
    assert main(["ocr", "export", "--format", "onnx", "--model", model, "--out", out]) == 0
"""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Models and their programs, made in another process: shape checks of tests cannot follow traced sizes."""
    root = tmp_path_factory.mktemp("onnx")
    pairs = []
    for sequence in ("fold", "grid"):
        folder = root / f"model of {sequence}"
        folder.mkdir()
        VOCABULARY.save(folder / "vocabulary.json")
        model = network(sequence=sequence, vocab_size=len(VOCABULARY)).float()
        meta = {"recipe": RECIPE.described(), "vocabulary": VOCABULARY.fingerprint}
        save_model(folder / "model", model, **meta)
        pairs += [folder, root / sequence]
    done = subprocess.run([sys.executable, "-c", EXPORT, *map(str, pairs)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return root


@pytest.mark.parametrize("sequence", ["fold", "grid"])
def test_any_number_of_lines_of_any_width(root: Path, sequence: str) -> None:
    """Probabilities within 1e-5, as of the PyTorch program: the same sums in float32 in another order."""
    model = network(sequence=sequence, vocab_size=len(VOCABULARY)).float()
    session = onnxruntime.InferenceSession(root / sequence / ONNX_PROGRAM)
    for n_lines, width in ((1, 5), (1, 33), (3, 200), (2, 511), (1, 512)):
        images = torch.rand(n_lines, 1, 32, width) * 2 - 1
        (found,) = session.run(None, {"images": images.numpy()})
        with torch.no_grad():
            memory = model.encode(images, torch.full((n_lines,), width))
            logits = model.ctc_logits(memory).clone()
        logits[..., [BOS, EOS, UNK]] = -torch.inf
        np.testing.assert_allclose(np.exp(found), logits.softmax(dim=-1), atol=1e-5, rtol=0)


def test_the_card_says_what_was_exported(export_to: Callable[[str], Path], quick_run: Path) -> None:
    card = json.loads((export_to("onnx") / CARD).read_text("utf-8"))
    recognizer = Recognizer.load(quick_run)
    tokens = recognizer.vocabulary.tokens
    assert card["fingerprint"] == recognizer.fingerprint
    assert [*SPECIALS, *card["characters"]] == list(tokens)
    told = card["files"][ONNX_PROGRAM]
    assert told["inputs"] == {"images": {"dtype": "float32", "shape": ["B", 1, 32, "width"]}}
    assert told["outputs"]["log_probs"]["shape"] == ["B", "columns", len(tokens)]


def test_a_taken_folder_is_refused(quick_run: Path, tmp_path: Path) -> None:
    again = said("ocr", "export", "--format", "onnx", "--model", quick_run, "--out", tmp_path)
    assert "already exists; choose another --out" in again.mistake
